/* output.c - profile files: their names, and that they appear only when complete. */
#include "preload/output.h"

#include "core/atomic.h"
#include "core/sys.h"
#include "core/text.h"

#include <errno.h>
#include <string.h>

#define ATTEMPTS_MAX 1000 /* numbers tried when files of that name exist */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

int output_expand(const char *pattern, const struct output_name *name, char *path, size_t cap)
{
	struct text text = {.buf = path, .cap = cap};

	for (const char *at = pattern; *at != '\0'; at++) {
		bool letter = true;

		if (*at != '%') {
			text_add_n(&text, at, 1);
			continue;
		}
		switch (at[1]) {
		case 'p':
			text_add_number(&text, (uint64_t)name->pid);
			break;
		case 'n':
			text_add_number(&text, name->number);
			break;
		case 'c':
			text_add(&text, last_component(name->program));
			break;
		case 't':
			text_add_number(&text, (uint64_t)name->seconds);
			break;
		case '%':
			text_add(&text, "%");
			break;
		default:
			text_add(&text, "%");
			letter = false;
		}
		at += letter;
	}
	return text.full ? -ENAMETOOLONG : 0;
}

bool output_is_numbered(const char *pattern)
{
	for (const char *at = strchr(pattern, '%'); at != NULL && at[1] != '\0'; at = strchr(at + 2, '%')) {
		if (at[1] == 'n')
			return true;
	}
	return false;
}

int output_temporary(const char *path, const struct output_name *name, char *temporary, size_t cap)
{
	struct text text = {.buf = temporary, .cap = cap};

	text_add_n(&text, path, (size_t)(last_component(path) - path));
	text_add(&text, ".mprof.");
	text_add_number(&text, (uint64_t)name->pid);
	text_add(&text, ".");
	text_add_number(&text, name->number);
	text_add(&text, ".");
	text_add_number(&text, (uint64_t)name->seconds);
	text_add(&text, ".tmp");
	return text.full ? -ENAMETOOLONG : 0;
}

int output_create(struct output *output)
{
	int error = 0;

	if (output->pattern != NULL)
		error = output_expand(output->pattern, &output->name, output->path, sizeof(output->path));
	if (error == 0)
		error = output_temporary(output->path, &output->name, output->temporary, sizeof(output->temporary));
	return error < 0 ? error : sys_create(output->temporary);
}

/* Give the complete file its name. */
static int publish(struct output *output)
{
	bool numbered = output->pattern != NULL && output_is_numbered(output->pattern);
	int error = sys_rename(output->temporary, output->path, !numbered);

	for (int i = 0; numbered && error == -EEXIST && i < ATTEMPTS_MAX; i++) {
		output->name.number =
			add_relaxed(output->numbers, 1) + 1; /* relaxed: only different numbers are wanted */
		error = output_expand(output->pattern, &output->name, output->path, sizeof(output->path));
		if (error == 0)
			error = sys_rename(output->temporary, output->path, false);
	}
	return error;
}

int output_finish(struct output *output, int fd, int error)
{
	int closed;

	sys_file_identity(fd, &output->device, &output->inode);
	closed = sys_close(fd);
	if (error == 0)
		error = closed;
	if (error == 0)
		error = publish(output);
	if (error < 0)
		sys_unlink(output->temporary);
	return error;
}

const char *output_reason(int error)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		return "permission denied";
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "a part of the path is not a directory";
	case EROFS:
		return "read-only file system";
	case ENOSPC:
		return "no space left on the device";
	case EDQUOT:
		return "disk quota exceeded";
	case EFBIG:
		return "file size limit reached";
	case EMFILE:
	case ENFILE:
		return "no file descriptor left";
	case ENAMETOOLONG:
		return "the name is too long";
	case EEXIST:
		return "the name is taken";
	case ENOMEM:
		return "no memory";
	case EIO:
		return "input/output error";
	default:
		return NULL;
	}
}
