/* inlined.cc - allocations in functions of every kind that compilers inline: inlined [ROUNDS].
 *
 * A comment SITE behind a line names the allocation in it, CALL the line that its function is called from. The test compiles this file
 * itself, optimized, by several compilers; each line must be found again whatever was inlined into what. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

static void *volatile kept;

namespace shapes
{
template <typename T> struct box {
	T *items;
	explicit box(size_t n) : items(new T[n]) // SITE box
	{
		kept = items;
	}
	~box()
	{
		delete[] items;
	}
	template <int N> inline T *grow()
	{
		T *more = static_cast<T *>(malloc(N * sizeof(T))); // SITE grow

		kept = more;
		free(more);
		return items;
	}
};

namespace
{
inline void hidden(size_t n)
{
	kept = malloc(n); // SITE hidden
	free(kept);
}
} // namespace

static inline void local_to_file(size_t n)
{
	hidden(n); // CALL hidden
}

inline void twice(size_t n)
{
	for (int i = 0; i < 2; i++)
		local_to_file(n); // CALL local_to_file
}
} // namespace shapes

__attribute__((noinline)) static int with_lambda(int n)
{
	struct local {
		static void *make(int size)
		{
			return malloc(static_cast<size_t>(size)); // SITE local
		}
	};
	auto make = [n](int factor) {
		kept = local::make(n * factor); // CALL local
		free(kept);
		return factor;
	};
	return make(2) + make(3);
}

__attribute__((noinline)) static size_t with_containers(int n)
{
	std::map<int, std::vector<std::string>> names;
	std::vector<std::unique_ptr<int>> numbers;

	for (int i = 0; i < n; i++) {
		names[i % 7].push_back(std::string(40, 'x'));
		numbers.push_back(std::make_unique<int>(i));
	}
	std::sort(numbers.begin(), numbers.end(),
		  [](const std::unique_ptr<int> &a, const std::unique_ptr<int> &b) { return *b < *a; });
	return names.size() + numbers.size();
}

extern "C" __attribute__((noinline)) void plain_c(int n)
{
	shapes::box<long> longs(static_cast<size_t>(n)); // CALL box

	longs.grow<100>();		       // CALL grow
	shapes::twice(static_cast<size_t>(n)); // CALL twice
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	plain_c(rounds);
	printf("%d %zu\n", with_lambda(rounds), with_containers(rounds));
	return 0;
}
