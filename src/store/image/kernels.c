/* The kernels of an image, from PTX or from a cubin. */
#include "image/image.h"
#include "base/demangle.h"
#include "ptx/ptx.h"

struct image_kernel *image_kernel_add(struct arena *mem, struct image_code *c, struct str name)
{
    struct demangled d;
    struct image_kernel k = { .name = image_text(mem, name.p, name.n) };
    k.plain = k.signature = k.name;
    if (demangle(mem, name, &d)) {
        k.plain = image_text(mem, d.name, strlen(d.name));
        k.signature = d.signature ? image_text(mem, d.signature, strlen(d.signature)) : k.plain;
    }
    VEC_PUSH(mem, &c->kernel, k);
    return &c->kernel.p[c->kernel.n - 1];
}

/* The types of the source, where the name has as many as there are parameters. */
static void name_types(struct arena *mem, struct image_kernel *k)
{
    struct demangled d;
    if (!demangle(mem, str_of(k->name), &d) || d.params != k->params) return;
    for (u32 i = 0; i < k->params; i++) k->param[i].type = image_text(mem, d.param[i], strlen(d.param[i]));
}

/* ---- PTX ---- */

/* Whether it reads what the driver leaves for grid.sync(): %envreg1 and %envreg2. */
static bool reads_workspace(const struct ptx_func *f)
{
    for (u32 i = 0; i < f->ninsn; i++)
        for (u32 k = 0; k < f->insn[i].narg; k++) {
            const struct sreg *r = f->insn[i].arg[k].sreg;
            if (r && (!strcmp(r->name, "%envreg1") || !strcmp(r->name, "%envreg2"))) return true;
        }
    return false;
}

static bool has_lines(const struct ptx_func *f)
{
    for (u32 i = 0; i < f->ninsn; i++)
        if (f->insn[i].loc) return true;
    return false;
}

static u64 aligned(u64 n, u32 align) { return align ? (n + align - 1) / align * align : n; }

static void read_func(struct arena *mem, struct image_code *c, struct ptx_func *f)
{
    struct image_kernel *k = image_kernel_add(mem, c, f->name);
    struct ptx_reach r;
    k->params = f->nparam;
    k->param_bytes = f->param_bytes;
    k->param = NEW_ARRAY(mem, struct image_param, k->params + 1);
    for (u32 i = 0; i < k->params; i++)
        k->param[i] = (struct image_param){ (u32)f->param[i]->offset, (u32)f->param[i]->size, "" };
    ptx_reach(&r, f);
    for (u32 i = 0; i < r.var.n; i++) {
        const struct ptx_var *v = r.var.p[i];
        if (v->space == SP_SHARED && v->size) k->shared = aligned(k->shared, v->align) + v->size;
        k->dynamic_shared |= v->space == SP_SHARED && v->is_extern && !v->size;
        k->stack += v->space == SP_LOCAL ? v->size : 0;
    }
    for (u32 i = 0; i < r.func.n; i++) k->grid_sync |= reads_workspace(r.func.p[i]);
    arena_free(&r.mem);
    memcpy(k->max_threads, f->maxntid, sizeof k->max_threads);
    memcpy(k->threads, f->reqntid, sizeof k->threads);
    memcpy(k->cluster, f->reqnctapercluster, sizeof k->cluster);
    k->max_cluster = f->maxclusterrank;
    k->explicit_cluster = f->explicit_cluster;
}

static bool read_ptx(struct arena *mem, const char *name, struct str text, struct image_code *c, struct error *e)
{
    struct ptx_module *m = ptx_parse(name, text, e);
    bool ok = m && ptx_link(&m, 1, e);
    for (u32 i = 0; ok && i < m->nfunc; i++) {
        c->lines |= has_lines(m->func[i]);
        if (m->func[i]->is_entry && m->func[i]->has_body) read_func(mem, c, m->func[i]);
    }
    for (u32 i = 0; ok && i < m->nvar; i++) {
        c->global += m->var[i]->space == SP_GLOBAL ? m->var[i]->size : 0;
        c->constant += m->var[i]->space == SP_CONST ? m->var[i]->size : 0;
    }
    if (ok) c->debug = m->debug;
    c->tool = c->tool_options = "";
    ptx_free(m);
    return ok;
}

const struct image_code *image_read(struct image_file *f, u32 image, struct error *e)
{
    struct image *i = &f->image.p[image];
    struct str text;
    bool was_unpacked = i->unpacked.p != NULL;
    if (i->code) return i->code;
    if (!image_unpack(f, image, &text, e)) return NULL;
    struct image_code *c = NEW(&f->mem, struct image_code);
    const char *name = f->name;
    if (f->kind != FILE_PTX && f->kind != FILE_CUBIN) name = arena_printf(&f->mem, "%s, image %u", f->name, image + 1);
    bool ok;
    if (i->kind == IMAGE_PTX) {
        ok = read_ptx(&f->mem, name, text, c, e);
    } else if (i->kind == IMAGE_CUBIN) {
        /* offsets of an unpacked image count from its own beginning */
        struct piece s = { (const u8 *)text.p, text.n, i->owned ? 0 : i->stored.at, i->owned ? name : f->name };
        ok = cubin_read(&f->mem, &s, c, e);
    } else {
        ok = error_set(e, ERR_INPUT, "image %u of %.200s has no kernels that can be listed", image + 1, f->name);
    }
    /* a library has thousands of images: their contents are not kept for the sake of a list */
    if (!was_unpacked) image_drop(i);
    if (!ok) return NULL;
    c->relocatable |= f->fatbin.p[i->fatbin].place == PLACE_RELOCATABLE || strstr(i->options, "--compile-only");
    for (u32 k = 0; k < c->kernel.n; k++) name_types(&f->mem, &c->kernel.p[k]);
    i->code = c;
    return c;
}
