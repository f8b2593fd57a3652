# Flags every file of the project is compiled with. They hang on the interface target posset_flags;
# folders.cmake links it to every target of ours and to nothing else.
#
# Build types: Release (what ships), Debug, and Sanitize, which keeps assertions like Debug and
# optimises a little, because the sanitizers already slow everything down.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # computed goto and __int128
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -g1 keeps function names and lines, which is what a profile and a crash need, and little more.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS")

# Position-dependent code needs no relocations at start-up and no register for the dispatch table. What
# is linked into somebody else's shared object or PIE needs POSSET_PIC.
if(BUILD_SHARED_LIBS OR POSSET_SHARED)
  set(POSSET_PIC ON)
endif()
if(POSSET_PIC)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(POSSET_POSITION_FLAGS "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>:-fno-pie>")

add_library(posset_flags INTERFACE)
target_compile_options(posset_flags INTERFACE
  -ffp-contract=off       # one answer on every machine: multiply and add are never fused
  -fno-tree-slp-vectorize # a value is two scalars: one vector load of both waits for the stores of each
  -fno-math-errno         # lets sqrt be one instruction; nothing of ours reads errno after libm
  ${POSSET_POSITION_FLAGS}
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
  -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default on purpose

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(posset_flags INTERFACE
    -Wduplicated-cond -Wlogical-op
    -Wshadow=local                  # gcc's plain -Wshadow also minds `World(int x) : x(x)`
    -Wno-restrict                   # false alarms on std::string's operator+ in gcc 12 (its bug 105651)
    -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
    -Wno-error=stringop-overread -Wno-error=free-nonheap-object)  # depend on what was inlined
else()
  target_compile_options(posset_flags INTERFACE -Wshadow -Wthread-safety -Werror=thread-safety
    -Wno-deprecated-declarations)   # std::stable_sort of libstdc++ 12 calls what C++17 has deprecated
endif()
if(POSSET_WERROR)
  target_compile_options(posset_flags INTERFACE -Werror)
endif()

if(POSSET_SANITIZE)
  set(sanitizers "-fsanitize=${POSSET_SANITIZE}")
  if(POSSET_FUZZ)
    list(APPEND sanitizers "-fsanitize=fuzzer-no-link")
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND POSSET_SANITIZE MATCHES "address")
    # Locals must stay on the real stack: the runtime measures how much of it is left.
    list(APPEND sanitizers -fsanitize-address-use-after-return=never)
  endif()
  add_compile_options(${sanitizers} -fno-sanitize-recover=all)
  add_link_options(${sanitizers})
  # For code that keeps its own free lists: give memory back at once, so that the sanitizer sees it.
  add_compile_definitions(POSSET_SANITIZED=1)
elseif(NOT BUILD_SHARED_LIBS)
  # An executable that needs neither libstdc++.so nor libgcc_s.so starts in half the time (0.42
  # against 0.80 ms for an empty main, measured with mimalloc linked).
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-static-libstdc++>
                   $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-static-libgcc>)
endif()
if(NOT CMAKE_POSITION_INDEPENDENT_CODE)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
add_link_options(-Wl,--as-needed)
