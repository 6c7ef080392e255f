/* The table of forms, made from isa.def, and the search for the form of an opcode.
 *
 * Matching walks the row's syntax and the opcode's text side by side; rows of another first word are passed over
 * without a look. The front end asks once per distinct opcode of a module. */
#include <stdio.h>
#include "isa/isa.h"
#include "isa/expand.h"

#define TY(t) TY_##t
enum { /* type names as they stand in expand.h -> enum ptx_type */
       TY_u8 = T_U8,
       TY_s8 = T_S8,
       TY_b8 = T_B8,
       TY_u16 = T_U16,
       TY_s16 = T_S16,
       TY_b16 = T_B16,
       TY_u32 = T_U32,
       TY_s32 = T_S32,
       TY_b32 = T_B32,
       TY_u64 = T_U64,
       TY_s64 = T_S64,
       TY_b64 = T_B64,
       TY_f32 = T_F32,
       TY_f64 = T_F64,
       TY_raw16 = T_F16,
       TY_raw32 = T_F32,
       TY_raw64 = T_F64,
       TY_f16 = T_F16,
       TY_bf16 = T_BF16,
       TY_f16x2 = T_F16X2,
       TY_bf16x2 = T_BF16X2,
       TY_f32x2 = T_F32X2,
       TY_u16x2 = T_U16X2,
       TY_s16x2 = T_S16X2,
       TY_tf32 = T_TF32,
       TY_e4m3x2 = T_E4M3X2,
       TY_e5m2x2 = T_E5M2X2,
       TY_e2m3x2 = T_E2M3X2,
       TY_e3m2x2 = T_E3M2X2,
       TY_e2m1x2 = T_E2M1X2,
       TY_ue8m0x2 = T_UE8M0X2,
       WIDE_u16 = T_U32,
       WIDE_s16 = T_S32,
       WIDE_u32 = T_U64,
       WIDE_s32 = T_S64
};

/* What a row says of all its forms, through the macros as one argument. */
#define SYN(in, pv, sh, syntax, value) ROW_SAYS(in, pv, SHAPE_##sh, REL_none, 0, N_COUNT, syntax, value)
#define ROW_SAYS(in, pv, sh, rel, flags, partner, syntax, value) \
    (syntax, value, "", INIT_##in, PROV_##pv, sh, rel, flags, partner)
#define UNPACK(...) __VA_ARGS__
/* A form: its operands d a b c e, as many as it has. */
#define FORM(id, syn, kind, low, t, d, m, n, ...) FORM_EDGES(id, syn, kind, low, t, d, m, 0, n, __VA_ARGS__)
#define FORM_EDGES(id, syn, kind, low, t, d, m, edges, n, ...)   \
    { #id,     UNPACK syn,                                       \
      N_##id,  kind,                                             \
      FAMILY,  t,                                                \
      d,       low,                                              \
      n,       { __VA_ARGS__ },                                  \
      m,       (edges) | (FAMILY == FAM_round ? EDGE_ROUND : 0), \
      __LINE__ },
/* What the loops do to operands and results of a type around the value: only f32, and f64 that saturates. raw32 are the
 * bits of an f32, which the words of the value treat themselves. */
enum { IN_f32 = EDGE_FTZ_IN, OUT_f32 = EDGE_FTZ_OUT | EDGE_SAT | EDGE_RELU | EDGE_NAN, IN_f64 = 0, OUT_f64 = EDGE_SAT };
#define X(ty) IN_##ty = 0, OUT_##ty = 0,
/* clang-format off */
enum {
    X(u8) X(s8) X(b8) X(u16) X(s16) X(b16) X(u32) X(s32) X(b32) X(u64) X(s64) X(b64) X(raw32) X(raw64)
    X(f16) X(bf16) X(f16x2) X(bf16x2) X(f32x2) X(u16x2) X(s16x2) X(tf32)
    X(e4m3x2) X(e5m2x2) X(e2m3x2) X(e3m2x2) X(e2m1x2) X(ue8m0x2)
};
/* clang-format on */
#undef X
#define F_1(id, syntax, t, m, e) FORM_EDGES(id, syntax, K_LANE, LOWER_plain, t, t, m, e, 1, t, t)
#define F_2(id, syntax, t, m, e) FORM_EDGES(id, syntax, K_LANE, LOWER_plain, t, t, m, e, 2, t, t, t)
#define F_3(id, syntax, t, m, e) FORM_EDGES(id, syntax, K_LANE, LOWER_plain, t, t, m, e, 3, t, t, t, t)
#define F_MOVE(ty, id, syntax) FORM(id, syntax, K_LANE, LOWER_##id, TY(ty), TY(ty), 0, 1, TY(ty), TY(ty))
#define F_LANE(ty, id, syntax, n) F_##n(id, syntax, TY(ty), 0, 0)
#define F_HEAVY(ty, id, syntax, n) F_##n(id, syntax, TY(ty), MODS_ANY, IN_##ty | OUT_##ty)
#define F_LANE4(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), TY(ty), 0, 4, TY(ty), TY(ty), TY(ty), T_U32, T_U32)
#define F_SHIFT(ty, id, syntax) FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), TY(ty), 0, 2, TY(ty), TY(ty), T_U32)
#define F_FIELD(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), TY(ty), 0, 3, TY(ty), TY(ty), T_U32, T_U32)
#define F_FLOAT_f32(id, syntax, n)                                                                \
    F_##n(id, syntax, T_F32, 0, EDGE_NAN) F_##n(id, syntax, T_F32, MOD_FTZ, FTZ_EDGES | EDGE_NAN) \
        F_##n(id, syntax, T_F32, MOD_SAT, EDGE_SAT | EDGE_NAN)                                    \
            F_##n(id, syntax, T_F32, MOD_FTZ | MOD_SAT, FTZ_EDGES | EDGE_SAT | EDGE_NAN)
#define F_FLOAT_f64(id, syntax, n) F_##n(id, syntax, T_F64, 0, 0)
#define FTZ_EDGES (EDGE_FTZ_IN | EDGE_FTZ_OUT)
#define F_FLOAT(ty, id, syntax, n) F_FLOAT_##ty(id, syntax, n)
#define F_COUNT_(ty, id, syntax) FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), T_U32, 0, 1, T_U32, TY(ty))
#define F_WIDE2(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), WIDE_##ty, 0, 2, WIDE_##ty, TY(ty), TY(ty))
#define F_WIDE3(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), WIDE_##ty, 0, 3, WIDE_##ty, TY(ty), TY(ty), WIDE_##ty)
/* a comparison: setp is the form that runs, set is lowered to it and a selection */
#define SETP_OPS "{.and|.or|.xor}"
#define F_SET(ty, id, syntax) FORM(id, syntax, K_LANE, LOWER_set, TY(ty), TY(ty), MODS_ANY, 2, T_NONE, TY(ty), TY(ty))
#define F_CMP(ty, id, syntax, m)                                                                                   \
    FORM_EDGES(id, syntax, K_CMP, LOWER_setp, TY(ty), TY(ty), m, (m)&MOD_FTZ ? EDGE_FTZ_IN : 0, 2, T_PRED, TY(ty), \
               TY(ty))
#define F_FCMP_f32(id, syntax) F_CMP(f32, id, syntax, 0) F_CMP(f32, id, syntax, MOD_FTZ)
#define F_FCMP_f16(id, syntax) F_CMP(f16, id, syntax, 0) F_CMP(f16, id, syntax, MOD_FTZ)
#define F_FCMP_f64(id, syntax) F_CMP(f64, id, syntax, 0)
#define F_FCMP_bf16(id, syntax) F_CMP(bf16, id, syntax, 0)
#define F_FCMP(ty, id, syntax) F_FCMP_##ty(id, syntax)
#define F_TEST(ty, id, syntax) FORM(id, syntax, K_CMP, LOWER_setp, TY(ty), TY(ty), 0, 1, T_PRED, TY(ty))
#define F_SELECT(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_plain, TY(ty), TY(ty), 0, 3, TY(ty), TY(ty), TY(ty), T_PRED)
#define F_CVT(d, ty, id, syntax, m) \
    FORM_EDGES(id, syntax, K_LANE, LOWER_plain, TY(ty), TY(d), m, (m) ? IN_##ty | OUT_##d : 0, 1, TY(d), TY(ty))
#define F_OPS2(d, a, b, c, e, id, syntax, low, n) \
    FORM_EDGES(id, syntax, K_LANE, low, TY(a), TY(d), MODS_ANY, IN_##a | IN_##b | OUT_##d, n, TY(d), TY(a), TY(b))
#define F_OPS3(d, a, b, c, e, id, syntax, low, n)                                                                    \
    FORM_EDGES(id, syntax, K_LANE, low, TY(a), TY(d), MODS_ANY, IN_##a | IN_##b | IN_##c | OUT_##d, n, TY(d), TY(a), \
               TY(b), TY(c))
#define F_OPS4(d, a, b, c, e, id, syntax, low, n)                                                                    \
    FORM_EDGES(id, syntax, K_LANE, low, TY(a), TY(d), MODS_ANY, IN_##a | IN_##b | IN_##c | OUT_##d, n, TY(d), TY(a), \
               TY(b), TY(c), TY(e))
/* the carry is a register of 32 bits after the row's operands; a second form, which no text names, makes the carry
 * out */
#define F_CARRY2(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_carry, TY(ty), TY(ty), MODS_ANY, 3, TY(ty), TY(ty), TY(ty), T_U32)
#define F_CARRY3(ty, id, syntax) \
    FORM(id, syntax, K_LANE, LOWER_carry, TY(ty), TY(ty), MODS_ANY, 4, TY(ty), TY(ty), TY(ty), TY(ty), T_U32)
#define F_OUT2(ty, id, says) \
    FORM(id, says, K_LANE, LOWER_plain, TY(ty), T_U32, MODS_ANY, 3, T_U32, TY(ty), TY(ty), T_U32)
#define F_OUT3(ty, id, says) \
    FORM(id, says, K_LANE, LOWER_plain, TY(ty), T_U32, MODS_ANY, 4, T_U32, TY(ty), TY(ty), TY(ty), T_U32)

#define LANE1(id, types, in, pv, sh, syntax, v) EACH_##types(F_LANE, id, SYN(in, pv, sh, syntax, #v), 1)
#define MOVE1(id, types, in, pv, sh, syntax, v) EACH_##types(F_MOVE, id, SYN(in, pv, sh, syntax, #v))
#define LANE2(id, types, in, pv, sh, syntax, v) EACH_##types(F_LANE, id, SYN(in, pv, sh, syntax, #v), 2)
#define LANE3(id, types, in, pv, sh, syntax, v) EACH_##types(F_LANE, id, SYN(in, pv, sh, syntax, #v), 3)
#define LANE4(id, types, in, pv, sh, syntax, v) EACH_##types(F_LANE4, id, SYN(in, pv, sh, syntax, #v))
#define FLOAT1(id, types, in, pv, sh, syntax, v) EACH_##types(F_FLOAT, id, SYN(in, pv, sh, syntax, #v), 1)
#define FLOAT2(id, types, in, pv, sh, syntax, v) EACH_##types(F_FLOAT, id, SYN(in, pv, sh, syntax, #v), 2)
#define FLOAT3(id, types, in, pv, sh, syntax, v) EACH_##types(F_FLOAT, id, SYN(in, pv, sh, syntax, #v), 3)
#define SHIFT(id, types, in, pv, sh, syntax, v) EACH_##types(F_SHIFT, id, SYN(in, pv, sh, syntax, #v))
#define FIELD(id, types, in, pv, sh, syntax, v) EACH_##types(F_FIELD, id, SYN(in, pv, sh, syntax, #v))
#define COUNT(id, types, in, pv, sh, syntax, v) EACH_##types(F_COUNT_, id, SYN(in, pv, sh, syntax, #v))
#define WIDE2(id, types, in, pv, sh, syntax, v) EACH_##types(F_WIDE2, id, SYN(in, pv, sh, syntax, #v))
#define WIDE3(id, types, in, pv, sh, syntax, v) EACH_##types(F_WIDE3, id, SYN(in, pv, sh, syntax, #v))
/* what a comparison says, and what a set that is lowered to it says */
#define SETP(sh, in, pv, rel, syntax, v) ROW_SAYS(in, pv, SHAPE_##sh, REL_##rel, 0, N_COUNT, syntax, v)
#define SET(in, pv, rel, setp, syntax, v) ROW_SAYS(in, pv, SHAPE_OTHER, REL_##rel, 0, N_##setp, syntax, v)
#define CMP(id, types, in, pv, ops, v)                                                                               \
    EACH_##types(F_CMP, setp_##id, SETP(COMPARE, in, pv, id, "setp(" ops ")" SETP_OPS ".T p{|q}, a, b{, c}", #v), 0) \
        EACH_##types(                                                                                                \
            F_SET, set_##id,                                                                                         \
            SET(in, pv, id, setp_##id, "set(" ops ")" SETP_OPS "(.u32|.s32|.f32|.f16|.bf16).T d, a, b{, c}", #v))
#define FCMP(id, types, in, pv, ops, v)                                                                               \
    EACH_##types(F_FCMP, fsetp_##id,                                                                                  \
                 SETP(FCOMPARE, in, pv, id, "setp(" ops ")" SETP_OPS "{.ftz}.T p{|q}, a, b{, c}", #v))                \
        EACH_##types(F_SET, fset_##id,                                                                                \
                     SET(in, pv, id, fsetp_##id,                                                                      \
                         "set(" ops ")" SETP_OPS "{.ftz}(.u32|.s32|.f32|.f16|.bf16|.u16|.s16).T d, a, b{, c}", #v))   \
            FSET2(f16x2, id,                                                                                          \
                  SET(in, pv, id, fsetp_##id, "set(" ops ")" SETP_OPS "{.ftz}(.f16x2|.u32|.s32).T d, a, b{, c}", #v)) \
                FSET2(bf16x2, id,                                                                                     \
                      SET(in, pv, id, fsetp_##id, "set(" ops ")" SETP_OPS "(.bf16x2|.u32|.s32).T d, a, b{, c}", #v))  \
                    FSET2(f16x2, id,                                                                                  \
                          SET(in, pv, id, fsetp_##id, "setp(" ops ")" SETP_OPS "{.ftz}.T p|q, a, b{, c}", #v))        \
                        FSET2(bf16x2, id,                                                                             \
                              SET(in, pv, id, fsetp_##id, "setp(" ops ")" SETP_OPS ".T p|q, a, b{, c}", #v))
#define FSET2(ty, id, says) F_SET(ty, fset_##id, says)
#define TEST(id, types, in, pv, sh, syntax, v) EACH_##types(F_TEST, id, SYN(in, pv, sh, syntax, #v))
#define SELECT(id, types, in, pv, sh, syntax, v) EACH_##types(F_SELECT, id, SYN(in, pv, sh, syntax, #v))
#define CONVERT(id, pairs, in, pv, sh, syntax, v) EACH_##pairs(F_CVT, id, SYN(in, pv, sh, syntax, #v), 0)
#define HEAVY1(id, types, in, pv, sh, syntax, v) EACH_##types(F_HEAVY, id, SYN(in, pv, sh, syntax, #v), 1)
#define HEAVY2(id, types, in, pv, sh, syntax, v) EACH_##types(F_HEAVY, id, SYN(in, pv, sh, syntax, #v), 2)
#define HEAVY3(id, types, in, pv, sh, syntax, v) EACH_##types(F_HEAVY, id, SYN(in, pv, sh, syntax, #v), 3)
#define OPS1(id, pairs, in, pv, sh, syntax, v) EACH_##pairs(F_CVT, id, SYN(in, pv, sh, syntax, #v), MODS_ANY)
#define OPS2(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS2, id, SYN(in, pv, sh, syntax, #v), LOWER_plain, 2)
#define OPS3(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS3, id, SYN(in, pv, sh, syntax, #v), LOWER_plain, 3)
#define OPS4(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS4, id, SYN(in, pv, sh, syntax, #v), LOWER_plain, 4)
#define CARRY2(id, types, in, pv, sh, syntax, v, carry)                                             \
    EACH_##types(F_CARRY2, id, ROW_SAYS(in, pv, SHAPE_##sh, REL_none, 0, N_##id##_out, syntax, #v)) \
        EACH_##types(F_OUT2, id##_out, SYN(ALL, NONE, sh, "", #carry))
#define CARRY3(id, types, in, pv, sh, syntax, v, carry)                                             \
    EACH_##types(F_CARRY3, id, ROW_SAYS(in, pv, SHAPE_##sh, REL_none, 0, N_##id##_out, syntax, #v)) \
        EACH_##types(F_OUT3, id##_out, SYN(ALL, NONE, sh, "", #carry))
#define FOUR(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS4, id, SYN(in, pv, sh, syntax, #v), LOWER_four, 4)
#define VIDEO2(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS3, id, SYN(in, pv, sh, syntax, #v), LOWER_video, 3)
#define VIDEO3(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS4, id, SYN(in, pv, sh, syntax, #v), LOWER_video, 4)
#define SIMD(id, set, in, pv, sh, syntax, v) EACH_##set(F_OPS4, id, SYN(in, pv, sh, syntax, #v), LOWER_simd, 4)
#define PRED1(id, in, pv, sh, syntax, v) \
    FORM(id, SYN(in, pv, sh, syntax, #v), K_PRED, LOWER_plain, T_PRED, T_PRED, 0, 1, T_PRED, T_PRED)
#define PRED2(id, in, pv, sh, syntax, v) \
    FORM(id, SYN(in, pv, sh, syntax, #v), K_PRED, LOWER_plain, T_PRED, T_PRED, 0, 2, T_PRED, T_PRED, T_PRED)
/* a row that is written out at length */
#define NAMED(kind, id, in, pv, operands, flags, syntax)                                                             \
    FORM(id, (syntax, "", operands, INIT_##in, PROV_##pv, SHAPE_OTHER, REL_none, flags, N_COUNT), kind, LOWER_named, \
         T_NONE, T_NONE, 0, 0)
#define MEM(id, in, pv, low, run, operands, flags, syntax) NAMED(K_MEM, id, in, pv, operands, flags, syntax)
#define MEM_MORE MEM
#define SYNC(id, in, pv, low, make, operands, flags, syntax) \
    NAMED(K_WARP, id, in, pv, operands, ISA_SYNC | flags, syntax)
#define SYNC_MORE SYNC
#define WARP(id, in, pv, low, run, operands, flags, syntax) NAMED(K_WARP, id, in, pv, operands, flags, syntax)
#define CTRL(id, in, pv, low, wait, operands, flags, syntax) NAMED(K_CTRL, id, in, pv, operands, flags, syntax)
const struct isa_form isa_forms[] = {
#include "isa/isa.def"
};
const u32 isa_count = COUNT_OF(isa_forms);

const u8 isa_wait[N_COUNT] = {
#define MEM(...)
#define MEM_MORE(...)
#define WARP(...)
#define SYNC(...)
#define SYNC_MORE(...)
#define CTRL(id, in, pv, low, wait, ...) [N_##id] = WAIT_##wait,
#include "isa/isa_named.def"
#include "isa/isa_end.def"
};

/* Where each family starts: one more pass, counting. */
#define ONE1(ty, ...) +1
#define PER_FLOAT_f32 +4
#define PER_FLOAT_f64 +1
#define N_FLOAT(ty, ...) PER_FLOAT_##ty
#define PER_FCMP_f32 +2
#define PER_FCMP_f16 +2
#define PER_FCMP_f64 +1
#define PER_FCMP_bf16 +1
#define N_FCMP(ty, ...) PER_FCMP_##ty
#define LANE1(id, types, ...) EACH_##types(ONE1)
#define MOVE1 LANE1
#define LANE2 LANE1
#define LANE3 LANE1
#define LANE4 LANE1
#define FLOAT1(id, types, ...) EACH_##types(N_FLOAT)
#define FLOAT2 FLOAT1
#define FLOAT3 FLOAT1
#define SHIFT LANE1
#define FIELD LANE1
#define COUNT LANE1
#define WIDE2 LANE1
#define WIDE3 LANE1
#define CMP(id, types, ...) EACH_##types(ONE1) EACH_##types(ONE1)
#define FCMP(id, types, ...) EACH_##types(N_FCMP) EACH_##types(ONE1) + 4
#define TEST LANE1
#define SELECT LANE1
#define CONVERT LANE1
#define HEAVY1 LANE1
#define HEAVY2 LANE1
#define HEAVY3 LANE1
#define OPS1 LANE1
#define OPS2 LANE1
#define OPS3 LANE1
#define OPS4 LANE1
#define FOUR LANE1
#define CARRY2 CMP
#define CARRY3 CMP
#define VIDEO2 LANE1
#define VIDEO3 LANE1
#define SIMD LANE1
#define PRED1(...) +1
#define PRED2 PRED1
enum {
    END_int = 0
#include "isa/isa_int.def"
    ,
    END_float = END_int
#include "isa/isa_float.def"
    ,
    END_round = END_float
#include "isa/isa_round.def"
    ,
    END_half = END_round
#include "isa/isa_half.def"
    ,
    END_cvt = END_half
#include "isa/isa_cvt.def"
    ,
    END_video = END_cvt
#include "isa/isa_video.def"
};
const u16 isa_family_first[FAM_COUNT] = { 0, END_int, END_float, END_round, END_half, END_cvt, END_video };

/* ---- opcodes ---- */

static const struct {
    const char *word;
    u32 mods;
} mod_words[] = {
    { ".ftz", MOD_FTZ },
    { ".sat", MOD_SAT },
    { ".relu", MOD_RELU },
    { ".NaN", MOD_NAN },
    { ".xorsign.abs", MOD_XORSIGN },
    { ".abs", MOD_XORSIGN },
    { ".satfinite", MOD_SATFINITE },
    { ".oob", MOD_OOB },
    { ".add", MOD_ADD },
    { ".rn", MOD_ROUND_IS(RND_RN) },
    { ".rz", MOD_ROUND_IS(RND_RZ) },
    { ".rm", MOD_ROUND_IS(RND_RM) },
    { ".rp", MOD_ROUND_IS(RND_RP) },
    { ".rna", MOD_ROUND_IS(RND_RNA) },
    { ".rni", MOD_ROUND_IS(RND_RNI) },
    { ".rzi", MOD_ROUND_IS(RND_RZI) },
    { ".rmi", MOD_ROUND_IS(RND_RMI) },
    { ".rpi", MOD_ROUND_IS(RND_RPI) },
    { ".rs", MOD_ROUND_IS(RND_RS) },
    { ".shr7", MOD_SHR7 },
    { ".shr15", MOD_SHR15 },
    { ".po", MOD_PO },
    { ".clamp", MOD_CLAMP },
};

static u32 mods_of(const char *word, size_t n)
{
    for (size_t k = 0; k < COUNT_OF(mod_words); k++)
        if (strlen(mod_words[k].word) == n && !memcmp(mod_words[k].word, word, n)) return mod_words[k].mods;
    return 0;
}

/* One ".word" at *s equals the next piece of the opcode? Then skip it there. */
static bool take(struct str *op, const char *word, size_t n)
{
    if (op->n < n || memcmp(op->p, word, n) || (op->n > n && op->p[n] != '.')) return false;
    op->p += n;
    op->n -= (u32)n;
    return true;
}

static bool take_type(struct str *op, enum ptx_type want)
{
    if (!op->n || op->p[0] != '.') return false;
    u32 n = 1;
    while (n < op->n && op->p[n] != '.') n++;
    enum ptx_type t = type_find((struct str){ op->p + 1, n - 1 });
    if (t == T_NONE || (want != T_NONE && t != want)) return false;
    op->p += n;
    op->n -= n;
    return true;
}

/* {.a|.b} and (.a|.b): tries each choice; *s ends after the group. */
static bool take_choice(struct str *op, const char **s, u32 *mods)
{
    char close = **s == '{' ? '}' : ')';
    bool got = false;
    const char *p = *s + 1;
    while (*p != close) {
        bool ignore = *p == '~';
        if (ignore || *p == '|') {
            p++;
            if (!ignore) continue;
        }
        size_t n = strcspn(p, "|})");
        if (!got && take(op, p, n)) {
            got = true;
            if (!ignore) *mods |= mods_of(p, n);
        }
        p += n;
    }
    *s = p + 1;
    return got || close == '}';
}

/* Which type a letter of the syntax stands for: T D A B C; T_COUNT: it is no such letter. */
static enum ptx_type letter(const struct isa_form *f, const char *s)
{
    if (s[0] != '.' || (s[2] != '.' && s[2] != ' ' && s[2] != '{' && s[2] != '(' && s[2])) return T_COUNT;
    switch (s[1]) {
    case 'T': return (enum ptx_type)f->type;
    case 'D': return (enum ptx_type)f->dtype;
    case 'A':
    case 'B':
    case 'C': return (enum ptx_type)f->op[1 + s[1] - 'A'];
    default: return T_COUNT;
    }
}

/* .SHAPE: the shape of wgmma, of which there are too many to list. */
static bool take_shape(struct str *op)
{
    u32 n = 1;
    if (op->n < 5 || memcmp(op->p, ".m64n", 5)) return false;
    while (n < op->n && op->p[n] != '.') n++;
    op->p += n;
    op->n -= n;
    return true;
}

static bool matches(const struct isa_form *f, struct str op, u32 *mods)
{
    const char *s = f->syntax;
    *mods = 0;
    while (*s && *s != ' ') {
        enum ptx_type t = letter(f, s);
        if (*s == '{' || *s == '(') {
            if (!take_choice(&op, &s, mods)) return false;
        } else if (t != T_COUNT) {
            if (!take_type(&op, t)) return false;
            s += 2;
        } else {
            size_t n = 1 + strcspn(s + 1, ".{( ");
            bool shape = n == 6 && !memcmp(s, ".SHAPE", 6);
            if (!(shape ? take_shape(&op) : take(&op, s, n))) return false;
            if (f->mods & MODS_ANY) *mods |= mods_of(s, n);
            s += n;
        }
    }
    return op.n == 0 && (f->mods & MODS_ANY || *mods == f->mods || (f->kind > K_PRED));
}

/* ptxas takes the modifiers of memory instructions in any order (atom.add.release.gpu.u32): each one in some group of
 * the row, no group twice, every required group used, a type at the end. */
static bool matches_any_order(const struct isa_form *f, struct str op)
{
    const char *s = f->syntax;
    u32 used = 0, needed = 0, group = 0;
    bool typed = strstr(s, ".T") != NULL, have_type = false;
    while (op.n && op.p[0] != '.') {
        op.p++;
        op.n--;
    }
    for (const char *g = s; *g && *g != ' '; g++)
        if (*g == '(' || *g == '{') {
            if (*g == '(') needed |= 1u << group;
            group++;
        }
    while (op.n) {
        u32 n = 1, k = 0;
        bool hit = false;
        while (n < op.n && op.p[n] != '.') n++;
        for (const char *g = s; *g && *g != ' ' && !hit; g++) {
            if (*g != '(' && *g != '{') continue;
            const char *end = g + strcspn(g, ")}");
            for (const char *w = g + 1; w < end;) {
                if (*w == '~' || *w == '|') {
                    w++;
                    continue;
                }
                size_t len = strcspn(w, "|)}");
                if (len == n && !memcmp(w, op.p, n) && !(used >> k & 1)) {
                    used |= 1u << k;
                    hit = true;
                    break;
                }
                w += len;
            }
            g = end;
            k++;
        }
        if (!hit) {
            if (!typed || have_type || type_find((struct str){ op.p + 1, n - 1 }) == T_NONE) return false;
            have_type = true;
        }
        op.p += n;
        op.n -= n;
    }
    return have_type == typed && (used & needed) == needed;
}

static bool same_word(const char *syntax, struct str opcode, u32 n)
{
    return !strncmp(syntax, opcode.p, n) && !(syntax[n] >= 'a' && syntax[n] <= 'z') &&
           !(syntax[n] >= '0' && syntax[n] <= '9');
}

int isa_find_from(u32 first, struct str opcode, u32 *mods)
{
    u32 n = 0;
    const char *other = ""; /* the syntax last seen to be of another word */
    while (n < opcode.n && opcode.p[n] != '.') n++;
    for (u32 i = first; i < isa_count; i++) {
        const char *s = isa_forms[i].syntax;
        if (s == other || !*s) continue;
        if (!same_word(s, opcode, n)) {
            other = s;
            continue;
        }
        if (matches(&isa_forms[i], opcode, mods)) return (int)i;
    }
    *mods = 0;
    for (u32 i = isa_family_first[FAM_named]; i < isa_count; i++)
        if (isa_forms[i].kind == K_MEM && same_word(isa_forms[i].syntax, opcode, n) &&
            matches_any_order(&isa_forms[i], opcode))
            return (int)i;
    return -1;
}

int isa_find(struct str opcode, u32 *mods) { return isa_find_from(0, opcode, mods); }

int isa_form(enum isa_name name, enum ptx_type type, enum ptx_type dtype, u32 mods)
{
    for (u32 i = 0; i < isa_count; i++) {
        const struct isa_form *f = &isa_forms[i];
        if (f->name == name && f->type == type && f->dtype == dtype && (f->mods == mods || f->mods & MODS_ANY))
            return (int)i;
    }
    CHECK(!"no such form");
    return -1;
}

/* Which of the rows of f32 and f64, of f16, of bf16 goes with this one. */
static enum isa_name by_width(const struct isa_form *f, enum isa_name full, enum isa_name half, enum isa_name brain)
{
    return f->type == T_F32 || f->type == T_F64 ? full : f->type == T_F16 || f->type == T_F16X2 ? half : brain;
}

int isa_fused(const struct isa_form *sum)
{
    enum isa_name name = by_width(sum, N_fma, N_hfma, N_bfma);
    return isa_form(name, (enum ptx_type)sum->type, (enum ptx_type)sum->dtype, sum->mods);
}

int isa_negation(const struct isa_form *sum)
{
    enum isa_name name = by_width(sum, N_fneg, N_hneg, N_bneg);
    return isa_form(name, (enum ptx_type)sum->type, (enum ptx_type)sum->dtype, 0);
}

bool isa_opcode(const struct isa_form *f, u32 n, char *out, size_t size)
{
    struct spelling {
        char *p;
        size_t n;
    } t = { out, size };
    u32 mods = 0;
    const char *s = f->syntax;
#define PUT(from, len)                                         \
    do {                                                       \
        int k_ = snprintf(t.p, t.n, "%.*s", (int)(len), from); \
        if ((size_t)k_ >= t.n) {                               \
            *out = 0;                                          \
            return true;                                       \
        }                                                      \
        t.p += k_;                                             \
        t.n -= (size_t)k_;                                     \
    } while (0)
    while (*s && *s != ' ') {
        enum ptx_type ty = letter(f, s);
        if (*s == '{' || *s == '(') {
            u32 count = *s == '{', pick;
            const char *end = s + strcspn(s, "})"), *w = s + 1;
            for (const char *p = s + 1; p <= end; p++) count += *p == '|' || p == end;
            pick = n % count;
            n /= count;
            if (*s == '{' ? pick > 0 : true) {
                for (u32 skip = pick - (*s == '{'); skip; skip--) w += strcspn(w, "|") + 1;
                bool ignore = *w == '~';
                w += ignore;
                size_t len = strcspn(w, "|})");
                PUT(w, len);
                if (!ignore) mods |= mods_of(w, len);
            }
            s = end + 1;
        } else if (ty != T_COUNT) {
            PUT(".", 1);
            PUT(type_name[ty], strlen(type_name[ty]));
            s += 2;
        } else {
            size_t len = 1 + strcspn(s + 1, ".{( ");
            PUT(s, len);
            s += len;
        }
    }
#undef PUT
    if (n) return false;
    if (!(f->mods & MODS_ANY) && f->kind <= K_PRED && mods != f->mods) *out = 0;
    return true;
}

void isa_syntax(const struct isa_form *f, char *out, size_t size)
{
    size_t n = 0;
    bool opcode = true;
    for (const char *s = f->syntax; *s && n + 16 < size; s++) {
        enum ptx_type t = opcode ? letter(f, s) : T_COUNT;
        opcode &= *s != ' ';
        if (t == T_COUNT || t == T_NONE) {
            out[n++] = *s;
            continue;
        }
        n += (size_t)snprintf(out + n, size - n, ".%s", type_name[t]);
        s++;
    }
    out[n] = 0;
}
