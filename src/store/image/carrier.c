/* Writes a cubin with the PTX it was made of. Nothing of the cubin moves but the table of sections and their names,
 * which are written anew past its end. */
#include "image/carrier.h"

enum { HEADER = 64, SECTION_HEADER = 64, SECTION_CONTENTS = 1 /* SHT_PROGBITS */ };
enum { AT_TABLE = 40, AT_COUNT = 60, AT_NAMES = 62 };                           /* in the header of the file */
enum { AT_NAME = 0, AT_TYPE = 4, AT_OFFSET = 24, AT_SIZE = 32, AT_ALIGN = 48 }; /* in the header of a section */

static void put(char *at, u64 value, u32 bytes)
{
    for (u32 i = 0; i < bytes; i++) at[i] = (char)(value >> 8 * i);
}

static void align(struct text *t)
{
    static const char zero[8];
    text_put(t, zero, -t->n & 7);
}

bool carrier_write(const struct piece *s, const struct str *text, u32 texts, struct text *out, struct error *e)
{
    static const char name[] = CARRIER_SECTION;
    struct arena mem = { 0 };
    struct elf x;
    bool ok = elf_read(&mem, s, &x, e);
    u64 table = ok ? piece_u64(s, AT_TABLE) : 0;
    u32 count = x.sections, names = ok ? piece_u16(s, AT_NAMES) : 0;
    if (ok && (x.machine != ELF_CUDA || !count || count != piece_u16(s, AT_COUNT) || names >= count ||
               count + texts >= 0xff00))
        ok = piece_bad(e, s, AT_COUNT, "no cubin with a table of sections that could take another one");
    if (!ok) {
        arena_free(&mem);
        return false;
    }
    u64 *at = NEW_ARRAY(&mem, u64, texts + 1);
    text_put(out, (const char *)s->p, s->n);
    for (u32 i = 0; i < texts; i++) {
        align(out);
        at[i] = out->n;
        text_put(out, text[i].p, text[i].n);
        text_put(out, "", 1);
    }
    const struct piece *old = &x.section[names].data;
    u64 names_at = out->n;
    text_put(out, (const char *)old->p, old->n);
    text_put(out, name, sizeof name);
    u64 names_bytes = out->n - names_at;
    align(out);
    u64 new_table = out->n;
    text_put(out, (const char *)s->p + table, (u64)SECTION_HEADER * count);
    /* a linker copies the texts of the carriers that it was given: they are among `text` */
    for (u32 i = 0; i < count; i++)
        if (!strcmp(x.section[i].name, name)) memset(out->p + new_table + (u64)SECTION_HEADER * i, 0, SECTION_HEADER);
    for (u32 i = 0; i < texts; i++) {
        char header[SECTION_HEADER] = { 0 };
        put(header + AT_NAME, old->n, 4);
        put(header + AT_TYPE, SECTION_CONTENTS, 4);
        put(header + AT_OFFSET, at[i], 8);
        put(header + AT_SIZE, text[i].n + 1, 8);
        put(header + AT_ALIGN, 1, 8);
        text_put(out, header, sizeof header);
    }
    put(out->p + new_table + (u64)SECTION_HEADER * names + AT_OFFSET, names_at, 8);
    put(out->p + new_table + (u64)SECTION_HEADER * names + AT_SIZE, names_bytes, 8);
    put(out->p + AT_TABLE, new_table, 8);
    put(out->p + AT_COUNT, count + texts, 2);
    arena_free(&mem);
    return true;
}
