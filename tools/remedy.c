/* remedy.c - how to get the names or the source lines of a program or library. */
#include "tools/remedy.h"

#include "tools/capture.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

/* Ask dpkg which package a file is of. False when it is of none, or there is no dpkg. */
static bool ask_package(const char *path, char *package, size_t cap)
{
	char *const argv[] = {"dpkg", "-S", "--", (char *)path, NULL}, *const settings[] = {"LC_ALL=C", NULL};
	struct buffer text = {0};
	size_t n = 0;

	/* "PACKAGE:ARCHITECTURE: PATH", "PACKAGE, PACKAGE: PATH"; diversions have lines of their own before that. */
	if (capture_run(argv, settings, 1, &text) == 0) {
		const char *line = text.at;

		while (strncmp(line, "diversion by ", 13) == 0 && strchr(line, '\n') != NULL)
			line = strchr(line, '\n') + 1;
		n = strcspn(line, ":,\n");
		if (n < cap)
			snprintf(package, cap, "%.*s", (int)n, line);
	}
	buffer_free(&text);
	return n > 0 && n < cap;
}

/* /lib and /bin may be links to those in /usr, and dpkg knows a file by one of its names only. */
static bool find_package(const char *path, char *package, size_t cap)
{
	char *other = strncmp(path, "/usr/", 5) == 0 ? xstrdup(path + 4) : concat("/usr", path, NULL);
	bool found = ask_package(path, package, cap) || ask_package(other, package, cap);

	free(other);
	return found;
}

/* The C library's is older than the rule. */
static const char *debug_suffix(const char *package)
{
	return strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym";
}

static void advise(struct finding *finding, const char *path, const char *own)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool has_urls = urls != NULL && *urls != '\0';
	char package[256];

	if (!find_package(path, package, sizeof package))
		finding_advise(finding, "%s", own);
	else if (has_urls)
		finding_advise(finding, "mprof symbolize asks DEBUGINFOD_URLS for them; or install %s%s", package,
			       debug_suffix(package));
	else
		finding_advise(finding, "install %s%s, or set DEBUGINFOD_URLS for mprof symbolize", package,
			       debug_suffix(package));
}

void remedy_names(struct findings *findings, enum finding_level level, const char *subject, const char *path,
		  const struct binary *binary)
{
	if (!binary->has_symbols && binary->debug_file == NULL)
		advise(findings_add(findings, level, "stripped", subject,
				    "stripped of its symbols: functions that it does not export have no names"),
		       path, "do not strip it (strip, gcc -s), and compile with -g for source lines");
	else if (!binary->has_debug_info && binary->debug_file == NULL)
		advise(findings_add(findings, FINDING_NOTE, "no-debug-info", subject,
				    "no debug information: there are names, but no source lines"),
		       path, "compile it with -g");
}
