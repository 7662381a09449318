/* churn.cc - everything that takes the loader's lock or the unwinder's, at once: churn SECONDS PLUGIN PLUGIN (gperftools#1159,
 * async-profiler#1151).
 *
 * Each thread counts its rounds. Silence and status 0 when none of them ever stood still for five seconds. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static constexpr auto stuck_after = std::chrono::seconds(5);
static std::atomic<bool> stop;

static void *volatile kept;

static void allocate(size_t size)
{
	void *ptr = malloc(size);

	kept = ptr;
	free(ptr);
}

static int allocate_in_callback(dl_phdr_info *, size_t, void *)
{
	allocate(30);
	return 0;
}

static void iterate(const char *)
{
	dl_iterate_phdr(allocate_in_callback, nullptr);
}

static void open_and_close(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == nullptr) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	reinterpret_cast<void (*)()>(dlsym(library, "run"))();
	dlclose(library);
}

struct Loud {
	~Loud()
	{
		allocate(50);
	}
};

static void throw_from(int depth)
{
	Loud loud;

	if (depth == 0)
		throw std::runtime_error(std::string(100, 'x'));
	throw_from(depth - 1);
}

static void throw_and_catch(const char *)
{
	try {
		throw_from(10);
	} catch (const std::exception &error) {
		allocate(sizeof(error));
	}
}

static void only_allocate(const char *)
{
	for (size_t size = 1; size < 100; size++)
		allocate(size);
}

struct Worker {
	const char *name;
	void (*round)(const char *);
	const char *argument;
	std::atomic<unsigned long> rounds{0};
	unsigned long seen = 0;
	Clock::time_point moved = Clock::now();
	std::thread thread;

	void run()
	{
		while (!stop) {
			round(argument);
			rounds++;
		}
	}

	void watch()
	{
		if (rounds != seen) {
			seen = rounds;
			moved = Clock::now();
		} else if (Clock::now() - moved > stuck_after) {
			fprintf(stderr, "%s has been stuck for 5 s\n", name);
			abort();
		}
	}
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	Worker workers[] = {
		{"open_and_close one", open_and_close, argv[2]},
		{"open_and_close other", open_and_close, argv[3]},
		{"iterate", iterate, nullptr},
		{"throw_and_catch", throw_and_catch, nullptr},
		{"throw_and_catch too", throw_and_catch, nullptr},
		{"only_allocate", only_allocate, nullptr},
	};
	auto end = Clock::now() + std::chrono::seconds(atoi(argv[1]));

	for (Worker &worker : workers)
		worker.thread = std::thread(&Worker::run, &worker);
	while (Clock::now() < end) {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		for (Worker &worker : workers)
			worker.watch();
	}
	stop = true;
	for (Worker &worker : workers)
		worker.thread.join();
	return 0;
}
