/* Lowering of memory instructions: each becomes a site (what it is, for checks and reports) and an operation.
 *
 * A kernel's own parameters are constants of the launch, so ld.param of them is a move. Parameters of calls live in a
 * small memory of the call's frame (SP_CALL). Everything else is an access to global, shared, local or generic
 * memory. */
#include "lower/lower.h"

enum { VECTOR_MOST = 8 };  /* elements of a vector in the text */
enum { ACCESS_MOST = 32 }; /* bytes of an access */
static const struct opnd no_opnd;

enum ptx_space lower_space(const struct ptx_insn *i)
{
    static const struct {
        const char *mod;
        enum ptx_space space;
    } t[] = { { "global", SP_GLOBAL },      { "shared", SP_SHARED },          { "shared::cta", SP_SHARED },
              { "local", SP_LOCAL },        { "shared::cluster", SP_SHARED }, { "const", SP_CONST },
              { "param::entry", SP_PARAM }, { "param::func", SP_PARAM },      { "param", SP_PARAM } };
    for (u32 k = 0; k < COUNT_OF(t); k++)
        if (lower_has_mod(i, t[k].mod)) return t[k].space;
    return SP_GENERIC;
}

enum ptx_space lower_space_of(const struct lower *w, const struct ptx_operand *m)
{
    enum ptx_space named = lower_space(w->cur);
    bool by_name = named == SP_GENERIC && !m->reg && m->var;
    return by_name ? lower_home(w, m->var)->space : named;
}

static u8 sem_of(const struct ptx_insn *i)
{
    return lower_has_mod(i, "volatile") || lower_has_mod(i, "mmio") ? SEM_VOLATILE
           : lower_has_mod(i, "relaxed")                            ? SEM_RELAXED
           : lower_has_mod(i, "acquire")                            ? SEM_ACQUIRE
           : lower_has_mod(i, "release")                            ? SEM_RELEASE
           : lower_has_mod(i, "acq_rel")                            ? SEM_ACQ_REL
                                                                    : SEM_WEAK;
}

static u8 scope_of(const struct ptx_insn *i, u8 otherwise)
{
    return lower_has_mod(i, "cta")                             ? SCOPE_CTA
           : lower_has_mod(i, "cluster")                       ? SCOPE_CLUSTER
           : lower_has_mod(i, "gpu") || lower_has_mod(i, "gl") ? SCOPE_GPU
           : lower_has_mod(i, "sys")                           ? SCOPE_SYS
                                                               : otherwise;
}

static u16 flags_of(const struct lower *w, const struct ptx_insn *i)
{
    u32 copy = lower_has_mod(i, "async"); /* its .cg is about the source, and no flag is written by copies */
    u32 uncached = !copy && (lower_has_mod(i, "cg") || lower_has_mod(i, "cv") || lower_has_mod(i, "wt"));
    u32 cluster = lower_has_mod(i, "shared::cluster");
    return (u16)((lower_has_mod(i, "nc") ? SITE_NC : 0) | (uncached ? SITE_UNCACHED : 0) |
                 (cluster ? SITE_CLUSTER : 0) | (w->l->func->module->first->distributed ? SITE_DISTRIBUTED : 0));
}

u32 lower_address(struct lower *w, const struct ptx_operand *m, struct opnd *a, s64 *off)
{
    *off = m->imm;
    if (m->reg) {
        *a = (struct opnd){ .kind = O_REG, .reg = m->reg->index };
        u32 width = type_size[m->reg->type];
        /* the offset field is 32 bits wide, and a later part of the access adds to it */
        if (*off < INT32_MIN || *off > INT32_MAX - ACCESS_MOST) {
            struct opnd t = lower_temp(w, width == 4 ? T_U32 : T_U64);
            lower_emit(w, isa_form(N_add, width == 4 ? T_U32 : T_U64, width == 4 ? T_U32 : T_U64, 0), t, *a,
                       lower_const((u64)*off), no_opnd)
                ->guard = no_opnd;
            *a = t;
            *off = 0;
        }
        return width;
    }
    struct ptx_operand sym = *m;
    sym.kind = OP_SYM;
    *a = lower_operand(w, &sym, T_U64);
    *off = 0;
    return 8;
}

/* ld.param of the kernel's own parameters at a known place: moves from the launch's constants. */
static bool load_constant(struct lower *w, const struct ptx_operand *dst, const struct ptx_operand *m, enum ptx_type t)
{
    if (m->reg || !m->var || !w->l->func->is_entry) return false;
    bool own = false;
    for (u32 k = 0; k < w->l->func->nparam; k++) own |= w->l->func->param[k] == m->var;
    if (!own) return false;
    u32 n = dst->kind == OP_VEC ? dst->nelem : 1, size = type_size[t];
    u64 at = m->var->offset + (u64)m->imm;
    if (at + (u64)n * size > w->l->func->param_bytes || m->imm < 0) return false;
    for (u32 k = 0; k < n; k++) {
        const struct ptx_operand *o = dst->kind == OP_VEC ? &dst->elem[k] : dst;
        static const u8 to[2][9] = { { [2] = T_U16, [4] = T_U32, [8] = T_U64 },
                                     { [2] = T_S16, [4] = T_S32, [8] = T_S64 } };
        static const u8 from[2][9] = { { [1] = T_U8, [2] = T_U16, [4] = T_U32, [8] = T_U64 },
                                       { [1] = T_S8, [2] = T_S16, [4] = T_S32, [8] = T_S64 } };
        if (o->kind != OP_REG) continue;
        u32 width = lower_width(w, o);
        if (width < size || width == 1 || width > 8) {
            w->mixed = true;
            return true;
        }
        struct opnd p = { .kind = O_PARAM, .value = at + (u64)k * size }, d = { .kind = O_REG, .reg = o->reg->index };
        bool sg = type_is_signed(t);
        if (width == size)
            lower_emit(w, isa_form(N_mov, (enum ptx_type)to[0][width], (enum ptx_type)to[0][width], 0), d, p, no_opnd,
                       no_opnd);
        else
            lower_emit(w, isa_form(N_cvt, (enum ptx_type)from[sg][size], (enum ptx_type)to[sg][width], 0), d, p,
                       no_opnd, no_opnd);
    }
    return true;
}

/* The operands of a load or a store of n elements. */
static void move_operands(struct lower *w, struct lop *o, bool load, struct opnd at, const struct opnd *data, u32 n)
{
    struct opnd src[1 + VECTOR_MOST] = { at };
    for (u32 k = 0; k < n && !load; k++) src[SRC_DATA + k] = data[k];
    lower_operands(w, o, data, load ? n : 0, src, load ? 1 : 1 + n);
}

/* One access of up to four elements; data[k] are registers or, for stores, values. */
static void access_op(struct lower *w, const struct isa_form *f, enum ptx_space sp, const struct ptx_operand *m,
                      enum ptx_type t, u32 n, const struct opnd *data, u32 reg_width, u32 skip, u32 align)
{
    const struct ptx_insn *i = w->cur;
    struct site s = { .access = (u8)(f->flags & ISA_HOW),
                      .space = (u8)sp,
                      .width = type_size[t],
                      .reg_width = (u8)reg_width,
                      .vec = (u8)n,
                      .is_signed = type_is_signed(t),
                      .is_float = type_is_float(t),
                      .sem = sem_of(i),
                      .scope = scope_of(i, SCOPE_SYS),
                      .type = (u8)t,
                      .align = (u8)align,
                      .flags = flags_of(w, i) };
    struct lop o = lower_op(w, (int)(f - isa_forms));
    struct opnd a;
    s.addr_width = (u8)lower_address(w, m, &a, &o.off);
    if (a.kind == O_CONST && skip)
        a.value += skip;
    else
        o.off += skip;
    move_operands(w, &o, !(f->flags & ISA_WRITES), a, data, n);
    o.guard = w->guard;
    o.site = w->site.n;
    s.op = w->op.n;
    VEC_PUSH(w->mem, &w->site, s);
    VEC_PUSH(w->mem, &w->op, o);
}

void lower_access_vector(struct lower *w, bool load, enum ptx_space space, struct opnd at, u32 addr_width, s64 off,
                         const struct opnd *data, u32 n, u32 width)
{
    const struct isa_form *f = &isa_forms[isa_form(load ? N_ld : N_st, T_NONE, T_NONE, 0)];
    static const u8 type[] = { [1] = T_B8, [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    struct site s = { .access = (u8)(f->flags & ISA_HOW),
                      .space = (u8)space,
                      .width = (u8)width,
                      .reg_width = (u8)MAX_OF(width, 2u),
                      .vec = (u8)n,
                      .scope = SCOPE_CTA,
                      .type = type[width],
                      .addr_width = (u8)addr_width,
                      .flags = flags_of(w, w->cur),
                      .op = w->op.n };
    struct lop o = lower_op(w, (int)(f - isa_forms));
    o.site = w->site.n;
    o.off = off;
    move_operands(w, &o, load, at, data, n);
    VEC_PUSH(w->mem, &w->site, s);
    VEC_PUSH(w->mem, &w->op, o);
}

void lower_access(struct lower *w, bool load, enum ptx_space space, struct opnd at, u32 addr_width, s64 off,
                  struct opnd data, u32 width)
{
    lower_access_vector(w, load, space, at, addr_width, off, &data, 1, width);
}

void lower_call_memory(struct lower *w, bool load, struct opnd data, u32 width, u32 at)
{
    lower_access(w, load, SP_CALL, lower_const(at), 8, 0, data, width);
}

void lower_home_store(struct lower *w, struct ptx_var *home, struct opnd data, u32 width, u32 at)
{
    struct ptx_operand place = { .kind = OP_SYM, .var = home, .imm = at };
    lower_access(w, false, SP_LOCAL, lower_operand(w, &place, T_U64), 8, 0, data, width);
}

/* The registers that the n elements of a load or store go to or come from, all of one width; 0: it is not one that can
 * be lowered. */
static u32 read_data(struct lower *w, const struct ptx_operand *data, u32 n, enum ptx_type t, bool load,
                     struct opnd v[VECTOR_MOST])
{
    u32 reg_width = 0;
    for (u32 k = 0; k < n; k++) {
        const struct ptx_operand *e = data->kind == OP_VEC ? &data->elem[k] : data;
        u32 width = e->kind == OP_REG ? lower_width(w, e) : reg_width ? reg_width : MAX_OF(type_size[t], 2);
        if (width == 1 || width > 8 || (reg_width && reg_width != width)) return 0;
        reg_width = width;
        if (e->kind == OP_SINK) continue;
        if (e->kind == OP_REG)
            v[k] = (struct opnd){ .kind = O_REG, .reg = e->reg->index };
        else if (!load)
            v[k] = lower_operand(w, e, t);
        else
            return 0;
    }
    return reg_width;
}

void lower_load_store(struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    const struct ptx_insn *i = w->cur;
    bool load = !(f->flags & ISA_WRITES);
    if (i->narg < 2 || i->narg > 2u + lower_has_mod(i, "L2::cache_hint")) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *data = &i->arg[load ? 0 : 1], *m = &i->arg[load ? 1 : 0];
    enum ptx_type t = lower_last_type(i);
    enum ptx_space sp = lower_space_of(w, m);
    if (sp == SP_GENERIC && str_is(i->op->base, "ldu")) sp = SP_GLOBAL;
    u32 n = data->kind == OP_VEC ? data->nelem : 1;
    if (m->kind != OP_MEM || n > VECTOR_MOST || t == T_PRED || type_size[t] == 0 || (u32)type_size[t] * n > 32) {
        lower_unsupported(w);
        return;
    }
    if (sp == SP_PARAM && m->var && lower_home(w, m->var) != m->var) sp = SP_LOCAL;
    if (sp == SP_PARAM) {
        if (load && t != T_B128 && load_constant(w, data, m, t)) return;
        bool own = false;
        for (u32 k = 0; k < w->l->func->nparam; k++) own |= w->l->func->param[k] == m->var;
        if (!(w->l->func->is_entry && (own || m->reg))) sp = SP_CALL;
        if (sp == SP_CALL && m->reg) {
            lower_unsupported(w);
            return;
        }
    }
    struct opnd v[VECTOR_MOST] = { 0 };
    u32 reg_width = 0, count = n;
    bool whole = t == T_B128;
    if (whole) { /* as two 64-bit halves */
        if (n != 1 || data->kind != OP_REG) {
            lower_unsupported(w);
            return;
        }
        v[0] = lower_half(w, data, 0);
        v[1] = lower_half(w, data, 1);
        t = T_B64;
        reg_width = 8;
        count = 2;
    }
    if (!whole) reg_width = read_data(w, data, n, t, load, v);
    if (reg_width < type_size[t]) {
        lower_unsupported(w);
        return;
    }
    u32 bytes = count * type_size[t], per = count > 4 || bytes > 16 ? count / 2 : count;
    /* 32 bytes go in two halves; the first one asks for the alignment of the whole */
    for (u32 k = 0; k < count; k += per)
        access_op(w, f, sp, m, t, per, v + k, reg_width, k * type_size[t], bytes > 16 && !k ? 32 : 0);
}

struct atom {
    u32 op;
    enum ptx_type type;
    u32 skip;
}; /* skip: bytes to the element of a vector */

/* src[0] is for the address. */
static void push_atom(struct lower *w, const struct isa_form *f, struct atom x, const struct ptx_operand *m,
                      const struct opnd *dst, u32 ndst, struct opnd *src, u32 nsrc)
{
    const struct ptx_insn *i = w->cur;
    u32 width = type_size[x.type];
    struct site s = { .access = (u8)(f->flags & ISA_HOW),
                      .space = (u8)lower_space_of(w, m),
                      .width = (u8)width,
                      .reg_width = (u8)MIN_OF(width, 8u),
                      .vec = 1,
                      .is_signed = type_is_signed(x.type),
                      .is_float = type_is_float(x.type),
                      .sem = sem_of(i),
                      .scope = scope_of(i, SCOPE_GPU),
                      .atom = (u8)x.op,
                      .type = (u8)x.type,
                      .flags = flags_of(w, i) };
    if (s.sem == SEM_WEAK) s.sem = SEM_RELAXED;
    struct lop o = lower_op(w, (int)(f - isa_forms));
    o.site = w->site.n;
    s.addr_width = (u8)lower_address(w, m, &src[SRC_ADDRESS], &o.off);
    if (src[SRC_ADDRESS].kind == O_CONST)
        src[SRC_ADDRESS].value += x.skip;
    else
        o.off += x.skip;
    lower_operands(w, &o, dst, ndst, src, nsrc);
    s.op = w->op.n;
    VEC_PUSH(w->mem, &w->site, s);
    VEC_PUSH(w->mem, &w->op, o);
}

bool lower_reduce_at(struct lower *w, struct opnd at, const struct ptx_operand *data, enum ptx_type t)
{
    static const struct {
        const char *name;
        u8 op;
    } known[] = { { "add", AT_ADD }, { "min", AT_MIN }, { "max", AT_MAX }, { "and", AT_AND }, { "or", AT_OR } };
    const struct isa_form *f = &isa_forms[isa_form(N_red, T_NONE, T_NONE, 0)];
    u32 k = 0, width = type_size[t];
    while (k < COUNT_OF(known) && !lower_has_mod(w->cur, known[k].name)) k++;
    if (k == COUNT_OF(known) || (width != 4 && width != 8)) return false;
    struct site s = { .access = (u8)(f->flags & ISA_HOW),
                      .space = SP_GLOBAL,
                      .width = (u8)width,
                      .reg_width = (u8)width,
                      .vec = 1,
                      .is_signed = type_is_signed(t),
                      .sem = SEM_RELAXED,
                      .scope = SCOPE_GPU,
                      .atom = known[k].op,
                      .addr_width = 8,
                      .type = (u8)t };
    struct lop o = lower_op(w, (int)(f - isa_forms));
    struct opnd src[3] = { at, lower_operand(w, data, t), no_opnd };
    o.site = w->site.n;
    lower_operands(w, &o, &no_opnd, 0, src, 3);
    s.op = w->op.n;
    VEC_PUSH(w->mem, &w->site, s);
    VEC_PUSH(w->mem, &w->op, o);
    return true;
}

/* A vector is its elements, each atomic by itself (9.7.13.5). */
void lower_atomic(struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    static const char *const names[] = { "add", "exch", "min", "max", "and", "or", "xor", "cas", "inc", "dec" };
    const struct ptx_insn *i = w->cur;
    bool red = !(f->flags & ISA_FETCHES);
    enum ptx_type t = lower_last_type(i);
    u32 k = !red, op = 0, width = type_size[t];
    while (op < COUNT_OF(names) && !lower_has_mod(i, names[op])) op++;
    bool cas = op == AT_CAS, half = t == T_F16 || t == T_BF16 || t == T_F16X2 || t == T_BF16X2;
    u32 need = 2u + !red + cas;
    if (i->narg < need || i->narg > need + lower_has_mod(i, "L2::cache_hint") || i->arg[k].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    bool known = width == 4 || width == 8 || (width == 2 && (cas || op == AT_EXCH || half)) ||
                 (t == T_B128 && (cas || op == AT_EXCH));
    if (!known || (type_is_float(t) && op != AT_ADD && !(half && (op == AT_MIN || op == AT_MAX)))) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *d = red ? NULL : &i->arg[0], *b = &i->arg[k + 1], *c = cas ? &i->arg[k + 2] : NULL;
    if (t == T_B128) {
        if (b->kind != OP_REG || (c && c->kind != OP_REG)) {
            lower_unsupported(w);
            return;
        }
        struct opnd old[2] = { no_opnd, no_opnd }, src[5] = { no_opnd };
        for (u32 h = 0; h < 2; h++) {
            src[SRC_DATA + h] = lower_half(w, b, h);
            if (c) src[SRC_DATA + 2 + h] = lower_half(w, c, h);
            if (d && d->kind == OP_REG) old[h] = lower_half(w, d, h);
        }
        push_atom(w, f, (struct atom){ op, t, 0 }, &i->arg[k], old, red ? 0 : 2, src, c ? 5 : 3);
        return;
    }
    u32 n = b->kind == OP_VEC ? b->nelem : 1;
    if (n > 8 || (n > 1 && (cas || (d && d->kind != OP_SINK && (d->kind != OP_VEC || d->nelem != n))))) {
        lower_unsupported(w);
        return;
    }
    for (u32 e = 0; e < n; e++) {
        const struct ptx_operand *de = d && d->kind == OP_VEC ? &d->elem[e] : d;
        struct opnd old = no_opnd, src[3] = { no_opnd, lower_operand(w, n > 1 ? &b->elem[e] : b, t) };
        if (c) src[SRC_DATA + 1] = lower_operand(w, c, t);
        if (de && de->kind == OP_REG) {
            if (lower_width(w, de) != width) {
                lower_unsupported(w);
                return;
            }
            old = lower_reg(de->reg->index);
        }
        push_atom(w, f, (struct atom){ op, t, e * width }, &i->arg[k], &old, !red, src, 3);
    }
}

u32 lower_site(struct lower *w, u32 access, enum ptx_space space, u32 width, u32 addr_width, u32 which)
{
    struct site s = { .access = (u8)access,
                      .space = (u8)space,
                      .width = (u8)width,
                      .reg_width = (u8)MIN_OF(width, 8u),
                      .vec = 1,
                      .sem = SEM_WEAK,
                      .scope = SCOPE_CTA,
                      .type = T_B64,
                      .addr_width = (u8)addr_width,
                      .which = (u8)which,
                      .flags = flags_of(w, w->cur),
                      .op = w->op.n };
    VEC_PUSH(w->mem, &w->site, s);
    return w->site.n - 1;
}

/* cp.async [to], [from], bytes{, given or ignore}{, policy} */
void lower_cp_async(struct lower *w, int form)
{
    struct lop o = lower_op(w, form);
    const struct ptx_insn *i = w->cur;
    u32 narg = i->narg - lower_has_mod(i, "L2::cache_hint"); /* the policy changes nothing that could be seen */
    if (narg < 3 || i->arg[0].kind != OP_MEM || i->arg[1].kind != OP_MEM || i->arg[2].kind != OP_INT) {
        lower_unsupported(w);
        return;
    }
    s64 bytes = i->arg[2].imm, off;
    struct opnd to, from, given = no_opnd;
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        lower_unsupported(w);
        return;
    }
    /* ignore-src: nothing is read where it is true */
    if (narg >= 4 && i->arg[3].kind == OP_REG && i->arg[3].reg->type == T_PRED) {
        struct opnd p = lower_operand(w, &i->arg[3], T_PRED);
        given = lower_temp(w, T_U32);
        lower_emit(w, isa_form(N_selp, T_U32, T_U32, 0), given, lower_const(0), lower_const((u64)bytes), p)->guard =
            no_opnd;
    } else if (narg >= 4)
        given = lower_operand(w, &i->arg[3], T_U32);
    u32 aw = lower_address(w, &i->arg[0], &to, &o.off), bw = lower_address(w, &i->arg[1], &from, &off);
    if (off) {
        enum ptx_type t = bw == 4 ? T_U32 : T_U64;
        struct opnd sum = lower_temp(w, t);
        lower_emit(w, isa_form(N_add, t, t, 0), sum, from, lower_const(bw == 4 ? (u32)off : (u64)off), no_opnd)->guard =
            no_opnd;
        from = sum;
    }
    lower_operands(w, &o, NULL, 0, (struct opnd[]){ to, from, given }, 3);
    o.aux = (u32)bytes;
    o.site = lower_site(w, ISA_WRITES, SP_SHARED, (u32)bytes, aw, 0);
    u32 reads = lower_site(w, ISA_READS, SP_GLOBAL, (u32)bytes, bw, 1);
    w->site.p[reads].align = (u8)bytes; /* also where fewer are read */
    VEC_PUSH(w->mem, &w->op, o);
}

/* mbarrier operations: the address is the first memory operand; what stands before it is the result, after it the
 * count or state. */
void lower_mbarrier(struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    struct lop o = lower_op(w, form);
    const struct ptx_insn *i = w->cur;
    u32 k = 0;
    while (k < i->narg && i->arg[k].kind != OP_MEM) k++;
    if (k >= i->narg || k > 1) {
        lower_unsupported(w);
        return;
    }
    bool truth = f->flags & ISA_MBAR_WAIT;
    struct opnd d = no_opnd, src[2] = { no_opnd };
    if (k == 1 && i->arg[0].kind == OP_REG) {
        if (truth != (i->arg[0].reg->type == T_PRED) || (!truth && lower_width(w, &i->arg[0]) != 8)) {
            lower_unsupported(w);
            return;
        }
        d = lower_reg(i->arg[0].reg->index);
    }
    u32 aw = lower_address(w, &i->arg[k], &src[SRC_ADDRESS], &o.off);
    if (k + 1 < i->narg) src[SRC_DATA] = lower_operand(w, &i->arg[k + 1], f->flags & ISA_MBAR_STATE ? T_U64 : T_U32);
    lower_operands(w, &o, &d, d.kind != O_NONE, src, 2);
    if (f->flags & ISA_MBAR_COPIES && lower_has_mod(i, "noinc")) o.aux = MBAR_NOINC;
    if (lower_has_mod(i, "relaxed")) o.aux |= MBAR_RELAXED;
    if (lower_has_mod(i, "noComplete")) o.aux |= MBAR_NO_COMPLETE;
    if (lower_has_mod(i, "expect_tx")) o.aux |= MBAR_EXPECT;
    if (lower_has_mod(i, "complete_tx")) o.aux |= MBAR_BYTES;
    o.site = lower_site(w, ISA_HOW, lower_space_of(w, &i->arg[k]), 8, aw, 0);
    VEC_PUSH(w->mem, &w->op, o);
}

void lower_meet_aligned(struct lower *w)
{
    struct lop o = lower_op(w, isa_form(N_warp_bar, T_NONE, T_NONE, 0));
    struct opnd src[SRC_MEMBERS + 1] = { no_opnd };
    src[SRC_MEMBERS] = lower_const(ALL_LANES);
    o.flags = ISA_ALIGNED;
    lower_operands(w, &o, NULL, 0, src, SRC_MEMBERS + 1);
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_block(w, TERM_WARP);
}

void lower_push_aligned(struct lower *w, struct lop o, u32 around)
{
    lower_meet_aligned(w);
    VEC_PUSH(w->mem, &w->op, o);
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

void lower_matrix(struct lower *w, int form)
{
    const struct isa_form *f = &isa_forms[form];
    u32 around = lower_branch_around(w);
    struct lop o = lower_op(w, form);
    const struct ptx_insn *i = w->cur;
    bool load = f->flags & ISA_READS;
    bool tall = lower_has_mod(i, "m16n16"), bytes = !lower_has_mod(i, "b16");
    u32 n = (lower_has_mod(i, "x4") ? 4 : lower_has_mod(i, "x2") ? 2 : 1) << tall; /* registers */
    if (i->narg != 2) {
        lower_unsupported(w);
        return;
    }
    const struct ptx_operand *m = &i->arg[load], *v = &i->arg[!load];
    if (m->kind != OP_MEM || (v->kind == OP_VEC ? v->nelem : 1) != n) {
        lower_unsupported(w);
        return;
    }
    struct opnd at, r[4] = { no_opnd };
    u32 aw = lower_address(w, m, &at, &o.off);
    for (u32 k = 0; k < n; k++) {
        const struct ptx_operand *e = v->kind == OP_VEC ? &v->elem[k] : v;
        if (e->kind != OP_REG || lower_width(w, e) != 4) {
            lower_unsupported(w);
            return;
        }
        r[k] = lower_reg(e->reg->index);
    }
    move_operands(w, &o, load, at, r, n);
    o.aux = (u32)(n | (lower_has_mod(i, "trans") ? MATRIX_TRANS : 0) | (bytes ? MATRIX_BYTES : 0) |
                  (tall ? MATRIX_TALL : 0) | (lower_has_mod(i, "b6x16_p32") ? MATRIX_B6 : 0) |
                  (lower_has_mod(i, "b4x16_p64") ? MATRIX_B4 : 0));
    lower_meet_aligned(w);
    o.site = lower_site(w, f->flags & ISA_HOW, lower_space_of(w, m), 16, aw, 0);
    VEC_PUSH(w->mem, &w->op, o);
    if (around != NONE) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

void lower_fence(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    o.aux = scope_of(i, SCOPE_SYS);
    /* fence.proxy.tensormap orders memory, too, as a fence of its scope */
    bool maps = lower_has_mod(i, "tensormap::generic");
    /* so does fence.proxy.async::generic, of the generic proxy's accesses before those of the async proxy */
    bool one_way = lower_has_mod(i, "async::generic");
    /* fence.mbarrier_init is a release of the mbarriers only; it counts as one of all that the thread did before */
    if (lower_has_mod(i, "proxy") && !maps && !one_way) o.aux |= FENCE_PROXY;
    if (lower_has_mod(i, "sc")) o.aux |= FENCE_SC;
    if (lower_has_mod(i, "mbarrier_init")) o.aux |= FENCE_MBARRIER;
    if (one_way || (lower_has_mod(i, "proxy") && lower_has_mod(i, "async") && !lower_has_mod(i, "global")))
        o.aux |= FENCE_ASYNC;
    VEC_PUSH(w->mem, &w->op, o);
}

void lower_membar(struct lower *w, int form)
{
    lower_fence(w, form);
    w->op.p[w->op.n - 1].aux |= FENCE_SC;
}

/* What no value depends on. */
void lower_hint(struct lower *w, int form)
{
    struct lop o = lower_op(w, form);
    VEC_PUSH(w->mem, &w->op, o);
}

/* setmaxnreg: an operation of all lanes. */
void lower_registers(struct lower *w, int form)
{
    u32 around = lower_branch_around(w);
    struct lop o = lower_op(w, form);
    lower_push_aligned(w, o, around);
}
