/* debug_file_search.c - where a program, a library or its debug file may be. */
#include "tools/debug_file_search.h"

#include <libiberty/libiberty.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_DIRECTORY "/usr/lib/debug"

/* A search on its way. */
struct attempt {
	const struct debug_file_search *search;
	debug_file_try *try;
	void *context;
};

/* Try the path put together from three parts. */
static bool attempt(const struct attempt *attempt, const char *a, const char *b, const char *c)
{
	char *path = concat(a, b, c, NULL);
	bool taken = attempt->try(attempt->context, path);

	free(path);
	return taken;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Call `in` with each directory of the binary path, until one finds something. */
static bool each_directory(const struct attempt *attempt, const char *rest,
			   bool (*in)(const struct attempt *, const char *directory, const char *rest))
{
	const char *at = attempt->search->binary_path;
	bool taken = false;

	while (at != NULL && *at != '\0' && !taken) {
		size_t n = strcspn(at, ":");
		char *directory = xstrndup(at, n);

		taken = n > 0 && in(attempt, directory, rest);
		free(directory);
		at += n + (at[n] == ':');
	}
	return taken;
}

static bool binary_in(const struct attempt *a, const char *directory, const char *path)
{
	const char *slash = path[0] == '/' ? "" : "/";
	char *by_id = concat("/", a->search->build_id, "/", NULL);
	bool taken = a->search->build_id[0] != '\0' && attempt(a, directory, by_id, name_of(path));

	free(by_id);
	return taken || attempt(a, directory, "/", name_of(path)) || attempt(a, directory, slash, path);
}

bool debug_file_search_binary(const struct debug_file_search *search, debug_file_try *try, void *context)
{
	const struct attempt a = {search, try, context};

	return each_directory(&a, search->path, binary_in) ||
	       debug_file_search_path(search, search->path, try, context);
}

static bool build_id_in(const struct attempt *a, const char *directory, const char *name)
{
	return attempt(a, directory, "/", name) || attempt(a, directory, "/.build-id/", name);
}

bool debug_file_search_build_id(const struct debug_file_search *search, debug_file_try *try, void *context)
{
	const struct attempt a = {search, try, context};
	const char *id = search->build_id;
	const char first[] = {id[0], id[0] != '\0' ? id[1] : '\0', '\0'};
	char *name;
	bool taken;

	if (strlen(id) < 4)
		return false;
	name = concat(first, "/", id + 2, ".debug", NULL);
	taken = each_directory(&a, name, build_id_in) ||
		attempt(&a, search->sysroot, DEBUG_DIRECTORY "/.build-id/", name);
	free(name);
	return taken;
}

static bool link_in(const struct attempt *a, const char *directory, const char *link)
{
	return attempt(a, directory, "/", link);
}

bool debug_file_search_link(const struct debug_file_search *search, const char *link, debug_file_try *try,
			    void *context)
{
	const struct attempt a = {search, try, context};
	char *directory =
		xstrndup(search->path, (size_t)(name_of(search->path) - search->path)); /* ends with a slash */
	char *beside = concat(search->sysroot, directory, NULL);
	char *below = concat(search->sysroot, DEBUG_DIRECTORY, directory, NULL);
	bool taken = each_directory(&a, link, link_in) || attempt(&a, beside, "", link) ||
		     attempt(&a, beside, ".debug/", link) || attempt(&a, below, "", link);

	free(directory);
	free(beside);
	free(below);
	return taken;
}

bool debug_file_search_path(const struct debug_file_search *search, const char *path, debug_file_try *try,
			    void *context)
{
	const struct attempt a = {search, try, context};
	const char *slash = search->sysroot[0] != '\0' && path[0] != '/' ? "/" : "";

	return attempt(&a, search->sysroot, slash, path);
}
