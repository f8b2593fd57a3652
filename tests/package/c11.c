/* A host that is compiled as strict C11, warnings being errors.
 *
 * SPDX-License-Identifier: MIT */
#include "host.h"

_Static_assert(sizeof(posset_value) == 16, "a value is two words");

int main(void) { return host_main(); }
