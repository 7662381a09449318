/* strings.c - the string table of a profile: every text once, referred to by its index. */
#include "pprof/strings.h"

#include "core/arena.h"

#include <errno.h>
#include <string.h>

#define FIRST_SLOT_COUNT 1024

/* FNV-1a, 64 bits. Source: Fowler, Noll, Vo, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

/* The slot that holds this text, or the free one where it belongs. */
static struct string **slot_of(const struct strings *strings, const char *text, uint64_t hash)
{
	size_t i = hash & (strings->slot_count - 1);

	while (strings->slots[i] && (strings->slots[i]->hash != hash || strcmp(strings->slots[i]->text, text) != 0))
		i = (i + 1) & (strings->slot_count - 1);
	return &strings->slots[i];
}

static int resize(struct strings *strings, size_t slot_count)
{
	struct string **slots = arena_alloc(strings->scratch, slot_count * sizeof(*slots), sizeof(*slots));

	if (!slots)
		return strings->error = -ENOMEM;
	strings->slots = slots;
	strings->slot_count = slot_count;
	for (struct string *string = strings->first; string; string = string->next)
		*slot_of(strings, string->text, string->hash) = string;
	return 0;
}

int strings_init(struct strings *strings, struct arena *scratch)
{
	*strings = (struct strings){.scratch = scratch};
	if (resize(strings, FIRST_SLOT_COUNT) == 0)
		strings_index(strings, "");
	return strings->error;
}

int64_t strings_index(struct strings *strings, const char *text)
{
	if (!text || strings->error)
		return 0;

	uint64_t hash = hash_of(text);
	struct string **slot = slot_of(strings, text, hash);

	if (*slot)
		return (*slot)->index;

	struct string *string = arena_alloc(strings->scratch, sizeof(*string), _Alignof(struct string));

	if (!string) {
		strings->error = -ENOMEM;
		return 0;
	}
	*string = (struct string){.text = text, .hash = hash, .index = strings->count++};
	*slot = string;
	if (strings->last)
		strings->last->next = string;
	else
		strings->first = string;
	strings->last = string;
	if ((size_t)strings->count * 2 >= strings->slot_count)
		resize(strings, strings->slot_count * 2);
	return string->index;
}
