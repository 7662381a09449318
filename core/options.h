/* options.h - the HEAPPROF_* environment variables, parsed. */
#ifndef MPROF_CORE_OPTIONS_H
#define MPROF_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_KEEP_MAX 10000
#define OPTIONS_INTERVAL_MAX 1000000000 /* seconds: some thirty years */
#define OPTIONS_PATH_MAX 2048		/* bytes of HEAPPROF_OUT, with the terminating NUL */
#define OPTIONS_WARNINGS_MAX 32

enum options_format { OPTIONS_FORMAT_PPROF, OPTIONS_FORMAT_TEXT };

/* How each kind of option in options.def is held. */
typedef uint64_t option_bytes;
typedef uint64_t option_count;
typedef bool option_flag;
typedef int option_signal; /* 0 = none */
typedef char option_text[OPTIONS_PATH_MAX];
typedef enum options_format option_choice_format;
typedef bool option_choice_symbols; /* true = elf */
typedef bool option_choice_unwind;  /* true = auto */

struct options {
#define OPTION(kind, field, name, text, meaning) option_##kind field;
#include "core/options.def"
#undef OPTION
};

/* Where warnings go: one line of text (with its newline) each. */
typedef void options_warn(const char *line, size_t n);

/* Set every option to its default, then from the HEAPPROF_* variables of `environment` (a NULL-terminated array of
 * NAME=value, or NULL). A bad value, or an unknown HEAPPROF_ name, costs one warning and nothing else: the default is used.
 * Where HEAPPROF_OUT is not given its default depends on the format.
 * Context: no allocation, no locale; async-signal-safe. */
void options_parse(struct options *options, char *const *environment, options_warn *warn);

/* Parse a number of bytes: decimal digits and an optional K, M or G (powers of 1024, either case). False when it is not one, or
 * does not fit 64 bits. */
bool options_parse_bytes(const char *text, uint64_t *bytes);

/* Parse a signal: a number, a name with or without SIG, RTMIN+n, RTMAX-n, or none (0). False when it is not one, or cannot be caught. */
bool options_parse_signal(const char *text, int *signal);

#endif
