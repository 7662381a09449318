/* symbolizer_jit.c - names for the locations of a profile that are in no file. */
#include "tools/symbolizer_jit.h"

#include "tools/buffer.h"
#include "tools/perf_map.h"

#include <libiberty/libiberty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a process inside its own namespace: the last on the line NSpid. Source: proc(5). 0 = not to be told. */
static long inner_pid(int pid)
{
	struct buffer text = {0};
	char *path = xasprintf("/proc/%d/status", pid), *line, *number;
	long found = 0;

	if (buffer_read_file(&text, path) == 0 && (line = strstr(text.at, "\nNSpid:")) != NULL) {
		line += 1;
		line[strcspn(line, "\n")] = '\0';
		number = strrchr(line, '\t');
		found = number != NULL ? strtol(number, NULL, 10) : 0;
	}
	buffer_free(&text);
	free(path);
	return found;
}

static long recorded_pid(const Perftools__Profiles__Profile *profile)
{
	static const char key[] = "process: pid=";

	for (size_t i = 0; i < profile->n_comment; i++) {
		const char *comment = decode_string(profile, profile->comment[i]);

		if (strncmp(comment, key, sizeof key - 1) == 0)
			return strtol(comment + sizeof key - 1, NULL, 10);
	}
	return 0;
}

static void set_name(Perftools__Profiles__Profile *profile, struct symbolizer_table *table,
		     Perftools__Profiles__Location *location, const char *name)
{
	int64_t index = symbolizer_table_string(table, name);

	if (location->n_line == 0) {
		location->line = xmalloc(sizeof *location->line);
		location->line[0] = xmalloc(sizeof *location->line[0]);
		perftools__profiles__line__init(location->line[0]);
		location->n_line = 1;
	}
	location->line[0]->function_id = symbolizer_table_function(table, index, index, 0, 0);
	if (location->mapping_id != 0)
		profile->mapping[location->mapping_id - 1]->has_functions = true;
}

void symbolizer_jit(Perftools__Profiles__Profile *profile, struct symbolizer_table *table, const char *sysroot, int pid,
		    struct symbolizer_place *places, size_t count)
{
	struct perf_map_name *names = xcalloc(count + 1, sizeof *names);
	long inner = pid != 0 ? inner_pid(pid) : recorded_pid(profile);
	char *path = xasprintf("%s/tmp/perf-%ld.map", sysroot, inner);

	for (size_t i = 0; i < count; i++)
		names[i].address = places[i].address;
	if (inner > 0 && count > 0)
		perf_map_read(path, names, count);
	for (size_t i = 0; i < count; i++) {
		if (names[i].name != NULL && !symbolizer_place_is_named(profile, &places[i]))
			set_name(profile, table, places[i].location, names[i].name);
		free(names[i].name);
	}
	free(names);
	free(path);
}
