/* debug_file.c - the debug information of a program or library that was profiled. */
#include "tools/debug_file.h"

#include "pprof/hex.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUILD_ID_MAX 64 /* bytes; SHA-1 has 20 */
#define PAGE_BYTES 4096U

/* A regular file, to read; -1 when it is none. Nothing here may wait for a FIFO. */
static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The build ID in hex; "" when it has none or is no ELF file. */
static void read_build_id(int fd, char id[2 * BUILD_ID_MAX + 1])
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *bytes;
	ssize_t n = elf != NULL ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;

	id[0] = '\0';
	if (n > 0 && n <= BUILD_ID_MAX)
		hex_bytes(id, bytes, (size_t)n);
	elf_end(elf);
}

/* Is this the build that was profiled? */
static bool is_same(const struct debug_file *file, int fd, const struct stat *st)
{
	char id[2 * BUILD_ID_MAX + 1];

	read_build_id(fd, id);
	if (strcmp(id, file->search.build_id) != 0)
		return false;
	return id[0] != '\0' || file->time_ns == 0 ||
	       (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec <= file->time_ns;
}

/* Take the file at this path if it is the right one. */
static bool take(void *context, const char *path)
{
	struct debug_file *file = context;
	struct stat st;
	int fd = open_regular(path, &st);

	if (fd < 0)
		return false;
	if (!is_same(file, fd, &st)) {
		close(fd);
		return false;
	}
	file->path = xstrdup(path);
	file->fd = fd;
	return true;
}

static bool is_there(void *context, const char *path)
{
	struct stat st;
	int fd = open_regular(path, &st);

	(void)context;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* --- separate debug files ----------------------------------------------------------------------------------------- */

/* The file that .gnu_debuglink names, recognized by its checksum where there are no build IDs. */
struct link {
	struct debug_file *file;
	GElf_Word checksum;
	int fd;
	char *path;
};

static bool has_checksum(int fd, GElf_Word checksum)
{
	uLong crc = crc32(0, NULL, 0);
	unsigned char bytes[1024];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		crc = crc32(crc, bytes, (uInt)n);
	lseek(fd, 0, SEEK_SET);
	return crc == checksum;
}

static bool take_debug_file(void *context, const char *path)
{
	struct link *link = context;
	const char *wanted = link->file->search.build_id;
	char id[2 * BUILD_ID_MAX + 1];
	struct stat st;
	int fd = open_regular(path, &st);

	if (fd < 0)
		return false;
	read_build_id(fd, id);
	if (wanted[0] != '\0' ? strcmp(id, wanted) != 0 : !has_checksum(fd, link->checksum)) {
		close(fd);
		return false;
	}
	link->fd = fd;
	link->path = xstrdup(path);
	return true;
}

/* Any file: libdw compares the build ID of what .gnu_debugaltlink names itself. */
static bool take_any(void *context, const char *path)
{
	struct link *link = context;
	struct stat st;

	link->fd = open_regular(path, &st);
	if (link->fd < 0)
		return false;
	link->path = xstrdup(path);
	return true;
}

/* Is this what .gnu_debuglink of the file names, or does libdwfl ask for another file, that of .gnu_debugaltlink? */
static bool is_own_link(struct debug_file *file, const char *link)
{
	GElf_Addr bias;
	GElf_Word checksum;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	const char *own = elf != NULL ? dwelf_elf_gnu_debuglink(elf, &checksum) : NULL;

	return link == NULL || (own != NULL && strcmp(own, link) == 0);
}

/* libdwfl asks for a debug file: look in our own places, and leave the usual ones to it. The results are its: the path is freed by it. */
static int find_debug_file(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			   const char *file_name, const char *debug_link, GElf_Word checksum, char **result)
{
	struct debug_file *file = *userdata;
	struct link link = {.file = file, .checksum = checksum, .fd = -1};
	bool found;

	if (is_own_link(file, debug_link))
		found = debug_file_search_build_id(&file->search, take_debug_file, &link) ||
			(debug_link != NULL &&
			 debug_file_search_link(&file->search, debug_link, take_debug_file, &link));
	else
		found = file->search.sysroot[0] != '\0' && debug_link[0] == '/' &&
			debug_file_search_path(&file->search, debug_link, take_any, &link);
	if (!found)
		return dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, debug_link, checksum,
						    result);
	*result = link.path;
	return link.fd;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* The n-th program header if it is one of code. */
static bool code_segment(Elf *elf, size_t n, GElf_Phdr *segment)
{
	return gelf_getphdr(elf, (int)n, segment) != NULL && segment->p_type == PT_LOAD && (segment->p_flags & PF_X);
}

static size_t segment_count(Elf *elf)
{
	size_t count;

	return elf != NULL && elf_getphdrnum(elf, &count) == 0 ? count : 0;
}

static Elf *elf_of(const struct debug_file *file)
{
	GElf_Addr bias; /* 0, as the module was reported at 0 */

	return dwfl_module_getelf(file->module, &bias);
}

/* Have libdwfl open the file that was found, as if it were loaded where it was linked to. */
static bool open_module(struct debug_file *file)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	void **userdata;

	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl == NULL)
		return false;
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_elf(file->dwfl, "", file->path, file->fd, 0, true);
	if (file->module == NULL)
		return false;
	file->fd = -1;
	dwfl_report_end(file->dwfl, NULL, NULL);
	dwfl_module_info(file->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = file;
	return elf_of(file) != NULL;
}

static Dwarf_Addr lowest_code(const struct debug_file *file)
{
	Elf *elf = elf_of(file);
	Dwarf_Addr lowest = UINT64_MAX;
	GElf_Phdr segment;

	for (size_t i = 0; i < segment_count(elf); i++)
		if (code_segment(elf, i, &segment) && segment.p_vaddr < lowest)
			lowest = segment.p_vaddr;
	return lowest - file->bias;
}

enum debug_file_result debug_file_open(struct debug_file *file, const struct debug_file_search *search, int64_t time_ns)
{
	*file = (struct debug_file){.search = *search, .time_ns = time_ns, .fd = -1};
	elf_version(EV_CURRENT); /* libelf wants to be asked */
	if (!debug_file_search_binary(search, take, file) && !debug_file_search_build_id(search, take, file))
		return debug_file_search_path(search, search->path, is_there, NULL) ? DEBUG_FILE_CHANGED
										    : DEBUG_FILE_MISSING;
	if (!open_module(file))
		return DEBUG_FILE_CHANGED;
	file->dwarf = dwfl_module_getdwarf(file->module, &file->bias);
	file->lowest = lowest_code(file);
	return DEBUG_FILE_OK;
}

void debug_file_close(struct debug_file *file)
{
	dwfl_end(file->dwfl);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
}

bool debug_file_segment(const struct debug_file *file, uint64_t offset, Dwarf_Addr *start)
{
	Elf *elf = elf_of(file);
	size_t count = segment_count(elf);
	bool found = false;
	GElf_Phdr segment;

	for (size_t i = 0; i < count; i++) {
		bool exact;

		if (!code_segment(elf, i, &segment))
			continue;
		exact = segment.p_offset == offset;
		/* /proc/PID/maps, which other profilers go by, has whole pages. */
		if (exact || (offset >= segment.p_offset / PAGE_BYTES * PAGE_BYTES &&
			      offset < segment.p_offset + segment.p_memsz)) {
			*start = segment.p_vaddr - segment.p_offset + offset;
			found = true;
		}
		if (exact)
			break;
	}
	return found;
}
