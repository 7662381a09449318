/* once.c - tells memory that a runtime allocates once and keeps from leaks. */
#include "tools/once.h"

#include <libiberty/libiberty.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOADER "ld-(linux|musl)?.*"
#define RUNTIME_LIBRARIES "lib(c|m|dl|rt|pthread|resolv|nss_[a-z]+|stdc\\+\\+|gcc_s|c\\+\\+|c\\+\\+abi|mprof)([-.].*)?"

enum place { RUNTIME, ANYWHERE };

struct entry {
	enum place place;
	const char *function; /* regular expression */
	double limit;
	const char *reason;
};

static const struct entry table[] = {
	{0},
#define ONCE(place, function, limit, reason) {place, function, limit, reason},
#include "tools/once.def"
#undef ONCE
};

#define ENTRIES (sizeof table / sizeof *table)

_Static_assert(ENTRIES <= UINT8_MAX, "struct once holds numbers of entries in bytes");

/* Compile an expression of ours that is to match a whole name. */
static void compile(regex_t *compiled, const char *expression, const char *ending)
{
	char *whole = concat("^(", expression, ")", ending, "$", NULL);

	if (regcomp(compiled, whole, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	free(whole);
}

static bool matches(const regex_t *expression, const char *text)
{
	return text != NULL && regexec(expression, text, 0, NULL, 0) == 0;
}

void once_init(struct once *once, const struct stacks *stacks)
{
	regex_t runtime, functions[ENTRIES];

	*once = (struct once){stacks, xcalloc(stacks->row_count + 1, 1), xcalloc(stacks->row_count + 1, 1)};
	compile(&runtime, LOADER "|" RUNTIME_LIBRARIES, "");
	for (size_t i = 1; i < ENTRIES; i++)
		compile(&functions[i], table[i].function, "(\\..*)?");
	for (size_t row = 0; row < stacks->row_count; row++) {
		once->is_runtime[row] = matches(&runtime, stacks->rows[row].module);
		for (size_t i = 1; i < ENTRIES && once->entries[row] == 0; i++)
			if ((once->is_runtime[row] || table[i].place == ANYWHERE) &&
			    matches(&functions[i], stacks->rows[row].function))
				once->entries[row] = (uint8_t)i;
	}
	for (size_t i = 1; i < ENTRIES; i++)
		regfree(&functions[i]);
	regfree(&runtime);
}

/* Is it of the runtime alone, from the very start of the process? Of a stack cut short one cannot say. */
static bool is_runtime_alone(const struct once *once, const struct stack *stack)
{
	const struct stacks_row *root;
	uint32_t depth = stack->depth;

	if (depth == 0)
		return false;
	root = &once->stacks->rows[stack->rows[depth - 1]];
	if (root->function != NULL && strcmp(root->function, "_start") == 0)
		depth--;
	else if (root->module == NULL || strncmp(root->module, "ld-", strlen("ld-")) != 0)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (!once->is_runtime[stack->rows[i]])
			return false;
	return true;
}

const char *once_reason(const struct once *once, const struct stack *stack, double objects)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct entry *entry = &table[once->entries[stack->rows[i]]];

		if (entry->reason != NULL && (entry->limit == 0 || objects <= entry->limit))
			return entry->reason;
	}
	return is_runtime_alone(once, stack) ? "what the runtime sets up before main" : NULL;
}

void once_free(struct once *once)
{
	free(once->entries);
	free(once->is_runtime);
}
