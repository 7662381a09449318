/* symbolizer_file.c - a profile in a file, given source lines. */
#include "tools/symbolizer_file.h"

#include "tools/buffer.h"
#include "tools/pack.h"
#include "tools/publish.h"

#include <libiberty/libiberty.h>
#include <stdio.h>

int symbolizer_file(const char *in, const char *out, const struct symbolizer_options *options,
		    struct symbolizer_result *result, char *error, size_t cap)
{
	Perftools__Profiles__Profile *profile;
	struct buffer packed = {0};
	char why[256];
	int status = decode_file(in, &profile, why, sizeof why);

	if (status != 0) {
		snprintf(error, cap, "cannot read %s: %s", in, why);
		return status;
	}
	symbolizer_run(profile, options, result);
	status = pack(profile, &packed);
	decode_free(profile);
	if (status == 0)
		status = publish(out, packed.at, packed.used);
	if (status != 0)
		snprintf(error, cap, "cannot write %s: %s", out, xstrerror(-status));
	buffer_free(&packed);
	return status;
}
