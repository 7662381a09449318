/* race.h - runs a function in several threads that start together. */
#ifndef MPROF_TESTS_UNIT_RACE_H
#define MPROF_TESTS_UNIT_RACE_H

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>

#define RACE_MAX 16U

struct racer {
	pthread_t thread;
	pthread_barrier_t *start;
	void (*run)(unsigned index);
	unsigned index;
};

static void *race_thread(void *argument)
{
	struct racer *racer = argument;

	pthread_barrier_wait(racer->start);
	racer->run(racer->index);
	return NULL;
}

/* Call run(0) ... run(count - 1), each in a thread of its own, all at once; return when all have returned. They must not assert:
 * Criterion's assertions are for the test's own thread. */
static void race(unsigned count, void (*run)(unsigned index))
{
	struct racer racers[RACE_MAX];
	pthread_barrier_t start;

	cr_assert(count <= RACE_MAX);
	pthread_barrier_init(&start, NULL, count);
	for (unsigned i = 0; i < count; i++) {
		racers[i] = (struct racer){.start = &start, .run = run, .index = i};
		cr_assert_eq(pthread_create(&racers[i].thread, NULL, race_thread, &racers[i]), 0);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(racers[i].thread, NULL);
	pthread_barrier_destroy(&start);
}

/* A small generator with a fixed sequence per state. Source: George Marsaglia, "Xorshift RNGs" (2003). */
static inline uint64_t race_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
