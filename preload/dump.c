/* dump.c - writes the profile of this process: to a file named by HEAPPROF_OUT, to a path, to a descriptor. */
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
#include "pprof/legacy.h"
#include "preload/keep.h"
#include "preload/message.h"
#include "preload/output.h"
#include "preload/profiler.h"
#include "preload/quiet.h"
#include "preload/totals.h"

#include <errno.h>
#define JEMALLOC_NO_RENAME /* only JEMALLOC_VERSION is wanted: asking jemalloc for it costs 350 KB of its tables */
#include <jemalloc/jemalloc.h>
#include <string.h>

#define COMMENT_MAX 160
#define COMMENTS_MAX (LOSS_COUNT + 4)
#define SHOWN_MAX 700 /* bytes of a path in a message */
#define ASKER_PATIENCE_MS 5000
#define SPARE_BYTES ((size_t)32 << 20)
#define SCRATCH_MIN ((size_t)32 << 20)

static uint64_t last_number; /* atomic: %n of the last dump begun */
static uint64_t last_serial; /* atomic: number of the last dump to a path */
static uint64_t written;     /* atomic: dumps that succeeded */

/* Scratch memory set aside for a dump when the process has no more; used once. */
static struct arena spare;
static bool spare_used; /* atomic */

/* What a profile is written as. */
enum form { FORM_OPTION, FORM_PPROF, FORM_RAW };

/* Everything one dump needs, in its scratch arena: dumps at the same time share nothing. */
struct dump {
	struct arena scratch;
	struct quiet quiet;
	struct snapshot snapshot;
	int64_t time_nanos;
	uint64_t bytes_written; /* to a file */
	const char *comments[COMMENTS_MAX];
	size_t comment_count;
	struct sink_fd out;
	struct output output; /* of a dump to a file */
};

void dump_init(void)
{
	static char directory[OPTIONS_PATH_MAX];
	option_text *out = &profiler_options.out;
	size_t length;

	if ((*out)[0] == '/')
		return;
	length = sys_getcwd(directory, sizeof(directory)) < 0 ? sizeof(*out) : strlen(directory);
	if (length + 1 + strlen(*out) + 1 > sizeof(*out)) {
		message_line("HEAPPROF_OUT is too long in this directory, no profile will be written: give an absolute "
			     "pattern");
		(*out)[0] = '\0';
		return;
	}
	memmove(*out + length + 1, *out, strlen(*out) + 1);
	memcpy(*out, directory, length);
	(*out)[length] = '/';
}

void dump_reset_child(void)
{
	store_relaxed(&last_number, 0); /* single-threaded */
	store_relaxed(&written, 0);
	keep_reset_child();
}

/* --- the profile -------------------------------------------------------------------------------------------------- */

/* Begin a comment: a text in scratch memory that the caller adds to. Without memory it leads nowhere. */
static struct text add_comment(struct dump *dump)
{
	static char nowhere[1];
	char *buf = arena_alloc(&dump->scratch, COMMENT_MAX, 1);

	if (buf == NULL)
		return (struct text){.buf = nowhere, .cap = 1};
	dump->comments[dump->comment_count++] = buf;
	return (struct text){.buf = buf, .cap = COMMENT_MAX};
}

static void add_versions(struct dump *dump)
{
	struct text text = add_comment(dump);

	text_add(&text, "mprof " MPROF_VERSION);
	text = add_comment(dump);
	text_add(&text, "jemalloc " JEMALLOC_VERSION);
}

/* By its own number: a JIT compiler names its code in /tmp/perf-PID.map. */
static void add_process(struct dump *dump)
{
	struct text text = add_comment(dump);

	text_add(&text, "process: pid=");
	text_add_number(&text, (uint64_t)sys_getpid());
}

static void add_totals(struct dump *dump)
{
	struct text text = add_comment(dump);
	struct totals totals;

	totals_take(&totals, &dump->snapshot, &dump->quiet);
	totals_describe(&totals, &text);
}

static void add_losses(struct dump *dump)
{
	for (int i = 0; i < LOSS_COUNT; i++) {
		uint64_t count = load_relaxed(&loss_counts[i]); /* a statistic */
		struct text text;

		if (count == 0)
			continue;
		text = add_comment(dump);
		text_add(&text, "lost: ");
		text_add_number(&text, count);
		text_add(&text, " ");
		text_add(&text, loss_texts[i]);
	}
}

static int write_gzipped(struct dump *dump, const struct encode_input *input)
{
	struct gzip *gzip = arena_alloc(&dump->scratch, sizeof(*gzip), 64);
	int error = gzip == NULL ? -ENOMEM : gzip_init(gzip, &dump->out.sink, &dump->scratch);

	if (error == 0)
		error = encode_profile(input, &dump->scratch, &gzip->sink);
	return error == 0 ? gzip_finish(gzip) : error;
}

/* The profile of this moment into an open file. */
static int write_profile(struct dump *dump, int fd, enum form form)
{
	int64_t rate = load_relaxed(&profiler_rate); /* relaxed: as in judge() */
	struct encode_input input = {
		.snapshot = &dump->snapshot,
		.period = rate > 0 ? (uint64_t)rate : 0,
		.time_nanos = dump->time_nanos,
		.symbols = profiler_options.symbols,
		.peak = profiler_options.peak,
		.raw = form == FORM_RAW,
		.comments = dump->comments,
	};
	int error = snapshot_take(&dump->snapshot, &dump->scratch);

	if (error < 0)
		return error;
	add_versions(dump);
	add_process(dump);
	add_totals(dump);
	add_losses(dump);
	input.comment_count = dump->comment_count;
	sink_fd_init(&dump->out, fd, form == FORM_OPTION ? 0 : ASKER_PATIENCE_MS);
	if (form == FORM_OPTION && profiler_options.format == OPTIONS_FORMAT_TEXT)
		return legacy_profile(&input, &dump->scratch, &dump->out.sink);
	return write_gzipped(dump, &input);
}

static int write_file(struct dump *dump)
{
	int fd = output_create(&dump->output), error;

	if (fd < 0)
		return fd;
	error = write_profile(dump, fd, FORM_OPTION);
	dump->bytes_written = (uint64_t)sys_file_size(fd);
	return output_finish(&dump->output, fd, error);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Whether this kind of error has had its line before; it has from now on. */
static bool reported_before(unsigned error)
{
	static uint64_t reported[3]; /* atomic bit set */
	unsigned place = error < 191 ? error : 191;
	uint64_t bit = (uint64_t)1 << (place % 64);

	/* Relaxed: only the bits themselves count. */
	return (__atomic_fetch_or(&reported[place / 64], bit, __ATOMIC_RELAXED) & bit) != 0;
}

static void report_failure(const char *path, int error)
{
	char line[900];
	struct text text = {.buf = line, .cap = sizeof(line)};

	if (reported_before((unsigned)-error))
		return;
	text_add(&text, "cannot write ");
	text_add_n(&text, path, strnlen(path, SHOWN_MAX));
	text_add(&text, ": ");
	if (output_reason(error) != NULL) {
		text_add(&text, output_reason(error));
	} else {
		text_add(&text, "error ");
		text_add_number(&text, (unsigned)-error);
	}
	text_add(&text, " (set HEAPPROF_OUT)");
	message_line(line);
}

static void report_success(const struct dump *dump)
{
	char line[900];
	struct text text = {.buf = line, .cap = sizeof(line)};

	text_add(&text, "wrote ");
	text_add_n(&text, dump->output.path, strnlen(dump->output.path, SHOWN_MAX));
	text_add(&text, " (");
	text_add_number(&text, dump->bytes_written);
	text_add(&text, " bytes)");
	message_line(line);
}

/* --- dumps -------------------------------------------------------------------------------------------------------- */

void dump_keep_spare(void)
{
	arena_init(&spare, SPARE_BYTES);
}

/* Address space for one dump: what has to do with the buckets' number is less than a tenth of them. More would be missed by a program under
 * RLIMIT_AS. */
static size_t scratch_bytes(void)
{
	return profiler_options.memory / 4 > SCRATCH_MIN ? profiler_options.memory / 4 : SCRATCH_MIN;
}

/* Scratch memory for one dump. False when there is none. */
static bool take_scratch(struct arena *scratch)
{
	bool enough = arena_init(scratch, scratch_bytes()) == 0 && scratch->limit_bytes >= spare.limit_bytes;

	if (enough || spare.base == 0 || exchange_relaxed(&spare_used, true)) /* relaxed: only who takes it uses it */
		return scratch->base != 0;
	arena_destroy(scratch);
	*scratch = spare;
	return true;
}

/* Begin a dump; NULL when there is no memory. `quiet` is for end(), with the result. */
static struct dump *begin(struct quiet *quiet)
{
	struct arena scratch;
	struct dump *dump = NULL;

	quiet_begin(quiet);
	if (take_scratch(&scratch))
		dump = arena_alloc(&scratch, sizeof(*dump), 64);
	if (dump == NULL) {
		arena_destroy(&scratch);
		return NULL;
	}
	dump->scratch = scratch; /* from here on only this copy is used */
	dump->quiet = *quiet;
	dump->time_nanos = sys_wall_ns();
	return dump;
}

/* End it. Returns its result. */
static int end(struct dump *dump, const struct quiet *quiet, int error)
{
	struct arena scratch = {0};

	if (error < 0)
		loss_count(LOSS_dumps_failed);
	else
		add_relaxed(&written, 1); /* a statistic */
	if (dump != NULL)
		scratch = dump->scratch; /* the arena holds its own description */
	arena_destroy(&scratch);
	quiet_end(quiet, error);
	return error;
}

/* What the names of this dump's file are made of. */
static struct output_name name_of(const struct dump *dump, uint64_t number)
{
	const struct module *program = module_get(1);

	return (struct output_name){
		.pid = sys_getpid(),
		.number = number,
		.program = program == NULL ? "program" : program->path,
		.seconds = dump->time_nanos / 1000000000,
	};
}

int dump_to_pattern(void)
{
	const char *pattern = profiler_options.out;
	struct quiet quiet;
	struct dump *dump = begin(&quiet);
	int error = -ENOMEM;

	if (pattern[0] == '\0') /* dump_init has said why */
		return end(dump, &quiet, -ENAMETOOLONG);
	if (dump != NULL) {
		dump->output.pattern = pattern;
		dump->output.numbers = &last_number;
		dump->output.name =
			name_of(dump, add_relaxed(&last_number, 1) + 1); /* relaxed: only different ones are wanted */
		error = write_file(dump);
	}
	if (error < 0)
		report_failure(dump != NULL && dump->output.path[0] != '\0' ? dump->output.path : pattern, error);
	else {
		keep_newest(&dump->output);
		if (profiler_options.verbose)
			report_success(dump);
	}
	return end(dump, &quiet, error);
}

static int write_path(struct dump *dump, const char *path)
{
	size_t length = strlen(path);

	if (length == 0)
		return -ENOENT; /* as open */
	if (length >= sizeof(dump->output.path))
		return -ENAMETOOLONG;
	memcpy(dump->output.path, path, length + 1);
	/* Numbered from the top: no temporary name is one of dump_to_pattern's. Relaxed: as there. */
	dump->output.name = name_of(dump, UINT64_MAX - add_relaxed(&last_serial, 1));
	return write_file(dump);
}

int dump_to_path(const char *path)
{
	struct quiet quiet;
	struct dump *dump = begin(&quiet);
	int error = dump == NULL ? -ENOMEM : write_path(dump, path);

	if (error == 0 && profiler_options.verbose)
		report_success(dump);
	return end(dump, &quiet, error);
}

static int write_fd(int fd, enum form form)
{
	struct quiet quiet;
	struct dump *dump = begin(&quiet);

	return end(dump, &quiet, dump == NULL ? -ENOMEM : write_profile(dump, fd, form));
}

int dump_to_fd(int fd)
{
	return write_fd(fd, FORM_OPTION);
}

int dump_to_asker(int fd, bool raw)
{
	return write_fd(fd, raw ? FORM_RAW : FORM_PPROF);
}

uint64_t dump_count(void)
{
	return load_relaxed(&written); /* a statistic */
}
