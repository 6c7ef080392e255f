/* Where shared variables lie. A variable has one offset for all kernels of the program, since the code of a function
 * that names it serves them all; two variables may lie over each other when no kernel can get to both. So each kernel
 * has an end: a variable goes after the ends of all kernels that reach it, and becomes the end of them. First what
 * several kernels may share, then each kernel's own, which meet nobody else's: a kernel takes no more than it can
 * use. */
#include "code/shared_layout.h"
#include "mem/mem.h"
#include <stdlib.h>

struct layout_user {
    u32 var, kernel;
}; /* numbers: that kernel reaches that variable */
struct placing {
    struct arena mem;
    /* variables that several kernels may reach, in the order of the text; ptx_var.offset is its number here until it
     * gets its place */
    VEC(struct ptx_var *) var;
    VEC(struct ptx_func *) kernel; /* of the program */
    VEC(struct layout_user) user;
};

/* From sm_80 on the system keeps the first KiB of every CTA's shared memory, and cooperative groups take a part of it
 * for tiles larger than a warp. Only programs that ask for the address see this; for all others shared memory starts at
 * 0. */
static bool asks_for_reserved(const struct ptx_module *m)
{
    for (u32 j = 0; j < m->nfunc; j++)
        for (u32 k = 0; k < m->func[j]->ninsn; k++)
            for (u32 a = 0; a < m->func[j]->insn[k].narg; a++) {
                const struct ptx_operand *o = &m->func[j]->insn[k].arg[a];
                if (o->kind == OP_SREG && o->sreg->id >= SR_RESERVED_SMEM_OFFSET_BEGIN &&
                    o->sreg->id <= SR_RESERVED_SMEM_OFFSET_1)
                    return true;
            }
    return false;
}

static bool has_storage(const struct ptx_var *v) { return v->space == SP_SHARED && v->size && !v->instead; }

static void number(struct placing *p, struct ptx_var *v)
{
    if (!has_storage(v)) return;
    v->offset = p->var.n;
    VEC_PUSH(&p->mem, &p->var, v);
}

static void number_module(struct placing *p, struct ptx_module *m)
{
    for (u32 k = 0; k < m->nvar; k++) number(p, m->var[k]);
    for (u32 j = 0; j < m->nfunc; j++) {
        struct ptx_func *f = m->func[j];
        for (u32 k = 0; !f->is_entry && k < f->nlocal; k++) number(p, f->local[k]);
        if (f->is_entry && f->has_body) VEC_PUSH(&p->mem, &p->kernel, f);
    }
}

static bool is_own(const struct ptx_func *kernel, const struct ptx_var *v)
{
    for (u32 k = 0; k < kernel->nlocal; k++)
        if (kernel->local[k] == v) return true;
    return false;
}

/* The variables that a kernel reaches, kept with it; a `user` for each that other kernels may reach, too. */
static void find_users(struct placing *p, u32 kernel)
{
    struct ptx_func *f = p->kernel.p[kernel];
    struct ptx_reach r;
    VEC(struct ptx_var *) list = { 0 };
    ptx_reach(&r, f);
    f->dynamic_align = 0;
    for (u32 k = 0; k < r.var.n; k++) {
        struct ptx_var *v = r.var.p[k];
        /* as ptxas has it */
        if (v->space == SP_SHARED && !v->size) f->dynamic_align = MAX_OF(f->dynamic_align, MAX_OF(v->align, 16u));
        if (!has_storage(v)) continue;
        VEC_PUSH(&f->module->mem, &list, v);
        if (!is_own(f, v)) VEC_PUSH(&p->mem, &p->user, ((struct layout_user){ (u32)v->offset, kernel }));
    }
    f->shared = list.p;
    f->nshared = list.n;
    arena_free(&r.mem);
}

static u64 align_up(u64 at, u32 align) { return align ? (at + align - 1) / align * align : at; }

static int by_variable(const void *a, const void *b)
{
    const struct layout_user *x = a, *y = b;
    return x->var != y->var ? (x->var < y->var ? -1 : 1) : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static void place_common(struct placing *p)
{
    if (p->user.n) qsort(p->user.p, p->user.n, sizeof *p->user.p, by_variable);
    for (u32 from = 0, to; from < p->user.n; from = to) {
        struct ptx_var *v = p->var.p[p->user.p[from].var];
        u64 at = 0;
        for (to = from; to < p->user.n && p->user.p[to].var == p->user.p[from].var; to++)
            at = MAX_OF(at, p->kernel.p[p->user.p[to].kernel]->shared_end);
        v->offset = align_up(at, v->align);
        for (u32 k = from; k < to; k++) p->kernel.p[p->user.p[k].kernel]->shared_end = v->offset + v->size;
    }
}

static void place_own(struct ptx_func *f)
{
    for (u32 k = 0; k < f->nlocal; k++)
        if (has_storage(f->local[k])) {
            f->local[k]->offset = align_up(f->shared_end, f->local[k]->align);
            f->shared_end = f->local[k]->offset + f->local[k]->size;
        }
    f->shared_end = align_up(f->shared_end, f->dynamic_align); /* dynamic memory follows, where there is any */
    if (!f->dynamic_align) f->dynamic_align = 16;
}

/* Whether an instruction may reach the shared memory of other CTAs at an address that the kernel has made by itself:
 * kernels for sm_100 change the rank in a shared address. Bulk copies are left out: what they do to the memory of
 * another CTA is checked as far as the program has one of the others. */
static bool says_cluster(const struct ptx_opcode *o)
{
    static const char *const bases[] = { "ld", "st", "atom", "red", "mbarrier" };
    bool known = false;
    for (u32 k = 0; k < COUNT_OF(bases); k++) known |= str_is(o->base, bases[k]);
    for (u32 n = 0; known && n < o->nmod; n++)
        if (str_is(o->mod[n], "shared::cluster")) return true;
    return false;
}

/* Whether an instruction of the program makes addresses of other CTAs' shared memory, or reaches it. */
static bool is_distributed(const struct ptx_module *first)
{
    for (const struct ptx_module *m = first; m; m = m->next)
        for (u32 k = 0; k < m->nfunc; k++)
            for (u32 i = 0; i < m->func[k]->ninsn; i++) {
                const struct ptx_opcode *o = m->func[k]->insn[i].op;
                if (o && (str_is(o->base, "mapa") || says_cluster(o))) return true;
                for (u32 n = 0; o && n < o->nmod; n++)
                    if (str_is(o->mod[n], "multicast::cluster")) return true;
            }
    return false;
}

void shared_layout(struct ptx_module *m)
{
    struct ptx_module *first = m->first;
    struct placing p = { 0 };
    bool reserved = false;
    if (first->shared_placed) return;
    for (m = first; m; m = m->next) {
        reserved |= asks_for_reserved(m);
        number_module(&p, m);
    }
    for (m = first; m; m = m->next) m->shared_base = reserved ? SHARED_RESERVED : 0;
    for (u32 k = 0; k < p.kernel.n; k++) {
        find_users(&p, k);
        p.kernel.p[k]->shared_end = first->shared_base;
    }
    place_common(&p);
    for (u32 k = 0; k < p.kernel.n; k++) place_own(p.kernel.p[k]);
    arena_free(&p.mem);
    first->distributed = is_distributed(first);
    first->shared_placed = true;
}

u64 shared_static_bytes(const struct ptx_func *kernel)
{
    if (unlikely(!kernel->module->first->shared_placed)) shared_layout(kernel->module);
    return kernel->shared_end - kernel->module->shared_base;
}

const struct ptx_var *shared_variable(const struct ptx_func *kernel, u64 at)
{
    at %= MEM_WINDOW_CTA; /* of whichever CTA of the cluster */
    for (u32 k = 0; k < kernel->nshared; k++)
        if (at - kernel->shared[k]->offset < kernel->shared[k]->size) return kernel->shared[k];
    return NULL;
}
