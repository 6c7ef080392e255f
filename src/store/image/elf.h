/* elf.h: ELF files as far as images need them: 64 bits, little endian, sections, symbols and notes.
 *
 * A reader works on a piece of a file and never outside of it. Every size and offset that the file claims is held
 * against the piece before it is used; what does not hold is an error that names its offset in the file. */
#ifndef LOCKSTEP_ELF_H
#define LOCKSTEP_ELF_H
#include "base/base.h"

struct piece {        /* bytes of a file, or of an image that was unpacked */
    const u8 *p;      /* not terminated */
    u64 n;            /* bytes */
    u64 at;           /* where they begin in the file, for messages */
    const char *name; /* of the file, for messages */
};
/* Whether `bytes` bytes at `offset` lie inside. */
static inline bool piece_has(const struct piece *s, u64 offset, u64 bytes)
{
    return offset <= s->n && bytes <= s->n - offset;
}
/* A part of a piece that piece_has has. */
static inline struct piece piece_part(const struct piece *s, u64 offset, u64 bytes)
{
    return (struct piece){ s->p + offset, bytes, s->at + offset, s->name };
}
static inline u16 piece_u16(const struct piece *s, u64 offset) { return (u16)(s->p[offset] | s->p[offset + 1] << 8); }
static inline u32 piece_u32(const struct piece *s, u64 offset)
{
    return piece_u16(s, offset) | (u32)piece_u16(s, offset + 2) << 16;
}
static inline u64 piece_u64(const struct piece *s, u64 offset)
{
    return piece_u32(s, offset) | (u64)piece_u32(s, offset + 4) << 32;
}
/* ERR_INPUT at an offset of the piece, as FILE:0x1234; always false. */
bool piece_bad(struct error *e, const struct piece *s, u64 offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

enum { ELF_REL = 1, ELF_EXEC = 2, ELF_DYN = 3 }; /* elf.type */
enum { ELF_CUDA = 190 };                         /* elf.machine of a cubin */
/* elf_section.type; the last two are those of relocatable cubins for memory without contents */
enum { SECTION_SYMBOLS = 2, SECTION_NOTE = 7, SECTION_NOBITS = 8 };
enum { SECTION_CUDA_GLOBAL = 0x70000007, SECTION_CUDA_SHARED = 0x7000000a };
enum { SYMBOL_OBJECT = 1, SYMBOL_FUNC = 2 }; /* elf_symbol.type */

struct elf_section {
    const char *name;  /* "" where it has none */
    u32 type;          /* SECTION_NOTE... */
    u32 link, info;    /* mean what the type says: another section */
    u64 size;          /* as claimed; a section without contents may claim anything */
    u64 entry;         /* bytes of an entry of a table */
    struct piece data; /* its contents; n = 0 for SECTION_NOBITS and its like */
};
struct elf_symbol {
    const char *name; /* "" where it has none */
    u64 value, size;  /* as the file has them */
    u32 section;      /* index of its section, 0: undefined */
    u8 type;          /* SYMBOL_FUNC... */
    u8 other;         /* st_other */
};
struct elf_note {
    const char *owner;      /* "NVIDIA Corp" */
    u32 type;               /* means what the owner says */
    struct piece described; /* its contents */
};
struct elf {
    struct piece all;            /* the whole file */
    u16 type, machine;           /* ELF_EXEC..., ELF_CUDA... */
    u8 osabi, abi_version;       /* of a cubin: the generation of its flags */
    u32 flags;                   /* of a cubin: its architecture */
    struct elf_section *section; /* the first one is empty */
    u32 sections;                /* how many, 0: there is no table */
    struct elf_symbol *symbol;   /* of the symbol table, NULL: there is none */
    u32 symbols;                 /* how many */
};
bool elf_is(const struct piece *s);
/* Reads headers, sections and symbols; they live in `mem`. False: e has the reason, and `out` the sections before the
 * damage. */
bool elf_read(struct arena *mem, const struct piece *s, struct elf *out, struct error *e);
/* The first section of this name, NULL: none. */
const struct elf_section *elf_find(const struct elf *f, const char *name);
/* The next note of a section from *offset on, which moves after it; false: no more, or the error is in e. */
bool elf_note_next(struct arena *mem, const struct elf_section *s, u64 *offset, struct elf_note *out, struct error *e);
/* Text at an offset of a table of strings, NULL: it begins outside, or the table does not end with a zero. */
const char *elf_string(const struct piece *table, u64 offset);
/* "x86-64", "arm64"..., "" for a machine that has no name here */
const char *elf_machine_name(u16 machine);
#endif
