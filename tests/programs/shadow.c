/* shadow.c - random programs beside a model of what the profile must say: shadow orderly|churn SEED DIRECTORY.
 *
 * Threads do random things to blocks in shared slots: malloc, calloc, realloc, reallocarray, aligned allocation, free,
 * and calls that must fail. The model counts, for every (site, size), what was allocated and freed. When no thread
 * runs, the profile that mprof_records gives is compared with it.
 *
 * orderly: rounds, each with new threads, so that blocks are freed after the thread that made them is gone, and by
 * others. Every round has a rate. At rate 1 the records must equal the model; at others they must be a part of it, and
 * equal where an object is sampled for certain; at 0 there must be none. In some rounds the rate changes all the time:
 * then they must be a part. In the end everything is freed and nothing may be in use.
 *
 * churn: threads run on while records (and files, into DIRECTORY) are taken: in-use is never negative, nothing ever
 * shrinks. */
#include "preload/mprof.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 8, SIZES_MAX = 160, SLOTS = 3000, THREADS = 3, ROUNDS = 40, STEPS = 5000, SNAPSHOTS = 500, FILES = 10 };
enum { RECORDS_MAX = 1 << 16 };

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* What a block counts as in the model: the rate of the round that made it, or MIXED while that changed all the time. */
enum { MIXED, OFF, EVERY, OFTEN, SELDOM, RATE_COUNT };
static const uint64_t rate_of[RATE_COUNT] = {
	[MIXED] = 1 /* to start with */, [EVERY] = 1, [OFTEN] = 65536, [SELDOM] = 524288};

struct tally {
	_Atomic uint64_t allocs, frees;
};

static struct tally model[RATE_COUNT][SITES][SIZES_MAX];

/* A block, or none. Whoever holds the lock may do with it what it wants. */
struct slot {
	atomic_flag lock;
	unsigned char *block;
	int rate, site, size; /* what it counts as in the model: indexes */
	unsigned char fill;
};

static struct slot slots[SLOTS];
static size_t sizes[SIZES_MAX];
static int size_count;
static int round_rate = EVERY; /* index, of the present round; changes while no thread runs */

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

/* Small ones, what lies around powers of two, and two that are sampled for certain (40 times the rate or more: a miss
 * has probability e^-40) at 64K and at 512K. */
static void make_sizes(void)
{
	for (size_t size = 0; size <= 40; size++)
		sizes[size_count++] = size;
	for (size_t power = 64; power <= (size_t)1 << 20; power *= 2)
		for (size_t size = power - 1; size <= power + 1; size++)
			sizes[size_count++] = size;
	sizes[size_count++] = (size_t)40 * 65536;
	sizes[size_count++] = (size_t)40 * 524288;
}

static bool is_certain(size_t size, uint64_t rate)
{
	return size >= 40 * rate;
}

/* --- the random program ------------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
	return z ^ (z >> 31);
}

static unsigned below(uint64_t *state, unsigned n)
{
	return (unsigned)(next_random(state) >> 33) % n;
}

/* Large sizes seldom, and the largest hardly ever. */
static int random_size(uint64_t *state)
{
	unsigned kind = below(state, 1000);

	if (kind == 0)
		return size_count - 1;
	if (kind < 5)
		return size_count - 2;
	return (int)below(state, (unsigned)(kind < 50 || size_count < 72 ? size_count - 2 : 70));
}

enum call { MALLOC, CALLOC, ALIGNED, POSIX, MEMALIGN, REALLOC, REALLOCARRAY, CALLS };

/* Sizes that cannot be had pass through here, lest the compiler warn. */
static volatile size_t huge = PTRDIFF_MAX / 2;

static void *make(enum call call, void *old, size_t size, size_t alignment)
{
	void *block = NULL;

	switch (call) {
	case MALLOC:
		return malloc(size);
	case CALLOC:
		return calloc(1, size);
	case ALIGNED:
		return aligned_alloc(alignment, size);
	case MEMALIGN:
		return memalign(alignment, size);
	case POSIX:
		return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
	case REALLOC:
		return realloc(old, size);
	default:
		return reallocarray(old, 1, size);
	}
}

/* The sites: each in a section of its own, whose bounds the linker gives, so that a frame can be told to be in it. */
#define SITE_LIST(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DEFINE_SITE(n) \
	extern char __start_shadow_##n[], __stop_shadow_##n[]; \
	__attribute__((section("shadow_" #n))) static void *site_##n(enum call call, void *old, size_t size, \
								     size_t align) \
	{ \
		return make(call, old, size, align); \
	}
SITE_LIST(DEFINE_SITE)

#define SITE_ROW(n) {site_##n, __start_shadow_##n, __stop_shadow_##n},
static const struct {
	void *(*make)(enum call call, void *old, size_t size, size_t alignment);
	const char *start, *stop;
} sites[SITES] = {SITE_LIST(SITE_ROW)};

/* Only the ends of a block are written and read: large ones are not meant to be touched. */
static void write_ends(struct slot *slot, size_t size)
{
	for (size_t i = 0; i < size; i = i < 64 || i + 1 == size ? i + 1 : size - 1)
		slot->block[i] = slot->fill;
}

static void check_ends(const struct slot *slot, size_t size, unsigned char wanted)
{
	for (size_t i = 0; i < size; i = i < 64 || i + 1 == size ? i + 1 : size - 1)
		if (slot->block[i] != wanted)
			fail("byte %zu of a block of %zu is %d, not %d", i, sizes[slot->size], slot->block[i], wanted);
}

static void count_death(const struct slot *slot)
{
	atomic_fetch_add(&model[slot->rate][slot->site][slot->size].frees, 1);
}

static void count_birth(struct slot *slot, int site, int size)
{
	slot->rate = round_rate;
	slot->site = site;
	slot->size = size;
	atomic_fetch_add(&model[round_rate][site][size].allocs, 1);
}

static void step_allocate(struct slot *slot, uint64_t *random)
{
	int site = (int)below(random, SITES), size = random_size(random);
	enum call call = (enum call)below(random, CALLS);

	slot->block = sites[site].make(call, NULL, sizes[size], (size_t)16 << below(random, 9));
	if (slot->block == NULL)
		fail("call %d for %zu bytes failed", call, sizes[size]);
	count_birth(slot, site, size);
	if (call == CALLOC)
		check_ends(slot, sizes[size], 0);
	slot->fill = (unsigned char)next_random(random);
	write_ends(slot, sizes[size]);
}

static void step_free(struct slot *slot, uint64_t *random)
{
	check_ends(slot, sizes[slot->size], slot->fill);
	count_death(slot);
	if (below(random, 4) == 0) {
		if (realloc(slot->block, 0) != NULL) /* as glibc */
			fail("realloc to nothing gave something");
	} else {
		free(slot->block);
	}
	slot->block = NULL;
}

static void step_realloc(struct slot *slot, uint64_t *random)
{
	int site = (int)below(random, SITES), size = random_size(random);
	size_t old_bytes = sizes[slot->size], less = old_bytes < sizes[size] ? old_bytes : sizes[size];
	void *moved;

	if (sizes[size] == 0) /* that frees: step_free does it */
		return;
	moved = sites[site].make(below(random, 2) == 0 ? REALLOC : REALLOCARRAY, slot->block, sizes[size], 0);
	if (moved == NULL)
		fail("realloc from %zu to %zu bytes failed", old_bytes, sizes[size]);
	slot->block = moved;
	count_death(slot);
	count_birth(slot, site, size);
	check_ends(slot, less < 64 ? less : 64, slot->fill); /* beyond, only the old last byte was written */
	write_ends(slot, sizes[size]);
}

/* Nothing may come of these. */
static void step_impossible(struct slot *slot, uint64_t *random)
{
	int site = (int)below(random, SITES);

	if (sites[site].make(REALLOC, slot->block, huge, 0) != NULL || sites[site].make(MALLOC, NULL, huge, 0) != NULL)
		fail("half of the address space was to be had");
	check_ends(slot, sizes[slot->size], slot->fill);
}

static void step_usable(struct slot *slot)
{
	size_t usable = malloc_usable_size(slot->block);

	if (usable < sizes[slot->size])
		fail("of %zu bytes %zu are usable", sizes[slot->size], usable);
	if (usable > 0 && usable < 100000) { /* all of it must be ours */
		memset(slot->block, slot->fill, usable);
	}
}

static void step(uint64_t *random)
{
	struct slot *slot = &slots[below(random, SLOTS)];

	if (atomic_flag_test_and_set(&slot->lock))
		return; /* another thread is at it */
	if (slot->block == NULL) {
		step_allocate(slot, random);
	} else {
		unsigned kind = below(random, 20);

		if (kind < 9)
			step_free(slot, random);
		else if (kind < 18)
			step_realloc(slot, random);
		else if (kind == 18)
			step_impossible(slot, random);
		else
			step_usable(slot);
	}
	atomic_flag_clear(&slot->lock);
}

static atomic_bool running; /* for threads without a number of steps */

struct worker {
	pthread_t thread;
	uint64_t random;
	int steps; /* 0 = until told to stop */
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; worker->steps == 0 ? (bool)running : i < worker->steps; i++)
		step(&worker->random);
	return NULL;
}

static void start_workers(struct worker *workers, uint64_t *random, int steps)
{
	running = true;
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.random = next_random(random), .steps = steps};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			fail("no thread");
	}
}

static void join_workers(struct worker *workers)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* --- the profile -------------------------------------------------------------------------------------------------- */

static struct mprof_record *records;

/* What the records say, added up like the model; MIXED here means any rate. */
static struct tally seen[RATE_COUNT][SITES][SIZES_MAX];

static int site_of(const struct mprof_record *record)
{
	for (size_t i = 0; i < record->depth && i < 8; i++)
		for (int site = 0; site < SITES; site++)
			if (record->stack[i] > (uintptr_t)sites[site].start &&
			    record->stack[i] <= (uintptr_t)sites[site].stop)
				return site;
	return -1;
}

static int size_index(size_t size)
{
	for (int i = 0; i < size_count; i++)
		if (sizes[i] == size)
			return i;
	fail("a record of objects of %zu bytes, which nobody allocated", size);
	return -1;
}

static int rate_index(uint64_t rate)
{
	for (int i = EVERY; i < RATE_COUNT; i++)
		if (rate_of[i] == rate)
			return i;
	fail("a record at rate %lu, which was never in force", (unsigned long)rate);
	return -1;
}

/* Add up the records of our sites. What must hold of each at any time is checked here. */
static int take_records(void)
{
	long count = mprof_records(records, RECORDS_MAX, 1);
	int ours = 0;

	if (count < 0 || count > RECORDS_MAX)
		fail("%ld records", count);
	memset(seen, 0, sizeof seen);
	for (long i = 0; i < count; i++) {
		const struct mprof_record *record = &records[i];
		int site = site_of(record), size;

		if (record->free_objects > record->alloc_objects || record->free_bytes > record->alloc_bytes)
			fail("in use is negative: %lu of %lu objects freed", (unsigned long)record->free_objects,
			     (unsigned long)record->alloc_objects);
		if (site < 0 || record->alloc_objects == 0)
			continue;
		size = size_index(record->alloc_bytes / record->alloc_objects);
		for (int rate = 0; rate < RATE_COUNT; rate++) {
			if (rate != MIXED && rate != rate_index(record->rate))
				continue;
			seen[rate][site][size].allocs += record->alloc_objects;
			seen[rate][site][size].frees += record->free_objects;
		}
		ours++;
	}
	return ours;
}

/* --- orderly ------------------------------------------------------------------------------------------------------ */

/* Compare one figure with the model's. What was made while the rate changed (`mixed`) can be part of any. */
static void expect_part(uint64_t got, uint64_t wanted, uint64_t mixed, bool exact, const char *what, int rate, int site,
			int size)
{
	if (got > wanted + mixed || (exact && got < wanted))
		fail("%s at rate %lu, site %d, %zu bytes: %lu, the model has %lu and %lu at changing rates", what,
		     (unsigned long)rate_of[rate], site, sizes[size], (unsigned long)got, (unsigned long)wanted,
		     (unsigned long)mixed);
}

/* No thread runs. Returns how many figures were compared exactly: those of keys that have seen no changing rate. */
static long compare(void)
{
	long exact_count = 0;

	take_records();
	for (int rate = EVERY; rate < RATE_COUNT; rate++)
		for (int site = 0; site < SITES; site++)
			for (int size = 0; size < size_count; size++) {
				struct tally *truth = &model[rate][site][size], *other = &model[MIXED][site][size];
				struct tally *got = &seen[rate][site][size];
				bool exact = is_certain(sizes[size], rate_of[rate]) || rate_of[rate] == 1;

				expect_part(got->allocs, truth->allocs, other->allocs, exact, "allocs", rate, site,
					    size);
				expect_part(got->frees, truth->frees, other->frees, exact, "frees", rate, site, size);
				expect_part(got->allocs - got->frees, truth->allocs - truth->frees,
					    other->allocs - other->frees, exact, "in use", rate, site, size);
				exact_count += exact && other->allocs == 0 && truth->allocs > 0;
			}
	return exact_count;
}

/* All sampled objects of our sites so far. */
static uint64_t seen_allocs(void)
{
	uint64_t sum = 0;

	for (int site = 0; site < SITES; site++)
		for (int size = 0; size < size_count; size++)
			sum += seen[MIXED][site][size].allocs;
	return sum;
}

/* Change the rate again and again while the workers run. */
static void change_rates(uint64_t *random)
{
	for (int i = 0; i < 300; i++) {
		mprof_set_rate(rate_of[OFF + below(random, RATE_COUNT - OFF)]);
		usleep(100);
		if (i % 30 == 0)
			take_records();
	}
	running = false;
}

static void free_all(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].block != NULL) {
			check_ends(&slots[i], sizes[slots[i].size], slots[i].fill);
			count_death(&slots[i]);
			free(slots[i].block);
			slots[i].block = NULL;
		}
}

static void expect_nothing_in_use(void)
{
	take_records();
	for (int site = 0; site < SITES; site++)
		for (int size = 0; size < size_count; size++)
			if (seen[MIXED][site][size].allocs != seen[MIXED][site][size].frees)
				fail("site %d, %zu bytes: %lu objects in use, all are freed", site, sizes[size],
				     (unsigned long)(seen[MIXED][site][size].allocs - seen[MIXED][site][size].frees));
}

/* Nothing may have been lost on the way, which would be told. (What was allocated while the profiler was at work for
 * the same thread is not among it: libraries that it uses do that, not the program, whose own allocations the
 * comparison would miss.) */
static void expect_no_loss(void)
{
	struct mprof_stats stats = {.size = sizeof stats};

	if (mprof_stats == NULL || mprof_stats(&stats) != 0)
		fail("no mprof_stats");
	if (stats.lost_other + stats.lost_untracked + stats.lost_dropped + stats.lost_no_stack != 0)
		fail("lost: %lu other, %lu untracked, %lu dropped, %lu without stack", (unsigned long)stats.lost_other,
		     (unsigned long)stats.lost_untracked, (unsigned long)stats.lost_dropped,
		     (unsigned long)stats.lost_no_stack);
}

/* Rounds at fixed rates first, 1 every other time; the rate changes all the time in the last quarter. */
static void orderly(uint64_t *random)
{
	struct worker workers[THREADS];
	uint64_t before = 0;
	long exact = 0;

	for (int round = 0; round < ROUNDS; round++) {
		bool mixed = round >= ROUNDS * 3 / 4 && round % 2 == 0;

		round_rate = mixed ? MIXED : round % 2 == 0 ? EVERY : OFF + (int)below(random, RATE_COUNT - OFF);
		mprof_set_rate(rate_of[round_rate]);
		start_workers(workers, random, mixed ? 0 : STEPS);
		if (mixed)
			change_rates(random);
		join_workers(workers);
		exact += compare();
		if (round_rate == OFF && seen_allocs() != before)
			fail("%lu objects sampled at rate 0", (unsigned long)(seen_allocs() - before));
		before = seen_allocs();
	}
	free_all();
	expect_nothing_in_use();
	expect_no_loss();
	printf("%d rounds, %ld figures compared exactly\n", ROUNDS, exact);
}

/* --- churn -------------------------------------------------------------------------------------------------------- */

static void expect_no_shrinking(struct tally (*before)[SIZES_MAX])
{
	for (int site = 0; site < SITES; site++)
		for (int size = 0; size < size_count; size++)
			if (seen[MIXED][site][size].allocs < before[site][size].allocs ||
			    seen[MIXED][site][size].frees < before[site][size].frees)
				fail("site %d, %zu bytes: counts went down", site, sizes[size]);
	memcpy(before, seen[MIXED], sizeof seen[MIXED]);
}

static void churn(uint64_t *random, const char *directory)
{
	static struct tally before[SITES][SIZES_MAX];
	struct worker workers[THREADS];
	char path[4096];
	long ours = 0;

	size_count = 60; /* few buckets, all of them busy */
	start_workers(workers, random, 0);
	for (int i = 0; i < SNAPSHOTS; i++) {
		ours += take_records();
		expect_no_shrinking(before);
		if (i % (SNAPSHOTS / FILES) != 0)
			continue;
		snprintf(path, sizeof path, "%s/churn.%d.pb.gz", directory, i);
		if (mprof_dump(path) != 0)
			fail("no dump to %s", path);
	}
	running = false;
	join_workers(workers);
	compare();
	free_all();
	expect_nothing_in_use();
	expect_no_loss();
	printf("%d snapshots, %ld records\n", SNAPSHOTS, ours);
}

int main(int argc, char **argv)
{
	uint64_t random;

	if (argc < 3)
		return 2;
	if (mprof_records == NULL || mprof_set_rate == NULL || mprof_dump == NULL)
		fail("libmprof.so is not there, or has no C API");
	random = strtoull(argv[2], NULL, 10);
	/* Not from the heap: reading it must not change it. */
	records = mmap(NULL, RECORDS_MAX * sizeof *records, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (records == MAP_FAILED)
		fail("no memory");
	make_sizes();
	if (strcmp(argv[1], "orderly") == 0)
		orderly(&random);
	else if (strcmp(argv[1], "churn") == 0 && argc == 4)
		churn(&random, argv[3]);
	else
		return 2;
	return 0;
}
