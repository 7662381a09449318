/* sizeclass_symbols.c - the names of the size classes' pseudo-frames: "size class 64 B" (pprof/symbols.h). */
#include "core/arena.h"
#include "core/text.h"
#include "pprof/location.h"
#include "pprof/symbols.h"

#include <errno.h>

#define NAME_CAP 32

static const char *name_of(uintptr_t bytes, struct arena *scratch)
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB"};
	struct text text = {.buf = arena_alloc(scratch, NAME_CAP, 1), .cap = NAME_CAP};
	unsigned unit = 0;

	if (text.buf == NULL)
		return NULL;
	while (bytes >= 1024) {
		bytes /= 1024;
		unit++;
	}
	text_add(&text, "size class ");
	text_add_number(&text, bytes);
	text_add(&text, units[unit]);
	return text.buf;
}

int symbols_find(struct symbols *symbols, struct locations *locations, struct arena *scratch)
{
	*symbols = (struct symbols){0};
	for (size_t i = 0; i < locations->slot_count; i++) {
		struct location *location = &locations->slots[i];
		struct symbol *symbol;

		if (location->frame == 0)
			continue;
		symbol = arena_alloc(scratch, sizeof(*symbol), _Alignof(struct symbol));
		if (symbol == NULL)
			return -ENOMEM;
		symbol->name = name_of(location_address(location), scratch);
		if (symbol->name == NULL)
			return -ENOMEM;
		location->symbol = symbol;
	}
	return 0;
}
