/* dwarf_names.c - what functions are called and where they are declared.
 *
 * A DIE does not know its parent. The few functions that have no linkage name (static ones of C++, by gcc) are found again by descending to
 * them from their unit: siblings are in order of address, so at each level there is one that can hold it. A level that was passed through
 * is kept, hence each is read once. */
#include "tools/dwarf_names.h"

#include "tools/demangle.h"

#include <dwarf.h>
#include <libiberty/hashtab.h>
#include <libiberty/libiberty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 16   /* from an inlined copy to its declaration; a broken file may have circles */
#define NESTING_MAX 16 /* functions in functions */

/* A DIE and, once it was passed through, its children in order of address. */
struct scope {
	Dwarf_Die die;
	bool read;
	struct scope *children;
	size_t count;
};

struct dwarf_names {
	htab_t functions; /* struct known */
	htab_t units;	  /* struct scope, of unit DIEs */
	unsigned nesting;
};

/* A function by the DIE asked for. */
struct known {
	const void *address;
	struct dwarf_name name;
};

static hashval_t hash_known(const void *known)
{
	return htab_hash_pointer(((const struct known *)known)->address);
}

static int equal_known(const void *a, const void *b)
{
	return ((const struct known *)a)->address == ((const struct known *)b)->address;
}

static void free_known(void *known)
{
	free(((struct known *)known)->name.name);
	free(known);
}

static hashval_t hash_unit(const void *scope)
{
	return htab_hash_pointer(((const struct scope *)scope)->die.addr);
}

static int equal_units(const void *a, const void *b)
{
	return ((const struct scope *)a)->die.addr == ((const struct scope *)b)->die.addr;
}

static void free_children(struct scope *scope)
{
	for (size_t i = 0; i < scope->count; i++)
		free_children(&scope->children[i]);
	free(scope->children);
}

static void free_unit(void *scope)
{
	free_children(scope);
	free(scope);
}

struct dwarf_names *dwarf_names_new(void)
{
	struct dwarf_names *names = xcalloc(1, sizeof *names);

	names->functions = htab_create(1024, hash_known, equal_known, free_known);
	names->units = htab_create(64, hash_unit, equal_units, free_unit);
	return names;
}

void dwarf_names_free(struct dwarf_names *names)
{
	htab_delete(names->functions);
	htab_delete(names->units);
	free(names);
}

/* --- enclosing scopes --------------------------------------------------------------------------------------------- */

static void read_children(struct scope *scope)
{
	size_t cap = 0;
	Dwarf_Die die;

	scope->read = true;
	if (dwarf_child(&scope->die, &die) != 0)
		return;
	do {
		/* A broken file may lead back. */
		if (scope->count > 0 && die.addr <= scope->children[scope->count - 1].die.addr)
			return;
		if (scope->count == cap) {
			cap = 2 * cap + 8;
			scope->children = xrealloc(scope->children, cap * sizeof *scope->children);
		}
		scope->children[scope->count++] = (struct scope){.die = die};
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* The child that a DIE at this address is, or is in; NULL when there is none. */
static struct scope *child_at(struct scope *scope, const void *address)
{
	size_t low = 0, high;

	if (!scope->read)
		read_children(scope);
	high = scope->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((const char *)scope->children[middle].die.addr <= (const char *)address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &scope->children[low - 1] : NULL;
}

static struct scope *unit_of(struct dwarf_names *names, Dwarf_Die *die)
{
	struct scope unit = {0};
	void **slot;

	if (dwarf_diecu(die, &unit.die, NULL, NULL) == NULL)
		return NULL;
	slot = htab_find_slot(names->units, &unit, INSERT);
	if (*slot == NULL)
		*slot = xmemdup(&unit, sizeof unit, sizeof unit);
	return *slot;
}

/* A name without template arguments, which demangle drops too. gcc's own names are "<lambda>" and "<constructor>". To be freed. */
static char *plain_component(const char *name)
{
	static const char word[] = "operator";
	size_t n = 0;
	char *plain;

	if (name[0] == '<') {
		plain = concat("{", name + 1, NULL);
		plain[strlen(plain) - 1] = '}';
		return plain;
	}
	if (strncmp(name, word, sizeof word - 1) == 0)
		n = sizeof word - 1 + strspn(name + sizeof word - 1, "<>=-");
	n += strcspn(name + n, "<");
	while (n > 1 && name[n - 1] == ' ')
		n--;
	return xstrndup(name, n);
}

/* Add "part::" to a prefix, and free both. */
static char *extended(char *prefix, char *part)
{
	char *longer = concat(prefix, part, "::", NULL);

	free(prefix);
	free(part);
	return longer;
}

/* The prefix with what a scope adds to it; frees the old one. */
static char *enter_scope(struct dwarf_names *names, char *prefix, Dwarf_Die *die)
{
	const struct dwarf_name *function;
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		return extended(prefix, xstrdup(name != NULL ? name : "(anonymous namespace)"));
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		/* A class without a name that has functions is that of a lambda. */
		return extended(prefix, name != NULL ? plain_component(name) : xstrdup("{lambda}"));
	case DW_TAG_subprogram:
		function = dwarf_names_of(names, die);
		if (function == NULL)
			return prefix;
		*prefix = '\0';
		return extended(prefix, xstrdup(function->name));
	default:
		return prefix;
	}
}

/* "ns::class::" of a DIE. To be freed. */
static char *prefix_of(struct dwarf_names *names, Dwarf_Die *die)
{
	struct scope *scope = unit_of(names, die);
	char *prefix = xstrdup("");

	while (scope != NULL) {
		scope = child_at(scope, die->addr);
		if (scope == NULL || scope->die.addr == die->addr)
			break;
		prefix = enter_scope(names, prefix, &scope->die);
	}
	return prefix;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

/* In C names are not qualified, and functions are many. */
static bool is_in_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
		return true;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

/* The DIE that declares a function first: it stands in the class or namespace that the function is of. */
static Dwarf_Die declaration_of(const Dwarf_Die *function)
{
	Dwarf_Die die = *function, next;
	Dwarf_Attribute attribute;

	for (int i = 0; i < CHAIN_MAX; i++) {
		if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == NULL &&
		    dwarf_attr(&die, DW_AT_specification, &attribute) == NULL)
			break;
		if (dwarf_formref_die(&attribute, &next) == NULL)
			break;
		die = next;
	}
	return die;
}

static char *qualified(struct dwarf_names *names, Dwarf_Die *function, const char *name)
{
	Dwarf_Die declaration = declaration_of(function);
	char *plain = plain_component(name), *prefix, *result;

	if (names->nesting >= NESTING_MAX || is_in_c(&declaration))
		return plain;
	names->nesting++;
	prefix = prefix_of(names, &declaration);
	names->nesting--;
	result = concat(prefix, plain, NULL);
	free(prefix);
	free(plain);
	return result;
}

static const char *text_of(Dwarf_Die *function, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
}

/* The number that an attribute of a function, or of what it is a copy of, refers to a file by; looked up in the list of that unit.
 * libdw's own dwarf_decl_file cannot do this for split units: an assertion of it fails. */
static const char *declaring_file(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t count;
	Dwarf_Die unit;

	if (dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute), &number) != 0 ||
	    dwarf_cu_info(attribute.cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) != 0 ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static struct dwarf_name find_out(struct dwarf_names *names, Dwarf_Die *function)
{
	const char *linkage = text_of(function, DW_AT_linkage_name), *plain;
	struct dwarf_name name = {.file = declaring_file(function)};

	if (linkage == NULL)
		linkage = text_of(function, DW_AT_MIPS_linkage_name);
	plain = linkage == NULL ? text_of(function, DW_AT_name) : NULL;
	name.system_name = linkage != NULL ? linkage : plain;
	if (linkage != NULL)
		name.name = demangle(linkage);
	else if (plain != NULL)
		name.name = qualified(names, function, plain);
	if (dwarf_decl_line(function, &name.line) != 0)
		name.line = 0;
	return name;
}

/* What copies have in common, so that they are found out about once. */
static Dwarf_Die origin_of(const Dwarf_Die *function)
{
	Dwarf_Die die = *function, origin;
	Dwarf_Attribute attribute;

	if (dwarf_attr(&die, DW_AT_linkage_name, &attribute) == NULL &&
	    dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != NULL &&
	    dwarf_formref_die(&attribute, &origin) != NULL)
		return origin;
	return die;
}

const struct dwarf_name *dwarf_names_of(struct dwarf_names *names, Dwarf_Die *function)
{
	Dwarf_Die origin = origin_of(function);
	struct known key = {.address = origin.addr}, *known = htab_find(names->functions, &key);

	if (known == NULL) {
		/* Only now is there a slot: on the way functions around this one may have been entered. */
		key.name = find_out(names, &origin);
		known = xmemdup(&key, sizeof key, sizeof key);
		*htab_find_slot(names->functions, known, INSERT) = known;
	}
	return known->name.name != NULL ? &known->name : NULL;
}
