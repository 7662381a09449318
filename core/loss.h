/* loss.h - counters of what was lost, by cause: a profile always says how complete it is. */
#ifndef MPROF_CORE_LOSS_H
#define MPROF_CORE_LOSS_H

#include "core/atomic.h"

#include <stdint.h>

enum loss {
#define LOSS(name, text) LOSS_##name,
#include "core/loss.def"
#undef LOSS
	LOSS_COUNT
};

extern uint64_t loss_counts[LOSS_COUNT]; /* atomic */

/* Each cause as `mprof status` and mprof_stats call it: "lost_other". */
extern const char *const loss_keys[LOSS_COUNT];

/* What a reader of the profile is told about each cause. */
extern const char *const loss_texts[LOSS_COUNT];

/* Context: any thread, any signal handler. */
static inline void loss_count(enum loss cause)
{
	add_relaxed(&loss_counts[cause], 1); /* a statistic: nothing is ordered by it */
}

#endif
