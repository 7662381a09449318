/* dump.h - writes the profile of this process to a file. */
#ifndef MPROF_PRELOAD_DUMP_H
#define MPROF_PRELOAD_DUMP_H

#include <stdbool.h>

/* Anchor a relative HEAPPROF_OUT at the current directory, once and for all. Call once, from the constructor. */
void dump_init(void);

/* Write a profile to a new file named by HEAPPROF_OUT: under a temporary name in the same directory, renamed when complete. A
 * failure costs one line on standard error per kind of error, and is counted. Returns 0 or a negative errno.
 * Context: any thread, any signal handler; takes no lock and stops nobody. Calls at the same time write different files. */
int dump_to_pattern(void);

/* In a forked child: number its dumps from 1 again. */
void dump_reset_child(void);

#endif
