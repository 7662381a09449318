"""test_sizeclass.py - the fallback recorder, libmprof-sizeclass.so: exact counts by size class, as good a guest."""
import subprocess
import unittest
from pathlib import Path

from mprof_test import BUILD, DUMP_SIGNAL, LIBRARY, Outcome, Profile, ProgramTest, Values, read_profile, sample

FALLBACK = BUILD / "libmprof-sizeclass.so"
UNITS = ("B", "KiB", "MiB", "GiB")

# Four threads allocate, realloc and free between two dumps, also each other's blocks. What they did is printed by
# class, which is found from the size they asked for: "bound allocs alloc_bytes frees free_bytes".
WORKLOAD = r"""
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 5, SIZES = 1800 };

struct counts { unsigned long allocs, alloc_bytes, frees, free_bytes; };

static struct counts counts[THREADS + 1][27];
static void *blocks[THREADS][SIZES];
static size_t asked[THREADS][SIZES];
static pthread_barrier_t barrier;

static struct counts *of(unsigned thread, size_t size)
{
	unsigned index = 0;
	while (index < 26 && size > (size_t)16 << index)
		index++;
	return &counts[thread][index];
}

static void *made(unsigned thread, void *block, size_t size)
{
	of(thread, size)->allocs++;
	of(thread, size)->alloc_bytes += malloc_usable_size(block);
	return block;
}

static void *gone(unsigned thread, void *block, size_t size)
{
	of(thread, size)->frees++;
	of(thread, size)->free_bytes += malloc_usable_size(block);
	return block;
}

/* All sizes up to 1049, then about 1.01 times as much each time, up to 1.8 MiB. */
static size_t next_size(size_t size) { return size < 1050 ? size + 1 : size + size / 100; }

static void work_once(unsigned thread)
{
	size_t size = 0;
	for (unsigned i = 0; i < SIZES; i++, size = next_size(size)) {
		void *block = made(thread, i % 2 ? malloc(size) : calloc(1, size), size);
		size_t now = size;
		if (i % 3 == 0) {
			now = i % 5 ? size * 2 + 1 : size / 2 + 1;
			gone(thread, block, size);
			block = made(thread, realloc(block, now), now);
		}
		blocks[thread][i] = block;
		asked[thread][i] = now;
	}
	pthread_barrier_wait(&barrier);
	unsigned other = (thread + 1) % THREADS;
	for (unsigned i = 0; i < SIZES; i++)
		free(gone(thread, blocks[other][i], asked[other][i]));
	pthread_barrier_wait(&barrier);
}

static void *work(void *argument)
{
	unsigned thread = (unsigned)(unsigned long)argument;
	pthread_barrier_wait(&barrier); /* all threads are there */
	pthread_barrier_wait(&barrier); /* the first dump is written */
	for (unsigned round = 0; round < ROUNDS; round++)
		work_once(thread);
	for (size_t size = 1; size < 200; size++) /* these stay */
		blocks[thread][size] = made(thread, malloc(size), size);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier); /* the second dump is written */
	return NULL;
}

/* The main thread is worker 0. */
/* The dump is written by another thread while this one goes on. */
static void dump(char **argv, int number)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/w.%d.pb.gz", argv[2], number);
	raise(atoi(argv[1]));
	while (access(path, F_OK) != 0)
		usleep(1000);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	volatile size_t impossible = PTRDIFF_MAX;
	char *block;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned long i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_barrier_wait(&barrier);
	dump(argv, 1);
	pthread_barrier_wait(&barrier);
	for (unsigned round = 0; round < ROUNDS; round++)
		work_once(0);
	block = made(THREADS, malloc(3), 3);
	if (realloc(block, impossible) != NULL || malloc(impossible) != NULL || calloc(impossible, 2) != NULL)
		return 1;
	blocks[0][0] = block;
	blocks[0][1] = made(THREADS, aligned_alloc(64, 640), 640);
	free(gone(THREADS, made(THREADS, aligned_alloc(4096, 4096), 4096), 4096));
	free(gone(THREADS, made(THREADS, realloc(NULL, 70000), 70000), 70000));
	free(NULL);
	pthread_barrier_wait(&barrier);
	dump(argv, 2);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned index = 0; index < 27; index++) {
		struct counts sum = {0};
		for (unsigned i = 0; i <= THREADS; i++) {
			sum.allocs += counts[i][index].allocs;
			sum.alloc_bytes += counts[i][index].alloc_bytes;
			sum.frees += counts[i][index].frees;
			sum.free_bytes += counts[i][index].free_bytes;
		}
		printf("%lu %lu %lu %lu %lu\n", 16ul << index, sum.allocs, sum.alloc_bytes, sum.frees, sum.free_bytes);
	}
	return 0;
}
"""


def name(bound: int) -> str:
    scale = (bound.bit_length() - 1) // 10
    return f"size class {bound >> 10 * scale} {UNITS[scale]}"


def by_class(profile: Profile) -> dict[int, Values]:
    return {one.bytes: one.values for one in profile.samples}


class SizeclassTest(ProgramTest):
    def counted(self, *argv: str, **more: str) -> Outcome:
        """Run with the fallback recorder."""
        return self.profiled(*argv, LD_PRELOAD=str(FALLBACK), **more)


class Counts(SizeclassTest):
    def compile(self, text: str) -> str:
        path = str(self.work / "program")
        subprocess.run(["cc", "-O1", "-fno-builtin", "-w", "-x", "c", "-", "-o", path, "-lpthread"], check=True,
                       input=text, text=True)
        return path

    def test_exact_to_the_object_and_the_byte_with_four_threads(self):
        outcome = self.counted(self.compile(WORKLOAD), str(int(DUMP_SIGNAL)), str(self.out), timeout=60, HEAPPROF_OUT=f"{self.out}/w.%n.pb.gz")
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        first, second, last = sorted(self.profile_paths(), key=lambda path: int(path.name.split(".")[1]))
        before, after = by_class(read_profile(first)), by_class(read_profile(second))
        nothing = Values(0, 0, 0, 0)
        for line in outcome.out.decode().splitlines():
            bound, allocs, alloc_bytes, frees, free_bytes = map(int, line.split())
            difference = Values(*(b - a for a, b in zip(before.get(bound, nothing), after.get(bound, nothing))))
            self.assertEqual(difference, (allocs, alloc_bytes, allocs - frees, alloc_bytes - free_bytes), name(bound))
        self.assertGreater(sum(one.alloc_objects for one in after.values()), 36000)
        self.assertGreaterEqual(len(after), 18)
        self.assert_good_profile(last, 1)

    def test_one_sample_per_class_with_a_frame_that_names_it(self):
        self.assertEqual(self.counted("sqlite3", ":memory:", "select 1").status, 0)
        profile = self.assert_good_profile(self.profile_paths()[0], 1)
        bounds = [one.bytes for one in profile.samples]
        self.assertEqual(bounds, sorted(set(bounds)))
        self.assertLessEqual(set(bounds), {16 << n for n in range(27)})
        for one in profile.samples:
            self.assertEqual(one.stack, [name(one.bytes)])
            self.assertLessEqual(one.values.alloc_bytes, one.values.alloc_objects * one.bytes)
            if one.bytes > 16:
                self.assertGreater(2 * one.values.alloc_bytes, one.values.alloc_objects * one.bytes)
        self.assertIn("size class 16 B", self.top(self.profile_paths()[0], "--sample", "alloc_objects"))

    def test_the_last_class_holds_what_is_larger_too(self):
        program = self.compile("""
#include <stdlib.h>
static void *volatile kept;
int main(void)
{
	static const size_t sizes[] = {512ul << 20, (512ul << 20) + 1, 1ul << 30, 3ul << 30, 1ul << 36};
	for (int i = 0; i < 5; i++) {
		kept = malloc(sizes[i]);
		if (i != 1)
			free(kept);
	}
	return 0;
}
""")
        self.assertEqual(self.counted(program), (0, b"", b""))
        mega = 1 << 20
        self.assertEqual(by_class(self.only_profile()), {
            512 * mega: Values(1, 512 * mega, 0, 0),
            1024 * mega: Values(4, (640 + 1024 + 3072 + 65536) * mega, 1, 640 * mega),
        })

    def test_a_child_has_a_profile_of_its_own(self):
        program = self.compile("""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
int main(void)
{
	for (int child = 0; child < 2; child++) {
		if (fork() == 0) {
			if (child == 1)
				kept = malloc(100 << 20);
			exit(0);
		}
		wait(NULL);
	}
	return 0;
}
""")
        self.assertEqual(self.counted(program), (0, b"", b""))
        # The parent and the first child have allocated nothing.
        self.assertEqual(by_class(self.only_profile())[128 << 20].alloc_objects, 1)


class Guest(SizeclassTest):
    def test_the_family_keeps_its_promises(self):
        outcome = self.counted(sample("family"))
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        # Of what malloc_usable_size says nothing differs from the main library.
        self.assertEqual(outcome.out, self.profiled(sample("family")).out)

    def test_operators_errno_and_forks(self):
        self.assertEqual(self.counted(sample("operators")), (0, b"operators\n", b""))
        self.assertEqual(self.counted(sample("guest"), "errno"), (0, b"", b""))
        plain = self.plain(sample("guest"), "state").out.decode()
        shown = self.counted(sample("guest"), "state").out.decode()
        self.assertEqual(shown.replace(f"signal {DUMP_SIGNAL} handled", f"signal {DUMP_SIGNAL} default"), plain)

    def test_options(self):
        self.assertEqual(self.counted(sample("tiny"), HEAPPROF_EXIT="0"), self.plain(sample("tiny")))
        self.assertEqual(self.profile_paths(), [])
        self.assertIn(b"HEAPPROF_NONSENSE", self.counted(sample("tiny"), HEAPPROF_NONSENSE="1").err)
        self.assertGreater(len(self.only_profile().samples), 0)


class Library(unittest.TestCase):
    def symbols(self, path: Path, kind: str) -> set[str]:
        lines = subprocess.run(["nm", "-D", kind, path], capture_output=True, text=True, check=True).stdout.splitlines()
        return {line.split()[-1].split("@")[0] for line in lines}

    def test_exports_imports_and_needs_no_more_than_the_main_one(self):
        family = {one for one in self.symbols(LIBRARY, "--defined-only") if not one.startswith("mprof_")}
        exported = {one for one in self.symbols(FALLBACK, "--defined-only") if not one.startswith("mprof_")}
        self.assertEqual(exported, family)
        self.assertLessEqual(self.symbols(FALLBACK, "--undefined-only"), self.symbols(LIBRARY, "--undefined-only"))
        shown = subprocess.run(["readelf", "-dW", FALLBACK], capture_output=True, text=True, check=True).stdout
        needed = {line.split("[")[1].rstrip("]") for line in shown.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6"})


if __name__ == "__main__":
    unittest.main()
