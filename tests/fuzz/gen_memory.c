/* gen_memory: items that touch memory, and those where threads meet. */
#include "gen_core.c"

static struct item *put_access(struct gen *g, enum item_kind kind, enum gen_space space, enum ptx_type t,
                               struct opr addr, s32 at)
{
    struct item *i = put_item(g, kind);
    i->space = (u8)space;
    i->type = (u8)t;
    i->s[0] = addr;
    i->at = at;
    i->vec = 1;
    return i;
}

static enum ptx_type memory_type(struct gen *g, bool load, enum reg_file *f)
{
    static const struct {
        enum ptx_type t;
        enum reg_file f;
    } some[] = { { T_U32, FILE_R }, { T_S32, FILE_R }, { T_B32, FILE_R }, { T_F32, FILE_F }, { T_U64, FILE_D },
                 { T_F64, FILE_G }, { T_U16, FILE_H }, { T_S16, FILE_H }, { T_U8, FILE_H },  { T_S8, FILE_H },
                 { T_U8, FILE_R },  { T_S8, FILE_R },  { T_S16, FILE_R }, { T_U16, FILE_R }, { T_S32, FILE_D },
                 { T_U32, FILE_D }, { T_U32, FILE_R }, { T_F32, FILE_F } };
    u32 k = below(g, COUNT_OF(some));
    if (!load && some[k].t == T_F64) k = 0;
    *f = some[k].f;
    return some[k].t;
}

static void load_into(struct gen *g, enum gen_space space, enum ptx_type t, enum reg_file f, struct opr addr, s32 at,
                      u32 vec, u32 tag)
{
    struct opr d[4] = { 0 };
    for (u32 k = 0; k < vec; k++) {
        bool again;
        do {
            d[k] = dest(g, f, tag);
            again = false;
            for (u32 j = 0; j < k; j++) again |= d[j].reg == d[k].reg;
        } while (again);
    }
    struct item *i = put_access(g, I_LD, space, t, addr, at);
    i->vec = (u8)vec;
    i->d = d[0];
    if (vec > 1) i->d2 = d[1];
    if (vec > 2) {
        i->more[0] = d[2];
        i->more[1] = d[3];
    }
    maybe_guard(g, i, d, vec);
    bool guarded = i->guarded;
    for (u32 k = 0; k < vec; k++) dest_done(g, d[k], tag, guarded);
    if (f == FILE_G) canonical_g(g, d[0].reg);
}

static u32 vector_of(struct gen *g, enum ptx_type t)
{
    return chance(g, 70) ? 1 : type_size[t] == 8 || chance(g, 50) ? 2 : 4;
}

/* The read-only buffer: at an address that is scalar, affine or any. */
static void make_load(struct gen *g)
{
    enum reg_file f;
    enum ptx_type t = memory_type(g, true, &f);
    u32 vec = f == FILE_G ? 1 : vector_of(g, t), size = type_size[t] * vec, tag = below(g, 3), own = 0;
    struct opr a = reg(FILE_D, g->addr), i = reg(FILE_R, g->idx);
    if (tag == TAG_S && chance(g, 50)) {
        load_into(g, M_GLOBAL, t, f, reg(FILE_D, g->in), (s32)(below(g, 64) * size), vec, TAG_S);
        return;
    }
    struct opr x = tag == TAG_A && chance(g, 60) ? reg(FILE_R, g->lin) : source(g, FILE_R, tag, 0, &own);
    op3(g, "and.b32", i, x, imm(FILE_R, (u64)(IN_BYTES / size / 2 - 1)));
    if (chance(g, 40)) {
        struct item *m = op3(g, "mad.wide.u32", a, i, imm(FILE_R, size));
        m->s[2] = reg(FILE_D, g->in);
    } else {
        op3(g, "mul.wide.u32", a, i, imm(FILE_R, size));
        op3(g, "add.s64", a, reg(FILE_D, g->in), a);
    }
    enum gen_space space = chance(g, 80) ? M_GLOBAL : M_GENERIC;
    load_into(g, space, t, f, a, (s32)(below(g, 64) * size), vec, MAX_OF(own, tag));
}

/* What a store of 8 bits may take: ptxas makes a conversion to an integer of one whose register an instruction on f16
 * or bf16 has just written (docs/measured/truth.md); a move between them keeps it from that. */
static struct opr stored_byte(struct gen *g, struct opr v)
{
    struct opr moved = reg(FILE_H, fresh(g, FILE_H));
    op3(g, "mov.b16", moved, v, (struct opr){ 0 });
    return moved;
}

/* A slot that only this thread has: thread-major or word-major, in global memory; in shared; in local. */
static void make_store(struct gen *g)
{
    enum reg_file f;
    enum ptx_type t = memory_type(g, false, &f);
    u32 tag = 0, where = g->kernel ? below(g, 4) : 3, word = below(g, SCRATCH_WORDS);
    struct opr a = reg(FILE_D, g->addr), v = source(g, f, TAG_V, 0, &tag);
    enum gen_space sp = where == 2 ? M_SHARED : where == 3 ? M_LOCAL : chance(g, 80) ? M_GLOBAL : M_GENERIC;
    s32 at = 0;
    u32 vec = 1;
    if (where == 0) { /* [thread][word] */
        op3(g, "mul.lo.s64", a, reg(FILE_D, g->gtid64), imm(FILE_D, SCRATCH_WORDS * 8));
        op3(g, "add.s64", a, reg(FILE_D, g->scratch), a);
        vec = vector_of(g, t);
        at = (s32)(word * 8) & ~(s32)(type_size[t] * vec - 1);
    } else if (where == 1) {        /* [word][thread] behind it, 8 bytes each */
        bool dense = chance(g, 50); /* slots of 4 bytes, so that lanes touch each other; behind those of 8 */
        if (dense) {
            t = T_U32;
            f = FILE_R;
            v = source(g, f, TAG_V, 0, &tag);
        }
        op3(g, "mul.lo.s64", a, reg(FILE_D, g->total), imm(FILE_D, (SCRATCH_WORDS * (1 + dense) + word) * 8));
        struct item *m = op3(g, "mad.wide.u32", a, reg(FILE_R, g->gtid), imm(FILE_R, dense ? 4 : 8));
        m->s[2] = a;
        op3(g, "add.s64", a, a, reg(FILE_D, g->scratch));
    } else if (where == 2) { /* shared: 4 bytes each at [word][thread], words 0..3 */
        if (type_size[t] > 4) {
            t = T_B32;
            f = FILE_R;
            v = source(g, f, TAG_V, 0, &tag);
        }
        a = reg(FILE_R, g->addr32);
        op3(g, "shl.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 2));
        op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
        at = (s32)(word % 4) * 256 * 4;
    } else if (chance(g, 50)) {
        a = imm(FILE_D, below(g, LOCAL_BYTES / 8) * 8);
    } else {
        struct opr x = source(g, FILE_R, TAG_V, 0, &tag), i = reg(FILE_R, g->idx);
        op3(g, "and.b32", i, x, imm(FILE_R, LOCAL_BYTES / 8 - 1));
        struct item *m = op3(g, "mad.wide.u32", a, i, imm(FILE_R, 8));
        m->s[2] = reg(FILE_D, g->loc);
    }
    if (!chance(g, 25)) {
        struct opr d[4] = { v };
        for (u32 k = 1; k < vec; k++) d[k] = source(g, f, TAG_V, 0, &tag);
        for (u32 k = 0; k < vec && f == FILE_H && type_size[t] == 1; k++) d[k] = stored_byte(g, d[k]);
        struct item *i = put_access(g, I_ST, sp, t, a, at);
        i->vec = (u8)vec;
        i->d = d[0];
        i->d2 = d[1];
        i->more[0] = d[2];
        i->more[1] = d[3];
        maybe_guard(g, i, NULL, 0);
    }
    if (chance(g, 70)) load_into(g, sp, t, f, a, at, vec, TAG_V);
}

static void make_const_load(struct gen *g)
{
    u32 tag = 0;
    struct opr a;
    if (chance(g, 40))
        a = imm(FILE_D, below(g, CONST_WORDS) * 4);
    else {
        op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, CONST_WORDS - 1));
        struct item *m = op3(g, "mad.wide.u32", reg(FILE_D, g->addr), reg(FILE_R, g->idx), imm(FILE_R, 4));
        m->s[2] = reg(FILE_D, g->tab);
        a = reg(FILE_D, g->addr);
    }
    load_into(g, M_CONST, chance(g, 50) ? T_U32 : T_S32, FILE_R, a, 0, 1, tag);
}

/* Sums that everybody adds to, one kind of operation a word; or an atomic on a slot of one's own, whose old value is
 * known. */
static void make_atomic(struct gen *g)
{
    static const u8 sums[] = { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR };
    u32 tag = 0, k = below(g, COUNT_OF(sums));
    struct opr a = reg(FILE_D, g->addr);
    if (chance(g, 50)) {
        op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, 7));
        struct item *m = op3(g, "mad.wide.u32", a, reg(FILE_R, g->idx), imm(FILE_R, 8));
        m->s[2] = reg(FILE_D, g->acc);
        bool wide = chance(g, 30);
        struct opr v = source(g, wide ? FILE_D : FILE_R, TAG_V, 20, &tag);
        struct item *i = put_access(g, I_ATOM, M_GLOBAL, wide ? T_U64 : T_U32, a, (s32)(k * 64 + wide * 384));
        i->op = sums[k];
        i->red = 1;
        i->s[1] = v;
        maybe_guard(g, i, NULL, 0);
        return;
    }
    static const u8 any[] = { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC, A_MIN_S, A_MAX_S };
    op3(g, "mul.lo.s64", a, reg(FILE_D, g->gtid64), imm(FILE_D, SCRATCH_WORDS * 8));
    op3(g, "add.s64", a, reg(FILE_D, g->scratch), a);
    k = any[below(g, COUNT_OF(any))];
    bool wide = chance(g, 30) && k != A_INC && k != A_DEC, sg = k == A_MIN_S || k == A_MAX_S;
    enum reg_file f = wide ? FILE_D : FILE_R;
    struct opr d = dest(g, f, TAG_V), b = source(g, f, TAG_V, 20, &tag), c = source(g, f, TAG_V, 20, &tag);
    struct item *i = put_access(g, I_ATOM, M_GLOBAL,
                                wide ? (sg ? T_S64 : T_U64)
                                : sg ? T_S32
                                     : T_U32,
                                a, (s32)below(g, SCRATCH_WORDS) * 8);
    i->op = (u16)k;
    i->d = d;
    i->s[1] = b;
    if (k == A_CAS) i->s[2] = c;
    maybe_guard(g, i, &d, 1);
    dest_done(g, d, TAG_V, i->guarded);
}

/* 128 bits: through a register; or in a slot of this thread, by store and load or in one step. */
static void make_wide(struct gen *g)
{
    u32 tag = 0, how = g->kernel ? below(g, 4) : 0;
    struct opr a = reg(FILE_D, g->addr), lo = source(g, FILE_D, TAG_V, 0, &tag), hi = source(g, FILE_D, TAG_V, 0, &tag),
               d = dest(g, FILE_D, TAG_V), d2;
    do {
        d2 = dest(g, FILE_D, TAG_V);
    } while (d2.reg == d.reg);
    struct item t = { .kind = I_WIDE,
                      .op = WIDE_MOV,
                      .d = d,
                      .d2 = d2,
                      .s = { a, lo, hi },
                      .at = (s32)below(g, SCRATCH_WORDS / 2) * 16 };
    if (how) {
        op3(g, "mul.lo.s64", a, reg(FILE_D, g->gtid64), imm(FILE_D, SCRATCH_WORDS * 8));
        op3(g, "add.s64", a, reg(FILE_D, g->scratch), a);
        t.op = how == 1 ? WIDE_ST : how == 2 ? WIDE_EXCH : WIDE_LD;
        *put_item(g, I_WIDE) = t;
    }
    if (how == 1) t.op = WIDE_LD;
    if (how == 3) { /* against what lies there, mostly */
        t.op = WIDE_CAS;
        t.more[0] = lo;
        t.more[1] = hi;
        if (chance(g, 70)) {
            t.s[1] = d;
            t.s[2] = d2;
        }
    }
    if (how != 2) *put_item(g, I_WIDE) = t;
    dest_done(g, d, TAG_V, false);
    dest_done(g, d2, TAG_V, false);
}

/* ---- asynchronous copies ---- */

static void async(struct gen *g, u32 op, u32 n)
{
    struct item *i = put_item(g, I_ASYNC);
    i->op = (u16)op;
    i->vec = (u8)n;
}

static struct opr copy_address(struct gen *g)
{
    struct opr a = reg(FILE_R, g->addr32);
    op3(g, "shl.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 4));
    op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
    return a;
}

/* From anywhere in the read-only buffer to this thread's piece of a slot; what is not given becomes zero. */
static u32 copy_in(struct gen *g, u32 slot)
{
    u32 tag = 0, bytes = 4u << below(g, 3), given = below(g, 10);
    struct opr i = reg(FILE_R, g->idx), from = reg(FILE_D, g->addr), x = source(g, FILE_R, TAG_V, 0, &tag);
    op3(g, "and.b32", i, x, imm(FILE_R, IN_BYTES / bytes - 1));
    op3(g, "mad.wide.u32", from, i, imm(FILE_R, bytes))->s[2] = reg(FILE_D, g->in);
    if (given == 1) op3(g, "and.b32", i, source(g, FILE_R, TAG_V, 0, &tag), imm(FILE_R, bytes - 1));
    struct item t = { .kind = I_ASYNC,
                      .op = ASYNC_COPY,
                      .s = { from, copy_address(g) },
                      .at = (s32)(COPY_SHOWN + slot * COPY_EACH),
                      .vec = (u8)bytes };
    if (given == 0) t.s[2] = imm(FILE_R, below(g, bytes + 1));
    if (given == 1) t.s[2] = i;
    *put_item(g, I_ASYNC) = t;
    return bytes;
}

static void copy_out(struct gen *g, u32 slot, u32 bytes)
{
    bool wide = bytes >= 8 && chance(g, 30);
    u32 size = wide ? 8 : 4, at = COPY_SHOWN + slot * COPY_EACH + below(g, bytes / size) * size;
    load_into(g, M_SHARED, wide ? T_U64 : T_U32, wide ? FILE_D : FILE_R, copy_address(g), (s32)at, 1, TAG_V);
}

/* One or two groups in flight while other work goes on, each waited for before it is read. */
static void make_copy(struct gen *g)
{
    bool two = chance(g, 50);
    u32 first = copy_in(g, 1), second = 0;
    async(g, ASYNC_COMMIT, 0);
    if (two) {
        second = copy_in(g, 2);
        async(g, ASYNC_COMMIT, 0);
    }
    for (u32 n = below(g, 3); n; n--) make_arith(g);
    if (two) {
        async(g, ASYNC_WAIT, 1);
        copy_out(g, 1, first);
    }
    async(g, chance(g, 50) ? ASYNC_WAIT : ASYNC_WAIT_ALL, 0);
    copy_out(g, two ? 2 : 1, two ? second : first);
}

/* ---- where threads meet ---- */

static void meet(struct gen *g)
{
    struct item *i = put_item(g, I_BAR);
    i->op = B_SYNC;
}

static void meet_mbarrier(struct gen *g, u32 how)
{
    struct item *i = put_item(g, I_BAR);
    i->op = (u16)how;
    i->s[1] = reg(FILE_R, g->phase);
    op3(g, "xor.b32", reg(FILE_R, g->phase), reg(FILE_R, g->phase), imm(FILE_R, 1));
}

static void meet_somehow(struct gen *g)
{
    if (!g->p->mbarrier || chance(g, 50))
        meet(g);
    else
        meet_mbarrier(g, chance(g, 50) ? B_STATE : B_PARITY);
}

static void meet_copied(struct gen *g) /* and everybody's copies are there */
{
    if (g->p->mbarrier && chance(g, 50)) {
        meet_mbarrier(g, B_COPIED);
        return;
    }
    async(g, ASYNC_WAIT_ALL, 0);
    meet_somehow(g);
}

static void make_shown_copy(struct gen *g) /* the neighbours' copies */
{
    struct opr a = reg(FILE_R, g->addr32);
    meet_somehow(g);
    copy_in(g, 0);
    meet_copied(g);
    for (u32 n = 1 + below(g, 3); n; n--) {
        op3(g, chance(g, 50) ? "xor.b32" : "add.u32", a, reg(FILE_R, g->lin), imm(FILE_R, 1));
        op3(g, "and.b32", a, a, imm(FILE_R, BLOCK_MAX - 1));
        op3(g, "shl.b32", a, a, imm(FILE_R, 4));
        op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
        load_into(g, M_SHARED, T_U32, FILE_R, a, (s32)(COPY_SHOWN + 4 * below(g, 4)), 1, TAG_V);
    }
}

static void make_exchange(struct gen *g) /* through shared memory, words 4..7 */
{
    u32 tag = 0;
    struct opr a = reg(FILE_R, g->addr32), v = source(g, FILE_R, TAG_V, 0, &tag);
    s32 at = (s32)(4 + below(g, 4)) * 256 * 4;
    meet_somehow(g);
    op3(g, "shl.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 2));
    op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
    struct item *i = put_access(g, I_ST, M_SHARED, T_U32, a, at);
    i->d = v;
    meet_somehow(g);
    for (u32 n = 1 + below(g, 3); n; n--) {
        u32 how = below(g, 3);
        struct opr x = how == 0 ? imm(FILE_R, below(g, 256)) : source(g, FILE_R, how, 0, &tag);
        if (how == 1) { /* the neighbour's */
            op3(g, "xor.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 1 + below(g, 7)));
            if (chance(g, 50)) op3(g, "add.u32", a, reg(FILE_R, g->lin), imm(FILE_R, below(g, 40)));
            op3(g, "and.b32", a, a, imm(FILE_R, 255));
        } else
            op3(g, "and.b32", a, x, imm(FILE_R, 255));
        op3(g, "shl.b32", a, a, imm(FILE_R, 2));
        op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
        enum reg_file f = chance(g, 70) ? FILE_R : FILE_F;
        load_into(g, M_SHARED, f == FILE_R ? T_U32 : T_F32, f, a, at, 1, how);
    }
}

static u32 new_label(struct gen *g) { return g->f->nlabel++; }
static void label(struct gen *g, u32 l) { put_item(g, I_LABEL)->label = l; }
static void branch(struct gen *g, u32 l, u16 p, bool neg)
{
    struct item *i = put_item(g, I_BRA);
    i->label = l;
    i->guarded = 1;
    i->guard = p;
    i->neg = neg;
}
static void jump(struct gen *g, u32 l) { put_item(g, I_BRA)->label = l; }

/* What comes from a lane that takes no part is anything: where that is so, the thread keeps its own value. */
static void put_shuffle(struct gen *g, struct item t)
{
    enum reg_file f = (enum reg_file)t.d.file;
    struct opr d = t.d, d2 = t.d2, lane = sreg(G_LANEID), b = t.s[1], j = reg(FILE_R, fresh(g, FILE_R)),
               who = reg(FILE_R, fresh(g, FILE_R)), all = reg(FILE_P, g->pfuel), none = { 0 };
    u64 segment = t.s[2].imm >> 8 & 31;
    op3(g, "setp.eq.u32", all, reg(FILE_R, g->lin), reg(FILE_R, g->lin));
    *put_item(g, I_WARP) =
        (struct item){ .kind = I_WARP, .op = W_BALLOT, .type = T_B32, .d = who, .s = { all, [3] = t.s[3] } };
    if (b.kind == R_IMM)
        op3(g, "mov.u32", j, imm(FILE_R, b.imm & 31), none);
    else
        op3(g, "and.b32", j, b, imm(FILE_R, 31));
    if (t.op == W_SHFL_IDX) {
        struct opr own = reg(FILE_R, fresh(g, FILE_R));
        op3(g, "and.b32", own, lane, imm(FILE_R, segment));
        op3(g, "and.b32", j, j, imm(FILE_R, 31 & ~segment));
        op3(g, "or.b32", j, j, own);
    } else
        op3(g, t.op == W_SHFL_UP ? "sub.s32" : t.op == W_SHFL_DOWN ? "add.s32" : "xor.b32", j, lane, j);
    t.d = reg(f, fresh(g, f));
    t.d2 = reg(FILE_P, fresh(g, FILE_P));
    *put_item(g, I_WARP) = t;
    op3(g, "and.b32", j, j, imm(FILE_R, 31));
    op3(g, "shr.u32", j, who, j);
    op3(g, "and.b32", j, j, imm(FILE_R, 1));
    op3(g, "not.pred", all, t.d2, none);
    op3(g, "setp.ne.or.u32", all, j, imm(FILE_R, 0))->s[2] = all;
    op3(g, f == FILE_F ? "selp.f32" : "selp.b32", d, t.d, t.s[0])->s[2] = all;
    if (d2.kind) op3(g, "mov.pred", d2, t.d2, none);
}

static void make_warp(struct gen *g)
{
    static const u32 masks[] = { 0xffffffff, 0xffffffff, 0xffffffff, 0xffff, 0xffff0000,
                                 0x55555555, 1,          0x80000000, 0x0ff0 };
    u32 tag = 0, kind = below(g, W_KINDS), mask = masks[below(g, COUNT_OF(masks))], end = new_label(g);
    bool part = mask != 0xffffffff, halves = !part && chance(g, 15);
    struct opr m = imm(FILE_R, mask);
    u16 p = g->ptmp;
    if (part) {
        struct opr bit = reg(FILE_R, g->idx);
        op3(g, "shr.u32", bit, imm(FILE_R, mask), sreg(G_LANEID));
        op3(g, "and.b32", bit, bit, imm(FILE_R, 1));
        op3(g, "setp.eq.u32", reg(FILE_P, p), bit, imm(FILE_R, 0));
        branch(g, end, p, false);
    } else if (halves) { /* two masks in one instruction, as tiles of 16 have */
        m = reg(FILE_R, g->idx);
        op3(g, "setp.lt.u32", reg(FILE_P, p), sreg(G_LANEID), imm(FILE_R, 16));
        struct item *i = op3(g, "selp.b32", m, imm(FILE_R, 0xffff), imm(FILE_R, 0xffff0000));
        i->s[2] = reg(FILE_P, p);
    }
    bool pred = kind >= W_ALL && kind <= W_BALLOT, wide = (kind == W_MATCH_ANY || kind == W_MATCH_ALL) && chance(g, 30),
         f32s = kind <= W_SHFL_IDX && chance(g, 20);
    struct item t = { .kind = I_WARP, .op = (u16)kind, .type = wide ? T_B64 : T_B32 };
    t.s[3] = m;
    if (kind != W_SYNC) {
        enum reg_file sf = pred   ? FILE_P
                           : wide ? FILE_D
                           : f32s ? FILE_F
                                  : FILE_R,
                      df = kind >= W_ALL && kind <= W_UNI ? FILE_P
                           : f32s                         ? FILE_F
                                                          : FILE_R;
        t.s[0] = source(g, sf, below(g, 3), 0, &tag);
        t.d = reg(df, pick(g, df, TAG_V)->reg);
        if (kind <= W_SHFL_IDX) {
            t.s[1] = chance(g, 70) ? imm(FILE_R, below(g, 32)) : source(g, FILE_R, below(g, 3), 0, &tag);
            static const u32 clamps[] = { 31, 0, 0x181f, 0x1f, 0x100f, 0x1c07, 0x1800 };
            t.s[2] = imm(FILE_R, kind == W_SHFL_UP ? (chance(g, 50) ? 0 : 0x1800) : clamps[below(g, COUNT_OF(clamps))]);
        }
        if ((kind <= W_SHFL_IDX || kind == W_MATCH_ALL) && chance(g, 40))
            t.d2 = reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    }
    if (kind <= W_SHFL_IDX)
        put_shuffle(g, t);
    else
        *put_item(g, I_WARP) = t;
    label(g, end);
}

static void make_barrier(struct gen *g)
{
    struct item t = { .kind = I_BAR, .op = (u16)below(g, 4) };
    if (t.op == B_SYNC) {
        meet_somehow(g);
        return;
    }
    t.s[0] = reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    t.d = t.op == B_POPC ? reg(FILE_R, pick(g, FILE_R, TAG_V)->reg) : reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    *put_item(g, I_BAR) = t;
}
