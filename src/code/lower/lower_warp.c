/* Lowering of what a warp does together, and of control flow: .sync operations, the stack, barriers, branches.
 *
 * The operands of most of these rows are read as the row's pattern says (isa_named.def), so that a new row needs no
 * code here. What may wait ends its block; under a guard it becomes a branch around an unguarded operation. */
#include "lower/lower.h"

static const struct opnd no_opnd;

/* The operands of an instruction, read by the pattern of its row. */
struct pattern {
    struct opnd dst[2], src[4];
    u32 ndst, nsrc;
    s64 number;                      /* the immediate; -1: there is none */
    const struct ptx_operand *first; /* the text's first result, NULL: none */
    enum ptx_type first_type;        /* its type */
    bool members;                    /* there is a member mask */
    u32 access;                      /* ISA_READS or ISA_WRITES: the first source is an address; 0: it is not one */
    enum ptx_space space;            /* that it is in */
    u32 width, unit;                 /* its bytes; those of what is there */
    bool length;                     /* the second source says how many bytes are accessed */
};

static enum ptx_type pattern_type(char c, enum ptx_type said)
{
    return c == 'T' ? said : c == 'U' ? T_U32 : c == 'L' ? T_U64 : T_PRED;
}

/* The number of operands in the text of a pattern, and the number of optional ones. */
static u32 pattern_count(const char *p, u32 *optional)
{
    u32 n = 0;
    *optional = 0;
    for (; *p; p++) {
        *optional += *p == '?';
        n += *p >= 'a' && *p <= 'z' && *p != 'q';
    }
    return n;
}

static bool read_address(struct lower *w, const struct ptx_operand *o, char place, enum ptx_type type,
                         struct pattern *r)
{
    if (o->kind != OP_MEM) return false;
    r->access = place == 'r' ? ISA_READS : ISA_WRITES;
    r->space = lower_space_of(w, o);
    r->unit = type_size[type];
    r->src[SRC_ADDRESS] = lower_whole_address(w, o, &r->width);
    r->nsrc = MAX_OF(r->nsrc, SRC_ADDRESS + 1u);
    return true;
}

/* False: too many or too few operands, or an operand of the wrong kind. */
static bool read_pattern(struct lower *w, const char *p, struct pattern *r)
{
    const struct ptx_insn *i = w->cur;
    u32 optional, most = pattern_count(p, &optional), k = 0;
    *r = (struct pattern){ .number = -1 };
    if (i->narg > most || i->narg + optional < most) return false;
    u32 missing = most - i->narg;
    const struct ptx_operand *second = NULL; /* the q of d|q */
    for (; *p; p++) {
        if (*p == ' ') continue;
        if (*p == '?') {
            p++;
            if (missing) {
                missing--;
                p++;
                continue;
            }
        }
        char place = *p++;
        enum ptx_type type = pattern_type(*p, lower_last_type(i));
        if (place == 'q') {
            if (second && second->kind == OP_REG) {
                r->dst[1] = lower_begin(w, second, type);
                r->ndst = 2;
            }
            continue;
        }
        const struct ptx_operand *o = &i->arg[k++];
        if (place == 'd') {
            bool pair = o->kind == OP_PAIR;
            r->first = pair ? &o->elem[0] : o;
            r->first_type = type;
            second = pair ? &o->elem[1] : NULL;
            r->dst[0] = lower_begin(w, r->first, type);
            r->ndst = 1;
        } else if (place == 'n') {
            if (o->kind != OP_INT) return false;
            r->number = o->imm;
        } else if (place == 'r' || place == 'w') {
            if (!read_address(w, o, place, type, r)) return false;
        } else {
            u32 at = place == 'l'                   ? SRC_LENGTH
                     : place == 'm' || place == 'c' ? 2
                     : place == 'e'                 ? 3
                                                    : (u32)(place - 'a');
            r->length |= place == 'l';
            r->members |= place == 'm';
            r->src[at] = lower_operand(w, o, type);
            r->nsrc = MAX_OF(r->nsrc, at + 1);
        }
    }
    return true;
}

static u32 pattern_site(struct lower *w, const struct pattern *r)
{
    u32 n = lower_site(w, r->access, r->space, r->unit, r->width, SRC_ADDRESS);
    struct site *s = &w->site.p[n];
    if (!r->length) return n;
    s->align = (u8)r->unit;
    s->length = SRC_LENGTH;
    return n;
}

/* One operation in the straight line of its block, with the operands of the pattern. NULL: it is not one. */
static struct lop *push_pattern(struct lower *w, int form)
{
    struct lop o = lower_op(w, form);
    struct pattern r;
    if (!read_pattern(w, isa_forms[form].operands, &r)) {
        lower_unsupported(w);
        return NULL;
    }
    lower_operands(w, &o, r.dst, r.ndst, r.src, r.nsrc);
    if (r.access) { /* the address includes its offset, so op.off must not add another */
        o.site = pattern_site(w, &r);
        o.aux = (u32)MAX_OF(r.number, 0);
    } else
        o.off = MAX_OF(r.number, 0);
    u32 at = w->op.n;
    VEC_PUSH(w->mem, &w->op, o);
    if (r.first) lower_finish(w, r.first, r.dst[0], r.first_type);
    return &w->op.p[at];
}

void lower_pattern(struct lower *w, int form) { push_pattern(w, form); }

void lower_isspacep(struct lower *w, int form)
{
    struct lop *o = push_pattern(w, form);
    if (o) o->aux = (u32)(lower_space(w->cur) | (lower_has_mod(w->cur, "shared::cluster") ? ISSPACEP_CLUSTER : 0));
}

/* alloca, stacksave, stackrestore: the frame's local memory grows and shrinks; nothing waits. */
void lower_stack(struct lower *w, int form)
{
    struct lop *o = push_pattern(w, form);
    if (o && !o->off) o->off = 8; /* the alignment, where the text has none */
    w->l->has_alloca = true;
}

/* .sync operations: aux is the mode, off says how redux compares, or how wide the values of match are. Without a member
 * mask, before sm_70, whoever is here takes part; an aligned one has all lanes. */
void lower_warp(struct lower *w, int form)
{
    static const char *const modes[] = { "up",  "down", "bfly", "idx", "all", "any", "uni",
                                         "add", "min",  "max",  "and", "or",  "xor" };
    const struct ptx_insn *i = w->cur;
    const struct isa_form *f = &isa_forms[form];
    enum ptx_type t = lower_last_type(i);
    u32 around = lower_branch_around(w);
    struct lop o = lower_op(w, form);
    struct pattern r;
    if (!read_pattern(w, f->operands, &r)) {
        lower_unsupported(w);
        return;
    }
    for (u32 k = 0; k < COUNT_OF(modes); k++)
        if (lower_has_mod(i, modes[k])) {
            o.aux = (u32)k;
            break;
        }
    if (f->flags & ISA_REDUCE)
        o.off = t == T_S32 ? RED_SIGNED
                : t == T_F32
                    ? RED_FLOAT | (lower_has_mod(i, "abs") ? RED_ABS : 0) | (lower_has_mod(i, "NaN") ? RED_NAN : 0)
                    : 0;
    if (f->flags & ISA_MATCH && type_size[t] == 8) o.off = 8;
    if (f->flags & ISA_ALIGNED)
        r.src[SRC_MEMBERS] = lower_const(ALL_LANES);
    else if (!r.members) {
        r.src[SRC_MEMBERS] = lower_temp(w, T_U32);
        lower_emit(w, isa_form(N_activemask, T_NONE, T_NONE, 0), r.src[SRC_MEMBERS], no_opnd, no_opnd, no_opnd);
    }
    lower_operands(w, &o, r.dst, r.ndst, r.src, MAX_OF(r.nsrc, (u32)SRC_MEMBERS + 1));
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_block(w, TERM_WARP);
    lower_end_around(w, around);
}

/* bar and barrier: the number, the count, the predicate of a reduction; aux says which. */
void lower_barrier(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 around = lower_branch_around(w);
    struct lop o = lower_op(w, form);
    struct pattern r;
    if (!read_pattern(w, isa_forms[form].operands, &r)) {
        lower_unsupported(w);
        return;
    }
    lower_operands(w, &o, r.dst, r.ndst, r.src, r.nsrc);
    o.aux = lower_has_mod(i, "arrive") ? BAR_ARRIVE
            : lower_has_mod(i, "and")  ? BAR_AND
            : lower_has_mod(i, "or")   ? BAR_OR
            : lower_has_mod(i, "popc") ? BAR_POPC
                                       : BAR_SYNC;
    if (str_is(i->op->base, "bar") || lower_has_mod(i, "aligned")) o.aux |= BAR_ALIGNED;
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_wait(w, (enum isa_wait)isa_wait[isa_forms[form].name]);
    lower_end_around(w, around);
}

/* ---- control flow ---- */

void lower_bra(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    if (i->narg != 1 || i->arg[0].kind != OP_LABEL || i->arg[0].label->kind != LABEL_CODE) {
        lower_unsupported(w);
        return;
    }
    lower_emit(w, form, no_opnd, no_opnd, no_opnd, no_opnd);
    lower_end_block(w, TERM_BRA);
    struct block *b = &w->block.p[w->block.n - 2];
    b->target = i->arg[0].label->insn | 1u << 31; /* names an instruction until fix_targets() makes it a block */
    if (w->guard.kind == O_NONE) b->next = NONE;
}

void lower_brx(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 around = lower_branch_around(w);
    if (i->narg != 2 || i->arg[1].kind != OP_LABEL || i->arg[1].label->kind != LABEL_BRANCH_TARGETS) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_label *l = i->arg[1].label;
    u32 *t = NEW_ARRAY(w->mem, u32, l->ntarget + 1);
    t[0] = l->ntarget;
    for (u32 k = 0; k < l->ntarget; k++) t[k + 1] = l->target[k].label ? l->target[k].label->insn : 0;
    struct lop *o = lower_emit(w, form, no_opnd, lower_operand(w, &i->arg[0], T_U32), no_opnd, no_opnd);
    o->table = w->brx.n;
    VEC_PUSH(w->mem, &w->brx, t);
    lower_end_block(w, TERM_BRX);
    w->block.p[w->block.n - 2].next = NONE;
    lower_end_around(w, around);
}

static void leave(struct lower *w, int form, bool exits)
{
    if (!exits) lower_results(w);
    lower_emit(w, form, no_opnd, no_opnd, no_opnd, no_opnd);
    lower_end_block(w, exits ? TERM_EXIT : TERM_RET);
    if (w->guard.kind == O_NONE) w->block.p[w->block.n - 2].next = NONE;
}

void lower_ret(struct lower *w, int form) { leave(w, form, w->l->func->is_entry); }

void lower_exit(struct lower *w, int form) { leave(w, form, true); }

void lower_trap(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    lower_emit(w, form, no_opnd, no_opnd, no_opnd, no_opnd);
    lower_end_block(w, TERM_TRAP);
    lower_end_around(w, around);
}

/* A wait without operands, as its row says. */
void lower_wait(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    lower_emit(w, form, no_opnd, no_opnd, no_opnd, no_opnd);
    lower_end_wait(w, (enum isa_wait)isa_wait[isa_forms[form].name]);
    lower_end_around(w, around);
}

/* aux: whether it releases nothing. */
void lower_cluster_arrive(struct lower *w, int form)
{
    struct lop *o = push_pattern(w, form);
    if (o) o->aux = lower_has_mod(w->cur, "relaxed");
}

void lower_nanosleep(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    if (!push_pattern(w, form)) return;
    lower_end_block(w, TERM_SLEEP);
    lower_end_around(w, around);
}
