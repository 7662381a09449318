/* preload_path.c - where libmprof.so is. */
#include "tools/preload_path.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

static char *find_file(void)
{
	static const char *const places[] = {"/libmprof.so", "/../lib/libmprof.so"};
	char *self = realpath("/proc/self/exe", NULL), *library = NULL;

	if (self == NULL)
		return NULL;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places && library == NULL; i++) {
		char *path = concat(self, places[i], NULL);

		library = realpath(path, NULL);
		free(path);
	}
	free(self);
	return library;
}

char *preload_path_find(struct refusal *refusal)
{
	char *library = find_file();

	if (library == NULL) {
		refusal_set(refusal, -ENOENT, "libmprof.so is neither beside this tool nor in ../lib from there");
		refusal_advise(refusal, "install both together: make install");
		return NULL;
	}
	if (strpbrk(library, ": ") != NULL) {
		refusal_set(refusal, -EINVAL, "LD_PRELOAD cannot hold a path with a space or colon: %s", library);
		refusal_advise(refusal, "install it elsewhere");
		free(library);
		return NULL;
	}
	return library;
}

void preload_path_set(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list = others != NULL && *others != '\0' ? concat(library, ":", others, NULL) : concat(library, NULL);

	setenv("LD_PRELOAD", list, 1);
	free(list);
}
