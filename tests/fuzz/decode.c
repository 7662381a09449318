/* decode.c - fuzzes the reading of profiles: any bytes are a profile or one line that says why not. */
#include "pprof/decode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	Perftools__Profiles__Profile *profile = NULL;
	char error[200] = "";
	int result = decode_memory(data, size, &profile, error, sizeof(error));

	if (result < 0) {
		if (error[0] == '\0' || strchr(error, '\n') != NULL || strlen(error) >= sizeof(error))
			abort();
		return 0;
	}
	for (size_t i = 0; i < profile->n_sample; i++) {
		for (size_t k = 0; k < profile->sample[i]->n_location_id; k++) {
			if (decode_location(profile, profile->sample[i]->location_id[k]) == NULL)
				abort();
		}
	}
	decode_free(profile);
	return 0;
}
