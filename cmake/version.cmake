# The version of the project, read from where it is said: include/posset/base.h, which hosts compile with. Sets
# POSSET_VERSION, and POSSET_SOVERSION for the shared library's soname.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/include/posset/base.h" lines REGEX "^#define POSSET_VERSION_[A-Z]+ [0-9]+$")
foreach(part MAJOR MINOR PATCH)
  if(NOT "${lines}" MATCHES "POSSET_VERSION_${part} ([0-9]+)")
    message(FATAL_ERROR "include/posset/base.h does not say POSSET_VERSION_${part}")
  endif()
  set(version_${part} "${CMAKE_MATCH_1}")
endforeach()
set(POSSET_VERSION "${version_MAJOR}.${version_MINOR}.${version_PATCH}")

# Before 1.0 every minor version may change the interface, afterwards only a major one.
set(POSSET_SOVERSION "${version_MAJOR}")
if(version_MAJOR EQUAL 0)
  string(APPEND POSSET_SOVERSION ".${version_MINOR}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/posset/base.h")
