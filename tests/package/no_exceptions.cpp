// A host in C++ that has neither exceptions nor run-time type information, on the C interface.
//
// SPDX-License-Identifier: MIT
#include "host.h"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "to be compiled with -fno-exceptions -fno-rtti"
#endif

int main() { return host_main(); }
