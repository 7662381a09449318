/* location.c - the distinct addresses of a snapshot, each to become one Location. */
#include "pprof/location.h"

#include "core/arena.h"

#include <errno.h>

#define FIRST_SLOT_COUNT 4096

/* The slot that holds this frame, or the free one where it belongs. */
static struct location *slot_of(const struct locations *locations, uint64_t frame)
{
	/* Fibonacci hashing: return addresses differ in their low bits, the product's high half depends on all of
	 * them. */
	size_t i = (frame * 0x9E3779B97F4A7C15) >> 32 & (locations->slot_count - 1);

	while (locations->slots[i].frame && locations->slots[i].frame != frame)
		i = (i + 1) & (locations->slot_count - 1);
	return &locations->slots[i];
}

static int resize(struct locations *locations, size_t slot_count)
{
	struct location *old = locations->slots;
	size_t old_count = locations->slot_count;
	struct location *slots =
		arena_alloc(locations->scratch, slot_count * sizeof(*slots), _Alignof(struct location));

	if (!slots)
		return -ENOMEM;
	locations->slots = slots;
	locations->slot_count = slot_count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].frame)
			*slot_of(locations, old[i].frame) = old[i];
	return 0;
}

int locations_init(struct locations *locations, struct arena *scratch)
{
	*locations = (struct locations){.scratch = scratch};
	return resize(locations, FIRST_SLOT_COUNT);
}

int locations_add(struct locations *locations, uint64_t frame)
{
	struct location *slot;

	if (frame == 0)
		return 0;
	slot = slot_of(locations, frame);
	if (slot->frame)
		return 0;
	slot->frame = frame;
	locations->count++;
	return locations->count * 2 < locations->slot_count ? 0 : resize(locations, locations->slot_count * 2);
}

struct location *locations_find(struct locations *locations, uint64_t frame)
{
	return frame ? slot_of(locations, frame) : &locations->other;
}

/* Let the element at `root` sink to its place in the max-heap below it. */
static void sift_down(struct location **heap, size_t root, size_t count)
{
	struct location *sinking = heap[root];

	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1]->frame > heap[child]->frame)
			child++;
		if (heap[child]->frame <= sinking->frame)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = sinking;
}

/* Heapsort: in place, without recursion, and no input makes it slow; qsort may call malloc. */
static void sort(struct location **at, size_t count)
{
	for (size_t i = count / 2; i-- > 0;)
		sift_down(at, i, count);
	for (size_t last = count; last-- > 1;) {
		struct location *largest = at[0];

		at[0] = at[last];
		at[last] = largest;
		sift_down(at, 0, last);
	}
}

struct location **locations_sorted(struct locations *locations)
{
	struct location **sorted = arena_alloc(locations->scratch, locations->count * sizeof(*sorted), sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < locations->slot_count; i++)
		if (locations->slots[i].frame)
			sorted[n++] = &locations->slots[i];
	sort(sorted, n);
	return sorted;
}
