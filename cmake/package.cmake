# The Debian package: `cpack -G DEB` in the build folder of the preset `package` writes posset_VERSION_ARCH.deb. One
# package holds everything that is installed. What the programs and shared libraries need is read out of them by
# dpkg-shlibdeps; what a host needs that links the archive is only recommended.
set(CPACK_PACKAGE_NAME posset)
set(CPACK_PACKAGE_VENDOR "Posset")
set(CPACK_PACKAGE_CONTACT "The Posset project <posset@localhost>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Posset runs scripts and formulas inside other programs: an expression language with
value semantics, limits on memory, time and steps, and native code for what gets hot. This package has the
command posset, the library with its headers for C and C++, and the documentation.")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "libmimalloc-dev, libre2-dev, libutf8proc-dev, libxxhash-dev, libboost-context-dev, pkg-config")

install(FILES "${CMAKE_CURRENT_LIST_DIR}/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
include(CPack)
