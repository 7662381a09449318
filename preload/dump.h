/* dump.h - writes the profile of this process: to a file named by HEAPPROF_OUT, to a path, to a descriptor. */
#ifndef MPROF_PRELOAD_DUMP_H
#define MPROF_PRELOAD_DUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Anchor a relative HEAPPROF_OUT at the current directory, once and for all. Call once, from the constructor. */
void dump_init(void);

/* Each writes the profile of this moment, in the format HEAPPROF_FORMAT says. Files are written under a temporary name
 * in the same directory and renamed when complete. A failure is counted. Each returns 0 or a negative errno.
 * Context: any thread, any signal handler; stops nobody. Takes no lock but jemalloc's, and that only where it surely
 * can be had (preload/totals.h). Calls at the same time do not disturb each other. */

/* To a new file named by HEAPPROF_OUT. A failure costs one line on standard error per kind of error. */
int dump_to_pattern(void);

/* To a file of that name, which is replaced if it exists. */
int dump_to_path(const char *path);

/* To an open descriptor, which stays open; -EAGAIN when it does not block and is full: part of the profile is then in
 * it. */
int dump_to_fd(int fd);

/* To somebody who asked for it (core/request.h): pprof's form, or raw counts. */
int dump_to_asker(int fd, bool raw);

/* Dumps that succeeded so far. */
uint64_t dump_count(void);

/* Set memory aside for one dump when the process can get no more. Call once, from the constructor. */
void dump_keep_spare(void);

/* In a forked child: number its dumps from 1 again. */
void dump_reset_child(void);

#endif
