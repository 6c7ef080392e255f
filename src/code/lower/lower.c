/* Lowering: from the text's instructions to operations over virtual registers, cut into blocks.
 *
 * What PTX says in one instruction and the machine does in several becomes several here: packed moves, setp with a
 * boolean operand or two results, negated predicates, operands wider or narrower than the instruction's type. What
 * may wait (barriers, .sync operations, calls) ends its block, so that a split always stands at the start of a block.
 * An instruction that isa.def lacks becomes a block end of its own, and is named when it is reached, not before. */
#include "lower/lower.h"
#include "flow/analyses.h"
#include "flow/flow.h"
#include "flow/overflow.h"
#include "flow/provenance.h"
#include "code/shared_layout.h"

struct opnd lower_const(u64 value) { return (struct opnd){ .kind = O_CONST, .value = value }; }
struct opnd lower_reg(u32 r) { return (struct opnd){ .kind = O_REG, .reg = r }; }
static const struct opnd no_opnd;

bool lower_has_mod(const struct ptx_insn *i, const char *mod) { return ptx_has_mod(i->op, mod); }

enum ptx_type lower_last_type(const struct ptx_insn *i)
{
    for (u32 k = i->op->nmod; k-- > 0;) {
        enum ptx_type t = type_find(i->op->mod[k]);
        if (t != T_NONE) return t;
    }
    return T_NONE;
}

static u32 register_bytes(enum ptx_type t) { return t == T_PRED ? 1 : type_size[t] < 2 ? 2 : type_size[t]; }

struct opnd lower_temp(struct lower *w, enum ptx_type type)
{
    VEC_PUSH(w->mem, &w->reg_type, (u8)type);
    return lower_reg(w->reg_type.n - 1);
}

struct lop lower_op(const struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    return (struct lop){ .form = form,
                         .name = f->name,
                         .kind = f->kind,
                         .shape = f->shape,
                         .flags = f->flags,
                         .guard = w->guard,
                         .src = w->cur };
}

void lower_operands(struct lower *w, struct lop *o, const struct opnd *dst, u32 ndst, const struct opnd *src, u32 nsrc)
{
    o->opnd = NEW_ARRAY(w->mem, struct opnd, ndst + nsrc);
    o->ndst = (u16)ndst;
    o->nsrc = (u16)nsrc;
    for (u32 k = 0; k < ndst; k++) o->opnd[k] = dst[k];
    for (u32 k = 0; k < nsrc; k++) o->opnd[ndst + k] = src[k];
}

struct lop *lower_emit_list(struct lower *w, int form, struct opnd d, const struct opnd *src, u32 nsrc)
{
    struct lop o = lower_op(w, form);
    while (nsrc && src[nsrc - 1].kind == O_NONE) nsrc--;
    lower_operands(w, &o, &d, d.kind != O_NONE, src, nsrc);
    VEC_PUSH(w->mem, &w->op, o);
    return &w->op.p[w->op.n - 1];
}

struct lop *lower_emit(struct lower *w, int form, struct opnd d, struct opnd a, struct opnd b, struct opnd c)
{
    return lower_emit_list(w, form, d, (struct opnd[]){ a, b, c }, 3);
}

/* A value whose register is not as wide as the instruction's type: the low part, or extended with the type's sign. */
struct opnd lower_resize(struct lower *w, struct opnd o, u32 from, enum ptx_type type)
{
    static const u8 unsigned_of[] = { [2] = T_U16, [4] = T_U32, [8] = T_U64 },
                    signed_of[] = { [2] = T_S16, [4] = T_S32, [8] = T_S64 };
    u32 to = register_bytes(type);
    if (o.kind == O_REG && (from == 1) != (to == 1)) {
        w->mixed = true;
        return lower_const(0);
    }
    if (o.kind != O_REG || from == to || from > 8 || to > 8) return o;
    const u8 *of = type_is_signed(type) ? signed_of : unsigned_of;
    struct opnd t = lower_temp(w, (enum ptx_type)of[to]);
    lower_emit(w, isa_form(N_cvt, (enum ptx_type)of[from], (enum ptx_type)of[to], 0), t, o, no_opnd, no_opnd)->guard =
        no_opnd;
    return t;
}

struct opnd lower_half(struct lower *w, const struct ptx_operand *o, u32 k)
{
    if (o->kind != OP_REG) return no_opnd;
    struct pair *p = &w->pair[o->reg->index];
    if (!p->hi) {
        p->lo = lower_temp(w, T_B64).reg;
        p->hi = lower_temp(w, T_B64).reg;
    }
    return lower_reg(k ? p->hi : p->lo);
}

u32 lower_width(struct lower *w, const struct ptx_operand *o)
{
    return o->kind == OP_REG ? register_bytes((enum ptx_type)w->reg_type.p[o->reg->index]) : 0;
}

static u64 truncate_to(u64 v, u32 bytes) { return bytes >= 8 ? v : v & ((1ull << 8 * bytes) - 1); }

/* Address of a variable or function as a constant, or as an operation on a base that is known only at run time. */
static struct opnd symbol_const(struct lower *w, struct ptx_var *v, u64 value)
{
    VEC_PUSH(w->mem, &w->sym, v);
    return (struct opnd){ .kind = O_CONST, .value = value, .reg = w->sym.n };
}

struct ptx_var *lower_home(const struct lower *w, struct ptx_var *v)
{
    const struct ptx_func *f = w->l->func;
    for (u32 k = 0; w->home && k < f->nparam; k++)
        if (f->param[k] == v && w->home[k]) return w->home[k];
    return v;
}

/* A texture or surface reference is a variable that holds the object which the host bound to it, and stands for that:
 * pointers to it are of no other use (5.3). */
static struct opnd symbol_address(struct lower *w, const struct ptx_operand *o, enum ptx_type type)
{
    u32 width = register_bytes(type), whole = type_size[type] == 8 ? 8 : 4;
    if (o->func) return lower_const(truncate_to(o->func->addr, width));
    struct ptx_var *v = lower_home(w, o->var);
    if (!v) return lower_const((u64)o->imm);
    if (v->type == T_TEXREF || v->type == T_SURFREF) {
        struct opnd bound = lower_temp(w, T_U64);
        lower_access(w, true, SP_GLOBAL, symbol_const(w, v, v->addr), 8, 0, bound, 8);
        return lower_resize(w, bound, 8, type);
    }
    u64 at = v->offset + (u64)o->imm;
    int add = isa_form(N_add, whole == 8 ? T_U64 : T_U32, whole == 8 ? T_U64 : T_U32, 0);
    struct opnd base = { .kind = O_SREG };
    switch (v->space) {
    case SP_GLOBAL:
    case SP_CONST:
        if (width < 8) return lower_const(truncate_to(v->addr + (u64)o->imm, width)); /* a part of an address */
        return symbol_const(w, v, v->addr + (u64)o->imm);
    case SP_SHARED:
        if (v->size || !v->is_extern) {
            struct opnd own = symbol_const(w, v, truncate_to(at, width));
            own.comp = CONST_SHARED;
            return own;
        }
        base.reg = SR_DYN_SHARED;
        at = (u64)o->imm;
        break;
    case SP_LOCAL:
        if (w->l->func->is_entry) return symbol_const(w, v, truncate_to(at, width));
        base.reg = SR_LOCAL_BASE;
        break;
    default: return lower_const(truncate_to(at, width));
    }
    struct opnd t = lower_temp(w, whole == 8 ? T_U64 : T_U32);
    lower_emit(w, add, t, base, symbol_const(w, v, truncate_to(at, whole)), no_opnd)->guard = no_opnd;
    return lower_resize(w, t, whole, type);
}

struct opnd lower_operand(struct lower *w, const struct ptx_operand *o, enum ptx_type type)
{
    switch (o->kind) {
    case OP_REG:
        if (type == T_PRED && o->neg) {
            struct opnd t = lower_temp(w, T_PRED);
            lower_emit(w, isa_form(N_not_pred, T_PRED, T_PRED, 0), t, lower_reg(o->reg->index), no_opnd, no_opnd)
                ->guard = no_opnd;
            return t;
        }
        return lower_resize(w, lower_reg(o->reg->index), lower_width(w, o), type);
    case OP_SREG: {
        struct opnd s = { .kind = O_SREG, .reg = o->sreg->id, .comp = o->sreg->comp };
        u32 own = o->sreg->type == T_U64 || o->sreg->type == T_B64 ? 8 : 4;
        if (o->sreg->type == T_PRED || register_bytes(type) == own) return s;
        struct opnd t = lower_temp(w, own == 8 ? T_U64 : T_U32);
        lower_emit(w, isa_form(N_mov, own == 8 ? T_U64 : T_U32, own == 8 ? T_U64 : T_U32, 0), t, s, no_opnd, no_opnd)
            ->guard = no_opnd;
        return lower_resize(w, t, own, type);
    }
    case OP_INT:
        if (type == T_F32) {
            float x = (float)o->imm;
            u32 b;
            memcpy(&b, &x, 4);
            return lower_const(b);
        }
        if (type == T_F64) {
            double x = (double)o->imm;
            u64 b;
            memcpy(&b, &x, 8);
            return lower_const(b);
        }
        if (type == T_PRED) return lower_const(o->imm ? ALL_LANES : 0);
        return lower_const(truncate_to((u64)o->imm, register_bytes(type)));
    case OP_FLOAT: {
        u64 bits = (u64)o->imm;
        if (o->imm_type == T_F64 && type_size[type] == 4) {
            double x;
            memcpy(&x, &bits, 8);
            float y = (float)x;
            u32 b;
            memcpy(&b, &y, 4);
            return lower_const(b);
        }
        if (o->imm_type == T_F32 && type_size[type] == 8) {
            u32 b32 = (u32)bits;
            float x;
            memcpy(&x, &b32, 4);
            double y = x;
            memcpy(&bits, &y, 8);
        }
        return lower_const(truncate_to(bits, type_size[type]));
    }
    case OP_SYM: return symbol_address(w, o, type);
    default: return no_opnd;
    }
}

/* ---- destinations ---- */

/* Where a result of that type goes: the register itself, or a temporary that lower_finish() copies when widths
 * differ. */
struct opnd lower_begin(struct lower *w, const struct ptx_operand *o, enum ptx_type type)
{
    if (o->kind == OP_SINK) return lower_temp(w, type);
    if (o->kind != OP_REG) {
        w->mixed = true;
        return lower_temp(w, type);
    }
    if (lower_width(w, o) != register_bytes(type)) {
        w->mixed |= (lower_width(w, o) == 1) != (type == T_PRED);
        return lower_temp(w, type);
    }
    return lower_reg(o->reg->index);
}

void lower_finish(struct lower *w, const struct ptx_operand *o, struct opnd d, enum ptx_type type)
{
    if (o->kind != OP_REG || (d.kind == O_REG && d.reg == o->reg->index)) return;
    static const u8 ty[2][9] = { { [2] = T_U16, [4] = T_U32, [8] = T_U64 }, { [2] = T_S16, [4] = T_S32, [8] = T_S64 } };
    u32 from = register_bytes(type), to = lower_width(w, o);
    const u8 *t = ty[type_is_signed(type)];
    if (from > 8 || to > 8 || !t[from] || !t[to]) {
        lower_unsupported(w);
        return;
    }
    lower_emit(w, isa_form(N_cvt, (enum ptx_type)t[from], (enum ptx_type)t[to], 0), lower_reg(o->reg->index), d,
               no_opnd, no_opnd);
}

/* ---- blocks ---- */

static void begin_block(struct lower *w)
{
    struct block b = { .first = w->op.n, .end = w->op.n, .next = NONE, .target = NONE };
    VEC_PUSH(w->mem, &w->block, b);
}

/* Ends the current block: its last operation is the terminator (none for TERM_FALL). */
void lower_end_block(struct lower *w, enum term term)
{
    struct block *b = &w->block.p[w->block.n - 1];
    b->end = w->op.n;
    b->term = (u8)term;
    begin_block(w);
    b = &w->block.p[w->block.n - 2];
    b->next = term == TERM_TRAP || term == TERM_UNSUPPORTED ? NONE : w->block.n - 1;
}

void lower_end_wait(struct lower *w, enum isa_wait wait)
{
    w->block.p[w->block.n - 1].wait = (u8)wait;
    lower_end_block(w, TERM_WAIT);
}

void lower_unsupported(struct lower *w)
{
    struct lop o = { .form = -1, .kind = K_CTRL, .name = N_COUNT, .src = w->cur };
    lower_branch_around(w);
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_block(w, TERM_UNSUPPORTED);
}

static const struct ptx_operand *undefined_among(const struct ptx_operand *o, u32 n)
{
    const struct ptx_operand *found = NULL;
    for (u32 k = 0; !found && k < n; k++) {
        bool missing = (o[k].var && ptx_var_missing(o[k].var)) ||
                       (o[k].func && ptx_func_missing(o[k].func) && !builtin_provides(o[k].func->name));
        found = missing ? &o[k] : undefined_among(o[k].elem, o[k].nelem);
    }
    return found;
}

const struct ptx_operand *operand_undefined(const struct ptx_insn *i) { return undefined_among(i->arg, i->narg); }

/* A guarded operation that may wait becomes a branch around an unguarded one. */
u32 lower_branch_around(struct lower *w)
{
    if (w->guard.kind == O_NONE) return NONE;
    struct lop *o = lower_emit(w, isa_form(N_bra, T_NONE, T_NONE, 0), no_opnd, no_opnd, no_opnd, no_opnd);
    o->guard.neg ^= 1;
    lower_end_block(w, TERM_BRA);
    w->guard = no_opnd;
    return w->around = w->block.n - 2;
}
void lower_end_around(struct lower *w, u32 from)
{
    if (from != NONE) w->block.p[from].target = w->block.n - 1;
}

/* ---- the families ---- */

/* cvta and its inverse: global and constant memory have generic addresses already; shared and local have windows. */
void lower_cvta(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    enum ptx_type type = (enum ptx_type)isa_forms[form].type;
    if (i->narg != 2) {
        lower_unsupported(w);
        return;
    }
    struct opnd s = lower_operand(w, &i->arg[1], type), d = lower_begin(w, &i->arg[0], type);
    bool to = lower_has_mod(i, "to"),
         shared = lower_has_mod(i, "shared") || lower_has_mod(i, "shared::cta") || lower_has_mod(i, "shared::cluster"),
         window = shared || lower_has_mod(i, "local");
    if (lower_has_mod(i, "param") && !w->l->func->is_entry) {
        lower_unsupported(w);
        return;
    }
    if (!window && !lower_has_mod(i, "param"))
        lower_emit(w, form, d, s, no_opnd, no_opnd);
    else {
        struct opnd base = { .kind = O_CONST,
                             .comp = shared                      ? CONST_SHARED_WINDOW
                                     : lower_has_mod(i, "local") ? CONST_LOCAL_WINDOW
                                                                 : CONST_PARAMS };
        enum ptx_type sum = type_size[type] == 8 ? T_U64 : T_U32;
        lower_emit(w, isa_form(to ? N_sub : N_add, sum, sum, 0), d, s, base, no_opnd);
        if (base.comp == CONST_PARAMS) w->l->has_param_address = true;
    }
    lower_finish(w, &i->arg[0], d, type);
}

/* By the row: rows of lanes have one of a few ways, rows written out at length name theirs. */
static lowering *lowering_of(const struct isa_form *f)
{
    static lowering *const lane[] = {
        [LOWER_plain] = lower_plain, [LOWER_mov] = lower_mov,   [LOWER_cvta] = lower_cvta,
        [LOWER_setp] = lower_setp,   [LOWER_set] = lower_set,   [LOWER_carry] = lower_carry,
        [LOWER_video] = lower_video, [LOWER_simd] = lower_simd, [LOWER_four] = lower_four
    };
    static lowering *const named[N_COUNT] = {
#define MEM(id, in, pv, low, ...) [N_##id] = lower_##low,
#define SYNC MEM
#define WARP MEM
#define CTRL MEM
#define MEM_MORE(...)
#define SYNC_MORE(...)
#include "isa/isa_named.def"
#include "isa/isa_end.def"
    };
    return f->lower == LOWER_named ? named[f->name] : lane[f->lower];
}

static void lower_one(struct lower *w, const struct ptx_insn *i)
{
    w->cur = i;
    w->around = NONE;
    w->guard = i->guard ? (struct opnd){ .kind = O_REG, .reg = i->guard->index, .neg = i->guard_neg } : no_opnd;
    int form = operand_undefined(i) ? -1 : i->op->form;
    const struct isa_form *f = form < 0 ? NULL : &isa_forms[form];
    if (!f) {
        lower_unsupported(w);
        return;
    }
    lowering_of(f)(w, form);
    if (w->mixed) {
        w->mixed = false;
        lower_unsupported(w);
    }
}

static void lower_insn(struct lower *w, const struct ptx_insn *i)
{
    lower_one(w, i);
    /* one that cannot be executed */
    if (w->around != NONE && w->block.p[w->around].target == NONE) lower_end_around(w, w->around);
}

/* Labels start blocks; branch targets, until now instructions of the text, become blocks. */
static void fix_targets(struct lower *w, const u32 *block_of)
{
    for (u32 k = 0; k < w->block.n; k++) {
        struct block *b = &w->block.p[k];
        if (b->term == TERM_BRA && b->target != NONE && b->target >> 31) b->target = block_of[b->target & ~(1u << 31)];
    }
    for (u32 k = 0; k < w->brx.n; k++)
        for (u32 j = 1; j <= w->brx.p[k][0]; j++) w->brx.p[k][j] = block_of[w->brx.p[k][j]];
}

/* Whether a pointer to it is made: nothing but an access and a call names it otherwise. */
static bool is_address_taken(const struct ptx_func *f, const struct ptx_var *v)
{
    for (u32 k = 0; k < f->ninsn; k++)
        for (u32 j = 0; j < f->insn[k].narg; j++)
            if (f->insn[k].arg[j].kind == OP_SYM && f->insn[k].arg[j].var == v) return true;
    return false;
}

/* .param, .local variables of the function get their offsets. A parameter of a function that somebody points to is in
 * local memory, by its name too. */
static void layout(struct lower *w)
{
    struct lowered *l = w->l;
    struct arena *a = w->mem;
    struct ptx_func *f = l->func;
    u64 p = 0, q = 0;
#define PLACE(at, v) ((at) = ((at) + (v)->align - 1) / (v)->align * (v)->align, (v)->offset = (at), (at) += (v)->size)
    for (u32 k = 0; k < f->nlocal; k++) {
        struct ptx_var *v = f->local[k];
        if (v->space == SP_LOCAL) PLACE(q, v);
        for (u32 j = 0; j < v->npart; j++) v->part[j].offset = v->offset + v->part[j].within;
        if (v->space == SP_PARAM) PLACE(p, v);
    }
    l->arg_off = NEW_ARRAY(a, u32, f->nparam + 1);
    l->ret_off = NEW_ARRAY(a, u32, f->nret + 1);
    if (!f->is_entry) {
        w->home = NEW_ARRAY(a, struct ptx_var *, f->nparam + 1);
        for (u32 k = 0; k < f->nparam; k++) {
            PLACE(p, f->param[k]);
            l->arg_off[k] = (u32)f->param[k]->offset;
            if (!is_address_taken(f, f->param[k])) continue;
            w->home[k] = NEW(a, struct ptx_var);
            *w->home[k] = *f->param[k];
            w->home[k]->space = SP_LOCAL;
            PLACE(q, w->home[k]);
        }
        for (u32 k = 0; k < f->nret; k++) {
            PLACE(p, f->ret[k]);
            l->ret_off[k] = (u32)f->ret[k]->offset;
        }
    }
#undef PLACE
    l->pmem_bytes = (u32)MIN_OF((p + 15) / 16 * 16, 1u << 31);
    w->params_end = l->pmem_bytes;
    l->local_bytes = (u32)MIN_OF((q + 15) / 16 * 16, 1u << 31);
}

/* Which blocks may run again: those between a jump back and its target, in the order of the text. */
static u32 *find_repeats(struct lower *w, u32 *block_of)
{
    struct lowered *l = w->l;
    u32 *again = NEW_ARRAY(w->mem, u32, l->nblock + 2);
    for (u32 b = 0; b < l->nblock; b++) {
        struct block *x = &l->block[b];
        for (u32 k = x->first; k < x->end; k++) block_of[k] = b;
        if (x->target <= b) {
            again[x->target]++;
            again[b + 1]--;
        }
        if (x->next <= b) {
            again[x->next]++;
            again[b + 1]--;
        }
        const u32 *t = x->term == TERM_BRX ? l->brx[l->op[x->end - 1].table] : NULL;
        for (u32 j = 1; t && j <= t[0]; j++)
            if (t[j] <= b) {
                again[t[j]]++;
                again[b + 1]--;
            }
    }
    for (u32 b = 1; b <= l->nblock; b++) again[b] += again[b - 1];
    return again;
}

/* Whether the copy that operation k makes stays equal to its source, which is written once in the text: the source is
 * written once in a run, too, or always just before the copy, in its block, with nobody reading the copy earlier
 * there. */
static bool copy_stays(const struct lowered *l, u32 k, u32 source, u32 copy, const u32 *block_of, const u32 *again)
{
    if (!again[block_of[source]]) return true;
    if (block_of[source] != block_of[k] || source > k) return false;
    for (u32 j = l->block[block_of[k]].first; j < k; j++)
        EACH_USE (r, &l->op[j]) {
            if (r == copy) return false;
        }
    return true;
}

/* A register written once, by a plain move of something that does not change until it is moved again, is that
 * something: unless some path reads it without the move, which is for the check of initialised values to find. */
static void propagate_copies(struct lower *w)
{
    struct lowered *l = w->l;
    u32 *ndef = NEW_ARRAY(w->mem, u32, l->nreg + 1), *def = NEW_ARRAY(w->mem, u32, l->nreg + 1);
    for (u32 k = 0; k < l->nop; k++) {
        EACH_DEF (r, &l->op[k]) {
            ndef[r]++;
            def[r] = k;
        }
    }
    struct opnd *is = NEW_ARRAY(w->mem, struct opnd, l->nreg + 1);
    u32 *block_of = NEW_ARRAY(w->mem, u32, l->nop + 1), *again = find_repeats(w, block_of);
    const u64 *unwritten = flow_unwritten(l, w->mem);
    for (u32 k = 0; k < l->nop; k++) {
        struct lop *o = &l->op[k];
        const struct opnd *d = lop_dst(o, 0), *a = lop_src(o, 0);
        if (o->kind != K_LANE || (o->shape != SHAPE_MOVE && o->shape != SHAPE_ADDRESS) || o->guard.kind != O_NONE ||
            d->kind != O_REG || ndef[d->reg] != 1)
            continue;
        if (unwritten[d->reg >> 6] >> (d->reg & 63) & 1) continue;
        if (a->kind == O_NONE ||
            (a->kind == O_REG && (ndef[a->reg] != 1 || !copy_stays(l, k, def[a->reg], d->reg, block_of, again))))
            continue;
        is[d->reg] = *a;
        o->dead = true;
    }
    for (u32 k = 0; k < l->nop; k++) {
        struct lop *o = &l->op[k];
        for (u32 j = o->ndst; j < o->ndst + o->nsrc && !o->dead; j++) {
            struct opnd *s = &o->opnd[j];
            for (u32 hops = 0; s->kind == O_REG && is[s->reg].kind != O_NONE && hops < l->nreg; hops++) *s = is[s->reg];
        }
    }
}

/* Whether the last operation is a publication point: a fence, a release or a strong store, which other threads may act
 * on. A block ends there, so that a warp under a perturbed schedule can give way before it goes on (machine.md). */
static bool publishes(const struct lower *w)
{
    const struct lop *o = &w->op.p[w->op.n - 1];
    if (o->flags & ISA_FENCE) return true;
    if (o->kind != K_MEM || !(o->flags & ISA_ACCESS) || lop_is_load(o)) return false;
    u32 sem = w->site.p[o->site].sem;
    return lop_is_store(o) ? sem != SEM_WEAK : sem == SEM_RELEASE || sem == SEM_ACQ_REL;
}

/* Beside fences, what goes past the first cache may be a flag (rules.md R5c). */
static void mark_flags(struct lowered *l)
{
    bool fences = false;
    for (u32 k = 0; k < l->nop; k++) fences |= l->op[k].flags & ISA_FENCE;
    for (u32 k = 0; fences && k < l->nsite; k++)
        if (l->site[k].flags & SITE_UNCACHED && l->site[k].sem == SEM_WEAK && !site_is_atomic(&l->site[k]))
            l->site[k].flags |= SITE_FLAG;
}

/* The launch was called off before the function was ready: nothing is kept of it. */
static struct lowered *lower_stopped(struct func_table *t, struct lowered *l, struct arena mem, struct error *e)
{
    t->func[l->serial % FUNCS] = NULL;
    error_set(e, ERR_STOPPED, "stopped while function %.*s was prepared", (int)l->func->name.n, l->func->name.p);
    arena_free(&mem);
    return NULL;
}

/* What a function may have: a few bytes of text can ask for gigabytes, a list of targets that thousands of branches
 * name, or thousands of registers in thousands of blocks. */
enum { REGS_MOST = 1 << 20, INSNS_MOST = 1 << 24, BRX_MOST = UINT16_MAX, TARGETS_MOST = 1 << 22 };
enum { LIVE_WORDS_MOST = 1 << 25 }; /* of a set of registers for each block */

static bool text_fits(const struct ptx_func *f, struct error *e)
{
    u64 brx = 0, targets = 0;
    for (u32 k = 0; k < f->ninsn; k++) {
        const struct ptx_insn *i = &f->insn[k];
        if (i->narg != 2 || i->arg[1].kind != OP_LABEL || i->arg[1].label->kind != LABEL_BRANCH_TARGETS) continue;
        targets += i->arg[1].label->ntarget;
        brx++;
    }
    const char *what = f->nregs >= REGS_MOST    ? "registers"
                       : f->ninsn >= INSNS_MOST ? "instructions"
                       : brx > BRX_MOST         ? "branches brx.idx"
                       : targets > TARGETS_MOST ? "targets in all of its brx.idx"
                                                : NULL;
    u32 most = f->nregs >= REGS_MOST    ? REGS_MOST - 1
               : f->ninsn >= INSNS_MOST ? INSNS_MOST - 1
               : brx > BRX_MOST         ? BRX_MOST
                                        : TARGETS_MOST;
    return !what || error_set(e, ERR_INPUT, "function %.*s is too large to run: it has more than %u %s", (int)f->name.n,
                              f->name.p, most, what);
}

static bool live_sets_fit(const struct lowered *l, struct error *e)
{
    return (u64)(l->nreg / 64 + 1) * l->nblock <= LIVE_WORDS_MOST ||
           error_set(
               e, ERR_INPUT, "function %.*s is too large to run: %u registers in %u blocks; their product may be %llu",
               (int)l->func->name.n, l->func->name.p, l->nreg, l->nblock, (unsigned long long)LIVE_WORDS_MOST * 64);
}

/* Blocks and operations of the whole text. false: it was asked to stop. */
static bool lower_text(struct lower *w)
{
    const struct ptx_func *f = w->l->func;
    u32 *block_of = NEW_ARRAY(w->mem, u32, f->ninsn + 1);
    u8 *starts = NEW_ARRAY(w->mem, u8, f->ninsn + 1);
    for (u32 k = 0; k < f->nlabel; k++)
        if (f->label[k]->kind == LABEL_CODE) starts[f->label[k]->insn] = 1;
    begin_block(w);
    lower_parameters(w);
    for (u32 k = 0; k < f->ninsn && !stop_asked(); k++) {
        if (starts[k] && (w->op.n > w->block.p[w->block.n - 1].first)) lower_end_block(w, TERM_FALL);
        block_of[k] = w->block.n - 1;
        lower_insn(w, &f->insn[k]);
        if (w->op.n > w->block.p[w->block.n - 1].first && publishes(w)) {
            lower_end_block(w, TERM_FALL);
            w->block.p[w->block.n - 1].after_publication = true;
        }
    }
    if (stop_asked()) return false;
    if (starts[f->ninsn] && w->op.n > w->block.p[w->block.n - 1].first) lower_end_block(w, TERM_FALL);
    block_of[f->ninsn] = w->block.n - 1;
    /* falling off the end returns */
    static const struct ptx_insn end_of_text = { .opcode = { "ret", 3 } };
    w->cur = f->ninsn ? &f->insn[f->ninsn - 1] : &end_of_text;
    w->guard = no_opnd;
    lower_ret(w, isa_form(N_ret, T_NONE, T_NONE, 0));
    w->block.n--;
    fix_targets(w, block_of);
    lower_wgmma_waits(w);
    return true;
}

/* What was collected becomes the function's. */
static void hand_over(struct lower *w)
{
    struct lowered *l = w->l;
    l->op = w->op.p;
    l->nop = w->op.n;
    l->block = w->block.p;
    l->nblock = w->block.n;
    l->site = w->site.p;
    l->nsite = w->site.n;
    l->call = w->call.p;
    l->mma = w->mma.p;
    l->ncall = w->call.n;
    l->brx = w->brx.p;
    l->nbrx = w->brx.n;
    l->sym = w->sym.p;
    l->nsym = w->sym.n;
    l->nreg = w->reg_type.n;
    l->reg_type = w->reg_type.p;
    l->reg_width = NEW_ARRAY(w->mem, u8, l->nreg + 1);
    for (u32 k = 0; k < l->nreg; k++) l->reg_width[k] = (u8)register_bytes((enum ptx_type)l->reg_type[k]);
}

/* false: it was asked to stop. */
static bool analyse(struct lowered *l)
{
    static void (*const find[])(
        struct lowered *) = { flow_build,   provenance_find, speculated_find,   unneeded_find, overflow_find,
                              hazards_find, in_flight_find,  optimistic_find,   mark_flags,    polls_find,
                              subword_find, halves_find,     odd_constants_find };
    fuse_find(l);
    for (u32 k = 0; k < COUNT_OF(find) && !stop_asked(); k++) find[k](l);
    if (stop_asked()) return false;
    for (u32 k = 0; k < l->words; k++) l->reads_unwritten |= l->block[0].live_in[k] != 0;
    return true;
}

struct lowered *lower_func(struct func_table *t, struct ptx_func *f, struct error *e)
{
    if (f->decoded) return f->decoded;
    if (!text_fits(f, e)) return NULL;
    shared_layout(f->module);
    struct arena mem = { 0 };
    struct lowered *l = NEW(&mem, struct lowered);
    struct lower w = { .l = l, .mem = &mem, .e = e };
    l->func = f;
    l->serial = ++t->serial;
    t->func[l->serial % FUNCS] = l;
    layout(&w);
    if (l->local_bytes > LOCAL_STACK || l->pmem_bytes > LOCAL_STACK) {
        error_set(e, ERR_UNSUPPORTED, "function %.*s has %u KB of %s; Lockstep gives a thread %u KB", (int)f->name.n,
                  f->name.p, MAX_OF(l->local_bytes, l->pmem_bytes) / 1024,
                  l->local_bytes > LOCAL_STACK ? "local arrays" : "parameters of calls", LOCAL_STACK / 1024);
        arena_free(&mem);
        return NULL;
    }
    for (u32 k = 0; k < f->nregs; k++) VEC_PUSH(&mem, &w.reg_type, (u8)f->regs[k]->type);
    w.pair = NEW_ARRAY(&mem, struct pair, f->nregs + 1);
    if (!lower_text(&w)) return lower_stopped(t, l, mem, e);
    hand_over(&w);
    if (!live_sets_fit(l, e)) return lower_stopped(t, l, mem, e);
    propagate_copies(&w);
    l->mem = mem;
    if (!analyse(l)) return lower_stopped(t, l, l->mem, e);
    __atomic_store_n(&f->decoded, l, __ATOMIC_RELEASE); /* the race check looks without a lock */
    return l;
}
