/* criterion.h - the part of Criterion that the tests of core/ use, for ThreadSanitizer.
 *
 * Criterion's runner maps memory at addresses that ThreadSanitizer keeps for itself, and gives up. Here each test runs in a
 * forked child of tests/tsan/main.c. */
#ifndef MPROF_TESTS_TSAN_CRITERION_H
#define MPROF_TESTS_TSAN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One test, or, with name NULL, what is common to those of a suite. */
struct tsan_test {
	const char *suite, *name;
	void (*run)(void);
	void (*init)(void);
	struct tsan_test *next;
};

void tsan_register(struct tsan_test *test);

/* Note a failure. */
void tsan_fail(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define TSAN_REGISTER(id, ...) \
	__attribute__((constructor)) static void id##_register(void) \
	{ \
		static struct tsan_test test = {__VA_ARGS__}; \
		tsan_register(&test); \
	}

#define Test(group, id, ...) \
	static void group##_##id(void); \
	TSAN_REGISTER(group##_##id, .suite = #group, .name = #id, .run = group##_##id, ##__VA_ARGS__) \
	static void group##_##id(void)

#define TestSuite(group, ...) TSAN_REGISTER(group, .suite = #group, ##__VA_ARGS__)

#define TSAN_CHECK(condition, ...) \
	((condition) ? true : (tsan_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__), false))
#define TSAN_REQUIRE(condition, ...) (TSAN_CHECK(condition, ##__VA_ARGS__) ? (void)0 : exit(1))

#define cr_assert(condition, ...) TSAN_REQUIRE(condition, ##__VA_ARGS__)
#define cr_assert_not(condition, ...) TSAN_REQUIRE(!(condition), ##__VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...) \
	TSAN_REQUIRE((a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...) TSAN_REQUIRE((a) == (b), ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...) TSAN_REQUIRE((a) != (b), ##__VA_ARGS__)
#define cr_assert_null(a, ...) TSAN_REQUIRE((a) == NULL, ##__VA_ARGS__)
#define cr_assert_not_null(a, ...) TSAN_REQUIRE((a) != NULL, ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) TSAN_REQUIRE(strcmp((a), (b)) == 0, ##__VA_ARGS__)
#define cr_expect(condition, ...) (void)TSAN_CHECK(condition, ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...) (void)TSAN_CHECK((a) == (b), ##__VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) (void)TSAN_CHECK(strcmp((a), (b)) == 0, ##__VA_ARGS__)

#endif
