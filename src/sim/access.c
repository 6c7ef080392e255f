/* The careful way of a memory access: each lane's address against the object its pointer came from (RULES.md B), and its
 * alignment. Whatever the checks in force, no lane ever touches memory that is not the program's. */
#include "sim/access.h"

enum verdict { OK, PAST, NEIGHBOUR, NULL_POINTER, INVALID, FREED, READ_ONLY, MISALIGNED, SHARED_PAST, LOCAL_PAST, VERDICTS };

struct lane_check {                             /* what was found for one lane */
    u8 verdict;
    struct mem_object *object, *hit;            /* the object the pointer came from; the one the access falls into */
    const struct ptx_var *var;                  /* shared or local array */
    u64 lo, size;                               /* legal range in shared or local memory */
};

struct object_of { struct mem_object *object; bool strict; };

/* The object an address must stay inside, and whether its pointer says so (strict) or only the address itself. */
static struct object_of owner(const struct access *a, u32 lane)
{
    struct warp *w = a->warp;
    const struct mem *m = w->cta->launch->sim->mem;
    const struct root *r = &a->site->root;
    u64 addr = a->addr[lane];
    struct mem_object *o = NULL;
    if (r->kind == ROOT_PARAM) { u64 v; memcpy(&v, w->cta->launch->param_copy + r->off, 8); o = mem_find(m, v); }
    if (r->kind == ROOT_VAR && r->var->addr) o = mem_find(m, r->var->addr);
    if (r->kind == ROOT_DYN) {
        u32 t = tag_of(w, w->code->low, w->code->low->op[a->insn->op].a, lane);
        if (t && t != TAG_MIXED) o = mem_by_id(m, t);
    }
    return o ? (struct object_of){ o, true } : (struct object_of){ mem_find(m, addr), false };
}

static bool within(u64 addr, u64 n, u64 lo, u64 size) { return addr - lo < size && n <= size - (addr - lo); }

static void check_global(struct access *a, u32 lane, struct lane_check *c)
{
    const struct mem *m = a->warp->cta->launch->sim->mem;
    u64 addr = a->addr[lane];
    struct object_of o = owner(a, lane);
    c->object = o.object;
    if (!o.object) { c->verdict = addr < 4096 ? NULL_POINTER : INVALID; return; }
    if (__atomic_load_n(&o.object->state, __ATOMIC_ACQUIRE) == MEM_FREED) { c->verdict = FREED; return; }
    if (!within(addr, a->bytes, o.object->base, o.object->size)) {
        c->hit = mem_find(m, addr);
        if (c->hit == o.object) c->hit = NULL;
        if (c->hit && (c->hit->state == MEM_FREED || !within(addr, a->bytes, c->hit->base, c->hit->size))) c->hit = NULL;
        c->verdict = c->hit ? NEIGHBOUR : PAST;
        return;
    }
    if (o.object->kind == MEM_CONST && a->site->name != N_ld) { c->verdict = READ_ONLY; return; }
    if (addr & (a->bytes - 1)) { c->verdict = MISALIGNED; return; }
    a->ptr[lane] = mem_view(o.object, addr);
    struct range *r = &a->warp->range[a->insn->site];
    if (a->site->root.kind != ROOT_DYN && !(o.object->kind == MEM_CONST && a->site->name != N_ld))
        *r = (struct range){ .lo = o.object->base, .size = o.object->size, .view = o.object->engine, .object = o.object->id, .strict = o.strict };
}

static void check_shared(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    const struct root *r = &a->site->root;
    c->lo = 0; c->size = w->cta->launch->shared_total;
    if (r->kind == ROOT_VAR && r->var->space == SP_SHARED) {
        c->var = r->var;
        bool dynamic = !r->var->size && r->var->is_extern;
        c->lo = dynamic ? w->cta->launch->dyn_shared : r->var->offset;
        c->size = dynamic ? w->cta->launch->shared_total - c->lo : r->var->size;
    }
    if (!within(a->addr[lane], a->bytes, c->lo, c->size)) c->verdict = SHARED_PAST;
    else if (a->addr[lane] & (a->bytes - 1)) c->verdict = MISALIGNED;
    else a->ptr[lane] = w->shared + a->addr[lane];
}

static void check_local(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    struct frame *f = w->cur->fr;
    const struct root *r = &a->site->root;
    c->lo = 0; c->size = f->local_base + f->code->low->local_bytes;
    if (r->kind == ROOT_VAR && r->var->space == SP_LOCAL) { c->var = r->var; c->lo = f->local_base + r->var->offset; c->size = r->var->size; }
    if (!within(a->addr[lane], a->bytes, c->lo, c->size) || c->lo + c->size > LOCAL_STACK) c->verdict = LOCAL_PAST;
    else if (a->addr[lane] & (a->bytes - 1)) c->verdict = MISALIGNED;
    else a->ptr[lane] = local_of(w) + (size_t)lane * LOCAL_STACK + a->addr[lane];
}

static void check_lane(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    const struct mem *m = w->cta->launch->sim->mem;
    struct frame *f = w->cur->fr;
    u64 addr = a->addr[lane];
    *c = (struct lane_check){ .verdict = OK };
    a->space[lane] = a->site->space;
    if (a->site->space == SP_GENERIC) {
        u64 s = addr - mem_shared_window(m), l = addr - mem_local_window(m);
        a->space[lane] = SP_GLOBAL;
        if (s < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS) { a->space[lane] = SP_SHARED; a->addr[lane] = s; }
        else if (l < MEM_LOCAL_BYTES) { a->space[lane] = SP_LOCAL; a->addr[lane] = l; }
    }
    switch (a->space[lane]) {
    case SP_SHARED: check_shared(a, lane, c); break;
    case SP_LOCAL: check_local(a, lane, c); break;
    case SP_CALL:
        CHECK(addr + a->bytes <= f->code->low->pmem_bytes);
        a->ptr[lane] = f->pmem + (size_t)lane * f->code->low->pmem_bytes + addr;
        break;
    case SP_PARAM:
        if (!within(addr, a->bytes, 0, w->cta->launch->kernel->func->param_bytes)) c->verdict = INVALID;
        else if (a->site->name != N_ld) c->verdict = READ_ONLY;
        else a->ptr[lane] = w->cta->launch->param_copy + addr;
        break;
    default: check_global(a, lane, c);
    }
}

/* ---- reporting ---- */

static const char *access_word(const struct site *s) { return s->name == N_ld ? "read" : s->name == N_st ? "write" : "atomic"; }

static const char *space_word(u32 space)
{
    static const char *const t[] = { [SP_GLOBAL] = "global", [SP_CONST] = "constant", [SP_SHARED] = "shared", [SP_LOCAL] = "local", [SP_PARAM] = "param", [SP_GENERIC] = "generic" };
    return space < COUNT_OF(t) && t[space] ? t[space] : "generic";
}

/* "_ZZ4tileE2as" names the array as of the function tile: its last component is what the source calls it. */
const char *plain_name(struct arena *a, struct str name)
{
    if (name.n < 4 || memcmp(name.p, "_ZZ", 3)) return arena_str(a, name);
    const char *best = NULL; u32 len = 0;
    for (u32 k = 3; k < name.n; k++) {
        if (name.p[k] < '0' || name.p[k] > '9') continue;
        u32 n = 0, j = k;
        while (j < name.n && name.p[j] >= '0' && name.p[j] <= '9' && n < 1000) n = n * 10 + (u32)(name.p[j++] - '0');
        if (n && j + n <= name.n) { best = name.p + j; len = n; k = j + n - 1; } else k = j - 1;
    }
    return best ? arena_str(a, (struct str){ best, len }) : arena_str(a, name);
}

static u32 global_thread(const struct warp *w, u32 lane)
{
    const struct sim_launch *in = w->cta->launch->in;
    u32 t = w->id * LANES + lane;
    return w->cta->id[0] * in->block[0] + t % in->block[0];
}

/* The failing element is the thread's own number along x: the usual missing guard. */
static bool looks_unguarded(const struct access *a, const struct lane_check *c, u32 mask)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u32 e = c[l].object->element_size ? c[l].object->element_size : a->bytes;
        if ((a->addr[l] - c[l].object->base) / e != global_thread(a->warp, l) || a->addr[l] < c[l].object->base) return false;
    }
    return true;
}

static void explain_past(const struct access *a, const struct lane_check *c, u32 first, u32 mask, struct arena *mem, struct finding *f)
{
    const struct mem_object *o = c[first].object;
    const struct sim_launch *in = a->warp->cta->launch->in;
    u32 e = o->element_size ? o->element_size : a->site->width;
    u64 addr = a->addr[first], n = o->size / (e ? e : 1);
    if (addr < o->base) {
        f->cause = arena_printf(mem, "the address lies %llu bytes before the start of %s: the index is negative, or was computed with too few bits", (unsigned long long)(o->base - addr), o->name);
        f->fix = "Check the lower bound of the index, and that it is signed and wide enough.";
    } else if (looks_unguarded(a, c, mask)) {
        u64 threads = (u64)in->grid[0] * in->block[0];
        f->cause = arena_printf(mem, "guard missing: the index is the global thread number, and %llu threads were launched along x for %llu elements", (unsigned long long)threads, (unsigned long long)n);
        f->fix = arena_printf(mem, "Return or skip the access when the index is not below %llu: if (i < n) ...", (unsigned long long)n);
    } else {
        u64 past = addr + a->bytes > o->base + o->size ? addr + a->bytes - o->base - o->size : 0;
        f->cause = arena_printf(mem, "index %llu, but %s has %llu elements of %u bytes; the access ends %llu bytes past its end", (unsigned long long)((addr - o->base) / e), o->name, (unsigned long long)n, e, (unsigned long long)past);
    }
}

/* The address is not a multiple of the width: which term of it carries the residue. */
static void explain_misaligned(const struct access *a, const struct lane_check *c, u32 first, u32 mask, struct arena *mem, struct finding *f)
{
    u32 need = a->bytes, all = (u32)__builtin_popcount(a->mask), bad = (u32)__builtin_popcount(mask);
    u64 residue = a->addr[first] & (need - 1);
    s64 stride = 0;
    for (u32 l = 0; l + 1 < LANES; l++)
        if ((a->mask >> l & 3) == 3) { stride = (s64)(a->addr[l + 1] - a->addr[l]); break; }
    f->object_note = NULL;
    u64 base = c[first].object ? c[first].object->base : c[first].lo;
    if (bad == all && (stride % need) == 0)
        f->cause = arena_printf(mem, "a %u-byte access needs an address that is a multiple of %u; here it is offset %llu of its object, and %llu mod %u = %llu for every lane: the offset added before indexing carries the residue",
                                need, need, (unsigned long long)(a->addr[first] - base), (unsigned long long)(a->addr[first] - base), need, (unsigned long long)residue);
    else {
        s64 q = stride / need, r = stride % need;
        if (r < 0) { r += need; q--; }
        f->cause = arena_printf(mem, "a %u-byte access needs an address that is a multiple of %u; neighbouring threads are %lld bytes apart, and %lld = %lld*%u + %lld, so the residue changes from thread to thread (here %llu)",
                                need, need, (long long)stride, (long long)stride, (long long)q, need, (long long)r, (unsigned long long)residue);
        f->fix = arena_printf(mem, "Make the distance between neighbours a multiple of %u bytes (%lld instead of %lld), or use a narrower access.", need, (long long)((stride + need - 1) / need * need), (long long)stride);
    }
}

static void describe_object(const struct lane_check *c, struct arena *mem, struct finding *f)
{
    const struct mem_object *o = c->object;
    f->object = arena_printf(mem, "%s", o->name);
    f->object_type = o->type; f->object_base = o->base; f->object_size = o->size; f->element_size = o->element_size;
    if (o->state == MEM_FREED) f->object_note = arena_printf(mem, "allocated %s%s, freed %s%s", o->alloc_site ? "at " : "", o->alloc_site ? o->alloc_site : "by the host", o->free_site ? "at " : "", o->free_site ? o->free_site : "by the host");
}

static void describe_array(const struct access *a, const struct lane_check *c, u32 lane, struct arena *mem, struct finding *f)
{
    struct launch *l = a->warp->cta->launch;
    bool shared = a->space[lane] == SP_SHARED;
    if (c->var) {
        u32 e = type_size[c->var->type];
        f->object = plain_name(mem, c->var->name);
        if (!shared && !strncmp(f->object, "__local_depot", 13)) f->object = "the local variables";
        /* nvcc declares every array as bytes: count in elements of the access */
        if (e < a->site->width) e = a->site->width;
        f->element_size = e;
        f->object_type = arena_printf(mem, "%llu bytes", (unsigned long long)c->size);
    } else { f->object = shared ? "shared memory" : "local memory"; f->element_size = a->site->width; }
    f->object_base = c->lo; f->object_size = c->size;
    u64 at = a->addr[lane];
    const char *what = f->object;
    if (shared && c->var && !c->var->size)
        f->cause = arena_printf(mem, "%s is dynamic shared memory: the launch gave %u bytes, and the access reaches byte %llu", what, l->in->shared_bytes, (unsigned long long)(at - c->lo + a->bytes)),
        f->fix = arena_printf(mem, "Launch with at least %llu bytes of dynamic shared memory.", (unsigned long long)(at - c->lo + a->bytes));
    else if (at < c->lo) f->cause = arena_printf(mem, "the address lies %llu bytes before the start of %s", (unsigned long long)(c->lo - at), what);
    else f->cause = arena_printf(mem, "byte offset %llu of %s, which has %llu bytes (%llu elements of %u): the access ends %llu bytes past its end", (unsigned long long)(at - c->lo), what, (unsigned long long)c->size,
                                 (unsigned long long)(c->size / f->element_size), f->element_size, (unsigned long long)(at + a->bytes - c->lo - c->size));
    if (shared && c->var && c->var->size && at >= c->lo)
        for (u32 k = 0; k < a->warp->code->low->func->nlocal; k++) {
            const struct ptx_var *v = a->warp->code->low->func->local[k];
            if (v->space == SP_SHARED && v != c->var && at - v->offset < v->size) f->neighbour = plain_name(mem, v->name);
        }
}

static void report_lanes(struct access *a, const struct lane_check *c, u32 mask)
{
    static const u8 kind[] = { [PAST] = F_bounds, [NEIGHBOUR] = F_bounds_neighbour, [NULL_POINTER] = F_null_pointer, [INVALID] = F_invalid_address, [FREED] = F_use_after_free,
                               [READ_ONLY] = F_read_only, [MISALIGNED] = F_misaligned, [SHARED_PAST] = F_bounds_shared, [LOCAL_PAST] = F_bounds_local };
    struct warp *w = a->warp;
    struct arena mem = { 0 };
    u32 first = (u32)__builtin_ctz(mask);
    const struct lane_check *x = &c[first];
    u32 on = w->cta->launch->in->checks;
    if (x->verdict == MISALIGNED ? !(on & CHECK_ALIGN) : !(on & CHECK_BOUNDS)) return;
    struct finding f = { .kind = (enum finding_kind)kind[x->verdict], .access = access_word(a->site), .space = space_word(a->space[first]), .width = a->bytes };
    for (u32 l = 0; l < LANES; l++) f.addr[l] = a->addr[l];
    if (x->object) describe_object(x, &mem, &f);
    switch (x->verdict) {
    case NEIGHBOUR: f.neighbour = x->hit->name; /* fall through */
    case PAST: explain_past(a, c, first, mask, &mem, &f); break;
    case MISALIGNED: explain_misaligned(a, c, first, mask, &mem, &f); break;
    case SHARED_PAST: case LOCAL_PAST: describe_array(a, x, first, &mem, &f); break;
    case NULL_POINTER: f.cause = arena_printf(&mem, "the address is 0x%llx: the pointer is null, or null plus a small offset", (unsigned long long)a->addr[first]); break;
    case INVALID: {
        struct mem_object *n = mem_near(w->cta->launch->sim->mem, a->addr[first]);
        f.cause = n && n->state == MEM_LIVE ? arena_printf(&mem, "0x%llx belongs to no allocation; the nearest is %s", (unsigned long long)a->addr[first], n->name)
                    : arena_printf(&mem, "0x%llx belongs to no allocation", (unsigned long long)a->addr[first]);
        break;
    }
    default: break;
    }
    f.cause_key = x->object ? x->object->id : x->var ? (u64)(uintptr_t)x->var->name.p : 0;
    found(w, a->insn->op, &f, mask);
    arena_free(&mem);
}

void access_check(struct access *a)
{
    struct lane_check c[LANES];
    a->ok = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        check_lane(a, l, &c[l]);
        if (c[l].verdict == OK) a->ok |= 1u << l;
    }
    /* lanes with the same verdict about the same object are one report */
    for (u32 todo = a->mask & ~a->ok; todo;) {
        u32 first = (u32)__builtin_ctz(todo), same = 0;
        for (u32 l = first; l < LANES; l++)
            if (todo >> l & 1 && c[l].verdict == c[first].verdict && c[l].object == c[first].object && c[l].hit == c[first].hit) same |= 1u << l;
        report_lanes(a, c, same);
        todo &= ~same;
    }
}

bool access_is_host_visible(const struct warp *w, u64 addr)
{
    struct mem_object *o = mem_find(w->cta->launch->sim->mem, addr);
    return o && (o->kind == MEM_PINNED || o->kind == MEM_MANAGED);
}
