/* The lane handlers of one family: its rows as C loops over 32 lanes, and the table of them. A file lanes_X.c says
 * which rows (LANES_FAMILY, LANES_DEF) and includes this.
 *
 * A form of a common row gets one handler per combination of vector (V) and scalar (S) sources that is worth having,
 * and one for scalar or affine results (grp), which computes insn.n values 8 bytes apart. Of the other rows (HEAVY,
 * OPS and their like) there is the one for vectors, and grp. What has no handler of its own goes through lanes_mixed
 * (lanes_wrap.c), which spreads scalars and affine values to 32 lanes first. Handlers know nothing of masks: wrappers
 * blend.
 *
 * Compiled twice on x86-64 (LANES_V3: with AVX2 and FMA); the machine picks the tables at start. The first copy is for
 * processors without them: one shape for vectors, and none of the loops are in vectors (Makefile). */
#include "lanes/lane_ops.h"

/* pass 1: the handlers */
#define LANE1(id, types, in, pv, sh, syntax, v) EACH_##types(D_LANE1, id, v)
#define MOVE1(id, types, in, pv, sh, syntax, v) EACH_##types(D_LANE1, id, v)
#define LANE2(id, types, in, pv, sh, syntax, v) EACH_##types(D_LANE2, id, v)
#define LANE3(id, types, in, pv, sh, syntax, v) EACH_##types(D_LANE3, id, v)
#define LANE4(id, types, in, pv, sh, syntax, v) EACH_##types(D_LANE4, id, v)
#define SHIFT(id, types, in, pv, sh, syntax, v) EACH_##types(D_SHIFT, id, v)
#define FIELD(id, types, in, pv, sh, syntax, v) EACH_##types(D_FIELD, id, v)
#define COUNT(id, types, in, pv, sh, syntax, v) EACH_##types(D_COUNT, id, v)
#define WIDE2(id, types, in, pv, sh, syntax, v) EACH_##types(D_WIDE2, id, v)
#define WIDE3(id, types, in, pv, sh, syntax, v) EACH_##types(D_WIDE3, id, v)
#define SELECT(id, types, in, pv, sh, syntax, v) EACH_##types(D_SELECT, id, v)
#define CONVERT(id, types, in, pv, sh, syntax, v) EACH_##types(D_CVT, id, v)
#define TEST(id, types, in, pv, sh, syntax, v) EACH_##types(D_TEST, id, v)
#define HEAVY1(id, types, in, pv, sh, syntax, v) EACH_##types(D_HEAVY1, id, v)
#define HEAVY2(id, types, in, pv, sh, syntax, v) EACH_##types(D_HEAVY2, id, v)
#define HEAVY3(id, types, in, pv, sh, syntax, v) EACH_##types(D_HEAVY3, id, v)
#define OPS1(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS1, id, v)
#define OPS2(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS2, id, v)
#define OPS3(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS3, id, v)
#define OPS4(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS4, id, v)
#define FOUR(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS4, id, v)
#define FLOAT1(id, types, in, pv, sh, syntax, v) EACH_##types(D_FLOAT, id, 1, v)
#define FLOAT2(id, types, in, pv, sh, syntax, v) EACH_##types(D_FLOAT, id, 2, v)
#define FLOAT3(id, types, in, pv, sh, syntax, v) EACH_##types(D_FLOAT, id, 3, v)
#define CMP(id, types, in, pv, ops, v) EACH_##types(D_CMP, setp_##id, v)
#define FCMP(id, types, in, pv, ops, v) EACH_##types(D_FCMP, fsetp_##id, v)
#define CARRY2(id, types, in, pv, sh, syntax, v, carry) \
    EACH_##types(D_CARRY2, id, v) EACH_##types(D_OUT2, id##_out, carry)
#define CARRY3(id, types, in, pv, sh, syntax, v, carry) \
    EACH_##types(D_CARRY3, id, v) EACH_##types(D_OUT3, id##_out, carry)
#define VIDEO2(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS3, id, v)
#define VIDEO3(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS4, id, v)
#define SIMD(id, types, in, pv, sh, syntax, v) EACH_##types(D_OPS4, id, v)
#define PRED1(id, in, pv, sh, syntax, v) D_PRED(id, v)
#define PRED2(id, in, pv, sh, syntax, v) D_PRED(id, v)
#include LANES_DEF
#include "isa/isa_end.def"

/* pass 2: the table; v[] is indexed by which of a, b, c are scalars (1, 2, 4) */
#define SET1(n) { .v = { n##_v, SHAPE_LIST_MORE(n##_s) }, .grp = n##_g },
#define SET2(n) { .v = { n##_vv, SHAPE_LIST_MORE(n##_sv, n##_vs) }, .grp = n##_g },
#define SET3(n) { .v = { n##_vvv, SHAPE_LIST_MORE(n##_svv, n##_vsv, 0, n##_vvs, 0, n##_vss, 0) }, .grp = n##_g },
#define SET_CMP(n) { .v = { n##_vv, n##_sv, n##_vs }, .grp = n##_g },
#define SET_VVV(n) { .v = { n##_vvv }, .grp = n##_g },
#define SET_V(n) { .v = { n##_v }, .grp = n##_g },
#define SET_VV(n) { .v = { n##_vv }, .grp = n##_g },
#define SET_NONE(...) { .grp = 0 },
#define T_CMP(ty, id) SET_CMP(id##_##ty)
#define T_LANE1(ty, id) SET1(id##_##ty)
#define T_LANE2(ty, id) SET2(id##_##ty)
#define T_LANE4(ty, id) { .v = { id##_##ty##_vvvv, [7] = id##_##ty##_vvvs }, .grp = id##_##ty##_g },
#define T_LANE3(ty, id) SET3(id##_##ty)
#define RARE1 SET_V
#define RARE2 SET_VV
#define RARE3 SET_VVV
#define T_FLOAT_f32(n, id) SET##n(id##_f32_p) SET##n(id##_f32_z) RARE##n(id##_f32_s) RARE##n(id##_f32_zs)
#define T_FLOAT_f64(n, id) SET##n(id##_f64_p)
#define T_FLOAT(ty, id, n) T_FLOAT_##ty(n, id)
#define T_FCMP_f32(id) SET_CMP(id##_f32_p) SET_CMP(id##_f32_z)
#define T_FCMP_f64(id) SET_CMP(id##_f64_p)
#define T_FCMP_f16(id) SET_VV(id##_f16_p) SET_VV(id##_f16_z)
#define T_FCMP_bf16(id) SET_VV(id##_bf16_p)
#define T_FCMP(ty, id) T_FCMP_##ty(id)
#define T_TEST(ty, id) SET_V(id##_##ty)
#define T_SELECT(ty, id) \
    { .v = { id##_##ty##_vv, id##_##ty##_sv, id##_##ty##_vs, id##_##ty##_ss }, .grp = id##_##ty##_g },
#define T_CVT(d_, ty, id) SET1(id##_##d_##_##ty)
#define T_OPS1(d_, ty, id) SET_V(id##_##d_##_##ty)
#define T_OPS(d_, a_, b_, c_, e_, id) SET_V(id##_##d_##_##a_##_##b_)
#define T_HEAVY1(ty, id) SET_V(id##_##ty##_##ty)
#define T_HEAVY(ty, id) SET_V(id##_##ty##_##ty##_##ty)
#define T_OUT(ty, id) SET_V(id##_u32_##ty##_##ty)
#define LANE1(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE1, id)
#define MOVE1(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE1, id)
#define LANE2(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE2, id)
#define LANE3(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE3, id)
#define LANE4(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE4, id)
#define SHIFT(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE2, id)
#define FIELD(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE3, id)
#define COUNT(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE1, id)
#define WIDE2(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE2, id)
#define WIDE3(id, types, in, pv, sh, syntax, v) EACH_##types(T_LANE3, id)
#define SELECT(id, types, in, pv, sh, syntax, v) EACH_##types(T_SELECT, id)
#define CONVERT(id, types, in, pv, sh, syntax, v) EACH_##types(T_CVT, id)
#define TEST(id, types, in, pv, sh, syntax, v) EACH_##types(T_TEST, id)
#define HEAVY1(id, types, in, pv, sh, syntax, v) EACH_##types(T_HEAVY1, id)
#define HEAVY2(id, types, in, pv, sh, syntax, v) EACH_##types(T_HEAVY, id)
#define HEAVY3(id, types, in, pv, sh, syntax, v) EACH_##types(T_HEAVY, id)
#define OPS1(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS1, id)
#define OPS2(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define OPS3(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define OPS4(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define FOUR(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define VIDEO2(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define VIDEO3(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define SIMD(id, types, in, pv, sh, syntax, v) EACH_##types(T_OPS, id)
#define FLOAT1(id, types, in, pv, sh, syntax, v) EACH_##types(T_FLOAT, id, 1)
#define FLOAT2(id, types, in, pv, sh, syntax, v) EACH_##types(T_FLOAT, id, 2)
#define FLOAT3(id, types, in, pv, sh, syntax, v) EACH_##types(T_FLOAT, id, 3)
#define CMP(id, types, in, pv, ops, v) EACH_##types(T_CMP, setp_##id) EACH_##types(SET_NONE)
#define FCMP(id, types, in, pv, ops, v) \
    EACH_##types(T_FCMP, fsetp_##id) EACH_##types(SET_NONE) SET_NONE() SET_NONE() SET_NONE() SET_NONE()
#define CARRY2(id, types, in, pv, sh, syntax, v, carry) EACH_##types(T_HEAVY, id) EACH_##types(T_OUT, id##_out)
#define CARRY3(id, types, in, pv, sh, syntax, v, carry) EACH_##types(T_HEAVY, id) EACH_##types(T_OUT, id##_out)
#define PRED1(id, in, pv, sh, syntax, value) { .v = { id##_w }, .grp = id##_w },
#define PRED2(id, in, pv, sh, syntax, value) { .v = { id##_w }, .grp = id##_w },
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#ifdef LANES_V3
const struct lane_set PASTE(PASTE(lanes_, LANES_FAMILY), _v3)[] = {
#else
const struct lane_set PASTE(lanes_, LANES_FAMILY)[] = {
#endif
#include LANES_DEF
};
#include "isa/isa_end.def"
