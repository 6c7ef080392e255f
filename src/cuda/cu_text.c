/* The PTX in an image in memory. Nobody says how large an image is: its own headers do. */
#include "cuda/cu_text.h"
#include "image/image.h"
#include "sim/profile.h"
#include <elf.h>

enum { WRAPPER = 0x466243b1, CONTAINER = (int)0xba55ed50 };
struct wrapper { /* an entry of .nvFatBinSegment */
    u32 magic, version;
    const void *data; /* the container */
    const void *list; /* version 2: more of them, NULL at the end */
};
struct container {
    u32 magic;
    u16 version, header;
    u64 bytes; /* behind the header */
};

static u32 word_at(const void *p)
{
    u32 w;
    memcpy(&w, p, 4);
    return w;
}

/* The bytes of an image; 0: it is PTX, or nothing that is known. */
static u64 bytes_of(const void *p)
{
    if (word_at(p) == (u32)CONTAINER) {
        struct container c;
        memcpy(&c, p, sizeof c);
        return c.bytes < (u64)1 << 40 ? c.header + c.bytes : 0;
    }
    if (!memcmp(p, ELFMAG, SELFMAG)) {
        Elf64_Ehdr h;
        memcpy(&h, p, sizeof h);
        return MAX_OF(h.e_shoff + (u64)h.e_shnum * h.e_shentsize, h.e_phoff + (u64)h.e_phnum * h.e_phentsize);
    }
    return 0;
}

static cu_result text_copy(struct str from, char **out)
{
    while (from.n && !from.p[from.n - 1]) from.n--; /* compilers pad texts with zero bytes */
    char *p = base_alloc(from.n + 1);
    if (!p) return CU_OUT_OF_MEMORY;
    memcpy(p, from.p, from.n);
    p[from.n] = 0;
    *out = p;
    return CU_OK;
}

/* The text of one image. */
static cu_result text_of(const void *data, const struct cu_device *device, char **ptx, char *why, size_t size)
{
    *ptx = NULL;
    snprintf(why, size, "out of memory");
    u64 bytes = bytes_of(data);
    if (!bytes) return text_copy(str_of(data), ptx);
    struct image_file *f = image_open("image", (struct str){ data, (u32)bytes });
    struct image_choice c;
    struct error e = { 0 };
    struct str text;
    cu_result r = CU_INVALID_IMAGE;
    if (!f->fatbin.n)
        snprintf(why, size, "%s", f->damage.code ? f->damage.text : "there is no device code in it");
    else {
        image_choose(f, 0, (device ? device : cu_device_at(0))->profile->sm, false, &c);
        r = CU_NO_BINARY;
        if (c.image < 0)
            snprintf(why, size, "%s", c.why);
        else if (!image_unpack(f, (u32)c.image, &text, &e)) {
            snprintf(why, size, "%s", e.text);
            r = CU_INVALID_IMAGE;
        } else
            r = text_copy(text, ptx);
    }
    image_close(f);
    return r;
}

void cu_texts_free(lk_ptx *part, u32 parts)
{
    for (u32 i = 0; i < parts; i++) base_free((void *)(uintptr_t)part[i].ptx);
    base_free(part);
}

cu_result cu_texts_of(const void *data, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts,
                      char *why, size_t size)
{
    struct wrapper w = { .data = data };
    *part = NULL;
    *parts = 0;
    if (word_at(data) == WRAPPER) memcpy(&w, data, sizeof w);
    /* version 2: `data` is linked machine code, and the list has what it was linked from */
    const void *const *list = w.magic == WRAPPER && w.version == 2 ? w.list : NULL, *const one[] = { w.data, NULL };
    u32 n = 0;
    if (!list || !list[0]) list = one;
    while (list[n]) n++;
    snprintf(why, size, n ? "out of memory" : "the fatbin's wrapper leads nowhere");
    if (!n) return CU_INVALID_IMAGE;
    lk_ptx *made = base_alloc(sizeof *made * n);
    cu_result r = made ? CU_OK : CU_OUT_OF_MEMORY;
    u32 k = 0;
    for (; !r && k < n; k++) {
        char *text;
        if ((r = text_of(list[k], device, &text, why, size))) break;
        made[k] = (lk_ptx){ name, text, strlen(text) };
    }
    if (r) {
        cu_texts_free(made, k);
        return r;
    }
    *part = made;
    *parts = n;
    return CU_OK;
}
