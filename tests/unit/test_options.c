/* test_options.c - every variable, good, bad and on the edge; a warning is one clean line, whatever the value. */
#include "core/options.h"

#include "core/sampler.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define GIB ((uint64_t)1 << 30)
#define LINE_MAX_BYTES 320

static struct options options;
static unsigned warnings;
static char warning[LINE_MAX_BYTES + 1]; /* the last one */

static void note(const char *line, size_t n)
{
	cr_assert(n <= LINE_MAX_BYTES, "a warning of %zu bytes", n);
	memcpy(warning, line, n);
	warning[n] = '\0';
	cr_assert_eq(strlen(warning), n);
	cr_assert_eq(strchr(warning, '\n'), warning + n - 1, "not one line: %s", warning);
	warnings++;
}

/* Parse an environment of one variable. */
static void parse(const char *variable)
{
	char *environment[] = {(char *)variable, NULL};

	warnings = 0;
	warning[0] = '\0';
	options_parse(&options, environment, note);
}

static void expect_defaults(void)
{
	cr_expect_eq(options.rate, 524288);
	cr_expect_str_eq(options.out, "mprof.%p.%n.pb.gz");
	cr_expect_eq(options.exit, true);
	cr_expect_eq(options.signal, SIGRTMAX - 4);
	cr_expect_eq(options.symbols, true);
	cr_expect_eq(options.unwind, true);
	cr_expect_eq(options.depth, 128);
	cr_expect_eq(options.memory, GIB / 4);
	cr_expect_eq(options.verbose, false);
}

Test(options, defaults)
{
	char *empty[] = {NULL};

	memset(&options, 0xAA, sizeof(options));
	options_parse(&options, NULL, note);
	expect_defaults();
	memset(&options, 0xAA, sizeof(options));
	options_parse(&options, empty, note);
	expect_defaults();
	cr_assert_eq(warnings, 0);
}

Test(options, bytes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"1", 1},
		{"524288", 524288},
		{"1k", 1024},
		{"3K", 3072},
		{"2m", 2 << 20},
		{"7M", 7 << 20},
		{"1g", GIB},
		{"17179869183G", ((uint64_t)17179869183) << 30},
		{"000012", 12},
		{"0G", 0},
		{"18446744073709551615", UINT64_MAX},
		{"18014398509481983K", UINT64_MAX << 10},
	};
	static const char *const bad[] = {
		"",
		"K",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1.5M",
		"0x10",
		"1KB",
		"1KK",
		"1T",
		"1e",
		"ten",
		"1,0",
		"1\n",
		"M1",
		"18446744073709551616",
		"99999999999999999999999",
		"17179869184G",
		"18014398509481984K",
		"18446744073709551615K",
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert(options_parse_bytes(good[i].text, &bytes), "%s", good[i].text);
		cr_expect_eq(bytes, good[i].bytes, "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!options_parse_bytes(bad[i], &bytes), "\"%s\"", bad[i]);
}

Test(options, signals)
{
	static const struct {
		const char *text;
		int signal;
	} good[] = {
		{"none", 0},	     {"12", 12},	  {"USR2", SIGUSR2},  {"SIGUSR1", SIGUSR1}, {"HUP", SIGHUP},
		{"SIGRTMIN", 34},    {"RTMIN+0", 34},	  {"SIGRTMIN+3", 37}, {"RTMIN+30", 64},	    {"RTMAX", 64},
		{"SIGRTMAX-30", 34}, {"RTMAX-4", 60},	  {"64", 64},	      {"34", 34},	    {"1", 1},
		{"PROF", SIGPROF},   {"WINCH", SIGWINCH},
	};
	static const char *const bad[] = {
		"",
		"0",
		"65",
		"-1",
		"32",
		"33",
		"9",
		"19",
		"KILL",
		"SIGKILL",
		"SIGSTOP",
		"usr2",
		"SIG",
		"SIG12",
		"SIGSIGUSR2",
		"USR3",
		"RTMIN+31",
		"RTMAX-31",
		"RTMIN-1",
		"RTMAX+1",
		"RTMIN+",
		"RTMIN+1x",
		"12x",
		" 12",
		"NONE",
		"99999999999999999999999",
		"RTMAX-18446744073709551615",
	};
	int signal;

	cr_assert(SIGRTMIN == 34 && SIGRTMAX == 64);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert(options_parse_signal(good[i].text, &signal), "%s", good[i].text);
		cr_expect_eq(signal, good[i].signal, "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!options_parse_signal(bad[i], &signal), "\"%s\"", bad[i]);
}

Test(options, good_values_are_taken)
{
	char *environment[] = {"PATH=/bin",
			       "HEAPPROF_RATE=4K",
			       "HEAPPROF_OUT=/tmp/a=b",
			       "HEAPPROF_EXIT=0",
			       "HEAPPROF_SIGNAL=none",
			       "HEAPPROF_SYMBOLS=none",
			       "HEAPPROF_UNWIND=fp",
			       "HEAPPROF_DEPTH=1024",
			       "HEAPPROF_MEMORY=64G",
			       "HEAPPROF_VERBOSE=1",
			       NULL};

	options_parse(&options, environment, note);
	cr_assert_eq(warnings, 0, "%s", warning);
	cr_assert_eq(options.rate, 4096);
	cr_assert_str_eq(options.out, "/tmp/a=b");
	cr_assert_eq(options.exit, false);
	cr_assert_eq(options.signal, 0);
	cr_assert_eq(options.symbols, false);
	cr_assert_eq(options.unwind, false);
	cr_assert_eq(options.depth, 1024);
	cr_assert_eq(options.memory, 64 * GIB);
	cr_assert_eq(options.verbose, true);
}

Test(options, edges_are_taken)
{
	static const char *const variables[] = {
		"HEAPPROF_RATE=0",  "HEAPPROF_RATE=1",	  "HEAPPROF_RATE=72057594037927936", /* SAMPLER_RATE_MAX */
		"HEAPPROF_DEPTH=1", "HEAPPROF_MEMORY=1M", "HEAPPROF_MEMORY=68719476736",     "HEAPPROF_OUT=%",
	};

	cr_assert_eq(SAMPLER_RATE_MAX, 72057594037927936);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		parse(variables[i]);
		cr_expect_eq(warnings, 0, "%s", warning);
	}
}

Test(options, bad_values_cost_one_warning)
{
	static const char *const variables[] = {
		"HEAPPROF_RATE=",	"HEAPPROF_RATE=fast",
		"HEAPPROF_RATE=-1",	"HEAPPROF_RATE=72057594037927937",
		"HEAPPROF_OUT=",	"HEAPPROF_EXIT=",
		"HEAPPROF_EXIT=yes",	"HEAPPROF_EXIT=10",
		"HEAPPROF_SIGNAL=KILL", "HEAPPROF_SIGNAL=",
		"HEAPPROF_SYMBOLS=ELF", "HEAPPROF_SYMBOLS=",
		"HEAPPROF_UNWIND=none", "HEAPPROF_UNWIND=fp ",
		"HEAPPROF_DEPTH=0",	"HEAPPROF_DEPTH=1025",
		"HEAPPROF_DEPTH=1K",	"HEAPPROF_MEMORY=1048575",
		"HEAPPROF_MEMORY=65G",	"HEAPPROF_MEMORY=0",
		"HEAPPROF_VERBOSE=2",	"HEAPPROF_MEMORY=99999999999999999999",
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		char expected[128];

		parse(variables[i]);
		cr_expect_eq(warnings, 1, "%s: %u warnings", variables[i], warnings);
		snprintf(expected, sizeof(expected), "mprof: %s is not valid; using ", variables[i]);
		cr_expect_eq(strncmp(warning, expected, strlen(expected)), 0, "%s", warning);
		expect_defaults();
	}
	parse("HEAPPROF_DEPTH=deep");
	cr_assert_str_eq(warning, "mprof: HEAPPROF_DEPTH=deep is not valid; using 128\n");
}

Test(options, unknown_names_are_told)
{
	static const char *const variables[] = {"HEAPPROF_BOGUS=1", "HEAPPROF_RATES=1", "HEAPPROF_RAT=1", "HEAPPROF_=1",
						"HEAPPROF_rate=1"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		parse(variables[i]);
		cr_expect_eq(warnings, 1, "%s", variables[i]);
		expect_defaults();
	}
	parse("HEAPPROF_BOGUS=1");
	cr_assert_str_eq(warning, "mprof: HEAPPROF_BOGUS=1 is not a variable of mprof; ignored\n");
}

Test(options, other_names_are_none_of_our_business)
{
	static const char *const variables[] = {
		"HEAPPROF",	    "HEAPPROF_RATE",	 "HEAPPROF=1",	     "heapprof_rate=1",
		"XHEAPPROF_RATE=1", "A=HEAPPROF_RATE=1", "=HEAPPROF_RATE=1", ""};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		parse(variables[i]);
		cr_expect_eq(warnings, 0, "%s: %s", variables[i], warning);
		expect_defaults();
	}
}

Test(options, one_bad_value_harms_no_other)
{
	char *environment[] = {"HEAPPROF_RATE=64", "HEAPPROF_DEPTH=9999", "HEAPPROF_MEMORY=8M",
			       "HEAPPROF_BOGUS=", NULL};

	options_parse(&options, environment, note);
	cr_assert_eq(warnings, 2);
	cr_assert_eq(options.rate, 64);
	cr_assert_eq(options.depth, 128);
	cr_assert_eq(options.memory, 8 << 20);
}

/* As getenv would not: the later one; a bad one falls back to the default, as its warning says. */
Test(options, last_of_the_same_name_wins)
{
	char *environment[] = {"HEAPPROF_RATE=64", "HEAPPROF_RATE=128", "HEAPPROF_DEPTH=3", "HEAPPROF_DEPTH=x", NULL};

	options_parse(&options, environment, note);
	cr_assert_eq(warnings, 1);
	cr_assert_eq(options.rate, 128);
	cr_assert_eq(options.depth, 128);
}

Test(options, path_is_bounded)
{
	static char variable[sizeof("HEAPPROF_OUT=") + OPTIONS_PATH_MAX] = "HEAPPROF_OUT=";
	char *value = strchr(variable, '=') + 1;

	memset(value, 'x', OPTIONS_PATH_MAX);
	value[OPTIONS_PATH_MAX] = '\0';
	parse(variable);
	cr_assert_eq(warnings, 1);
	expect_defaults();
	value[OPTIONS_PATH_MAX - 1] = '\0';
	parse(variable);
	cr_assert_eq(warnings, 0);
	cr_assert_str_eq(options.out, value);
}

/* 5000 bytes of one character as the value, and as the name, of everything. */
Test(options, endless_texts)
{
	static const char *const names[] = {
#define OPTION(kind, field, name, text, meaning) "HEAPPROF_" #name "=",
#include "core/options.def"
#undef OPTION
		"HEAPPROF_BOGUS=", "HEAPPROF_"};
	static char variable[5100];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (const char *fill = "1Kx%\x01\xFF"; *fill != '\0'; fill++) {
			size_t prefix = strlen(names[i]);

			memcpy(variable, names[i], prefix);
			memset(variable + prefix, *fill, 5000);
			memcpy(variable + prefix + 5000, "=", 2);
			parse(variable);
			cr_expect_eq(warnings, 1, "%s", names[i]);
			cr_expect(strstr(warning, "...") != NULL, "%s", warning);
			expect_defaults();
		}
	}
}

Test(options, control_characters_never_reach_the_terminal)
{
	char variable[] = "HEAPPROF_RATE=?";

	for (int c = 1; c <= UCHAR_MAX; c++) {
		variable[sizeof(variable) - 2] = (char)c;
		parse(variable);
		if (c >= '0' && c <= '9')
			continue;
		cr_assert_eq(warnings, 1);
		cr_expect_eq(strchr(warning, '=')[1], c < ' ' || c >= 0x7F ? '?' : (char)c, "character %d", c);
	}
	parse("HEAPPROF_\x1B[2J\n=x");
	cr_assert_str_eq(warning, "mprof: HEAPPROF_?[2J?=x is not a variable of mprof; ignored\n");
}
