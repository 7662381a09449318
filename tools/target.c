/* target.c - looks at a program before it is run. */
#include "tools/target.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH_MAX 5  /* as the kernel: a script whose interpreter is a script, and so on */
#define SCRIPT_LINE_MAX 256 /* as the kernel: BINPRM_BUF_SIZE */

/* The tool's own ELF header, put there by the linker: what a native program looks like. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp: names with a slash are paths, others are looked for in PATH. */
static bool find_program(const char *command, char *path, unsigned cap)
{
	const char *dirs = getenv("PATH");

	if (strchr(command, '/') != NULL)
		return snprintf(path, cap, "%s", command) < (int)cap && is_program(path);
	if (dirs == NULL)
		dirs = "/bin:/usr/bin";
	for (;;) {
		int n = (int)strcspn(dirs, ":");

		if (snprintf(path, cap, "%.*s/%s", n > 0 ? n : 1, n > 0 ? dirs : ".", command) < (int)cap &&
		    is_program(path))
			return true;
		if (dirs[n] == '\0')
			return false;
		dirs += n + 1;
	}
}

static bool read_at(int fd, void *buf, size_t n, off_t offset)
{
	return pread(fd, buf, n, offset) == (ssize_t)n;
}

/* When the file starts with "#!", put its interpreter into path[0..cap). */
static bool script_interpreter(int fd, char *path, unsigned cap)
{
	char line[SCRIPT_LINE_MAX];
	ssize_t n = pread(fd, line, sizeof line - 1, 0);
	char *name;

	if (n < 3 || strncmp(line, "#!", 2) != 0)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t")] = '\0';
	return *name != '\0' && snprintf(path, cap, "%s", name) < (int)cap;
}

/* Would exec raise the caller's rights? Then the kernel sets AT_SECURE and the loader takes no LD_PRELOAD. */
static bool raises_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) || ((st.st_mode & S_ISGID) && st.st_gid != getgid()) ||
	       (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static bool has_loader(int fd, const ElfW(Ehdr) * header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		ElfW(Phdr) segment;

		if (!read_at(fd, &segment, sizeof segment, (off_t)(header->e_phoff + i * sizeof segment)))
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static enum target_kind inspect_elf(int fd)
{
	ElfW(Ehdr) header;

	if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return TARGET_UNKNOWN;
	if (header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] || header.e_machine != __ehdr_start.e_machine)
		return TARGET_FOREIGN;
	if (!has_loader(fd, &header))
		return TARGET_STATIC;
	return raises_rights(fd) ? TARGET_PRIVILEGED : TARGET_DYNAMIC;
}

enum target_kind target_inspect(const char *command, char *path, unsigned cap)
{
	if (!find_program(command, path, cap)) {
		snprintf(path, cap, "%s", command);
		return TARGET_UNKNOWN;
	}
	for (int depth = 0; depth <= SCRIPT_DEPTH_MAX; depth++) {
		enum target_kind kind;
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return TARGET_UNKNOWN;
		if (!script_interpreter(fd, path, cap)) {
			kind = inspect_elf(fd);
			close(fd);
			return kind;
		}
		close(fd);
	}
	return TARGET_UNKNOWN;
}

const char *target_obstacle(enum target_kind kind)
{
	switch (kind) {
	case TARGET_STATIC:
		return "it is statically linked, so libmprof.so cannot be loaded into it";
	case TARGET_PRIVILEGED:
		return "it is setuid, setgid or has file capabilities, so the system keeps libmprof.so out of it";
	case TARGET_FOREIGN:
		return "it is built for another machine than libmprof.so";
	default:
		return NULL;
	}
}
