/* A fatbin: a header, then images, each with a header of its own and its payload, until the size that the first header
 * names. Offsets inside the header of an image count from that header. */
#include "image/image.h"
#include "report/entry.h"

enum { MAGIC = 0xba55ed50, CONTAINER = 16, ENTRY = 64, OPTIONS_HEADER = 8, VERSION = 1, ENTRY_VERSION = 0x101 };

bool fatbin_is(const struct piece *s, u64 offset) { return piece_has(s, offset, 4) && piece_u32(s, offset) == MAGIC; }

const char *image_kind_name(u32 kind)
{
    switch (kind) {
    case IMAGE_PTX: return "PTX";
    case IMAGE_CUBIN: return "cubin";
    case IMAGE_OLD_CUBIN: return "old cubin";
    case IMAGE_LTO: return "LTO";
    case IMAGE_INDEX: return "index";
    case IMAGE_RELOCATABLE_PTX: return "reloc PTX";
    case IMAGE_TILE: return "tile IR";
    default: return NULL;
    }
}

const char *image_packing(const struct image *i)
{
    return i->flags & IMAGE_ZSTD            ? "zstd"
           : i->flags & IMAGE_LZ4           ? "LZ4"
           : i->flags & IMAGE_OTHER_PACKING ? "unknown"
                                            : "";
}

void image_arch(const struct image *i, char out[16])
{
    snprintf(out, 16, "sm_%u%.1s", i->sm, i->suffix ? (char[]){ i->suffix, 0 } : "");
}

const char *image_text(struct arena *mem, const char *p, u64 n)
{
    struct text t = { 0 };
    printable((struct str){ p, (u32)strnlen(p, MIN_OF(n, (u64)4096)) }, &t);
    char *copy = arena_str(mem, (struct str){ t.p ? t.p : "", (u32)t.n });
    text_free(&t);
    return copy;
}

/* The options begin with their own offset and size. */
static bool read_options(struct image_file *f, const struct piece *h, struct image *i, struct error *e)
{
    u64 record = piece_u32(h, 0x14);
    if (!record || i->flags & IMAGE_OPTIONS_BINARY) return true;
    if (!piece_has(h, record, OPTIONS_HEADER))
        return piece_bad(e, h, 0x14, "the options at +0x%llx lie outside the header of the image",
                         (unsigned long long)record);
    u64 at = piece_u32(h, record), n = piece_u32(h, record + 4);
    if (!piece_has(h, at, n))
        return piece_bad(e, h, record, "options of %llu bytes end past the header of the image", (unsigned long long)n);
    while (n && (h->p[at] == ' ')) at++, n--;
    while (n && (h->p[at + n - 1] == ' ' || !h->p[at + n - 1])) n--;
    if (n) i->options = image_text(&f->mem, (const char *)h->p + at, n);
    return true;
}

static bool read_identifier(struct image_file *f, const struct piece *h, struct image *i, struct error *e)
{
    u64 at = piece_u32(h, 0x20), n = piece_u32(h, 0x24);
    if (!at || !n) return true;
    if (!piece_has(h, at, n))
        return piece_bad(e, h, 0x20, "the identifier of %llu bytes at +0x%llx lies outside the header of the image",
                         (unsigned long long)n, (unsigned long long)at);
    i->identifier = image_text(&f->mem, (const char *)h->p + at, n);
    return true;
}

/* What a payload can grow to: an LZ4 byte makes at most 255, a zstd block of 4 bytes 128 KiB. */
static u64 unpacked_most(const struct image *i, u64 stored)
{
    enum { LARGEST = 1 << 30 };
    u64 each = i->flags & IMAGE_ZSTD ? 32768 : 255;
    return stored > LARGEST / each ? LARGEST : stored * each + 64;
}

/* What the images of a file may grow to, all together: text of programs packs 5 to 30 times, and is parsed into some 50
 * times its bytes. */
enum { UNPACKED_RATIO = 256, UNPACKED_MIB = 16 };

static bool unpacked_fits(struct image_file *f, const struct piece *h, const struct image *i, struct error *e)
{
    f->packed += i->stored.n;
    f->unpacked += i->bytes;
    return f->unpacked <= ((u64)UNPACKED_MIB << 20) + UNPACKED_RATIO * f->packed ||
           piece_bad(e, h, 0x38,
                     "images of %llu bytes out of %llu packed ones: refused, for a file may unpack to %u times what it "
                     "has packed, and %u MiB",
                     (unsigned long long)f->unpacked, (unsigned long long)f->packed, UNPACKED_RATIO, UNPACKED_MIB);
}

static bool read_payload(struct image_file *f, const struct piece *s, const struct piece *h, u64 payload,
                         struct image *i, struct error *e)
{
    u64 held = piece_u64(h, 8), packed = piece_u32(h, 0x10);
    bool is_packed = i->flags & (IMAGE_LZ4 | IMAGE_ZSTD | IMAGE_OTHER_PACKING);
    if (!is_packed) {
        i->stored = piece_part(s, payload, held);
        i->bytes = i->kind == IMAGE_PTX ? strnlen((const char *)s->p + payload, held) : held;
        return true;
    }
    if (packed > held)
        return piece_bad(e, h, 0x10, "0x%llx packed bytes do not fit into a payload of 0x%llx",
                         (unsigned long long)packed, (unsigned long long)held);
    i->stored = piece_part(s, payload, packed);
    i->bytes = piece_u64(h, 0x38);
    if (i->bytes > unpacked_most(i, packed))
        return piece_bad(e, h, 0x38, "0x%llx bytes cannot come out of 0x%llx packed ones", (unsigned long long)i->bytes,
                         (unsigned long long)packed);
    return unpacked_fits(f, h, i, e);
}

/* One image at `at` of the container; *next is where the one after it begins. */
static bool read_image(struct image_file *f, const struct piece *s, u64 at, u64 *next, struct error *e)
{
    if (!piece_has(s, at, ENTRY))
        return piece_bad(e, s, at, "the header of an image has 64 bytes, and %llu are left of the fatbin",
                         (unsigned long long)(s->n - at));
    struct piece h = piece_part(s, at, ENTRY);
    u64 header = piece_u32(&h, 4), payload = piece_u64(&h, 8);
    struct image i = { .kind = piece_u16(&h, 0), .at = h.at, .identifier = "", .options = "" };
    if (piece_u16(&h, 2) != ENTRY_VERSION)
        return piece_bad(e, &h, 2, "an image header of version 0x%x, where toolkits write 0x101", piece_u16(&h, 2));
    if (header < ENTRY || !piece_has(s, at, header))
        return piece_bad(e, &h, 4, "a header of 0x%llx bytes, where 64 is the least and 0x%llx are left",
                         (unsigned long long)header, (unsigned long long)(s->n - at));
    if (!piece_has(s, at + header, payload))
        return piece_bad(e, &h, 8, "a payload of 0x%llx bytes, and 0x%llx are left of the fatbin",
                         (unsigned long long)payload, (unsigned long long)(s->n - at - header));
    h = piece_part(s, at, header);
    i.minor = piece_u16(&h, 0x18);
    i.major = piece_u16(&h, 0x1a);
    i.sm = piece_u32(&h, 0x1c);
    i.flags = piece_u64(&h, 0x28);
    i.suffix = i.flags & IMAGE_ARCH_SPECIFIC ? 'a' : i.flags & IMAGE_FAMILY_SPECIFIC ? 'f' : 0;
    i.fatbin = f->fatbin.n - 1;
    *next = at + header + payload;
    if (!read_identifier(f, &h, &i, e) || !read_options(f, &h, &i, e)) return false;
    if (!read_payload(f, s, &h, at + header, &i, e)) return false;
    VEC_PUSH(&f->mem, &f->image, i);
    f->fatbin.p[i.fatbin].images++;
    return true;
}

bool fatbin_read(struct image_file *f, const struct piece *s, u64 offset, enum image_place place, const char *member,
                 u64 *end, struct error *e)
{
    if (!piece_has(s, offset, CONTAINER))
        return piece_bad(e, s, offset, "a fatbin begins with 16 bytes, and %llu are left: truncated?",
                         (unsigned long long)(s->n - offset));
    u32 version = piece_u16(s, offset + 4);
    u64 header = piece_u16(s, offset + 6), bytes = piece_u64(s, offset + 8);
    if (version != VERSION || header < CONTAINER)
        return piece_bad(e, s, offset + 4, "a fatbin of version %u with a header of %llu bytes; version 1 is known",
                         version, (unsigned long long)header);
    bool whole = piece_has(s, offset, header) && piece_has(s, offset + header, bytes);
    if (!whole) {
        piece_bad(e, s, offset + 8, "a fatbin of 0x%llx bytes, and 0x%llx are left: truncated?",
                  (unsigned long long)bytes, (unsigned long long)(s->n - MIN_OF(s->n, offset + header)));
        /* images that are whole are read all the same */
        header = MIN_OF(header, s->n - offset);
        bytes = s->n - offset - header;
    }
    struct image_fatbin b = { .at = s->at + offset, .bytes = header + bytes, .place = place, .member = member };
    b.first = f->image.n;
    VEC_PUSH(&f->mem, &f->fatbin, b);
    struct piece all = piece_part(s, offset, header + bytes);
    *end = offset + header + bytes;
    for (u64 at = header; at < all.n;)
        if (!read_image(f, &all, at, &at, e)) return false;
    return whole;
}
