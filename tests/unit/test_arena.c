/* test_arena.c - memory is aligned, zeroed, disjoint, bounded, and gone after arena_destroy. */
#include "core/arena.h"

#include "tests/unit/race.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static struct arena arena;

static bool all_bytes(const unsigned char *bytes, size_t n, unsigned char value)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

Test(arena, memory_is_aligned_zeroed_and_disjoint)
{
	static unsigned char *blocks[13 * 50];
	size_t count = 0;

	cr_assert_eq(arena_init(&arena, 8 * MIB), 0);
	for (int round = 0; round < 50; round++) {
		for (size_t align = 1; align <= 4096; align *= 2) {
			unsigned char *block = arena_alloc(&arena, 100, align);

			cr_assert_not_null(block);
			cr_assert_eq((uintptr_t)block % align, 0);
			cr_assert(all_bytes(block, 100, 0), "block %zu is not zeroed", count);
			memset(block, (int)(count & 0xFF), 100);
			blocks[count++] = block;
		}
	}
	for (size_t i = 0; i < count; i++)
		cr_assert(all_bytes(blocks[i], 100, (unsigned char)i), "block %zu was overwritten", i);
}

Test(arena, limit_is_exact)
{
	cr_assert_eq(arena_init(&arena, MIB), 0);
	cr_assert_eq(arena.limit_bytes, MIB);
	cr_assert_not_null(arena_alloc(&arena, MIB - 64, 64));
	cr_assert_null(arena_alloc(&arena, 65, 1));
	cr_assert_not_null(arena_alloc(&arena, 64, 1));
	cr_assert_null(arena_alloc(&arena, 1, 1));
	cr_assert_null(arena_alloc(&arena, 1, 4096));
	cr_assert_eq(arena_used(&arena), MIB);
}

Test(arena, absurd_sizes_are_refused_and_cost_nothing)
{
	static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, 2 * MIB, MIB};

	cr_assert_eq(arena_init(&arena, MIB), 0);
	cr_assert_not_null(arena_alloc(&arena, 10, 1));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		cr_assert_null(arena_alloc(&arena, sizes[i], 64), "%zu bytes", sizes[i]);
	cr_assert_eq(arena_used(&arena), 10);
}

Test(arena, reserve_is_kept_for_others)
{
	cr_assert_eq(arena_init(&arena, MIB), 0);
	cr_assert_not_null(arena_alloc_below(&arena, 1000, 1, 1000));
	cr_assert_null(arena_alloc_below(&arena, 1, 1, 1000));
	cr_assert_null(arena_alloc_below(&arena, 2 * MIB, 1, SIZE_MAX));
	cr_assert_not_null(arena_alloc(&arena, 1, 1));
}

Test(arena, memory_is_committed_in_steps)
{
	cr_assert_eq(arena_init(&arena, 64 * MIB), 0);
	cr_assert_eq(arena.committed_bytes, 0);
	arena_alloc(&arena, 1, 1);
	cr_assert_eq(arena.committed_bytes, MIB);
	arena_alloc(&arena, MIB - 1, 1);
	cr_assert_eq(arena.committed_bytes, MIB);
	arena_alloc(&arena, 1, 1);
	cr_assert_eq(arena.committed_bytes, 2 * MIB);
}

Test(arena, odd_limits)
{
	cr_assert_eq(arena_init(&arena, 1), 0);
	cr_assert_eq(arena.limit_bytes, MIB);
	arena_destroy(&arena);
	cr_assert_eq(arena_init(&arena, 0), -ENOMEM);
	cr_assert_null(arena_alloc(&arena, 1, 1));
	cr_assert_eq(arena_init(&arena, SIZE_MAX), -ENOMEM);
	cr_assert_null(arena_alloc(&arena, 1, 1));
	arena_destroy(&arena);
}

/* Pages of address space this process uses. */
static size_t mapped_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	cr_assert_not_null(statm);
	cr_assert_eq(fscanf(statm, "%zu", &pages), 1);
	fclose(statm);
	return pages;
}

Test(arena, takes_less_where_the_system_refuses)
{
	struct rlimit before, tight;
	int error;

	cr_assert_eq(getrlimit(RLIMIT_AS, &before), 0);
	tight = before;
	tight.rlim_cur = mapped_pages() * (size_t)sysconf(_SC_PAGESIZE) + 40 * MIB;
	cr_assert_eq(setrlimit(RLIMIT_AS, &tight), 0);
	error = arena_init(&arena, 256 * MIB);
	setrlimit(RLIMIT_AS, &before);
	cr_assert_eq(error, 0);
	cr_assert_eq(arena.limit_bytes, 32 * MIB);
	cr_assert_not_null(arena_alloc(&arena, 32 * MIB, 1));
}

Test(arena, destroy_unmaps)
{
	unsigned char resident;
	void *block;

	cr_assert_eq(arena_init(&arena, MIB), 0);
	block = arena_alloc(&arena, 4096, 4096);
	cr_assert_eq(mincore(block, 4096, &resident), 0);
	arena_destroy(&arena);
	cr_assert_eq(mincore(block, 4096, &resident), -1);
	cr_assert_eq(errno, ENOMEM);
	cr_assert_null(arena_alloc(&arena, 1, 1));
	cr_assert_eq(arena_used(&arena), 0);
}

#define RACERS 4
#define BLOCKS 10000

static struct {
	unsigned char *start;
	size_t size;
} blocks_of[RACERS][BLOCKS];

static void allocate_and_fill(unsigned index)
{
	uint64_t random = index + 1;

	for (unsigned i = 0; i < BLOCKS; i++) {
		size_t size = 1 + race_random(&random) % 200;
		unsigned char *block = arena_alloc(&arena, size, 8);

		blocks_of[index][i].start = block;
		blocks_of[index][i].size = size;
		if (block != NULL && all_bytes(block, size, 0))
			memset(block, (int)index + 1, size);
	}
}

Test(arena, threads_get_disjoint_memory)
{
	size_t sum = 0;

	cr_assert_eq(arena_init(&arena, 16 * MIB), 0);
	race(RACERS, allocate_and_fill);
	for (unsigned index = 0; index < RACERS; index++) {
		for (unsigned i = 0; i < BLOCKS; i++) {
			cr_assert_not_null(blocks_of[index][i].start);
			cr_assert(all_bytes(blocks_of[index][i].start, blocks_of[index][i].size,
					    (unsigned char)(index + 1)));
			sum += blocks_of[index][i].size;
		}
	}
	cr_assert(arena_used(&arena) >= sum);
	cr_assert(arena_used(&arena) < sum + (size_t)RACERS * BLOCKS * 8);
}
