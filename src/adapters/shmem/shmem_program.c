/*
 * Global variables in a program's file: ELF, 64 bits, as written by the linkers of binutils and
 * LLVM.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "shmem_program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define RELOCATION_COPY R_X86_64_COPY
#elif defined(__aarch64__)
#define RELOCATION_COPY R_AARCH64_COPY
#else
#define RELOCATION_COPY 0 /* unknown processor: variables cannot be told apart */
#endif

/* ---- the file ---- */

static const Elf64_Ehdr *header_of(const keel_shmem_program_t *program)
{
    return (const Elf64_Ehdr *)program->file;
}

static const Elf64_Shdr *section_of(const keel_shmem_program_t *program, unsigned i)
{
    return (const Elf64_Shdr *)(program->file + header_of(program)->e_shoff) + i;
}

static const char *name_of(const keel_shmem_program_t *program, const Elf64_Shdr *section)
{
    return program->file + section_of(program, header_of(program)->e_shstrndx)->sh_offset + section->sh_name;
}

/* True if all parts of the file to be read lie within the file. */
static int is_complete(const keel_shmem_program_t *program)
{
    const Elf64_Ehdr *header = header_of(program);

    if (program->bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff > program->bytes || header->e_shstrndx >= header->e_shnum ||
        header->e_shnum > (program->bytes - header->e_shoff) / sizeof(Elf64_Shdr) || header->e_phoff > program->bytes ||
        header->e_phnum > (program->bytes - header->e_phoff) / sizeof(Elf64_Phdr)) {
        return 0;
    }
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = section_of(program, i);

        if (section->sh_type != SHT_NOBITS &&
            (section->sh_offset > program->bytes || section->sh_size > program->bytes - section->sh_offset)) {
            return 0;
        }
    }
    return 1;
}

static int file_map(keel_shmem_program_t *program)
{
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *file = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &about) == 0) {
        file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (file == MAP_FAILED) {
        return 0;
    }
    program->file = file;
    program->bytes = (size_t)about.st_size;
    return 1;
}

/* ---- what is in memory ---- */

typedef struct loaded {
    keel_shmem_program_t *program;
    uintptr_t relro_end; /* end of the part that the loader has written and then made read-only */
    /* the file is the running program, not a loader that runs the program */
    int is_this;
} loaded_t;

static int loaded_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    loaded_t *loaded = arg;
    keel_shmem_program_t *program = loaded->program;
    const Elf64_Ehdr *header = header_of(program);

    (void)size;
    loaded->is_this = info->dlpi_phnum == header->e_phnum && memcmp(info->dlpi_phdr, program->file + header->e_phoff,
                                                                    header->e_phnum * sizeof(Elf64_Phdr)) == 0;
    program->bias = info->dlpi_addr;
    program->low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

        if (part->p_type == PT_LOAD) {
            program->low = begin < program->low ? begin : program->low;
            program->high = end > program->high ? end : program->high;
        } else if (part->p_type == PT_GNU_RELRO) {
            loaded->relro_end = end;
        }
    }
    return 1; /* the first is the program */
}

/* ---- ranges ---- */

static int is_of_variables(const keel_shmem_program_t *program, const Elf64_Shdr *section, uintptr_t relro_end)
{
    static const char *const of_loader[] = {".got", ".got.plt", ".plt", ".tm_clone_table", ".ctors", ".dtors", ".jcr"};
    const char *name = name_of(program, section);

    if ((section->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_TLS)) != (SHF_ALLOC | SHF_WRITE) || section->sh_size == 0 ||
        (section->sh_type != SHT_PROGBITS && section->sh_type != SHT_NOBITS) ||
        program->bias + section->sh_addr < relro_end || strncmp(name, ".data.rel.ro", strlen(".data.rel.ro")) == 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(of_loader) / sizeof(of_loader[0]); i++) {
        if (strcmp(name, of_loader[i]) == 0) {
            return 0;
        }
    }
    return 1;
}

static int range_compare(const void *a, const void *b)
{
    const keel_shmem_range_t *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Cuts a hole out of its range: the parts before and behind the hole remain. */
static void ranges_cut(keel_shmem_program_t *program, uintptr_t begin, uintptr_t end)
{
    for (unsigned i = 0; i < program->count; i++) {
        keel_shmem_range_t *range = &program->ranges[i];

        if (begin < range->end && end > range->begin) {
            program->ranges[program->count++] =
                (keel_shmem_range_t){end < range->end ? end : range->end, range->end, range->is_volatile};
            range->end = begin > range->begin ? begin : range->begin;
            return; /* a variable lies in one section */
        }
    }
}

/* Counts shared libraries' variables stored here; with @a cuts removes them from the ranges. */
static unsigned copies_walk(keel_shmem_program_t *program, int cuts)
{
    unsigned count = 0;

    for (unsigned i = 0; i < header_of(program)->e_shnum; i++) {
        const Elf64_Shdr *section = section_of(program, i), *symbols;

        if (section->sh_type != SHT_RELA || section->sh_link >= header_of(program)->e_shnum) {
            continue;
        }
        symbols = section_of(program, section->sh_link);
        for (uint64_t j = 0; j < section->sh_size / sizeof(Elf64_Rela); j++) {
            const Elf64_Rela *relocation = (const Elf64_Rela *)(program->file + section->sh_offset) + j;
            const uint64_t of = ELF64_R_SYM(relocation->r_info);

            if (ELF64_R_TYPE(relocation->r_info) == RELOCATION_COPY && of < symbols->sh_size / sizeof(Elf64_Sym)) {
                const Elf64_Sym *symbol = (const Elf64_Sym *)(program->file + symbols->sh_offset) + of;
                const uintptr_t begin = program->bias + relocation->r_offset;

                count++;
                if (cuts) {
                    ranges_cut(program, begin, begin + symbol->st_size);
                }
            }
        }
    }
    return count;
}

static int ranges_find(keel_shmem_program_t *program, uintptr_t relro_end)
{
    const unsigned sections = header_of(program)->e_shnum;
    unsigned kept = 0;

    program->ranges = calloc(sections + copies_walk(program, 0), sizeof(program->ranges[0]));
    if (program->ranges == NULL) {
        return 0;
    }
    for (unsigned i = 0; i < sections; i++) {
        const Elf64_Shdr *section = section_of(program, i);

        if (is_of_variables(program, section, relro_end)) {
            const uintptr_t begin = program->bias + section->sh_addr;

            program->ranges[program->count++] = (keel_shmem_range_t){
                begin, begin + section->sh_size, strcmp(name_of(program, section), KEEL_SHMEM_VOLATILE) == 0};
        }
    }
    (void)copies_walk(program, 1);
    for (unsigned i = 0; i < program->count; i++) {
        if (program->ranges[i].begin < program->ranges[i].end) {
            program->ranges[kept++] = program->ranges[i];
        }
    }
    program->count = kept;
    qsort(program->ranges, kept, sizeof(program->ranges[0]), range_compare);
    return 1;
}

const char *keel_shmem_program_open(keel_shmem_program_t *program)
{
    loaded_t loaded = {.program = program};
    const char *why = NULL;

    *program = (keel_shmem_program_t){0};
    if (RELOCATION_COPY == 0) {
        return "not known for this processor";
    }
    if (!file_map(program)) {
        return "the program's file cannot be read";
    }
    if (!is_complete(program)) {
        why = "the program's file does not say where they are";
    } else {
        (void)dl_iterate_phdr(loaded_look, &loaded);
        if (!loaded.is_this) {
            why = "the program was started by its loader";
        } else if (!ranges_find(program, loaded.relro_end)) {
            why = "no memory";
        } else if (program->count == 0) {
            why = "there are none";
        }
    }
    if (why != NULL) {
        keel_shmem_program_close(program);
    }
    return why;
}

typedef struct {
    uintptr_t begin, end, relro_end;
} written_t;

static int written_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    written_t *written = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0 && end > written->end) {
            written->begin = begin;
            written->end = end;
        } else if (part->p_type == PT_GNU_RELRO) {
            written->relro_end = end;
        }
    }
    return 1; /* the first is the program */
}

size_t keel_shmem_program_data(uintptr_t *begin_p)
{
    written_t written = {0};

    (void)dl_iterate_phdr(written_look, &written);
    if (written.relro_end > written.begin && written.relro_end <= written.end) {
        written.begin = written.relro_end;
    }
    *begin_p = written.begin;
    return written.end - written.begin;
}

void keel_shmem_program_close(keel_shmem_program_t *program)
{
    if (program->file != NULL) {
        munmap((void *)program->file, program->bytes);
    }
    free(program->ranges);
    *program = (keel_shmem_program_t){0};
}

int keel_shmem_program_is_constant(const keel_shmem_program_t *program, uintptr_t address, size_t bytes)
{
    if (program->file == NULL || address < program->low || address >= program->high) {
        return 0;
    }
    for (unsigned i = 0; i < header_of(program)->e_shnum; i++) {
        const Elf64_Shdr *section = section_of(program, i);
        const uintptr_t begin = program->bias + section->sh_addr;
        const int is_written = (section->sh_flags & SHF_WRITE) != 0 &&
                               strncmp(name_of(program, section), ".data.rel.ro", strlen(".data.rel.ro")) != 0;

        if ((section->sh_flags & (SHF_ALLOC | SHF_TLS)) == SHF_ALLOC && !is_written && address >= begin &&
            bytes <= section->sh_size && address - begin <= section->sh_size - bytes) {
            return 1;
        }
    }
    return 0;
}

int keel_shmem_program_moves(const keel_shmem_program_t *program)
{
    const int is_fixed = personality(0xffffffff) & ADDR_NO_RANDOMIZE; /* a query without a change */

    return program->bias != 0 && !is_fixed;
}

const char *keel_shmem_program_symbol(const keel_shmem_program_t *program, uintptr_t address, size_t *offset_p)
{
    for (unsigned i = 0; i < header_of(program)->e_shnum; i++) {
        const Elf64_Shdr *section = section_of(program, i), *names;

        if (section->sh_type != SHT_SYMTAB || section->sh_link >= header_of(program)->e_shnum) {
            continue;
        }
        names = section_of(program, section->sh_link);
        for (uint64_t j = 0; j < section->sh_size / sizeof(Elf64_Sym); j++) {
            const Elf64_Sym *symbol = (const Elf64_Sym *)(program->file + section->sh_offset) + j;
            const uintptr_t begin = program->bias + symbol->st_value;

            if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && address >= begin && address - begin < symbol->st_size &&
                symbol->st_name < names->sh_size) {
                *offset_p = address - begin;
                return program->file + names->sh_offset + symbol->st_name;
            }
        }
    }
    return NULL;
}
