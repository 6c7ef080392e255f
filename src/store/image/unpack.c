/* The contents of an image: as they lie there, or out of LZ4 or zstd by those libraries. The size that the header of
 * the image claims is what is allocated, and must be what comes out; fatbin.c holds it against the packed size. */
#include "image/image.h"
#ifdef NO_PACKING

static bool unpack(const struct image *i, char *to, struct error *e)
{
    (void)to;
    return piece_bad(e, &i->stored, 0,
                     "the image is packed, and this lockstep was built without liblz4 and libzstd: install liblz4-dev "
                     "and libzstd-dev, and build it again");
}

#else
#include <lz4.h>
#include <zstd.h>

static bool unpack_lz4(const struct image *i, char *to, struct error *e)
{
    if (i->stored.n > INT32_MAX || i->bytes > INT32_MAX)
        return piece_bad(e, &i->stored, 0, "an image of more than 2 GiB");
    int n = LZ4_decompress_safe((const char *)i->stored.p, to, (int)i->stored.n, (int)i->bytes);
    if (n < 0) return piece_bad(e, &i->stored, 0, "the image does not unpack: its LZ4 data is damaged");
    if ((u64)n != i->bytes)
        return piece_bad(e, &i->stored, 0, "%d bytes come out of LZ4 data, and the header of the image says %llu", n,
                         (unsigned long long)i->bytes);
    return true;
}

static bool unpack_zstd(const struct image *i, char *to, struct error *e)
{
    unsigned long long claimed = ZSTD_getFrameContentSize(i->stored.p, i->stored.n);
    if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR && claimed != i->bytes)
        return piece_bad(e, &i->stored, 0, "zstd data of %llu bytes, and the header of the image says %llu", claimed,
                         (unsigned long long)i->bytes);
    size_t n = ZSTD_decompress(to, i->bytes, i->stored.p, i->stored.n);
    if (ZSTD_isError(n))
        return piece_bad(e, &i->stored, 0, "the image does not unpack: zstd says: %s", ZSTD_getErrorName(n));
    if (n != i->bytes)
        return piece_bad(e, &i->stored, 0, "%zu bytes come out of zstd data, and the header of the image says %llu", n,
                         (unsigned long long)i->bytes);
    return true;
}

static bool unpack(const struct image *i, char *to, struct error *e)
{
    return i->flags & IMAGE_ZSTD ? unpack_zstd(i, to, e) : unpack_lz4(i, to, e);
}
#endif

bool image_unpack(struct image_file *f, u32 image, struct str *out, struct error *e)
{
    struct image *i = &f->image.p[image];
    if (i->flags & IMAGE_OBFUSCATED)
        return piece_bad(e, &i->stored, 0, "image %u is obfuscated, as intermediate code of nvcc is", image + 1);
    if (i->flags & IMAGE_OTHER_PACKING && !(i->flags & (IMAGE_LZ4 | IMAGE_ZSTD)))
        return piece_bad(e, &i->stored, 0, "image %u is packed in a way that is neither LZ4 nor zstd", image + 1);
    if (!i->unpacked.p && !image_packing(i)[0]) {
        i->unpacked = (struct str){ (const char *)i->stored.p, (u32)i->bytes };
    } else if (!i->unpacked.p) {
        char *to = base_alloc(i->bytes + 1);
        if (!to)
            return error_set(e, ERR_MEMORY, "no memory for the %llu bytes of image %u of %.200s",
                             (unsigned long long)i->bytes, image + 1, f->name);
        if (!unpack(i, to, e)) {
            base_free(to);
            return false;
        }
        u64 n = i->kind == IMAGE_PTX ? strnlen(to, i->bytes) : i->bytes; /* text may end with a zero */
        i->unpacked = (struct str){ to, (u32)n };
        i->owned = true;
    }
    *out = i->unpacked;
    return true;
}

void image_drop(struct image *i)
{
    if (i->owned) base_free((void *)i->unpacked.p);
    i->unpacked = (struct str){ 0 };
    i->owned = false;
}

void image_close(struct image_file *f)
{
    if (!f) return;
    for (u32 i = 0; i < f->image.n; i++) image_drop(&f->image.p[i]);
    struct arena mem = f->mem;
    arena_free(&mem);
}
