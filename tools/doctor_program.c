/* doctor_program.c - a program before it runs: can it be profiled, and are there names? */
#include "tools/doctor.h"

#include "tools/capture.h"
#include "tools/remedy.h"
#include "tools/summary.h"

#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- what runs in it ----------------------------------------------------------------------------------------------- */

/* Programs that run others' code in a heap of their own, by how the file's name starts. */
static const struct {
	const char *name, *text, *advice;
} runtimes[] = {
	{"python", "Python's own pool serves its objects of up to 512 bytes, and only larger ones are seen",
	 "set PYTHONMALLOC=malloc"},
	{"java", "Java's objects are in a heap of its own; what is seen is its native code's memory", NULL},
	{"node", "JavaScript's objects are in V8's own heap; what is seen is buffers and native code's memory", NULL},
};

static void check_runtime(struct findings *findings, const char *subject, const char *path, const struct binary *binary)
{
	const char *pool = getenv("PYTHONMALLOC");

	if (binary->is_go)
		finding_advise(findings_add(findings, FINDING_NOTE, "runtime", subject,
					    "a Go program: its objects are in a heap of its own; only what C code in "
					    "it allocates is seen"),
			       "use Go's own profile for the rest (runtime/pprof)");
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
		bool is_it = strncmp(lbasename(path), runtimes[i].name, strlen(runtimes[i].name)) == 0;
		struct finding *finding;

		if (!is_it || (i == 0 && pool != NULL && strncmp(pool, "malloc", 6) == 0))
			continue;
		finding = findings_add(findings, FINDING_NOTE, "runtime", subject, "%s", runtimes[i].text);
		if (runtimes[i].advice != NULL)
			finding_advise(finding, "%s", runtimes[i].advice);
	}
}

static void add_sanitizer(struct findings *findings, const char *subject, const char *sanitizer)
{
	finding_advise(
		findings_add(findings, FINDING_PROBLEM, "sanitizer", subject,
			     "built with %s, whose malloc takes the place of libmprof.so's, or does not let it start",
			     sanitizer),
		"profile a build without -fsanitize");
}

static void add_tables(struct findings *findings, const char *subject, const struct binary *binary)
{
	if (!binary->has_unwind_tables && !binary->is_go)
		finding_advise(
			findings_add(findings, FINDING_NOTE, "no-unwind-tables", subject,
				     "compiled without unwind tables: stacks end there unless it has frame pointers"),
			"compile with -fasynchronous-unwind-tables or -fno-omit-frame-pointer");
}

/* --- its libraries ------------------------------------------------------------------------------------------------- */

/* The C library's malloc is the one to be replaced. */
static bool is_system_library(const char *path)
{
	static const char *const names[] = {"libc.so", "ld-linux", "linux-vdso", "libmprof"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(lbasename(path), names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void judge_library(struct findings *findings, const char *path, const struct binary *binary)
{
	const char *known = binary_allocator_library(path);

	if (known != NULL || binary->exports_malloc)
		finding_advise(findings_add(findings, FINDING_NOTE, "allocator-library", path,
					    "a malloc (%s) that libmprof.so's takes the place of: its own statistics "
					    "(mallctl, mallinfo, "
					    "MallocExtension) see nothing",
					    known != NULL ? known : binary->allocator),
			       "read them without mprof");
	else if (binary->allocator != NULL)
		finding_advise(findings_add(findings, FINDING_NOTE, "allocator", path,
					    "has an allocator (%s) for itself: what it allocates there is not seen",
					    binary->allocator),
			       "build it to use malloc");
	add_tables(findings, path, binary);
}

static void check_library(struct findings *findings, const char *program, const char *path)
{
	const char *sanitizer = binary_sanitizer_library(path);
	struct binary binary;

	if (sanitizer != NULL) {
		add_sanitizer(findings, program, sanitizer);
		return;
	}
	if (is_system_library(path) || !binary_read(&binary, path))
		return;
	if (binary.sanitizer != NULL)
		add_sanitizer(findings, path, binary.sanitizer);
	else
		judge_library(findings, path, &binary);
	binary_free(&binary);
}

/* Let the loader say which libraries it takes: lines of "\tNAME => PATH (ADDRESS)" or "\tPATH (ADDRESS)". */
static void check_libraries(struct findings *findings, const char *subject, const char *path)
{
	char *const argv[] = {(char *)path, NULL}, *const settings[] = {"LD_TRACE_LOADED_OBJECTS=1", "LD_PRELOAD",
									NULL};
	struct buffer text = {0};
	char *rest, *line;

	buffer_add(&text, "", 0);
	capture_run(argv, settings, 1, &text);
	rest = text.at;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *start = strchr(line, '/'), *end = start != NULL ? strstr(start, " (") : NULL;

		if (end == NULL)
			continue;
		*end = '\0';
		check_library(findings, subject, start);
	}
	buffer_free(&text);
}

/* --- the program --------------------------------------------------------------------------------------------------- */

static bool check_kind(struct findings *findings, const char *subject, enum target_kind kind)
{
	static const char *const codes[] = {
		[TARGET_STATIC] = "static", [TARGET_PRIVILEGED] = "privileged", [TARGET_FOREIGN] = "foreign"};
	static const char *const advices[] = {
		[TARGET_STATIC] = "link it without -static",
		[TARGET_PRIVILEGED] = "profile a copy without these rights, as the user that it runs as",
		[TARGET_FOREIGN] = "use an mprof built for that machine",
	};
	const char *obstacle = target_obstacle(kind);

	if (obstacle == NULL)
		return true;
	finding_advise(findings_add(findings, FINDING_PROBLEM, codes[kind], subject, "%s", obstacle), "%s",
		       advices[kind]);
	return false;
}

static void add_allocator(struct findings *findings, const char *subject, const char *allocator)
{
	struct finding *finding = findings_add(
		findings, FINDING_PROBLEM, "allocator", subject,
		"has an allocator (%s) linked into it, which comes before libmprof.so: what it allocates is not "
		"seen",
		allocator);

	if (strcmp(allocator, "another") == 0)
		finding_advise(finding, "build it without");
	else
		finding_advise(finding, "build it without, or with the shared library (lib%s.so)", allocator);
}

/* Whatever decides if allocations are seen. False when none can be. */
static bool check_memory(struct findings *findings, const char *subject, const char *path, enum target_kind kind,
			 const struct binary *binary)
{
	bool possible = check_kind(findings, subject, kind);

	check_runtime(findings, subject, path, binary);
	if (!possible)
		return false;
	if (binary->sanitizer != NULL)
		add_sanitizer(findings, subject, binary->sanitizer);
	else if (binary->allocator != NULL)
		add_allocator(findings, subject, binary->allocator);
	check_libraries(findings, subject, path);
	return true;
}

void doctor_executable(struct findings *findings, const char *path, enum target_kind kind)
{
	struct binary binary;

	if (!binary_read(&binary, path)) {
		check_kind(findings, path, kind);
		return;
	}
	check_memory(findings, summary_typed_path(path), path, kind, &binary);
	binary_free(&binary);
}

/* Of a script the interpreter runs, whose own names are not what its user looks for. */
void doctor_program(struct findings *findings, const char *command)
{
	static char found[PATH_MAX]; /* large */
	enum target_kind kind = target_inspect(command, found, sizeof found);
	bool is_script = strcmp(lbasename(found), lbasename(command)) != 0;
	char *path = realpath(found, NULL);
	struct binary binary;

	if (path != NULL && binary_read(&binary, path)) {
		const char *subject = summary_typed_path(path);

		if (check_memory(findings, subject, path, kind, &binary) && !is_script) {
			remedy_names(findings, FINDING_NOTE, subject, path, &binary);
			add_tables(findings, subject, &binary);
		}
		if (findings_worst(findings, subject) == FINDING_OK)
			findings_add(findings, FINDING_OK, "program", subject, "can be profiled%s",
				     is_script ? "" : ", and has names and source lines");
		binary_free(&binary);
	}
	free(path);
}
