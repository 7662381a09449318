/* doctor_setup.c - is mprof well installed, and does the environment fit? */
#include "tools/doctor.h"

#include "core/arch.h"
#include "core/options.h"
#include "tools/capture.h"
#include "tools/outputs.h"
#include "tools/preload_path.h"
#include "tools/summary.h"
#include "tools/temporary.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* --- the library -------------------------------------------------------------------------------------------------- */

/* Run this tool's own --version with the library in it and every allocation recorded: it then loads, samples and writes, or says on stderr why
 * not. Of the environment the library sees nothing else. */
static void try_library(const char *library, const char *pattern, struct buffer *complaints)
{
	char *const argv[] = {"/proc/self/exe", "--version", NULL};
	char *preload = concat("LD_PRELOAD=", library, NULL), *out = concat("HEAPPROF_OUT=", pattern, NULL);
	char *settings[] = {
#define OPTION(kind, field, name, text, meaning) "HEAPPROF_" #name,
#include "core/options.def"
#undef OPTION
		preload,
		out,
		"HEAPPROF_RATE=1",
		NULL,
	};

	capture_run(argv, settings, 2, complaints);
	free(preload);
	free(out);
}

/* The profile that it wrote. */
static bool has_written(const char *pattern)
{
	struct outputs outputs;
	bool written = false;

	outputs_list(&outputs, pattern);
	if (outputs.count > 0) {
		struct summary summary;

		summary_read(&summary, outputs.files[0].path);
		written = summary.error[0] == '\0' && summary.stacks > 0;
	}
	outputs_free(&outputs);
	return written;
}

/* A library that could not be loaded is the loader's complaint, on the first line. */
static void judge_library(struct findings *findings, const char *library, bool written, char *complaints)
{
	complaints[strcspn(complaints, "\n")] = '\0';
	if (written)
		findings_add(findings, FINDING_OK, "library", library, "loads, samples and writes profiles");
	else if (*complaints != '\0')
		finding_advise(
			findings_add(findings, FINDING_PROBLEM, "library", library, "does not work: %s", complaints),
			"install it again, built on this machine");
	else
		finding_advise(
			findings_add(findings, FINDING_PROBLEM, "library", library, "loads, but writes no profile"),
			"install it again, built together with this tool");
}

static void check_library(struct findings *findings)
{
	struct refusal refusal;
	char *library = preload_path_find(&refusal), *directory, *pattern;
	struct buffer complaints = {0};
	bool written, has_unwinder;

	if (library == NULL) {
		finding_advise(findings_add(findings, FINDING_PROBLEM, "library", "libmprof.so", "%s", refusal.reason),
			       "%s", refusal.way_out);
		return;
	}
	directory = temporary_directory();
	if (directory == NULL) {
		finding_advise(findings_add(findings, FINDING_PROBLEM, "temporary", "TMPDIR",
					    "there is nowhere to put a temporary file"),
			       "set TMPDIR to a directory that can be written");
		free(library);
		return;
	}
	pattern = concat(directory, "/%p.%n", NULL);
	buffer_add(&complaints, "", 0);
	try_library(library, pattern, &complaints);
	written = has_written(pattern);
	has_unwinder = strstr(complaints.at, arch_unwinder_library) == NULL;
	judge_library(findings, library, written, complaints.at);
	if (written && has_unwinder)
		findings_add(findings, FINDING_OK, "unwinder", arch_unwinder_library,
			     "found: stacks of code without frame pointers are whole");
	else if (written)
		finding_advise(
			findings_add(findings, FINDING_PROBLEM, "unwinder", arch_unwinder_library,
				     "not found: stacks follow frame pointers only and end where there are none"),
			"install libunwind8");
	temporary_remove(directory);
	buffer_free(&complaints);
	free(pattern);
	free(library);
}

/* --- the environment ---------------------------------------------------------------------------------------------- */

static struct findings *warned; /* whom the parser's warnings are for */

/* "mprof: HEAPPROF_NAME=VALUE is not ...\n" */
static void note_warning(const char *line, size_t n)
{
	const char *name = line + strlen("mprof: "), *equals = memchr(name, '=', n), *text = strstr(line, " is not ");
	char *subject = xstrndup(name, (size_t)(equals - name));

	finding_advise(findings_add(warned, FINDING_PROBLEM, "variable", subject, "'%.*s'%.*s",
				    (int)(text - equals) - 1, equals + 1, (int)(n - (size_t)(text - line)) - 1, text),
		       "mprof help run lists the variables and their values");
	free(subject);
}

/* Can files be made where the pattern says? A directory that depends on the process is left out. */
static void check_directory(struct findings *findings, const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	char *directory =
		slash == NULL ? xstrdup(".") : xstrndup(pattern, slash == pattern ? 1 : (size_t)(slash - pattern));

	if (strchr(directory, '%') == NULL && access(directory, W_OK | X_OK) != 0)
		finding_advise(findings_add(findings, FINDING_PROBLEM, "directory", directory,
					    "no profile can be written there: %s", xstrerror(errno)),
			       "make it, or let HEAPPROF_OUT name another one");
	free(directory);
}

/* One element of LD_PRELOAD; `ours` when libmprof.so came before it. */
static bool check_preloaded(struct findings *findings, const char *path, bool ours)
{
	struct binary binary;
	bool is_ours = strncmp(lbasename(path), "libmprof", 8) == 0;

	if (is_ours || !binary_read(&binary, path))
		return is_ours;
	if (binary.sanitizer != NULL || binary_sanitizer_library(path) != NULL)
		finding_advise(findings_add(findings, FINDING_PROBLEM, "sanitizer", path,
					    "in LD_PRELOAD: a sanitizer has its own malloc"),
			       "unset LD_PRELOAD");
	else if (binary.exports_malloc)
		finding_advise(findings_add(findings, FINDING_NOTE, "preload", path,
					    "in LD_PRELOAD: another malloc, %s",
					    ours ? "unused, since libmprof.so comes first"
						 : "unused under mprof run, which puts libmprof.so first"),
			       "unset LD_PRELOAD to be without it");
	binary_free(&binary);
	return false;
}

static void check_preload(struct findings *findings)
{
	const char *given = getenv("LD_PRELOAD");
	char *list = xstrdup(given != NULL ? given : ""), *rest = list, *path;
	bool ours = false;

	while ((path = strsep(&rest, ": ")) != NULL)
		ours |= check_preloaded(findings, path, ours);
	free(list);
}

void doctor_environment(struct findings *findings)
{
	static struct options options; /* large */

	warned = findings;
	options_parse(&options, environ, note_warning);
	if (options.rate == 0)
		finding_advise(findings_add(findings, FINDING_PROBLEM, "rate", "HEAPPROF_RATE", "0 turns sampling off"),
			       "unset it, or set it to 512K");
	check_directory(findings, options.out);
	check_preload(findings);
}

/* --- the system ---------------------------------------------------------------------------------------------------- */

/* With Yama /proc/PID/task/TID/syscall is closed to all but root. */
static void check_yama(struct findings *findings)
{
	struct buffer text = {0};

	if (getuid() != 0 && buffer_read_file(&text, YAMA) >= 0 && text.at != NULL && atoi(text.at) > 0)
		finding_advise(findings_add(findings, FINDING_NOTE, "yama", "kernel.yama.ptrace_scope",
					    "%d: mprof dump cannot see which system calls the threads are in, and may "
					    "interrupt one that "
					    "is not restarted (EINTR)",
					    atoi(text.at)),
			       "run mprof dump as root, or set it to 0, for programs that do not expect that");
	buffer_free(&text);
}

void doctor_setup(struct findings *findings)
{
	size_t before;

	check_library(findings);
	before = findings->count;
	doctor_environment(findings);
	if (findings->count == before)
		findings_add(findings, FINDING_OK, "environment", "HEAPPROF_*, LD_PRELOAD",
			     "nothing set here stands in the way");
	check_yama(findings);
}
