# Target check_headers: every header compiles alone, twice included, with what its folder may see.
# Not part of the ordinary build; ./dev test builds it.
#
# A header that is the first include of the source named like it is left out: that source's own compilation, which is
# part of the build, shows the same, and compiling headers alone is mostly reading the standard library again.

# posset_header_is_first(VAR HEADER): whether a source of the build shows that the header compiles alone and twice.
function(posset_header_is_first variable header)
  set(${variable} OFF PARENT_SCOPE)
  string(REGEX REPLACE "\\.h$" ".cpp" source "${header}")
  if(EXISTS "${source}")
    file(STRINGS "${source}" first REGEX "^ *# *include" LIMIT_COUNT 1)
    file(STRINGS "${header}" once REGEX "^#pragma once$" LIMIT_COUNT 1)
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${header}")
    if(once AND first STREQUAL "#include \"${path}\"")
      set(${variable} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

add_custom_target(check_headers)

# posset_check_headers(FOLDER LIBRARY...): one object library of a two-line file for each header.
function(posset_check_headers folder)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.h"
       "${CMAKE_SOURCE_DIR}/${folder}/*.hpp")
  set(sources "")
  foreach(header ${headers})
    posset_header_is_first(shown "${header}")
    if(shown)
      continue()
    endif()
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${header}")
    set(source "${CMAKE_BINARY_DIR}/headers/${path}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources "${source}")
  endforeach()
  if(sources)
    add_library(headers_of_${folder} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(headers_of_${folder} PRIVATE posset_flags ${ARGN})
    target_compile_options(headers_of_${folder} PRIVATE -O0 -g0 -Wno-unused -Wno-unused-function)
    add_dependencies(check_headers headers_of_${folder})
  endif()
endfunction()

set(common posset_include posset_see_include third_party_mimalloc third_party_re2 third_party_utf8proc
           third_party_xxhash third_party_simdjson third_party_boost_context)
posset_check_headers(include posset_include)
posset_check_headers(sched posset_see_sched third_party_tbb ${common})
posset_check_headers(interp posset_see_interp posset_see_sched ${common})
posset_check_headers(bytecode posset_see_bytecode posset_see_interp posset_see_sched_base ${common})
if(POSSET_LLVM)
  posset_check_headers(jit posset_see_jit posset_see_bytecode posset_see_interp posset_see_sched third_party_llvm ${common})
endif()
posset_check_headers(stdlib posset_see_stdlib ${common})
posset_check_headers(cli posset_see_cli posset_include third_party_cli11 third_party_edit)
