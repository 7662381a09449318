/* tree.c - `mprof tree`: the call tree of a profile.
 *
 * Calls are indented only where a function has several callees that are shown, so that a long chain of calls stays in one column. The tree
 * is walked without recursion: a profile may hold stacks of any depth. */
#include "tools/buffer.h"
#include "tools/call_tree.h"
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/measure_json.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"

#include <libiberty/libiberty.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PERCENT 0.5 /* in text; JSON has all */
#define MAIN_SHARE 20	/* nodes of at least a twentieth of the total stand out */

struct tree {
	struct reading reading;
	bool inverted;
	double min_percent; /* of the total: smaller nodes are left out; below 0 = not given */
	struct profile_view view;
	struct call_tree calls;
	int64_t least; /* what min_percent comes to */
};

void tree_help(FILE *out)
{
	fputs("usage: mprof tree [OPTIONS] FILE\n"
	      "\n"
	      "Shows the memory of a profile as a call tree: main at the top, below each\n"
	      "function those it called, the largest first.\n"
	      "\n"
	      "  --invert       from the functions that allocated up to their callers\n"
	      "  --min PERCENT  leave out branches below this share of the total (default 0.5;\n"
	      "                 with --json none)\n"
	      "\n"
	      "  cum   allocated by the function, called like this, and all below it\n"
	      "  flat  by the function itself\n"
	      "  %     of the total\n"
	      "\n",
	      out);
	reading_help(out, true);
	fputs("\n"
	      "Examples:\n"
	      "  mprof tree mprof.1234.1.pb.gz                  which calls lead to the memory?\n"
	      "  mprof tree --invert -n 40 mprof.1234.1.pb.gz   who calls those that allocate?\n"
	      "  mprof tree --focus parse mprof.1234.1.pb.gz    only what passes the parser\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct tree *tree)
{
	static const struct option known[] = {
		READING_OPTIONS READING_SAMPLE_OPTION{"invert", no_argument, NULL, 'i'},
		{"min", required_argument, NULL, 'm'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;
	char *end;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1) {
		if (option == 'i') {
			tree->inverted = true;
		} else if (option == 'm') {
			tree->min_percent = strtod(optarg, &end);
			if (end == optarg || *end != '\0' || !(tree->min_percent >= 0 && tree->min_percent <= 100))
				return cli_usage("tree", "--min needs a percentage, not '%s'", optarg);
		} else {
			status = reading_option(&tree->reading, option, argv, tree_help);
		}
	}
	return status;
}

/* --- walking ------------------------------------------------------------------------------------------------------ */

static bool is_large(const struct tree *tree, uint32_t node)
{
	return node != CALL_TREE_NONE && measure_magnitude(call_tree_sum(&tree->calls, node, 0)->value) >= tree->least;
}

/* The first callee, and the next one, that is large enough; they are in order of size. */
static uint32_t first_child(const struct tree *tree, uint32_t node)
{
	uint32_t child = tree->calls.nodes[node].first_child;

	return is_large(tree, child) ? child : CALL_TREE_NONE;
}

static uint32_t next_sibling(const struct tree *tree, uint32_t node)
{
	uint32_t sibling = tree->calls.nodes[node].next_sibling;

	return is_large(tree, sibling) ? sibling : CALL_TREE_NONE;
}

/* What the function allocated itself, in a tree that is not inverted. */
static struct estimated flat_of(const struct tree *tree, uint32_t node)
{
	const struct call_tree *calls = &tree->calls;
	struct estimated flat = *call_tree_sum(calls, node, 0);

	for (uint32_t child = calls->nodes[node].first_child; child != CALL_TREE_NONE;
	     child = calls->nodes[child].next_sibling)
		flat = measure_without(&flat, call_tree_sum(calls, child, 0));
	return flat;
}

static const char *name_of(const struct tree *tree, uint32_t node)
{
	uint32_t row = tree->calls.nodes[node].row;

	return row == CALL_TREE_NONE ? "(all)" : tree->reading.stacks.rows[row].name;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* The lines that lead from branches above to what is printed now, and how much of them each node's callees continue. */
struct drawing {
	struct buffer lines;
	size_t *lines_bytes; /* by node */
	struct column column;
	size_t printed, left_out; /* nodes */
};

static void print_node(const struct tree *tree, struct drawing *drawing, uint32_t node)
{
	const struct call_tree *calls = &tree->calls;
	const struct estimated *cum = call_tree_sum(calls, node, 0);
	bool large = measure_magnitude(cum->value) >= tree->view.total.value / MAIN_SHARE;
	uint32_t parent = calls->nodes[node].parent;
	size_t bytes = node == 0 ? 0 : drawing->lines_bytes[parent];
	bool first = node == 0 || calls->nodes[parent].first_child == node;
	bool last = node == 0 || next_sibling(tree, node) == CALL_TREE_NONE;

	drawing->lines.used = bytes;
	column_print(&drawing->column, cum, false);
	printf(" %7s", format_percent(cum->value, tree->view.total.value).text);
	if (!tree->inverted) {
		struct estimated flat = flat_of(tree, node);

		printf(" ");
		column_print(&drawing->column, &flat, false);
	}
	printf("  %s%.*s%s%s", paint(PAINT_FAINT), (int)bytes, (const char *)drawing->lines.at,
	       first && last ? "" : (last ? "└ " : "├ "), paint(PAINT_PLAIN));
	printf("%s%s%s\n", large ? paint(PAINT_MAIN) : "", name_of(tree, node), large ? paint(PAINT_PLAIN) : "");
	if (!(first && last))
		buffer_add(&drawing->lines, last ? "  " : "│ ", strlen(last ? "  " : "│ "));
	drawing->lines_bytes[node] = drawing->lines.used;
	drawing->printed++;
}

/* The node after this one: its first callee, else the next of those who have one; CALL_TREE_NONE at the end. */
static uint32_t following(const struct tree *tree, uint32_t node)
{
	uint32_t next = first_child(tree, node);

	while (next == CALL_TREE_NONE && node != 0) {
		next = next_sibling(tree, node);
		node = tree->calls.nodes[node].parent;
	}
	return next;
}

static void print_nodes(const struct tree *tree)
{
	size_t limit = reading_shown(&tree->reading, tree->calls.count);
	struct drawing drawing = {
		.lines_bytes = xcalloc(tree->calls.count, sizeof *drawing.lines_bytes),
		.column = column_for(&tree->view.measure, tree->least, tree->view.total.value),
	};
	uint32_t node = 0;

	fputs(paint(PAINT_HEAD), stdout);
	column_print_header(&drawing.column, "cum");
	printf(" %7s", "cum%");
	if (!tree->inverted) {
		printf(" ");
		column_print_header(&drawing.column, "flat");
	}
	printf("  %s%s\n", tree->inverted ? "call tree, inverted" : "call tree", paint(PAINT_PLAIN));
	for (; node != CALL_TREE_NONE && drawing.printed < limit; node = following(tree, node))
		print_node(tree, &drawing, node);
	for (; node != CALL_TREE_NONE; node = following(tree, node))
		drawing.left_out++;
	column_print_rest(drawing.left_out, "call");
	if (tree->calls.count > drawing.printed + drawing.left_out)
		printf("%zu calls below %g%% of the total are not shown (--min 0 shows them)\n",
		       tree->calls.count - drawing.printed - drawing.left_out, tree->min_percent);
	buffer_free(&drawing.lines);
	free(drawing.lines_bytes);
}

static void print_text(const struct tree *tree)
{
	reading_print_heading(&tree->reading);
	column_print_total(&tree->view);
	if (tree->view.shown.value != 0 || tree->view.total.value != 0)
		print_nodes(tree);
	else
		printf("Nothing to show: %s is zero in every stack. Other types: --sample\n",
		       measure_name(&tree->view.measure));
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void open_node(const struct tree *tree, uint32_t node)
{
	const struct measure *measure = &tree->view.measure;

	printf("{");
	if (tree->calls.nodes[node].row == CALL_TREE_NONE)
		printf("\"name\": null");
	else
		measure_json_row(&tree->reading.stacks.rows[tree->calls.nodes[node].row], stdout);
	printf(", ");
	measure_json_value("cum", measure, call_tree_sum(&tree->calls, node, 0), stdout);
	if (!tree->inverted) {
		struct estimated flat = flat_of(tree, node);

		printf(", ");
		measure_json_value("flat", measure, &flat, stdout);
	}
	printf(", \"children\": [");
}

static void print_json(const struct tree *tree)
{
	uint32_t node = 0;

	printf("{\n  ");
	measure_json("profile", &tree->view.measure, &tree->view.total, tree->reading.paths[0], stdout);
	printf(",\n  \"inverted\": %s,\n  \"tree\": ", tree->inverted ? "true" : "false");
	open_node(tree, node);
	while (true) {
		uint32_t next = first_child(tree, node);

		while (next == CALL_TREE_NONE) {
			printf("]}");
			if (node == 0)
				break;
			next = next_sibling(tree, node);
			node = tree->calls.nodes[node].parent;
			if (next != CALL_TREE_NONE)
				printf(", ");
		}
		if (next == CALL_TREE_NONE)
			break;
		node = next;
		open_node(tree, node);
	}
	printf("\n}\n");
}

static int report(struct tree *tree, const struct measure *measure)
{
	if (tree->min_percent < 0)
		tree->min_percent = tree->reading.json ? 0 : MIN_PERCENT;
	profile_view_init(&tree->view, &tree->reading.stacks, measure);
	tree->least = (int64_t)ceil((double)tree->view.total.value * tree->min_percent / 100);
	call_tree_init(&tree->calls, &tree->reading.stacks, measure, 1, tree->inverted);
	call_tree_sort(&tree->calls, 0);
	if (tree->reading.json)
		print_json(tree);
	else
		print_text(tree);
	call_tree_free(&tree->calls);
	profile_view_free(&tree->view);
	return 0;
}

int tree_main(int argc, char **argv)
{
	struct tree tree = {.reading = {.verb = "tree"}, .min_percent = -1};
	struct measure measure;
	int status = parse(argc, argv, &tree);

	if (status < 0)
		status = reading_open(&tree.reading, argc, argv, 1, 1);
	if (status < 0)
		status = reading_measure(&tree.reading, 0, tree.reading.sample, &measure);
	if (status < 0)
		status = report(&tree, &measure);
	reading_close(&tree.reading);
	return status;
}
