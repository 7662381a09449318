/* legacy.h - a snapshot written as text, the form of Go's heap profile at debug=1. */
#ifndef MPROF_PPROF_LEGACY_H
#define MPROF_PPROF_LEGACY_H

struct arena;
struct encode_input;
struct sink;

/* Write the profile to `out`: a header, the comments as "# " lines, a line per (stack, size), and the text of
 * /proc/self/maps, by which readers find the binaries. Of `input` the time and the wish for symbols are not used: the
 * form has no place for them. Counts are raw and the header says the rate, which readers then unsample by. A profile
 * that holds samples of several rates, which the form cannot say, is written unsampled, as one of rate 1: its values
 * are right, but look exact. Memory: 32 KiB of `scratch`. Returns 0, -ENOMEM (scratch full) or the sink's error.
 * Context: any thread, any signal handler; no malloc, no lock, no stdio.
 * Source: Go, runtime/pprof, writeHeapInternal; google/pprof, profile/legacy_profile.go, parseHeap. */
int legacy_profile(const struct encode_input *input, struct arena *scratch, struct sink *out);

#endif
