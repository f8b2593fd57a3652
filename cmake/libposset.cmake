# libposset: the objects of all folders in one library, static unless BUILD_SHARED_LIBS is on. It is
# what a host links, and the only thing cli/, examples/ and bench/ link. One archive also spares the
# linker the question of order: stdlib/default_runtime.cpp names functions of every folder.

set(posset_components interp bytecode sched stdlib)
set(posset_objects "")
foreach(component ${posset_components})
  list(APPEND posset_objects $<TARGET_OBJECTS:posset_${component}>)
endforeach()

add_library(libposset ${posset_objects})
set_target_properties(libposset PROPERTIES PREFIX "lib" OUTPUT_NAME posset LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(libposset
  PUBLIC posset_include
  PRIVATE third_party_mimalloc third_party_re2 third_party_utf8proc third_party_xxhash
          third_party_boost_context Threads::Threads ${CMAKE_DL_LIBS})
if(POSSET_SIMDJSON_PLUGIN)
  add_dependencies(libposset posset_simdjson)
else()
  target_link_libraries(libposset PRIVATE third_party_simdjson)
endif()
if(POSSET_ARENA_PLUGIN)
  add_dependencies(libposset posset_arena)
endif()
if(POSSET_LLVM)
  add_dependencies(libposset posset_jit)
endif()
add_library(posset::posset ALIAS libposset)

# What tests of the insides link: never the shared library, which hides them.
if(BUILD_SHARED_LIBS)
  add_library(posset_insides STATIC EXCLUDE_FROM_ALL ${posset_objects})
  target_link_libraries(posset_insides PUBLIC $<TARGET_PROPERTY:libposset,LINK_LIBRARIES>)
else()
  add_library(posset_insides ALIAS libposset)
endif()
