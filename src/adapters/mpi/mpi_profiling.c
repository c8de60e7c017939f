/*
 * Profiling names (PMPI_) are exported by the system's MPI, where they would act on a job of one.
 * Programs, profilers and Open MPI's Fortran bindings call them. In every loaded object except the
 * system's MPI and Keel, relocations to a profiling name are set to the function of this library:
 * before main(), and once more in MPI_Init() for objects loaded in between. Parameters do not
 * matter, so mpi.h is not needed.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "mpi_profiling.h"

#include "mpi_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DECLARE(_name) int _name(void);
KEEL_MPI_COVERED(DECLARE)
KEEL_MPI_REFUSED(DECLARE)

#define ENTRY(_name) {#_name, _name},
static const struct {
    const char *name;
    int (*function)(void);
} functions[] = {KEEL_MPI_COVERED(ENTRY) KEEL_MPI_REFUSED(ENTRY)};

/* The function for a profiling name; 0: not a function of this library. */
static uintptr_t function_of(const char *name)
{
    if (strncmp(name, "PMPI", 4) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(name + 1, functions[i].name) == 0) {
            return (uintptr_t)functions[i].function;
        }
    }
    return 0;
}

/* The loader may have made the page read-only. */
static void place_set(uintptr_t *place, uintptr_t function)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)place / page * page;

    if (mprotect((void *)begin, page, PROT_READ | PROT_WRITE) != 0) {
        fprintf(stderr, "mpi: PMPI_ functions cannot be redirected: a page of relocations cannot be written\n");
        _Exit(EXIT_FAILURE);
    }
    *place = function;
}

static void places_set(uintptr_t base, const ElfW(Rela) * entries, size_t bytes, const ElfW(Sym) * symbols,
                       const char *names)
{
    for (size_t i = 0; i < bytes / sizeof(*entries); i++) {
        const uint64_t info = entries[i].r_info;
        const uintptr_t function = function_of(names + symbols[ELF64_R_SYM(info)].st_name);

        if (ELF64_R_SYM(info) != 0 && function != 0) {
            place_set((uintptr_t *)(base + entries[i].r_offset), function);
        }
    }
}

/* The dynamic section locates a library's relocations; its addresses are relocated already. */
static void library_redirect(uintptr_t base, const ElfW(Dyn) * dynamic)
{
    const ElfW(Rela) * entries[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;

    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const uintptr_t value = dynamic->d_un.d_ptr;

        switch (dynamic->d_tag) {
        case DT_JMPREL:
            entries[0] = (const void *)value;
            break;
        case DT_PLTRELSZ:
            bytes[0] = value;
            break;
        case DT_RELA:
            entries[1] = (const void *)value;
            break;
        case DT_RELASZ:
            bytes[1] = value;
            break;
        case DT_SYMTAB:
            symbols = (const void *)value;
            break;
        case DT_STRTAB:
            names = (const void *)value;
            break;
        default:
            break;
        }
    }
    for (unsigned i = 0; i < 2 && symbols != NULL && names != NULL; i++) {
        places_set(base, entries[i], entries[i] != NULL ? bytes[i] : 0, symbols, names);
    }
}

/* True for the system's MPI with its components and for Keel, which mean the system's MPI when they
 * call profiling names. */
static int is_exempt(const char *name)
{
    static const char *const prefixes[] = {"libmpi.so", "libmpich.so", "libkeel", "mca_",      "libmca_",
                                           "libopen-",  "liboshmem",   "libpmix", "linux-vdso"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

static int library_visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *name = strrchr(info->dlpi_name, '/');

    if (is_exempt((name != NULL) ? name + 1 : info->dlpi_name)) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            library_redirect(info->dlpi_addr, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        }
    }
    return 0;
}

void keel_mpi_profiling_redirect(void)
{
    (void)dl_iterate_phdr(library_visit, NULL);
}

static void __attribute__((constructor)) redirect_at_load(void)
{
    keel_mpi_profiling_redirect();
}
