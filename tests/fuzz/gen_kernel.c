/* gen_kernel: makes programs from seeds, and prints them as PTX. What may be asked of a program: every register is written
 * before it is read (but where a selection discards the value), every loop counts down a register of its own, every thread
 * writes only its own slots or adds to a sum, and threads meet only where the whole block comes by. */
#include "gen_kernel.h"

/* ---- the opcodes ---- */

struct op gen_ops[1600];
u32 gen_op_count;

static const enum ptx_type int_types[] = { T_U16, T_S16, T_U32, T_S32, T_U64, T_S64 }, bit_types[] = { T_B16, T_B32, T_B64 };
static char file_of(enum ptx_type t) { return t == T_PRED ? 'p' : t == T_F32 ? 'f' : t == T_F64 ? 'g' : type_size[t] <= 2 ? 'h' : type_size[t] == 4 ? 'r' : 'd'; }

static struct op *add_op(enum op_code code, enum ptx_type type, const char *sig, const char *fmt, ...) PRINTF_LIKE(4, 5);
static struct op *add_op(enum op_code code, enum ptx_type type, const char *sig, const char *fmt, ...)
{
    CHECK(gen_op_count < COUNT_OF(gen_ops));
    struct op *o = &gen_ops[gen_op_count++];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->text, sizeof o->text, fmt, ap);
    va_end(ap);
    o->code = (u8)code; o->type = o->dtype = (u8)type;
    for (u32 k = 0; sig[k] && k < sizeof o->sig - 1; k++) o->sig[k] = sig[k] == 'T' ? file_of(type) : sig[k];
    return o;
}

static void add_integer_ops(void)
{
    static const struct { const char *name, *sig; enum op_code code; } two[] = {
        { "add", "TTT", OP_ADD }, { "sub", "TTT", OP_SUB }, { "mul.lo", "TTT", OP_MUL_LO }, { "mul.hi", "TTT", OP_MUL_HI }, { "mad.lo", "TTTT", OP_MAD_LO },
        { "mad.hi", "TTTT", OP_MAD_HI }, { "div", "TTT", OP_DIV }, { "rem", "TTT", OP_REM }, { "min", "TTT", OP_MIN }, { "max", "TTT", OP_MAX } };
    for (u32 k = 0; k < COUNT_OF(int_types); k++) {
        enum ptx_type t = int_types[k];
        const char *n = type_name[t];
        for (u32 j = 0; j < COUNT_OF(two); j++) add_op(two[j].code, t, two[j].sig, "%s.%s", two[j].name, n);
        if (type_size[t] < 8) {
            add_op(OP_MUL_WIDE, t, type_size[t] == 2 ? "rTT" : "dTT", "mul.wide.%s", n);
            add_op(OP_MAD_WIDE, t, type_size[t] == 2 ? "rTTr" : "dTTd", "mad.wide.%s", n);
        }
        if (type_is_signed(t)) { add_op(OP_ABS, t, "TT", "abs.%s", n); add_op(OP_NEG, t, "TT", "neg.%s", n); }
        add_op(OP_SHR, t, "TTr", "shr.%s", n); add_op(OP_SAD, t, "TTTT", "sad.%s", n);
        if (type_size[t] < 4) continue;
        add_op(OP_CARRY, t, "TTTT", "addc.%s", n); add_op(OP_BORROW, t, "TTTT", "subc.%s", n);
        add_op(OP_BFIND, t, "rT", "bfind.%s", n); add_op(OP_BFIND_SHIFT, t, "rT", "bfind.shiftamt.%s", n);
        add_op(OP_BFE, t, "TTrr", "bfe.%s", n);
    }
    add_op(OP_ADD_SAT, T_S32, "TTT", "add.sat.s32"); add_op(OP_SUB_SAT, T_S32, "TTT", "sub.sat.s32");
    for (u32 k = 0; k < COUNT_OF(bit_types); k++) {
        enum ptx_type t = bit_types[k];
        const char *n = type_name[t];
        add_op(OP_AND, t, "TTT", "and.%s", n); add_op(OP_OR, t, "TTT", "or.%s", n); add_op(OP_XOR, t, "TTT", "xor.%s", n); add_op(OP_NOT, t, "TT", "not.%s", n);
        add_op(OP_SHL, t, "TTr", "shl.%s", n); add_op(OP_SHR, t, "TTr", "shr.%s", n);
        if (t == T_B16) continue;
        add_op(OP_POPC, t, "rT", "popc.%s", n); add_op(OP_CLZ, t, "rT", "clz.%s", n); add_op(OP_BREV, t, "TT", "brev.%s", n);
        add_op(OP_BFI, t, "TTTrr", "bfi.%s", n);
    }
    for (u32 sg = 0; sg < 2; sg++) {
        add_op(OP_MUL24, sg ? T_S32 : T_U32, "TTT", "mul24.lo.%s", sg ? "s32" : "u32");
        add_op(OP_DP4A, sg ? T_S32 : T_U32, "TTTT", "dp4a.%s", sg ? "s32.s32" : "u32.u32");
    }
    add_op(OP_CNOT, T_B32, "TT", "cnot.b32"); add_op(OP_CNOT, T_B64, "TT", "cnot.b64");
    add_op(OP_LOP3, T_B32, "rrrri", "lop3.b32"); add_op(OP_PRMT, T_B32, "rrrr", "prmt.b32");
    add_op(OP_SHF_LW, T_B32, "rrrr", "shf.l.wrap.b32"); add_op(OP_SHF_RW, T_B32, "rrrr", "shf.r.wrap.b32");
    add_op(OP_SHF_LC, T_B32, "rrrr", "shf.l.clamp.b32"); add_op(OP_SHF_RC, T_B32, "rrrr", "shf.r.clamp.b32");
    add_op(OP_AND, T_PRED, "ppp", "and.pred"); add_op(OP_OR, T_PRED, "ppp", "or.pred"); add_op(OP_XOR, T_PRED, "ppp", "xor.pred");
    add_op(OP_NOT, T_PRED, "pp", "not.pred"); add_op(OP_MOV, T_PRED, "pp", "mov.pred");
}

static void add_float_ops(void)
{
    static const struct { const char *name, *sig; enum op_code code; u8 ftz, sat, wide; } rows[] = {
        { "add", "TTT", OP_ADD, 1, 1, 1 }, { "sub", "TTT", OP_SUB, 1, 1, 1 }, { "mul", "TTT", OP_FMUL, 1, 1, 1 }, { "fma.rn", "TTTT", OP_FMA, 1, 1, 1 },
        { "div.rn", "TTT", OP_FDIV, 1, 0, 1 }, { "div.full", "TTT", OP_DIV_FULL, 1, 0, 0 }, { "min", "TTT", OP_MIN, 1, 0, 1 }, { "max", "TTT", OP_MAX, 1, 0, 1 },
        { "abs", "TT", OP_ABS, 1, 0, 1 }, { "neg", "TT", OP_NEG, 1, 0, 1 }, { "rcp.rn", "TT", OP_RCP, 1, 0, 1 }, { "sqrt.rn", "TT", OP_SQRT, 1, 0, 1 },
        { "rcp.approx", "TT", OP_RCP_APPROX, 1, 0, 0 }, { "sqrt.approx", "TT", OP_SQRT_APPROX, 1, 0, 0 }, { "rsqrt.approx", "TT", OP_RSQRT, 1, 0, 1 },
        { "ex2.approx", "TT", OP_EX2, 1, 0, 0 }, { "lg2.approx", "TT", OP_LG2, 1, 0, 0 }, { "sin.approx", "TT", OP_SIN, 1, 0, 0 }, { "cos.approx", "TT", OP_COS, 1, 0, 0 } };
    for (u32 k = 0; k < COUNT_OF(rows); k++) {
        for (u32 m = 0; m < 4; m++) {
            if ((m & 1 && !rows[k].ftz) || (m & 2 && !rows[k].sat)) continue;
            add_op(rows[k].code, T_F32, rows[k].sig, "%s%s%s.f32", rows[k].name, m & 1 ? ".ftz" : "", m & 2 ? ".sat" : "")->mods = (u8)m;
        }
        if (rows[k].wide) add_op(rows[k].code, T_F64, rows[k].sig, "%s.f64", rows[k].name);
    }
    static const struct { const char *name, *sig; enum op_code code; } directed[] = { { "add", "TTT", OP_ADD }, { "sub", "TTT", OP_SUB }, { "mul", "TTT", OP_FMUL },
        { "fma", "TTTT", OP_FMA }, { "div", "TTT", OP_FDIV }, { "rcp", "TT", OP_RCP }, { "sqrt", "TT", OP_SQRT } };
    static const char *const mode[] = { "rz", "rm", "rp" };
    for (u32 k = 0; k < COUNT_OF(directed); k++)
        for (u32 m = 0; m < 3; m++)
            for (u32 wide = 0; wide < 2; wide++)
                add_op(directed[k].code, wide ? T_F64 : T_F32, directed[k].sig, "%s.%s.%s", directed[k].name, mode[m], wide ? "f64" : "f32")->mods = (u8)(OPM_RZ << m);
    add_op(OP_ADD, T_F16, "hhh", "add.f16"); add_op(OP_SUB, T_F16, "hhh", "sub.f16"); add_op(OP_FMUL, T_F16, "hhh", "mul.f16");
    add_op(OP_CVT, T_F16, "fh", "cvt.f32.f16")->dtype = T_F32;
    add_op(OP_CVT, T_F32, "hf", "cvt.rn.f16.f32")->dtype = T_F16;
}

static void add_conversions(void)
{
    static const enum ptx_type all[] = { T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64 };
    static const char *const rounds[] = { "rzi", "rni", "rmi", "rpi" };
    for (u32 d = 0; d < COUNT_OF(all); d++) {
        const char *dn = type_name[all[d]];
        for (u32 s = 0; s < COUNT_OF(all); s++)
            for (u32 wide = 0; wide < 4; wide++) {      /* small types may stand in wider registers */
                if ((wide & 1 && type_size[all[d]] > 2) || (wide & 2 && type_size[all[s]] > 2)) continue;
                char sig[3] = { wide & 1 ? 'r' : file_of(all[d]), wide & 2 ? 'r' : file_of(all[s]), 0 };
                add_op(OP_CVT, all[s], sig, "cvt.%s.%s", dn, type_name[all[s]])->dtype = (u8)all[d];
            }
        for (u32 f = 0; f < 2; f++) {
            enum ptx_type ft = f ? T_F64 : T_F32;
            char back[3] = { file_of(ft), file_of(all[d]), 0 }, sig[3] = { file_of(all[d]), file_of(ft), 0 };
            add_op(OP_CVT, all[d], back, "cvt.rn.%s.%s", type_name[ft], dn)->dtype = (u8)ft;
            for (u32 r = 0; r < 4; r++)
                for (u32 z = 0; z < 2u - f; z++) {
                    struct op *o = add_op((enum op_code)(OP_TRUNC + r), ft, sig, "cvt.%s%s.%s.%s", rounds[r], z ? ".ftz" : "", dn, type_name[ft]);
                    o->dtype = (u8)all[d]; o->mods = z ? OPM_FTZ : 0;
                }
        }
    }
    add_op(OP_CVT, T_F32, "gf", "cvt.f64.f32")->dtype = T_F64;
    add_op(OP_CVT, T_F64, "fg", "cvt.rn.f32.f64")->dtype = T_F32;
    struct op *o = add_op(OP_CVT, T_F64, "fg", "cvt.rn.ftz.f32.f64"); o->dtype = T_F32; o->mods = OPM_FTZ;
    o = add_op(OP_CVT, T_F32, "gf", "cvt.ftz.f64.f32"); o->dtype = T_F64; o->mods = OPM_FTZ;
    add_op(OP_CVT, T_F32, "ff", "cvt.sat.f32.f32")->mods = OPM_SAT;
    add_op(OP_CVT, T_F32, "ff", "cvt.ftz.sat.f32.f32")->mods = OPM_SAT | OPM_FTZ;
    for (u32 r = 0; r < 4; r++) {
        add_op((enum op_code)(OP_TRUNC + r), T_F32, "ff", "cvt.%s.f32.f32", rounds[r]);
        add_op((enum op_code)(OP_TRUNC + r), T_F32, "ff", "cvt.%s.ftz.f32.f32", rounds[r])->mods = OPM_FTZ;
        add_op((enum op_code)(OP_TRUNC + r), T_F64, "gg", "cvt.%s.f64.f64", rounds[r]);
    }
}

static void add_comparisons(void)
{
    static const char *const cmps[] = { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };
    static const char *const bools[] = { "", ".and", ".or", ".xor" };
    static const enum ptx_type types[] = { T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_B16, T_B32, T_B64, T_F32, T_F64 };
    for (u32 k = 0; k < COUNT_OF(types); k++) {
        enum ptx_type t = types[k];
        bool fl = type_is_float(t), bits = t == T_B16 || t == T_B32 || t == T_B64;
        for (u32 c = 0; c < (fl ? 14u : bits ? 2u : 6u); c++)
            for (u32 b = 0; b < 4; b++)
                for (u32 z = 0; z < (t == T_F32 ? 4u : 2u); z++) {
                    struct op *o = add_op(OP_SETP, t, b ? "pTTp" : "pTT", "setp.%s%s%s.%s", cmps[c], bools[b], z & 2 ? ".ftz" : "", type_name[t]);
                    o->cmp = (u8)c; o->bool_op = (u8)b; o->mods = z & 2 ? OPM_FTZ : 0; o->pair = z & 1;
                }
    }
}

static void add_ops(void)
{
    if (gen_op_count) return;
    add_integer_ops();
    add_float_ops();
    add_conversions();
    add_comparisons();
    static const enum ptx_type moves[] = { T_U16, T_S16, T_B16, T_U32, T_S32, T_B32, T_U64, T_S64, T_B64, T_F32, T_F64 };
    for (u32 k = 0; k < COUNT_OF(moves); k++) {
        add_op(OP_MOV, moves[k], "TT", "mov.%s", type_name[moves[k]]);
        add_op(OP_SELP, moves[k], "TTTp", "selp.%s", type_name[moves[k]]);
    }
    add_op(OP_MOV, T_B32, "rf", "mov.b32"); add_op(OP_MOV, T_B32, "fr", "mov.b32"); add_op(OP_MOV, T_B64, "gd", "mov.b64");
    static const struct { const char *text; char part, whole; u8 bytes, n; } packs[] = { { "mov.b32", 'h', 'r', 2, 2 }, { "mov.b64", 'r', 'd', 4, 2 }, { "mov.b64", 'h', 'd', 2, 4 } };
    for (u32 k = 0; k < COUNT_OF(packs); k++)
        for (u32 un = 0; un < 2; un++) {
            char sig[6] = { un ? packs[k].part : packs[k].whole, un ? packs[k].whole : packs[k].part, 0 };
            for (u32 j = 1; !un && j < packs[k].n; j++) sig[j + 1] = packs[k].part;
            struct op *o = add_op(un ? OP_UNPACK : OP_PACK, T_B64, sig, "%s", packs[k].text);
            o->cmp = packs[k].bytes; o->bool_op = packs[k].n;
        }
}

/* ---- making programs ---- */

enum tag { TAG_S, TAG_A, TAG_V };                       /* what class the value probably has: a bias, nothing more */
struct pooled { u16 reg; u8 tag; };
enum { POOL_MAX = 64, DEPTH_MAX = 4 };
struct gen {
    struct program *p;
    struct gfunc *f;
    u64 rng;
    struct pooled pool[FILES][POOL_MAX]; u32 npool[FILES];
    u32 budget;                                         /* items left to make */
    bool uniform;                                       /* the whole block comes by here */
    bool kernel;
    u16 out, in, scratch, acc, gtid, total, gtid64, lin, shared, fuel, pfuel, addr, addr32, idx, ptmp, loc, tab;      /* registers that no random item writes */
    u32 self;                                           /* number of the function */
    u32 loop_exit, loop_next, in_loop;
    u32 exit;                                           /* the label at the end */
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
    i->d = d; i->s[0] = a; i->s[1] = b;
    return i;
}

static enum reg_file file_letter(char c) { const char *all = "phrdfg", *at = strchr(all, c); return at ? (enum reg_file)(at - all) : FILE_R; }

static u64 random_imm(struct gen *g, enum reg_file f)
{
    u32 bits = f == FILE_H ? 16 : f == FILE_R || f == FILE_F ? 32 : 64;
    u64 v;
    if (f == FILE_F) {
        static const u32 some[] = { 0, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000000, 0x7f7fffff, 0x40490fdb, 0x4f000000, 0x00800000, 0x3effffff };
        return chance(g, 60) ? some[below(g, COUNT_OF(some))] : (u32)rand_next(&g->rng);
    }
    if (f == FILE_G) {
        static const u64 some[] = { 0, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 1, 0x43e0000000000000, 0x41e0000000000000 };
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

static struct pooled *pick(struct gen *g, enum reg_file f, u32 most)    /* a register of the pool, of a tag up to `most` if there is one */
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
            if (p->tag >= tag || chance(g, 10)) { if (p->tag < tag) p->tag = (u8)tag; return reg(f, p->reg); }
        }
    }
    return reg(f, fresh(g, f));
}
static void dest_done(struct gen *g, struct opr d, u32 tag, bool guarded)
{
    for (u32 k = 0; k < g->npool[d.file]; k++) if (g->pool[d.file][k].reg == d.reg) return;
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
    i->guarded = 1; i->neg = (u8)below(g, 2); i->guard = pick(g, FILE_P, TAG_V)->reg;
}

static void canonical_g(struct gen *g, u16 r)           /* a NaN of f64 has no one right payload */
{
    op3(g, "setp.nan.f64", reg(FILE_P, g->ptmp), reg(FILE_G, r), reg(FILE_G, r));
    struct item *i = op3(g, "selp.f64", reg(FILE_G, r), imm(FILE_G, 0x7ff8000000000000), reg(FILE_G, r));
    i->s[2] = reg(FILE_P, g->ptmp);
}

static void make_arith(struct gen *g)
{
    u32 n = below(g, gen_op_count);
    const struct op *o = &gen_ops[n];
    if (o->code == OP_SETP && chance(g, 80)) { make_arith(g); return; }         /* there are so many of them */
    if (o->code == OP_CVT && !type_is_float((enum ptx_type)o->type) && chance(g, 60)) { make_arith(g); return; }
    u32 tag = 0, most = chance(g, 50) ? TAG_V : chance(g, 50) ? TAG_A : TAG_S;
    struct item t = { .kind = I_OP, .op = (u16)n };
    u32 ns = (u32)strlen(o->sig) - 1, imms = 0;
    for (u32 k = 0; k < ns; k++) {
        if (o->sig[k + 1] == 'i') { t.s[k] = imm(FILE_R, below(g, 256)); continue; }
        bool shift = k == 1 && (o->code == OP_SHL || o->code == OP_SHR);
        bool may = o->type != T_F16 && o->code != OP_CVT && o->code != OP_PACK && o->code != OP_UNPACK && !(o->code >= OP_TRUNC && o->code <= OP_CEIL) && !(o->code == OP_MOV && file_of((enum ptx_type)o->type) != o->sig[k + 1]) && imms + 1 < ns + (ns == 1 && o->code == OP_MOV);
        t.s[k] = source(g, file_letter(o->sig[k + 1]), most, may ? (shift ? 60 : 25) : 0, &tag);
        if (t.s[k].kind == R_IMM) { imms++; if (shift) t.s[k].imm = below(g, 70); }
    }
    u32 nd = 1;
    enum reg_file df = file_letter(o->sig[0]);
    t.d = dest(g, df, tag);
    if (o->code == OP_UNPACK) {
        struct opr *d[4] = { &t.d, &t.d2, &t.more[0], &t.more[1] };
        for (nd = 1; nd < o->bool_op; nd++)
            do { *d[nd] = dest(g, df, tag); } while (d[nd]->reg == d[0]->reg || (nd > 1 && d[nd]->reg == d[1]->reg) || (nd > 2 && d[nd]->reg == d[2]->reg));
    }
    if (o->pair) {
        do { t.d2 = dest(g, FILE_P, tag); } while (t.d2.reg == t.d.reg);
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
    static const char *const ops[] = { "add.s32", "sub.s32", "mul.lo.s32", "mul.lo.u32", "mad.lo.s32", "shl.b32", "and.b32", "shr.u32", "shr.s32", "mul.wide.s32", "mul.wide.u32",
        "mad.wide.s32", "mad.wide.u32", "cvt.s64.s32", "cvt.u64.u32", "cvt.u32.u64", "cvt.s32.s64", "add.s64", "mul.lo.s64", "shl.b64", "selp.b32", "selp.b64", "mov.u32", "mov.b64", "sub.s64",
        "shr.u64", "shr.s64", "and.b64", "add.u32", "rem.u32", "div.u32", "min.s32", "sub.u32", "add.u64", "cvt.s64.u32", "cvt.u64.s32", "div.s32", "or.b32", "max.u32" };
    struct item t = { .kind = I_OP, .op = (u16)find_op(ops[below(g, COUNT_OF(ops))]) };
    const struct op *o = &gen_ops[t.op];
    u32 ns = (u32)strlen(o->sig) - 1, tag = 0;
    for (u32 k = 0; k < ns; k++) {
        u32 share = k == 1 ? 65 : k == 0 && ns > 1 ? 8 : o->code == OP_CVT || o->code == OP_MOV ? 0 : 15;
        t.s[k] = source(g, file_letter(o->sig[k + 1]), k == 0 || chance(g, 30) ? TAG_A : TAG_S, share, &tag);
        if (t.s[k].kind != R_IMM || k != 1) continue;
        if (o->code == OP_SHL || o->code == OP_SHR) t.s[k].imm = below(g, chance(g, 80) ? 8 : 70);
        else if (o->code == OP_AND) t.s[k].imm = (1ull << below(g, 20)) - chance(g, 80);
        else if (o->code == OP_MUL_WIDE || o->code == OP_MAD_WIDE || o->code == OP_MUL_LO) { if (chance(g, 70)) t.s[k].imm = 1ull << below(g, 5); }
    }
    if (ns > 1 && t.s[0].kind == R_IMM && t.s[1].kind == R_IMM) t.s[1] = source(g, file_letter(o->sig[2]), TAG_A, 0, &tag);
    t.d = dest(g, file_letter(o->sig[0]), tag);
    struct item *i = put_item(g, I_OP);
    *i = t;
    maybe_guard(g, i, &t.d, 1);
    dest_done(g, t.d, tag, i->guarded);
}

/* ---- memory ---- */

static struct item *put_access(struct gen *g, enum item_kind kind, enum gen_space space, enum ptx_type t, struct opr addr, s32 at)
{
    struct item *i = put_item(g, kind);
    i->space = (u8)space; i->type = (u8)t; i->s[0] = addr; i->at = at; i->vec = 1;
    return i;
}

static enum ptx_type memory_type(struct gen *g, bool load, enum reg_file *f)
{
    static const struct { enum ptx_type t; enum reg_file f; } some[] = { { T_U32, FILE_R }, { T_S32, FILE_R }, { T_B32, FILE_R }, { T_F32, FILE_F }, { T_U64, FILE_D }, { T_F64, FILE_G }, { T_U16, FILE_H },
        { T_S16, FILE_H }, { T_U8, FILE_H }, { T_S8, FILE_H }, { T_U8, FILE_R }, { T_S8, FILE_R }, { T_S16, FILE_R }, { T_U16, FILE_R }, { T_S32, FILE_D }, { T_U32, FILE_D }, { T_U32, FILE_R }, { T_F32, FILE_F } };
    u32 k = below(g, COUNT_OF(some));
    if (!load && some[k].t == T_F64) k = 0;
    *f = some[k].f;
    return some[k].t;
}

static void load_into(struct gen *g, enum gen_space space, enum ptx_type t, enum reg_file f, struct opr addr, s32 at, u32 vec, u32 tag)
{
    struct opr d[4] = { 0 };
    for (u32 k = 0; k < vec; k++) {
        bool again;
        do { d[k] = dest(g, f, tag); again = false; for (u32 j = 0; j < k; j++) again |= d[j].reg == d[k].reg; } while (again);
    }
    struct item *i = put_access(g, I_LD, space, t, addr, at);
    i->vec = (u8)vec;
    i->d = d[0]; if (vec > 1) i->d2 = d[1];
    if (vec > 2) { i->more[0] = d[2]; i->more[1] = d[3]; }
    maybe_guard(g, i, d, vec);
    bool guarded = i->guarded;
    for (u32 k = 0; k < vec; k++) dest_done(g, d[k], tag, guarded);
    if (f == FILE_G) canonical_g(g, d[0].reg);
}

static u32 vector_of(struct gen *g, enum ptx_type t) { return chance(g, 70) ? 1 : type_size[t] == 8 || chance(g, 50) ? 2 : 4; }

/* The read-only buffer: at an address that is scalar, affine or any. */
static void make_load(struct gen *g)
{
    enum reg_file f;
    enum ptx_type t = memory_type(g, true, &f);
    u32 vec = f == FILE_G ? 1 : vector_of(g, t), size = type_size[t] * vec, tag = below(g, 3), own = 0;
    struct opr a = reg(FILE_D, g->addr), i = reg(FILE_R, g->idx);
    if (tag == TAG_S && chance(g, 50)) { load_into(g, M_GLOBAL, t, f, reg(FILE_D, g->in), (s32)(below(g, 64) * size), vec, TAG_S); return; }
    struct opr x = tag == TAG_A && chance(g, 60) ? reg(FILE_R, g->lin) : source(g, FILE_R, tag, 0, &own);
    op3(g, "and.b32", i, x, imm(FILE_R, (u64)(IN_BYTES / size / 2 - 1)));
    if (chance(g, 40)) {
        struct item *m = op3(g, "mad.wide.u32", a, i, imm(FILE_R, size));
        m->s[2] = reg(FILE_D, g->in);
    } else {
        op3(g, "mul.wide.u32", a, i, imm(FILE_R, size));
        op3(g, "add.s64", a, reg(FILE_D, g->in), a);
    }
    load_into(g, chance(g, 80) ? M_GLOBAL : M_GENERIC, t, f, a, (s32)(below(g, 64) * size), vec, MAX_OF(own, tag));
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
    if (where == 0) {           /* [thread][word] */
        op3(g, "mul.lo.s64", a, reg(FILE_D, g->gtid64), imm(FILE_D, SCRATCH_WORDS * 8));
        op3(g, "add.s64", a, reg(FILE_D, g->scratch), a);
        vec = vector_of(g, t);
        at = (s32)(word * 8) & ~(s32)(type_size[t] * vec - 1);
    } else if (where == 1) {    /* [word][thread] behind it, 8 bytes each */
        bool dense = chance(g, 50);     /* slots of 4 bytes, so that lanes touch each other; behind those of 8 */
        if (dense) { t = T_U32; f = FILE_R; v = source(g, f, TAG_V, 0, &tag); }
        op3(g, "mul.lo.s64", a, reg(FILE_D, g->total), imm(FILE_D, (SCRATCH_WORDS * (1 + dense) + word) * 8));
        struct item *m = op3(g, "mad.wide.u32", a, reg(FILE_R, g->gtid), imm(FILE_R, dense ? 4 : 8));
        m->s[2] = a;
        op3(g, "add.s64", a, a, reg(FILE_D, g->scratch));
    } else if (where == 2) {    /* shared: 4 bytes each at [word][thread], words 0..3 */
        if (type_size[t] > 4) { t = T_B32; f = FILE_R; v = source(g, f, TAG_V, 0, &tag); }
        a = reg(FILE_R, g->addr32);
        op3(g, "shl.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 2));
        op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
        at = (s32)(word % 4) * 256 * 4;
    } else if (chance(g, 50)) { a = imm(FILE_D, below(g, LOCAL_BYTES / 8) * 8); }
    else {
        struct opr x = source(g, FILE_R, TAG_V, 0, &tag), i = reg(FILE_R, g->idx);
        op3(g, "and.b32", i, x, imm(FILE_R, LOCAL_BYTES / 8 - 1));
        struct item *m = op3(g, "mad.wide.u32", a, i, imm(FILE_R, 8));
        m->s[2] = reg(FILE_D, g->loc);
    }
    if (!chance(g, 25)) {
        struct opr d[4] = { v };
        for (u32 k = 1; k < vec; k++) d[k] = source(g, f, TAG_V, 0, &tag);
        struct item *i = put_access(g, I_ST, sp, t, a, at);
        i->vec = (u8)vec; i->d = d[0]; i->d2 = d[1]; i->more[0] = d[2]; i->more[1] = d[3];
        maybe_guard(g, i, NULL, 0);
    }
    if (chance(g, 70)) load_into(g, sp, t, f, a, at, vec, TAG_V);
}

static void make_const_load(struct gen *g)
{
    u32 tag = 0;
    struct opr a;
    if (chance(g, 40)) a = imm(FILE_D, below(g, CONST_WORDS) * 4);
    else {
        op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, CONST_WORDS - 1));
        struct item *m = op3(g, "mad.wide.u32", reg(FILE_D, g->addr), reg(FILE_R, g->idx), imm(FILE_R, 4));
        m->s[2] = reg(FILE_D, g->tab);
        a = reg(FILE_D, g->addr);
    }
    load_into(g, M_CONST, chance(g, 50) ? T_U32 : T_S32, FILE_R, a, 0, 1, tag);
}

/* Sums that everybody adds to, one kind of operation a word; or an atomic on a slot of one's own, whose old value is known. */
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
        i->op = sums[k]; i->red = 1;
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
    struct item *i = put_access(g, I_ATOM, M_GLOBAL, wide ? (sg ? T_S64 : T_U64) : sg ? T_S32 : T_U32, a, (s32)below(g, SCRATCH_WORDS) * 8);
    i->op = (u16)k; i->d = d; i->s[1] = b;
    if (k == A_CAS) i->s[2] = c;
    maybe_guard(g, i, &d, 1);
    dest_done(g, d, TAG_V, i->guarded);
}

/* ---- where threads meet ---- */

static void meet(struct gen *g)
{
    struct item *i = put_item(g, I_BAR);
    i->op = B_SYNC;
}

static void make_exchange(struct gen *g)                /* through shared memory, words 4..7 */
{
    u32 tag = 0;
    struct opr a = reg(FILE_R, g->addr32), v = source(g, FILE_R, TAG_V, 0, &tag);
    s32 at = (s32)(4 + below(g, 4)) * 256 * 4;
    meet(g);
    op3(g, "shl.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 2));
    op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
    struct item *i = put_access(g, I_ST, M_SHARED, T_U32, a, at);
    i->d = v;
    meet(g);
    for (u32 n = 1 + below(g, 3); n; n--) {
        u32 how = below(g, 3);
        struct opr x = how == 0 ? imm(FILE_R, below(g, 256)) : source(g, FILE_R, how, 0, &tag);
        if (how == 1) {          /* the neighbour's */
            op3(g, "xor.b32", a, reg(FILE_R, g->lin), imm(FILE_R, 1 + below(g, 7)));
            if (chance(g, 50)) op3(g, "add.u32", a, reg(FILE_R, g->lin), imm(FILE_R, below(g, 40)));
            op3(g, "and.b32", a, a, imm(FILE_R, 255));
        } else op3(g, "and.b32", a, x, imm(FILE_R, 255));
        op3(g, "shl.b32", a, a, imm(FILE_R, 2));
        op3(g, "add.u32", a, a, reg(FILE_R, g->shared));
        enum reg_file f = chance(g, 70) ? FILE_R : FILE_F;
        load_into(g, M_SHARED, f == FILE_R ? T_U32 : T_F32, f, a, at, 1, how);
    }
}

static u32 new_label(struct gen *g) { return g->f->nlabel++; }
static void label(struct gen *g, u32 l) { put_item(g, I_LABEL)->label = l; }
static void branch(struct gen *g, u32 l, u16 p, bool neg) { struct item *i = put_item(g, I_BRA); i->label = l; i->guarded = 1; i->guard = p; i->neg = neg; }
static void jump(struct gen *g, u32 l) { put_item(g, I_BRA)->label = l; }

static void make_warp(struct gen *g)
{
    static const u32 masks[] = { 0xffffffff, 0xffffffff, 0xffffffff, 0xffff, 0xffff0000, 0x55555555, 1, 0x80000000, 0x0ff0 };
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
    } else if (halves) {        /* two masks in one instruction, as tiles of 16 have */
        m = reg(FILE_R, g->idx);
        op3(g, "setp.lt.u32", reg(FILE_P, p), sreg(G_LANEID), imm(FILE_R, 16));
        struct item *i = op3(g, "selp.b32", m, imm(FILE_R, 0xffff), imm(FILE_R, 0xffff0000));
        i->s[2] = reg(FILE_P, p);
    }
    bool pred = kind >= W_ALL && kind <= W_BALLOT, wide = (kind == W_MATCH_ANY || kind == W_MATCH_ALL) && chance(g, 30), f32s = kind <= W_SHFL_IDX && chance(g, 20);
    struct item t = { .kind = I_WARP, .op = (u16)kind, .type = wide ? T_B64 : T_B32 };
    t.s[3] = m;
    if (kind != W_SYNC) {
        enum reg_file sf = pred ? FILE_P : wide ? FILE_D : f32s ? FILE_F : FILE_R, df = kind >= W_ALL && kind <= W_UNI ? FILE_P : f32s ? FILE_F : FILE_R;
        t.s[0] = source(g, sf, below(g, 3), 0, &tag);
        t.d = reg(df, pick(g, df, TAG_V)->reg);
        if (kind <= W_SHFL_IDX) {
            t.s[1] = chance(g, 70) ? imm(FILE_R, below(g, 32)) : source(g, FILE_R, below(g, 3), 0, &tag);
            static const u32 clamps[] = { 31, 0, 0x181f, 0x1f, 0x100f, 0x1c07, 0x1800 };
            t.s[2] = imm(FILE_R, kind == W_SHFL_UP ? (chance(g, 50) ? 0 : 0x1800) : clamps[below(g, COUNT_OF(clamps))]);
        }
        if ((kind <= W_SHFL_IDX || kind == W_MATCH_ALL) && chance(g, 40)) t.d2 = reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    }
    *put_item(g, I_WARP) = t;
    label(g, end);
}

static void make_barrier(struct gen *g)
{
    struct item t = { .kind = I_BAR, .op = (u16)below(g, 4) };
    if (t.op != B_SYNC) {
        t.s[0] = reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
        t.d = t.op == B_POPC ? reg(FILE_R, pick(g, FILE_R, TAG_V)->reg) : reg(FILE_P, pick(g, FILE_P, TAG_V)->reg);
    }
    *put_item(g, I_BAR) = t;
}

/* ---- control ---- */

static void make_block(struct gen *g, u32 items);

struct scope { u32 n[FILES]; bool uniform; u32 loop_exit, loop_next, in_loop, depth; };
static struct scope enter(struct gen *g)
{
    struct scope s = { .uniform = g->uniform, .loop_exit = g->loop_exit, .loop_next = g->loop_next, .in_loop = g->in_loop, .depth = g->depth };
    memcpy(s.n, g->npool, sizeof s.n);
    g->depth++;
    return s;
}
static void leave(struct gen *g, struct scope s)
{
    memcpy(g->npool, s.n, sizeof s.n);
    g->uniform = s.uniform; g->loop_exit = s.loop_exit; g->loop_next = s.loop_next; g->in_loop = s.in_loop; g->depth = s.depth;
}

/* A predicate to branch on: one of the pool, or a comparison made for it. Uniform: of parameters alone. */
static u16 condition(struct gen *g, bool uniform)
{
    u32 tag = 0;
    if (!uniform && chance(g, 40)) return pick(g, FILE_P, TAG_V)->reg;
    u16 p = fresh(g, FILE_P);
    static const char *const cmps[] = { "setp.lt.s32", "setp.ge.u32", "setp.eq.s32", "setp.ne.u32", "setp.gt.s32", "setp.le.u32" };
    const char *c = cmps[below(g, COUNT_OF(cmps))];
    if (uniform) op3(g, c, reg(FILE_P, p), chance(g, 50) ? sreg(G_CTAID_X) : sreg(G_NTID_X), imm(FILE_R, chance(g, 50) ? 1 : 32));
    else op3(g, c, reg(FILE_P, p), chance(g, 30) ? reg(FILE_R, g->lin) : source(g, FILE_R, below(g, 3), 0, &tag), chance(g, 60) ? imm(FILE_R, below(g, 40)) : source(g, FILE_R, below(g, 3), 0, &tag));
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
    } else label(g, otherwise);
}

static void make_loop(struct gen *g)
{
    u32 tag = 0, kind = below(g, 4), head = new_label(g), next = new_label(g), exit = new_label(g);
    u16 n = fresh(g, FILE_R), i = fresh(g, FILE_R), p = fresh(g, FILE_P);
    bool uniform = kind == 0 && g->uniform, top = chance(g, 50);
    if (kind == 0) op3(g, "mov.u32", reg(FILE_R, n), imm(FILE_R, 1 + below(g, 5)), (struct opr){ 0 });
    else op3(g, "and.b32", reg(FILE_R, n), kind == 1 ? source(g, FILE_R, TAG_S, 0, &tag) : kind == 2 ? reg(FILE_R, g->lin) : source(g, FILE_R, TAG_V, 0, &tag), imm(FILE_R, 3 + 4 * below(g, 2)));
    op3(g, "mov.u32", reg(FILE_R, i), imm(FILE_R, 0), (struct opr){ 0 });
    struct scope s = enter(g);
    label(g, head);
    if (top) { op3(g, "setp.ge.u32", reg(FILE_P, p), reg(FILE_R, i), reg(FILE_R, n)); branch(g, exit, p, false); }
    g->uniform = uniform; g->loop_exit = exit; g->loop_next = next; g->in_loop = 1;
    if (uniform) g->in_loop = 2;        /* nobody may leave alone */
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

static void make_jump_out(struct gen *g)                /* break or continue */
{
    if (g->in_loop != 1) return;
    branch(g, chance(g, 60) ? g->loop_exit : g->loop_next, condition(g, false), chance(g, 50));
}

static void make_switch(struct gen *g)
{
    u32 n = 2 + below(g, 4), tag = 0, end = new_label(g);
    u32 *t = NEW_ARRAY(&g->p->mem, u32, 8), *places = NEW_ARRAY(&g->p->mem, u32, n);
    for (u32 k = 0; k < n; k++) places[k] = new_label(g);
    for (u32 k = 0; k < 8; k++) t[k] = k < n ? places[k] : chance(g, 30) ? end : places[below(g, n)];
    op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, 7));
    struct item *i = put_item(g, I_BRX);
    i->s[0] = reg(FILE_R, g->idx); i->targets = t; i->ntargets = 8;
    for (u32 k = 0; k < n; k++) {
        label(g, places[k]);
        struct scope s = enter(g);
        g->uniform = false;
        make_block(g, 1 + below(g, 4));
        leave(g, s);
        if (chance(g, 70)) jump(g, end);                /* else it falls into the next */
    }
    label(g, end);
}

/* Blocks with branches anywhere; those that go back burn fuel. */
static void make_soup(struct gen *g)
{
    u32 n = 3 + below(g, 5), *at = NEW_ARRAY(&g->p->mem, u32, n + 1);
    op3(g, "mov.u32", reg(FILE_R, g->fuel), imm(FILE_R, 3 + below(g, 12)), (struct opr){ 0 });
    for (u32 k = 0; k <= n; k++) at[k] = new_label(g);
    if (chance(g, 50)) branch(g, at[below(g, n)], condition(g, false), false);
    for (u32 k = 0; k < n; k++) {
        label(g, at[k]);
        struct scope s = enter(g);
        g->uniform = false; g->in_loop = 0;
        g->depth = DEPTH_MAX;                           /* no structure inside */
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
    struct opr a = source(g, FILE_R, TAG_V, 0, &tag), b = source(g, FILE_D, TAG_V, 0, &tag), x = source(g, FILE_F, TAG_V, 0, &tag), d = dest(g, FILE_R, TAG_V);
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
    if (chance(g, 40)) { op3(g, "and.b32", reg(FILE_R, g->idx), source(g, FILE_R, TAG_V, 0, &tag), imm(FILE_R, 3)); n = reg(FILE_R, g->idx); }
    make_call(g, below(g, most), chance(g, 30) ? below(g, most) + 1 : 0, n);
}

/* The last value that passed a test in a loop: a register written once, whose source is written again. */
static void make_last(struct gen *g)
{
    u32 tag = 0, head = new_label(g), skip = new_label(g);
    u16 i = fresh(g, FILE_R), v = fresh(g, FILE_R), kept = fresh(g, FILE_R), found = fresh(g, FILE_R), p = fresh(g, FILE_P);
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
    u16 p = condition(g, false);
    if (chance(g, 50)) { branch(g, g->exit, p, chance(g, 50)); return; }
    struct item *i = put_item(g, I_RET);
    i->guarded = 1; i->guard = p; i->neg = (u8)below(g, 2);
}

static void make_block(struct gen *g, u32 items)
{
    for (u32 n = 0; n < items && g->budget; n++) {
        u32 x = below(g, 1000);
        bool deep = g->depth >= DEPTH_MAX;
        if (x < 330) make_arith(g);
        else if (x < 580) make_affine(g);
        else if (x < 630) { if (g->kernel) make_load(g); else make_arith(g); }
        else if (x < 680) { make_store(g); }
        else if (x < 700) make_const_load(g);
        else if (x < 720) { if (g->kernel) make_atomic(g); }
        else if (x < 770) { if (g->uniform && g->kernel) make_warp(g); else make_jump_out(g); }
        else if (x < 785) { if (g->uniform && g->kernel) make_barrier(g); }
        else if (x < 800) { if (g->uniform && g->kernel) make_exchange(g); }
        else if (x < 815) make_last(g);
        else if (x < 835) { if (!deep) call_some(g); }
        else if (x < 840) { make_exit(g); }
        else if (deep) make_arith(g);
        else if (x < 910) make_if(g);
        else if (x < 960) make_loop(g);
        else if (x < 980) make_switch(g);
        else make_soup(g);
    }
}

/* ---- whole programs ---- */

static void first_values(struct gen *g)
{
    struct opr none = { 0 };
    for (u32 k = 0; k < 6; k++) {
        for (enum reg_file f = FILE_H; f <= FILE_G; f++) {
            if (f != FILE_R && k > 2) continue;
            static const char *const movs[] = { "", "mov.u16", "mov.u32", "mov.u64", "mov.f32", "mov.f64" };
            u16 r = fresh(g, f);
            op3(g, movs[f], reg(f, r), imm(f, random_imm(g, f)), none);
            pool_add(g, f, r, TAG_S);
        }
    }
    for (u32 k = 0; k < 4; k++) {
        u16 p = fresh(g, FILE_P);
        u32 tag = 0;
        op3(g, "setp.lt.s32", reg(FILE_P, p), source(g, FILE_R, below(g, 3), 0, &tag), imm(FILE_R, random_imm(g, FILE_R)));
        pool_add(g, FILE_P, p, k < 2 ? TAG_S : TAG_V);
    }
}

static void symbol(struct gen *g, struct opr d, u32 which)
{
    struct item *i = put_item(g, I_SYMBOL);
    i->op = (u16)which; i->d = d; i->keep = 1;
}

static u16 parameter(struct gen *g, enum reg_file f, u32 n)
{
    u16 r = fresh(g, f);
    struct item *i = put_item(g, I_PARAM);
    i->op = (u16)n; i->d = reg(f, r);
    return r;
}

static void helpers(struct gen *g)
{
    g->fuel = fresh(g, FILE_R); g->pfuel = fresh(g, FILE_P); g->addr = fresh(g, FILE_D); g->addr32 = fresh(g, FILE_R);
    g->idx = fresh(g, FILE_R); g->ptmp = fresh(g, FILE_P);
    g->loc = fresh(g, FILE_D); g->tab = fresh(g, FILE_D);
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
    g->out = parameter(g, FILE_D, 0); g->in = parameter(g, FILE_D, 1); g->scratch = parameter(g, FILE_D, 2); g->acc = parameter(g, FILE_D, 3);
    g->lin = fresh(g, FILE_R); g->gtid = fresh(g, FILE_R); g->total = fresh(g, FILE_D); g->gtid64 = fresh(g, FILE_D); g->shared = fresh(g, FILE_R);
    u16 nt = fresh(g, FILE_R), t = fresh(g, FILE_R);
    struct item *i;
    /* lin = (tid.z * ntid.y + tid.y) * ntid.x + tid.x */
    op3(g, "mov.u32", reg(FILE_R, t), sreg(G_TID_Z), none);
    i = op3(g, "mad.lo.s32", reg(FILE_R, t), reg(FILE_R, t), sreg(G_NTID_Y)); i->s[2] = sreg(G_TID_Y);
    i = op3(g, "mad.lo.s32", reg(FILE_R, g->lin), reg(FILE_R, t), sreg(G_NTID_X)); i->s[2] = sreg(G_TID_X);
    op3(g, "mul.lo.s32", reg(FILE_R, nt), sreg(G_NTID_X), sreg(G_NTID_Y));
    op3(g, "mul.lo.s32", reg(FILE_R, nt), reg(FILE_R, nt), sreg(G_NTID_Z));
    i = op3(g, "mad.lo.s32", reg(FILE_R, g->gtid), reg(FILE_R, nt), sreg(G_CTAID_X)); i->s[2] = reg(FILE_R, g->lin);
    op3(g, "cvt.u64.u32", reg(FILE_D, g->gtid64), reg(FILE_R, g->gtid), none);
    op3(g, "mul.wide.u32", reg(FILE_D, g->total), reg(FILE_R, nt), sreg(G_NCTAID_X));
    symbol(g, reg(FILE_R, g->shared), SYM_SH);
    /* for (t = lin; t < SHARED_SLOTS; t += nt) sh[t] = 0 */
    u32 from = g->f->item.n, head = new_label(g);
    u16 p = fresh(g, FILE_P), a = fresh(g, FILE_R);
    op3(g, "mov.u32", reg(FILE_R, t), reg(FILE_R, g->lin), none);
    label(g, head);
    i = op3(g, "mad.lo.s32", reg(FILE_R, a), reg(FILE_R, t), imm(FILE_R, 4)); i->s[2] = reg(FILE_R, g->shared);
    i = put_access(g, I_ST, M_SHARED, T_U32, reg(FILE_R, a), 0); i->d = imm(FILE_R, 0);
    op3(g, "add.s32", reg(FILE_R, t), reg(FILE_R, t), reg(FILE_R, nt));
    op3(g, "setp.lt.u32", reg(FILE_P, p), reg(FILE_R, t), imm(FILE_R, SHARED_SLOTS));
    branch(g, head, p, false);
    meet(g);
    for (u32 k = from; k < g->f->item.n; k++) g->f->item.p[k].keep = 1;
    pool_add(g, FILE_R, parameter(g, FILE_R, 4), TAG_S); pool_add(g, FILE_R, parameter(g, FILE_R, 5), TAG_S);
    pool_add(g, FILE_D, parameter(g, FILE_D, 6), TAG_S); pool_add(g, FILE_F, parameter(g, FILE_F, 7), TAG_S);
    pool_add(g, FILE_G, parameter(g, FILE_G, 8), TAG_S); pool_add(g, FILE_H, parameter(g, FILE_H, 9), TAG_S);
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
                v = reg(FILE_R, g->idx); t = T_U32;
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
    pool_add(g, FILE_R, r1, TAG_V); pool_add(g, FILE_R, r0, TAG_V); pool_add(g, FILE_D, d0, TAG_V); pool_add(g, FILE_F, f0, TAG_V);
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
    p->mem = mem; p->seed = seed;
    struct gen g = { .p = p, .rng = seed * 0x2545f4914f6cdd1du + 1 };
    p->nfunc = chance(&g, 40) ? 1 + below(&g, GEN_FUNCS) : 0;
    p->thread_major = chance(&g, 50);
    for (u32 k = 0; k < CONST_WORDS; k++) p->tab[k] = (u32)random_imm(&g, FILE_R);
    u64 rng = g.rng;
    for (u32 n = 0; n <= p->nfunc; n++) {
        g = (struct gen){ .p = p, .f = &p->func[n], .rng = rng + n * 77, .kernel = n == p->nfunc, .uniform = n == p->nfunc };
        p->func[n].kernel = g.kernel;
        g.exit = new_label(&g);
        if (!g.kernel) { make_function(&g, n); label(&g, g.exit); continue; }
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

/* ---- printing ---- */

static const char *const prefix[FILES] = { "%p", "%rs", "%r", "%rd", "%f", "%fd" };
static const char *const sreg_names[G_SREGS] = { "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%laneid", "%warpid", "%nctaid.x" };

static void print_opr(struct text *t, struct opr o, bool sg)
{
    if (o.kind == R_REG) { text_add(t, "%s%u", prefix[o.file], o.reg); return; }
    if (o.kind == R_SREG) { text_add(t, "%%special%u", o.reg); return; }
    switch (o.file) {
    case FILE_F: text_add(t, "0f%08X", (u32)o.imm); break;
    case FILE_G: text_add(t, "0d%016llX", (unsigned long long)o.imm); break;
    case FILE_H: if (sg) text_add(t, "%d", (s16)o.imm); else text_add(t, "%u", (u16)o.imm); break;
    case FILE_R: if (sg) text_add(t, "%d", (s32)o.imm); else text_add(t, "%u", (u32)o.imm); break;
    default: if (sg) text_add(t, "%lld", (long long)o.imm); else text_add(t, "0x%llx", (unsigned long long)o.imm);
    }
}

static void print_op(struct text *t, const struct item *i)
{
    const struct op *o = &gen_ops[i->op];
    const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
    bool sg = type_is_signed((enum ptx_type)o->type);
    text_add(t, "%s ", o->text);
    if (o->code == OP_UNPACK) {
        for (u32 k = 0; k < o->bool_op; k++) { text_add(t, k ? ", " : "{"); print_opr(t, *d[k], false); }
        text_add(t, "}, ");
        print_opr(t, i->s[0], false);
        text_add(t, ";");
        return;
    }
    print_opr(t, i->d, false);
    if (o->pair) { text_add(t, "|"); print_opr(t, i->d2, false); }
    u32 ns = (u32)strlen(o->sig) - 1;
    for (u32 k = 0; k < ns; k++) {
        text_add(t, k || o->code != OP_PACK ? ", " : ", {");
        bool amount = k > 0 && (o->code == OP_SHL || o->code == OP_SHR || o->code == OP_BFE || (o->code == OP_BFI && k > 1));
        print_opr(t, i->s[k], sg && !amount);
    }
    text_add(t, o->code == OP_PACK ? "};" : ";");
}

static const char *const spaces[] = { ".global", ".shared", ".local", ".const", "" };

static void print_address(struct text *t, const struct item *i)
{
    if (i->s[0].kind == R_IMM) text_add(t, "[%s+%llu]", i->space == M_LOCAL ? "loc" : "tab", (unsigned long long)i->s[0].imm);
    else { text_add(t, "["); print_opr(t, i->s[0], false); if (i->at) text_add(t, "+%d", i->at); text_add(t, "]"); }
}

static void print_data(struct text *t, const struct item *i)
{
    const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
    if (i->vec == 1) { print_opr(t, i->d, false); return; }
    for (u32 k = 0; k < i->vec; k++) { text_add(t, k ? ", " : "{"); print_opr(t, *d[k], false); }
    text_add(t, "}");
}

static void print_memory(struct text *t, const struct item *i)
{
    static const char *const names[] = { "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max" };
    char vec[4] = "";
    if (i->vec > 1) snprintf(vec, sizeof vec, ".v%u", i->vec & 7u);
    /* local and constant arrays at a computed place go through a pointer made for it */
    if (i->kind == I_ATOM) {
        bool bits = i->op >= A_AND && i->op <= A_CAS;
        text_add(t, "%s%s.%s.%s%u ", i->red ? "red" : "atom", spaces[i->space], names[i->op], bits ? "b" : type_is_signed((enum ptx_type)i->type) ? "s" : "u", type_size[i->type] * 8);
        if (!i->red) { print_opr(t, i->d, false); text_add(t, ", "); }
        print_address(t, i);
        text_add(t, ", ");
        print_opr(t, i->s[1], type_is_signed((enum ptx_type)i->type));
        if (i->op == A_CAS) { text_add(t, ", "); print_opr(t, i->s[2], false); }
    } else if (i->kind == I_LD) {
        text_add(t, "ld%s%s.%s ", spaces[i->space], vec, type_name[i->type]);
        print_data(t, i);
        text_add(t, ", ");
        print_address(t, i);
    } else {
        text_add(t, "st%s%s.%s ", spaces[i->space], vec, type_name[i->type]);
        print_address(t, i);
        text_add(t, ", ");
        print_data(t, i);
    }
    text_add(t, ";");
}

static void print_warp(struct text *t, const struct item *i)
{
    static const char *const names[W_KINDS] = { "shfl.sync.up.b32", "shfl.sync.down.b32", "shfl.sync.bfly.b32", "shfl.sync.idx.b32", "vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred",
        "vote.sync.ballot.b32", "match.any.sync", "match.all.sync", "redux.sync.add.u32", "redux.sync.min.u32", "redux.sync.max.u32", "redux.sync.min.s32", "redux.sync.max.s32", "redux.sync.and.b32",
        "redux.sync.or.b32", "redux.sync.xor.b32", "bar.warp.sync" };
    text_add(t, "%s", names[i->op]);
    if (i->op == W_MATCH_ANY || i->op == W_MATCH_ALL) text_add(t, ".%s", type_name[i->type]);
    text_add(t, " ");
    if (i->op != W_SYNC) {
        print_opr(t, i->d, false);
        if (i->d2.kind) { text_add(t, "|"); print_opr(t, i->d2, false); }
        text_add(t, ", ");
        print_opr(t, i->s[0], false);
        text_add(t, ", ");
    }
    if (i->op <= W_SHFL_IDX) { print_opr(t, i->s[1], false); text_add(t, ", "); print_opr(t, i->s[2], false); text_add(t, ", "); }
    print_opr(t, i->s[3], false);
    text_add(t, ";");
}

static void print_call(struct text *t, const struct item *i, u32 n)
{
    static const char *const types[] = { "b32", "b32", "b64", "b32" };
    text_add(t, "{\n    ");
    for (u32 k = 0; k < 4; k++) text_add(t, ".param .%s a%u; ", types[k], k);
    text_add(t, ".param .b32 ret;\n    ");
    for (u32 k = 0; k < 4; k++) { text_add(t, "st.param.%s [a%u], ", k == 3 ? "f32" : types[k], k); print_opr(t, i->s[k], false); text_add(t, "; "); }
    if (i->other) {
        text_add(t, "\n    .reg .b64 %%c<3>;\n    mov.u64 %%c0, fn%u; mov.u64 %%c1, fn%u; selp.b64 %%c2, %%c0, %%c1, %%p%u;\n", i->label, i->other - 1, i->d2.reg);
        text_add(t, "proto%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _, .param .b32 _);\n    call (ret), %%c2, (a0, a1, a2, a3), proto%u;\n    ", n, n);
    } else text_add(t, "\n    call (ret), fn%u, (a0, a1, a2, a3);\n    ", i->label);
    text_add(t, "ld.param.b32 ");
    print_opr(t, i->d, false);
    text_add(t, ", [ret];\n    }");
}

/* A carry from one instruction to the next, both under the guard; the sum that makes it is nobody's. */
static void print_carry(struct text *t, const struct item *i)
{
    const struct op *o = &gen_ops[i->op];
    const char *type = strchr(o->text, '.') + 1;
    char guard[16] = "";
    bool sg = type_is_signed((enum ptx_type)o->type);
    if (i->guarded) snprintf(guard, sizeof guard, "@%s%%p%u ", i->neg ? "!" : "", i->guard);
    text_add(t, "    { .reg .%s %%sum; %s%s.cc.%s %%sum, ", type, guard, o->code == OP_CARRY ? "add" : "sub", type);
    print_opr(t, i->s[0], sg); text_add(t, ", "); print_opr(t, i->s[1], sg);
    text_add(t, "; %s%s ", guard, o->text);
    print_opr(t, i->d, false); text_add(t, ", "); print_opr(t, i->s[2], sg); text_add(t, ", "); print_opr(t, i->s[2], sg);
    text_add(t, "; }\n");
}

static void print_item(struct text *t, const struct gfunc *f, const struct item *i, u32 n)
{
    static const char *const params[] = { "u64", "u64", "u64", "u64", "u32", "u32", "u64", "f32", "f64", "u16" };
    if (i->kind == I_LABEL) { text_add(t, "L%u:\n", i->label); return; }
    if (i->kind == I_OP && (gen_ops[i->op].code == OP_CARRY || gen_ops[i->op].code == OP_BORROW)) { print_carry(t, i); return; }
    text_add(t, "    ");
    if (i->kind == I_RET && !f->kernel) text_add(t, "st.param.b32 [result], %%r0; ");
    if (i->kind == I_BRX) {
        text_add(t, "T%u: .branchtargets ", n);
        for (u32 k = 0; k < i->ntargets; k++) text_add(t, "%sL%u", k ? ", " : "", i->targets[k]);
        text_add(t, ";\n    ");
    }
    if (i->guarded) text_add(t, "@%s%%p%u ", i->neg ? "!" : "", i->guard);
    switch (i->kind) {
    case I_OP: print_op(t, i); break;
    case I_BRA: text_add(t, "bra L%u;", i->label); break;
    case I_BRX: text_add(t, "brx.idx "); print_opr(t, i->s[0], false); text_add(t, ", T%u;", n); break;
    case I_RET: text_add(t, "ret;"); break;
    case I_WARP: print_warp(t, i); break;
    case I_BAR: {
        static const char *const names[] = { "bar.sync 0", "bar.red.and.pred", "bar.red.or.pred", "bar.red.popc.u32" };
        text_add(t, "%s", names[i->op]);
        if (i->op != B_SYNC) { text_add(t, " "); print_opr(t, i->d, false); text_add(t, ", 0, "); print_opr(t, i->s[0], false); }
        text_add(t, ";");
        break;
    }
    case I_CALL: print_call(t, i, n); break;
    case I_PARAM: text_add(t, "ld.param.%s ", params[i->op]); print_opr(t, i->d, false); text_add(t, ", [k_%u];", i->op); break;
    case I_SYMBOL: text_add(t, i->op == SYM_SH ? "mov.u32 " : "mov.u64 "); print_opr(t, i->d, false); text_add(t, ", %s;", i->op == SYM_SH ? "sh" : i->op == SYM_LOC ? "loc" : "tab"); break;
    default: print_memory(t, i);
    }
    text_add(t, "\n");
}

static void print_body(struct text *t, const struct gfunc *f)
{
    static const char *const types[FILES] = { "pred", "b16", "b32", "b64", "f32", "f64" };
    for (u32 k = 0; k < FILES; k++) if (f->nreg[k]) text_add(t, "    .reg .%s %s<%u>;\n", types[k], prefix[k], f->nreg[k]);
    text_add(t, "    .local .align 16 .b8 loc[%u];\n    .reg .b32 %%special<%u>;\n", LOCAL_BYTES, G_SREGS);
    for (u32 k = 0; k < G_SREGS; k++) text_add(t, "    mov.u32 %%special%u, %s;\n", k, sreg_names[k]);     /* only mov and cvt read special registers */
    if (!f->kernel) text_add(t, "    ld.param.b32 %%r0, [p0];\n    ld.param.b32 %%r1, [p1];\n    ld.param.b64 %%rd0, [p2];\n    ld.param.f32 %%f0, [p3];\n");
    for (u32 k = 0; k < f->item.n; k++) if (!f->item.p[k].off) print_item(t, f, &f->item.p[k], k);
    text_add(t, "%s    ret;\n}\n", f->kernel ? "" : "    st.param.b32 [result], %r0;\n");
}

void gen_print(const struct program *p, struct text *t)
{
    text_add(t, "// made by tests/fuzz/gen_kernel.c from seed %llu\n.version 8.0\n.target sm_90\n.address_size 64\n\n", (unsigned long long)p->seed);
    text_add(t, ".const .align 16 .b32 tab[%u] = {", CONST_WORDS);
    for (u32 k = 0; k < CONST_WORDS; k++) text_add(t, "%s%u", k ? ", " : "", p->tab[k]);
    text_add(t, "};\n.shared .align 16 .b8 sh[%u];\n\n", SHARED_SLOTS * 4);
    for (u32 n = 0; n < p->nfunc; n++) text_add(t, ".func (.param .b32 result) fn%u(.param .b32 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3);\n", n);
    for (u32 n = 0; n < p->nfunc; n++) {
        text_add(t, ".func (.param .b32 result) fn%u(.param .b32 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3)\n{\n", n);
        print_body(t, &p->func[n]);
    }
    text_add(t, ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2, .param .u64 k_3, .param .u32 k_4, .param .u32 k_5, .param .u64 k_6, .param .f32 k_7, .param .f64 k_8, .param .u16 k_9)\n{\n");
    print_body(t, &p->func[p->nfunc]);
}
