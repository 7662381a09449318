/* operators.cc - every replaceable operator new and delete of C++17, each pair at a site of its own; one of two blocks dies. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#define SITE extern "C" __attribute__((noinline)) void

static void *kept[32];
static int kept_count;
static volatile std::size_t huge = PTRDIFF_MAX / 2;
static const std::align_val_t wide{256};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	std::fprintf(stderr, "operators: %s\n", what);
	std::exit(1);
}

static void keep(void *p)
{
	must(p != nullptr, "a null block");
	kept[kept_count++] = p;
}

/* Allocate two blocks at one site, give one back. */
#define PAIR(name, allocate, release) \
	SITE name() \
	{ \
		for (int i = 0; i < 2; i++) { \
			void *p = allocate; \
			if (i == 0) \
				keep(p); \
			else \
				release; \
		} \
	}

PAIR(site_new, operator new(40), operator delete(p))
PAIR(site_new_array, operator new[](40), operator delete[](p))
PAIR(site_new_sized, operator new(40), operator delete (p, std::size_t{40}))
PAIR(site_new_array_sized, operator new[](40), operator delete[](p, std::size_t{40}))
PAIR(site_new_nothrow, operator new(40, std::nothrow), operator delete(p, std::nothrow))
PAIR(site_new_array_nothrow, operator new[](40, std::nothrow), operator delete[](p, std::nothrow))
PAIR(site_new_aligned, operator new(40, wide), operator delete(p, wide))
PAIR(site_new_array_aligned, operator new[](40, wide), operator delete[](p, wide))
PAIR(site_new_aligned_sized, operator new(40, wide), operator delete (p, std::size_t{40}, wide))
PAIR(site_new_array_aligned_sized, operator new[](40, wide), operator delete[](p, std::size_t{40}, wide))
PAIR(site_new_aligned_nothrow, operator new(40, wide, std::nothrow), operator delete(p, wide, std::nothrow))
PAIR(site_new_array_aligned_nothrow, operator new[](40, wide, std::nothrow), operator delete[](p, wide, std::nothrow))

static int handler_calls;

static void on_exhausted()
{
	if (++handler_calls == 3)
		std::set_new_handler(nullptr);
}

template <typename Allocate> static bool throws(Allocate allocate)
{
	try {
		kept[31] = allocate();
		return false;
	} catch (const std::bad_alloc &) {
		return true;
	}
}

static void failures()
{
	must(throws([] { return operator new(huge); }), "new does not throw");
	must(throws([] { return operator new[](huge); }), "new[] does not throw");
	must(throws([] { return operator new(huge, wide); }), "aligned new does not throw");
	must(throws([] { return operator new[](huge, wide); }), "aligned new[] does not throw");
	must(operator new(huge, std::nothrow) == nullptr, "nothrow new gives a block");
	must(operator new[](huge, std::nothrow) == nullptr, "nothrow new[] gives a block");
	must(operator new(huge, wide, std::nothrow) == nullptr, "aligned nothrow new gives a block");
	must(operator new[](huge, wide, std::nothrow) == nullptr, "aligned nothrow new[] gives a block");
	std::set_new_handler(on_exhausted);
	must(throws([] { return operator new(huge); }) && handler_calls == 3,
	     "the new-handler is not called until it gives up");
}

int main()
{
	site_new();
	site_new_array();
	site_new_sized();
	site_new_array_sized();
	site_new_nothrow();
	site_new_array_nothrow();
	site_new_aligned();
	site_new_array_aligned();
	site_new_aligned_sized();
	site_new_array_aligned_sized();
	site_new_aligned_nothrow();
	site_new_array_aligned_nothrow();
	for (int i = 0; i < kept_count; i++)
		must(reinterpret_cast<std::uintptr_t>(kept[i]) % (i < 6 ? 8 : 256) == 0, "an alignment is not kept");
	failures();
	std::puts("operators");
	return 0;
}
