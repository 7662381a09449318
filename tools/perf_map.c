/* perf_map.c - names of code that a process made itself, from the map it wrote for perf(1). */
#include "tools/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <libiberty/libiberty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Anybody can put a file into /tmp: a link to another, or a FIFO that never ends. */
static FILE *open_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0))
		return fdopen(fd, "r");
	close(fd);
	return NULL;
}

/* Index of the first address from `start` on. */
static size_t first_from(const struct perf_map_name *names, size_t count, uint64_t start)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool parse_number(char **at, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(*at, &end, 16);
	if (errno != 0 || end == *at || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

/* Name the addresses that a line covers. */
static void apply(char *line, struct perf_map_name *names, size_t count)
{
	char *at = line;
	uint64_t start, size;

	line[strcspn(line, "\n")] = '\0';
	if (!parse_number(&at, &start) || !parse_number(&at, &size) || *at == '\0')
		return;
	for (size_t i = first_from(names, count, start); i < count && names[i].address - start < size; i++) {
		free(names[i].name);
		names[i].name = xstrdup(at);
	}
}

bool perf_map_read(const char *path, struct perf_map_name *names, size_t count)
{
	FILE *map = open_map(path);
	char *line = NULL;
	size_t cap = 0;

	if (map == NULL)
		return false;
	while (getline(&line, &cap, map) > 0)
		apply(line, names, count);
	free(line);
	fclose(map);
	return true;
}
