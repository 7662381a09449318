/* loss.c - counters of what was lost, by cause. */
#include "core/loss.h"

uint64_t loss_counts[LOSS_COUNT];

const char *const loss_texts[LOSS_COUNT] = {
#define LOSS(name, text) [LOSS_##name] = text,
#include "core/loss.def"
#undef LOSS
};

const char *const loss_keys[LOSS_COUNT] = {
#define LOSS(name, text) "lost_" #name,
#include "core/loss.def"
#undef LOSS
};
