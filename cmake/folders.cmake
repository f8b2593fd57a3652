# The house's folders as targets.
#
# Headers are included by their path from the root of the project ("interp/value/value.h"). With the
# root itself on the search path every folder would see every other, so each folder gets a root of
# its own under build/PRESET/roots/FOLDER, which holds nothing but a link to that folder, and a target
# is given exactly the roots its row of the dependency table names. The inner layers of interp/ and
# the way round a cycle are checked by tests/tools/check_layers.py.

# Target posset_see_<folder>: whoever links it may include the folder's headers.
function(posset_folder_root folder)
  string(REPLACE "/" "_" name "${folder}")
  set(root "${CMAKE_BINARY_DIR}/roots/${name}")
  get_filename_component(parent "${root}/${folder}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}" "${root}/${folder}" SYMBOLIC)
  add_library(posset_see_${name} INTERFACE)
  target_include_directories(posset_see_${name} INTERFACE "${root}")
  # Assertions and traces show the plain path.
  target_compile_options(posset_see_${name} INTERFACE "-fmacro-prefix-map=${root}/=")
endfunction()

foreach(folder include sched sched/base interp bytecode jit stdlib cli)
  if(EXISTS "${CMAKE_SOURCE_DIR}/${folder}")
    posset_folder_root(${folder})
  endif()
endforeach()

# posset_sources(VAR FOLDER PATTERN...): the folder's sources, or an empty one while there are none.
function(posset_sources variable folder)
  list(TRANSFORM ARGN PREPEND "${CMAKE_SOURCE_DIR}/${folder}/")
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  if(NOT sources)
    string(REPLACE "/" "_" name "${folder}")
    set(sources "${CMAKE_BINARY_DIR}/empty/${name}.cpp")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// Nothing yet.\n")
  endif()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# posset_batches(TARGET EXCEPT regex...): with POSSET_UNITY the target's files are compiled a dozen at a time, which takes
# half the time: most of it goes into headers. Names in anonymous namespaces then meet those of other files; files
# whose paths match are compiled by themselves, since theirs clash. The debug preset compiles every file by itself, and so
# shows that each includes what it needs; whoever changes a file often wants the same (POSSET_UNITY=OFF ./dev build).
function(posset_batches target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(NOT POSSET_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  # A class of a source file, which g++ takes for a header's, may have members of the anonymous namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # What g++ inlines depends on how much is in its unit: in a dozen files it is to be what it is in each of them.
  target_compile_options(${target} PRIVATE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:--param=large-unit-insns=200000>)
  get_target_property(files ${target} SOURCES)
  foreach(regex ${arg_EXCEPT})
    set(alone ${files})
    list(FILTER alone INCLUDE REGEX "${regex}")
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

# posset_component(FOLDER SEES folder... USES library... SOURCES pattern...): static library
# posset_<folder> of the folder's sources, which libposset.cmake takes the objects of.
function(posset_component folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SEES;USES;SOURCES")
  posset_sources(sources ${folder} ${arg_SOURCES})
  add_library(posset_${folder} STATIC ${sources})
  target_compile_definitions(posset_${folder} PRIVATE POSSET_BUILDING=1)
  list(TRANSFORM arg_SEES PREPEND "posset_see_")
  target_link_libraries(posset_${folder} PRIVATE posset_flags ${arg_SEES} ${arg_USES})
endfunction()
