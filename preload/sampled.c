/* sampled.c - the cold half of the allocator: judges allocations, records sampled objects, notices their deaths. */
#include "preload/sampled.h"

#include "core/atomic.h"
#include "core/bucket.h"
#include "core/live.h"
#include "core/loss.h"
#include "core/peak.h"
#include "core/stack.h"
#include "preload/early.h"
#include "preload/jemalloc.h"
#include "preload/profiler.h"
#include "preload/rate.h"
#include "preload/trigger.h"

#include <errno.h>
#include <string.h>

#define PAGE ((size_t)4096)

/* What a live object's tag holds: its bucket, its place in a size class of [other], the alignment it was asked with (a
 * power of two), so that malloc_usable_size can tell what an unsampled object would have, and whether it lives anywhere
 * (preload/rate.h). */
#define DETAIL_SHIFT BUCKET_ID_BITS
#define ALIGN_SHIFT (DETAIL_SHIFT + BUCKET_DETAIL_BITS)
#define ALIGN_BITS 6
#define TAG_ANYWHERE ((uint64_t)1 << (ALIGN_SHIFT + ALIGN_BITS))
_Static_assert(ALIGN_SHIFT + ALIGN_BITS + 1 <= LIVE_TAG_BITS,
	       "bucket id, detail, log2 of the alignment and a flag fit a tag");

/* An allocation as the program asked for it. */
struct request {
	size_t size;
	size_t alignment; /* a power of two; 1 = malloc's own */
	bool zero;
};

/* What was decided about an allocation. */
struct verdict {
	bool sampled;
	bool anywhere; /* if sampled: it need not start a page, and rate_end_anywhere is owed */
	uint64_t rate; /* if sampled: the rate it was judged by, and so is recorded under */
};

static struct bucket *tag_bucket(uint64_t tag)
{
	return bucket_from_id(tag & (((uint64_t)1 << BUCKET_ID_BITS) - 1));
}

static uint64_t tag_size(uint64_t tag)
{
	return bucket_object_size(tag_bucket(tag), (tag >> DETAIL_SHIFT) & (((uint64_t)1 << BUCKET_DETAIL_BITS) - 1));
}

/* The usable size an unsampled object of that request has. Of [other] the size is known to 18 bits only: then at most
 * that. */
static size_t usual_size(uint64_t tag)
{
	uint64_t size = tag_size(tag);

	return je_nallocx(size == 0 ? 1 : size, (int)(tag >> ALIGN_SHIFT & ((1U << ALIGN_BITS) - 1)));
}

static void count_death(uint64_t tag)
{
	struct bucket *bucket = tag_bucket(tag);
	unsigned index = profiler_thread_index();

	if (peak_followed) {
		peak_before_change(bucket);
		peak_subtract(tag_size(tag), bucket->rate);
	}
	bucket_count_free(bucket, tag_size(tag), index);
	if ((tag & TAG_ANYWHERE) != 0)
		rate_end_anywhere(index);
}

static void *plain(const struct request *request)
{
	if (request->alignment > 1)
		return je_aligned_alloc(request->alignment, request->size);
	return request->zero ? je_calloc(1, request->size) : je_malloc(request->size);
}

/* The start of a page. */
static void *page_home(const struct request *request)
{
	int flags = request->zero ? JE_ZERO : 0;
	size_t alignment = request->alignment < PAGE ? PAGE : request->alignment;
	void *ptr = NULL;

	if (request->size <= PTRDIFF_MAX)
		ptr = je_mallocx(request->size == 0 ? 1 : request->size, flags | JE_ALIGN(alignment));
	if (ptr == NULL)
		errno = ENOMEM;
	return ptr;
}

static void *home(const struct request *request, const struct verdict *verdict)
{
	return verdict->sampled && !verdict->anywhere ? page_home(request) : plain(request);
}

static void count_birth(struct bucket *bucket, uint64_t size, unsigned index)
{
	if (peak_followed)
		peak_before_change(bucket);
	bucket_count_alloc(bucket, size, index);
	if (peak_followed)
		peak_add(size, bucket->rate);
}

/* Find the object's bucket and remember it as alive. False when it is not: its death will go unseen. */
static bool track(void *ptr, const struct request *request, const struct verdict *verdict, unsigned index)
{
	struct bucket *bucket;
	struct stack stack;
	uint64_t detail, tag;

	stack_capture(&stack, index);
	if (stack.depth == 0)
		loss_count(LOSS_no_stack);
	bucket = bucket_of(stack.frames, stack.depth, request->size, verdict->rate);
	stack_release(&stack);
	if (bucket == NULL)
		return false;
	detail = bucket_detail(bucket, request->size);
	tag = bucket_id(bucket) | detail << DETAIL_SHIFT | (uint64_t)__builtin_ctzl(request->alignment) << ALIGN_SHIFT;
	if (verdict->anywhere)
		tag |= TAG_ANYWHERE;
	count_birth(bucket, bucket_object_size(bucket, detail), index);
	if (live_insert((uintptr_t)ptr, tag) == 0)
		return true;
	loss_count(LOSS_untracked);
	count_death(tag & ~TAG_ANYWHERE); /* for which record() gives the leave back */
	return false;
}

/* Record a sampled allocation; ptr is NULL when it failed. */
static void record(void *ptr, const struct request *request, const struct verdict *verdict)
{
	unsigned index = profiler_thread_index();
	bool tracked = ptr != NULL && track(ptr, request, verdict, index);

	if (verdict->anywhere && !tracked) /* whoever frees it need not look it up */
		rate_end_anywhere(index);
	if (ptr == NULL)
		return;
	if (!load_relaxed(&profiler_sampled))
		store_relaxed(&profiler_sampled, true); /* relaxed: read at exit or on request */
	if (unlikely(trigger_watches))
		trigger_sampled(peak_live());
}

/* Decide whether an allocation is to be sampled, under which rate, and where it may live. */
static struct verdict judge_slow(size_t size)
{
	struct sampler *sampler = &profiler_thread.sampler;
	uint64_t rate = rate_get();

	if (rate == 0 || sampler_skips(sampler, size))
		return (struct verdict){.sampled = false};
	rate = sampler_judge(sampler, size, rate);
	if (rate == 0)
		return (struct verdict){.sampled = false};
	return (struct verdict){
		.sampled = true, .rate = rate, .anywhere = rate_begin_anywhere(rate, profiler_thread_index())};
}

/* Keep this thread's own allocations and its signal handlers' from being judged until leave(). False when they already
 * are. */
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
	struct verdict verdict;
	int saved = errno;
	void *ptr;

	if (!enter(&profiler_thread))
		return plain(request);
	verdict = judge_slow(request->size);
	ptr = home(request, &verdict);
	if (verdict.sampled) {
		record(ptr, request, &verdict);
		if (ptr != NULL)
			errno = saved;
	}
	if (unlikely(ptr == NULL))
		trigger_out_of_memory();
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

/* Whether a realloc may leave the object to jemalloc: never when the old one has a page of its own, or the new one has
 * to. */
static bool may_stay(void *old, uint64_t tag, const struct verdict *verdict)
{
	if (verdict->sampled && !verdict->anywhere)
		return false;
	return tag == 0 || je_malloc_usable_size(old) == usual_size(tag);
}

static void *move(void *old, const struct request *request, const struct verdict *verdict)
{
	size_t usable = je_malloc_usable_size(old);
	void *ptr = home(request, verdict);

	if (ptr != NULL) {
		memcpy(ptr, old, usable < request->size ? usable : request->size);
		je_free(old);
	}
	return ptr;
}

/* realloc of an object that `tag` (taken out of the map already; 0 = not sampled) tells about. */
static void *reallocate(void *old, size_t size, uint64_t tag)
{
	struct request request = {.size = size, .alignment = 1};
	struct verdict verdict = {.sampled = false};
	bool entered = enter(&profiler_thread);
	int saved = errno;
	void *ptr;

	if (entered)
		verdict = judge_slow(size);
	ptr = may_stay(old, tag, &verdict) ? je_realloc(old, size) : move(old, &request, &verdict);
	if (ptr != NULL && tag != 0) /* before the new one is counted: they are never both in use (core/peak.h) */
		count_death(tag);
	if (verdict.sampled)
		record(ptr, &request, &verdict);
	if (unlikely(ptr == NULL))
		trigger_out_of_memory();
	errno = ptr == NULL ? ENOMEM : saved; /* jemalloc's realloc does not set it */
	if (entered)
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
	if (ptr == NULL && live_insert((uintptr_t)old, tag) < 0) { /* it lives on */
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
	/* The home of an object that starts a page may be larger than its size says, also of one whose record was
	 * lost. */
	if (((uintptr_t)ptr & (PAGE - 1)) == 0 || live_find((uintptr_t)ptr) != 0)
		sampled_free(ptr);
	else
		je_sdallocx(ptr, size, JE_ALIGN(alignment));
}

COLD size_t sampled_usable_size(void *ptr)
{
	uint64_t tag;
	size_t usable;

	if (ptr == NULL)
		return 0;
	if (early_owns(ptr))
		return early_size(ptr);
	usable = je_malloc_usable_size(ptr);
	tag = live_find((uintptr_t)ptr);
	if (tag == 0 || tag_bucket(tag)->is_other)
		return usable;
	return usual_size(tag) < usable ? usual_size(tag) : usable;
}
