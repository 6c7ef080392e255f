/* How large a piece of the host's memory is: a block of malloc, a variable of a file, or what is left of a stack frame.
 * Each answer is sure or none: a caller takes it for the end of what the program may use.
 *
 * A block of glibc has its size in front of it, with flags in the three lowest bits. An address that is not one may
 * have something there that looks like a size. It is believed where it leads from block to block to the end of the
 * heap. */
#include "sites/where.h"
#include "base/mapping.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- blocks of malloc ---- */

enum {
    IN_USE_BEFORE = 1, /* flags of a size: the block before this one is in use */
    OWN_MAPPING = 2,   /* the block is a mapping of its own */
    FLAGS = 7,
    HEAD = 16, /* bytes in front of a block: the size of the one before, and its own */
    BLOCKS_MOST = 1 << 16
};

/* Whether sizes lead from this block to the end of the mapping that it lies in. */
static bool leads_to_end(u64 at, u64 size)
{
    struct mapping m;
    u64 head[2];
    if (!mapping_at(at, &m) || !m.write) return false;
    at += size;
    if (at >= m.high || !where_words(at, head) || !(head[1] & IN_USE_BEFORE)) return false;
    for (u32 n = 0; n < BLOCKS_MOST; n++) {
        size = head[1] & ~(u64)FLAGS;
        if (size % 16 || size < HEAD || size > m.high - at) return false;
        if ((at += size) == m.high) return true;
        if (!where_words(at, head)) return false;
    }
    return false;
}

static bool block_of_malloc(u64 address, u64 wanted, u64 *bytes)
{
    u64 head[2], page = page_size();
    if (address % 16 || address < page || !where_words(address - HEAD, head)) return false;
    u64 flags = head[1] & FLAGS, size = head[1] - flags;
    if (flags == OWN_MAPPING) {
        *bytes = size - HEAD;
        return !head[0] && (address - HEAD) % page == 0 && size >= page && size % page == 0;
    }
    *bytes = size - 8; /* the last word of a block lies in the head of the next one */
    if (flags & OWN_MAPPING || size % 16 || size < 2 * HEAD) return false;
    return *bytes >= wanted || leads_to_end(address - HEAD, size);
}

/* ---- variables ---- */

/* A file of the process: the one around an address. */
struct around {
    u64 address;       /* what is looked for */
    u64 bias;          /* added to addresses of the file */
    char path[4096];   /* "": there is no file */
    bool found, first; /* first: the program itself, which has no name here */
};
static int file_look(struct dl_phdr_info *x, size_t bytes, void *self)
{
    struct around *a = self;
    (void)bytes;
    bool first = a->first;
    a->first = false;
    for (u32 i = 0; i < x->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &x->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || a->address - (x->dlpi_addr + p->p_vaddr) >= p->p_memsz) continue;
        a->bias = x->dlpi_addr;
        a->found = true;
        snprintf(a->path, sizeof a->path, "%s", first ? mapping_exe() : x->dlpi_name ? x->dlpi_name : "");
        return 1;
    }
    return 0;
}

/* What is looked for in a file: a variable, of which the end is wanted; or a function, of which the name is. */
struct wanted {
    u64 address; /* in the file */
    u64 end;     /* found: the largest of several; 0: none is */
    char *name;  /* NULL: a variable is wanted */
    size_t size;
};

static void name_look(const u8 *file, u64 n, const ElfW(Shdr) * names, const ElfW(Sym) * y, struct wanted *w)
{
    if (names->sh_offset > n || names->sh_size > n - names->sh_offset || y->st_name >= names->sh_size) return;
    const char *name = (const char *)file + names->sh_offset + y->st_name;
    snprintf(w->name, w->size, "%.*s", (int)strnlen(name, MIN_OF(names->sh_size - y->st_name, w->size - 1)), name);
}

static void symbols_look(const u8 *file, u64 n, struct wanted *w)
{
    const ElfW(Ehdr) *h = (const void *)file;
    if (n < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_shentsize != sizeof(ElfW(Shdr))) return;
    if (h->e_shoff % 8 || h->e_shoff > n || h->e_shnum > (n - h->e_shoff) / sizeof(ElfW(Shdr))) return;
    const ElfW(Shdr) *section = (const void *)(file + h->e_shoff);
    const u32 type = w->name ? STT_FUNC : STT_OBJECT;
    for (u32 i = 0; i < h->e_shnum; i++) {
        const ElfW(Shdr) *s = &section[i];
        if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) continue;
        if (s->sh_offset % 8 || s->sh_offset > n || s->sh_size > n - s->sh_offset) continue;
        const ElfW(Sym) *symbol = (const void *)(file + s->sh_offset);
        for (u64 k = 0; k < s->sh_size / sizeof *symbol; k++) {
            const ElfW(Sym) *y = &symbol[k];
            if ((y->st_info & 15) != type || y->st_shndx == SHN_UNDEF) continue;
            if (w->address - y->st_value >= y->st_size || y->st_value + y->st_size <= w->end) continue;
            w->end = y->st_value + y->st_size;
            if (w->name && s->sh_link < h->e_shnum) name_look(file, n, &section[s->sh_link], y, w);
        }
    }
}

static u64 symbol_end(const struct around *a, char *name, size_t size)
{
    struct wanted w = { .address = a->address - a->bias, .name = name, .size = size };
    int fd = a->path[0] ? open(a->path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat is;
    if (fd < 0) return 0;
    void *file = fstat(fd, &is) || is.st_size <= 0 ? MAP_FAILED
                                                   : mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) return 0;
    symbols_look(file, (u64)is.st_size, &w);
    munmap(file, (size_t)is.st_size);
    return w.end ? w.end + a->bias : 0;
}

/* Answers are kept for a thread: the symbols of a file are many. One of a file that was unloaded since is for addresses
 * that another file may have now, so the loader's count belongs to it. */
static bool variable_of_file(u64 address, u64 *bytes)
{
    enum { KEPT = 64 };
    static _Thread_local struct {
        u64 address, end, changes;
    } kept[KEPT];
    struct around a = { .address = address, .first = true };
    u64 changes = where_modules_changes(), slot = address / 8 % KEPT;
    if (kept[slot].address != address || kept[slot].changes != changes) {
        dl_iterate_phdr(file_look, &a);
        kept[slot].address = address;
        kept[slot].changes = changes;
        kept[slot].end = a.found ? symbol_end(&a, NULL, 0) : 0;
    }
    *bytes = kept[slot].end - address;
    return kept[slot].end != 0;
}

bool where_function(u64 address, char *name, size_t size)
{
    enum { KEPT = 64 };
    static _Thread_local struct {
        u64 address, changes;
        char name[120];
    } kept[KEPT];
    struct around a = { .address = address, .first = true };
    u64 changes = where_modules_changes(), slot = address / 4 % KEPT;
    if (kept[slot].address != address || kept[slot].changes != changes) {
        dl_iterate_phdr(file_look, &a);
        kept[slot].address = address;
        kept[slot].changes = changes;
        kept[slot].name[0] = 0;
        if (a.found) symbol_end(&a, kept[slot].name, sizeof kept[slot].name);
    }
    snprintf(name, size, "%s", kept[slot].name);
    return kept[slot].name[0] != 0;
}

/* ---- the stack ---- */

/* To the saved registers of the function whose variable it is; where they lie below the variables (arm64), to the end
 * of its frame. */
static bool rest_of_frame(const struct where_stack *given, u64 address, u64 *bytes)
{
#if defined __x86_64__
    enum { SAVED = 16 }; /* the saved frame pointer, and the address to return to */
#else
    enum { SAVED = 0 };
#endif
    struct where_stack s = *given;
    where_frames(&s);
    for (u32 k = 0; k + 1 < s.n; k++) {
        u64 end = s.stack[k + 1] - SAVED;
        if (!s.known[k] || address < s.stack[k] || address >= end) continue;
        *bytes = end - address;
        return true;
    }
    return false;
}

enum where_block where_block(const struct where_stack *s, u64 address, u64 wanted, u64 *bytes)
{
    if (s && s->n && address >= s->stack[0] && address < where_stack_end())
        return rest_of_frame(s, address, bytes) ? WHERE_FRAME : WHERE_UNKNOWN;
    if (block_of_malloc(address, wanted, bytes)) return WHERE_MALLOC;
    return variable_of_file(address, bytes) ? WHERE_VARIABLE : WHERE_UNKNOWN;
}
