/* Rows that are compiled once a form (HEAVY, OPS and their like): a handler for vectors, and one for scalar or affine
 * results. lanes_mixed makes the other combinations of these. */
#ifndef LOCKSTEP_LANE_OPS_H
#define LOCKSTEP_LANE_OPS_H
#include "lanes/lane_shapes.h"

/* M: what the modifiers say; f32 goes in and out by it. ENTER and LEAVE stand around the loop. */
#ifndef ENTER
#define ENTER
#define LEAVE
#endif
#define GO_IN_f32(x) fin_f32(x, M)
#define GO_OUT_f32(x) _Generic((x), kept : kept_out, default : fout_f32)(x, M)
#define GO_OUT_f64(x) fout_f64(x, M)
#define AS_IT_IS(x) (x)
#define GO_IN_u8 AS_IT_IS
#define GO_OUT_u8 AS_IT_IS
#define GO_IN_s8 AS_IT_IS
#define GO_OUT_s8 AS_IT_IS
#define GO_IN_b8 AS_IT_IS
#define GO_OUT_b8 AS_IT_IS
#define GO_IN_u16 AS_IT_IS
#define GO_OUT_u16 AS_IT_IS
#define GO_IN_s16 AS_IT_IS
#define GO_OUT_s16 AS_IT_IS
#define GO_IN_b16 AS_IT_IS
#define GO_OUT_b16 AS_IT_IS
#define GO_IN_u32 AS_IT_IS
#define GO_OUT_u32 AS_IT_IS
#define GO_IN_s32 AS_IT_IS
#define GO_OUT_s32 AS_IT_IS
#define GO_IN_b32 AS_IT_IS
#define GO_OUT_b32 AS_IT_IS
#define GO_IN_u64 AS_IT_IS
#define GO_OUT_u64 AS_IT_IS
#define GO_IN_s64 AS_IT_IS
#define GO_OUT_s64 AS_IT_IS
#define GO_IN_b64 AS_IT_IS
#define GO_OUT_b64 AS_IT_IS
#define GO_IN_f64 AS_IT_IS
#define GO_IN_f16 AS_IT_IS
#define GO_OUT_f16 AS_IT_IS
#define GO_IN_bf16 AS_IT_IS
#define GO_OUT_bf16 AS_IT_IS
#define GO_IN_f16x2 AS_IT_IS
#define GO_OUT_f16x2 AS_IT_IS
#define GO_IN_bf16x2 AS_IT_IS
#define GO_OUT_bf16x2 AS_IT_IS
#define GO_IN_u16x2 AS_IT_IS
#define GO_OUT_u16x2 AS_IT_IS
#define GO_IN_s16x2 AS_IT_IS
#define GO_OUT_s16x2 AS_IT_IS
#define GO_IN_f32x2 AS_IT_IS
#define GO_OUT_f32x2 AS_IT_IS
#define GO_IN_tf32 AS_IT_IS
#define GO_OUT_tf32 AS_IT_IS
#define GO_IN_raw16 AS_IT_IS
#define GO_OUT_raw16 AS_IT_IS
#define GO_IN_raw32 AS_IT_IS
#define GO_OUT_raw32 AS_IT_IS
#define GO_IN_raw64 AS_IT_IS
#define GO_OUT_raw64 AS_IT_IS
#define GO_IN_e4m3x2 AS_IT_IS
#define GO_OUT_e4m3x2 AS_IT_IS
#define GO_IN_e5m2x2 AS_IT_IS
#define GO_OUT_e5m2x2 AS_IT_IS
#define GO_IN_e2m3x2 AS_IT_IS
#define GO_OUT_e2m3x2 AS_IT_IS
#define GO_IN_e3m2x2 AS_IT_IS
#define GO_OUT_e3m2x2 AS_IT_IS
#define GO_IN_e2m1x2 AS_IT_IS
#define GO_OUT_e2m1x2 AS_IT_IS
#define GO_IN_ue8m0x2 AS_IT_IS
#define GO_OUT_ue8m0x2 AS_IT_IS
#define GO_IN(ty, x) GO_IN_##ty(x)
#define GO_OUT(ty, x) GO_OUT_##ty(x)
#define OPS_TYPES(d_, ty) \
    typedef t_##d_ D;     \
    typedef t_##ty T;     \
    typedef OPS_U(ty) U;  \
    const u32 M = i->f;   \
    (void)w;              \
    (void)M;              \
    (void)sizeof(D);      \
    (void)sizeof(T);      \
    (void)(U)0;
#define OPS_U(ty) __typeof__(_Generic((t_##ty *)0, u64 * : (u64)0, s64 * : (u64)0, default : (u32)0))
#define AT_E(T) (*(const T *)(const void *)(SLOT(R, i->e) + STEP(CLS_E(i)) * g))
#define D_OPS1(d_, a_, id, v)                               \
    H(id##_##d_##_##a_##_v)                                 \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER r_##d_ *r = PTR(r_##d_, d); \
        const r_##a_ *pa = PTR(const r_##a_, a);            \
        EACH_LANE                                           \
        {                                                   \
            const t_##a_ a = GO_IN(a_, pa[l]);              \
            r[l] = GO_OUT(d_, v);                           \
        }                                                   \
        LEAVE return 0;                                     \
    }                                                       \
    H(id##_##d_##_##a_##_g)                                 \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER EACH_GROUP                  \
        {                                                   \
            const t_##a_ a = GO_IN(a_, GRP(r_##a_, a, 1));  \
            OUT(r_##d_) = GO_OUT(d_, v);                    \
        }                                                   \
        LEAVE return 0;                                     \
    }
#define D_OPS2(d_, a_, b_, c_, e_, id, v)                   \
    H(id##_##d_##_##a_##_##b_##_v)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER r_##d_ *r = PTR(r_##d_, d); \
        const r_##a_ *pa = PTR(const r_##a_, a);            \
        const r_##b_ *pb = PTR(const r_##b_, b);            \
        EACH_LANE                                           \
        {                                                   \
            const t_##a_ a = GO_IN(a_, pa[l]);              \
            const t_##b_ b = GO_IN(b_, pb[l]);              \
            r[l] = GO_OUT(d_, v);                           \
        }                                                   \
        LEAVE return 0;                                     \
    }                                                       \
    H(id##_##d_##_##a_##_##b_##_g)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER EACH_GROUP                  \
        {                                                   \
            const t_##a_ a = GO_IN(a_, GRP(r_##a_, a, 1));  \
            const t_##b_ b = GO_IN(b_, GRP(r_##b_, b, 2));  \
            OUT(r_##d_) = GO_OUT(d_, v);                    \
        }                                                   \
        LEAVE return 0;                                     \
    }
#define D_OPS3(d_, a_, b_, c_, e_, id, v)                   \
    H(id##_##d_##_##a_##_##b_##_v)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER r_##d_ *r = PTR(r_##d_, d); \
        const r_##a_ *pa = PTR(const r_##a_, a);            \
        const r_##b_ *pb = PTR(const r_##b_, b);            \
        const r_##c_ *pc = PTR(const r_##c_, c);            \
        EACH_LANE                                           \
        {                                                   \
            const t_##a_ a = GO_IN(a_, pa[l]);              \
            const t_##b_ b = GO_IN(b_, pb[l]);              \
            const t_##c_ c = GO_IN(c_, pc[l]);              \
            (void)c;                                        \
            r[l] = GO_OUT(d_, v);                           \
        }                                                   \
        LEAVE return 0;                                     \
    }                                                       \
    H(id##_##d_##_##a_##_##b_##_g)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER EACH_GROUP                  \
        {                                                   \
            const t_##a_ a = GO_IN(a_, GRP(r_##a_, a, 1));  \
            const t_##b_ b = GO_IN(b_, GRP(r_##b_, b, 2));  \
            const t_##c_ c = GO_IN(c_, GRP(r_##c_, c, 3));  \
            (void)c;                                        \
            OUT(r_##d_) = GO_OUT(d_, v);                    \
        }                                                   \
        LEAVE return 0;                                     \
    }
#define D_OPS4(d_, a_, b_, c_, e_, id, v)                   \
    H(id##_##d_##_##a_##_##b_##_v)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER r_##d_ *r = PTR(r_##d_, d); \
        const r_##a_ *pa = PTR(const r_##a_, a);            \
        const r_##b_ *pb = PTR(const r_##b_, b);            \
        const r_##c_ *pc = PTR(const r_##c_, c);            \
        const r_##e_ *pe = PTR(const r_##e_, e);            \
        EACH_LANE                                           \
        {                                                   \
            const t_##a_ a = GO_IN(a_, pa[l]);              \
            const t_##b_ b = GO_IN(b_, pb[l]);              \
            const t_##c_ c = GO_IN(c_, pc[l]);              \
            const t_##e_ e = pe[l];                         \
            (void)e;                                        \
            r[l] = GO_OUT(d_, v);                           \
        }                                                   \
        LEAVE return 0;                                     \
    }                                                       \
    H(id##_##d_##_##a_##_##b_##_g)                          \
    {                                                       \
        OPS_TYPES(d_, a_) ENTER EACH_GROUP                  \
        {                                                   \
            const t_##a_ a = GO_IN(a_, GRP(r_##a_, a, 1));  \
            const t_##b_ b = GO_IN(b_, GRP(r_##b_, b, 2));  \
            const t_##c_ c = GO_IN(c_, GRP(r_##c_, c, 3));  \
            const t_##e_ e = AT_E(r_##e_);                  \
            (void)e;                                        \
            OUT(r_##d_) = GO_OUT(d_, v);                    \
        }                                                   \
        LEAVE return 0;                                     \
    }
#define D_HEAVY1(ty, id, v) D_OPS1(ty, ty, id, v)
#define D_HEAVY2(ty, id, v) D_OPS2(ty, ty, ty, ty, u32, id, v)
#define D_HEAVY3(ty, id, v) D_OPS3(ty, ty, ty, ty, u32, id, v)
#define D_CARRY2(ty, id, v) D_OPS3(ty, ty, ty, u32, u32, id, v)
#define D_CARRY3(ty, id, v) D_OPS4(ty, ty, ty, ty, u32, id, v)
#define D_OUT2(ty, id, v) D_OPS3(u32, ty, ty, u32, u32, id, v)
#define D_OUT3(ty, id, v) D_OPS4(u32, ty, ty, ty, u32, id, v)
#endif
