/* bucket.c - counters of sampled objects, one bucket per (stack, size, rate).
 *
 * A fixed table of chains. A look-up loads the head and walks nodes that never change and never go away; a new node is built
 * complete and put in front with one compare-and-swap, after the nodes that came in meanwhile have been looked through. So no
 * thread ever waits for another one, and a forked child or a signal handler needs no care. Rejected: an insertion lock,
 * which would have to be taken around fork and could be held by a thread that is not running. */
#include "core/bucket.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/loss.h"

#include <errno.h>
#include <string.h>

#define HOT_COUNT 256 /* allocs after which a bucket gets shards */
#define LINE 64

/* A size class of [other] is a quarter of a power of two; its detail has BUCKET_DETAIL_BITS bits. */
#define CLASS_QUARTER_BITS 2

static const uint64_t no_frames[1]; /* memcmp and memcpy want a pointer even for no bytes */

static struct arena *memory;
static struct bucket **heads; /* atomic cells */
static size_t head_count;     /* a power of two */
static size_t stack_limit;    /* arena bytes up to which buckets with a stack are made */
static uint64_t bucket_count; /* atomic */

int bucket_init(struct arena *arena)
{
	memory = arena;
	bucket_count = 0;
	/* A head per KiB of ceiling: at most about two of the smallest buckets a chain when the arena is full. */
	for (head_count = 1024; head_count * 1024 < arena->limit_bytes; head_count *= 2) {
	}
	/* The last quarter is kept for live objects, modules and [other]. */
	stack_limit = arena->limit_bytes / 4 * 3;
	heads = arena_alloc(arena, head_count * sizeof(heads[0]), 4096);
	if (heads == NULL)
		head_count = 0;
	return heads == NULL ? -ENOMEM : 0;
}

/* Multiply to 128 bits and fold: every input bit reaches every output bit. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_site(const uint64_t *frames, size_t depth, uint64_t size)
{
	uint64_t hash = mix(size ^ 0x2D358DCCAA6C78A5, depth ^ 0x8BB84B93962EACC9);
	size_t i = 0;

	for (; i + 1 < depth; i += 2)
		hash = mix(frames[i] ^ hash, frames[i + 1] ^ 0x4B33A62ED433D4A3);
	if (i < depth)
		hash = mix(frames[i] ^ hash, 0x4D5A2DA51DE1AA47);
	return hash;
}

/* What a bucket is looked up by. */
struct key {
	const uint64_t *frames;
	size_t depth;
	uint64_t size, rate;
	uint32_t hash;
	bool is_other;
};

static bool matches(const struct bucket *bucket, const struct key *key)
{
	return bucket->hash == key->hash && bucket->size == key->size && bucket->rate == key->rate &&
	       bucket->depth == key->depth && bucket->is_other == key->is_other &&
	       memcmp(bucket->frames, key->frames, key->depth * sizeof(key->frames[0])) == 0;
}

/* Search a chain from `from` up to, not including, `until`. */
static struct bucket *search(struct bucket *from, const struct bucket *until, const struct key *key)
{
	for (struct bucket *bucket = from; bucket != until; bucket = bucket->next) {
		if (matches(bucket, key))
			return bucket;
	}
	return NULL;
}

static struct bucket *build(const struct key *key)
{
	size_t bytes = offsetof(struct bucket, frames) + key->depth * sizeof(key->frames[0]);
	struct bucket *bucket;

	if (bytes < sizeof(*bucket))
		bytes = sizeof(*bucket);
	bytes = (bytes + LINE - 1) & ~(size_t)(LINE - 1);
	bucket = arena_alloc_below(memory, bytes, LINE, key->is_other ? memory->limit_bytes : stack_limit);
	if (bucket == NULL)
		return NULL;
	bucket->size = key->size;
	bucket->rate = key->rate;
	bucket->hash = key->hash;
	bucket->depth = (uint16_t)key->depth;
	bucket->is_other = key->is_other;
	memcpy(bucket->frames, key->frames, key->depth * sizeof(key->frames[0]));
	return bucket;
}

static struct bucket *find_or_make(const struct key *key)
{
	struct bucket **cell = &heads[key->hash & (head_count - 1)];
	struct bucket *head = load_acquire(cell); /* pairs with the cas_release below: nodes are complete */
	struct bucket *found = search(head, NULL, key);
	struct bucket *made;

	if (found != NULL)
		return found;
	made = build(key);
	if (made == NULL)
		return NULL;
	made->next = head;
	/* Publishes the complete node. When others came first, only their nodes are new to us; a twin among them wins, and
	 * the memory of ours is given up: rare, and bounded by the number of threads. */
	while (!cas_release(cell, &head, made)) {
		found = search(head, made->next, key);
		if (found != NULL)
			return found;
		made->next = head;
	}
	add_relaxed(&bucket_count, 1); /* a statistic */
	return made;
}

/* log2 of the width of the size class that `size` is in. */
static unsigned class_width_bits(uint64_t size)
{
	unsigned top = 63 - (unsigned)__builtin_clzll(size | 1);

	return top > CLASS_QUARTER_BITS ? top - CLASS_QUARTER_BITS : 0;
}

/* log2 of the unit in which a place in that class is remembered. */
static unsigned detail_unit_bits(uint64_t size)
{
	unsigned width = class_width_bits(size);

	return width > BUCKET_DETAIL_BITS ? width - BUCKET_DETAIL_BITS : 0;
}

static struct bucket *other_of(uint64_t size, uint64_t rate)
{
	uint64_t lower = size >> class_width_bits(size) << class_width_bits(size);
	struct key key = {.frames = no_frames, .size = lower, .rate = rate, .is_other = true};
	struct bucket *bucket;

	key.hash = (uint32_t)hash_site(no_frames, 0, ~lower);
	bucket = find_or_make(&key);
	loss_count(bucket != NULL ? LOSS_other : LOSS_dropped);
	return bucket;
}

struct bucket *bucket_of(const uint64_t *frames, size_t depth, uint64_t size, uint64_t rate)
{
	struct key key = {.frames = depth == 0 ? no_frames : frames, .depth = depth, .size = size, .rate = rate};
	struct bucket *bucket;

	key.hash = (uint32_t)hash_site(key.frames, depth, size);
	bucket = find_or_make(&key);
	return bucket != NULL ? bucket : other_of(size, rate);
}

uint64_t bucket_detail(const struct bucket *bucket, uint64_t size)
{
	return bucket->is_other ? (size - bucket->size) >> detail_unit_bits(size) : 0;
}

uint64_t bucket_object_size(const struct bucket *bucket, uint64_t detail)
{
	return bucket->size + (detail << detail_unit_bits(bucket->size));
}

/* The counters this thread should use. */
static struct bucket_counts *counts_of(struct bucket *bucket, unsigned shard)
{
	struct bucket_shard *shards = load_acquire(&bucket->shards); /* pairs with the cas_release in spread */

	return shards == NULL ? &bucket->counts : &shards[shard % BUCKET_SHARDS].counts;
}

/* Give a bucket that turned out to be hot counters on lines of their own. */
static void spread(struct bucket *bucket)
{
	struct bucket_shard *none = NULL;
	struct bucket_shard *shards =
		arena_alloc_below(memory, BUCKET_SHARDS * sizeof(struct bucket_shard), LINE, stack_limit);

	if (shards != NULL)
		cas_release(&bucket->shards, &none, shards); /* publishes zeroed counters */
}

void bucket_count_alloc(struct bucket *bucket, uint64_t size, unsigned shard)
{
	struct bucket_counts *counts = counts_of(bucket, shard);
	/* Relaxed: the program orders an object's allocation before its free; see bucket_count_free. */
	uint64_t before = add_relaxed(&counts->allocs, 1);

	if (bucket->is_other)
		add_relaxed(&bucket->bytes.allocs, size);
	if (before == HOT_COUNT && counts == &bucket->counts)
		spread(bucket);
}

void bucket_count_free(struct bucket *bucket, uint64_t size, unsigned shard)
{
	/* Release: pairs with the load_acquire in bucket_sum_frees; who sees this free also sees the allocation. */
	add_release(&counts_of(bucket, shard)->frees, 1);
	if (bucket->is_other)
		add_release(&bucket->bytes.frees, size);
}

uint64_t bucket_sum_frees(const struct bucket *bucket)
{
	const struct bucket_shard *shards = load_acquire(&bucket->shards); /* pairs with the cas_release in spread */
	/* Acquire: pairs with the add_release in bucket_count_free: the allocations of these frees are visible to
	 * the loads that follow. */
	uint64_t sum = load_acquire(&bucket->counts.frees);

	for (unsigned i = 0; shards != NULL && i < BUCKET_SHARDS; i++)
		sum += load_acquire(&shards[i].counts.frees);
	return sum;
}

uint64_t bucket_sum_allocs(const struct bucket *bucket)
{
	const struct bucket_shard *shards = load_acquire(&bucket->shards); /* pairs with the cas_release in spread */
	uint64_t sum = load_relaxed(&bucket->counts.allocs); /* relaxed: after the acquire in bucket_sum_frees */

	for (unsigned i = 0; shards != NULL && i < BUCKET_SHARDS; i++)
		sum += load_relaxed(&shards[i].counts.allocs);
	return sum;
}

struct bucket_held bucket_hold(const struct bucket *bucket)
{
	struct bucket_held held;

	if (bucket->is_other) {
		/* Acquire, and before the allocs: as in bucket_sum_frees. */
		held.bytes = load_acquire(&bucket->bytes.frees);
		held.bytes = load_relaxed(&bucket->bytes.allocs) - held.bytes;
	}
	held.objects = bucket_sum_frees(bucket);
	held.objects = bucket_sum_allocs(bucket) - held.objects;
	if (!bucket->is_other)
		held.bytes = held.objects * bucket->size;
	return held;
}

uint64_t bucket_id(const struct bucket *bucket)
{
	return ((uintptr_t)bucket - memory->base) / LINE;
}

struct bucket *bucket_from_id(uint64_t id)
{
	return (struct bucket *)(memory->base + id * LINE);
}

uint64_t bucket_total(void)
{
	return load_relaxed(&bucket_count); /* a statistic */
}

size_t bucket_head_count(void)
{
	return head_count;
}

struct bucket *const *bucket_heads(void)
{
	return heads;
}

bool bucket_same_site(const struct bucket *a, const struct bucket *b)
{
	return a->hash == b->hash && a->size == b->size && a->depth == b->depth && a->is_other == b->is_other &&
	       memcmp(a->frames, b->frames, a->depth * sizeof(a->frames[0])) == 0;
}
