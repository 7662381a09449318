/* doctor.h - the parts of `mprof doctor`, which each add what they find. */
#ifndef MPROF_TOOLS_DOCTOR_H
#define MPROF_TOOLS_DOCTOR_H

#include "tools/binary.h"
#include "tools/findings.h"
#include "tools/target.h"

/* The installation: the library, what it needs, the environment and the system. Context, here and below: ends the process when memory does. */
void doctor_setup(struct findings *findings);

/* The HEAPPROF_* variables and LD_PRELOAD of this environment, as far as something is wrong. */
void doctor_environment(struct findings *findings);

/* A program before it runs: can it be profiled, are there names? `command` as in a shell. */
void doctor_program(struct findings *findings, const char *command);

/* One program that is executed: can it be profiled, will its allocations be seen? */
void doctor_executable(struct findings *findings, const char *path, enum target_kind kind);

/* Run it under the profiler, and see which programs are profiled. Returns 0 or the negative errno with which it could not be started. */
int doctor_run(struct findings *findings, char **command);

/* A profile in a file, spoken of as `subject`. `kept`: the user has it under this name, and will read it; else it only stands for those of
 * further runs. */
void doctor_profile(struct findings *findings, const char *subject, const char *path, bool kept);

#endif
