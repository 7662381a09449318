/* error.h - standard errors: how far an estimate of a sampled heap profile may be from the truth. */
#ifndef MPROF_TOOLS_ERROR_H
#define MPROF_TOOLS_ERROR_H

#include "pprof/decode.h"

#include <stdbool.h>

/* Where the figures come from.
 *
 * Sampling is a Poisson process over bytes with one point per `rate` bytes on average. An object of s bytes is sampled
 * when at least one point falls on it, so with probability
 *
 *     p = 1 - exp(-s / rate),
 *
 * and independently of every other object, since they cover different bytes. Let I be 1 for a sampled object, else 0: a
 * Bernoulli variable with mean p and variance p (1 - p). The profile counts each sampled object as s/p bytes and 1/p
 * objects, which is the Horvitz-Thompson estimator: E[I s/p] = s, so the sum over all objects is right on average, and
 *
 *     Var[sum I s/p] = sum over all objects of s^2 (1 - p) / p.
 *
 * Not all objects are known, but the sampled ones stand for them at 1/p each, which gives an unbiased estimate of that
 * variance:
 *
 *     sum over sampled objects of s^2 (1 - p) / p^2        (bytes)
 *     sum over sampled objects of     (1 - p) / p^2        (objects: s becomes 1)
 *
 * A profile does not hold the number n of sampled objects behind a sample, but its values do: bytes = n s/p, so n =
 * bytes p/s. The writer cuts values to integers; of a number of bytes that is less than one part in s/p >= rate and
 * does not matter, of a number of objects it may be nearly half (one sampled object of 512 KiB stands for 1.58 objects,
 * and 1 is written), so bytes are what n is taken from. What is in use is a part of the objects that does not depend on
 * the sampling: the same holds for it.
 *
 * Rows add variances, the objects being independent. With n equal objects much smaller than the rate the relative
 * standard error is 1/sqrt(n); it vanishes for objects several times the rate, which are all seen. The truth lies
 * within one standard error in 68 of 100 cases and within two in 95 (for n of about ten and more, when the sum is
 * nearly normal).
 *
 * Source: D. G. Horvitz, D. J. Thompson, A generalization of sampling without replacement from a finite universe
 * (Journal of the American Statistical Association, 1952). */

/* How the values of a profile came to be. */
enum error_kind {
	ERROR_NONE,	 /* nothing sampled by bytes: a CPU profile, say */
	ERROR_EXACT,	 /* every allocation was recorded */
	ERROR_SAMPLED,	 /* at the profile's period throughout */
	ERROR_RESAMPLED, /* at several rates, of which the profile holds the last: errors are those of that one */
	ERROR_UNKNOWN,	 /* the same, and the last one (0 or 1) has no errors of its own */
};

struct error_model {
	enum error_kind kind;
	double rate;	    /* mean bytes between samples */
	int space, objects; /* indexes of the type that counts the same in bytes and in objects; -1 = not there */
	bool in_bytes;	    /* the values asked about are those of `space` */
};

/* Of one sample, or of several added up. */
struct error {
	double samples;	 /* sampled objects behind the value */
	double variance; /* of the value; its square root is the standard error */
};

/* Whether the values have errors that can be shown. */
static inline bool error_is_known(const struct error_model *model)
{
	return model->kind == ERROR_SAMPLED || model->kind == ERROR_RESAMPLED;
}

/* 1 - exp(-size / rate): how likely an object is sampled. rate <= 1: surely. */
double error_probability(double size, double rate);

/* The error of `bytes` estimated for objects of `size` bytes each, in bytes or in objects. Context: pure. */
struct error error_estimate(double bytes, double size, double rate, bool in_bytes);

/* Find out what is needed to judge the values of one sample type. Whether the rate ever changed is told from the
 * values: each must come from a whole number of sampled objects. */
struct error_model error_model_of(const Perftools__Profiles__Profile *profile, int type);

/* The error of one sample's value; zeros where the model's kind gives none. The size of the objects is the label
 * `bytes`, or, without one and where sizes are mixed ([other]), their average. */
struct error error_of_sample(const struct error_model *model, const Perftools__Profiles__Profile *profile,
			     const Perftools__Profiles__Sample *sample);

/* The size that error_of_sample takes the sample's objects to have; 0 when it cannot be told. */
double error_object_size(const struct error_model *model, const Perftools__Profiles__Profile *profile,
			 const Perftools__Profiles__Sample *sample);

#endif
