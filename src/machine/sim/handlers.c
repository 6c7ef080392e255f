/* From an instruction to the function that executes it. handlers.h says how they are put together. */
#include "sim/handlers.h"
#include "lower/decode.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/special_registers.h"

/* What the handlers of a version depend on beside code.watch. Zeroed before it is filled: compared as bytes. */
struct binding_key {
    memory_chooser *memory;             /* NULL: no observer brings handlers of accesses */
    around_chooser *wants[AROUND_MOST]; /* of the observers around instructions, the outermost first */
};

struct binding {
    struct code *c;
    const struct sim_launch *in; /* who watches, and with which handlers */
    const struct binding_key *key;
    bool planes; /* the code keeps planes of undefined bits */
};

/* ---- the innermost one ---- */

/* Whether a row has the carry among its operands for its syntax alone: add.cc makes one and takes none. Nobody reads
 * it, so its class does not matter. */
static bool takes_no_carry(const struct isa_form *f) { return f->shape == SHAPE_CARRY; }

/* By the classes of result and operands. */
static handler *lane_handler(const struct insn *i, const struct isa_form *f, u32 group)
{
    const struct lane_set *s = lanes_of(i->form);
    if (f->kind == K_PRED) return s->v[0];
    u32 n = f->op[3] == T_PRED ? 2 : f->nsrc - takes_no_carry(f), mix = 0;
    if (f->kind == K_CMP) {
        bool all = CLS_AT(i, 1) == CLS_S && CLS_AT(i, 2) == CLS_S;
        if (all) return s->grp;
        bool ordered = f->shape == SHAPE_COMPARE && (f->type == T_S32 || f->type == T_U32 || f->type == T_B32);
        if (ordered &&
            ((CLS_AT(i, 1) == CLS_A && CLS_AT(i, 2) == CLS_S) || (CLS_AT(i, 1) == CLS_S && CLS_AT(i, 2) == CLS_A)))
            return lanes_cmp_affine_for(f, group, CLS_AT(i, 2) == CLS_S);
    } else if (CLS_AT(i, 0) != CLS_V)
        return s->grp;
    if (n == 4) {
        bool rest = CLS_AT(i, 1) == CLS_V && CLS_AT(i, 2) == CLS_V && CLS_AT(i, 3) == CLS_V;
        return rest && CLS_E(i) == CLS_S && s->v[7] ? s->v[7] : rest && CLS_E(i) == CLS_V ? s->v[0] : lanes_mixed;
    }
    for (u32 k = 0; k < n; k++) {
        u32 cls = CLS_AT(i, k + 1);
        if (cls == CLS_A) return lanes_mixed;
        if (cls == CLS_S) mix |= 1u << k;
    }
    return s->v[mix] ? s->v[mix] : lanes_mixed;
}

static handler *inserted_handler(enum inserted what)
{
    switch (what) {
    case INS_GUARD: return lanes_guard_affine;
    case INS_SELECTION: return observe_selection;
    case INS_HAZARD: return asked->hazard_check;
    case INS_IN_FLIGHT: return asked->wgmma_touch;
    case INS_UNFENCED: return asked->wgmma_wrote;
    case INS_PROXY: return asked->proxy_store;
    case INS_OVERFLOW: return asked->overflow_step;
    case INS_OVERFLOW_USE: return asked->overflow_use;
    case INS_TERMINATOR: return asked->init_terminator;
    case INS_COUNT: break;
    }
    CHECK(!"nothing of that kind is inserted");
    return NULL;
}

/* Of rows that are lowered to others: no instruction has their form. */
int run_none(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R;
    (void)i;
    (void)w;
    CHECK(!"this row has no handler");
    return EV_STOP;
}

/* Of an operation that is neither a lane operation nor an access. The move of a register that changes while a kernel
 * runs belongs to the warp. */
static handler *other_handler(const struct lop *o)
{
    return o->shape == SHAPE_MOVE ? warp_sreg : asked->named[o->name];
}

/* ---- what lies around it ---- */

static void wrap(struct binding *b, u32 at, enum layer l, handler *outer)
{
    struct code *c = b->c;
    if (!c->under[l]) c->under[l] = NEW_ARRAY(&c->low->mem, handler *, c->ninsn + 1);
    c->under[l][at] = c->fn[at];
    c->fn[at] = outer;
}

static void bind_lane(struct binding *b, u32 at)
{
    const struct insn *i = &b->c->insn[at];
    b->c->fn[at] = lane_handler(i, &isa_forms[i->form], b->c->group);
    if (i->flags & IF_BLEND) wrap(b, at, LAYER_BLEND, lanes_blend);
    if (i->flags & IF_TAG) wrap(b, at, LAYER_TAG, asked->provenance_tagged);
    if (b->planes) wrap(b, at, LAYER_PLANES, asked->init_lane);
}

static void bind_access(struct binding *b, u32 at)
{
    struct code *c = b->c;
    const struct insn *i = &c->insn[at];
    const struct site *s = &c->low->site[i->site];
    s32 stride = CLS_AT(i, 1) == CLS_A ? c->stride[i->a] : 0;
    bool after = observe_after(b->in, s);
    c->fn[at] = observe_handler(b->in, c->watch & ~(u32)WATCH_INIT, s, i, c->group, stride);
    if (c->watch & WATCH_INIT)
        wrap(b, at, LAYER_DEFINED,
             after && b->planes ? memory_watched : observe_handler(b->in, c->watch, s, i, c->group, stride));
    if (after && !b->planes) wrap(b, at, LAYER_OBSERVED_AFTER, memory_observed_after);
    if (b->planes) wrap(b, at, LAYER_PLANES, asked->init_memory);
    if (s->flags & SITE_LOCAL_ADDRESS) wrap(b, at, LAYER_ESCAPE, asked->escape_store);
}

static void bind_other(struct binding *b, u32 at)
{
    const struct lop *o = &b->c->low->op[b->c->insn[at].op];
    b->c->fn[at] = other_handler(o);
    bool result = !(o->flags & ISA_MMA) && (o->kind == K_WARP || (!lop_gives_data(o) && lop_dst(o, 0)->kind == O_REG));
    if (b->planes && result) wrap(b, at, LAYER_PLANES, asked->init_result);
}

/* The observers around an instruction: the last of the list innermost. */
static void bind_around(struct binding *b, u32 at)
{
    const struct lop *o = &b->c->low->op[b->c->insn[at].op];
    for (u32 k = AROUND_MOST; k-- > 0;)
        if (b->key->wants[k] && b->key->wants[k](b->c->low, o))
            wrap(b, at, (enum layer)(LAYER_AROUND + k), observe_around[k]);
}

static void bind(struct binding *b)
{
    struct code *c = b->c;
    c->fn = NEW_ARRAY(&c->low->mem, handler *, c->ninsn + 1);
    for (u32 n = 0; n < c->low->nblock; n++)
        for (u32 at = c->block[n].start; at < c->block[n].end; at++) { /* terminators have none */
            const struct insn *i = &c->insn[at];
            switch (i->kind) {
            case K_INSERTED: c->fn[at] = inserted_handler((enum inserted)i->form); break;
            case K_LANE:
            case K_CMP:
            case K_PRED: bind_lane(b, at); break;
            default: (c->low->op[i->op].flags & ISA_ACCESS ? bind_access : bind_other)(b, at);
            }
            if (i->kind != K_INSERTED) bind_around(b, at);
        }
}

static void key_of(struct binding_key *k, const struct sim_launch *in)
{
    u32 n = 0;
    memset(k, 0, sizeof *k);
    for (const struct observer *o = in->observers; o; o = o->next) {
        if (o->memory && !k->memory) k->memory = o->memory;
        if (!o->around) continue;
        CHECK(n < AROUND_MOST);
        k->wants[n++] = o->wants;
    }
}

struct code *code_for(struct lowered *l, const struct sim_launch *in, bool plain, struct error *e)
{
    struct code *c = decode(l, in->block[0], observe_watch(in), plain, e);
    struct binding_key key, *own;
    if (!c) return NULL;
    key_of(&key, in);
    while (c->bound_for && memcmp(c->bound_for, &key, sizeof key)) {
        if (!c->variant) {
            c->variant = NEW(&l->mem, struct code);
            *c->variant = *c;
            c->variant->variant = NULL;
            c->variant->bound_for = NULL;
            memset(c->variant->under, 0, sizeof c->under);
        }
        c = c->variant;
    }
    if (c->bound_for) return c;
    own = NEW(&l->mem, struct binding_key);
    *own = key;
    bind(&(struct binding){ .c = c, .in = in, .key = own, .planes = plain && c->watch & WATCH_INIT });
    c->bound_for = own;
    return c;
}
