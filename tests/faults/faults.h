/* Allocations that fail on demand, for the sweeps of sweep.c. The test's executable is linked with --wrap, so that
 * what libposset asks of the allocators comes through here (faults.cpp); the library itself knows nothing of it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_TESTS_FAULTS_H
#define POSSET_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on allocation number `first` (from 0) of this thread fails, and with `all` every one after it. Other
 * threads are left alone: what they do at a time is no matter of a number. */
void faults_begin(uint64_t first, bool all);

/* Nothing fails any more. How many allocations there were since faults_begin. */
uint64_t faults_end(void);

#ifdef __cplusplus
}
#endif

#endif
