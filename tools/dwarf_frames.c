/* dwarf_frames.c - the source lines and inlined calls of many addresses of one file.
 *
 * Each unit is asked once which of the addresses it covers. Its tree is then walked from front to back: every function and inlined copy in
 * it claims the addresses in its ranges, the later ones being nested in the earlier. libdw's own look-ups walk the whole unit for each
 * address (dwarf_getscopes), or need an index. */
#include "tools/dwarf_frames.h"

#include "tools/dwarf_walk.h"

#include <dwarf.h>
#include <libiberty/libiberty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is searched for, and by which units it was found. */
struct search {
	struct dwarf_names *names;
	Dwarf_Addr lowest;
	const Dwarf_Addr *addresses;
	size_t count;
	bool *done;		   /* by address: a function was found */
	struct dwarf_frame *lines; /* by address: the line alone, of a unit that knows no function there */
	dwarf_frames_found *found;
	void *context;
	struct dwarf_frame *frames; /* of the address being told of */
	size_t frame_cap;
};

/* The addresses of one unit. */
struct unit {
	Dwarf_Die lines; /* the unit DIE that refers to the line table */
	Dwarf_Die tree;	 /* the one with the functions; another one where they are in a file of their own (.dwo) */
	const char *directory; /* that the compiler was in; NULL = unknown */
	size_t *wanted;	       /* indexes of addresses, sorted */
	size_t count;
};

/* Index of the first address from `start` on. */
static size_t first_from(const struct search *search, Dwarf_Addr start)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_indexes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static void sort_unique(struct unit *unit)
{
	size_t kept = 0;

	qsort(unit->wanted, unit->count, sizeof *unit->wanted, compare_indexes);
	for (size_t i = 0; i < unit->count; i++)
		if (kept == 0 || unit->wanted[i] != unit->wanted[kept - 1])
			unit->wanted[kept++] = unit->wanted[i];
	unit->count = kept;
}

/* Collect what the unit's ranges hold and no other unit has found. `wanted` has room for all addresses. */
static void collect(const struct search *search, struct unit *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	unit->count = 0;
	while ((offset = dwarf_ranges(&unit->lines, offset, &base, &start, &end)) > 0) {
		if (start < search->lowest)
			continue;
		for (size_t i = first_from(search, start); i < search->count && search->addresses[i] < end; i++) {
			if (search->done[i])
				continue;
			if (unit->count == search->count) /* ranges that overlap */
				sort_unique(unit);
			if (unit->count < search->count)
				unit->wanted[unit->count++] = i;
		}
	}
	if (unit->count > 0)
		sort_unique(unit);
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

static struct dwarf_frame line_at(struct unit *unit, Dwarf_Addr address)
{
	struct dwarf_frame frame = {.directory = unit->directory};
	Dwarf_Line *line = dwarf_getsrc_die(&unit->lines, address);

	if (line != NULL) {
		frame.file = dwarf_linesrc(line, NULL, NULL);
		dwarf_lineno(line, &frame.line);
	}
	return frame;
}

/* Where an inlined copy was called from. */
static struct dwarf_frame call_of(struct unit *unit, Dwarf_Die *inlined)
{
	struct dwarf_frame frame = {.directory = unit->directory};
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t file_count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) == 0)
		frame.line = (int)number;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(&unit->tree, &files, &file_count) == 0 && number < file_count)
		frame.file = dwarf_filesrc(files, number, NULL, NULL);
	return frame;
}

static struct dwarf_frame *frame_at(struct search *search, size_t i)
{
	if (i >= search->frame_cap) {
		search->frame_cap = 2 * search->frame_cap + 16;
		search->frames = xrealloc(search->frames, search->frame_cap * sizeof *search->frames);
	}
	return &search->frames[i];
}

/* Tell of an address whose innermost function is `node`. */
static void tell(struct search *search, struct unit *unit, size_t index, const struct dwarf_walk *walk, uint32_t node)
{
	struct dwarf_frame at = line_at(unit, search->addresses[index]);
	size_t count = 0;

	while (node != 0) {
		struct dwarf_walk_node *function = &walk->nodes[node];

		at.function = dwarf_names_of(search->names, &function->die);
		node = function->parent;
		if (node == 0 && at.file == NULL && at.function != NULL)
			at.file = at.function->file;
		*frame_at(search, count++) = at;
		if (node != 0)
			at = call_of(unit, &function->die);
	}
	search->done[index] = true;
	search->found(search->context, index, search->frames, count);
}

/* --- units -------------------------------------------------------------------------------------------------------- */

/* Walk the unit, tell of what was found, and keep the rest wanted. */
static void walk_unit(struct search *search, struct unit *unit, bool everywhere)
{
	struct dwarf_walk walk;
	size_t left = 0;

	dwarf_walk_unit(&walk, &unit->tree, search->lowest, search->addresses, unit->wanted, unit->count, everywhere);
	for (size_t i = 0; i < unit->count; i++) {
		if (walk.innermost[i] != 0)
			tell(search, unit, unit->wanted[i], &walk, walk.innermost[i]);
		else
			unit->wanted[left++] = unit->wanted[i];
	}
	unit->count = left;
	dwarf_walk_free(&walk);
}

static void search_unit(struct search *search, struct unit *unit)
{
	/* Functions are nearly always where C and C++ allow them; those that are not are worth a second walk. */
	walk_unit(search, unit, false);
	if (unit->count > 0)
		walk_unit(search, unit, true);
	for (size_t i = 0; i < unit->count; i++)
		if (search->lines[unit->wanted[i]].file == NULL)
			search->lines[unit->wanted[i]] = line_at(unit, search->addresses[unit->wanted[i]]);
}

static const char *directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static void search_units(struct search *search, Dwarf *dwarf)
{
	struct unit unit = {.wanted = xcalloc(search->count, sizeof *unit.wanted)};
	Dwarf_CU *cu = NULL;
	Dwarf_Die tree;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit.lines, NULL) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		collect(search, &unit);
		if (unit.count == 0)
			continue;
		unit.tree = unit.lines;
		unit.directory = directory_of(&unit.lines);
		/* Asked for only here, as it opens the file. */
		if (type == DW_UT_skeleton && dwarf_cu_info(cu, NULL, NULL, NULL, &tree, NULL, NULL, NULL) == 0 &&
		    tree.addr != NULL)
			unit.tree = tree;
		search_unit(search, &unit);
	}
	free(unit.wanted);
}

void dwarf_frames_find(Dwarf *dwarf, Dwarf_Addr lowest, const Dwarf_Addr *addresses, size_t count,
		       dwarf_frames_found *found, void *context)
{
	struct search search = {
		.names = dwarf_names_new(),
		.lowest = lowest,
		.addresses = addresses,
		.count = count,
		.done = xcalloc(count, sizeof *search.done),
		.lines = xcalloc(count, sizeof *search.lines),
		.found = found,
		.context = context,
	};

	search_units(&search, dwarf);
	for (size_t i = 0; i < count; i++)
		if (!search.done[i] && search.lines[i].file != NULL)
			found(context, i, &search.lines[i], 1);
	dwarf_names_free(search.names);
	free(search.done);
	free(search.lines);
	free(search.frames);
}
