/* The guard that lets an index through: what the index is compared with on the way to an access that leads outside, and
 * how that compares with the array. */
#include "explain/explain_guard.h"
#include "explain/explain_index.h"
#include <inttypes.h>

/* The operation that sets the predicate of a branch or of the access itself; NULL: not one only. */
static const struct lop *compare_of(const struct lowered *l, const struct opnd *guard)
{
    const struct lop *found = NULL;
    if (guard->kind != O_REG || l->ndef[guard->reg] != 1) return NULL;
    for (u32 k = 0; k < l->nop; k++)
        EACH_DEF (r, &l->op[k])
            if (r == guard->reg) found = &l->op[k];
    return found && found->kind == K_CMP && found->shape == SHAPE_COMPARE ? found : NULL;
}

struct guard_bound { /* what an index is compared with */
    u64 value;
    u32 argument, width;
};

/* The parameter that a comparison takes, if the other operand may be the index of elements of so many bytes. */
static bool bound_in(const struct access *a, const struct lop *o, u32 bytes, struct guard_bound *out)
{
    const struct launch *l = a->warp->cta->launch;
    const struct ptx_func *f = l->kernel->func;
    for (u32 j = 0; o && j < 2; j++) {
        const struct opnd *p = lop_src(o, j), *other = lop_src(o, 1 - j);
        if (p->kind != O_PARAM || other->kind != O_REG || a->warp->code->low != l->kernel) continue;
        out->width = type_size[isa_operand_type(&isa_forms[o->form], j + 1)];
        out->value = 0;
        memcpy(&out->value, l->param.block + p->value, out->width);
        if (!formula_same_steps(a, other, out->width, bytes)) continue;
        for (out->argument = 0; out->argument < f->nparam; out->argument++)
            if (f->param[out->argument]->offset == p->value) return true;
    }
    return false;
}

bool explain_guard(const struct access *a, u64 index, u64 elements, struct arena *mem, struct finding *f)
{
    const struct lowered *l = a->warp->code->low;
    u32 b = 0, op = a->insn->op;
    struct guard_bound x;
    bool found = bound_in(a, compare_of(l, &l->op[op].guard), f->element_size, &x) && x.value > elements &&
                 index < x.value;
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    for (u32 n = 0; b < l->nblock && !found && n < l->nblock; n++) {
        u32 up = l->block[b].idom;
        if (up == NONE || up == b) break;
        b = up;
        if (l->block[b].term == TERM_BRA)
            found = bound_in(a, compare_of(l, &l->op[l->block[b].end - 1].guard), f->element_size, &x) &&
                    x.value > elements && index < x.value;
    }
    if (!found) return false;
    const char *name = ptx_argument(a->warp->cta->launch->kernel->func, x.argument).text;
    u32 low = (u32)x.value;
    if (x.width == 8 && x.value >> 32 && low && low <= elements) {
        f->cause = arena_printf(mem,
                                "the guard compares the index with %s, %" PRIu64 ", and %s has %" PRIu64
                                " element%s: the lower 4 bytes of it are %u, so an int was passed where the kernel "
                                "reads 8 bytes",
                                name, x.value, f->object, elements, plural(elements), low);
        f->fix = arena_printf(mem, "Pass a variable of 8 bytes (long long, size_t) as %s.", name);
        return true;
    }
    bool bytes = x.value == f->object_size && f->element_size > 1,
         again = site_is_load(a->site) && elements && x.value % elements == 0;
    f->cause = arena_printf(
        mem, "the guard compares the index with %s, %" PRIu64 ", but %s has only %" PRIu64 " element%s%s", name,
        x.value, f->object, elements, plural(elements), bytes ? ": that is the number of its bytes" : "");
    if (bytes)
        f->fix = arena_printf(mem, "Allocate %u bytes for each element: the size is a number of bytes.",
                              f->element_size);
    else
        f->fix = arena_printf(
            mem, "Give %s as many elements as %s says, or compare with the number that it has%s.", f->object, name,
            again ? arena_printf(mem, "; where it is to be used again and again (broadcast), index it modulo %" PRIu64,
                                 elements)
                  : "");
    return true;
}

/* The index goes from row to row by as many elements as the rows of the allocation are bytes apart. */
static bool explain_pitch_units(const struct access *a, struct arena *mem, struct finding *f)
{
    const struct mem_object *o = mem_find(a->warp->cta->launch->sim->mem, f->object_base);
    u64 pitch = o ? o->pitch : 0;
    const struct sim_launch *in = a->warp->cta->launch->in;
    bool rows = false;
    for (u32 k = 0; k < 3 && pitch; k++)
        rows |= (in->block[k] > 1 && (u64)f->form.step[k] == pitch) ||
                (in->grid[k] > 1 && (u64)f->form.cta_step[k] == pitch * (k ? in->block[k] : 1));
    if (!rows || f->element_size < 2) return false;
    f->cause = arena_printf(mem,
                            "the pitch of %s, %" PRIu64 ", counts bytes, and the index goes on by as many elements of "
                            "%u bytes from row to row",
                            f->object, pitch, f->element_size);
    f->fix = "Add the pitch to a pointer to bytes: ((T *)((char *)p + y * pitch))[x].";
    return true;
}

/* threadIdx.x * n + blockIdx.x, where blockIdx.x * n + threadIdx.x stays inside. */
static bool explain_exchanged(const struct access *a, u64 elements, struct arena *mem, struct finding *f)
{
    const struct sim_launch *in = a->warp->cta->launch->in;
    s64 n = f->form.step[0];
    if (n < 2 || f->form.cta_step[0] != 1 || f->form.start ||
        in->grid[1] * in->grid[2] * in->block[1] * in->block[2] > 1)
        return false;
    u64 threads = MIN_OF((u64)in->block[0], (u64)n), most = (in->grid[0] - 1ull) * (u64)n + threads;
    if (in->grid[0] < 2 || most > elements + in->block[0]) return false;
    f->cause = arena_printf(mem,
                            "the index is %" PRId64 " * threadIdx.x + blockIdx.x: with the two exchanged, %" PRId64
                            " * blockIdx.x + threadIdx.x, the launch has the elements of %s",
                            n, n, f->object);
    f->fix = arena_printf(mem, "Exchange the two: blockIdx.x * %" PRId64 " + threadIdx.x.", n);
    return true;
}

bool explain_units(const struct access *a, u64 elements, struct arena *mem, struct finding *f)
{
    if (!f->form.known || f->form.open) return false;
    return explain_pitch_units(a, mem, f) || explain_exchanged(a, elements, mem, f);
}
