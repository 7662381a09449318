/* test_symbolizer_table.c - strings and functions added to a decoded profile. */
#include "tools/symbolizer_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Perftools__Profiles__Profile *profile;
static struct symbolizer_table table;

/* A profile of one string. */
static void begin(void)
{
	Perftools__Profiles__Profile empty = PERFTOOLS__PROFILES__PROFILE__INIT;
	char *strings[] = {""};
	uint8_t packed[64];
	char error[64];

	empty.n_string_table = 1;
	empty.string_table = strings;
	cr_assert(eq(int,
		     decode_memory(packed, perftools__profiles__profile__pack(&empty, packed), &profile, error,
				   sizeof error),
		     0));
	symbolizer_table_init(&table, profile);
}

TestSuite(symbolizer_table, .init = begin);

static void add_location(uint64_t function_id)
{
	Perftools__Profiles__Location *location = malloc(sizeof *location);
	Perftools__Profiles__Line *line = malloc(sizeof *line);

	perftools__profiles__location__init(location);
	perftools__profiles__line__init(line);
	line->function_id = function_id;
	location->n_line = 1;
	location->line = malloc(sizeof line);
	location->line[0] = line;
	profile->location = realloc(profile->location, (profile->n_location + 1) * sizeof location);
	profile->location[profile->n_location++] = location;
}

Test(symbolizer_table, each_string_once)
{
	char text[16];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000; i++) {
			snprintf(text, sizeof text, "s%d", i);
			cr_assert(eq(i64, symbolizer_table_string(&table, text), i + 1));
		}
	cr_expect(eq(i64, symbolizer_table_string(&table, ""), 0));
	cr_expect(eq(sz, profile->n_string_table, 1001));
	cr_expect(eq(str, profile->string_table[1000], "s999"));
	symbolizer_table_finish(&table);
	decode_free(profile);
}

Test(symbolizer_table, strings_are_made_clean)
{
	int64_t index = symbolizer_table_string(&table, "a\nb\xFF \xC3\xA9\x1B");

	cr_expect(eq(str, profile->string_table[index], "a?b? \xC3\xA9?"));
	cr_expect(eq(i64, symbolizer_table_string(&table, "a?b? \xC3\xA9?"), index));
	symbolizer_table_finish(&table);
	decode_free(profile);
}

Test(symbolizer_table, functions_by_name_system_name_and_file)
{
	int64_t a = symbolizer_table_string(&table, "a"), b = symbolizer_table_string(&table, "b");
	uint64_t first = symbolizer_table_function(&table, a, a, 0, 7);

	cr_expect(eq(u64, symbolizer_table_function(&table, a, a, 0, 8), first));
	cr_expect(ne(u64, symbolizer_table_function(&table, b, a, 0, 7), first));
	cr_expect(ne(u64, symbolizer_table_function(&table, a, b, 0, 7), first));
	cr_expect(ne(u64, symbolizer_table_function(&table, a, a, b, 7), first));
	cr_expect(eq(sz, profile->n_function, 4));
	cr_expect(eq(i64, profile->function[0]->start_line, 7));
	symbolizer_table_finish(&table);
	cr_expect(eq(sz, profile->n_function, 0), "no location refers to them");
	decode_free(profile);
}

Test(symbolizer_table, functions_are_renumbered_in_order_of_use)
{
	int64_t names[4];

	for (int i = 0; i < 4; i++) {
		names[i] = symbolizer_table_string(&table, (char[]){(char)('a' + i), '\0'});
		symbolizer_table_function(&table, names[i], names[i], 0, 0);
	}
	add_location(3);
	add_location(1);
	add_location(3);
	symbolizer_table_finish(&table);
	cr_assert(eq(sz, profile->n_function, 2));
	cr_expect(eq(i64, decode_function(profile, 1)->name, names[2]));
	cr_expect(eq(i64, decode_function(profile, 2)->name, names[0]));
	cr_expect(eq(u64, profile->location[0]->line[0]->function_id, 1));
	cr_expect(eq(u64, profile->location[1]->line[0]->function_id, 2));
	cr_expect(eq(u64, profile->location[2]->line[0]->function_id, 1));
	decode_free(profile);
}
