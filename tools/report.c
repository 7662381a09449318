/* report.c - `mprof report`: a profile, or two compared, as an HTML file to look at in a browser. */
#include "tools/buffer.h"
#include "tools/cli.h"
#include "tools/format.h"
#include "tools/page.h"
#include "tools/publish.h"
#include "tools/reading.h"
#include "tools/report_data.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct reading reading;
	const char *out;   /* the file to write */
	const char *title; /* NULL = the program's name */
};

void report_help(FILE *out)
{
	fputs("usage: mprof report [OPTIONS] FILE [FILE2] [-o OUT]\n"
	      "\n"
	      "Writes a profile as one HTML file: flame graph, totals with error bars, table\n"
	      "of functions, search. It needs nothing but a browser, and asks nothing of the\n"
	      "network. With two profiles it shows what changed from FILE to FILE2: red grew,\n"
	      "blue shrank, grey is within the noise of sampling.\n"
	      "\n"
	      "  -o OUT         the file to write (default report.html); it is replaced\n"
	      "  --title TEXT   stands above it, instead of the program's name\n"
	      "  --sample TYPE  what to show first: inuse_space (bytes allocated and not freed\n"
	      "                 yet, the default), inuse_objects, alloc_space, ...\n"
	      "  --lines        by source line instead of function; looks them up when FILE\n"
	      "                 has none\n"
	      "  --modules      by program and shared library\n"
	      "  --focus RE     only stacks with a frame whose function, source file or module\n"
	      "                 matches the regular expression\n"
	      "  --ignore RE    no stacks with such a frame\n"
	      "  --show RE      of the stacks only such frames\n"
	      "  --hide RE      of the stacks no such frames\n"
	      "\n"
	      "Of very large profiles the smallest branches of the call tree are merged; the\n"
	      "table and the totals have all. The page explains itself: press ? there.\n"
	      "\n"
	      "Examples:\n"
	      "  mprof report mprof.1234.1.pb.gz -o now.html              look at a profile\n"
	      "  mprof report mprof.1234.1.pb.gz mprof.1234.2.pb.gz       what grew in between?\n"
	      "  mprof report --focus parse --title \"parser\" a.pb.gz      a part of it\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct report *report)
{
	static const struct option known[] = {
		{"output", required_argument, NULL, 'o'},
		{"title", required_argument, NULL, 't'},
		{"sample", required_argument, NULL, READING_SAMPLE},
		{"lines", no_argument, NULL, READING_LINES},
		{"modules", no_argument, NULL, READING_MODULES},
		{"focus", required_argument, NULL, READING_FOCUS},
		{"ignore", required_argument, NULL, READING_IGNORE},
		{"show", required_argument, NULL, READING_SHOW},
		{"hide", required_argument, NULL, READING_HIDE},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":ho:", known, NULL)) != -1) {
		if (option == 'o')
			report->out = optarg;
		else if (option == 't')
			report->title = optarg;
		else
			status = reading_option(&report->reading, option, argv, report_help);
	}
	return status;
}

/* Make the page of the profiles that were read, and the file of it. */
static int write_page(const struct report *report)
{
	struct buffer page = {0};
	char *json = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&json, &n);
	int status, error;

	if (out == NULL)
		return cli_fail("report", "out of memory");
	status = report_data(&report->reading, report->title, out);
	if (fclose(out) != 0 && status < 0)
		status = cli_fail("report", "out of memory");
	if (status < 0) {
		page_add(&page, json, n);
		error = publish(report->out, page.at, page.used);
		if (error != 0)
			status = cli_fail("report", "cannot write %s: %s", report->out, strerror(-error));
	}
	if (status < 0)
		fprintf(stderr, "mprof: wrote %s (%s); open it in a browser\n", report->out,
			format_bytes((int64_t)page.used).text);
	buffer_free(&page);
	free(json);
	return status < 0 ? 0 : status;
}

int report_main(int argc, char **argv)
{
	struct report report = {.reading = {.verb = "report"}, .out = "report.html"};
	int status = parse(argc, argv, &report);

	if (status < 0)
		status = reading_open(&report.reading, argc, argv, 1, READING_FILES_MAX);
	if (status < 0)
		status = write_page(&report);
	reading_close(&report.reading);
	return status;
}
