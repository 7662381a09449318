/* elf_file.h - an ELF file to read: opened, checked, its build ID and symbol tables found. */
#ifndef MPROF_PPROF_ELF_FILE_H
#define MPROF_PPROF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nothing in the file is believed: each offset is checked against its size before use, and every pointer given out
 * here points to that many bytes inside it. A file cut short while it is mapped still raises SIGBUS; but it is a file
 * whose code this process runs, so it would get that anyway. */
struct elf_file {
	const unsigned char *data;
	size_t size;
	bool mapped; /* to be unmapped by elf_file_close */
};

struct elf_symbols {
	const Elf64_Sym *at; /* aligned */
	size_t count;
	const char *strings; /* what st_name is an offset in */
	size_t strings_size;
};

struct elf_bytes {
	const unsigned char *at; /* NULL = not there */
	size_t size;
};

/* Map a file read-only. False when it cannot be opened or is no ELF file of this machine.
 * Context: any thread, any signal handler; its descriptor is closed again before it returns. */
bool elf_file_open(struct elf_file *file, const char *path);

/* The same for an image that is in memory anyway (the vdso). */
bool elf_file_image(struct elf_file *file, const void *image, size_t size);

void elf_file_close(struct elf_file *file);

/* The build ID note's contents. */
struct elf_bytes elf_file_build_id(const struct elf_file *file);

/* The first symbol table of a type (SHT_SYMTAB, SHT_DYNSYM) with its strings; false when there is none. */
bool elf_file_symbols(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols);

/* The NUL-terminated string at an offset; NULL when it does not end inside the table. */
const char *elf_symbols_string(const struct elf_symbols *symbols, size_t offset);

#endif
