/* test_live.c - the map of live objects agrees with a simple model, alone and under threads. */
#include "core/live.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "tests/unit/race.h"

#include <errno.h>

#define MIB ((size_t)1 << 20)
#define PAGE ((uintptr_t)4096)
#define HEAP ((uintptr_t)0x7F1234560000) /* any address will do: the map never follows them */
#define TAG_MAX (((uint64_t)1 << LIVE_TAG_BITS) - 1)

static struct arena arena;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 * MIB), 0);
	live_init(&arena);
}

TestSuite(live, .init = start);

static void expect_one_life(uintptr_t address, uint64_t tag)
{
	cr_assert_eq(live_find(address), 0, "%lx before", (unsigned long)address);
	cr_assert_eq(live_remove(address), 0);
	cr_assert_eq(live_insert(address, tag), 0);
	cr_assert_eq(live_find(address), tag);
	cr_assert_eq(live_find(address ^ 8), 0);
	cr_assert_eq(live_find(address ^ PAGE), 0);
	cr_assert_eq(live_remove(address), tag);
	cr_assert_eq(live_remove(address), 0, "%lx twice", (unsigned long)address);
	cr_assert_eq(live_find(address), 0);
}

Test(live, one_object_anywhere)
{
	static const uintptr_t addresses[] = {
		HEAP, HEAP + 8, HEAP + 16,	HEAP + 248,	HEAP + 256, HEAP + PAGE - 8,
		PAGE, 8,	0x7FFFFFFFF000, 0x7FFFFFFFFFF8,
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		expect_one_life(addresses[i], 1);
		expect_one_life(addresses[i], TAG_MAX);
	}
}

Test(live, page_full_of_smallest_objects)
{
	for (uintptr_t offset = 0; offset < PAGE; offset += 8)
		cr_assert_eq(live_insert(HEAP + offset, TAG_MAX - offset), 0);
	for (uintptr_t offset = 0; offset < PAGE; offset += 8)
		cr_assert_eq(live_find(HEAP + offset), TAG_MAX - offset);
	for (uintptr_t offset = 0; offset < PAGE; offset += 16)
		cr_assert_eq(live_remove(HEAP + offset), TAG_MAX - offset);
	for (uintptr_t offset = 0; offset < PAGE; offset += 8)
		cr_assert_eq(live_find(HEAP + offset), offset % 16 == 0 ? 0 : TAG_MAX - offset);
}

Test(live, addresses_beyond_user_space_are_refused)
{
	static const uintptr_t addresses[] = {(uintptr_t)1 << 47, ((uintptr_t)1 << 47) + 8, UINTPTR_MAX - 7,
					      (uintptr_t)1 << 63};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		cr_assert_eq(live_insert(addresses[i], 5), -ENOMEM);
		cr_assert_eq(live_find(addresses[i]), 0);
		cr_assert_eq(live_remove(addresses[i]), 0);
	}
	cr_assert_eq(arena_used(&arena), 0);
}

/* Addresses that come and go need no new memory. */
Test(live, slots_are_reused)
{
	size_t used = 0;

	for (int round = 0; round < 100; round++) {
		for (uintptr_t offset = 0; offset < 4 * PAGE; offset += 8)
			cr_assert_eq(live_insert(HEAP + offset, 9), 0);
		for (uintptr_t offset = 0; offset < 4 * PAGE; offset += 8)
			cr_assert_eq(live_remove(HEAP + offset), 9);
		if (round == 0)
			used = arena_used(&arena);
	}
	cr_assert_eq(arena_used(&arena), used);
}

Test(live, full_arena_is_an_error_and_nothing_else)
{
	cr_assert_eq(live_insert(HEAP, 1), 0);
	cr_assert_eq(live_insert(HEAP + 8, 2), 0);
	while (arena_alloc(&arena, 64, 64) != NULL) {
	}
	cr_assert_eq(live_insert(HEAP + PAGE, 3), 0); /* its leaf is there */
	cr_assert_eq(live_insert(HEAP + PAGE + 8, 4), -ENOMEM);
	cr_assert_eq(live_insert(HEAP + 512, 5), -ENOMEM);
	cr_assert_eq(live_insert((uintptr_t)1 << 40, 6), -ENOMEM);
	cr_assert_eq(live_find(HEAP + PAGE + 8), 0);
	cr_assert_eq(live_remove(HEAP + 512), 0);
	cr_assert_eq(live_find((uintptr_t)1 << 40), 0);
	cr_assert_eq(live_remove(HEAP), 1);
	cr_assert_eq(live_remove(HEAP + 8), 2);
	cr_assert_eq(live_insert(HEAP + 16, 7), 0); /* in the slot of the last one */
	cr_assert_eq(live_remove(HEAP + 16), 7);
}

/* The universe of the model test: dense, sparse and page-aligned addresses. */
static uintptr_t universe_address(unsigned i)
{
	if (i < 2048)
		return HEAP + i * 8;
	if (i < 2304)
		return (uintptr_t)i << 33 | 48;
	return HEAP + (uintptr_t)i * PAGE * 100;
}

Test(live, agrees_with_a_model)
{
	enum { UNIVERSE = 4096, STEPS = 1000000 };
	static uint64_t model[UNIVERSE];
	uint64_t random = 2024;

	for (int step = 0; step < STEPS; step++) {
		unsigned i = (unsigned)(race_random(&random) % UNIVERSE);
		uintptr_t address = universe_address(i);

		if (model[i] == 0) {
			cr_assert_eq(live_remove(address), 0);
			model[i] = race_random(&random) % TAG_MAX + 1;
			cr_assert_eq(live_insert(address, model[i]), 0);
		} else if (race_random(&random) % 2 == 0) {
			cr_assert_eq(live_remove(address), model[i]);
			model[i] = 0;
		} else {
			cr_assert_eq(live_find(address), model[i]);
		}
	}
	for (unsigned i = 0; i < UNIVERSE; i++)
		cr_assert_eq(live_find(universe_address(i)), model[i]);
}

#define RACERS 4
#define OBJECTS 4096
#define ROUNDS 10

static unsigned errors_of[RACERS];

/* Objects of one thread lie between the others': they share pages and chunks, and nothing else. */
static void live_and_die(unsigned index)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (uint64_t i = 0; i < OBJECTS; i++)
			errors_of[index] +=
				live_insert(HEAP + (i * RACERS + index) * 8, round << 20 | i << 4 | index) != 0;
		for (uint64_t i = 0; i < OBJECTS; i++) {
			uintptr_t address = HEAP + (i * RACERS + index) * 8;
			uint64_t tag = round << 20 | i << 4 | index;

			errors_of[index] += live_find(address) != tag;
			errors_of[index] += live_remove(address) != tag;
			errors_of[index] += live_find(address) != 0;
		}
	}
}

Test(live, threads_do_not_disturb_each_other)
{
	race(RACERS, live_and_die);
	for (unsigned index = 0; index < RACERS; index++)
		cr_assert_eq(errors_of[index], 0, "%u errors in thread %u", errors_of[index], index);
	for (uintptr_t offset = 0; offset < (uintptr_t)RACERS * OBJECTS * 8; offset += 8)
		cr_assert_eq(live_find(HEAP + offset), 0);
}

/* One object each, whose slots are in the same chunk and always the first free one. */
static void live_next_door(unsigned index)
{
	for (uint64_t round = 1; round <= 200000; round++) {
		errors_of[index] += live_insert(HEAP + 8 + index * 8, round) != 0;
		errors_of[index] += live_remove(HEAP + 8 + index * 8) != round;
	}
}

Test(live, neighbours_never_take_each_others_slot)
{
	race(RACERS, live_next_door);
	for (unsigned index = 0; index < RACERS; index++)
		cr_assert_eq(errors_of[index], 0, "%u errors in thread %u", errors_of[index], index);
}

static uint64_t removals[OBJECTS]; /* atomic */

static void remove_all(unsigned index)
{
	(void)index;
	for (uint64_t i = 0; i < OBJECTS; i++) {
		if (live_remove(HEAP + i * 24) == i + 1)
			add_relaxed(&removals[i], 1);
	}
}

/* As in a program that frees twice: only one of the two sees the object. */
Test(live, one_of_racing_removers_wins)
{
	for (uint64_t i = 0; i < OBJECTS; i++)
		cr_assert_eq(live_insert(HEAP + i * 24, i + 1), 0);
	race(RACERS, remove_all);
	for (uint64_t i = 0; i < OBJECTS; i++)
		cr_assert_eq(removals[i], 1, "object %lu was removed %lu times", (unsigned long)i,
			     (unsigned long)removals[i]);
}

Test(live, near_is_where_an_object_is_in_the_page)
{
	cr_assert_not(live_near(HEAP));
	cr_assert_eq(live_insert(HEAP + 24, 5), 0);
	cr_assert_eq(live_insert(HEAP, 6), 0);
	cr_assert(live_near(HEAP + 4000));
	cr_assert_not(live_near(HEAP - 1));
	cr_assert_not(live_near(HEAP + PAGE));
	cr_assert(live_near(HEAP + PAGE * LIVE_NEAR), "pages so far apart share a number");
	live_remove(HEAP + 24);
	cr_assert(live_near(HEAP));
	live_remove(HEAP);
	cr_assert_not(live_near(HEAP));
	cr_assert_eq(live_remove(HEAP), 0);
	cr_assert_not(live_near(HEAP), "removing what is not there changes nothing");
}

Test(live, a_marked_page_is_near_for_ever)
{
	live_mark(HEAP);
	cr_assert(live_near(HEAP));
	live_insert(HEAP, 5);
	live_remove(HEAP);
	cr_assert(live_near(HEAP));
}
