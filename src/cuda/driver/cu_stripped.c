/* A runtime that is linked into a program whose symbols were stripped cannot be redirected (docs/inside/front.md). It
 * is known by what it asks the driver for, and by the file that asks: code of nvcc is in it, and nobody else registers
 * that. */
#include "driver/cu.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct stripped_elf { /* a file, mapped */
    const u8 *base;
    u64 bytes;
    const Elf64_Shdr *section;
    u32 sections;
};

static bool is_inside(const struct stripped_elf *f, u64 at, u64 bytes)
{
    return at <= f->bytes && bytes <= f->bytes - at;
}

static const char *contents(const struct stripped_elf *f, const Elf64_Shdr *s)
{
    return s->sh_type != SHT_NOBITS && is_inside(f, s->sh_offset, s->sh_size) ? (const char *)f->base + s->sh_offset
                                                                              : NULL;
}

static bool has_section(const struct stripped_elf *f, const Elf64_Shdr *names, const char *name)
{
    const char *text = contents(f, names);
    u64 bytes = strlen(name) + 1;
    for (u32 i = 0; text && i < f->sections; i++) {
        u64 at = f->section[i].sh_name;
        if (at < names->sh_size && bytes <= names->sh_size - at && !memcmp(text + at, name, bytes)) return true;
    }
    return false;
}

/* In a table of names of symbols. */
static bool has_symbol(const struct stripped_elf *f, const char *name)
{
    for (u32 i = 0; i < f->sections; i++) {
        const Elf64_Shdr *s = &f->section[i];
        if ((s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) || s->sh_link >= f->sections) continue;
        const char *text = contents(f, &f->section[s->sh_link]);
        if (text && memmem(text, f->section[s->sh_link].sh_size, name, strlen(name) + 1)) return true;
    }
    return false;
}

static bool read_elf(struct stripped_elf *f)
{
    Elf64_Ehdr h;
    if (f->bytes < sizeof h) return false;
    memcpy(&h, f->base, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shoff % 8 ||
        h.e_shentsize != sizeof(Elf64_Shdr) || !is_inside(f, h.e_shoff, (u64)h.e_shnum * sizeof(Elf64_Shdr)) ||
        h.e_shstrndx >= h.e_shnum)
        return false;
    f->section = (const Elf64_Shdr *)(const void *)(f->base + h.e_shoff);
    f->sections = h.e_shnum;
    return has_section(f, &f->section[h.e_shstrndx], ".nv_fatbin") && !has_symbol(f, "__cudaRegisterFatBinary");
}

bool cu_stripped_runtime(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool known = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
    void *p = known ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED) return false;
    struct stripped_elf f = { .base = p, .bytes = (u64)st.st_size };
    bool stripped = read_elf(&f);
    munmap(p, (size_t)st.st_size);
    return stripped;
}
