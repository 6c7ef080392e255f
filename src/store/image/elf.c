/* The reader of elf.h. */
#include "image/elf.h"

enum { HEADER = 64, SECTION_HEADER = 64, SYMBOL_ENTRY = 24, SHN_XINDEX = 0xffff, SHN_FIRST_SPECIAL = 0xff00 };

bool piece_bad(struct error *e, const struct piece *s, u64 offset, const char *fmt, ...)
{
    if (!e || e->code != ERR_NONE) return false;
    va_list ap;
    char text[400];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_set(e, ERR_INPUT, "%s", text);
    snprintf(e->where, sizeof e->where, "%.200s:0x%llx", s->name, (unsigned long long)(s->at + offset));
    return false;
}

/* Sections and names may lie on top of each other, as tails of names do. A file in which they have more than so many
 * times its bytes is made to be large when it is read: what is read of a file costs what the file has. */
enum { OVERLAP_MOST = 4 };

static bool is_plausible(const struct piece *s, u64 bytes, const char *what, struct error *e)
{
    return bytes / OVERLAP_MOST <= s->n ||
           piece_bad(e, s, 0, "%s of more than 0x%llx bytes in a file of 0x%llx: they lie on top of each other", what,
                     (unsigned long long)s->n * OVERLAP_MOST, (unsigned long long)s->n);
}

bool elf_is(const struct piece *s) { return s->n >= 4 && !memcmp(s->p, "\177ELF", 4); }

const char *elf_machine_name(u16 machine)
{
    switch (machine) {
    case 21: return "ppc64le";
    case 62: return "x86-64";
    case 183: return "arm64";
    case ELF_CUDA: return "CUDA";
    case 243: return "riscv64";
    default: return "";
    }
}

const char *elf_string(const struct piece *table, u64 offset)
{
    if (offset >= table->n || table->p[table->n - 1]) return NULL;
    return (const char *)table->p + offset;
}

const struct elf_section *elf_find(const struct elf *f, const char *name)
{
    for (u32 i = 0; i < f->sections; i++)
        if (!strcmp(f->section[i].name, name)) return &f->section[i];
    return NULL;
}

static bool read_section(struct elf *f, u64 at, struct elf_section *o, struct error *e)
{
    const struct piece *s = &f->all;
    u64 offset = piece_u64(s, at + 24);
    o->type = piece_u32(s, at + 4);
    o->size = piece_u64(s, at + 32);
    o->link = piece_u32(s, at + 40);
    o->info = piece_u32(s, at + 44);
    o->entry = piece_u64(s, at + 56);
    o->name = "";
    o->data = (struct piece){ s->p, 0, s->at, s->name };
    bool is_empty = o->type == SECTION_NOBITS || o->type == 0;
    if (f->machine == ELF_CUDA) is_empty |= o->type == SECTION_CUDA_GLOBAL || o->type == SECTION_CUDA_SHARED;
    if (is_empty) return true;
    if (!piece_has(s, offset, o->size))
        return piece_bad(e, s, at, "a section of 0x%llx bytes at 0x%llx ends past the end of the file (0x%llx bytes)",
                         (unsigned long long)o->size, (unsigned long long)(s->at + offset), (unsigned long long)s->n);
    o->data = piece_part(s, offset, o->size);
    return true;
}

static bool name_sections(struct elf *f, u64 table, u32 names, struct error *e)
{
    u64 total = 0;
    if (names >= f->sections)
        return piece_bad(e, &f->all, 62, "the section of names has number %u, of %u", names, f->sections);
    for (u32 i = 0; i < f->sections; i++) {
        u64 at = table + (u64)SECTION_HEADER * i;
        const char *name = elf_string(&f->section[names].data, piece_u32(&f->all, at));
        if (!name && piece_u32(&f->all, at))
            return piece_bad(e, &f->all, at, "the name of section %u does not lie in the section of names", i);
        if (!name) continue;
        f->section[i].name = name;
        total += strlen(name);
        if (!is_plausible(&f->all, total, "names of sections", e)) return false;
    }
    return true;
}

static bool read_sections(struct arena *mem, struct elf *f, struct error *e)
{
    const struct piece *s = &f->all;
    u64 table = piece_u64(s, 40), count = piece_u16(s, 60);
    u32 names = piece_u16(s, 62);
    if (!table) return true;
    if (piece_u16(s, 58) != SECTION_HEADER)
        return piece_bad(e, s, 58, "section headers of %u bytes, where ELF has 64", piece_u16(s, 58));
    if (!piece_has(s, table, SECTION_HEADER))
        return piece_bad(e, s, 40, "the section headers at 0x%llx lie outside the file (0x%llx bytes): truncated?",
                         (unsigned long long)table, (unsigned long long)s->n);
    /* where there are too many for 16 bits, the first header has the numbers */
    if (!count) count = piece_u64(s, table + 32);
    if (names == SHN_XINDEX) names = piece_u32(s, table + 40);
    if (count > (s->n - table) / SECTION_HEADER)
        return piece_bad(e, s, table, "%llu section headers end past the end of the file (0x%llx bytes): truncated?",
                         (unsigned long long)count, (unsigned long long)s->n);
    if (!count) return true;
    f->section = NEW_ARRAY(mem, struct elf_section, count);
    for (u64 i = 0; i < count; i++) f->section[i].name = "";
    f->sections = (u32)count;
    u64 total = 0;
    for (u64 i = 0; i < count; i++) {
        if (!read_section(f, table + SECTION_HEADER * i, &f->section[i], e)) return false;
        total += f->section[i].data.n;
        if (!is_plausible(s, total, "sections", e)) return false;
    }
    return name_sections(f, table, names, e);
}

static bool read_symbols(struct arena *mem, struct elf *f, const struct elf_section *from, struct error *e)
{
    const struct piece *s = &from->data;
    if (s->n % SYMBOL_ENTRY || from->entry != SYMBOL_ENTRY)
        return piece_bad(e, s, 0, "a symbol table of 0x%llx bytes in entries of %llu, where ELF has 24",
                         (unsigned long long)s->n, (unsigned long long)from->entry);
    if (from->link >= f->sections)
        return piece_bad(e, s, 0, "the names of the symbols are in section %u, of %u", from->link, f->sections);
    u64 total = 0;
    f->symbols = (u32)(s->n / SYMBOL_ENTRY);
    f->symbol = NEW_ARRAY(mem, struct elf_symbol, f->symbols);
    for (u32 i = 0; i < f->symbols; i++) f->symbol[i].name = "";
    for (u32 i = 0; i < f->symbols; i++) {
        u64 at = (u64)SYMBOL_ENTRY * i;
        struct elf_symbol *y = &f->symbol[i];
        const char *name = elf_string(&f->section[from->link].data, piece_u32(s, at));
        u32 section = piece_u16(s, at + 6);
        if (!name && piece_u32(s, at)) return piece_bad(e, s, at, "the name of symbol %u does not lie in its table", i);
        if (name) {
            y->name = name;
            total += strlen(name);
            if (!is_plausible(&f->all, total, "names of symbols", e)) return false;
        }
        y->type = s->p[at + 4] & 15;
        y->other = s->p[at + 5];
        y->value = piece_u64(s, at + 8);
        y->size = piece_u64(s, at + 16);
        y->section = section < SHN_FIRST_SPECIAL && section < f->sections ? section : 0;
    }
    return true;
}

bool elf_read(struct arena *mem, const struct piece *s, struct elf *out, struct error *e)
{
    *out = (struct elf){ .all = *s };
    if (!elf_is(s)) return piece_bad(e, s, 0, "this is no ELF file");
    if (s->n < HEADER)
        return piece_bad(e, s, 0, "an ELF header has 64 bytes, and %llu are left: truncated?",
                         (unsigned long long)s->n);
    if (s->p[4] != 2 || s->p[5] != 1)
        return piece_bad(e, s, 4, "only ELF of 64 bits, little endian, is read; this one has class %u and data %u",
                         s->p[4], s->p[5]);
    out->osabi = s->p[7];
    out->abi_version = s->p[8];
    out->type = piece_u16(s, 16);
    out->machine = piece_u16(s, 18);
    out->flags = piece_u32(s, 48);
    if (!read_sections(mem, out, e)) return false;
    for (u32 i = 0; i < out->sections; i++)
        if (out->section[i].type == SECTION_SYMBOLS) return read_symbols(mem, out, &out->section[i], e);
    return true;
}

bool elf_note_next(struct arena *mem, const struct elf_section *s, u64 *offset, struct elf_note *out, struct error *e)
{
    const struct piece *d = &s->data;
    if (*offset >= d->n) return false;
    if (!piece_has(d, *offset, 12)) return piece_bad(e, d, *offset, "a note is cut off in section %.60s", s->name);
    u64 owner = piece_u32(d, *offset), described = piece_u32(d, *offset + 4), at = *offset + 12;
    u64 padded = (owner + 3) / 4 * 4;
    if (!piece_has(d, at, padded) || !piece_has(d, at + padded, described))
        return piece_bad(e, d, *offset, "a note of %llu + %llu bytes ends past the end of section %.60s",
                         (unsigned long long)owner, (unsigned long long)described, s->name);
    out->owner = arena_str(mem, (struct str){ (const char *)d->p + at, (u32)strnlen((const char *)d->p + at, owner) });
    out->type = piece_u32(d, *offset + 8);
    out->described = piece_part(d, at + padded, described);
    *offset = at + padded + (described + 3) / 4 * 4;
    return true;
}
