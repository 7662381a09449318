/* temporary.c - a directory for a while. */
#include "tools/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <unistd.h>

char *temporary_directory(void)
{
	const char *parent = getenv("TMPDIR");
	char *path = concat(parent != NULL && *parent == '/' ? parent : "/tmp", "/mprof-XXXXXX", NULL);

	if (mkdtemp(path) != NULL)
		return path;
	free(path);
	return NULL;
}

void temporary_remove(char *directory)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;

	while (stream != NULL && (entry = readdir(stream)) != NULL)
		unlinkat(dirfd(stream), entry->d_name, 0); /* not "." and "..", which are directories */
	if (stream != NULL)
		closedir(stream);
	rmdir(directory);
	free(directory);
}
