/* encode.h - a snapshot written as a pprof heap profile (uncompressed protobuf), streaming. */
#ifndef MPROF_PPROF_ENCODE_H
#define MPROF_PPROF_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct sink;
struct snapshot;

struct encode_input {
	const struct snapshot *snapshot;
	uint64_t period;    /* bytes: the rate in force now */
	int64_t time_nanos; /* wall clock at the start of writing */
	bool peak;	    /* two more sample types: what was in use at the highest estimate of live bytes */
	bool raw;     /* counts as they are, and each sample's rate in a label, for readers that subtract profiles */
	bool symbols; /* names from ELF symbol tables; false = addresses only */
	const char *const *comments; /* comment_count lines */
	size_t comment_count;
};

/* Write the profile described in the README ("Reading a profile") to `out`. Memory comes from `scratch` and is proportional
 * to the number of distinct addresses, not of buckets. Returns 0, -ENOMEM (scratch full) or the sink's error.
 * Context: any thread, any signal handler; no malloc, no lock, no stdio; at most 4 KiB of stack. */
int encode_profile(const struct encode_input *input, struct arena *scratch, struct sink *out);

#endif
