/* proc_text.c - what the texts below /proc/PID say. */
#include "tools/proc_text.h"

#include "core/options.h"

#include <libiberty/libiberty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "/libmprof"

/* What follows "NAME:" at the start of a line; NULL when no line starts so. */
static const char *field(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, name, n) == 0 && text[n] == ':')
			return text + n + 1 + strspn(text + n + 1, " \t");
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
	return NULL;
}

static bool parse_number(const char *text, int base, uint64_t *number)
{
	char *end;

	if (text == NULL)
		return false;
	*number = strtoull(text, &end, base);
	return end != text;
}

/* The last of four: real, effective, saved, file system. */
static bool parse_fs_id(const char *text, uint64_t *id)
{
	unsigned last;

	if (text == NULL || sscanf(text, "%*u %*u %*u %u", &last) != 1)
		return false;
	*id = last;
	return true;
}

bool proc_parse_status(const char *text, struct proc_status *status)
{
	const char *state = field(text, "State");
	uint64_t process, uid, gid;

	*status = (struct proc_status){0};
	if (state == NULL || !parse_number(field(text, "Tgid"), 10, &process) ||
	    !parse_fs_id(field(text, "Uid"), &uid) || !parse_fs_id(field(text, "Gid"), &gid) ||
	    !parse_number(field(text, "SigCgt"), 16, &status->caught) ||
	    !parse_number(field(text, "SigBlk"), 16, &status->blocked) ||
	    !parse_number(field(text, "CapEff"), 16, &status->effective) ||
	    !parse_number(field(text, "CapPrm"), 16, &status->permitted))
		return false;
	status->state = *state;
	status->process = (pid_t)process;
	status->fs_uid = (uid_t)uid;
	status->fs_gid = (gid_t)gid;
	return true;
}

/* "/x/libmprof.so", with letters or a version before or after the ".so", and "(deleted)" after all of it. */
static bool is_library(const char *path, size_t n)
{
	const char *end = path + n, *name = memrchr(path, '/', n), *suffix;

	if (name == NULL || strncmp(name, LIBRARY, sizeof LIBRARY - 1) != 0)
		return false;
	name += sizeof LIBRARY - 1;
	name += strspn(name, "-_abcdefghijklmnopqrstuvwxyz");
	suffix = name + 3;
	return suffix <= end && strncmp(name, ".so", 3) == 0 && (suffix == end || *suffix == '.' || *suffix == ' ');
}

bool proc_maps_library(const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		const char *path = memchr(text, '/', n);

		if (path != NULL && is_library(path, n - (size_t)(path - text)))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

static void ignore_warning(const char *line, size_t n)
{
	(void)line;
	(void)n;
}

int proc_environ_signal(const char *text, size_t n)
{
	static struct options options; /* large */
	char **settings = xcalloc(n + 1, sizeof *settings);
	size_t count = 0;

	for (size_t at = 0; at < n; at += strlen(text + at) + 1)
		settings[count++] = (char *)(uintptr_t)text + at; /* only read */
	options_parse(&options, settings, ignore_warning);
	free(settings);
	return options.signal;
}

bool proc_parse_syscall(const char *text, long *number)
{
	char *end;

	if (strncmp(text, "running", 7) == 0) {
		*number = PROC_IN_NO_CALL;
		return true;
	}
	*number = strtol(text, &end, 10);
	return end != text;
}

const char *proc_signal_name(int signo)
{
	static char text[16];
	const char *name = sigabbrev_np(signo);

	if (name != NULL)
		return name;
	snprintf(text, sizeof text, "RTMAX-%d", SIGRTMAX - signo);
	return text;
}
