/* module.c - the loaded objects that captured frames belong to, remembered for the life of the process.
 *
 * The loader's own lock is never taken: glibc's _dl_find_object (2.35) answers from lock-free tables. What it names is copied at
 * once (path, build ID, executable segments), so that a later dlclose takes nothing away. */
#include "core/module.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/loss.h"
#include "core/sys.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#define PAGE 4096UL
#define SLOTS (2 * MODULE_MAX) /* open addressing, at most half full; a power of two */

/* A published module and what tells it from another object that is mapped at the same place later. */
struct entry {
	struct module module;		       /* first: module_get hands it out */
	const char *loader_name;	       /* as the loader calls it; "" for the program */
	const unsigned char *build_id_address; /* in the object's own memory; NULL = no build ID */
	const unsigned char *tables_address;   /* likewise: of what module.tables is a copy */
};

static struct arena *memory;
static struct entry *entries[MODULE_MAX]; /* atomic; by id */
static struct entry *slots[SLOTS];	  /* atomic; by start address, linear probing */
static unsigned entry_count = 1;	  /* atomic; next id */
static unsigned self_id;

/* The program and libc stay loaded for the life of the process: of them the loader need not be asked again. */
#define LASTING 2
static const struct module *lasting[LASTING]; /* written by module_init */
static const struct link_map *program;	      /* likewise */

/* Find the build ID among the notes of one PT_NOTE segment. Source: ELF gABI, "Note Section"; sizes are padded to 4. */
static void find_build_id(struct entry *entry, const unsigned char *notes, size_t bytes)
{
	const unsigned char *end = notes + bytes;

	while ((size_t)(end - notes) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		const unsigned char *name = notes + sizeof(*note);
		size_t name_bytes = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		size_t desc_bytes = ((size_t)note->n_descsz + 3) & ~(size_t)3;

		if (name_bytes + desc_bytes > (size_t)(end - name))
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
		    note->n_descsz <= MODULE_BUILD_ID_MAX) {
			entry->build_id_address = name + name_bytes;
			entry->module.build_id_size = note->n_descsz;
			memcpy(entry->module.build_id, entry->build_id_address, note->n_descsz);
			return;
		}
		notes = name + name_bytes + desc_bytes;
	}
}

static void add_segment(struct module *module, const ElfW(Phdr) * header)
{
	struct module_segment *segment;

	if (module->segment_count == MODULE_SEGMENTS)
		return;
	segment = &module->segments[module->segment_count++];
	segment->start = module->bias + header->p_vaddr;
	segment->limit = (segment->start + header->p_memsz + PAGE - 1) & ~(PAGE - 1);
	segment->offset = header->p_offset;
}

#define TABLES_BYTES 512 /* some sixteen functions: their places, sizes and frames */

/* Where .eh_frame is, as the header of its index says. Source: Linux Standard Base, "The .eh_frame_hdr section". NULL for an encoding that
 * no linker uses. */
static const unsigned char *unwind_tables(const unsigned char *header)
{
	int32_t offset;

	if (header[0] != 1 || header[1] != 0x1B) /* version 1; pcrel sdata4 */
		return NULL;
	memcpy(&offset, header + 4, sizeof(offset));
	return header + 4 + offset;
}

/* Keep the start of the unwind tables, if they are in this PT_LOAD. */
static void keep_tables(struct entry *entry, const ElfW(Phdr) * load, const unsigned char *tables)
{
	struct module *module = &entry->module;
	uintptr_t offset = (uintptr_t)tables - (module->bias + load->p_vaddr);
	size_t size = load->p_filesz - offset < TABLES_BYTES ? load->p_filesz - offset : TABLES_BYTES;
	unsigned char *copy;

	if (offset >= load->p_filesz)
		return;
	copy = arena_alloc(memory, size, 1);
	if (copy == NULL)
		return;
	memcpy(copy, tables, size);
	entry->tables_address = tables;
	module->tables = copy;
	module->tables_size = (unsigned)size;
	module->tables_offset = load->p_offset + offset;
}

/* Find what tells an object without a build ID from others. */
static void find_tables(struct entry *entry, const ElfW(Phdr) * headers, unsigned count)
{
	const unsigned char *tables = NULL;

	for (unsigned i = 0; i < count; i++) {
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			tables = unwind_tables((const unsigned char *)entry->module.bias + headers[i].p_vaddr);
	}
	for (unsigned i = 0; tables != NULL && i < count; i++) {
		if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_R) != 0)
			keep_tables(entry, &headers[i], tables);
	}
}

static void take_headers(struct entry *entry, const ElfW(Phdr) * headers, unsigned count)
{
	struct module *module = &entry->module;

	for (unsigned i = 0; i < count; i++) {
		if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X) != 0)
			add_segment(module, &headers[i]);
		else if (headers[i].p_type == PT_NOTE && module->build_id_size == 0)
			find_build_id(entry, (const void *)(module->bias + headers[i].p_vaddr), headers[i].p_memsz);
	}
	if (module->build_id_size == 0)
		find_tables(entry, headers, count);
}

/* Read the program headers, which the first mapping of an object starts with. */
static void read_headers(struct entry *entry)
{
	const ElfW(Ehdr) *elf = (const void *)entry->module.start;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 && elf->e_phentsize == sizeof(ElfW(Phdr)) &&
	    elf->e_phoff + (size_t)elf->e_phnum * sizeof(ElfW(Phdr)) <= PAGE)
		take_headers(entry, (const void *)(entry->module.start + elf->e_phoff), elf->e_phnum);
}

static const char *keep(const char *directory, const char *name)
{
	size_t prefix = directory == NULL ? 0 : strlen(directory) + 1;
	size_t length = strlen(name);
	char *copy = arena_alloc(memory, prefix + length + 1, 1);

	if (copy == NULL)
		return "[unknown]";
	if (directory != NULL) {
		memcpy(copy, directory, prefix - 1);
		copy[prefix - 1] = '/';
	}
	memcpy(copy + prefix, name, length + 1);
	return copy;
}

static const char *program_path(void)
{
	static const char deleted[] = " (deleted)";
	char buf[1024];
	long length = sys_readlink("/proc/self/exe", buf, sizeof(buf));
	long tail = (long)sizeof(deleted) - 1;

	if (length <= 0)
		return "[program]";
	if (length > tail && memcmp(buf + length - tail, deleted, (size_t)tail) == 0)
		buf[length - tail] = '\0';
	return keep(NULL, buf);
}

static void name_module(struct module *module, const char *loader_name)
{
	char directory[1024];

	if (loader_name[0] == '\0') {
		module->path = program_path();
		module->open_path = "/proc/self/exe";
		return;
	}
	if (loader_name[0] == '/')
		module->path = loader_name;
	else if (strncmp(loader_name, "linux-", 6) == 0 && strchr(loader_name, '/') == NULL) {
		module->path = "[vdso]"; /* linux-vdso.so.1, linux-gate.so.1: no file behind it */
		module->image = (const void *)module->start;
	} else if (sys_getcwd(directory, sizeof(directory)) == 0)
		module->path = keep(directory, loader_name);
	else
		module->path = loader_name;
	module->open_path = module->path;
}

static struct entry *make_entry(const struct dl_find_object *object)
{
	struct entry *entry = arena_alloc(memory, sizeof(*entry), 64);

	if (entry == NULL)
		return NULL;
	entry->module.start = (uintptr_t)object->dlfo_map_start;
	entry->module.end = (uintptr_t)object->dlfo_map_end;
	entry->module.bias = object->dlfo_link_map->l_addr;
	entry->loader_name = keep(NULL, object->dlfo_link_map->l_name);
	name_module(&entry->module, entry->loader_name);
	read_headers(entry);
	return entry;
}

/* Whether this record describes what is loaded there now, and not what was before a dlclose: the same build ID at the same place, or
 * for want of one the same name and the same tables. */
static bool still_loaded(const struct entry *entry, const struct dl_find_object *object)
{
	const struct module *module = &entry->module;

	if (module->end != (uintptr_t)object->dlfo_map_end || module->bias != object->dlfo_link_map->l_addr)
		return false;
	if (entry->build_id_address != NULL)
		return memcmp(module->build_id, entry->build_id_address, module->build_id_size) == 0;
	return strcmp(entry->loader_name, object->dlfo_link_map->l_name) == 0 &&
	       (entry->tables_address == NULL ||
		memcmp(module->tables, entry->tables_address, module->tables_size) == 0);
}

static size_t first_slot(uintptr_t start)
{
	return (start / PAGE * 0x9E3779B97F4A7C15) >> 51; /* the top 13 bits */
}
_Static_assert(SLOTS == 1 << 13, "first_slot takes 13 bits");

/* Give the entry the next id and put it where module_at finds it. NULL when there are no more ids. */
static const struct module *publish(struct entry *entry, size_t slot)
{
	struct entry *empty = NULL;
	unsigned id = add_relaxed(&entry_count, 1); /* relaxed: the stores below publish */

	if (id >= MODULE_MAX) {
		store_relaxed(&entry_count, MODULE_MAX);
		loss_count(LOSS_modules);
		return NULL;
	}
	entry->module.id = id;
	store_release(&entries[id], entry); /* pairs with the load_acquire in module_get */
	/* Pairs with the load_acquire in ask_loader. Two threads that meet the same new object may both register it: harmless, the
	 * one in the first slot is used from then on. */
	while (!cas_release(&slots[slot], &empty, entry)) {
		empty = NULL;
		slot = (slot + 1) % SLOTS;
	}
	return &entry->module;
}

static const struct module *ask_loader(uintptr_t pc)
{
	struct dl_find_object object;
	struct entry *entry;
	size_t slot;

	if (_dl_find_object((void *)pc, &object) != 0)
		return NULL;
	if (object.dlfo_link_map == program)
		return lasting[0];
	slot = first_slot((uintptr_t)object.dlfo_map_start);
	for (;; slot = (slot + 1) % SLOTS) {
		entry = load_acquire(&slots[slot]); /* pairs with the cas_release in publish */
		if (entry == NULL)
			break;
		if (entry->module.start == (uintptr_t)object.dlfo_map_start && still_loaded(entry, &object))
			return &entry->module;
	}
	if (load_relaxed(&entry_count) >= MODULE_MAX) { /* relaxed: publish checks again */
		loss_count(LOSS_modules);
		return NULL;
	}
	entry = make_entry(&object);
	return entry == NULL ? NULL : publish(entry, slot);
}

/* Called for the program, which heads the list, and then stopped. The program is special: the kernel may have mapped it in several pieces,
 * and then _dl_find_object knows each by itself, the one with the headers being another than those with code and tables. */
static int take_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct entry *entry = arena_alloc(memory, sizeof(*entry), 64);
	uintptr_t start = UINTPTR_MAX, end = 0;

	(void)size;
	(void)unused;
	if (entry == NULL)
		return 1;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_LOAD)
			continue;
		start = header->p_vaddr < start ? header->p_vaddr : start;
		end = header->p_vaddr + header->p_memsz > end ? header->p_vaddr + header->p_memsz : end;
	}
	entry->module.bias = info->dlpi_addr;
	entry->module.start = (info->dlpi_addr + start) & ~(PAGE - 1);
	entry->module.end = (info->dlpi_addr + end + PAGE - 1) & ~(PAGE - 1);
	entry->loader_name = "";
	name_module(&entry->module, entry->loader_name);
	take_headers(entry, info->dlpi_phdr, info->dlpi_phnum);
	lasting[0] = publish(entry, first_slot(entry->module.start));
	return 1;
}

const struct module *module_at(uintptr_t pc)
{
	for (unsigned i = 0; i < LASTING; i++) {
		const struct module *module = lasting[i];

		if (module != NULL && pc - module->start < module->end - module->start)
			return module;
	}
	return ask_loader(pc);
}

unsigned module_of(uintptr_t pc)
{
	const struct module *module = module_at(pc);

	return module == NULL ? MODULE_NONE : module->id;
}

void module_init(struct arena *arena, const void *self)
{
	memory = arena;
	program = dlopen(NULL, RTLD_LAZY); /* a handle is a struct link_map in glibc; NULL asks for the program's */
	dl_iterate_phdr(take_program, NULL);
	lasting[1] = ask_loader((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	self_id = self == NULL ? MODULE_NONE : module_of((uintptr_t)self);
}

const struct module *module_get(unsigned id)
{
	struct entry *entry = id < MODULE_MAX ? load_acquire(&entries[id]) : NULL; /* pairs with publish */

	return entry == NULL ? NULL : &entry->module;
}

unsigned module_self(void)
{
	return self_id;
}

unsigned module_count(void)
{
	return load_relaxed(&entry_count); /* an entry may not be published yet: module_get then says NULL */
}
