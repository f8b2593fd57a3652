# The libraries Posset stands on, each as a target third_party_<name>. Debian's archives are taken
# where there are any: every shared library costs start-up time, and one that brings libstdc++.so in
# (simdjson) costs 0.4 ms. mimalloc exists only as a shared library and brings nothing along.

find_package(Threads REQUIRED)

# posset_library(NAME HEADER header LIBRARIES name...): archives first, shared libraries second. What
# is not installed still gets its target, so that the build fails where the header is missed. Of each there is
# also third_party_<name>_shared, without the archives, for a library that is itself shared.
function(posset_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER" "LIBRARIES")
  add_library(third_party_${name} INTERFACE)
  add_library(third_party_${name}_shared INTERFACE)
  find_path(POSSET_${name}_INCLUDE "${arg_HEADER}")
  mark_as_advanced(POSSET_${name}_INCLUDE)
  if(NOT POSSET_${name}_INCLUDE)
    message(STATUS "posset: ${name} (${arg_HEADER}) is not installed")
  endif()
  foreach(library ${arg_LIBRARIES})
    if(BUILD_SHARED_LIBS)  # Debian's archives are not position-independent throughout
      set(names "${library}")
    else()
      set(names "lib${library}.a" "${library}")
    endif()
    find_library(POSSET_LIBRARY_${library} NAMES ${names})
    mark_as_advanced(POSSET_LIBRARY_${library})
    if(POSSET_LIBRARY_${library})
      target_link_libraries(third_party_${name} INTERFACE "${POSSET_LIBRARY_${library}}")
    endif()
    if(POSSET_SHARED)
      find_library(POSSET_SHARED_LIBRARY_${library} NAMES "${library}")
      mark_as_advanced(POSSET_SHARED_LIBRARY_${library})
      if(POSSET_SHARED_LIBRARY_${library})
        target_link_libraries(third_party_${name}_shared INTERFACE "${POSSET_SHARED_LIBRARY_${library}}")
      endif()
    endif()
  endforeach()
endfunction()

posset_library(re2 HEADER re2/re2.h LIBRARIES re2)
target_link_libraries(third_party_re2 INTERFACE Threads::Threads)
posset_library(utf8proc HEADER utf8proc.h LIBRARIES utf8proc)
posset_library(xxhash HEADER xxhash.h LIBRARIES xxhash)
posset_library(simdjson HEADER simdjson.h LIBRARIES simdjson)
posset_library(cli11 HEADER CLI/CLI.hpp)
# libedit's archive needs the terminal description and BSD string functions it was built with.
posset_library(edit HEADER histedit.h LIBRARIES edit tinfo bsd md)
posset_library(boost_context HEADER boost/context/fiber.hpp LIBRARIES boost_context)
posset_library(tbb HEADER oneapi/tbb.h LIBRARIES tbb)

# Under a sanitizer the allocator must be the sanitizer's own, or it sees nothing: a stand-in header
# with mimalloc's names shadows the real one.
add_library(third_party_mimalloc INTERFACE)
if(POSSET_SANITIZE)
  target_include_directories(third_party_mimalloc SYSTEM INTERFACE
    "${CMAKE_SOURCE_DIR}/cmake/sanitize_include")
else()
  find_library(POSSET_LIBRARY_mimalloc NAMES libmimalloc.a mimalloc)
  mark_as_advanced(POSSET_LIBRARY_mimalloc)
  target_link_libraries(third_party_mimalloc INTERFACE "${POSSET_LIBRARY_mimalloc}")
endif()

# Debian has no archive of fmt, but its headers carry the whole library: compiled once, here.
add_library(third_party_fmt STATIC EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/cmake/fmt.cpp")
target_compile_options(third_party_fmt PRIVATE ${POSSET_POSITION_FLAGS})
