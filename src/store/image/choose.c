/* Which image of a fatbin is loaded.
 *
 * A GPU takes machine code before PTX: a cubin of its own major version, and of no newer minor version; of several the
 * newest. Without one it compiles PTX, that of the highest architecture that is not newer than itself. An image for
 * sm_90a is for that architecture alone, one for sm_100f for the later members of the same major version, too.
 * Lockstep executes PTX only, so the first step is skipped here, but named. */
#include "image/image.h"

static u32 major_of(u32 sm) { return sm / 10; }

/* Whether a GPU of architecture `sm` takes this PTX. */
static bool ptx_suits(const struct image *i, u32 sm)
{
    if (i->suffix == 'a') return i->sm == sm;
    if (i->suffix == 'f') return major_of(i->sm) == major_of(sm) && i->sm <= sm;
    return i->sm <= sm;
}

static bool cubin_suits(const struct image *i, u32 sm)
{
    return i->suffix == 'a' ? i->sm == sm : major_of(i->sm) == major_of(sm) && i->sm <= sm;
}

/* Of two images for one architecture, the one that may use more of it. */
static u32 specific(const struct image *i) { return i->suffix == 'a' ? 2 : i->suffix == 'f'; }

/* Whether a is to be taken before b, of images that both suit. */
static bool before(const struct image *a, const struct image *b)
{
    return a->sm != b->sm ? a->sm > b->sm : specific(a) > specific(b);
}

/* Whether PTX that is to be linked lies elsewhere in the file. */
static bool has_relocatable_ptx(const struct image_file *f)
{
    for (u32 k = 0; k < f->image.n; k++)
        if (f->image.p[k].kind == IMAGE_PTX && f->fatbin.p[f->image.p[k].fatbin].place == PLACE_RELOCATABLE)
            return true;
    return false;
}

static void explain(const struct image_file *f, const struct image_fatbin *b, u32 sm, struct image_choice *c)
{
    u32 cubins = 0, lto = 0, least = 0;
    for (u32 k = b->first; k < b->first + b->images; k++) {
        const struct image *i = &f->image.p[k];
        cubins += i->kind == IMAGE_CUBIN;
        lto += i->kind == IMAGE_LTO;
        if (i->kind == IMAGE_PTX && (!least || i->sm < least)) least = i->sm;
    }
    if (c->has_ptx)
        snprintf(c->why, sizeof c->why,
                 "the PTX inside is for sm_%u, and sm_%u cannot take it (CUDA_ERROR_NO_BINARY_FOR_GPU): compile with "
                 "-gencode arch=compute_%u,code=compute_%u, or do not ask for --strict-arch",
                 least, sm, sm, sm);
    else if (cubins && b->place == PLACE_LINKED && has_relocatable_ptx(f))
        snprintf(c->why, sizeof c->why,
                 "this is the machine code that nvlink made; the PTX of the relocatable fatbins (__nv_relfatbin) is "
                 "linked instead");
    else if (cubins || lto)
        snprintf(c->why, sizeof c->why,
                 "there is no PTX inside, only %s, which Lockstep does not run: compile with -gencode "
                 "arch=compute_%u,code=compute_%u to add it",
                 cubins ? "machine code" : "code for link-time optimisation", sm, sm);
    else
        snprintf(c->why, sizeof c->why, "there is no code inside");
}

void image_choose(const struct image_file *f, u32 fatbin, u32 sm, bool strict, struct image_choice *out)
{
    const struct image_fatbin *b = &f->fatbin.p[fatbin];
    const struct image *p = f->image.p;
    s32 newer = -1;
    *out = (struct image_choice){ .image = -1, .silicon = -1 };
    for (u32 k = b->first; k < b->first + b->images; k++) {
        if (p[k].kind == IMAGE_CUBIN && cubin_suits(&p[k], sm) && (out->silicon < 0 || before(&p[k], &p[out->silicon])))
            out->silicon = (s32)k;
        if (p[k].kind != IMAGE_PTX) continue;
        out->has_ptx = true;
        if (!ptx_suits(&p[k], sm)) {
            if (newer < 0 || before(&p[newer], &p[k])) newer = (s32)k;
        } else if (out->image < 0 || before(&p[k], &p[out->image])) {
            out->image = (s32)k;
        }
    }
    if (out->silicon < 0) out->silicon = out->image;
    if (out->image < 0 && newer >= 0 && (!strict || out->silicon >= 0)) {
        char arch[16];
        out->image = newer;
        out->is_newer = true;
        image_arch(&p[newer], arch);
        snprintf(out->note, sizeof out->note,
                 out->silicon < 0
                     ? "all PTX inside is for other architectures: that of %s runs here, a GPU of sm_%u would refuse it"
                     : "the PTX for %s runs here; a GPU of sm_%u would run the machine code that is there for it",
                 arch, sm);
    }
    if (out->image < 0) explain(f, b, sm, out);
}

enum image_verdict image_verdict(const struct image_file *f, u32 image, u32 sm, const struct image_choice *c)
{
    const struct image *i = &f->image.p[image];
    if (i->kind == IMAGE_CUBIN) {
        if (c->silicon == (s32)image) return VERDICT_SILICON;
        return cubin_suits(i, sm) ? VERDICT_SILICON_ALSO : VERDICT_OTHER_CUBIN;
    }
    if (i->kind != IMAGE_PTX) return VERDICT_NO_CODE;
    if (c->image == (s32)image) return c->is_newer ? VERDICT_LOADS_NEWER : VERDICT_LOADS;
    if (ptx_suits(i, sm)) return VERDICT_LESS;
    return i->sm <= sm || i->suffix == 'a' ? VERDICT_SPECIFIC : VERDICT_NEWER;
}

const char *image_verdict_text(enum image_verdict v)
{
    switch (v) {
    case VERDICT_LOADS: return "loads";
    case VERDICT_LOADS_NEWER: return "loads, though for another GPU";
    case VERDICT_LESS: return "another PTX is loaded";
    case VERDICT_NEWER: return "for a newer GPU";
    case VERDICT_SPECIFIC: return "for that architecture only";
    case VERDICT_SILICON: return "machine code: a GPU would take it";
    case VERDICT_SILICON_ALSO: return "machine code";
    case VERDICT_OTHER_CUBIN: return "machine code of another GPU";
    case VERDICT_NO_CODE: return "no code to run";
    }
    return "";
}
