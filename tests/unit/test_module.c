/* test_module.c - addresses belong to the modules that the loader and readelf say they do, and do so after dlclose too. */
#include "core/module.h"

#include "core/arena.h"
#include "tests/unit/race.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two libraries that come with every glibc and that nothing links against. */
#define FIRST_LIBRARY "libBrokenLocale.so.1"
#define SECOND_LIBRARY "libanl.so.1"

static struct arena arena;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 16 << 20), 0);
	module_init(&arena, (const void *)start);
}

TestSuite(module, .init = start);

static const struct module *record_of(const void *address)
{
	return module_get(module_of((uintptr_t)address));
}

Test(module, program_is_the_first)
{
	char path[1024] = {0};
	const struct module *program = module_get(1);

	cr_assert_eq(module_of((uintptr_t)start), 1);
	cr_assert_eq(module_self(), 1);
	cr_assert(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	cr_assert_str_eq(program->path, path);
	cr_assert_str_eq(program->open_path, "/proc/self/exe");
	cr_assert_null(program->image);
	cr_assert(program->start <= (uintptr_t)start && (uintptr_t)start < program->end);
}

Test(module_without_self, self_may_be_unknown)
{
	cr_assert_eq(arena_init(&arena, 16 << 20), 0);
	module_init(&arena, NULL);
	cr_assert_eq(module_self(), MODULE_NONE);
	cr_assert_eq(module_of((uintptr_t)start), 1);
}

Test(module, ids_are_given_once)
{
	unsigned libc = module_of((uintptr_t)getauxval), count = module_count();

	cr_assert(libc > 1);
	cr_assert_eq(count, libc + 1);
	cr_assert_eq(module_of((uintptr_t)gnu_get_libc_version), libc); /* no sanitizer intercepts these two */
	cr_assert_eq(module_of(module_get(libc)->start), libc);
	cr_assert_eq(module_of(module_get(libc)->end - 1), libc);
	cr_assert_eq(module_count(), count);
	cr_assert_neq(module_get(libc), module_get(1));
}

Test(module, no_module)
{
	void *anonymous = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int local;

	cr_assert_neq(anonymous, MAP_FAILED);
	cr_assert_eq(module_of((uintptr_t)anonymous), MODULE_NONE);
	cr_assert_eq(module_of((uintptr_t)&local), MODULE_NONE);
	cr_assert_eq(module_of(0), MODULE_NONE);
	cr_assert_eq(module_of(UINTPTR_MAX), MODULE_NONE);
	cr_assert_null(module_get(MODULE_NONE));
	cr_assert_null(module_get(module_count()));
	cr_assert_null(module_get(MODULE_MAX - 1));
	cr_assert_null(module_get(MODULE_MAX));
	cr_assert_null(module_get(UINT32_MAX));
}

/* The build ID that readelf prints for a file, in hexadecimal; empty when it has none. */
static void readelf_build_id(const char *path, char *hex, size_t cap)
{
	char command[1200], line[256];
	FILE *output;

	snprintf(command, sizeof(command), "readelf -nW '%s' 2>/dev/null", path);
	output = popen(command, "r");
	cr_assert_not_null(output);
	hex[0] = '\0';
	while (fgets(line, sizeof(line), output) != NULL) {
		const char *id = strstr(line, "Build ID: ");

		if (id != NULL)
			snprintf(hex, cap, "%.*s", (int)strcspn(id + 10, "\n"), id + 10);
	}
	pclose(output);
}

static void expect_build_id(const struct module *module)
{
	char expected[128], hex[2 * MODULE_BUILD_ID_MAX + 1] = "";

	readelf_build_id(module->path, expected, sizeof(expected));
	for (unsigned i = 0; i < module->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	cr_expect_str_eq(hex, expected, "%s", module->path);
}

/* Compare one object as the loader describes it. */
static int check_object(struct dl_phdr_info *info, size_t size, void *checked)
{
	const struct module *module = NULL;
	unsigned segments = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start_address = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		module = module_get(module_of(start_address));
		cr_assert_not_null(module, "%s", info->dlpi_name);
		cr_expect_eq(module->bias, info->dlpi_addr);
		cr_expect_eq(module->segments[segments].start, start_address);
		cr_expect_eq(module->segments[segments].limit, (start_address + header->p_memsz + 4095) & ~4095UL);
		cr_expect_eq(module->segments[segments].offset, header->p_offset);
		segments++;
	}
	if (module == NULL)
		return 0;
	cr_expect_eq(module->segment_count, segments);
	if (info->dlpi_name[0] == '/') {
		cr_expect_str_eq(module->path, info->dlpi_name);
		cr_expect_str_eq(module->open_path, module->path);
	}
	if (module->path[0] == '/')
		expect_build_id(module);
	++*(unsigned *)checked;
	return 0;
}

Test(module, agrees_with_loader_and_readelf)
{
	unsigned checked = 0;

	dl_iterate_phdr(check_object, &checked);
	cr_assert(checked >= 3, "program, libc, loader at least");
	cr_assert_eq(module_count(), checked + 1);
}

Test(module, vdso_has_an_image_and_no_file)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	const struct module *module;

	if (image == NULL) /* a kernel without one */
		return;
	module = record_of(image);
	cr_assert_not_null(module);
	cr_assert_str_eq(module->path, "[vdso]");
	cr_assert_eq(module->image, image);
	cr_assert_eq(memcmp(module->image, ELFMAG, SELFMAG), 0);
}

/* An address inside a library: its dynamic section. A handle is a struct link_map in glibc. */
static uintptr_t open_library(const char *name, void **handle)
{
	*handle = dlopen(name, RTLD_NOW);
	cr_assert_not_null(*handle, "%s", name);
	return (uintptr_t)((const struct link_map *)*handle)->l_ld;
}

static bool ends_in(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

Test(module, closed_library_is_remembered)
{
	void *handle;
	uintptr_t address = open_library(FIRST_LIBRARY, &handle);
	unsigned id = module_of(address);
	struct module before = *module_get(id);

	cr_assert(ends_in(before.path, "/" FIRST_LIBRARY), "%s", before.path);
	dlclose(handle);
	cr_assert_eq(module_of(address), MODULE_NONE);
	cr_assert_eq(memcmp(module_get(id), &before, sizeof(before)), 0);
	cr_assert(ends_in(module_get(id)->path, "/" FIRST_LIBRARY));
}

/* Libraries that come and go, mostly at the same place: each address belongs to the one that is there now. */
Test(module, next_library_at_the_same_place_is_another)
{
	for (int round = 0; round < 20; round++) {
		const char *name = round % 2 == 0 ? FIRST_LIBRARY : SECOND_LIBRARY;
		void *handle;
		uintptr_t address = open_library(name, &handle);
		const struct module *module = module_get(module_of(address));

		cr_assert_not_null(module);
		cr_assert(ends_in(module->path, name), "%s is not %s", module->path, name);
		expect_build_id(module);
		dlclose(handle);
	}
}

/* A plugin that is opened and closed all the time must not use the ids up. */
Test(module, reopened_library_keeps_its_id)
{
	void *handle;
	uintptr_t first = open_library(FIRST_LIBRARY, &handle), again;
	unsigned id = module_of(first);

	for (int round = 0; round < 100; round++) {
		dlclose(handle);
		again = open_library(FIRST_LIBRARY, &handle);
		cr_assert(again != first || module_of(again) == id, "id %u became %u", id, module_of(again));
	}
	dlclose(handle);
}

/* A library of our own in a file that is written anew each time, as by a compiler. */
struct plugin {
	char path[64];
	unsigned char image[64 << 10];
	size_t size;
	unsigned char *build_id; /* in the image */
};

/* Make it from FIRST_LIBRARY. */
static void make_plugin(struct plugin *plugin)
{
	void *handle;
	uintptr_t address = open_library(FIRST_LIBRARY, &handle);
	const struct module *model = module_get(module_of(address));
	FILE *file = fopen(model->path, "r");

	cr_assert_not_null(file);
	plugin->size = fread(plugin->image, 1, sizeof(plugin->image), file);
	cr_assert(plugin->size > 0 && plugin->size < sizeof(plugin->image));
	fclose(file);
	dlclose(handle);
	plugin->build_id = memmem(plugin->image, plugin->size, model->build_id, model->build_id_size);
	cr_assert(model->build_id_size >= 4 && plugin->build_id != NULL);
	snprintf(plugin->path, sizeof(plugin->path), "/tmp/mprof-plugin-%d.so", getpid());
}

/* Write it with a build ID that starts with a number, and open it. */
static void *open_plugin(struct plugin *plugin, uint32_t number)
{
	FILE *file = fopen(plugin->path, "w");
	void *handle;

	cr_assert_not_null(file);
	memcpy(plugin->build_id, &number, sizeof(number));
	cr_assert_eq(fwrite(plugin->image, 1, plugin->size, file), plugin->size);
	fclose(file);
	handle = dlopen(plugin->path, RTLD_NOW);
	unlink(plugin->path);
	cr_assert_not_null(handle);
	return handle;
}

/* Rebuilt plugins of one name at one place are different modules, until the ids run out; then frames have no module, and what
 * was registered before is as it was. */
Test(module, rebuilt_library_is_another_until_ids_run_out)
{
	static struct plugin plugin;

	make_plugin(&plugin);
	for (uint32_t number = 0; number < MODULE_MAX + 10; number++) {
		unsigned expected = module_count() < MODULE_MAX ? module_count() : MODULE_NONE;
		struct link_map *opened = open_plugin(&plugin, number);
		unsigned id = module_of((uintptr_t)opened->l_ld);

		cr_assert_eq(id, expected, "plugin %u", number);
		if (id != MODULE_NONE)
			cr_assert_eq(memcmp(module_get(id)->build_id, &number, sizeof(number)), 0);
		dlclose(opened);
	}
	cr_assert_eq(module_count(), MODULE_MAX);
	cr_assert_str_eq(module_get(MODULE_MAX - 1)->path, plugin.path);
	cr_assert_eq(module_of((uintptr_t)start), 1);
}

/* The loader says "./lib": the record must hold an absolute path, since the program may change its directory. */
Test(module, relative_path_is_made_absolute)
{
	void *handle;
	uintptr_t address = open_library(FIRST_LIBRARY, &handle);
	char directory[1024];

	snprintf(directory, sizeof(directory), "%s", ((const struct link_map *)handle)->l_name);
	dlclose(handle);
	*strrchr(directory, '/') = '\0';
	cr_assert_eq(chdir(directory), 0);
	address = open_library("./" FIRST_LIBRARY, &handle);
	cr_assert_eq(module_get(module_of(address))->path[0], '/');
	cr_assert(ends_in(module_get(module_of(address))->path, "/" FIRST_LIBRARY));
	dlclose(handle);
}

static unsigned mismatches[4];

static void look_up(unsigned index)
{
	static const void *const addresses[] = {(const void *)look_up, (const void *)fopen, (const void *)module_of};

	for (unsigned i = 0; i < 30000; i++) {
		uintptr_t address = (uintptr_t)addresses[i % 3];
		const struct module *module = module_get(module_of(address));

		mismatches[index] += module == NULL || address < module->start || address >= module->end;
	}
}

Test(module, threads_may_look_up_at_once)
{
	race(4, look_up);
	for (unsigned index = 0; index < 4; index++)
		cr_assert_eq(mismatches[index], 0);
}
