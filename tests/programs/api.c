/* api.c - uses preload/mprof.h in every way, for tests/e2e/test_api.py: api MODE [ARGS...]. */
#include "preload/mprof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) void

enum { KEPT_MAX = 1 << 16 };

static void *kept[KEPT_MAX];
static size_t kept_count;

static void check(int ok, const char *what)
{
	if (!ok) {
		printf("failed: %s\n", what);
		exit(1);
	}
}

#define CHECK(condition) check(condition, #condition)

static void keep(void *p)
{
	CHECK(kept_count < KEPT_MAX);
	kept[kept_count++] = p;
}

static void free_kept(void)
{
	while (kept_count > 0)
		free(kept[--kept_count]);
}

SITE site_kept(int n, size_t size)
{
	for (int i = 0; i < n; i++)
		keep(malloc(size));
}

SITE site_freed(int n, size_t size)
{
	for (int i = 0; i < n; i++)
		free(malloc(size));
}

static struct mprof_stats stats_now(void)
{
	struct mprof_stats stats = {.size = sizeof(stats)};

	CHECK(mprof_stats(&stats) == 0);
	CHECK(stats.size == sizeof(stats));
	return stats;
}

/* Records of one object size: their sum. */
static struct mprof_record sum_of_size(uint64_t size, int include_freed)
{
	static struct mprof_record records[1024];
	struct mprof_record sum = {0};
	long count = mprof_records(records, 1024, include_freed);

	CHECK(count >= 0 && count <= 1024);
	for (long i = 0; i < count; i++) {
		CHECK(records[i].free_objects <= records[i].alloc_objects);
		CHECK(records[i].free_bytes <= records[i].alloc_bytes);
		if (records[i].alloc_bytes != size * records[i].alloc_objects)
			continue;
		sum.alloc_objects += records[i].alloc_objects;
		sum.free_objects += records[i].free_objects;
		sum.depth++; /* how many records */
	}
	return sum;
}

#define EXPECT(size, all, allocs, frees, count) \
	do { \
		struct mprof_record sum = sum_of_size(size, all); \
		CHECK(sum.alloc_objects == (allocs)); \
		CHECK(sum.free_objects == (frees)); \
		CHECK(sum.depth == (count)); \
	} while (0)

/* --- absent: every symbol is NULL ----------------------------------------------------------------------------------- */

static void absent(void)
{
	CHECK(mprof_records == NULL && mprof_rate == NULL && mprof_set_rate == NULL && mprof_dump == NULL);
	CHECK(mprof_dump_fd == NULL && mprof_reset == NULL && mprof_stats == NULL);
}

/* --- records PATH: a dump and the records of the same moment, and what the records do on the way -------------------- */

static void records(const char *path)
{
	static struct mprof_record found[1024];
	long count;

	site_kept(5, 1001);
	site_freed(7, 1003);
	site_kept(3, 1003);
	EXPECT(1001, 0, 5, 0, 1);
	EXPECT(1003, 0, 3, 0, 1);
	EXPECT(1003, 1, 10, 7, 2);
	count = mprof_records(NULL, 0, 1);
	CHECK(count >= 3);
	CHECK(mprof_records(found, 1, 1) == count && found[0].alloc_objects > 0 && found[1].alloc_objects == 0);
	fflush(stdout);
	mprof_set_rate(0); /* from here on nothing changes but by frees, and there are none */
	CHECK(mprof_dump(path) == 0);
	count = mprof_records(found, 1024, 1);
	for (long i = 0; i < count; i++) {
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, found[i].alloc_objects,
		       found[i].alloc_bytes, found[i].alloc_objects - found[i].free_objects,
		       found[i].alloc_bytes - found[i].free_bytes, found[i].rate);
		for (size_t j = 0; j < found[i].depth; j++)
			printf(" %" PRIxPTR, found[i].stack[j]);
		printf("\n");
	}
}

/* --- rates PATH: off, on, off, on; each stretch is seen or not, exactly --------------------------------------------- */

static pthread_barrier_t barrier;

static void *running_thread(void *unused)
{
	(void)unused;
	site_freed(48000, 64); /* nearly 3 MiB, far from a sample */
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier); /* now the rate is 1 */
	site_freed((1 << 20) / 64, 64);
	site_freed(1000, 1007); /* all seen: the last MiB was long enough to notice */
	return NULL;
}

static void rates(const char *path)
{
	pthread_t thread;

	CHECK(mprof_rate() == 0);
	site_kept(10, 1001);
	EXPECT(1001, 1, 0, 0, 0);
	CHECK(mprof_set_rate((uint64_t)1 << 57) == -EINVAL);
	CHECK(mprof_set_rate((uint64_t)1 << 56) == 0 && mprof_rate() == (uint64_t)1 << 56);
	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(pthread_create(&thread, NULL, running_thread, NULL) == 0);
	pthread_barrier_wait(&barrier);
	CHECK(mprof_set_rate(1) == 0 && mprof_rate() == 1);
	site_freed((1 << 20) / 64, 64); /* this thread notices, too */
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	EXPECT(1007, 1, 1000, 1000, 1);
	site_kept(10, 1003);
	CHECK(mprof_set_rate(0) == 0);
	site_kept(10, 1003);
	CHECK(mprof_set_rate(1) == 0);
	site_kept(10, 1003);
	CHECK(mprof_set_rate(2) == 0); /* small against the sizes: these are all seen, but for one in e^500 */
	site_kept(10, 1003);
	EXPECT(1003, 0, 30, 0, 4); /* three call sites; at the last one the first object ends the gap of rate 1 */
	CHECK(mprof_set_rate(0) == 0);
	free_kept(); /* sampling is off; the deaths are noticed all the same */
	EXPECT(1003, 1, 30, 30, 4);
	CHECK(mprof_dump(path) == 0);
}

/* --- stretches PATH: 200 MB at the default rate, then 200 MB at 32 KiB (DataDog/go-profiler-notes#11), and as much freed ----------------- */

static void stretches(const char *path)
{
	CHECK(mprof_rate() == 524288);
	site_kept(20000, 10000);
	CHECK(mprof_set_rate(32768) == 0);
	site_freed(20000, 10000);
	CHECK(mprof_dump(path) == 0);
}

/* --- churn SECONDS_TENTHS: threads pass blocks around while the rate jumps ------------------------------------------ */

enum { CHURN_THREADS = 4, CHURN_SLOTS = 4096 };

static void *slots[CHURN_SLOTS]; /* atomic */
static int churn_over;		 /* atomic */

static void *churn_thread(void *argument)
{
	uint64_t state = (uint64_t)(uintptr_t)argument;

	while (!__atomic_load_n(&churn_over, __ATOMIC_RELAXED)) {
		void *p;

		state = state * 6364136223846793005 + 1442695040888963407;
		p = malloc(state >> 33 & 2047);
		if (state >> 60 == 0)
			p = realloc(p, state >> 40 & 8191);
		else if (state >> 60 == 1) {
			free(p);
			p = aligned_alloc(4096, 8192); /* page-aligned, sampled or not */
		}
		free(__atomic_exchange_n(&slots[state >> 45 & (CHURN_SLOTS - 1)], p, __ATOMIC_ACQ_REL));
	}
	return NULL;
}

static void churn(int tenths)
{
	static const uint64_t rates[] = {1, 0, 131072, 4096, 131071, 524288, 65536, 0, 1, 1 << 20};
	pthread_t threads[CHURN_THREADS];
	struct mprof_stats before;

	for (uintptr_t i = 0; i < CHURN_THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, churn_thread, (void *)(i + 1)) == 0);
	for (int i = 0; i < tenths * 1000; i++) {
		CHECK(mprof_set_rate(rates[i % 10]) == 0);
		if (i % 64 == 0) { /* let go of everything: only then can the mask rise */
			CHECK(mprof_set_rate(524288) == 0);
			for (int j = 0; j < CHURN_SLOTS; j++)
				free(__atomic_exchange_n(&slots[j], NULL, __ATOMIC_ACQ_REL));
		}
		usleep(100);
	}
	__atomic_store_n(&churn_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < CHURN_THREADS; i++)
		pthread_join(threads[i], NULL);
	mprof_set_rate(0);
	before = stats_now();
	for (int j = 0; j < CHURN_SLOTS; j++)
		free(slots[j]);
	CHECK(before.samples > 1000);
	printf("left %" PRIu64 "\n", stats_now().live_objects);
}

/* --- homes: stops after each step of a life of the filter mask; the test looks at it from outside ------------------- */

static void step(const char *name)
{
	puts(name);
	fflush(stdout);
	CHECK(getchar() == '\n');
}

static void homes(void)
{
	step("start"); /* 512 KiB */
	mprof_set_rate(1);
	free(malloc(2 << 20)); /* this thread takes it over */
	site_kept(100, 1001);
	step("low");
	mprof_set_rate(524288);
	step("high, not yet");
	for (int i = 0; i < 99; i++)
		free(kept[--kept_count]);
	step("high, one left");
	free_kept();
	step("high");
	mprof_set_rate(4096);
	step("low again");
	mprof_set_rate(0);
	step("off");
}

/* --- reset PATH PATH ------------------------------------------------------------------------------------------------ */

static void reset(const char *before, const char *after)
{
	site_kept(4, 1001);
	site_freed(6, 1001);
	free(kept[--kept_count]);
	CHECK(mprof_dump(before) == 0);
	CHECK(mprof_reset() == 0);
	EXPECT(1001, 1, 3, 0, 1); /* what is alive; the freed ones' record is empty and left out */
	site_freed(5, 1003);
	free(kept[--kept_count]);
	EXPECT(1001, 1, 3, 1, 1);
	EXPECT(1003, 1, 5, 5, 1);
	CHECK(mprof_dump(after) == 0);
	CHECK(mprof_reset() == 0 && mprof_reset() == 0);
	EXPECT(1001, 1, 2, 0, 1);
	EXPECT(1003, 1, 0, 0, 0);
}

/* --- stats ---------------------------------------------------------------------------------------------------------- */

static void stats(void)
{
	struct mprof_stats before = stats_now(), after;
	struct mprof_stats small = {.size = 8}, large[2] = {{.size = sizeof(large)}};

	site_kept(10, 1001);
	free(kept[--kept_count]);
	mprof_reset();
	after = stats_now();
	CHECK(after.rate == 1 && after.samples == before.samples + 10);
	CHECK(after.live_objects == before.live_objects + 9 && after.buckets == before.buckets + 1);
	CHECK(after.memory_bytes > before.memory_bytes && after.memory_bytes < after.memory_limit_bytes);
	CHECK(after.lost_other == 0 && after.lost_untracked == 0 && after.lost_dropped == 0 &&
	      after.lost_dumps_failed == 0);
	CHECK(mprof_stats(&small) == -EINVAL && small.size == 8);
	CHECK(mprof_stats(large) == 0 && large[0].size == sizeof(after) && large[1].size == 0);
	CHECK(mprof_dump("/no/such/directory") < 0 && stats_now().lost_dumps_failed == 1);
}

/* --- errors DIRECTORY: what cannot be written, and that it costs the program nothing -------------------------------- */

static void errors(const char *directory)
{
	struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
	char longest[5001];
	int ends[2];

	CHECK(chdir(directory) == 0);
	errno = 12345;
	CHECK(mprof_dump("no-such-directory/profile") == -ENOENT);
	CHECK(mprof_dump("") == -ENOENT);
	CHECK(mprof_dump("/proc/self/nowhere") < 0);
	CHECK(mprof_dump(".") < 0);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK(mprof_dump(longest) == -ENAMETOOLONG);
	CHECK(mprof_dump_fd(-1) == -EBADF);
	CHECK(mprof_dump_fd(999) == -EBADF);
	CHECK(errno == 12345);
	CHECK(pipe(ends) == 0 && close(ends[0]) == 0);
	CHECK(mprof_dump_fd(ends[1]) == -EPIPE); /* and no SIGPIPE */
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(mprof_dump("too-large") == -EFBIG); /* and no SIGXFSZ */
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(access("too-large", F_OK) != 0);
	CHECK(mprof_dump("100%p") == 0 && access("100%p", F_OK) == 0); /* a path is no pattern */
	CHECK(mprof_dump("100%p") == 0);			       /* replaced */
}

/* --- fd: the profile goes to standard output ------------------------------------------------------------------------ */

static void to_fd(void)
{
	site_kept(5, 1001);
	CHECK(mprof_dump_fd(STDOUT_FILENO) == 0);
	CHECK(fcntl(STDOUT_FILENO, F_GETFD) >= 0); /* still open */
}

/* --- handler PATH: the interface from a signal handler that interrupts malloc, again and again ---------------------- */

static const char *handler_path;
static volatile sig_atomic_t handled;
static timer_t timer;

/* One alarm, some time after this one: however long a handler takes, the program gets on. */
static void set_alarm(void)
{
	struct itimerspec once = {.it_value.tv_nsec = 300000};

	if (handled < 200)
		timer_settime(timer, 0, &once, NULL);
}

static void on_alarm(int signal)
{
	static struct mprof_record some[4];
	struct mprof_stats now = {.size = sizeof(now)};

	(void)signal;
	if (mprof_dump(handler_path) != 0 || mprof_stats(&now) != 0 || mprof_records(some, 4, 1) < 0 ||
	    mprof_reset() != 0 || mprof_set_rate(handled % 2 == 0 ? 524288 : 1) != 0)
		_exit(3);
	handled++;
	set_alarm();
}

static void handler(const char *path)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	handler_path = path;
	sigaction(SIGALRM, &action, NULL);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	set_alarm();
	while (handled < 200) {
		for (int i = 0; i < 100; i++)
			free(realloc(malloc((size_t)i * 100), (size_t)i * 300));
	}
}

/* --- threads DIRECTORY: everything at once -------------------------------------------------------------------------- */

static const char *threads_directory;

static void *caller_thread(void *argument)
{
	static const uint64_t rates[] = {1, 524288, 0, 65536};
	static __thread struct mprof_record found[64];
	char path[4200];

	snprintf(path, sizeof(path), "%s/shared.pb.gz", threads_directory);
	for (int i = 0; i < 25; i++) {
		void *p = malloc(5000);

		CHECK(mprof_set_rate(rates[(i + (uintptr_t)argument) % 4]) == 0);
		CHECK(mprof_dump(path) == 0);
		long count = mprof_records(found, 64, 0);
		CHECK(count >= 0);
		for (long j = 0; j < count && j < 64; j++)
			CHECK(found[j].free_objects <= found[j].alloc_objects);
		CHECK(mprof_reset() == 0);
		stats_now();
		free(p);
	}
	return NULL;
}

static void threads(const char *directory)
{
	pthread_t callers[4], churners[2];

	threads_directory = directory;
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&churners[i], NULL, churn_thread, (void *)(i + 1)) == 0);
	for (uintptr_t i = 0; i < 4; i++)
		CHECK(pthread_create(&callers[i], NULL, caller_thread, (void *)i) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(callers[i], NULL);
	__atomic_store_n(&churn_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(churners[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *first = argc > 2 ? argv[2] : "", *second = argc > 3 ? argv[3] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (strcmp(mode, "absent") == 0)
		absent();
	else if (strcmp(mode, "records") == 0)
		records(first);
	else if (strcmp(mode, "rates") == 0)
		rates(first);
	else if (strcmp(mode, "stretches") == 0)
		stretches(first);
	else if (strcmp(mode, "churn") == 0)
		churn(atoi(first));
	else if (strcmp(mode, "homes") == 0)
		homes();
	else if (strcmp(mode, "reset") == 0)
		reset(first, second);
	else if (strcmp(mode, "stats") == 0)
		stats();
	else if (strcmp(mode, "errors") == 0)
		errors(first);
	else if (strcmp(mode, "fd") == 0)
		to_fd();
	else if (strcmp(mode, "handler") == 0)
		handler(first);
	else if (strcmp(mode, "threads") == 0)
		threads(first);
	else
		return 2;
	return 0;
}
