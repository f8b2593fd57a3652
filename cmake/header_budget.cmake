# What including <posset/posset.hpp> costs a host, as a ratio to <string> and <functional> together, so that it holds
# on any machine: bytes after preprocessing, which are exact and to which compile time is near proportional. Time is
# only printed. Run by CTest as embed.header_budget, with CXX, INCLUDE and WORK.
cmake_minimum_required(VERSION 3.23)
set(most 175)  # percent

# Preprocesses, then compiles `includes`.
function(measure name includes)
  set(file ${WORK}/budget_${name}.cpp)
  file(WRITE ${file} ${includes})
  execute_process(COMMAND ${CXX} -std=c++20 -I${INCLUDE} -E -P ${file} OUTPUT_FILE ${file}.i COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${file}.i bytes)
  string(TIMESTAMP begin "%s%f")
  execute_process(COMMAND ${CXX} -std=c++20 -I${INCLUDE} -fsyntax-only ${file} COMMAND_ERROR_IS_FATAL ANY)
  string(TIMESTAMP end "%s%f")
  math(EXPR ms "(${end} - ${begin}) / 1000")
  message(STATUS "${name}: ${bytes} bytes, ${ms} ms")
  set(${name}_bytes ${bytes} PARENT_SCOPE)
endfunction()

measure(base "#include <functional>\n#include <string>\n")
measure(layer "#include <posset/posset.hpp>\n")
math(EXPR percent "${layer_bytes} * 100 / ${base_bytes}")
message(STATUS "posset.hpp: ${percent} % of <string> and <functional>, at most ${most} %")
if(percent GREATER most)
  message(FATAL_ERROR "posset.hpp has become too large: which header of the standard library is new in it?")
endif()
