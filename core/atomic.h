/* atomic.h - atomic operations with the memory order in the name. */
#ifndef MPROF_CORE_ATOMIC_H
#define MPROF_CORE_ATOMIC_H

/* Each takes a pointer to a naturally aligned integer or pointer of at most 8 bytes. All are lock-free and
 * async-signal-safe. The read-modify-write forms return the value from before, as the C11 functions do. */

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define load_seq_cst(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define store_seq_cst(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define add_seq_cst(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)

#define exchange_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define exchange_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)

/* Compare-and-swap: true when *p was *expected and is now v; else *expected is what was found. */
#define cas_relaxed(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define cas_acquire(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
/* Success publishes (release); failure re-reads what somebody else published (acquire). */
#define cas_release(p, expected, v) \
	__atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)

#endif
