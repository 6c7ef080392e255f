/* gen_ops: the opcodes that generated programs are made of, one entry for each spelling that lanes execute by
 * themselves. */
#include "gen_kernel.h"

struct op gen_ops[1600];
u32 gen_op_count;
static u32 half_ops, half_op_count; /* where those of halves begin, and how many there are */

static const enum ptx_type int_types[] = { T_U16, T_S16, T_U32, T_S32, T_U64, T_S64 },
                           bit_types[] = { T_B16, T_B32, T_B64 };
static char file_of(enum ptx_type t)
{
    return t == T_PRED         ? 'p'
           : t == T_F32        ? 'f'
           : t == T_F64        ? 'g'
           : type_size[t] <= 2 ? 'h'
           : type_size[t] == 4 ? 'r'
                               : 'd';
}

static struct op *add_op(enum op_code code, enum ptx_type type, const char *sig, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static struct op *add_op(enum op_code code, enum ptx_type type, const char *sig, const char *fmt, ...)
{
    CHECK(gen_op_count < COUNT_OF(gen_ops));
    struct op *o = &gen_ops[gen_op_count++];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->text, sizeof o->text, fmt, ap);
    va_end(ap);
    o->code = (u8)code;
    o->type = o->dtype = (u8)type;
    for (u32 k = 0; sig[k] && k < sizeof o->sig - 1; k++) o->sig[k] = sig[k] == 'T' ? file_of(type) : sig[k];
    return o;
}

static void add_integer_ops(void)
{
    static const struct {
        const char *name, *sig;
        enum op_code code;
    } two[] = { { "add", "TTT", OP_ADD },       { "sub", "TTT", OP_SUB },        { "mul.lo", "TTT", OP_MUL_LO },
                { "mul.hi", "TTT", OP_MUL_HI }, { "mad.lo", "TTTT", OP_MAD_LO }, { "mad.hi", "TTTT", OP_MAD_HI },
                { "div", "TTT", OP_DIV },       { "rem", "TTT", OP_REM },        { "min", "TTT", OP_MIN },
                { "max", "TTT", OP_MAX } };
    for (u32 k = 0; k < COUNT_OF(int_types); k++) {
        enum ptx_type t = int_types[k];
        const char *n = type_name[t];
        for (u32 j = 0; j < COUNT_OF(two); j++) add_op(two[j].code, t, two[j].sig, "%s.%s", two[j].name, n);
        if (type_size[t] < 8) {
            add_op(OP_MUL_WIDE, t, type_size[t] == 2 ? "rTT" : "dTT", "mul.wide.%s", n);
            add_op(OP_MAD_WIDE, t, type_size[t] == 2 ? "rTTr" : "dTTd", "mad.wide.%s", n);
        }
        if (type_is_signed(t)) {
            add_op(OP_ABS, t, "TT", "abs.%s", n);
            add_op(OP_NEG, t, "TT", "neg.%s", n);
        }
        add_op(OP_SHR, t, "TTr", "shr.%s", n);
        add_op(OP_SAD, t, "TTTT", "sad.%s", n);
        if (type_size[t] < 4) continue;
        add_op(OP_CARRY, t, "TTTT", "addc.%s", n);
        add_op(OP_BORROW, t, "TTTT", "subc.%s", n);
        add_op(OP_BFIND, t, "rT", "bfind.%s", n);
        add_op(OP_BFIND_SHIFT, t, "rT", "bfind.shiftamt.%s", n);
        add_op(OP_BFE, t, "TTrr", "bfe.%s", n);
    }
    add_op(OP_ADD_SAT, T_S32, "TTT", "add.sat.s32");
    add_op(OP_SUB_SAT, T_S32, "TTT", "sub.sat.s32");
    for (u32 k = 0; k < COUNT_OF(bit_types); k++) {
        enum ptx_type t = bit_types[k];
        const char *n = type_name[t];
        add_op(OP_AND, t, "TTT", "and.%s", n);
        add_op(OP_OR, t, "TTT", "or.%s", n);
        add_op(OP_XOR, t, "TTT", "xor.%s", n);
        add_op(OP_NOT, t, "TT", "not.%s", n);
        add_op(OP_SHL, t, "TTr", "shl.%s", n);
        add_op(OP_SHR, t, "TTr", "shr.%s", n);
        if (t == T_B16) continue;
        add_op(OP_POPC, t, "rT", "popc.%s", n);
        add_op(OP_CLZ, t, "rT", "clz.%s", n);
        add_op(OP_BREV, t, "TT", "brev.%s", n);
        add_op(OP_BFI, t, "TTTrr", "bfi.%s", n);
    }
    for (u32 sg = 0; sg < 2; sg++) {
        add_op(OP_MUL24, sg ? T_S32 : T_U32, "TTT", "mul24.lo.%s", sg ? "s32" : "u32");
        add_op(OP_DP4A, sg ? T_S32 : T_U32, "TTTT", "dp4a.%s", sg ? "s32.s32" : "u32.u32");
    }
    add_op(OP_CNOT, T_B32, "TT", "cnot.b32");
    add_op(OP_CNOT, T_B64, "TT", "cnot.b64");
    add_op(OP_LOP3, T_B32, "rrrri", "lop3.b32");
    add_op(OP_PRMT, T_B32, "rrrr", "prmt.b32");
    add_op(OP_SHF_LW, T_B32, "rrrr", "shf.l.wrap.b32");
    add_op(OP_SHF_RW, T_B32, "rrrr", "shf.r.wrap.b32");
    add_op(OP_SHF_LC, T_B32, "rrrr", "shf.l.clamp.b32");
    add_op(OP_SHF_RC, T_B32, "rrrr", "shf.r.clamp.b32");
    add_op(OP_AND, T_PRED, "ppp", "and.pred");
    add_op(OP_OR, T_PRED, "ppp", "or.pred");
    add_op(OP_XOR, T_PRED, "ppp", "xor.pred");
    add_op(OP_NOT, T_PRED, "pp", "not.pred");
    add_op(OP_MOV, T_PRED, "pp", "mov.pred");
}

static void add_float_ops(void)
{
    static const struct {
        const char *name, *sig;
        enum op_code code;
        u8 ftz, sat, wide;
    } rows[] = { { "add", "TTT", OP_ADD, 1, 1, 1 },
                 { "sub", "TTT", OP_SUB, 1, 1, 1 },
                 { "mul", "TTT", OP_FMUL, 1, 1, 1 },
                 { "fma.rn", "TTTT", OP_FMA, 1, 1, 1 },
                 { "div.rn", "TTT", OP_FDIV, 1, 0, 1 },
                 { "div.full", "TTT", OP_DIV_FULL, 1, 0, 0 },
                 { "min", "TTT", OP_MIN, 1, 0, 1 },
                 { "max", "TTT", OP_MAX, 1, 0, 1 },
                 { "abs", "TT", OP_ABS, 1, 0, 1 },
                 { "neg", "TT", OP_NEG, 1, 0, 1 },
                 { "rcp.rn", "TT", OP_RCP, 1, 0, 1 },
                 { "sqrt.rn", "TT", OP_SQRT, 1, 0, 1 },
                 { "rcp.approx", "TT", OP_RCP_APPROX, 1, 0, 0 },
                 { "sqrt.approx", "TT", OP_SQRT_APPROX, 1, 0, 0 },
                 { "rsqrt.approx", "TT", OP_RSQRT, 1, 0, 1 },
                 { "ex2.approx", "TT", OP_EX2, 1, 0, 0 },
                 { "tanh.approx", "TT", OP_TANH, 0, 0, 0 },
                 { "lg2.approx", "TT", OP_LG2, 1, 0, 0 },
                 { "sin.approx", "TT", OP_SIN, 1, 0, 0 },
                 { "cos.approx", "TT", OP_COS, 1, 0, 0 } };
    for (u32 k = 0; k < COUNT_OF(rows); k++) {
        for (u32 m = 0; m < 4; m++) {
            if ((m & 1 && !rows[k].ftz) || (m & 2 && !rows[k].sat)) continue;
            add_op(rows[k].code, T_F32, rows[k].sig, "%s%s%s.f32", rows[k].name, m & 1 ? ".ftz" : "",
                   m & 2 ? ".sat" : "")
                ->mods = (u8)m;
        }
        if (rows[k].wide) add_op(rows[k].code, T_F64, rows[k].sig, "%s.f64", rows[k].name);
    }
    static const struct {
        const char *name, *sig;
        enum op_code code;
    } directed[] = { { "add", "TTT", OP_ADD },  { "sub", "TTT", OP_SUB },  { "mul", "TTT", OP_FMUL },
                     { "fma", "TTTT", OP_FMA }, { "div", "TTT", OP_FDIV }, { "rcp", "TT", OP_RCP },
                     { "sqrt", "TT", OP_SQRT } };
    static const char *const mode[] = { "rz", "rm", "rp" };
    for (u32 k = 0; k < COUNT_OF(directed); k++)
        for (u32 m = 0; m < 3; m++)
            for (u32 wide = 0; wide < 2; wide++)
                add_op(directed[k].code, wide ? T_F64 : T_F32, directed[k].sig, "%s.%s.%s", directed[k].name, mode[m],
                       wide ? "f64" : "f32")
                    ->mods = (u8)(OPM_RZ << m);
}

/* f16, bf16 and pairs of them, which lie in registers of 16 and 32 bits. Not abs and neg: ptxas takes two of them
 * away, NaNs and all. */
static void add_half_ops(void)
{
    static const struct {
        const char *name, *sig;
        enum op_code code;
    } rows[] = { { "add", "TTT", OP_ADD },        { "sub", "TTT", OP_SUB }, { "mul", "TTT", OP_FMUL },
                 { "fma.rn", "TTTT", OP_FMA },    { "min", "TTT", OP_MIN }, { "max", "TTT", OP_MAX },
                 { "tanh.approx", "TT", OP_TANH } };
    static const enum ptx_type types[] = { T_F16, T_F16X2, T_BF16, T_BF16X2 };
    for (u32 k = 0; k < COUNT_OF(types); k++) {
        enum ptx_type t = types[k];
        const char *n = type_name[t];
        for (u32 j = 0; j < COUNT_OF(rows); j++) add_op(rows[j].code, t, rows[j].sig, "%s.%s", rows[j].name, n);
        add_op(OP_EX2, t, "TT", "ex2.approx%s.%s", k < 2 ? "" : ".ftz", n);
        add_op(OP_FMA, t, "TTTT", "fma.rn.relu.%s", n)->mods = OPM_RELU;
        for (u32 j = 0; j < 4 && k < 2; j++)
            add_op(rows[j].code, t, rows[j].sig, "%s.sat.%s", rows[j].name, n)->mods = OPM_SAT;
    }
    for (u32 b = 0; b < 2; b++) {
        const char *n = b ? "bf16" : "f16";
        add_op(OP_CVT, b ? T_BF16 : T_F16, "fh", "cvt.f32.%s", n)->dtype = T_F32;
        for (u32 relu = 0; relu < 2; relu++) {
            struct op *o = add_op(OP_CVT, T_F32, "hf", "cvt.rn%s.%s.f32", relu ? ".relu" : "", n),
                      *two = add_op(OP_CVT, T_F32, "rff", "cvt.rn%s.%sx2.f32", relu ? ".relu" : "", n);
            o->dtype = b ? T_BF16 : T_F16;
            two->dtype = b ? T_BF16X2 : T_F16X2;
            o->mods = two->mods = relu ? OPM_RELU : 0;
        }
    }
}

static void add_conversions(void)
{
    static const enum ptx_type all[] = { T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64 };
    static const char *const rounds[] = { "rzi", "rni", "rmi", "rpi" };
    for (u32 d = 0; d < COUNT_OF(all); d++) {
        const char *dn = type_name[all[d]];
        for (u32 s = 0; s < COUNT_OF(all); s++)
            for (u32 wide = 0; wide < 4; wide++) { /* small types may stand in wider registers */
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
                    struct op *o = add_op((enum op_code)(OP_TRUNC + r), ft, sig, "cvt.%s%s.%s.%s", rounds[r],
                                          z ? ".ftz" : "", dn, type_name[ft]);
                    o->dtype = (u8)all[d];
                    o->mods = z ? OPM_FTZ : 0;
                }
        }
    }
    add_op(OP_CVT, T_F32, "gf", "cvt.f64.f32")->dtype = T_F64;
    add_op(OP_CVT, T_F64, "fg", "cvt.rn.f32.f64")->dtype = T_F32;
    struct op *o = add_op(OP_CVT, T_F64, "fg", "cvt.rn.ftz.f32.f64");
    o->dtype = T_F32;
    o->mods = OPM_FTZ;
    o = add_op(OP_CVT, T_F32, "gf", "cvt.ftz.f64.f32");
    o->dtype = T_F64;
    o->mods = OPM_FTZ;
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
    static const char *const cmps[] = { "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };
    static const char *const bools[] = { "", ".and", ".or", ".xor" };
    static const enum ptx_type types[] = {
        T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_B16, T_B32, T_B64, T_F32, T_F64
    };
    for (u32 k = 0; k < COUNT_OF(types); k++) {
        enum ptx_type t = types[k];
        bool fl = type_is_float(t), bits = t == T_B16 || t == T_B32 || t == T_B64;
        for (u32 c = 0; c < (fl ? 14u : bits ? 2u : 6u); c++)
            for (u32 b = 0; b < 4; b++)
                for (u32 z = 0; z < (t == T_F32 ? 4u : 2u); z++) {
                    struct op *o = add_op(OP_SETP, t, b ? "pTTp" : "pTT", "setp.%s%s%s.%s", cmps[c], bools[b],
                                          z & 2 ? ".ftz" : "", type_name[t]);
                    o->cmp = (u8)c;
                    o->bool_op = (u8)b;
                    o->mods = z & 2 ? OPM_FTZ : 0;
                    o->pair = z & 1;
                }
    }
}

static void add_ops(void)
{
    if (gen_op_count) return;
    add_integer_ops();
    add_float_ops();
    half_ops = gen_op_count;
    add_half_ops();
    half_op_count = gen_op_count - half_ops;
    add_conversions();
    add_comparisons();
    static const enum ptx_type moves[] = {
        T_U16, T_S16, T_B16, T_U32, T_S32, T_B32, T_U64, T_S64, T_B64, T_F32, T_F64
    };
    for (u32 k = 0; k < COUNT_OF(moves); k++) {
        add_op(OP_MOV, moves[k], "TT", "mov.%s", type_name[moves[k]]);
        add_op(OP_SELP, moves[k], "TTTp", "selp.%s", type_name[moves[k]]);
    }
    add_op(OP_MOV, T_B32, "rf", "mov.b32");
    add_op(OP_MOV, T_B32, "fr", "mov.b32");
    add_op(OP_MOV, T_B64, "gd", "mov.b64");
    static const struct {
        const char *text;
        char part, whole;
        u8 bytes, n;
    } packs[] = { { "mov.b32", 'h', 'r', 2, 2 }, { "mov.b64", 'r', 'd', 4, 2 }, { "mov.b64", 'h', 'd', 2, 4 } };
    for (u32 k = 0; k < COUNT_OF(packs); k++)
        for (u32 un = 0; un < 2; un++) {
            char sig[6] = { un ? packs[k].part : packs[k].whole, un ? packs[k].whole : packs[k].part, 0 };
            for (u32 j = 1; !un && j < packs[k].n; j++) sig[j + 1] = packs[k].part;
            struct op *o = add_op(un ? OP_UNPACK : OP_PACK, T_B64, sig, "%s", packs[k].text);
            o->cmp = packs[k].bytes;
            o->bool_op = packs[k].n;
        }
}
