/* doctor_run.c - a program runs under the profiler: which programs are profiled, and is there a profile? */
#include "tools/doctor.h"

#include "core/options.h"
#include "tools/absence.h"
#include "tools/child.h"
#include "tools/format.h"
#include "tools/outputs.h"
#include "tools/preload_path.h"
#include "tools/summary.h"
#include "tools/temporary.h"
#include "tools/trace.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what was executed --------------------------------------------------------------------------------------------- */

static void add_dropped(struct findings *findings, const struct trace_program *program)
{
	struct finding *finding =
		findings_add(findings, FINDING_PROBLEM, "dropped", summary_typed_path(program->path),
			     "not profiled: %s dropped LD_PRELOAD on the way to it", summary_typed_path(program->by));

	finding->count = program->count;
	finding_advise(finding, "start mprof behind that: %s ... mprof run %s", lbasename(program->by),
		       lbasename(program->path));
}

/* The first program was looked at before it ran; those that a run of `make` starts are many, and judged once each. */
static void judge_programs(struct findings *findings, const char *command, const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_program *program = &trace->programs[i];
		size_t before = findings->count;

		if (program->dropped)
			add_dropped(findings, program);
		else
			doctor_executable(findings, program->path, program->kind);
		for (size_t j = before; j < findings->count; j++)
			findings->list[j].count = program->count;
	}
	if (trace->left)
		finding_advise(findings_add(findings, FINDING_NOTE, "background", command,
					    "ended while something that it started went on: that was not waited for"),
			       "have it stay in the foreground, or use mprof run and mprof dump PID");
	if (trace->error != 0)
		findings_add(findings, FINDING_NOTE, "untraced", "ptrace",
			     "refused (%s): what the program starts was not watched", strerror(-trace->error));
}

/* --- what was written ---------------------------------------------------------------------------------------------- */

/* The profile that has the most allocated in it. False when there is none that can be read. */
static bool find_largest(const struct outputs *outputs, struct summary *largest)
{
	bool found = false;

	for (size_t i = 0; i < outputs->count; i++) {
		struct summary summary;

		summary_read(&summary, outputs->files[i].path);
		if (summary.error[0] == '\0' && (!found || summary.allocated > largest->allocated)) {
			*largest = summary;
			found = true;
		}
	}
	return found;
}

/* Is it known by now why something was not profiled? */
static bool has_cause(const struct findings *findings)
{
	static const char *const causes[] = {"static", "privileged", "foreign", "dropped", "sanitizer", "allocator"};

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (findings_have(findings, causes[i]))
			return true;
	return false;
}

static void add_absence(struct findings *findings, const char *program, const struct options *options, int wait_status)
{
	struct refusal refusal;

	if (has_cause(findings)) {
		findings_add(findings, FINDING_PROBLEM, "no-profile", program, "no profile, for the reason above");
		return;
	}
	absence_explain(&refusal, options, wait_status);
	finding_advise(findings_add(findings, FINDING_PROBLEM, "no-profile", program, "no profile: %s", refusal.reason),
		       "%s", refusal.way_out);
}

static void judge_outputs(struct findings *findings, const char *program, const struct outputs *outputs,
			  const struct options *options, int wait_status)
{
	struct summary largest;

	if (!find_largest(outputs, &largest)) {
		add_absence(findings, program, options, wait_status);
		return;
	}
	findings_add(findings, FINDING_OK, "profiled", largest.program,
		     "wrote a profile: %s allocated, %zu stack%s (rate %s)%s", format_bytes(largest.allocated).text,
		     largest.stacks, largest.stacks == 1 ? "" : "s", format_bytes(largest.rate).text,
		     outputs->count > 1 ? "; the largest of several" : "");
	doctor_profile(findings, largest.program, largest.path, false);
}

/* --- the run ------------------------------------------------------------------------------------------------------- */

static void ignore_warning(const char *line, size_t n)
{
	(void)line;
	(void)n;
}

static int run(struct findings *findings, char **command, const char *library, const char *pattern)
{
	static struct options options; /* large */
	struct trace trace = {0};
	struct outputs outputs;
	int wait_status, error;

	setenv("HEAPPROF_OUT", pattern, 1);
	setenv("HEAPPROF_FORMAT", "pprof", 1);
	options_parse(&options, environ, ignore_warning); /* doctor_environment has told them */
	preload_path_set(library);
	/* LeakSanitizer, of which AddressSanitizer is one, does not run traced. */
	error = findings_have(findings, "sanitizer") ? child_run(command, &wait_status)
						     : trace_run(command, library, &trace, &wait_status);
	unsetenv("LD_PRELOAD"); /* what is asked of other programs from here on is not to be profiled */
	if (error == 0) {
		judge_programs(findings, command[0], &trace);
		outputs_list(&outputs, pattern);
		judge_outputs(findings, command[0], &outputs, &options, wait_status);
		outputs_free(&outputs);
	}
	trace_free(&trace);
	return error;
}

int doctor_run(struct findings *findings, char **command)
{
	struct refusal refusal;
	char *library = preload_path_find(&refusal), *directory, *pattern;
	int error;

	if (library == NULL) {
		finding_advise(findings_add(findings, FINDING_PROBLEM, "library", "libmprof.so", "%s", refusal.reason),
			       "%s", refusal.way_out);
		return 0;
	}
	directory = temporary_directory();
	error = -errno;
	if (directory != NULL) {
		chmod(directory, 01733); /* what runs as another user writes there, too */
		pattern = concat(directory, "/%p.%n.pb.gz", NULL);
		error = run(findings, command, library, pattern);
		free(pattern);
		temporary_remove(directory);
	}
	free(library);
	return error;
}
