/* gen_kernel: makes programs from seeds (gen_print.c prints them). What may be asked of a program: every register is
 * written before it is read (but where a selection discards the value), every loop counts down a register of its own,
 * every thread writes only its own slots or adds to a sum, and threads meet only where the whole block comes by. */
#include "gen_memory.c"

/* ---- control ---- */

static void make_block(struct gen *g, u32 items);

struct scope {
    u32 n[FILES];
    bool uniform;
    u32 loop_exit, loop_next, in_loop, depth;
};
static struct scope enter(struct gen *g)
{
    struct scope s = { .uniform = g->uniform,
                       .loop_exit = g->loop_exit,
                       .loop_next = g->loop_next,
                       .in_loop = g->in_loop,
                       .depth = g->depth };
    memcpy(s.n, g->npool, sizeof s.n);
    g->depth++;
    return s;
}
static void leave(struct gen *g, struct scope s)
{
    memcpy(g->npool, s.n, sizeof s.n);
    g->uniform = s.uniform;
    g->loop_exit = s.loop_exit;
    g->loop_next = s.loop_next;
    g->in_loop = s.in_loop;
    g->depth = s.depth;
}

/* A predicate to branch on: one of the pool, or a comparison made for it. Uniform: of parameters alone. */
static u16 condition(struct gen *g, bool uniform)
{
    u32 tag = 0;
    if (!uniform && chance(g, 40)) return pick(g, FILE_P, TAG_V)->reg;
    u16 p = fresh(g, FILE_P);
    static const char *const cmps[] = { "setp.lt.s32", "setp.ge.u32", "setp.eq.s32",
                                        "setp.ne.u32", "setp.gt.s32", "setp.le.u32" };
    const char *c = cmps[below(g, COUNT_OF(cmps))];
    struct opr a, b;
    if (uniform) {
        a = chance(g, 50) ? sreg(G_CTAID_X) : sreg(G_NTID_X);
        b = imm(FILE_R, chance(g, 50) ? 1 : 32);
    } else {
        a = chance(g, 30) ? reg(FILE_R, g->lin) : source(g, FILE_R, below(g, 3), 0, &tag);
        b = chance(g, 60) ? imm(FILE_R, below(g, 40)) : source(g, FILE_R, below(g, 3), 0, &tag);
    }
    op3(g, c, reg(FILE_P, p), a, b);
    return p;
}

static void make_if(struct gen *g)
{
    bool uniform = g->uniform && chance(g, 35), other = chance(g, 50);
    u32 otherwise = new_label(g), end = new_label(g);
    u16 p = condition(g, uniform);
    branch(g, otherwise, p, chance(g, 50));
    struct scope s = enter(g);
    g->uniform = uniform;
    make_block(g, 1 + below(g, 6));
    leave(g, s);
    if (other) {
        jump(g, end);
        label(g, otherwise);
        s = enter(g);
        g->uniform = uniform;
        make_block(g, 1 + below(g, 6));
        leave(g, s);
        label(g, end);
    } else
        label(g, otherwise);
}

static void make_loop(struct gen *g)
{
    u32 tag = 0, kind = below(g, 4), head = new_label(g), next = new_label(g), exit = new_label(g);
    u16 n = fresh(g, FILE_R), i = fresh(g, FILE_R), p = fresh(g, FILE_P);
    bool uniform = kind == 0 && g->uniform, top = chance(g, 50);
    if (kind == 0)
        op3(g, "mov.u32", reg(FILE_R, n), imm(FILE_R, 1 + below(g, 5)), (struct opr){ 0 });
    else {
        struct opr most = kind == 2 ? reg(FILE_R, g->lin) : source(g, FILE_R, kind == 1 ? TAG_S : TAG_V, 0, &tag);
        op3(g, "and.b32", reg(FILE_R, n), most, imm(FILE_R, 3 + 4 * below(g, 2)));
    }
    op3(g, "mov.u32", reg(FILE_R, i), imm(FILE_R, 0), (struct opr){ 0 });
    struct scope s = enter(g);
    label(g, head);
    if (top) {
        op3(g, "setp.ge.u32", reg(FILE_P, p), reg(FILE_R, i), reg(FILE_R, n));
        branch(g, exit, p, false);
    }
    g->uniform = uniform;
    g->loop_exit = exit;
    g->loop_next = next;
    g->in_loop = 1;
    if (uniform) g->in_loop = 2; /* nobody may leave alone */
    pool_add(g, FILE_R, fresh(g, FILE_R), TAG_A);
    op3(g, "mov.u32", reg(FILE_R, g->pool[FILE_R][g->npool[FILE_R] - 1].reg), reg(FILE_R, i), (struct opr){ 0 });
    make_block(g, 2 + below(g, 7));
    label(g, next);
    op3(g, "add.s32", reg(FILE_R, i), reg(FILE_R, i), imm(FILE_R, 1));
    op3(g, "setp.lt.u32", reg(FILE_P, p), reg(FILE_R, i), reg(FILE_R, n));
    branch(g, head, p, false);
    leave(g, s);
    label(g, exit);
}

static void make_jump_out(struct gen *g) /* break or continue */
{
    if (g->in_loop != 1) return;
    u32 to = chance(g, 60) ? g->loop_exit : g->loop_next;
    u16 p = condition(g, false);
    branch(g, to, p, chance(g, 50));
}

static void make_switch(struct gen *g)
{
    u32 n = 2 + below(g, 4), tag = 0, end = new_label(g);
    u32 *t = NEW_ARRAY(&g->p->mem, u32, 8), *places = NEW_ARRAY(&g->p->mem, u32, n);
    for (u32 k = 0; k < n; k++) places[k] = new_label(g);
    for (u32 k = 0; k < 8; k++) t[k] = k < n ? places[k] : chance(g, 30) ? end : places[below(g, n)];
    op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, 7));
    struct item *i = put_item(g, I_BRX);
    i->s[0] = reg(FILE_R, g->idx);
    i->targets = t;
    i->ntargets = 8;
    for (u32 k = 0; k < n; k++) {
        label(g, places[k]);
        struct scope s = enter(g);
        g->uniform = false;
        make_block(g, 1 + below(g, 4));
        leave(g, s);
        if (chance(g, 70)) jump(g, end); /* else it falls into the next */
    }
    label(g, end);
}

/* Blocks with branches anywhere; those that go back burn fuel. */
static void make_soup(struct gen *g)
{
    u32 n = 3 + below(g, 5), *at = NEW_ARRAY(&g->p->mem, u32, n + 1);
    op3(g, "mov.u32", reg(FILE_R, g->fuel), imm(FILE_R, 3 + below(g, 12)), (struct opr){ 0 });
    for (u32 k = 0; k <= n; k++) at[k] = new_label(g);
    if (chance(g, 50)) {
        u32 to = below(g, n);
        branch(g, at[to], condition(g, false), false);
    }
    for (u32 k = 0; k < n; k++) {
        label(g, at[k]);
        struct scope s = enter(g);
        g->uniform = false;
        g->in_loop = 0;
        g->depth = DEPTH_MAX; /* no structure inside */
        make_block(g, 1 + below(g, 3));
        for (u32 j = below(g, 3); j; j--) {
            u32 to = below(g, n + 1);
            u16 p = condition(g, false);
            if (to <= k) {
                op3(g, "add.s32", reg(FILE_R, g->fuel), reg(FILE_R, g->fuel), imm(FILE_R, 0xffffffff));
                struct item *i = op3(g, "setp.gt.and.s32", reg(FILE_P, g->pfuel), reg(FILE_R, g->fuel), imm(FILE_R, 0));
                i->s[2] = reg(FILE_P, p);
                p = g->pfuel;
            }
            branch(g, at[to], p, false);
        }
        leave(g, s);
    }
    label(g, at[n]);
}

static void make_call(struct gen *g, u32 callee, u32 other, struct opr n)
{
    u32 tag = 0;
    struct opr a = source(g, FILE_R, TAG_V, 0, &tag), b = source(g, FILE_D, TAG_V, 0, &tag),
               x = source(g, FILE_F, TAG_V, 0, &tag), d = dest(g, FILE_R, TAG_V);
    struct item t = { .kind = I_CALL, .d = d, .s = { n, a, b, x }, .label = callee, .other = other };
    if (other) t.d2 = reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    *put_item(g, I_CALL) = t;
    dest_done(g, d, TAG_V, false);
}

static void call_some(struct gen *g)
{
    u32 most = g->kernel ? g->p->nfunc : g->self, tag = 0;
    if (!most) return;
    struct opr n = imm(FILE_R, below(g, 4));
    if (chance(g, 40)) {
        op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, TAG_V, 0, &tag), imm(FILE_R, 3));
        n = reg(FILE_R, g->idx);
    }
    u32 callee = below(g, most), other = chance(g, 30) ? below(g, most) + 1 : 0;
    make_call(g, callee, other, n);
}

/* The last value that passed a test in a loop: a register written once, whose source is written again. */
static void make_last(struct gen *g)
{
    u32 tag = 0, head = new_label(g), skip = new_label(g);
    u16 i = fresh(g, FILE_R), v = fresh(g, FILE_R), kept = fresh(g, FILE_R), found = fresh(g, FILE_R),
        p = fresh(g, FILE_P);
    op3(g, "mov.u32", reg(FILE_R, i), imm(FILE_R, 0), (struct opr){ 0 });
    op3(g, "mov.u32", reg(FILE_R, found), imm(FILE_R, 0), (struct opr){ 0 });
    label(g, head);
    struct item *m = op3(g, "mad.lo.s32", reg(FILE_R, v), reg(FILE_R, i), source(g, FILE_R, below(g, 3), 0, &tag));
    m->s[2] = source(g, FILE_R, below(g, 3), 0, &tag);
    op3(g, "and.b32", reg(FILE_R, g->idx), reg(FILE_R, v), imm(FILE_R, 3));
    op3(g, "setp.eq.s32", reg(FILE_P, p), reg(FILE_R, g->idx), imm(FILE_R, below(g, 4)));
    branch(g, skip, p, false);
    op3(g, "mov.u32", reg(FILE_R, kept), reg(FILE_R, v), (struct opr){ 0 });
    op3(g, "mov.u32", reg(FILE_R, found), imm(FILE_R, 1), (struct opr){ 0 });
    label(g, skip);
    op3(g, "add.s32", reg(FILE_R, i), reg(FILE_R, i), imm(FILE_R, 1));
    op3(g, "setp.lt.s32", reg(FILE_P, p), reg(FILE_R, i), imm(FILE_R, 5));
    branch(g, head, p, false);
    op3(g, "setp.ne.s32", reg(FILE_P, p), reg(FILE_R, found), imm(FILE_R, 0));
    struct opr d = dest(g, FILE_R, TAG_V);
    struct item *s = op3(g, "selp.b32", d, reg(FILE_R, kept), imm(FILE_R, 77));
    s->s[2] = reg(FILE_P, p);
    dest_done(g, d, TAG_V, false);
}

static void make_exit(struct gen *g)
{
    if (g->kernel && (g->p->mbarrier || (g->p->shows && !g->uniform))) return;
    if (g->kernel && g->p->shows) meet(g);
    u16 p = condition(g, false);
    if (chance(g, 50)) {
        branch(g, g->exit, p, chance(g, 50));
        return;
    }
    struct item *i = put_item(g, I_RET);
    i->guarded = 1;
    i->guard = p;
    i->neg = (u8)below(g, 2);
}

static void make_block(struct gen *g, u32 items)
{
    for (u32 n = 0; n < items && g->budget; n++) {
        u32 x = below(g, 1000);
        bool deep = g->depth >= DEPTH_MAX;
        if (x < 14)
            make_wide(g);
        else if (x < 30 && g->kernel)
            make_copy(g);
        else if (x < 330)
            make_arith(g);
        else if (x < 580)
            make_affine(g);
        else if (x < 630) {
            if (g->kernel)
                make_load(g);
            else
                make_arith(g);
        } else if (x < 680) {
            make_store(g);
        } else if (x < 700)
            make_const_load(g);
        else if (x < 720) {
            if (g->kernel) make_atomic(g);
        } else if (x < 770) {
            if (g->uniform && g->kernel)
                make_warp(g);
            else
                make_jump_out(g);
        } else if (x < 780) {
            if (g->uniform && g->kernel) make_barrier(g);
        } else if (x < 790) {
            if (g->uniform && g->p->shows && g->kernel) make_exchange(g);
        } else if (x < 800) {
            if (g->uniform && g->p->shows && g->kernel) make_shown_copy(g);
        } else if (x < 815)
            make_last(g);
        else if (x < 835) {
            if (!deep) call_some(g);
        } else if (x < 840) {
            make_exit(g);
        } else if (deep)
            make_arith(g);
        else if (x < 910)
            make_if(g);
        else if (x < 960)
            make_loop(g);
        else if (x < 980)
            make_switch(g);
        else
            make_soup(g);
    }
}

/* ---- whole programs ---- */

/* Numbers that ptxas cannot know: what it computes itself is no approximation of silicon's. A grid is never so large.
 */
static void first_values(struct gen *g)
{
    op3(g, "setp.lt.u32", reg(FILE_P, g->ptmp), sreg(G_NCTAID_X), imm(FILE_R, 1000));
    for (u32 k = 0; k < 6; k++) {
        for (enum reg_file f = FILE_H; f <= FILE_G; f++) {
            if (f != FILE_R && k > 2) continue;
            static const char *const selps[] = { "", "selp.u16", "selp.u32", "selp.u64", "selp.f32", "selp.f64" };
            u16 r = fresh(g, f);
            struct item *i = op3(g, selps[f], reg(f, r), imm(f, random_imm(g, f)), imm(f, 1));
            i->s[2] = reg(FILE_P, g->ptmp);
            pool_add(g, f, r, TAG_S);
        }
    }
    for (u32 k = 0; k < 4; k++) {
        u16 p = fresh(g, FILE_P);
        u32 tag = 0;
        struct opr a = source(g, FILE_R, below(g, 3), 0, &tag);
        op3(g, "setp.lt.s32", reg(FILE_P, p), a, imm(FILE_R, random_imm(g, FILE_R)));
        pool_add(g, FILE_P, p, k < 2 ? TAG_S : TAG_V);
    }
}

static void symbol(struct gen *g, struct opr d, u32 which)
{
    struct item *i = put_item(g, I_SYMBOL);
    i->op = (u16)which;
    i->d = d;
    i->keep = 1;
}

static u16 parameter(struct gen *g, enum reg_file f, u32 n)
{
    u16 r = fresh(g, f);
    struct item *i = put_item(g, I_PARAM);
    i->op = (u16)n;
    i->d = reg(f, r);
    return r;
}

static void helpers(struct gen *g)
{
    g->fuel = fresh(g, FILE_R);
    g->pfuel = fresh(g, FILE_P);
    g->addr = fresh(g, FILE_D);
    g->addr32 = fresh(g, FILE_R);
    g->idx = fresh(g, FILE_R);
    g->ptmp = fresh(g, FILE_P);
    g->loc = fresh(g, FILE_D);
    g->tab = fresh(g, FILE_D);
    symbol(g, reg(FILE_D, g->loc), SYM_LOC);
    symbol(g, reg(FILE_D, g->tab), SYM_TAB);
    for (u32 k = 0; k < LOCAL_BYTES / 8; k++) {
        struct item *i = put_access(g, I_ST, M_LOCAL, T_U64, reg(FILE_D, g->loc), (s32)k * 8);
        i->d = imm(FILE_D, 0);
        i->keep = 1;
    }
}

static void kernel_start(struct gen *g)
{
    struct opr none = { 0 };
    g->out = parameter(g, FILE_D, 0);
    g->in = parameter(g, FILE_D, 1);
    g->scratch = parameter(g, FILE_D, 2);
    g->acc = parameter(g, FILE_D, 3);
    g->lin = fresh(g, FILE_R);
    g->gtid = fresh(g, FILE_R);
    g->total = fresh(g, FILE_D);
    g->gtid64 = fresh(g, FILE_D);
    g->shared = fresh(g, FILE_R);
    u16 nt = fresh(g, FILE_R), t = fresh(g, FILE_R);
    struct item *i;
    /* lin = (tid.z * ntid.y + tid.y) * ntid.x + tid.x */
    op3(g, "mov.u32", reg(FILE_R, t), sreg(G_TID_Z), none);
    i = op3(g, "mad.lo.s32", reg(FILE_R, t), reg(FILE_R, t), sreg(G_NTID_Y));
    i->s[2] = sreg(G_TID_Y);
    i = op3(g, "mad.lo.s32", reg(FILE_R, g->lin), reg(FILE_R, t), sreg(G_NTID_X));
    i->s[2] = sreg(G_TID_X);
    op3(g, "mul.lo.s32", reg(FILE_R, nt), sreg(G_NTID_X), sreg(G_NTID_Y));
    op3(g, "mul.lo.s32", reg(FILE_R, nt), reg(FILE_R, nt), sreg(G_NTID_Z));
    i = op3(g, "mad.lo.s32", reg(FILE_R, g->gtid), reg(FILE_R, nt), sreg(G_CTAID_X));
    i->s[2] = reg(FILE_R, g->lin);
    op3(g, "cvt.u64.u32", reg(FILE_D, g->gtid64), reg(FILE_R, g->gtid), none);
    op3(g, "mul.wide.u32", reg(FILE_D, g->total), reg(FILE_R, nt), sreg(G_NCTAID_X));
    symbol(g, reg(FILE_R, g->shared), SYM_SH);
    /* for (t = lin; t < SHARED_SLOTS; t += nt) sh[t] = 0; and one of them makes the mbarrier */
    u32 from = g->f->item.n, head = new_label(g);
    u16 p = fresh(g, FILE_P), a = fresh(g, FILE_R);
    op3(g, "mov.u32", reg(FILE_R, t), reg(FILE_R, g->lin), none);
    label(g, head);
    i = op3(g, "mad.lo.s32", reg(FILE_R, a), reg(FILE_R, t), imm(FILE_R, 4));
    i->s[2] = reg(FILE_R, g->shared);
    i = put_access(g, I_ST, M_SHARED, T_U32, reg(FILE_R, a), 0);
    i->d = imm(FILE_R, 0);
    op3(g, "add.s32", reg(FILE_R, t), reg(FILE_R, t), reg(FILE_R, nt));
    op3(g, "setp.lt.u32", reg(FILE_P, p), reg(FILE_R, t), imm(FILE_R, SHARED_SLOTS));
    branch(g, head, p, false);
    if (g->p->mbarrier) {
        g->phase = fresh(g, FILE_R);
        op3(g, "mov.u32", reg(FILE_R, g->phase), imm(FILE_R, 0), none);
        op3(g, "setp.eq.u32", reg(FILE_P, p), reg(FILE_R, g->lin), imm(FILE_R, 0));
        i = put_item(g, I_ASYNC);
        i->op = ASYNC_INIT;
        i->s[0] = reg(FILE_R, nt);
        i->guarded = 1;
        i->guard = p;
    }
    meet(g);
    for (u32 k = from; k < g->f->item.n; k++) g->f->item.p[k].keep = 1;
    pool_add(g, FILE_R, parameter(g, FILE_R, 4), TAG_S);
    pool_add(g, FILE_R, parameter(g, FILE_R, 5), TAG_S);
    pool_add(g, FILE_D, parameter(g, FILE_D, 6), TAG_S);
    pool_add(g, FILE_F, parameter(g, FILE_F, 7), TAG_S);
    pool_add(g, FILE_G, parameter(g, FILE_G, 8), TAG_S);
    pool_add(g, FILE_H, parameter(g, FILE_H, 9), TAG_S);
    static const enum gen_sreg some[] = { G_TID_X, G_TID_Y, G_TID_X, G_CTAID_X, G_LANEID, G_TID_Z, G_NTID_X };
    for (u32 k = 0; k < COUNT_OF(some); k++) {
        u16 r = fresh(g, FILE_R);
        op3(g, "mov.u32", reg(FILE_R, r), sreg(some[k]), none);
        pool_add(g, FILE_R, r, some[k] == G_CTAID_X || some[k] == G_NTID_X ? TAG_S : TAG_A);
    }
    u16 r = fresh(g, FILE_R);
    op3(g, "mov.u32", reg(FILE_R, r), reg(FILE_R, g->gtid), none);
    pool_add(g, FILE_R, r, TAG_A);
    r = fresh(g, FILE_D);
    op3(g, "cvt.u64.u32", reg(FILE_D, r), reg(FILE_R, g->gtid), none);
    pool_add(g, FILE_D, r, TAG_A);
}

/* Every register of the pool goes to the thread's results. */
static void kernel_end(struct gen *g)
{
    struct opr a = reg(FILE_D, g->addr);
    static const enum ptx_type types[] = { T_NONE, T_U16, T_U32, T_U64, T_F32, T_F64 };
    u32 n = 0;
    for (u32 f = 0; f < FILES; f++) n += g->npool[f];
    g->p->nout = n;
    op3(g, "mul.lo.s64", a, reg(FILE_D, g->gtid64), imm(FILE_D, g->p->thread_major ? n * 8 : 8));
    op3(g, "add.s64", a, a, reg(FILE_D, g->out));
    op3(g, "shl.b64", reg(FILE_D, g->total), reg(FILE_D, g->total), imm(FILE_R, 3));
    u32 at = 0;
    for (u32 f = 0; f < FILES; f++)
        for (u32 k = 0; k < g->npool[f]; k++, at++) {
            struct opr v = reg((enum reg_file)f, g->pool[f][k].reg);
            enum ptx_type t = types[f];
            if (f == FILE_G) canonical_g(g, v.reg);
            if (f == FILE_P) {
                struct item *s = op3(g, "selp.u32", reg(FILE_R, g->idx), imm(FILE_R, 1), imm(FILE_R, 0));
                s->s[2] = v;
                v = reg(FILE_R, g->idx);
                t = T_U32;
            }
            struct item *i = put_access(g, I_ST, M_GLOBAL, t, a, g->p->thread_major ? (s32)(at * 8) : 0);
            i->d = v;
            if (!g->p->thread_major) op3(g, "add.s64", a, a, reg(FILE_D, g->total));
        }
}

static void make_function(struct gen *g, u32 n)
{
    u16 r0 = fresh(g, FILE_R), r1 = fresh(g, FILE_R), d0 = fresh(g, FILE_D), f0 = fresh(g, FILE_F);
    u32 base = new_label(g), tag = 0;
    bool recursive = chance(g, 50);
    g->self = n;
    helpers(g);
    g->lin = r1;
    u16 count = fresh(g, FILE_R), p = fresh(g, FILE_P);
    op3(g, "mov.u32", reg(FILE_R, count), reg(FILE_R, r0), (struct opr){ 0 });
    pool_add(g, FILE_R, r1, TAG_V);
    pool_add(g, FILE_R, r0, TAG_V);
    pool_add(g, FILE_D, d0, TAG_V);
    pool_add(g, FILE_F, f0, TAG_V);
    g->budget = 40;
    first_values(g);
    make_block(g, 4 + below(g, 8));
    if (recursive) {
        op3(g, "setp.eq.u32", reg(FILE_P, p), reg(FILE_R, count), imm(FILE_R, 0));
        branch(g, base, p, false);
        op3(g, "add.s32", reg(FILE_R, count), reg(FILE_R, count), imm(FILE_R, 0xffffffff));
        make_call(g, n, 0, reg(FILE_R, count));
        make_block(g, 2);
    }
    if (recursive) label(g, base);
    op3(g, "mov.u32", reg(FILE_R, r0), source(g, FILE_R, TAG_V, 0, &tag), (struct opr){ 0 });
}

struct program *gen_program(u64 seed)
{
    add_ops();
    struct arena mem = { 0 };
    struct program *p = NEW(&mem, struct program);
    p->mem = mem;
    p->seed = seed;
    struct gen g = { .p = p, .rng = seed * 0x2545f4914f6cdd1du + 1 };
    p->nfunc = chance(&g, 40) ? 1 + below(&g, GEN_FUNCS) : 0;
    p->thread_major = chance(&g, 50);
    p->shows = chance(&g, 70);
    p->mbarrier = chance(&g, 40);
    for (u32 k = 0; k < CONST_WORDS; k++) p->tab[k] = (u32)random_imm(&g, FILE_R);
    u64 rng = g.rng;
    for (u32 n = 0; n <= p->nfunc; n++) {
        g = (struct gen){
            .p = p, .f = &p->func[n], .rng = rng + n * 77, .kernel = n == p->nfunc, .uniform = n == p->nfunc
        };
        p->func[n].kernel = g.kernel;
        g.exit = new_label(&g);
        if (!g.kernel) {
            make_function(&g, n);
            label(&g, g.exit);
            continue;
        }
        kernel_start(&g);
        helpers(&g);
        first_values(&g);
        g.budget = 60 + below(&g, 120);
        make_block(&g, 1000);
        kernel_end(&g);
        label(&g, g.exit);
    }
    return p;
}

void gen_free(struct program *p)
{
    struct arena mem = p->mem;
    arena_free(&mem);
}
