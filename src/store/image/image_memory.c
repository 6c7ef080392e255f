/* Images that lie in the memory of a program, as its calls hand them over: an address and no size.
 *
 * The size is that which the image names itself: a fatbin in its header, an ELF file by the end of its sections, PTX by
 * its final zero. The program's own memory is trusted as far as the driver trusts it: what the header names is there.
 */
#include "image/image.h"

enum { WRAPPER_MAGIC = 0x466243b1, FATBIN_MAGIC = 0xba55ed50, FATBINS_MOST = 1 << 16 };

struct wrapper { /* what __cudaRegisterFatBinary gets */
    u32 magic, version;
    const void *fatbin;
    const void *const *more; /* version 2: relocatable fatbins, a NULL after them; version 1: a file name or NULL */
};

static u32 word_at(const u8 *p) { return (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24; }
static u64 long_at(const u8 *p) { return word_at(p) | (u64)word_at(p + 4) << 32; }

static bool can_read(const void *p, u64 bytes) { return pages_readable(p, bytes) == bytes; }
/* An offset that an image names may lead anywhere. */
static const u8 *behind(const u8 *p, u64 offset) { return (const u8 *)((uintptr_t)p + offset); }

/* The end of the section headers, the program headers, and of every section with contents, as far as they can be
 * read. */
static u64 elf_bytes(const u8 *p)
{
    if (!can_read(p, 64)) return pages_readable(p, 64);
    u64 programs = long_at(p + 32), sections = long_at(p + 40), end = 64;
    u32 nprograms = word_at(p + 56) & 0xffff, nsections = word_at(p + 60) & 0xffff;
    if (programs) end = MAX_OF(end, programs + 56 * (u64)nprograms);
    if (!sections) return end;
    if (!can_read(behind(p, sections), 64)) return MAX_OF(end, sections + 64);
    if (!nsections) nsections = (u32)long_at(behind(p, sections) + 32);
    end = MAX_OF(end, sections + 64 * (u64)nsections);
    if (!can_read(behind(p, sections), 64 * (u64)nsections)) return end;
    for (u32 i = 0; i < nsections; i++) {
        const u8 *s = behind(p, sections) + 64 * (u64)i;
        u32 type = word_at(s + 4);
        bool is_empty = type == SECTION_NOBITS || type == SECTION_CUDA_GLOBAL || type == SECTION_CUDA_SHARED;
        if (!is_empty) end = MAX_OF(end, long_at(s + 24) + long_at(s + 32));
    }
    return end;
}

/* Up to its zero byte, or to where memory ends. */
static u64 text_bytes(const u8 *p)
{
    u64 n = 0, page = page_size();
    for (;;) {
        u64 here = page - ((uintptr_t)(p + n) & (page - 1));
        if (!can_read(p + n, 1)) return n;
        u64 k = strnlen((const char *)p + n, here);
        n += k;
        if (k < here) return n;
    }
}

u64 image_extent(const void *image)
{
    const u8 *p = image;
    if (can_read(p, 4) && word_at(p) == FATBIN_MAGIC)
        return can_read(p, 16) ? (word_at(p + 4) >> 16) + long_at(p + 8) : pages_readable(p, 16);
    if (can_read(p, 4) && !memcmp(p, "\177ELF", 4)) return elf_bytes(p);
    return text_bytes(p);
}

/* What can be read of it: an image may be cut short. */
static u64 extent_there(const void *image) { return pages_readable(image, image_extent(image)); }

/* Adds one fatbin, or one image that is not one. */
static bool add(struct image_file *f, const void *at, enum image_place place, struct error *e)
{
    u64 n = extent_there(at), end;
    struct piece s = { at, n, 0, f->name };
    if (fatbin_is(&s, 0)) return fatbin_read(f, &s, 0, place, "", &end, e);
    return piece_bad(e, &s, 0, "a fatbin is expected at this address, and it begins with 0x%08x", word_at(at));
}

static bool add_wrapper(struct image_file *f, const struct wrapper *w, struct error *e)
{
    struct piece s = { (const u8 *)w, sizeof *w, 0, f->name };
    if (!can_read(w, sizeof *w)) return piece_bad(e, &s, 0, "the wrapper of a fatbin is cut short");
    struct image_wrapper made = { .version = w->version, .member = "" };
    if (w->version != 1 && w->version != 2)
        return piece_bad(e, &s, 4, "the wrapper of a fatbin has version %u; 1 and 2 are known", w->version);
    VEC_PUSH(&f->mem, &f->wrapper, made);
    f->kind = FILE_FATBIN;
    if (!add(f, w->fatbin, w->version == 2 ? PLACE_LINKED : PLACE_FILE, e)) return false;
    for (u32 i = 0; w->version == 2 && w->more; i++) {
        if (!can_read(&w->more[i], sizeof w->more[i])) return piece_bad(e, &s, 16, "the list of fatbins leads nowhere");
        if (!w->more[i]) break;
        if (i == FATBINS_MOST) return piece_bad(e, &s, 16, "more than %u fatbins in one list", FATBINS_MOST);
        if (!add(f, w->more[i], PLACE_RELOCATABLE, e)) return false;
    }
    return true;
}

struct image_file *image_open_memory(const char *name, const void *image)
{
    if (!can_read(image, 4) || word_at(image) != WRAPPER_MAGIC)
        return image_open(name, (struct str){ image, (u32)MIN_OF(extent_there(image), (u64)UINT32_MAX) });
    struct image_file *f = image_new(name);
    add_wrapper(f, image, &f->damage);
    return f;
}
