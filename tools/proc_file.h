/* proc_file.h - what the files in /proc/PID say, or in /proc/PID/task/TID: the directory is `home`. */
#ifndef MPROF_TOOLS_PROC_FILE_H
#define MPROF_TOOLS_PROC_FILE_H

#include "tools/proc_text.h"

/* The path of a file there. Valid until the next call of any of these. */
const char *proc_file_path(const char *home, const char *name);

/* Returns 0 or a negative errno. */
int proc_file_status(const char *home, struct proc_status *status);

/* Whether libmprof.so is there: 1 or 0, or a negative errno. */
int proc_file_library(const char *home);

/* proc_environ_signal; 0 when that cannot be told. */
int proc_file_signal(const char *home);

/* The base name of the executable, "" when that cannot be told. */
void proc_file_program(const char *home, char *program, size_t cap);

/* Whether it is in another namespace of this kind ("pid", ...) than this process; false when that cannot be told. */
bool proc_file_other_namespace(const char *home, const char *kind);

#endif
