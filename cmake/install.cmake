# What `cmake --install` puts where. Everything is found from where something else lies, so that the tree may be
# moved, or installed under DESTDIR, as a whole:
#
#   BINDIR/posset                      the command
#   LIBDIR/libposset.a, libposset.so   what hosts link; the second with BUILD_SHARED_LIBS or POSSET_SHARED
#   LIBDIR/posset/libposset_*.so       what is opened at run time when it is first needed: native compiler, arena, JSON
#   LIBDIR/cmake/posset, LIBDIR/pkgconfig, INCLUDEDIR/posset, DOCDIR
#
# The objects that are opened at run time are looked for by the search path (DT_RUNPATH) of whatever holds the
# code that opens them: of the command and of libposset.so it is set here, of a host that links libposset.a by
# the options that the CMake package and the pkg-config file give to its linker. docs/packaging.md tells hosts.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(plugin_dir "${CMAKE_INSTALL_LIBDIR}/posset")
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/posset")

# ---- programs and libraries ----

# $ORIGIN-relative, from where `from` is installed to where the plugins are. In the build tree, where they lie beside
# the target, it has the same search path: another one would be filled up with colons to make room for this, and an
# empty entry is the current directory, whatever may lie there.
function(posset_find_plugins target from)
  file(RELATIVE_PATH way "${CMAKE_INSTALL_PREFIX}/${from}" "${CMAKE_INSTALL_PREFIX}/${plugin_dir}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${way}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

posset_find_plugins(posset "${CMAKE_INSTALL_BINDIR}")
install(TARGETS posset RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(posset_plugins)
  install(TARGETS ${posset_plugins} LIBRARY DESTINATION "${plugin_dir}")
endif()

# posset_install_library(TARGET KIND): as posset::posset_KIND of a CMake file of its own.
function(posset_install_library target kind)
  posset_find_plugins(${target} "${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${target} PROPERTIES EXPORT_NAME posset_${kind})
  target_compile_features(${target} INTERFACE cxx_std_20)  # for posset.hpp; a host in C does not mind
  install(TARGETS ${target} EXPORT posset_${kind}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT posset_${kind} NAMESPACE posset:: DESTINATION "${package_dir}" FILE posset-${kind}.cmake)
endfunction()

if(BUILD_SHARED_LIBS)
  posset_install_library(libposset shared)
else()
  posset_install_library(libposset static)
endif()
if(TARGET libposset_so)
  posset_install_library(libposset_so shared)
endif()

# ---- what tells hosts of them ----

# A host that links the archive links this too. Code that is not position-independent (POSSET_PIC) goes into
# executables of the same kind only.
set(static_names ${posset_linked_names} stdc++ m)
set(static_no_pie "")
if(NOT POSSET_PIC)
  set(static_no_pie "-no-pie")
endif()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/posset-config.cmake.in"
  "${CMAKE_BINARY_DIR}/install/posset-config.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS plugin_dir
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# As the soname: before 1.0 a minor version is another interface.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
else()
  set(compatible SameMajorVersion)
endif()
write_basic_package_version_file("${CMAKE_BINARY_DIR}/install/posset-config-version.cmake"
  COMPATIBILITY ${compatible})
install(FILES "${CMAKE_BINARY_DIR}/install/posset-config.cmake"
              "${CMAKE_BINARY_DIR}/install/posset-config-version.cmake" DESTINATION "${package_dir}")

# posset_pkg_config(NAME LIBS OPTIONS): LIBS links the library itself, OPTIONS what it needs.
function(posset_pkg_config name libs options)
  file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  configure_file("${CMAKE_SOURCE_DIR}/cmake/posset.pc.in" "${CMAKE_BINARY_DIR}/install/${name}.pc" @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/install/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

set(pc_options "${static_no_pie} -Wl,-rpath,\${libdir}/posset")
foreach(name ${static_names})
  string(APPEND pc_options " -l${name}")
endforeach()
string(APPEND pc_options " -pthread -ldl")
if(NOT BUILD_SHARED_LIBS)
  posset_pkg_config(posset-static "-l:libposset.a" "${pc_options}")
endif()
if(BUILD_SHARED_LIBS OR POSSET_SHARED)
  posset_pkg_config(posset "-lposset" "")
else()
  posset_pkg_config(posset "-l:libposset.a" "${pc_options}")
endif()

# ---- headers and pages ----

install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/posset" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
  FILES_MATCHING PATTERN "*.posset" PATTERN "*.c" PATTERN "*.cpp" PATTERN "README.md")
