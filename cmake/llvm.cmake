# LLVM 19 for the native tiers, as the target third_party_llvm: Debian's archives, of which the linker takes
# what is used, and headers as system headers. Sets POSSET_LLVM; OFF, with a message, when something lacks.
#
# llvm-config is asked instead of LLVM's own CMake package: the package insists on the development files of
# everything LLVM was built with (libedit, libxml2, z3, curl), none of which the parts used here need. Those
# parts need zlib and zstd for compressed sections; their archives are taken where Debian has them.

set(POSSET_LLVM OFF)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(target X86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(target AArch64)
else()
  message(STATUS "posset: no native tiers for ${CMAKE_SYSTEM_PROCESSOR}")
  return()
endif()

find_program(POSSET_LLVM_CONFIG NAMES llvm-config-19 llvm-config PATHS /usr/lib/llvm-19/bin)
mark_as_advanced(POSSET_LLVM_CONFIG)

# llvm_config(VARIABLE ARGUMENT...): what it prints; empty when it fails.
function(llvm_config variable)
  execute_process(COMMAND "${POSSET_LLVM_CONFIG}" ${ARGN} OUTPUT_VARIABLE text ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(version "")
if(POSSET_LLVM_CONFIG)
  llvm_config(version --version)
endif()
# IR, passes and JITLink change with every major version.
if(NOT version MATCHES "^19\\.")
  message(STATUS "posset: LLVM 19 (llvm-19-dev) is not installed, no native tiers")
  return()
endif()

llvm_config(include_folder --includedir)
string(TOLOWER "${target}codegen" code_generator)
llvm_config(archives --link-static --libfiles jitlink ipo vectorize scalaropts instcombine ${code_generator})
separate_arguments(archives UNIX_COMMAND "${archives}")
foreach(archive ${archives})
  if(NOT EXISTS "${archive}")
    message(STATUS "posset: LLVM's archive ${archive} is missing, no native tiers")
    return()
  endif()
endforeach()

posset_library(zlib HEADER zlib.h LIBRARIES z)
posset_library(zstd HEADER zstd.h LIBRARIES zstd)
if(NOT POSSET_LIBRARY_z OR NOT POSSET_LIBRARY_zstd)
  message(STATUS "posset: LLVM needs zlib1g-dev and libzstd-dev, no native tiers")
  return()
endif()

# The tables of every processor's scheduling name each of their rows for whoever debugs LLVM. Those names are a megabyte
# of addresses that loading would have to relocate, page by page, before the first unit is compiled: without the
# relocations they are null and their pages stay in the file.
# In an archive again, whose symbols are hidden like all of LLVM's.
set(tables "")
if(CMAKE_OBJCOPY)
  llvm_config(archive_folder --libdir)
  set(object ${target}MCTargetDesc.cpp.o)
  set(tables ${CMAKE_CURRENT_BINARY_DIR}/libllvm_tables.a)
  add_custom_command(OUTPUT ${tables}
    COMMAND ${CMAKE_AR} x ${archive_folder}/libLLVM${target}Desc.a ${object}
    COMMAND ${CMAKE_OBJCOPY} --remove-section=.rela.data.rel.ro.*SchedClassesE ${object}
    COMMAND ${CMAKE_AR} rcs ${tables} ${object}
    DEPENDS ${archive_folder}/libLLVM${target}Desc.a
    COMMENT "Taking names from LLVM's scheduling tables"
    VERBATIM)
  add_custom_target(llvm_tables DEPENDS ${tables})
endif()

set(POSSET_LLVM ON)
add_library(third_party_llvm INTERFACE)
target_include_directories(third_party_llvm SYSTEM INTERFACE "${include_folder}")
if(tables)
  add_dependencies(third_party_llvm llvm_tables)
endif()
target_link_libraries(third_party_llvm INTERFACE ${tables} ${archives} third_party_zlib third_party_zstd
                                                 Threads::Threads ${CMAKE_DL_LIBS} m)
