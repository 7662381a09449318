/* sampled.c - the cold half of the allocator: judges allocations, records sampled objects, notices their deaths. */
#include "preload/sampled.h"

#include "core/atomic.h"
#include "core/bucket.h"
#include "core/live.h"
#include "core/loss.h"
#include "core/stack.h"
#include "preload/early.h"
#include "preload/jemalloc.h"
#include "preload/profiler.h"

#include <errno.h>
#include <string.h>

#define PAGE ((size_t)4096)

/* What a live object's tag holds: its bucket, its place in a size class of [other], and the alignment it was asked with (a power
 * of two), so that malloc_usable_size can tell what an unsampled object would have. */
#define DETAIL_SHIFT BUCKET_ID_BITS
#define ALIGN_SHIFT (DETAIL_SHIFT + BUCKET_DETAIL_BITS)
_Static_assert(ALIGN_SHIFT + 6 <= LIVE_TAG_BITS, "bucket id, detail and log2 of the alignment fit a tag");

/* An allocation as the program asked for it. */
struct request {
	size_t size;
	size_t alignment; /* a power of two; 1 = malloc's own */
	bool zero;
};

static struct bucket *tag_bucket(uint64_t tag)
{
	return bucket_from_id(tag & (((uint64_t)1 << BUCKET_ID_BITS) - 1));
}

static uint64_t tag_size(uint64_t tag)
{
	return bucket_object_size(tag_bucket(tag), (tag >> DETAIL_SHIFT) & (((uint64_t)1 << BUCKET_DETAIL_BITS) - 1));
}

/* The usable size an unsampled object of that request has. Of [other] the size is known to 18 bits only: then at most that. */
static size_t usual_size(uint64_t tag)
{
	uint64_t size = tag_size(tag);

	return je_nallocx(size == 0 ? 1 : size, (int)(tag >> ALIGN_SHIFT));
}

static void count_death(uint64_t tag)
{
	bucket_count_free(tag_bucket(tag), tag_size(tag), profiler_thread_index());
}

static void *plain(const struct request *request)
{
	if (request->alignment > 1)
		return je_aligned_alloc(request->alignment, request->size);
	return request->zero ? je_calloc(1, request->size) : je_malloc(request->size);
}

/* The home of a sampled object: the start of a page while free tells sampled objects by that, else any place. */
static void *sampled_home(const struct request *request)
{
	int flags = request->zero ? JE_ZERO : 0;
	size_t alignment = request->alignment;
	void *ptr;

	if (load_relaxed(&profiler_filter_mask) == 0) /* relaxed: it only ever falls, and a page does no harm */
		return plain(request);
	if (alignment < PAGE)
		alignment = PAGE;
	ptr = request->size > PTRDIFF_MAX
		      ? NULL
		      : je_mallocx(request->size == 0 ? 1 : request->size, flags | JE_ALIGN(alignment));
	if (ptr == NULL)
		errno = ENOMEM;
	return ptr;
}

static void record(void *ptr, const struct request *request, uint64_t rate)
{
	unsigned index = profiler_thread_index();
	struct bucket *bucket;
	struct stack stack;
	uint64_t detail, tag;

	stack_capture(&stack, index);
	if (stack.depth == 0)
		loss_count(LOSS_no_stack);
	bucket = bucket_of(stack.frames, stack.depth, request->size, rate);
	stack_release(&stack);
	if (bucket == NULL)
		return;
	detail = bucket_detail(bucket, request->size);
	tag = bucket_id(bucket) | detail << DETAIL_SHIFT | (uint64_t)__builtin_ctzl(request->alignment) << ALIGN_SHIFT;
	bucket_count_alloc(bucket, bucket_object_size(bucket, detail), index);
	if (live_insert((uintptr_t)ptr, tag) < 0) {
		loss_count(LOSS_untracked);
		count_death(tag);
	}
	if (!load_relaxed(&profiler_sampled))
		store_relaxed(&profiler_sampled, true); /* relaxed: read at exit or on request */
}

/* Whether this allocation is to be sampled; *rate is then the rate it is sampled under. */
static bool wanted(size_t size, uint64_t *rate)
{
	struct sampler *sampler = &profiler_thread.sampler;
	int64_t now = load_relaxed(&profiler_rate); /* relaxed: as in malloc.c */

	if (now <= 0)
		return false;
	*rate = (uint64_t)now;
	return !sampler_skips(sampler, size) && sampler_judge(sampler, size, *rate);
}

/* Keep this thread's own allocations and its signal handlers' from being judged until leave(). False when they already are. */
static bool enter(struct thread *thread)
{
	if (load_relaxed(&thread->busy) != 0) {
		loss_count(LOSS_reentered);
		return false;
	}
	store_relaxed(&thread->busy, 1); /* relaxed: only this thread and its signal handlers look */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static void leave(struct thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	store_relaxed(&thread->busy, 0);
}

/* Judge an allocation and make it. */
static void *allocate(const struct request *request)
{
	int saved = errno;
	uint64_t rate;
	void *ptr;

	if (!enter(&profiler_thread))
		return plain(request);
	if (!wanted(request->size, &rate)) {
		ptr = plain(request);
	} else {
		ptr = sampled_home(request);
		if (ptr != NULL) {
			record(ptr, request, rate);
			errno = saved;
		}
	}
	leave(&profiler_thread);
	return ptr;
}

/* What every entry does before the library is relocated. */
static bool early_allocate(size_t alignment, size_t size, void **ptr)
{
	if (load_relaxed(&profiler_rate) != PROFILER_NOT_RELOCATED || !early_phase())
		return false;
	*ptr = early_alloc(alignment, size);
	return true;
}

COLD void *sampled_malloc(size_t size)
{
	void *ptr;

	if (early_allocate(1, size, &ptr))
		return ptr;
	return allocate(&(struct request){.size = size, .alignment = 1});
}

COLD void *sampled_calloc(size_t count, size_t size)
{
	void *ptr;

	if (early_allocate(1, count * size, &ptr))
		return ptr;
	return allocate(&(struct request){.size = count * size, .alignment = 1, .zero = true});
}

COLD void *sampled_aligned(size_t alignment, size_t size)
{
	void *ptr;

	if (early_allocate(alignment, size, &ptr))
		return ptr;
	return allocate(&(struct request){.size = size, .alignment = alignment});
}

/* Whether a realloc may leave the object to jemalloc: never when the old one, or the new one, has a page of its own. */
static bool may_stay(void *old, uint64_t tag, bool sampled)
{
	if (sampled && load_relaxed(&profiler_filter_mask) != 0)
		return false;
	return tag == 0 || je_malloc_usable_size(old) == usual_size(tag);
}

static void *move(void *old, size_t old_usable, const struct request *request, bool sampled)
{
	void *ptr = sampled ? sampled_home(request) : plain(request);

	if (ptr != NULL)
		memcpy(ptr, old, old_usable < request->size ? old_usable : request->size);
	return ptr;
}

/* realloc of an object that `tag` (taken out of the map already; 0 = not sampled) tells about. */
static void *reallocate(void *old, size_t size, uint64_t tag)
{
	struct request request = {.size = size, .alignment = 1};
	bool judged = enter(&profiler_thread);
	int saved = errno;
	uint64_t rate;
	bool sampled = judged && wanted(size, &rate);
	void *ptr;

	if (may_stay(old, tag, sampled)) {
		ptr = je_realloc(old, size);
	} else {
		ptr = move(old, je_malloc_usable_size(old), &request, sampled);
		if (ptr != NULL)
			je_free(old);
	}
	if (sampled && ptr != NULL) {
		record(ptr, &request, rate);
		errno = saved;
	}
	if (judged)
		leave(&profiler_thread);
	return ptr;
}

COLD void *sampled_realloc(void *old, size_t size)
{
	uint64_t tag;
	void *ptr;

	if (old == NULL)
		return sampled_malloc(size);
	if (size == 0) { /* as glibc */
		sampled_free(old);
		return NULL;
	}
	if (early_owns(old))
		return early_move(old, sampled_malloc(size), size);
	tag = live_remove((uintptr_t)old); /* before the address can be reused */
	ptr = reallocate(old, size, tag);
	if (tag == 0)
		return ptr;
	if (ptr != NULL)
		count_death(tag);
	else if (live_insert((uintptr_t)old, tag) < 0) { /* it lives on */
		loss_count(LOSS_untracked);
		count_death(tag);
	}
	return ptr;
}

COLD void sampled_free(void *ptr)
{
	uint64_t tag;

	if (ptr == NULL || early_owns(ptr))
		return;
	tag = live_remove((uintptr_t)ptr); /* before the address can be reused */
	if (tag != 0)
		count_death(tag);
	je_free(ptr);
}

COLD void sampled_free_sized(void *ptr, size_t size, size_t alignment)
{
	if (ptr == NULL || early_owns(ptr))
		return;
	if (live_find((uintptr_t)ptr) != 0) /* its home may be larger than its size says */
		sampled_free(ptr);
	else
		je_sdallocx(ptr, size, JE_ALIGN(alignment));
}

COLD size_t sampled_usable_size(void *ptr)
{
	uint64_t tag;
	size_t home;

	if (ptr == NULL)
		return 0;
	if (early_owns(ptr))
		return early_size(ptr);
	home = je_malloc_usable_size(ptr);
	tag = live_find((uintptr_t)ptr);
	if (tag == 0 || tag_bucket(tag)->is_other)
		return home;
	return usual_size(tag) < home ? usual_size(tag) : home;
}
