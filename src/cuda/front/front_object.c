/* Finds the CUDA runtime that is linked into an object: its functions in .symtab, where they are local symbols as well,
 * or in .dynsym. The file is read again, since symbol tables and section headers are not mapped with the program. */
#include "front/front.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const uint8_t *base; /* where it is mapped */
    size_t bytes;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
};

static bool is_inside(const struct file *f, uint64_t at, uint64_t bytes)
{
    return at <= f->bytes && bytes <= f->bytes - at;
}

static bool open_file(const char *path, struct file *f)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof *f->head;
    void *p = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED) return false;
    *f = (struct file){ .base = p, .bytes = (size_t)st.st_size, .head = p };
    const Elf64_Ehdr *h = f->head;
    ok = !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_shnum &&
         h->e_shentsize == sizeof *f->section && h->e_shoff % _Alignof(Elf64_Shdr) == 0 &&
         is_inside(f, h->e_shoff, h->e_shnum * sizeof *f->section);
    if (ok) {
        f->section = (const Elf64_Shdr *)(const void *)(f->base + h->e_shoff);
        return true;
    }
    munmap(p, f->bytes);
    return false;
}

/* The section's bytes; NULL: they are not in the file. */
static const void *contents(const struct file *f, const Elf64_Shdr *s)
{
    bool ok = s->sh_type != SHT_NOBITS && is_inside(f, s->sh_offset, s->sh_size);
    return ok ? f->base + s->sh_offset : NULL;
}

/* A table of names has this one. */
static bool has_name(const struct file *f, const Elf64_Shdr *names, const char *name)
{
    const void *p = contents(f, names);
    return p && memmem(p, names->sh_size, name, strlen(name) + 1);
}

/* Which runtime it is, by names that came or went with a release. */
static uint32_t runtime_of(const struct file *f, const Elf64_Shdr *names)
{
    if (has_name(f, names, "cudaBindTexture")) return 0;
    if (has_name(f, names, "cudaGetDeviceProperties_v2")) return 1;
    return 2;
}

/* The object asks for landing pads: GNU_PROPERTY_AARCH64_FEATURE_1_BTI. */
static bool has_bti(const struct file *f)
{
    enum { TYPE_PROPERTIES = 5, FEATURE_1 = (int)0xc0000000, BTI = 1 };
    for (uint32_t i = 0; i < f->head->e_shnum; i++) {
        const Elf64_Shdr *s = &f->section[i];
        const uint8_t *p = s->sh_type == SHT_NOTE ? contents(f, s) : NULL;
        uint32_t head[3], property[3];
        if (!p || s->sh_size < 28 || f->head->e_machine != EM_AARCH64) continue;
        memcpy(head, p, sizeof head);
        if (head[0] != 4 || head[2] != TYPE_PROPERTIES || memcmp(p + 12, "GNU", 4)) continue;
        for (size_t at = 16; at + 12 <= s->sh_size;) {
            memcpy(property, p + at, sizeof property);
            if (property[0] == (uint32_t)FEATURE_1) return property[2] & BTI;
            if (property[1] > s->sh_size) break;
            at += 8 + ((property[1] + 7) & ~(size_t)7);
        }
    }
    return false;
}

/* Whether so many bytes from an address on are code that the loader maps. */
static bool is_code(const struct file *f, uint64_t at, uint64_t bytes)
{
    const Elf64_Ehdr *h = f->head;
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff % _Alignof(Elf64_Phdr)) return false;
    if (!is_inside(f, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr))) return false;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)(f->base + h->e_phoff);
    for (uint32_t i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && at >= p[i].p_vaddr && bytes <= p[i].p_memsz &&
            at - p[i].p_vaddr <= p[i].p_memsz - bytes)
            return true;
    return false;
}

/* The functions of a symbol table that are entries of the runtime: counted, and written where `hit` is not NULL. */
static size_t entries_find(const struct file *f, const Elf64_Shdr *table, uintptr_t bias, struct front_hit *hit)
{
    const Elf64_Shdr *names = &f->section[table->sh_link];
    const Elf64_Sym *symbol = contents(f, table);
    const char *text = contents(f, names);
    uint32_t runtime = runtime_of(f, names);
    size_t hits = 0;
    for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++) {
        const Elf64_Sym *s = &symbol[i];
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_name >= names->sh_size) continue;
        const char *name = text + s->st_name;
        if (name[0] != 'c' && name[0] != '_') continue;
        struct front_entry *e = front_entry_of(runtime, name);
        if (!e || !is_code(f, s->st_value, s->st_size)) continue;
        if (hit) hit[hits] = (struct front_hit){ (uint8_t *)(bias + s->st_value), s->st_size, e };
        hits++;
    }
    return hits;
}

static bool is_table(const struct file *f, const Elf64_Shdr *s)
{
    if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) return false;
    if (s->sh_link >= f->head->e_shnum || !contents(f, s) || s->sh_offset % _Alignof(Elf64_Sym)) return false;
    const Elf64_Shdr *names = &f->section[s->sh_link];
    const char *text = contents(f, names);
    return text && names->sh_size && !text[names->sh_size - 1] && has_name(f, names, "__cudaRegisterFatBinary");
}

/* true: the table has a runtime, whether or not it could be redirected. Functions that are all too short for a branch
 * are no runtime but stubs, which look for one themselves, as those of JAX do. */
static bool table_redirect(const struct file *f, const Elf64_Shdr *table, const char *path, uintptr_t bias,
                           bool verbose)
{
    static const char *const why_text[] = {
        [FRONT_NO_ROOM] = "there is no free address within reach of it",
        [FRONT_DENIED] = "this process may not change its own code",
    };
    size_t hits = entries_find(f, table, bias, NULL), left = 0;
    if (!hits) return false;
    struct front_hit *hit = front_memory(sizeof *hit * hits);
    enum front_failure why = FRONT_NO_ROOM;
    if (hit) entries_find(f, table, bias, hit);
    if (!hit || !front_redirect(hit, hits, has_bti(f), &why)) {
        if (hit) munmap(hit, sizeof *hit * hits);
        if (why == FRONT_SHORT) return false;
        front_say("lockstep: %s: its CUDA runtime stays in place, since %s; link with -cudart shared", path,
                  why_text[why]);
        return true;
    }
    for (size_t i = 0; i < hits; i++)
        if (!hit[i].at) {
            left++;
            front_say("lockstep: %s: %s is too short to be redirected", path, hit[i].entry->name);
        }
    if (verbose)
        front_say("lockstep: front: %s: %zu of %zu entries of its runtime go to %s", path, hits - left, hits,
                  front_runtime_file[hit[0].entry->runtime]);
    munmap(hit, sizeof *hit * hits);
    return true;
}

static bool is_watched(const char *name)
{
    return front_exec_is(name) || front_signal_is(name) || front_clock_is(name);
}

/* Whether the object imports a function that starts programs, sets handlers, leaves or reads a clock. */
static bool imports_watched(const struct file *f)
{
    for (uint32_t i = 0; i < f->head->e_shnum; i++) {
        const Elf64_Shdr *s = &f->section[i];
        const Elf64_Sym *symbol = s->sh_type == SHT_DYNSYM && s->sh_link < f->head->e_shnum ? contents(f, s) : NULL;
        const Elf64_Shdr *names = symbol ? &f->section[s->sh_link] : NULL;
        const char *text = names ? contents(f, names) : NULL;
        if (!text || !names->sh_size || text[names->sh_size - 1] || s->sh_offset % _Alignof(Elf64_Sym)) continue;
        for (size_t k = 0; k < s->sh_size / sizeof *symbol; k++)
            if (symbol[k].st_shndx == SHN_UNDEF && symbol[k].st_name < names->sh_size &&
                is_watched(text + symbol[k].st_name))
                return true;
    }
    return false;
}

bool front_object(const char *path, uintptr_t bias, bool verbose)
{
    struct file f;
    if (!open_file(path, &f)) return false;
    /* .symtab has every name that .dynsym has */
    for (int full = 1; full >= 0; full--) {
        bool done = false;
        for (uint32_t i = 0; i < f.head->e_shnum && !done; i++)
            if ((f.section[i].sh_type == SHT_SYMTAB) == full && is_table(&f, &f.section[i]))
                done = table_redirect(&f, &f.section[i], path, bias, verbose);
        if (done) break;
    }
    bool starts = imports_watched(&f);
    munmap((void *)(uintptr_t)f.base, f.bytes);
    return starts;
}

uintptr_t front_object_symbol(const char *path, uintptr_t bias, const char *name)
{
    struct file f;
    uintptr_t found = 0;
    if (!open_file(path, &f)) return 0;
    for (uint32_t i = 0; i < f.head->e_shnum && !found; i++) {
        const Elf64_Shdr *s = &f.section[i];
        const Elf64_Sym *symbol = s->sh_type == SHT_DYNSYM && s->sh_link < f.head->e_shnum ? contents(&f, s) : NULL;
        const Elf64_Shdr *names = symbol ? &f.section[s->sh_link] : NULL;
        const char *text = names ? contents(&f, names) : NULL;
        if (!text || !names->sh_size || text[names->sh_size - 1] || s->sh_offset % _Alignof(Elf64_Sym)) continue;
        for (size_t k = 0; k < s->sh_size / sizeof *symbol && !found; k++)
            if (symbol[k].st_shndx != SHN_UNDEF && symbol[k].st_name < names->sh_size &&
                !strcmp(text + symbol[k].st_name, name))
                found = bias + symbol[k].st_value;
    }
    munmap((void *)(uintptr_t)f.base, f.bytes);
    return found;
}

/* A symbol of the mapped object gets another value. Its table lies with what is only read. */
static bool symbol_set(Elf64_Sym *at, uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & -page;
    size_t bytes = ((uintptr_t)(at + 1) - from + page - 1) & -page;
    if (mprotect((void *)from, bytes, PROT_READ | PROT_WRITE)) return false;
    at->st_value = value;
    return !mprotect((void *)from, bytes, PROT_READ);
}

void front_object_exports(const char *path, uintptr_t bias, bool verbose)
{
    struct file f;
    size_t hits = 0;
    if (!open_file(path, &f)) return;
    for (uint32_t i = 0; i < f.head->e_shnum; i++) {
        const Elf64_Shdr *s = &f.section[i];
        const Elf64_Sym *symbol = s->sh_type == SHT_DYNSYM && s->sh_link < f.head->e_shnum ? contents(&f, s) : NULL;
        const Elf64_Shdr *names = symbol ? &f.section[s->sh_link] : NULL;
        const char *text = names ? contents(&f, names) : NULL;
        if (!text || !names->sh_size || text[names->sh_size - 1] || s->sh_offset % _Alignof(Elf64_Sym)) continue;
        for (size_t k = 0; k < s->sh_size / sizeof *symbol; k++) {
            if (symbol[k].st_shndx == SHN_UNDEF || symbol[k].st_name >= names->sh_size) continue;
            uintptr_t own = front_producer_of(text + symbol[k].st_name, bias + symbol[k].st_value, bias);
            if (!own) continue;
            hits++;
            if (symbol_set((Elf64_Sym *)(bias + s->sh_addr) + k, own - bias)) continue;
            front_say("lockstep: %s: its functions stay, since this process may not change its tables; cubins that it "
                      "makes cannot be run: ask it for PTX",
                      path);
            munmap((void *)(uintptr_t)f.base, f.bytes);
            return;
        }
    }
    if (verbose) front_say("lockstep: front: %s: %zu of its exports are ours", path, hits);
    munmap((void *)(uintptr_t)f.base, f.bytes);
}
