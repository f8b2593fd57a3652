// The unit tests' main function, in a file of its own because doctest's implementation is what
// takes long to compile. Tests stand in *_test.cpp files, in a sub-folder named like the folder
// they test.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
