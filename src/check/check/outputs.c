/* The observer of outputs.h: which output an access writes. */
#include "check/outputs.h"
#include "check/value_origin.h"
#include "mem/mem_finding.h"
#include "sim/finding_place.h"
#include <inttypes.h>

static struct output *find(const struct outputs *o, u64 addr)
{
    for (u32 i = 0; i < o->n; i++)
        if (addr >= o->list[i].lo && addr < o->list[i].end) return &o->list[i];
    return NULL;
}

/* A store to an array that the contract calls `in`. */
static void input_write(const struct output *out, const struct access *a, u32 lanes)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = F_input_written,
                         .access = site_is_store(a->site) ? "write" : "atomic",
                         .space = "global",
                         .width = a->bytes };
    memcpy(f.addr, a->addr, sizeof f.addr);
    output_describe(&mem, out, &f);
    f.cause = arena_printf(&mem, "the contract says that %s is `in`, which the kernel only reads", f.object);
    finding_add(a->warp, a->insn->op, &f, lanes);
    arena_free(&mem);
}

static void on_access(void *self, const struct access *a)
{
    struct outputs *o = self;
    for (u32 todo = a->wrote & a->ok; todo;) {
        u32 first = (u32)__builtin_ctz(todo), lanes = 1u << first;
        struct output *out = a->space[first] == SP_GLOBAL ? find(o, a->addr[first]) : NULL;
        if (!out && o->all) {
            for (u32 m = todo; m; m &= m - 1)
                if (a->space[__builtin_ctz(m)] == SP_GLOBAL && !find(o, a->addr[__builtin_ctz(m)])) lanes |= m & -m;
            if (a->space[first] == SP_GLOBAL) values_any(o, a, lanes);
        }
        for (u32 l = first + 1; out && l < LANES; l++)
            if (todo >> l & 1 && a->space[l] == SP_GLOBAL && a->addr[l] >= out->lo && a->addr[l] < out->end)
                lanes |= 1u << l;
        todo &= ~lanes;
        if (out && out->input && !o->origins) input_write(out, a, lanes);
        if (out && out->written) coverage_write(o, out, a, lanes);
        if (out && out->type) values_write(o, out, a, lanes);
    }
}

void output_describe(struct arena *a, const struct output *out, struct finding *f)
{
    char type[160];
    if (!out->arg) {
        const struct mem_object *m = out->object;
        finding_object(f, m);
        return;
    }
    contract_type_text(out->arg, type, sizeof type);
    f->object = out->arg->arg->name;
    f->object_type = arena_str(a, str_of(type));
    f->object_base = out->lo;
    f->object_size = out->end - out->lo;
    f->element_size = out->arg->arg->shape.type->bytes;
}

/* Whether an array that may be written takes some of these bytes. */
static bool is_shared(const struct outputs_launch *l, u32 except, u64 at, u64 bytes)
{
    for (u32 i = 0; i < l->bound->kernel->args.n && i < l->kernel->nparam; i++) {
        const struct bound_arg *b = &l->bound->arg[i];
        u64 other;
        if (i == except || b->arg->kind != CONTRACT_BUFFER || b->arg->flow == FLOW_IN) continue;
        memcpy(&other, (const u8 *)l->params + l->kernel->param[i]->offset, 8);
        if (other < at + bytes && at < other + b->bytes) return true;
    }
    return false;
}

/* One argument: an array that is written and lies in one live object, or one that must not be. What does not is the
 * contract check's to say. */
static bool add(struct outputs *o, const struct outputs_launch *l, u32 i, struct error *e)
{
    const struct bound_arg *b = &l->bound->arg[i];
    const struct contract_arg *g = b->arg;
    u64 at;
    if (g->kind != CONTRACT_BUFFER || !b->bytes || i >= l->kernel->nparam) return true;
    memcpy(&at, (const u8 *)l->params + l->kernel->param[i]->offset, 8);
    if (g->flow == FLOW_IN && (!(l->checks & CHECK_CONTRACT) || is_shared(l, i, at, b->bytes))) return true;
    const struct mem_object *object = at ? mem_find(l->mem, at) : NULL;
    if (!object || !mem_is_live(object) || b->bytes > object->size - (at - object->base)) return true;
    struct output *out = &o->list[o->n];
    *out = (struct output){ .arg = b, .object = object, .lo = at, .end = at + b->bytes };
    if (g->flow == FLOW_IN) {
        out->input = true;
        o->n++;
        return true;
    }
    out->type = l->checks & CHECK_VALUES && values_wanted(b) ? g->shape.type : NULL;
    bool covered = l->checks & CHECK_COVERAGE && (g->once || (g->flow == FLOW_OUT && !g->partial));
    o->n += covered || out->type;
    return !covered || coverage_begin(out, g->once, e);
}

bool outputs_begin(const struct outputs_launch *l, struct outputs **out, struct error *e)
{
    struct arena mem = { 0 };
    char name[256];
    struct outputs *o = NEW(&mem, struct outputs);
    name_plain(l->kernel->name, name, sizeof name);
    o->bound = l->bound;
    o->kernel = arena_str(&mem, str_of(name));
    o->report = l->report;
    u32 n = l->bound ? l->bound->kernel->args.n : 0;
    o->list = NEW_ARRAY(&mem, struct output, n + 1);
    o->all = l->all_values;
    o->once = l->once;
    o->memory = l->mem;
    pthread_mutex_init(&o->lock, NULL);
    o->observer =
        (struct observer){ .self = o, .watch = WATCH_WRITES, .writes = true, .access = on_access, .next = l->next };
    o->block = l->block[0] * l->block[1] * l->block[2];
    o->grid = l->grid[0];
    o->threads = (u64)o->block * l->grid[0] * l->grid[1] * l->grid[2];
    o->mem = mem;
    *out = NULL;
    bool ok = true;
    for (u32 i = 0; ok && i < n; i++) ok = add(o, l, i, e);
    bool values = o->all;
    for (u32 i = 0; i < o->n; i++) values |= o->list[i].type != NULL;
    if (ok && values && !(o->held = report_new())) ok = error_set(e, ERR_MEMORY, "no memory for a report");
    if (ok && (o->n || o->all))
        *out = o;
    else
        outputs_free(o);
    return ok;
}

void outputs_end(struct outputs *o, bool whole)
{
    for (u32 i = 0; whole && i < o->n; i++)
        if (o->list[i].written && o->list[i].arg->arg->flow == FLOW_OUT && !o->list[i].arg->arg->partial)
            coverage_end(o, &o->list[i]);
}

void outputs_rerun(struct outputs *o, struct value_origins *origins)
{
    for (u32 i = 0; i < o->n; i++) {
        base_free(o->list[i].written);
        base_free(o->list[i].writer);
        o->list[i].written = NULL;
        o->list[i].writer = NULL;
    }
    o->origins = origins;
    o->observer.next = NULL;
}

void outputs_settle(struct outputs *o)
{
    static const enum finding_kind kind[] = { [ODD_INF] = F_value_inf, [ODD_NAN] = F_value_nan };
    for (u32 k = ODD_INF; k <= ODD_NAN; k++)
        if (o->odd >> k & 1 && !(o->reported >> k & 1)) report_take(o->report, o->held, kind[k]);
}

void outputs_free(struct outputs *o)
{
    if (!o) return;
    report_free(o->held);
    for (u32 i = 0; i < o->n; i++) {
        base_free(o->list[i].written);
        base_free(o->list[i].writer);
    }
    pthread_mutex_destroy(&o->lock);
    struct arena mem = o->mem; /* the struct lies in it */
    arena_free(&mem);
}
