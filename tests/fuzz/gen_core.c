/* gen_core: what making a program stands on: random numbers, the pool of registers that hold something, and
 * arithmetic over them.
 *
 * The same seed makes the same program everywhere: no two random numbers are drawn among the arguments of one call,
 * whose order C leaves open. */
#include "gen_ops.c"

enum tag { TAG_S, TAG_A, TAG_V }; /* what class the value probably has: a bias, nothing more */
struct pooled {
    u16 reg;
    u8 tag;
};
enum { POOL_MAX = 64, DEPTH_MAX = 4 };
struct gen {
    struct program *p;
    struct gfunc *f;
    u64 rng;
    struct pooled pool[FILES][POOL_MAX];
    u32 npool[FILES];
    u32 budget;   /* items left to make */
    bool uniform; /* the whole block comes by here */
    bool kernel;
    /* registers that no random item writes */
    u16 out, in, scratch, acc, gtid, total, gtid64, lin, shared, fuel, pfuel, addr, addr32, idx, ptmp, loc, tab, phase;
    u32 self; /* number of the function */
    u32 loop_exit, loop_next, in_loop;
    u32 exit; /* the label at the end */
    u32 depth;
};

static u32 below(struct gen *g, u32 n) { return (u32)(rand_next(&g->rng) % n); }
static bool chance(struct gen *g, u32 percent) { return below(g, 100) < percent; }

static u16 fresh(struct gen *g, enum reg_file f) { return (u16)g->f->nreg[f]++; }
static struct opr reg(enum reg_file f, u32 r) { return (struct opr){ .kind = R_REG, .file = (u8)f, .reg = (u16)r }; }
static struct opr imm(enum reg_file f, u64 v) { return (struct opr){ .kind = R_IMM, .file = (u8)f, .imm = v }; }
static struct opr sreg(enum gen_sreg s) { return (struct opr){ .kind = R_SREG, .file = FILE_R, .reg = (u16)s }; }

static struct item *put_item(struct gen *g, enum item_kind kind)
{
    struct item i = { .kind = (u8)kind };
    VEC_PUSH(&g->p->mem, &g->f->item, i);
    if (g->budget) g->budget--;
    return &g->f->item.p[g->f->item.n - 1];
}

static u32 find_op(const char *text)
{
    for (u32 k = 0; k < gen_op_count; k++)
        if (!gen_ops[k].pair && !strcmp(gen_ops[k].text, text)) return k;
    fprintf(stderr, "no opcode %s\n", text);
    CHECK(!"opcode");
}

static struct item *op3(struct gen *g, const char *text, struct opr d, struct opr a, struct opr b)
{
    struct item *i = put_item(g, I_OP);
    i->op = (u16)find_op(text);
    i->d = d;
    i->s[0] = a;
    i->s[1] = b;
    return i;
}

static enum reg_file file_letter(char c)
{
    const char *all = "phrdfg", *at = strchr(all, c);
    return at ? (enum reg_file)(at - all) : FILE_R;
}

static u64 random_imm(struct gen *g, enum reg_file f)
{
    u32 bits = f == FILE_H ? 16 : f == FILE_R || f == FILE_F ? 32 : 64;
    u64 v;
    if (f == FILE_F) {
        static const u32 some[] = { 0,          0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
                                    0x80000000, 0x7f7fffff, 0x40490fdb, 0x4f000000, 0x00800000, 0x3effffff };
        return chance(g, 60) ? some[below(g, COUNT_OF(some))] : (u32)rand_next(&g->rng);
    }
    if (f == FILE_G) {
        static const u64 some[] = { 0, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000,
                                    1, 0x43e0000000000000, 0x41e0000000000000 };
        return chance(g, 60) ? some[below(g, COUNT_OF(some))] : rand_next(&g->rng);
    }
    switch (below(g, 6)) {
    case 0: v = below(g, 4); break;
    case 1: v = 1ull << below(g, bits); break;
    case 2: v = (1ull << below(g, bits)) - 1; break;
    case 3: v = 0 - (u64)below(g, 40); break;
    case 4: v = below(g, 100); break;
    default: v = rand_next(&g->rng);
    }
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}

/* a register of the pool, of a tag up to `most` if there is one */
static struct pooled *pick(struct gen *g, enum reg_file f, u32 most)
{
    for (u32 k = 0; k < 8; k++) {
        struct pooled *p = &g->pool[f][below(g, g->npool[f])];
        if (p->tag <= most) return p;
    }
    return &g->pool[f][below(g, g->npool[f])];
}

static void pool_add(struct gen *g, enum reg_file f, u16 r, enum tag t)
{
    if (g->npool[f] < POOL_MAX) g->pool[f][g->npool[f]++] = (struct pooled){ r, (u8)t };
}

static struct opr source(struct gen *g, enum reg_file f, u32 most, u32 imm_percent, u32 *tag)
{
    if (f != FILE_P && chance(g, imm_percent)) return imm(f, random_imm(g, f));
    struct pooled *p = pick(g, f, most);
    if (p->tag > *tag) *tag = p->tag;
    return reg(f, p->reg);
}

/* An old register, or a new one that is in the pool from the next item on. */
static struct opr dest(struct gen *g, enum reg_file f, u32 tag)
{
    if (chance(g, 65) || g->npool[f] >= POOL_MAX) {
        for (u32 k = 0; k < 8; k++) {
            struct pooled *p = &g->pool[f][below(g, g->npool[f])];
            if (p->tag >= tag || chance(g, 10)) {
                if (p->tag < tag) p->tag = (u8)tag;
                return reg(f, p->reg);
            }
        }
    }
    return reg(f, fresh(g, f));
}
static void dest_done(struct gen *g, struct opr d, u32 tag, bool guarded)
{
    for (u32 k = 0; k < g->npool[d.file]; k++)
        if (g->pool[d.file][k].reg == d.reg) return;
    if (!guarded) pool_add(g, (enum reg_file)d.file, d.reg, (enum tag)tag);
}

/* A destination for an item that may be guarded: a guarded one must be old. */
static void maybe_guard(struct gen *g, struct item *i, const struct opr *d, u32 nd)
{
    if (!chance(g, 12)) return;
    for (u32 k = 0; k < nd; k++) {
        bool old = false;
        for (u32 j = 0; j < g->npool[d[k].file]; j++) old |= g->pool[d[k].file][j].reg == d[k].reg;
        if (!old && d[k].kind == R_REG) return;
    }
    i->guarded = 1;
    i->neg = (u8)below(g, 2);
    i->guard = pick(g, FILE_P, TAG_V)->reg;
}

static void canonical_g(struct gen *g, u16 r) /* a NaN of f64 has no one right payload */
{
    op3(g, "setp.nan.f64", reg(FILE_P, g->ptmp), reg(FILE_G, r), reg(FILE_G, r));
    struct item *i = op3(g, "selp.f64", reg(FILE_G, r), imm(FILE_G, 0x7ff8000000000000), reg(FILE_G, r));
    i->s[2] = reg(FILE_P, g->ptmp);
}

/* A constant to shift by. ptxas 13.0 shifts the two sides of a selection of constants to the left by it modulo 64
 * (docs/measured/truth.md). */
static u32 shift_amount(const struct op *o, u32 n)
{
    return o->code == OP_SHL && type_size[o->type] == 8 ? MIN_OF(n, 63u) : n;
}

static void make_arith(struct gen *g)
{
    u32 n = chance(g, 15) ? half_ops + below(g, half_op_count) : below(g, gen_op_count);
    const struct op *o = &gen_ops[n];
    if (o->code == OP_SETP && chance(g, 80)) {
        make_arith(g);
        return;
    } /* there are so many of them */
    if (o->code == OP_CVT && !type_is_float((enum ptx_type)o->type) && chance(g, 60)) {
        make_arith(g);
        return;
    }
    u32 tag = 0, most = chance(g, 50) ? TAG_V : chance(g, 50) ? TAG_A : TAG_S;
    struct item t = { .kind = I_OP, .op = (u16)n };
    u32 ns = (u32)strlen(o->sig) - 1, imms = 0;
    for (u32 k = 0; k < ns; k++) {
        if (o->sig[k + 1] == 'i') {
            t.s[k] = imm(FILE_R, below(g, 256));
            continue;
        }
        bool shift = k == 1 && (o->code == OP_SHL || o->code == OP_SHR);
        bool half = o->type == T_F16 || o->type == T_BF16 || o->type == T_F16X2 || o->type == T_BF16X2;
        bool may = !half && o->code != OP_CVT && o->code != OP_PACK && o->code != OP_UNPACK &&
                   !(o->code >= OP_TRUNC && o->code <= OP_CEIL) && imms + 1 < ns;
        t.s[k] = source(g, file_letter(o->sig[k + 1]), most, may ? (shift ? 60 : 25) : 0, &tag);
        bool place = (o->code == OP_BFE && k > 0) || (o->code == OP_BFI && k > 1); /* ptxas takes no larger ones */
        if (t.s[k].kind == R_IMM) {
            imms++;
            if (shift || place) t.s[k].imm = place ? below(g, 256) : shift_amount(o, below(g, 70));
        }
    }
    bool order = (o->code == OP_MIN || o->code == OP_MAX) && type_is_float((enum ptx_type)o->type);
    /* ptxas moves, where silicon makes one NaN */
    if (order && t.s[0].kind == R_REG && t.s[0].kind == t.s[1].kind && t.s[0].reg == t.s[1].reg) {
        make_arith(g);
        return;
    }
    u32 nd = 1;
    enum reg_file df = file_letter(o->sig[0]);
    t.d = dest(g, df, tag);
    if (o->code == OP_UNPACK) {
        struct opr *d[4] = { &t.d, &t.d2, &t.more[0], &t.more[1] };
        for (nd = 1; nd < o->bool_op; nd++) do {
                *d[nd] = dest(g, df, tag);
            } while (d[nd]->reg == d[0]->reg || (nd > 1 && d[nd]->reg == d[1]->reg) ||
                     (nd > 2 && d[nd]->reg == d[2]->reg));
    }
    if (o->pair) {
        do {
            t.d2 = dest(g, FILE_P, tag);
        } while (t.d2.reg == t.d.reg);
        nd = 2;
    }
    struct item *i = put_item(g, I_OP);
    *i = t;
    struct opr all[4] = { t.d, t.d2, t.more[0], t.more[1] };
    maybe_guard(g, i, all, nd);
    bool guarded = i->guarded;
    for (u32 k = 0; k < nd; k++) dest_done(g, all[k], tag, guarded);
}

/* Arithmetic that keeps scalars scalar and affine values affine. */
static void make_affine(struct gen *g)
{
    static const char *const ops[] = { "add.s32",      "sub.s32",      "mul.lo.s32",   "mul.lo.u32",  "mad.lo.s32",
                                       "shl.b32",      "and.b32",      "shr.u32",      "shr.s32",     "mul.wide.s32",
                                       "mul.wide.u32", "mad.wide.s32", "mad.wide.u32", "cvt.s64.s32", "cvt.u64.u32",
                                       "cvt.u32.u64",  "cvt.s32.s64",  "add.s64",      "mul.lo.s64",  "shl.b64",
                                       "selp.b32",     "selp.b64",     "mov.u32",      "mov.b64",     "sub.s64",
                                       "shr.u64",      "shr.s64",      "and.b64",      "add.u32",     "rem.u32",
                                       "div.u32",      "min.s32",      "sub.u32",      "add.u64",     "cvt.s64.u32",
                                       "cvt.u64.s32",  "div.s32",      "or.b32",       "max.u32" };
    struct item t = { .kind = I_OP, .op = (u16)find_op(ops[below(g, COUNT_OF(ops))]) };
    const struct op *o = &gen_ops[t.op];
    u32 ns = (u32)strlen(o->sig) - 1, tag = 0;
    for (u32 k = 0; k < ns; k++) {
        u32 share = k == 1 ? 65 : k == 0 && ns > 1 ? 8 : o->code == OP_CVT || o->code == OP_MOV ? 0 : 15;
        t.s[k] = source(g, file_letter(o->sig[k + 1]), k == 0 || chance(g, 30) ? TAG_A : TAG_S, share, &tag);
        if (t.s[k].kind != R_IMM || k != 1) continue;
        if (o->code == OP_SHL || o->code == OP_SHR)
            t.s[k].imm = shift_amount(o, below(g, chance(g, 80) ? 8 : 70));
        else if (o->code == OP_AND) {
            t.s[k].imm = 1ull << below(g, 20);
            t.s[k].imm -= chance(g, 80);
        } else if (o->code == OP_MUL_WIDE || o->code == OP_MAD_WIDE || o->code == OP_MUL_LO) {
            if (chance(g, 70)) t.s[k].imm = 1ull << below(g, 5);
        }
    }
    if (ns > 1 && t.s[0].kind == R_IMM && t.s[1].kind == R_IMM)
        t.s[1] = source(g, file_letter(o->sig[2]), TAG_A, 0, &tag);
    t.d = dest(g, file_letter(o->sig[0]), tag);
    struct item *i = put_item(g, I_OP);
    *i = t;
    maybe_guard(g, i, &t.d, 1);
    dest_done(g, t.d, tag, i->guarded);
}
