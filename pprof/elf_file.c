/* elf_file.c - an ELF file to read: opened, checked, its build ID and symbol tables found. */
#include "pprof/elf_file.h"

#include "core/sys.h"

#include <string.h>

#if defined(__x86_64__)
#define ELF_FILE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_FILE_MACHINE EM_AARCH64
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_FILE_DATA ELFDATA2LSB
#else
#define ELF_FILE_DATA ELFDATA2MSB
#endif

/* `count` objects of `size` bytes at an offset, or NULL when they are not all in the file or not aligned to `align`. */
static const void *objects_at(const struct elf_file *file, uint64_t offset, uint64_t count, size_t size, size_t align)
{
	if (offset % align || offset > file->size || count > (file->size - offset) / size)
		return NULL;
	return file->data + offset;
}

static const Elf64_Ehdr *header_of(const struct elf_file *file)
{
	return (const Elf64_Ehdr *)file->data; /* check_header saw that it is there */
}

static bool check_header(const struct elf_file *file)
{
	const Elf64_Ehdr *header = header_of(file);

	return file->size >= sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELF_FILE_DATA &&
	       header->e_machine == ELF_FILE_MACHINE;
}

bool elf_file_image(struct elf_file *file, const void *image, size_t size)
{
	*file = (struct elf_file){.data = image, .size = size};
	return check_header(file);
}

bool elf_file_open(struct elf_file *file, const char *path)
{
	int fd = sys_open_read(path);

	*file = (struct elf_file){0};
	if (fd < 0)
		return false;

	int64_t size = sys_file_size(fd);

	if (size > 0)
		file->data = sys_map_file(fd, (size_t)size);
	sys_close(fd);
	if (!file->data)
		return false;
	file->size = (size_t)size;
	file->mapped = true;
	if (check_header(file))
		return true;
	elf_file_close(file);
	return false;
}

void elf_file_close(struct elf_file *file)
{
	if (file->mapped)
		sys_unmap(file->data, file->size);
	*file = (struct elf_file){0};
}

/* The section headers; *count is 0 when there are none, or none that can be read. */
static const Elf64_Shdr *sections_of(const struct elf_file *file, size_t *count)
{
	const Elf64_Ehdr *header = header_of(file);
	const Elf64_Shdr *sections = NULL;

	*count = 0;
	if (header->e_shoff == 0 || header->e_shentsize != sizeof(*sections))
		return NULL;

	sections = objects_at(file, header->e_shoff, 1, sizeof(*sections), _Alignof(Elf64_Shdr));
	if (!sections)
		return NULL;

	/* Past 65,279 sections the count is in the first one's size. Source: System V ABI, "ELF Header", e_shnum. */
	uint64_t number = header->e_shnum ? header->e_shnum : sections->sh_size;

	if (!objects_at(file, header->e_shoff, number, sizeof(*sections), _Alignof(Elf64_Shdr)))
		return NULL;
	*count = number;
	return sections;
}

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Look for the build ID among notes of `align` (4, or 8 where the segment says so). */
static struct elf_bytes build_id_in(const unsigned char *notes, size_t size, size_t align)
{
	static const char owner[] = "GNU";
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));

		/* Each field has 32 bits, so these sums cannot overflow. */
		size_t name = at + sizeof(note);
		size_t contents = align_up(name + note.n_namesz, align);
		size_t next = align_up(contents + note.n_descsz, align);

		if (contents > size || note.n_descsz > size - contents)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(owner) &&
		    memcmp(notes + name, owner, sizeof(owner)) == 0)
			return (struct elf_bytes){notes + contents, note.n_descsz};
		if (next > size)
			break;
		at = next;
	}
	return (struct elf_bytes){NULL, 0};
}

static struct elf_bytes build_id_at(const struct elf_file *file, uint64_t offset, uint64_t size, uint64_t align)
{
	const unsigned char *notes = objects_at(file, offset, size, 1, 1);

	return notes ? build_id_in(notes, size, align == 8 ? 8 : 4) : (struct elf_bytes){NULL, 0};
}

/* Program headers are what the loader went by. A separate debug file keeps them, but with offsets of the original
 * file: there the section headers tell. */
struct elf_bytes elf_file_build_id(const struct elf_file *file)
{
	const Elf64_Ehdr *header = header_of(file);
	const Elf64_Phdr *segments =
		objects_at(file, header->e_phoff, header->e_phnum, sizeof(*segments), _Alignof(Elf64_Phdr));
	struct elf_bytes id = {NULL, 0};

	if (segments && header->e_phentsize == sizeof(*segments)) {
		for (size_t i = 0; i < header->e_phnum && !id.at; i++)
			if (segments[i].p_type == PT_NOTE)
				id = build_id_at(file, segments[i].p_offset, segments[i].p_filesz, segments[i].p_align);
	}

	size_t section_count;
	const Elf64_Shdr *sections = sections_of(file, &section_count);

	for (size_t i = 0; i < section_count && !id.at; i++)
		if (sections[i].sh_type == SHT_NOTE)
			id = build_id_at(file, sections[i].sh_offset, sections[i].sh_size, sections[i].sh_addralign);
	return id;
}

static bool read_symbols(const struct elf_file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
			 struct elf_symbols *symbols)
{
	if (table->sh_entsize != sizeof(Elf64_Sym) || strings->sh_type != SHT_STRTAB ||
	    (table->sh_flags | strings->sh_flags) & SHF_COMPRESSED)
		return false;
	symbols->count = table->sh_size / sizeof(Elf64_Sym);
	symbols->at = objects_at(file, table->sh_offset, symbols->count, sizeof(Elf64_Sym), _Alignof(Elf64_Sym));
	symbols->strings_size = strings->sh_size;
	symbols->strings = objects_at(file, strings->sh_offset, strings->sh_size, 1, 1);
	return symbols->at && symbols->strings;
}

bool elf_file_symbols(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols)
{
	size_t count;
	const Elf64_Shdr *sections = sections_of(file, &count);

	for (size_t i = 0; i < count; i++)
		if (sections[i].sh_type == type)
			return sections[i].sh_link < count &&
			       read_symbols(file, &sections[i], &sections[sections[i].sh_link], symbols);
	return false;
}

const char *elf_symbols_string(const struct elf_symbols *symbols, size_t offset)
{
	if (offset >= symbols->strings_size || !memchr(symbols->strings + offset, '\0', symbols->strings_size - offset))
		return NULL;
	return symbols->strings + offset;
}
