/* options.c - the HEAPPROF_* environment variables, parsed. */
#include "core/options.h"

#include "core/sampler.h"
#include "core/stack.h"
#include "core/text.h"

#include <signal.h>
#include <string.h>

#define PREFIX "HEAPPROF_"
#define OUT_TEXT "mprof.%p.%n.txt" /* HEAPPROF_OUT's default for the text format */
#define SHOWN_MAX 60		   /* characters of a bad value that a warning repeats */

/* The lowest real-time signal number a program may use: glibc keeps two of the kernel's 32..64 for itself. */
#define RT_MIN 34
#define RT_MAX 64

static const char *parse_number(const char *text, uint64_t *number)
{
	const char *at = text;

	for (*number = 0; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return NULL;
	}
	return at == text ? NULL : at;
}

bool options_parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KkMmGg";
	const char *rest = parse_number(text, bytes);
	const char *unit;
	unsigned shift;

	if (rest == NULL)
		return false;
	if (*rest == '\0')
		return true;
	unit = strchr(units, *rest);
	if (unit == NULL || rest[1] != '\0')
		return false;
	shift = 10 * (unsigned)((unit - units) / 2 + 1);
	if (*bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

static bool usable_signal(uint64_t number)
{
	return number >= 1 && number <= RT_MAX && number != SIGKILL && number != SIGSTOP && number != 32 &&
	       number != 33;
}

static bool named_signal(const char *name, int *signal)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{"HUP", SIGHUP},   {"INT", SIGINT},	  {"QUIT", SIGQUIT}, {"ALRM", SIGALRM},	  {"TERM", SIGTERM},
		{"USR1", SIGUSR1}, {"USR2", SIGUSR2},	  {"PIPE", SIGPIPE}, {"CHLD", SIGCHLD},	  {"CONT", SIGCONT},
		{"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},	  {"TTOU", SIGTTOU}, {"URG", SIGURG},	  {"XCPU", SIGXCPU},
		{"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
		{"PWR", SIGPWR},   {"RTMIN", RT_MIN},	  {"RTMAX", RT_MAX},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) == 0) {
			*signal = names[i].number;
			return true;
		}
	}
	return false;
}

/* RTMIN+n or RTMAX-n. */
static bool realtime_signal(const char *name, int *signal)
{
	bool from_max = strncmp(name, "RTMAX-", 6) == 0;
	const char *rest;
	uint64_t n;

	if (!from_max && strncmp(name, "RTMIN+", 6) != 0)
		return false;
	rest = parse_number(name + 6, &n);
	if (rest == NULL || *rest != '\0' || n > RT_MAX - RT_MIN)
		return false;
	*signal = from_max ? RT_MAX - (int)n : RT_MIN + (int)n;
	return true;
}

bool options_parse_signal(const char *text, int *signal)
{
	uint64_t number;
	const char *rest = parse_number(text, &number);

	if (strcmp(text, "none") == 0) {
		*signal = 0;
		return true;
	}
	if (rest != NULL && *rest == '\0' && usable_signal(number)) {
		*signal = (int)number;
		return true;
	}
	if (strncmp(text, "SIG", 3) == 0)
		text += 3;
	return named_signal(text, signal) || realtime_signal(text, signal);
}

/* One parser per kind; each leaves *value alone when it fails. */
static bool parse_bytes(const char *text, option_bytes *value)
{
	uint64_t bytes;

	if (!options_parse_bytes(text, &bytes))
		return false;
	*value = bytes;
	return true;
}

static bool parse_count(const char *text, option_count *value)
{
	uint64_t number;
	const char *rest = parse_number(text, &number);

	if (rest == NULL || *rest != '\0')
		return false;
	*value = number;
	return true;
}

static bool parse_flag(const char *text, option_flag *value)
{
	if ((text[0] != '0' && text[0] != '1') || text[1] != '\0')
		return false;
	*value = text[0] == '1';
	return true;
}

static bool parse_signal(const char *text, option_signal *value)
{
	return options_parse_signal(text, value);
}

static bool parse_text(const char *text, option_text *value)
{
	size_t n = strlen(text);

	if (n == 0 || n >= sizeof(*value))
		return false;
	memcpy(*value, text, n + 1);
	return true;
}

/* One of two words; true for the first. */
static bool parse_choice(const char *text, const char *yes, const char *no, bool *value)
{
	if (strcmp(text, yes) != 0 && strcmp(text, no) != 0)
		return false;
	*value = strcmp(text, yes) == 0;
	return true;
}

static bool parse_choice_format(const char *text, option_choice_format *value)
{
	bool pprof;

	if (!parse_choice(text, "pprof", "text", &pprof))
		return false;
	*value = pprof ? OPTIONS_FORMAT_PPROF : OPTIONS_FORMAT_TEXT;
	return true;
}

static bool parse_choice_symbols(const char *text, option_choice_symbols *value)
{
	return parse_choice(text, "elf", "none", value);
}

static bool parse_choice_unwind(const char *text, option_choice_unwind *value)
{
	return parse_choice(text, "auto", "fp", value);
}

/* What the syntax alone does not rule out. */
static bool in_range(const struct options *options)
{
	return options->rate <= SAMPLER_RATE_MAX && options->depth >= 1 && options->depth <= STACK_DEPTH_MAX &&
	       options->memory >= (uint64_t)1 << 20 && options->memory <= (uint64_t)1 << 36 &&
	       options->keep <= OPTIONS_KEEP_MAX && options->interval <= OPTIONS_INTERVAL_MAX;
}

/* Add a user's text: cut when long, and with what would break the line replaced. */
static void add_shown(struct text *line, const char *value, size_t n)
{
	size_t start = line->n;

	text_add_n(line, value, n < SHOWN_MAX ? n : SHOWN_MAX);
	for (size_t i = start; i < line->n; i++) {
		if (line->buf[i] < ' ' || line->buf[i] == 0x7F)
			line->buf[i] = '?';
	}
	if (n > SHOWN_MAX)
		text_add(line, "...");
}

static void warn_value(options_warn *warn, const char *name, size_t name_length, const char *value, const char *used)
{
	char buf[320];
	struct text line = {.buf = buf, .cap = sizeof(buf)};

	text_add(&line, "mprof: " PREFIX);
	add_shown(&line, name, name_length);
	text_add(&line, "=");
	add_shown(&line, value, strlen(value));
	text_add(&line, used == NULL ? " is not a variable of mprof; ignored" : " is not valid; using ");
	if (used != NULL)
		text_add(&line, used);
	text_add(&line, "\n");
	warn(line.buf, line.n);
}

static bool set_option(struct options *options, const char *name, size_t name_length, const char *value,
		       options_warn *warn)
{
#define OPTION(kind, field, option_name, text, meaning) \
	if (name_length == sizeof(#option_name) - 1 && memcmp(name, #option_name, name_length) == 0) { \
		if (!parse_##kind(value, &options->field) || !in_range(options)) { \
			parse_##kind(text, &options->field); \
			warn_value(warn, name, name_length, value, text); \
		} \
		return true; \
	}
#include "core/options.def"
#undef OPTION
	return false;
}

void options_parse(struct options *options, char *const *environment, options_warn *warn)
{
	bool out_given = false;

	*options = (struct options){0};
#define OPTION(kind, field, name, text, meaning) parse_##kind(text, &options->field);
#include "core/options.def"
#undef OPTION
	for (; environment != NULL && *environment != NULL; environment++) {
		const char *name = *environment + sizeof(PREFIX) - 1;
		const char *equals = strchr(*environment, '=');

		if (equals == NULL || strncmp(*environment, PREFIX, sizeof(PREFIX) - 1) != 0)
			continue;
		if (!set_option(options, name, (size_t)(equals - name), equals + 1, warn))
			warn_value(warn, name, (size_t)(equals - name), equals + 1, NULL);
		out_given = out_given || strncmp(name, "OUT=", 4) == 0;
	}
	if (!out_given && options->format == OPTIONS_FORMAT_TEXT)
		parse_text(OUT_TEXT, &options->out);
}
