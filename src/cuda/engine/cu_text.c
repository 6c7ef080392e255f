/* The PTX in an image in memory: what image_open_memory finds there, one text for each fatbin that is to be linked. */
#include "engine/cu_failed.h"
#include "engine/cu_report.h"
#include "engine/cu_run.h"
#include "engine/cu_where.h"
#include "image/carrier.h"
#include "image/image.h"
#include "report/report.h"
#include "card/card.h"
#include <dlfcn.h>

enum { CU_PTX_MAJOR = 9, CU_PTX_MINOR = 0 }; /* the newest PTX of CUDA 13.0 */

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

/* ---- images that a GPU would refuse ---- */

bool cu_ptx_is_newer(const char *ptx, u32 version[2])
{
    const char *at = strstr(ptx, ".version");
    if (!at || sscanf(at, ".version %u.%u", &version[0], &version[1]) != 2) return false;
    return version[0] > CU_PTX_MAJOR || (version[0] == CU_PTX_MAJOR && version[1] > CU_PTX_MINOR);
}

/* "PTX for sm_100, machine code for sm_86 and sm_89". */
static void inside_text(const struct image_file *f, const struct image_fatbin *b, struct text *out)
{
    static const struct {
        enum image_kind kind;
        const char *words;
    } row[] = { { IMAGE_PTX, "PTX" },
                { IMAGE_CUBIN, "machine code" },
                { IMAGE_LTO, "code for link-time optimisation" } };
    for (u32 r = 0; r < COUNT_OF(row); r++) {
        u32 n = 0, of = 0;
        for (u32 k = b->first; k < b->first + b->images; k++) of += f->image.p[k].kind == row[r].kind;
        for (u32 k = b->first; k < b->first + b->images; k++) {
            char arch[16];
            if (f->image.p[k].kind != row[r].kind) continue;
            image_arch(&f->image.p[k], arch);
            if (!n) text_add(out, "%s%s for ", out->n ? ", " : "", row[r].words);
            text_add(out, "%s%s", !n ? "" : n + 1 == of ? " and " : ", ", arch);
            n++;
        }
    }
}

/* Adds the finding once: a library may have hundreds of such fatbins. */
static void refused_found(enum finding_kind kind, const char *cause, const char *fix)
{
    static u32 said; /* a bit for each kind */
    u32 bit = kind == F_no_image ? 1 : kind == F_arch_newer ? 2 : 4;
    cu_reported();
    if (__atomic_fetch_or(&said, bit, __ATOMIC_RELAXED) & bit) return;
    struct finding found = { .kind = kind, .cause = cause, .fix = fix, .call = cu_site() };
    cu_found(&found);
}

/* No image, or only one for another architecture. */
static void image_found(const struct image_file *f, const struct image_fatbin *b, const struct cu_device *d,
                        const struct image_choice *c)
{
    u32 sm = d->card->sm;
    struct text cause = { 0 };
    char fix[300];
    inside_text(f, b, &cause);
    text_add(&cause, "%s is all that is in %s; %s takes PTX for sm_%u or older, or machine code for sm_%u0",
             cause.n ? "" : "Nothing", f->name, d->card->title, sm, sm / 10);
    if (sm % 10) text_add(&cause, " to sm_%u", sm);
    text_add(&cause, ". ");
    text_add(&cause, c->image < 0 ? "The call returns CUDA_ERROR_NO_BINARY_FOR_GPU (209)."
                                  : "A GPU returns CUDA_ERROR_NO_BINARY_FOR_GPU (209); the software GPU runs the PTX.");
    snprintf(fix, sizeof fix,
             "Compile with -gencode arch=compute_%u,code=compute_%u, or run on the device it is for: --device.", sm,
             sm);
    refused_found(c->has_ptx ? F_arch_newer : F_no_image, cause.p, fix);
    text_free(&cause);
}

/* PTX of a release that the driver does not know. */
static cu_result version_found(const struct image_file *f, const char *ptx, u32 sm)
{
    u32 v[2];
    char cause[300], fix[300];
    if (!cu_ptx_is_newer(ptx, v)) return CU_OK;
    bool strict = cu_run_strict();
    snprintf(cause, sizeof cause,
             "%s is PTX of version %u.%u, and the driver of CUDA 13.0 takes versions up to %u.%u. %s", f->name, v[0],
             v[1], CU_PTX_MAJOR, CU_PTX_MINOR,
             strict ? "The call returns CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)."
                    : "It returns CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222); the software GPU takes it where it can.");
    snprintf(fix, sizeof fix,
             "Compile with a toolkit that is no newer than the driver, or add machine code for the device, which "
             "depends on no version of PTX: -gencode arch=compute_%u,code=sm_%u.",
             sm, sm);
    refused_found(F_ptx_newer, cause, fix);
    return strict ? CU_UNSUPPORTED_PTX : CU_OK;
}

/* The file of a library that the image is a part of; NULL: it lies elsewhere, or in the program. */
static const char *library_of(const void *data)
{
    Dl_info at;
    if (!dladdr(data, &at) || !at.dli_fname) return NULL;
    const char *slash = strrchr(at.dli_fname, '/'), *name = slash ? slash + 1 : at.dli_fname;
    return strstr(name, ".so") ? name : NULL;
}

/* Machine code that a GPU would run and no PTX: nobody's mistake. Said once, since a library may have hundreds of such
 * fatbins; the call that fails has the reason each time. */
static void machine_code_say(const struct image_file *f, const char *library, u32 sm, const struct image_choice *c)
{
    static bool said;
    char cause[600], fix[400];
    snprintf(cause, sizeof cause, "%s: %s", f->name, c->why);
    fix[0] = 0;
    if (library && !c->has_ptx) {
        snprintf(cause, sizeof cause, "The kernels of %s are machine code without PTX, which Lockstep does not run.",
                 library);
        snprintf(fix, sizeof fix,
                 "If you build %s, add PTX to it: -gencode arch=compute_%u,code=compute_%u. Of a library that comes "
                 "compiled, as PyTorch does, these operators cannot run here: use the CPU for them, or a kernel of "
                 "your own.",
                 library, sm, sm);
    }
    cu_reason(library ? cause : c->why, fix, false);
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) fprintf(stderr, "lockstep: %s\n", cause);
    cu_report_unsupported();
}

/* The source that a carrier keeps after its PTX. */
static void carried_give(const char *ptx)
{
    const char *at = strstr(ptx, "\n" CARRIED_SOURCE);
    char name[1000];
    struct text source = { 0 };
    if (!at) return;
    at += strlen("\n" CARRIED_SOURCE);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
    while ((at = strchr(at, '\n')) && !strncmp(at + 1, CARRIED_LINE, strlen(CARRIED_LINE))) {
        at += 1 + strlen(CARRIED_LINE);
        text_put(&source, at, strcspn(at, "\n"));
        text_put(&source, "\n", 1);
    }
    if (source.n) source_give(name, (struct str){ source.p, (u32)source.n });
    text_free(&source);
}

/* The text that a device takes of one fatbin. */
static cu_result text_of(struct image_file *f, u32 fatbin, const char *library, const struct cu_device *d, char **ptx,
                         char *why, size_t size)
{
    u32 sm = d->card->sm;
    struct image_choice c;
    struct error e = { 0 };
    struct str text;
    image_choose(f, fatbin, sm, cu_run_strict(), &c);
    snprintf(why, size, "%s", c.why);
    bool runs = c.silicon >= 0; /* on a GPU */
    if (!runs) image_found(f, &f->fatbin.p[fatbin], d, &c);
    if (c.image < 0) {
        if (runs) machine_code_say(f, library, sm, &c);
        return CU_NO_BINARY;
    }
    if (!image_unpack(f, (u32)c.image, &text, &e)) {
        snprintf(why, size, "%s", e.text);
        return CU_INVALID_IMAGE;
    }
    snprintf(why, size, "out of memory");
    cu_result r = text_copy(text, ptx);
    if (!r && f->kind == FILE_CUBIN) carried_give(*ptx);
    /* machine code for the device would be taken in its place; a cubin is some, whose texts are carried along */
    if (!r && f->kind != FILE_CUBIN && c.silicon == c.image && (r = version_found(f, *ptx, sm))) base_free(*ptx);
    return r;
}

void cu_texts_free(lk_ptx *part, u32 parts)
{
    for (u32 i = 0; i < parts; i++) base_free((void *)(uintptr_t)part[i].ptx);
    base_free(part);
}

/* All texts of a file that was opened, which is closed. */
static cu_result texts_take(struct image_file *f, const char *library, const struct cu_device *device, const char *name,
                            lk_ptx **part, u32 *parts, char *why, size_t size)
{
    u32 linked = 0, k = 0;
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
        if (f->fatbin.p[i].place != from ||
            (r = text_of(f, i, library, device ? device : cu_device_at(0), &text, why, size)))
            continue;
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
    return texts_take(image_open_memory(name, data), library_of(data), device, name, part, parts, why, size);
}

cu_result cu_texts_of_file(struct str bytes, const struct cu_device *device, const char *name, lk_ptx **part,
                           u32 *parts, char *why, size_t size)
{
    return texts_take(image_open(name, bytes), NULL, device, name, part, parts, why, size);
}
