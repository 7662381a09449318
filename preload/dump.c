/* dump.c - writes the profile of this process to a file. */
#include "preload/dump.h"

#include "core/arena.h"
#include "core/loss.h"
#include "core/module.h"
#include "core/sink.h"
#include "core/snapshot.h"
#include "core/sys.h"
#include "core/text.h"
#include "pprof/encode.h"
#include "pprof/gzip.h"
#include "preload/jemalloc.h"
#include "preload/message.h"
#include "preload/output.h"
#include "preload/profiler.h"

#include <errno.h>
#include <string.h>

#define PATH_CAP 4096
#define COMMENTS_MAX (LOSS_COUNT + 2)
#define ATTEMPTS_MAX 1000 /* names tried when files of that name exist */

static uint64_t dump_number; /* atomic: of the last dump begun */

/* Everything one dump needs, in its scratch arena: dumps at the same time share nothing. */
struct dump {
	struct arena scratch;
	struct output_name name;
	int64_t time_nanos;
	uint64_t bytes_written;
	const char *comments[COMMENTS_MAX];
	size_t comment_count;
	struct sink_fd file;
	char path[PATH_CAP];
	char temporary[PATH_CAP];
};

void dump_init(void)
{
	static char directory[OPTIONS_PATH_MAX];
	option_text *out = &profiler_options.out;
	size_t length;

	if ((*out)[0] == '/' || sys_getcwd(directory, sizeof(directory)) < 0)
		return;
	length = strlen(directory);
	if (length + 1 + strlen(*out) + 1 > sizeof(*out)) {
		message_line("HEAPPROF_OUT is too long in this directory: give an absolute pattern");
		return;
	}
	memmove(*out + length + 1, *out, strlen(*out) + 1);
	memcpy(*out, directory, length);
	(*out)[length] = '/';
}

void dump_reset_child(void)
{
	store_relaxed(&dump_number, 0); /* single-threaded */
}

/* Begin a comment of the profile: a text in scratch memory that the caller adds to. */
static struct text add_comment(struct dump *dump, size_t cap)
{
	struct text text = {.buf = arena_alloc(&dump->scratch, cap, 1), .cap = cap};

	if (text.buf == NULL)
		text = (struct text){.buf = dump->temporary, .cap = 1}; /* no memory: nothing is added */
	else
		dump->comments[dump->comment_count++] = text.buf;
	return text;
}

static void add_comments(struct dump *dump)
{
	struct text text = add_comment(dump, 64);
	const char *version = "unknown";
	size_t size = sizeof(version);

	text_add(&text, "mprof " MPROF_VERSION);
	je_mallctl("version", &version, &size, NULL, 0);
	text = add_comment(dump, 64);
	text_add(&text, "jemalloc ");
	text_add(&text, version);
	for (int i = 0; i < LOSS_COUNT; i++) {
		uint64_t count = load_relaxed(&loss_counts[i]); /* a statistic */

		if (count == 0)
			continue;
		text = add_comment(dump, 160);
		text_add(&text, "lost: ");
		text_add_number(&text, count);
		text_add(&text, " ");
		text_add(&text, loss_texts[i]);
	}
}

/* The profile of this moment, gzipped, into an open file. */
static int write_profile(struct dump *dump, int fd)
{
	struct gzip *gzip = arena_alloc(&dump->scratch, sizeof(*gzip), 64);
	int64_t rate = load_relaxed(&profiler_rate); /* relaxed: as in judge() */
	struct snapshot snapshot;
	int error;

	if (gzip == NULL)
		return -ENOMEM;
	sink_fd_init(&dump->file, fd);
	error = gzip_init(gzip, &dump->file.sink, &dump->scratch);
	if (error == 0)
		error = snapshot_take(&snapshot, &dump->scratch);
	if (error == 0) {
		struct encode_input input = {
			.snapshot = &snapshot,
			.period = rate > 0 ? (uint64_t)rate : 0,
			.time_nanos = dump->time_nanos,
			.symbols = profiler_options.symbols,
			.comments = dump->comments,
			.comment_count = dump->comment_count,
		};

		error = encode_profile(&input, &dump->scratch, &gzip->sink);
	}
	if (error == 0)
		error = gzip_finish(gzip);
	return error;
}

/* Give the complete file its name. A numbered pattern takes the next number where a file exists already. */
static int publish(struct dump *dump)
{
	bool numbered = output_is_numbered(profiler_options.out);
	int error = sys_rename(dump->temporary, dump->path, !numbered);

	for (int i = 0; error == -EEXIST && i < ATTEMPTS_MAX; i++) {
		dump->name.number = add_relaxed(&dump_number, 1) + 1;
		error = output_expand(profiler_options.out, &dump->name, dump->path, PATH_CAP);
		if (error == 0)
			error = sys_rename(dump->temporary, dump->path, false);
	}
	return error;
}

static int write_file(struct dump *dump)
{
	int fd, closed, error;

	error = output_expand(profiler_options.out, &dump->name, dump->path, PATH_CAP);
	if (error == 0)
		error = output_temporary(dump->path, &dump->name, dump->temporary, PATH_CAP);
	if (error < 0)
		return error;
	fd = sys_create(dump->temporary);
	if (fd < 0)
		return fd;
	error = write_profile(dump, fd);
	dump->bytes_written = (uint64_t)sys_file_size(fd);
	closed = sys_close(fd);
	if (error == 0)
		error = closed;
	if (error == 0)
		error = publish(dump);
	if (error < 0)
		sys_unlink(dump->temporary);
	return error;
}

static const char *reason(int error)
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

static void report_failure(const char *path, int error)
{
	static uint64_t reported[3]; /* atomic bit set: errors that have had their line */
	unsigned number = (unsigned)-error < 191 ? (unsigned)-error : 191;
	uint64_t bit = (uint64_t)1 << (number % 64);
	char line[900];
	struct text text = {.buf = line, .cap = sizeof(line)};

	loss_count(LOSS_dumps_failed);
	if ((__atomic_fetch_or(&reported[number / 64], bit, __ATOMIC_RELAXED) & bit) != 0)
		return;
	text_add(&text, "cannot write ");
	text_add_n(&text, path, strnlen(path, 700));
	text_add(&text, ": ");
	if (reason(error) != NULL) {
		text_add(&text, reason(error));
	} else {
		text_add(&text, "error ");
		text_add_number(&text, number);
	}
	text_add(&text, " (set HEAPPROF_OUT)");
	message_line(line);
}

static void report_success(const struct dump *dump)
{
	char line[900];
	struct text text = {.buf = line, .cap = sizeof(line)};

	text_add(&text, "wrote ");
	text_add_n(&text, dump->path, strnlen(dump->path, 700));
	text_add(&text, " (");
	text_add_number(&text, dump->bytes_written);
	text_add(&text, " bytes)");
	message_line(line);
}

static const char *program_name(void)
{
	const struct module *program = module_get(1);

	return program == NULL ? "program" : program->path;
}

int dump_to_pattern(void)
{
	struct arena scratch;
	struct dump *dump = NULL;
	int error = arena_init(&scratch, profiler_options.memory);

	if (error == 0)
		dump = arena_alloc(&scratch, sizeof(*dump), 64);
	if (dump == NULL) {
		report_failure(profiler_options.out, -ENOMEM);
		arena_destroy(&scratch);
		return -ENOMEM;
	}
	dump->scratch = scratch; /* from here on only this copy is used */
	dump->time_nanos = sys_wall_ns();
	dump->name = (struct output_name){
		.pid = sys_getpid(),
		.number = add_relaxed(&dump_number, 1) + 1,
		.program = program_name(),
		.seconds = dump->time_nanos / 1000000000,
	};
	add_comments(dump);
	error = write_file(dump);
	if (error < 0)
		report_failure(dump->path[0] != '\0' ? dump->path : profiler_options.out, error);
	else if (profiler_options.verbose)
		report_success(dump);
	scratch = dump->scratch;
	arena_destroy(&scratch);
	return error;
}
