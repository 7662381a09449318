/* demangle.c - function names of C++ and Rust as their programmers wrote them; libiberty does the work. */
#include "tools/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum language { CXX, RUST, RUST_LEGACY };

static enum language language_of(const char *symbol)
{
	size_t n = strlen(symbol);

	if (strncmp(symbol, "_R", 2) == 0)
		return RUST;
	/* Rust's older form is C++'s with a hash at the end: "17h0123456789abcdefE". */
	if (n > 20 && strncmp(symbol + n - 20, "17h", 3) == 0 && symbol[n - 1] == 'E')
		return RUST_LEGACY;
	return CXX;
}

/* Length of what must stay whole at `text` although it may hold angle brackets: an operator's name, or an arrow. */
static size_t token_length(const char *text)
{
	static const char word[] = "operator";
	static const char *const operators[] = {"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};

	if (strncmp(text, "->", 2) == 0)
		return 2;
	if (strncmp(text, word, sizeof word - 1) != 0)
		return 1;
	text += sizeof word - 1;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (strncmp(text, operators[i], strlen(operators[i])) == 0)
			return sizeof word - 1 + strlen(operators[i]);
	return sizeof word - 1;
}

/* In Rust an angle bracket that follows no name opens a type, "<T as Trait>::f", and is needed. */
static bool opens_arguments(enum language language, const char *name, const char *at)
{
	return language == CXX || (at > name && (isalnum((unsigned char)at[-1]) || strchr("_:}", at[-1]) != NULL));
}

/* Cut generic arguments out of a readable name, in place. What is left of them is "" in C++ and "<>" in Rust. */
static void drop_arguments(enum language language, char *name)
{
	const char *in = name;
	char *out = name;
	size_t depth = 0;

	while (*in != '\0') {
		size_t n = token_length(in);
		bool bracket = n == 1 && (*in == '<' || *in == '>');

		if (bracket && (depth > 0 || (*in == '<' && opens_arguments(language, name, in)))) {
			/* "operator<< <int>": the space goes too */
			if (depth == 0 && out > name && out[-1] == ' ')
				out--;
			depth += *in == '<' ? 1 : -1;
			if (language == RUST && (depth == 0 || (depth == 1 && *in == '<')))
				*out++ = *in;
		} else if (depth == 0) {
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	*out = '\0';
}

char *demangle(const char *symbol)
{
	enum language language = language_of(symbol);
	char *name = cplus_demangle(symbol, DMGL_AUTO | DMGL_RET_DROP);

	if (name == NULL)
		return xstrdup(symbol);
	if (language != RUST_LEGACY)
		drop_arguments(language, name);
	return name;
}
