/* live.c - the sampled objects that are alive: a map from address to tag.
 *
 * A radix tree over page numbers, three levels of 2^11, 2^12 and 2^12 entries, touched lazily. A page's entry holds the tag of an object
 * at its very start (where objects sampled at the usual rates all are) and, when there is one, a pointer to 16 heads, one
 * per 256 bytes of the page, of lists of small chunks for objects elsewhere in it. A list has at most 32 objects, so
 * every operation takes a bounded number of steps however many objects are alive. A chunk's slots are reused but the chunk stays
 * where it is, so a walk needs no protection against reclaimed memory.
 *
 * Rejected: a hash table. It cannot grow without moving or locking, scatters neighbouring objects over pages of its own, and
 * makes every unsuccessful look-up, which is what most frees below a rate of 128 KiB do, a cache miss. */
#include "core/live.h"

#include "core/arena.h"
#include "core/atomic.h"

#include <errno.h>
#include <stddef.h>

#define PAGE_BITS LIVE_PAGE_BITS
#define LEAF_BITS 12
#define MIDDLE_BITS 12
#define ROOT_BITS 11 /* 11 + 12 + 12 + 12 = 47 bits of user addresses */

#define PART_BITS 8 /* a page is divided into 16 parts of 256 bytes */
#define PART_COUNT (1U << (PAGE_BITS - PART_BITS))
#define CHUNK_SLOTS 7

/* A slot holds the object's offset in its page, in units of 8 bytes, above its tag; 0 = empty. */
#define SLOT_TAG_MASK (((uint64_t)1 << LIVE_TAG_BITS) - 1)

struct chunk {
	struct chunk *next;	     /* immutable once published */
	uint64_t slots[CHUNK_SLOTS]; /* atomic */
};

struct parts {
	struct chunk *heads[PART_COUNT]; /* atomic */
};

struct page {
	uint64_t first;	     /* atomic: tag of the object at offset 0, or 0 */
	struct parts *parts; /* atomic: objects at other offsets, or NULL */
};

struct leaf {
	struct page pages[1U << LEAF_BITS];
};

struct middle {
	struct leaf *leaves[1U << MIDDLE_BITS]; /* atomic */
};

uint32_t live_counts[LIVE_NEAR];

static struct middle *root[1U << ROOT_BITS]; /* atomic */
static struct arena *memory;

void live_init(struct arena *arena)
{
	memory = arena;
}

static void count(uintptr_t address, uint32_t change)
{
	/* Relaxed: as in live_near. */
	add_relaxed(&live_counts[(address >> PAGE_BITS) % LIVE_NEAR], change);
}

void live_mark(uintptr_t address)
{
	count(address, 1);
}

/* What an arena pointer cell points to, made when there is nothing yet. NULL when the arena is full. */
static void *install(void **cell, size_t bytes)
{
	/* Acquire: pairs with the cas_release below; arena memory is zeroed before it is published. */
	void *found = load_acquire(cell);
	void *made;

	if (found != NULL)
		return found;
	made = arena_alloc(memory, bytes, 64);
	if (made == NULL)
		return NULL;
	/* A lost race leaves `made` unused: rare, and bounded by the number of threads. */
	return cas_release(cell, &found, made) ? made : found;
}

static struct page *find_page(uintptr_t address)
{
	uintptr_t number = address >> PAGE_BITS;
	struct middle *middle;
	struct leaf *leaf;

	if (number >> (ROOT_BITS + MIDDLE_BITS + LEAF_BITS) != 0)
		return NULL;
	/* Acquire, here and below: pairs with the cas_release in install. */
	middle = load_acquire(&root[number >> (MIDDLE_BITS + LEAF_BITS)]);
	if (middle == NULL)
		return NULL;
	leaf = load_acquire(&middle->leaves[(number >> LEAF_BITS) & ((1U << MIDDLE_BITS) - 1)]);
	if (leaf == NULL)
		return NULL;
	return &leaf->pages[number & ((1U << LEAF_BITS) - 1)];
}

static struct page *make_page(uintptr_t address)
{
	uintptr_t number = address >> PAGE_BITS;
	struct middle *middle;
	struct leaf *leaf;

	if (number >> (ROOT_BITS + MIDDLE_BITS + LEAF_BITS) != 0)
		return NULL;
	middle = install((void **)&root[number >> (MIDDLE_BITS + LEAF_BITS)], sizeof(*middle));
	if (middle == NULL)
		return NULL;
	leaf = install((void **)&middle->leaves[(number >> LEAF_BITS) & ((1U << MIDDLE_BITS) - 1)], sizeof(*leaf));
	if (leaf == NULL)
		return NULL;
	return &leaf->pages[number & ((1U << LEAF_BITS) - 1)];
}

static uintptr_t page_offset(uintptr_t address)
{
	return address & ((1U << PAGE_BITS) - 1);
}

static uint64_t slot_offset_bits(uintptr_t address)
{
	return (uint64_t)(page_offset(address) >> 3) << LIVE_TAG_BITS;
}

static int insert_in_chunks(struct chunk **head, uint64_t slot)
{
	struct chunk *first = load_acquire(head); /* pairs with the cas_release below */
	struct chunk *made;

	for (struct chunk *chunk = first; chunk != NULL; chunk = chunk->next) {
		for (unsigned i = 0; i < CHUNK_SLOTS; i++) {
			uint64_t empty = 0;

			/* Relaxed: who looks this address up learnt of it from the program, which ordered that itself. */
			if (load_relaxed(&chunk->slots[i]) == 0 && cas_relaxed(&chunk->slots[i], &empty, slot))
				return 0;
		}
	}
	made = arena_alloc(memory, sizeof(*made), 64);
	if (made == NULL)
		return -ENOMEM;
	made->slots[0] = slot;
	do {
		made->next = first;
	} while (!cas_release(head, &first, made));
	return 0;
}

static int insert(uintptr_t address, uint64_t tag)
{
	struct page *page = make_page(address);
	struct parts *parts;

	if (page == NULL)
		return -ENOMEM;
	if (page_offset(address) == 0) {
		store_relaxed(&page->first, tag); /* relaxed: as in insert_in_chunks */
		return 0;
	}
	parts = install((void **)&page->parts, sizeof(*parts));
	if (parts == NULL)
		return -ENOMEM;
	return insert_in_chunks(&parts->heads[page_offset(address) >> PART_BITS], slot_offset_bits(address) | tag);
}

int live_insert(uintptr_t address, uint64_t tag)
{
	int error = insert(address, tag);

	if (error == 0)
		count(address, 1);
	return error;
}

/* The slot of an object that is not at the start of its page; *value is what it holds. NULL when there is none. */
static uint64_t *find_slot(struct page *page, uintptr_t address, uint64_t *value)
{
	struct parts *parts = load_acquire(&page->parts); /* pairs with the cas_release in install */
	uint64_t offset_bits = slot_offset_bits(address);

	if (parts == NULL)
		return NULL;
	/* Acquire: pairs with the cas_release in insert_in_chunks. */
	struct chunk *chunk = load_acquire(&parts->heads[page_offset(address) >> PART_BITS]);
	for (; chunk != NULL; chunk = chunk->next) {
		for (unsigned i = 0; i < CHUNK_SLOTS; i++) {
			*value = load_relaxed(&chunk->slots[i]); /* relaxed: as in insert_in_chunks */
			if (*value != 0 && (*value & ~SLOT_TAG_MASK) == offset_bits)
				return &chunk->slots[i];
		}
	}
	return NULL;
}

static uint64_t take(uintptr_t address)
{
	struct page *page = find_page(address);
	uint64_t value;
	uint64_t *slot;

	if (page == NULL)
		return 0;
	if (page_offset(address) == 0) {
		/* The plain load first: a miss, the usual case for page-sized objects, writes nothing. */
		return load_relaxed(&page->first) == 0 ? 0 : exchange_relaxed(&page->first, 0);
	}
	slot = find_slot(page, address, &value);
	if (slot == NULL || !cas_relaxed(slot, &value, 0))
		return 0;
	return value & SLOT_TAG_MASK;
}

uint64_t live_remove(uintptr_t address)
{
	uint64_t tag = take(address);

	if (tag != 0)
		count(address, UINT32_MAX); /* less one */
	return tag;
}

uint64_t live_find(uintptr_t address)
{
	struct page *page = find_page(address);
	uint64_t value;

	if (page == NULL)
		return 0;
	if (page_offset(address) == 0)
		return load_relaxed(&page->first);
	return find_slot(page, address, &value) == NULL ? 0 : value & SLOT_TAG_MASK;
}
