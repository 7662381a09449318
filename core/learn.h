/* learn.h - asks libunwind, once per return address, what the unwind rule is. */
#ifndef MPROF_CORE_LEARN_H
#define MPROF_CORE_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Load libunwind's generic library privately, from `directory` (of libmprof.so; may be NULL) or else from the system. Call once,
 * from the library's constructor. Returns 0; -ENOENT when there is no libunwind; -ENOMEM. */
int learn_init(struct arena *arena, const char *directory);

/* The packed rule (core/rules.h) of a frame word that rules_find does not know: asks libunwind, and adds it to the table.
 * RULE_NONE packed when libunwind is not there, or when another thread holds the learning lock for unreasonably long (which
 * only a fork that runs no fork handlers can bring about: nothing is called under the lock that waits for anybody).
 * Context: any thread, any signal handler; not re-entrant in one thread. Blocks signals meanwhile; needs 1 KiB of stack. */
uint64_t learn_rule(uint64_t frame);

/* Around fork, so that a child finds the lock free and libunwind in one piece. */
void learn_before_fork(void);
void learn_after_fork(void);

/* "libunwind", or NULL when it could not be loaded. */
const char *learn_unwinder(void);

#endif
