/* learn.c - asks libunwind, once per return address, what the unwind rule is.
 *
 * libunwind is used through its remote interface with an address space that is symbolic: SP and BP are two marker constants. A read of real
 * memory (the unwind tables) gives what is there. A read at a marker plus an offset is noted, and gives a number that stands
 * for "the word read there". After one step the new IP, SP and BP are such numbers, and spell the rule out: IP = the word at SP + 56,
 * SP = SP + 64, BP = the word at SP + 24. Neither a lock nor an allocation of the program is involved: the tables are found
 * with glibc's _dl_find_object, and libunwind's local mode, which takes the loader's lock, is never entered. */
#include "core/learn.h"

#include "core/arch.h"
#include "core/arena.h"
#include "core/atomic.h"
#include "core/module.h"
#include "core/rules.h"
#include "core/stack.h"
#include "core/sys.h"
#include "core/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <libunwind-x86_64.h>
#include <sched.h>
#include <string.h>

#define STACK_BYTES ((size_t)64 << 10) /* for libunwind, so that the program's stack need not have room for it */
#define LOCK_ATTEMPTS 20000	       /* with a yield each: seconds, where the lock is held for microseconds */

/* Symbolic numbers: an origin in the top 16 bits, an offset around OFFSET_ZERO below. */
#define ORIGIN_SHIFT 48
#define ORIGIN_SP 0x5001U
#define ORIGIN_BP 0x5002U
#define ORIGIN_OTHER 0x5003U /* any other register */
#define ORIGIN_READ 0x5100U  /* + index into probe.reads */
#define READS_MAX 64U
#define OFFSET_ZERO ((uint64_t)1 << 47)

/* A symbolic number taken apart. */
struct symbol {
	unsigned origin; /* ORIGIN_*; 0 = an ordinary number */
	int64_t offset;
};

/* One question to libunwind. */
struct probe {
	uintptr_t pc;			/* the address to look up */
	const struct module *module;	/* what it lies in: unwind tables are read there only */
	const unsigned char *header;	/* of the module's table (.eh_frame_hdr), or NULL */
	struct symbol reads[READS_MAX]; /* addresses read, in order */
	unsigned read_count;
	bool table_found;
	uint64_t packed; /* the answer */
};

static struct {
	unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
	int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
	int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
	/* Exported for users of the remote interface (perf is one), though no header declares it. */
	int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);
} unwinder;

static unw_addr_space_t space;
static uintptr_t stack_top; /* of libunwind's own stack */
static unsigned locked;	    /* atomic: 1 while a thread asks */

static uint64_t symbol_make(unsigned origin, int64_t offset)
{
	return ((uint64_t)origin << ORIGIN_SHIFT) + OFFSET_ZERO + (uint64_t)offset;
}

static struct symbol symbol_of(uint64_t number)
{
	unsigned origin = (unsigned)(number >> ORIGIN_SHIFT);
	bool known = (origin >= ORIGIN_SP && origin <= ORIGIN_OTHER) ||
		     (origin >= ORIGIN_READ && origin < ORIGIN_READ + READS_MAX);

	if (!known)
		return (struct symbol){.offset = (int64_t)number};
	return (struct symbol){.origin = origin,
			       .offset = (int64_t)((number & (((uint64_t)1 << ORIGIN_SHIFT) - 1)) - OFFSET_ZERO)};
}

/* --- what libunwind asks of us ------------------------------------------------------------------------------------- */

/* A 32-bit number of the search table's header. Source: Linux Standard Base, "The .eh_frame_hdr section". */
static int32_t read_i32(const unsigned char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_unwind_info, void *arg)
{
	struct probe *probe = arg;
	const unsigned char *header = probe->header;
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
	int error;

	/* Version 1; frame pointer pcrel sdata4; count udata4; table datarel sdata4: what every linker writes. */
	if (header == NULL || header[0] != 1 || header[1] != 0x1B || header[2] != 0x03 || header[3] != 0x3B)
		return -UNW_ENOINFO;
	table.start_ip = probe->module->start;
	table.end_ip = probe->module->end;
	table.u.rti.segbase = (unw_word_t)header;
	table.u.rti.table_data = (unw_word_t)header + 12;
	table.u.rti.table_len = (unw_word_t)(uint32_t)read_i32(header + 8) * 8 / sizeof(unw_word_t);
	error = unwinder.search_table(as, ip, &table, info, need_unwind_info, arg);
	probe->table_found = error >= 0;
	return error;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as;
	(void)info;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *arg)
{
	struct probe *probe = arg;
	struct symbol symbol = symbol_of(address);

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (symbol.origin != 0) {
		if (probe->read_count == READS_MAX)
			return -UNW_EINVAL;
		*value = symbol_make(ORIGIN_READ + probe->read_count, 0);
		probe->reads[probe->read_count++] = symbol;
		return 0;
	}
	if (address < probe->module->start || address > probe->module->end - sizeof(*value))
		return -UNW_EINVAL;
	memcpy(value, (const void *)address, sizeof(*value));
	return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	struct probe *probe = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	if (reg == UNW_TDEP_IP)
		*value = probe->pc;
	else if (reg == UNW_TDEP_SP)
		*value = symbol_make(ORIGIN_SP, 0);
	else if (reg == arch_frame_pointer)
		*value = symbol_make(ORIGIN_BP, 0);
	else
		*value = symbol_make(ORIGIN_OTHER, 0);
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t address, char *buf, size_t cap, unw_word_t *offset, void *arg)
{
	(void)as;
	(void)address;
	(void)buf;
	(void)cap;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

/* --- reading the answer -------------------------------------------------------------------------------------------- */

/* The address that a word came from; false when the number is not exactly such a word. */
static bool word_address(const struct probe *probe, uint64_t number, struct symbol *address)
{
	struct symbol symbol = symbol_of(number);

	if (symbol.origin < ORIGIN_READ || symbol.offset != 0)
		return false;
	*address = probe->reads[symbol.origin - ORIGIN_READ];
	return true;
}

/* How the caller's SP, which is the CFA, follows. *base is the register it is found by. */
static bool read_cfa(const struct probe *probe, uint64_t number, struct rule *rule, unsigned *base)
{
	struct symbol cfa = symbol_of(number);
	bool direct = cfa.origin == ORIGIN_SP || cfa.origin == ORIGIN_BP;

	if (!direct && !word_address(probe, number, &cfa))
		return false;
	*base = cfa.origin;
	rule->cfa = (int32_t)cfa.offset;
	if (cfa.offset != rule->cfa)
		return false;
	if (cfa.origin == ORIGIN_SP)
		rule->kind = direct ? RULE_SP : RULE_SIGNAL;
	else if (cfa.origin == ORIGIN_BP)
		rule->kind = direct ? RULE_BP : RULE_BP_DEREF;
	else
		return false;
	return true;
}

/* The offset of an address from the CFA; false when it is not given relative to that. */
static bool from_cfa(const struct rule *rule, unsigned base, uint64_t cfa_number, struct symbol address,
		     int32_t *offset)
{
	struct symbol cfa = symbol_of(cfa_number);
	bool direct = rule->kind == RULE_SP || rule->kind == RULE_BP;

	if (address.origin != (direct ? base : cfa.origin))
		return false;
	*offset = (int32_t)(address.offset - (direct ? rule->cfa : 0));
	return true;
}

/* How the caller's BP follows. */
static void read_bp(const struct probe *probe, uint64_t number, uint64_t cfa_number, struct rule *rule, unsigned base)
{
	struct symbol address;

	rule->bp_from = RULE_BP_LOST;
	rule->bp = -8;
	if (number == symbol_make(ORIGIN_BP, 0)) {
		rule->bp_from = RULE_BP_SAME;
	} else if (word_address(probe, number, &address)) {
		if (from_cfa(rule, base, cfa_number, address, &rule->bp) && rule->bp <= -8) {
			rule->bp_from = RULE_BP_AT_CFA;
		} else if (address.origin == base) {
			rule->bp_from = RULE_BP_AT_BASE;
			rule->bp = (int32_t)address.offset;
		}
	}
}

static struct rule read_rule(const struct probe *probe, uint64_t ip, uint64_t sp, uint64_t bp)
{
	const struct rule none = {.kind = RULE_NONE};
	struct rule rule = none;
	struct symbol ip_address;
	unsigned base;

	if (!read_cfa(probe, sp, &rule, &base) || !word_address(probe, ip, &ip_address))
		return none;
	if (rule.kind == RULE_SIGNAL) {
		rule.ip = (int32_t)ip_address.offset;
		if (ip_address.origin != base)
			return none;
	} else if (!from_cfa(&rule, base, sp, ip_address, &rule.ip) || rule.ip != -8) {
		return none;
	}
	read_bp(probe, bp, sp, &rule, base);
	return rule;
}

/* Runs on libunwind's own stack, signals blocked, the lock held. */
static void ask(void *argument)
{
	struct probe *probe = argument;
	struct rule rule = {.kind = RULE_NONE};
	unw_cursor_t cursor;
	unw_word_t ip, sp, bp;
	int result = unwinder.init_remote(&cursor, space, probe);

	if (result == 0)
		result = unwinder.step(&cursor);
	/* Without a table libunwind guesses; the walker's own guess is a guarded one. */
	if (result == 0 && probe->table_found)
		rule.kind = RULE_END;
	else if (result > 0 && probe->table_found && unwinder.get_reg(&cursor, UNW_TDEP_IP, &ip) == 0 &&
		 unwinder.get_reg(&cursor, UNW_TDEP_SP, &sp) == 0 &&
		 unwinder.get_reg(&cursor, arch_frame_pointer, &bp) == 0)
		rule = read_rule(probe, ip, sp, bp);
	/* Where there is a table and a rule cannot say what it says (a CFA by some other register, as in the loader's resolver and in
	 * the prologue of an over-aligned frame), rbp is known not to lead to the caller: the stack ends here. */
	if (!rule_pack(&rule, &probe->packed) || (rule.kind == RULE_NONE && probe->table_found))
		probe->packed = probe->table_found ? RULE_END : RULE_NONE;
}

/* --- the lock ------------------------------------------------------------------------------------------------------ */

static bool lock(void)
{
	for (unsigned i = 0; i < LOCK_ATTEMPTS; i++) {
		unsigned unlocked = 0;

		if (load_relaxed(&locked) == 0 && cas_acquire(&locked, &unlocked, 1)) /* pairs with unlock */
			return true;
		sched_yield();
	}
	return false;
}

static void unlock(void)
{
	store_release(&locked, 0); /* pairs with the cas_acquire in lock */
}

uint64_t learn_rule(uint64_t frame)
{
	struct probe probe = {.pc = frame_pc(frame), .packed = RULE_NONE};
	struct dl_find_object object;
	uint64_t mask, known;

	probe.module = module_at(probe.pc);
	if (space == NULL || probe.module == NULL || _dl_find_object((void *)probe.pc, &object) != 0)
		return RULE_NONE;
	probe.header = object.dlfo_eh_frame;
	/* A handler that ran now and left by longjmp would leave the lock behind. */
	sys_block_signals(&mask);
	if (lock()) {
		known = rules_find(frame); /* somebody else may have asked meanwhile */
		if (known != 0) {
			probe.packed = known;
		} else {
			arch_call_on_stack(ask, &probe, stack_top);
			rules_add(frame, probe.packed);
		}
		unlock();
	}
	sys_unblock_signals(&mask);
	return probe.packed;
}

void learn_before_fork(void)
{
	lock();
}

void learn_after_fork(void)
{
	unlock();
}

/* --- loading ------------------------------------------------------------------------------------------------------- */

static void *open_library(const char *directory)
{
	char path[1024];
	struct text text = {.buf = path, .cap = sizeof(path)};
	void *library = NULL;

	if (directory != NULL) {
		text_add(&text, directory);
		text_add(&text, "/");
		text_add(&text, arch_unwinder_library);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library != NULL ? library : dlopen(arch_unwinder_library, RTLD_NOW | RTLD_LOCAL);
}

static bool find_function(void *library, const char *name, void *pointer)
{
	char symbol[64];
	struct text text = {.buf = symbol, .cap = sizeof(symbol)};

	text_add(&text, arch_unwinder_prefix);
	text_add(&text, name);
	*(void **)pointer = dlsym(library, symbol);
	return *(void **)pointer != NULL;
}

static bool find_functions(void *library)
{
	return find_function(library, "create_addr_space", &unwinder.create_addr_space) &&
	       find_function(library, "set_caching_policy", &unwinder.set_caching_policy) &&
	       find_function(library, "init_remote", &unwinder.init_remote) &&
	       find_function(library, "step", &unwinder.step) && find_function(library, "get_reg", &unwinder.get_reg) &&
	       find_function(library, "dwarf_search_unwind_table", &unwinder.search_table);
}

static void create_space(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};

	space = unwinder.create_addr_space(&accessors, 0);
	if (space != NULL)
		unwinder.set_caching_policy(space, UNW_CACHE_NONE);
}

/* Initialize libunwind. Doing so it opens a pipe that only its local mode uses; left open it would be two descriptors that the
 * program does not know of, and whose numbers it may come to use. This runs at load, when nobody else opens any, so the pipe
 * takes the two lowest free numbers. */
static void initialize(void)
{
	uint64_t device, inode;
	int lowest[2];
	bool known = sys_pipe(lowest) == 0;

	for (int i = 0; known && i < 2; i++)
		sys_close(lowest[i]);
	create_space();
	if (space != NULL)
		learn_rule(
			frame_make((uintptr_t)initialize, MODULE_NONE)); /* the first question initializes the rest */
	for (int i = 0; known && i < 2; i++) {
		if (sys_file_identity(lowest[i], &device, &inode) == 0)
			sys_close(lowest[i]);
	}
}

int learn_init(struct arena *arena, const char *directory)
{
	char *stack = arena_alloc(arena, STACK_BYTES, 4096);
	void *library;

	if (stack == NULL)
		return -ENOMEM;
	stack_top = (uintptr_t)stack + STACK_BYTES;
	library = open_library(directory);
	if (library == NULL || !find_functions(library))
		return -ENOENT;
	initialize();
	return space == NULL ? -ENOMEM : 0;
}

const char *learn_unwinder(void)
{
	return space == NULL ? NULL : "libunwind";
}
