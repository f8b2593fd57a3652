# libposset: the objects of all folders in one library, static unless BUILD_SHARED_LIBS is on. It is
# what a host links, and the only thing cli/, examples/ and bench/ link. One archive also spares the
# linker the question of order: stdlib/default_runtime.cpp names functions of every folder.
#
# With POSSET_SHARED there is libposset.so as well, the target libposset_so, of the same objects.

set(posset_components interp bytecode sched stdlib)
set(posset_objects "")
foreach(component ${posset_components})
  list(APPEND posset_objects $<TARGET_OBJECTS:posset_${component}>)
endforeach()

# What libposset stands on, by the names the linker knows: cmake/install.cmake writes them down for hosts that
# link the installed archive.
set(posset_linked re2 utf8proc xxhash boost_context)
set(posset_linked_names mimalloc ${posset_linked})

# The shared objects that are opened when something first needs them, where this build has them.
set(posset_plugins "")
foreach(plugin posset_simdjson posset_arena posset_jit)
  if(TARGET ${plugin})
    list(APPEND posset_plugins ${plugin})
  endif()
endforeach()
if(NOT POSSET_SIMDJSON_PLUGIN)
  list(APPEND posset_linked simdjson)
  list(APPEND posset_linked_names simdjson)
endif()

# posset_host_library(TARGET SUFFIX): what both forms of the library have in common. SUFFIX is that of the
# third_party targets it links. Those are no business of an installed library's users, except as cmake/install.cmake
# tells them: BUILD_INTERFACE keeps them out of the exported target.
function(posset_host_library target suffix)
  set_target_properties(${target} PROPERTIES PREFIX "lib" OUTPUT_NAME posset LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${POSSET_SOVERSION})
  target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:posset_include>
                                  PRIVATE $<BUILD_INTERFACE:third_party_mimalloc>)
  foreach(name ${posset_linked})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:third_party_${name}${suffix}>)
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Threads::Threads> $<BUILD_INTERFACE:${CMAKE_DL_LIBS}>)
  if(posset_plugins)
    add_dependencies(${target} ${posset_plugins})
  endif()
endfunction()

add_library(libposset ${posset_objects})
posset_host_library(libposset "")
add_library(posset::posset ALIAS libposset)

if(POSSET_SHARED AND NOT BUILD_SHARED_LIBS)
  add_library(libposset_so SHARED ${posset_objects})
  posset_host_library(libposset_so "_shared")
endif()

# What tests of the insides link: never the shared library, which hides them.
if(BUILD_SHARED_LIBS)
  add_library(posset_insides STATIC EXCLUDE_FROM_ALL ${posset_objects})
  posset_host_library(posset_insides "")
  set_target_properties(posset_insides PROPERTIES OUTPUT_NAME posset_insides)
else()
  add_library(posset_insides ALIAS libposset)
endif()
