/* The PTX in an image in memory: what image_open_memory finds there, one text for each fatbin that is to be linked. */
#include "cuda/cu_run.h"
#include "cuda/cu_text.h"
#include "image/image.h"
#include "sim/profile.h"

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

/* The text that a device takes of one fatbin. */
static cu_result text_of(struct image_file *f, u32 fatbin, u32 sm, char **ptx, char *why, size_t size)
{
    struct image_choice c;
    struct error e = { 0 };
    struct str text;
    image_choose(f, fatbin, sm, cu_run_strict(), &c);
    snprintf(why, size, "%s", c.why);
    /* said once: a library may have hundreds of such fatbins */
    static bool said;
    bool odd = c.image < 0 || (c.is_newer && c.silicon < 0);
    if (odd && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        fprintf(stderr, "lockstep: %s: %s\n", f->name, c.image < 0 ? c.why : c.note);
    if (c.image < 0) return CU_NO_BINARY;
    if (!image_unpack(f, (u32)c.image, &text, &e)) {
        snprintf(why, size, "%s", e.text);
        return CU_INVALID_IMAGE;
    }
    snprintf(why, size, "out of memory");
    return text_copy(text, ptx);
}

void cu_texts_free(lk_ptx *part, u32 parts)
{
    for (u32 i = 0; i < parts; i++) base_free((void *)(uintptr_t)part[i].ptx);
    base_free(part);
}

/* All texts of a file that was opened, which is closed. */
static cu_result texts_take(struct image_file *f, const struct cu_device *device, const char *name, lk_ptx **part,
                            u32 *parts, char *why, size_t size)
{
    u32 sm = (device ? device : cu_device_at(0))->profile->sm, linked = 0, k = 0;
    *part = NULL;
    *parts = 0;
    /* -rdc=true: the first fatbin has the machine code that the others were linked to */
    for (u32 i = 0; i < f->fatbin.n; i++) linked += f->fatbin.p[i].place == PLACE_RELOCATABLE;
    enum image_place from = linked ? PLACE_RELOCATABLE : f->fatbin.n ? f->fatbin.p[0].place : PLACE_FILE;
    snprintf(why, size, "%s", f->damage.code ? f->damage.text : "there is no device code in it");
    lk_ptx *made = f->fatbin.n ? base_alloc(sizeof *made * f->fatbin.n) : NULL;
    cu_result r = made ? CU_OK : f->fatbin.n ? CU_OUT_OF_MEMORY : CU_INVALID_IMAGE;
    for (u32 i = 0; !r && i < f->fatbin.n; i++) {
        char *text;
        if (f->fatbin.p[i].place != from || (r = text_of(f, i, sm, &text, why, size))) continue;
        made[k++] = (lk_ptx){ name, text, strlen(text) };
    }
    image_close(f);
    if (r) {
        cu_texts_free(made, k);
        return r;
    }
    *part = made;
    *parts = k;
    return CU_OK;
}

cu_result cu_texts_of(const void *data, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts,
                      char *why, size_t size)
{
    return texts_take(image_open_memory(name, data), device, name, part, parts, why, size);
}

cu_result cu_texts_of_file(struct str bytes, const struct cu_device *device, const char *name, lk_ptx **part,
                           u32 *parts, char *why, size_t size)
{
    return texts_take(image_open(name, bytes), device, name, part, parts, why, size);
}
