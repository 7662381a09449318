/* doctor_profile.c - a profile: is it empty, what has it lost, why has it no names, and are its stacks whole? */
#include "tools/doctor.h"

#include "core/loss.h"
#include "pprof/decode.h"
#include "tools/absence.h"
#include "tools/format.h"
#include "tools/frame_tally.h"
#include "tools/measure.h"
#include "tools/remedy.h"
#include "tools/summary.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Mapping Mapping;

#define NAMELESS_NOTE \
	0.01 /* share of a file's frames that may be nameless without a word: there is code that is no function */
#define NAMELESS_PROBLEM 0.1 /* the same, of all frames: from here on it is more than a blemish */
#define LINES_NOTE 0.1	     /* share of all frames from which a file's source lines are missed */
#define CUT_NOTE 0.01	     /* share of the stacks that may be cut short without a word */
#define CUT_PROBLEM 0.1
#define OTHER_PROBLEM 0.05 /* share of the bytes in [other] */

struct look {
	struct findings *findings;
	const char *subject;
	const Profile *profile;
	bool kept; /* it is in a file that the user has, and `subject` names it */
	struct frame_tally tally;
};

/* --- names and lines ---------------------------------------------------------------------------------------------- */

/* What is missing of the frames of a file: names, or (where there are names) lines. */
struct gap {
	enum finding_level level;
	const char *path, *build_id;
	char what[64];
	bool names;
};

/* What to call the profile in a command. */
static const char *file_name(const struct look *look)
{
	return look->kept ? look->subject : "FILE";
}

/* The file is there, and is the one that ran. */
static void explain_file(struct look *look, const struct gap *gap, const struct binary *binary)
{
	const char *path = summary_typed_path(gap->path);

	if (binary->debug_file == NULL && (gap->names ? !binary->has_symbols : !binary->has_debug_info))
		remedy_names(look->findings, gap->level, path, gap->path, binary);
	else if (gap->names)
		finding_advise(findings_add(look->findings, gap->level, "unnamed", path, "%s, though the file has them",
					    gap->what),
			       "mprof symbolize %s", file_name(look));
	else if (look->kept)
		finding_advise(findings_add(look->findings, gap->level, "no-lines", look->subject,
					    "functions, but no source lines"),
			       "mprof symbolize %s", look->subject);
}

/* Code that is made while the program runs is in no file. */
static void explain_gap(struct look *look, const struct gap *gap)
{
	const char *path = summary_typed_path(gap->path);
	struct binary binary;

	if (path[0] == '[' || path[0] == '\0') {
		if (gap->names)
			findings_add(look->findings, gap->level, "no-file", *path != '\0' ? path : "[anon]",
				     "%s: it is code that was made while the program ran", gap->what);
		return;
	}
	if (!binary_read(&binary, gap->path)) {
		finding_advise(findings_add(look->findings, gap->level, "file-missing", path,
					    "%s, and the file cannot be read", gap->what),
			       "where the file is: mprof symbolize %s", file_name(look));
		return;
	}
	if (strcmp(binary.build_id, gap->build_id) != 0)
		finding_advise(findings_add(look->findings, gap->level, "file-changed", path,
					    "%s, and the file is another build by now", gap->what),
			       "with the build of ID %s: mprof symbolize %s", gap->build_id, file_name(look));
	else
		explain_file(look, gap, &binary);
	binary_free(&binary);
}

static void check_mapping(struct look *look, const Mapping *mapping)
{
	const struct frame_counts *counts = &look->tally.mappings[mapping->id];
	struct gap gap = {.path = decode_string(look->profile, mapping->filename),
			  .build_id = decode_string(look->profile, mapping->build_id)};
	double all = (double)look->tally.frames, here = (double)counts->frames, nameless = (double)counts->nameless;

	if (nameless > NAMELESS_NOTE * here) {
		gap.names = true;
		gap.level = nameless > NAMELESS_PROBLEM * all ? FINDING_PROBLEM : FINDING_NOTE;
		snprintf(gap.what, sizeof gap.what, "%.0f%% of its frames have no name", 100 * nameless / here);
		explain_gap(look, &gap);
	} else if (counts->lineless == counts->frames && here > LINES_NOTE * all) {
		gap.level = FINDING_NOTE;
		snprintf(gap.what, sizeof gap.what, "no source lines");
		explain_gap(look, &gap);
	}
}

/* --- stacks ------------------------------------------------------------------------------------------------------- */

/* The mapping in which most of the stacks end that are cut short; NULL for none. */
static const Mapping *find_cutter(const struct look *look)
{
	uint64_t most = 0;

	for (uint64_t id = 1; id <= look->profile->n_mapping; id++)
		if (look->tally.mappings[id].cut > look->tally.mappings[most].cut)
			most = id;
	return decode_mapping(look->profile, most);
}

static void check_stacks(struct look *look)
{
	double share = (double)look->tally.cut / (double)look->profile->n_sample;
	const Mapping *mapping = find_cutter(look);
	const char *path = mapping != NULL ? decode_string(look->profile, mapping->filename) : "";
	struct finding *finding;
	struct binary binary;

	if (share <= CUT_NOTE)
		return;
	finding = findings_add(look->findings, share > CUT_PROBLEM ? FINDING_PROBLEM : FINDING_NOTE, "cut-stacks",
			       look->subject,
			       "%.0f%% of the stacks do not reach main or the start of a thread, and end mostly in %s",
			       100 * share, *path != '\0' ? summary_typed_path(path) : "code of no file");
	if (findings_have(look->findings, loss_keys[LOSS_truncated])) {
		finding_advise(finding, "raise HEAPPROF_DEPTH");
	} else if (!binary_read(&binary, path)) {
		finding_advise(
			finding,
			"code that is made while the program runs has no unwind tables: have it keep frame pointers");
	} else {
		finding_advise(finding, "%s",
			       binary.has_unwind_tables
				       ? "see that libunwind is found (mprof doctor) and HEAPPROF_UNWIND is not fp"
				       : "it has no unwind tables: compile it with -fasynchronous-unwind-tables");
		binary_free(&binary);
	}
}

/* --- what it says of itself ----------------------------------------------------------------------------------------- */

static int64_t magnitude(const Sample *sample, int type)
{
	return llabs(sample->value[type]);
}

static void check_other(struct look *look)
{
	int type = measure_type(look->profile, "alloc_space");
	int64_t other = 0, all = 0;

	for (size_t i = 0; i < look->profile->n_sample && type >= 0; i++) {
		const Sample *sample = look->profile->sample[i];

		all += magnitude(sample, type);
		if (sample->n_location_id == 1 &&
		    strcmp(frame_function(look->profile, decode_location(look->profile, sample->location_id[0])),
			   FRAME_OTHER) == 0)
			other += magnitude(sample, type);
	}
	if ((double)other > OTHER_PROBLEM * (double)all)
		finding_advise(findings_add(look->findings, FINDING_PROBLEM, "other", look->subject,
					    "%s of the bytes are in " FRAME_OTHER
					    ", without stacks: the profiler's memory was full",
					    format_percent(other, all).text),
			       "raise HEAPPROF_MEMORY");
}

/* "lost: 12 samples without a stack" (preload/dump.c) */
static void check_loss(struct look *look, const char *comment)
{
	const char *number = comment + strlen("lost: "), *text = number + strspn(number, "0123456789");

	for (int i = 0; i < LOSS_COUNT; i++)
		if (*text == ' ' && strcmp(text + 1, loss_texts[i]) == 0)
			findings_add(look->findings, FINDING_NOTE, loss_keys[i], look->subject, "%s", comment);
}

static void check_comments(struct look *look)
{
	for (size_t i = 0; i < look->profile->n_comment; i++) {
		const char *comment = decode_string(look->profile, look->profile->comment[i]);

		if (strncmp(comment, "lost: ", 6) == 0)
			check_loss(look, comment);
		else if (strncmp(comment, "names of ", 9) == 0)
			findings_add(look->findings, FINDING_NOTE, "names-left-out", look->subject, "%s", comment);
	}
}

/* Only mprof's own stacks are known to begin where programs do. */
static bool is_ours(const Profile *profile)
{
	for (size_t i = 0; i < profile->n_comment; i++)
		if (strncmp(decode_string(profile, profile->comment[i]), "mprof ", 6) == 0)
			return true;
	return false;
}

static void add_empty(struct look *look)
{
	int64_t rate = look->profile->period;
	struct finding *finding;

	if (rate == 0)
		finding = findings_add(look->findings, FINDING_PROBLEM, "empty", look->subject,
				       "no samples: sampling was off (rate 0)");
	else
		finding = findings_add(look->findings, FINDING_PROBLEM, "empty", look->subject,
				       "no samples: too little was allocated for the rate of %s, or nothing yet",
				       format_bytes(rate).text);
	finding_advise(finding, "%s", absence_rate_advice(rate));
}

static void examine(struct look *look)
{
	struct summary summary;

	check_comments(look);
	if (look->profile->n_sample == 0) {
		add_empty(look);
		return;
	}
	frame_tally_init(&look->tally, look->profile);
	for (size_t i = 0; i < look->profile->n_mapping; i++)
		check_mapping(look, look->profile->mapping[i]);
	if (is_ours(look->profile))
		check_stacks(look);
	check_other(look);
	summary_make(&summary, NULL, look->profile);
	if (summary.error[0] != '\0')
		findings_add(look->findings, FINDING_PROBLEM, "other-profile", look->subject, "%s", summary.error);
	else if (look->kept && findings_worst(look->findings, look->subject) != FINDING_PROBLEM)
		findings_add(look->findings, FINDING_OK, "profile", look->subject,
			     "%s allocated, %zu stack%s (rate %s)", format_bytes(summary.allocated).text,
			     summary.stacks, summary.stacks == 1 ? "" : "s", format_bytes(summary.rate).text);
}

/* Perhaps the user meant the program itself. */
static void add_unreadable(struct findings *findings, const char *subject, const char *path, const char *error)
{
	struct finding *finding = findings_add(findings, FINDING_PROBLEM, "unreadable", subject,
					       "no profile that can be read: %s", error);
	struct binary binary;

	if (binary_read(&binary, path)) {
		finding_advise(finding, "it is a program; to look at it: mprof doctor -- %s", path);
		binary_free(&binary);
	}
}

void doctor_profile(struct findings *findings, const char *subject, const char *path, bool kept)
{
	Profile *profile;
	char error[128];

	if (decode_file(path, &profile, error, sizeof error) != 0) {
		add_unreadable(findings, subject, path, error);
		return;
	}
	struct look look = {findings, subject, profile, kept, {0}};

	examine(&look);
	frame_tally_free(&look.tally);
	decode_free(profile);
}
