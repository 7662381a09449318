/* strings.h - the string table of a profile: every text once, referred to by its index. */
#ifndef MPROF_PPROF_STRINGS_H
#define MPROF_PPROF_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* One text of the table, at a fixed address in the scratch arena. */
struct string {
	const char *text;
	uint64_t hash;
	int64_t index;	     /* position in Profile.string_table */
	struct string *next; /* by index: the order to write them in; NULL = the last */
};

struct strings {
	struct arena *scratch;
	struct string **slots; /* hash table, open addressing; NULL = free */
	size_t slot_count;     /* a power of two, more than half of it free */
	struct string *first;  /* "", always index 0 */
	struct string *last;
	int64_t count;
	int error; /* -ENOMEM: a text was lost, the table is useless */
};

/* An empty table, that is with "" in it. Returns 0 or -ENOMEM. */
int strings_init(struct strings *strings, struct arena *scratch);

/* The index of `text`, which must outlive the table (it is not copied); 0, that is "", for NULL. When the scratch
 * arena is full it gives 0 and sets strings->error, to be looked at once in the end. */
int64_t strings_index(struct strings *strings, const char *text);

#endif
