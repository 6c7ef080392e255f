/* The shapes of common rows: for a row of isa.def its handlers, one per combination of vector (V) and scalar (S)
 * sources that is worth having, and one for scalar or affine results (lanes_pass.h). Macros, since a shape is written
 * once over all types and values. */
#ifndef LOCKSTEP_LANE_SHAPES_H
#define LOCKSTEP_LANE_SHAPES_H
#include "isa/words.h"
#include "lanes/lane_set.h"

#if defined __clang__
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (u32 l = 0; l < LANES; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (u32 l = 0; l < LANES; l++)
#endif
#define H(name) static int name(char *restrict R, const struct insn *i, struct warp *w)
#define PTR(T, s) ((T *)(void *)SLOT(R, i->s))
/* Bytes from one value of a scalar or affine operand to the next: 0 or 8. */
#define STEP(cls) ((u64)((cls)&CLS_A) << 2)
_Static_assert(CLS_A << 2 == 8 && !(CLS_S & CLS_A), "STEP");
#define GRP(T, s, n) (*(const T *)(const void *)(SLOT(R, i->s) + STEP(CLS_AT(i, n)) * g))
/* The values of a scalar or affine result: one, or a few. The statement of nothing keeps the compiler from making
 * vectors of them, and a copy of the loop for each class of each operand (GRP), as -O3 would: a third of its time. */
#define EACH_GROUP for (u64 g = 0; g < i->n; g++, ({ __asm__ volatile(""); }))
#define TYPES(ty)                  \
    typedef t_##ty T;              \
    typedef w_##ty U;              \
    enum { BITS = 8 * sizeof(T) }; \
    (void)w;                       \
    (void)(U)0;                    \
    (void)BITS;
#define OUT(T) (*(T *)(void *)(SLOT(R, i->d) + 8 * g))

/* f32 arithmetic makes one NaN, 0x7fffffff. Results are stored as they come, and looked at afterwards: a chain of
 * dependent instructions does not wait for the test. */
static __attribute__((noinline, unused)) void canonical_f32(f32 *r)
{
    for (u32 l = 0; l < LANES; l++) r[l] = nan_f32(r[l]);
}
static inline void canonical_f64(f64 *r) { (void)r; }
#define NANS_BEGIN \
    u32 nans = 0;  \
    (void)nans;
#define NANS_f32(x) nans |= (u32)((x) != (x));
#define NANS_f64(x)
#define NANS_END(ty) \
    if (unlikely(nans)) canonical_##ty((void *)r);

/* A source of a shape is V, 32 lanes, or S, one value for all: what stands in front of the loop, and what each lane
 * takes. Its element type as stored is T_, IN(x) declares the operand. */
#define V_FIRST(T_, IN, s) const T_ *p##s = PTR(const T_, s);
#define V_EACH(IN, s) IN(p##s[l])
#define S_FIRST(T_, IN, s) IN(*PTR(const T_, s))
#define S_EACH(IN, s)

/* The copy for old processors (lanes_pass.h) has one vector shape: lanes_mixed makes the others of it. */
#define NO_SHAPE(...)
#define SHAPE_LIST(...) __VA_ARGS__
#if defined __x86_64__ && !defined LANES_V3
#define SPREAD1_MORE NO_SHAPE
#define LOOP2_MORE NO_SHAPE
#define LOOP3_MORE NO_SHAPE
#define FSPREAD1_MORE NO_SHAPE
#define FLOOP2_MORE NO_SHAPE
#define FLOOP3_MORE NO_SHAPE
#define SHAPE_LIST_MORE NO_SHAPE
#else
#define SPREAD1_MORE SPREAD1
#define LOOP2_MORE LOOP2
#define LOOP3_MORE LOOP3
#define FSPREAD1_MORE FSPREAD1
#define FLOOP2_MORE FLOOP2
#define FLOOP3_MORE FLOOP3
#define SHAPE_LIST_MORE SHAPE_LIST
#endif

/* Every shape is written once over the element types RD (result), A_, B_, C_ (as stored) and the value v; LOOP is one
 * of its handlers, by the kinds A, B, C of its sources. */
#define LOOP2(name, HEAD, RD, A, A_, INA, B, B_, INB, v)                                                            \
    H(name)                                                                                                         \
    {                                                                                                               \
        HEAD RD *r = PTR(RD, d);                                                                                    \
        A##_FIRST(A_, INA, a) B##_FIRST(B_, INB, b) EACH_LANE { A##_EACH(INA, a) B##_EACH(INB, b) r[l] = (RD)(v); } \
        return 0;                                                                                                   \
    }
#define LOOP3(name, HEAD, RD, A, A_, INA, B, B_, INB, C, C_, INC, v)                \
    H(name)                                                                         \
    {                                                                               \
        HEAD RD *r = PTR(RD, d);                                                    \
        A##_FIRST(A_, INA, a) B##_FIRST(B_, INB, b) C##_FIRST(C_, INC, c) EACH_LANE \
        {                                                                           \
            A##_EACH(INA, a) B##_EACH(INB, b) C##_EACH(INC, c) r[l] = (RD)(v);      \
        }                                                                           \
        return 0;                                                                   \
    }
#define SPREAD1(name, HEAD, RD, A_, IN, v)          \
    H(name##_s)                                     \
    {                                               \
        HEAD RD *r = PTR(RD, d);                    \
        IN(*PTR(const A_, a)) const RD x = (RD)(v); \
        EACH_LANE r[l] = x;                         \
        return 0;                                   \
    }
#define SHAPE1(name, HEAD, RD, A_, IN, v)                        \
    H(name##_v)                                                  \
    {                                                            \
        HEAD RD *r = PTR(RD, d);                                 \
        const A_ *pa = PTR(const A_, a);                         \
        EACH_LANE { IN(pa[l]) r[l] = (RD)(v); }                  \
        return 0;                                                \
    }                                                            \
    SPREAD1_MORE(name, HEAD, RD, A_, IN, v) H(name##_g)          \
    {                                                            \
        HEAD EACH_GROUP { IN(GRP(A_, a, 1)) OUT(RD) = (RD)(v); } \
        return 0;                                                \
    }
#define SHAPE2(name, HEAD, RD, A_, B_, INA, INB, v)                                  \
    LOOP2(name##_vv, HEAD, RD, V, A_, INA, V, B_, INB, v)                            \
    LOOP2_MORE(name##_vs, HEAD, RD, V, A_, INA, S, B_, INB, v)                       \
    LOOP2_MORE(name##_sv, HEAD, RD, S, A_, INA, V, B_, INB, v) H(name##_g)           \
    {                                                                                \
        HEAD EACH_GROUP { INA(GRP(A_, a, 1)) INB(GRP(B_, b, 2)) OUT(RD) = (RD)(v); } \
        return 0;                                                                    \
    }
#define SHAPE3(name, HEAD, RD, A_, B_, C_, INA, INB, INC, v)                                            \
    LOOP3(name##_vvv, HEAD, RD, V, A_, INA, V, B_, INB, V, C_, INC, v)                                  \
    LOOP3_MORE(name##_svv, HEAD, RD, S, A_, INA, V, B_, INB, V, C_, INC, v)                             \
    LOOP3_MORE(name##_vsv, HEAD, RD, V, A_, INA, S, B_, INB, V, C_, INC, v)                             \
    LOOP3_MORE(name##_vvs, HEAD, RD, V, A_, INA, V, B_, INB, S, C_, INC, v)                             \
    LOOP3_MORE(name##_vss, HEAD, RD, V, A_, INA, S, B_, INB, S, C_, INC, v) H(name##_g)                 \
    {                                                                                                   \
        HEAD EACH_GROUP { INA(GRP(A_, a, 1)) INB(GRP(B_, b, 2)) INC(GRP(C_, c, 3)) OUT(RD) = (RD)(v); } \
        return 0;                                                                                       \
    }

#define IN_A(x) const T a = (T)(x);
#define IN_B(x) const T b = (T)(x);
#define IN_C(x) const T c = (T)(x);
#define IN_B32(x) const u32 b = (x);
#define IN_C32(x) const u32 c = (x);
#define IN_CW(x) const W c = (W)(x);

#define D_LANE1(ty, id, v) SHAPE1(id##_##ty, TYPES(ty), T, T, IN_A, v)
#define D_LANE2(ty, id, v) SHAPE2(id##_##ty, TYPES(ty), T, T, T, IN_A, IN_B, v)
#define D_LANE3(ty, id, v) SHAPE3(id##_##ty, TYPES(ty), T, T, T, T, IN_A, IN_B, IN_C, v)
#define D_SHIFT(ty, id, v) SHAPE2(id##_##ty, TYPES(ty), T, T, u32, IN_A, IN_B32, v)
#define D_FIELD(ty, id, v) SHAPE3(id##_##ty, TYPES(ty), T, T, u32, u32, IN_A, IN_B32, IN_C32, v)
#define D_COUNT(ty, id, v) SHAPE1(id##_##ty, TYPES(ty), u32, T, IN_A, v)
#define WIDE_TYPES(ty)          \
    TYPES(ty) typedef d_##ty W; \
    typedef ud_##ty UW;         \
    (void)(UW)0;
#define D_WIDE2(ty, id, v) SHAPE2(id##_##ty, WIDE_TYPES(ty), W, T, T, IN_A, IN_B, v)
#define D_WIDE3(ty, id, v) SHAPE3(id##_##ty, WIDE_TYPES(ty), W, T, T, W, IN_A, IN_B, IN_CW, v)

/* floats: Z flushes inputs and output, X saturates; a NaN result of f32 arithmetic is canonical. Their shapes are as
 * SHAPE1 to 3, with the look at NaNs; FRARE has one for vectors, for what saturates. */
#define FSPREAD1(name, ty, IN, v)                        \
    H(name##_s)                                          \
    {                                                    \
        TYPES(ty) T *r = PTR(T, d);                      \
        IN(a, *PTR(const T, a)) const T x = nan_##ty(v); \
        EACH_LANE r[l] = x;                              \
        return 0;                                        \
    }
#define FRARE1(name, ty, IN, v)                                            \
    H(name##_v)                                                            \
    {                                                                      \
        TYPES(ty) T *r = PTR(T, d);                                        \
        const T *pa = PTR(const T, a);                                     \
        NANS_BEGIN EACH_LANE                                               \
        {                                                                  \
            IN(a, pa[l]) const T x = v;                                    \
            r[l] = x;                                                      \
            NANS_##ty(x)                                                   \
        }                                                                  \
        NANS_END(ty) return 0;                                             \
    }                                                                      \
    H(name##_g)                                                            \
    {                                                                      \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) OUT(T) = nan_##ty(v); } \
        return 0;                                                          \
    }
#define FSHAPE1(name, ty, IN, v) FRARE1(name, ty, IN, v) FSPREAD1_MORE(name, ty, IN, v)
/* As V and S above, where IN(n, x) is given the name of the operand. */
#define V_FFIRST(IN, s) const T *p##s = PTR(const T, s);
#define V_FEACH(IN, s) IN(s, p##s[l])
#define S_FFIRST(IN, s) IN(s, *PTR(const T, s))
#define S_FEACH(IN, s)
#define FLOOP2(name, ty, A, B, IN, v)                            \
    H(name)                                                      \
    {                                                            \
        TYPES(ty) T *r = PTR(T, d);                              \
        A##_FFIRST(IN, a) B##_FFIRST(IN, b) NANS_BEGIN EACH_LANE \
        {                                                        \
            A##_FEACH(IN, a) B##_FEACH(IN, b) const T x = v;     \
            r[l] = x;                                            \
            NANS_##ty(x)                                         \
        }                                                        \
        NANS_END(ty) return 0;                                   \
    }
#define FLOOP3(name, ty, A, B, C, IN, v)                                           \
    H(name)                                                                        \
    {                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                \
        A##_FFIRST(IN, a) B##_FFIRST(IN, b) C##_FFIRST(IN, c) NANS_BEGIN EACH_LANE \
        {                                                                          \
            A##_FEACH(IN, a) B##_FEACH(IN, b) C##_FEACH(IN, c) const T x = v;      \
            r[l] = x;                                                              \
            NANS_##ty(x)                                                           \
        }                                                                          \
        NANS_END(ty) return 0;                                                     \
    }
#define FRARE2(name, ty, IN, v)                                                                \
    FLOOP2(name##_vv, ty, V, V, IN, v)                                                         \
    H(name##_g)                                                                                \
    {                                                                                          \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) IN(b, GRP(T, b, 2)) OUT(T) = nan_##ty(v); } \
        return 0;                                                                              \
    }
#define FSHAPE2(name, ty, IN, v) \
    FRARE2(name, ty, IN, v)      \
    FLOOP2_MORE(name##_vs, ty, V, S, IN, v) FLOOP2_MORE(name##_sv, ty, S, V, IN, v)
#define FRARE3(name, ty, IN, v)                                                                                    \
    FLOOP3(name##_vvv, ty, V, V, V, IN, v)                                                                         \
    H(name##_g)                                                                                                    \
    {                                                                                                              \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) IN(b, GRP(T, b, 2)) IN(c, GRP(T, c, 3)) OUT(T) = nan_##ty(v); } \
        return 0;                                                                                                  \
    }
#define FSHAPE3(name, ty, IN, v)                \
    FRARE3(name, ty, IN, v)                     \
    FLOOP3_MORE(name##_svv, ty, S, V, V, IN, v) \
    FLOOP3_MORE(name##_vsv, ty, V, S, V, IN, v) \
    FLOOP3_MORE(name##_vvs, ty, V, V, S, IN, v) FLOOP3_MORE(name##_vss, ty, V, S, S, IN, v)
#define D_FLOAT_MOD1(ty, id, m, v) FSHAPE1(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_RARE1(ty, id, m, v) FRARE1(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_MOD2(ty, id, m, v) FSHAPE2(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_RARE2(ty, id, m, v) FRARE2(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_MOD3(ty, id, m, v) FSHAPE3(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_RARE3(ty, id, m, v) FRARE3(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define FIN_p_A(x) const T a = (x);
#define FIN_p_B(x) const T b = (x);
#define FIN_p_N(n, x) const T n = (x);
#define FIN_z_A(x) const T a = ftz_f32(x);
#define FIN_z_B(x) const T b = ftz_f32(x);
#define FIN_z_N(n, x) const T n = ftz_f32(x);
#define FIN_s_N FIN_p_N
#define FIN_zs_N FIN_z_N
/* FTZ tells the words of the value which it is */
#define FOUT_p(ty, v)     \
    ({                    \
        enum { FTZ = 0 }; \
        (v);              \
    })
#define FOUT_z(ty, v)     \
    ({                    \
        enum { FTZ = 1 }; \
        ftz_##ty(v);      \
    })
#define FOUT_s(ty, v)     \
    ({                    \
        enum { FTZ = 0 }; \
        FSAT(v);          \
    })
#define FOUT_zs(ty, v)     \
    ({                     \
        enum { FTZ = 1 };  \
        FSAT(ftz_##ty(v)); \
    })
#define D_FLOAT_f32(n, id, v)                                                                  \
    D_FLOAT_MOD##n(f32, id, p, v) D_FLOAT_MOD##n(f32, id, z, v) D_FLOAT_RARE##n(f32, id, s, v) \
        D_FLOAT_RARE##n(f32, id, zs, v)
#define D_FLOAT_f64(n, id, v) D_FLOAT_MOD##n(f64, id, p, v)
#define D_FLOAT(ty, id, n, v) D_FLOAT_##ty(n, id, v)

/* comparisons: one bit a lane */
#define LANE_BITS(...)                                \
    u32 m_ = 0;                                       \
    EACH_LANE_BITS{ __VA_ARGS__ } * PTR(u32, d) = m_; \
    return 0;
#if defined __clang__
#define EACH_LANE_BITS _Pragma("clang loop vectorize(assume_safety)") for (u32 l = 0; l < LANES; l++)
#else
#define EACH_LANE_BITS for (u32 l = 0; l < LANES; l++)
#endif
#define SHAPE_CMP(name, ty, INA, INB, v)                                                     \
    H(name##_vv)                                                                             \
    {                                                                                        \
        TYPES(ty) const T *pa = PTR(const T, a), *pb = PTR(const T, b);                      \
        LANE_BITS({ INA(pa[l]) INB(pb[l]) m_ |= (u32)(v) << l; })                            \
    }                                                                                        \
    H(name##_vs)                                                                             \
    {                                                                                        \
        TYPES(ty) const T *pa = PTR(const T, a);                                             \
        INB(*PTR(const T, b)) LANE_BITS({ INA(pa[l]) m_ |= (u32)(v) << l; })                 \
    }                                                                                        \
    H(name##_sv)                                                                             \
    {                                                                                        \
        TYPES(ty) const T *pb = PTR(const T, b);                                             \
        INA(*PTR(const T, a)) LANE_BITS({ INB(pb[l]) m_ |= (u32)(v) << l; })                 \
    }                                                                                        \
    H(name##_g)                                                                              \
    {                                                                                        \
        TYPES(ty) INA(*PTR(const T, a)) INB(*PTR(const T, b)) * PTR(u32, d) = 0u - (u32)(v); \
        return 0;                                                                            \
    }
#define D_CMP(ty, id, v) SHAPE_CMP(id##_##ty, ty, IN_A, IN_B, v)
#define D_FCMP_f32(id, v) \
    SHAPE_CMP(id##_f32_p, f32, FIN_p_A, FIN_p_B, v) SHAPE_CMP(id##_f32_z, f32, FIN_z_A, FIN_z_B, v)
#define D_FCMP_f64(id, v) SHAPE_CMP(id##_f64_p, f64, FIN_p_A, FIN_p_B, v)
/* halves are compared as f32; vectors only, the mixed wrapper does the rest */
#define SHAPE_HCMP(name, T, m, v)                                                   \
    H(name##_vv)                                                                    \
    {                                                                               \
        (void)w;                                                                    \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                       \
        LANE_BITS({                                                                 \
            const f32 a = in_##T(pa[l], m), b = in_##T(pb[l], m);                   \
            m_ |= (u32)(v) << l;                                                    \
        })                                                                          \
    }                                                                               \
    H(name##_g)                                                                     \
    {                                                                               \
        (void)w;                                                                    \
        const f32 a = in_##T(*PTR(const T, a), m), b = in_##T(*PTR(const T, b), m); \
        *PTR(u32, d) = 0u - (u32)(v);                                               \
        return 0;                                                                   \
    }
#define D_FCMP_f16(id, v) SHAPE_HCMP(id##_f16_p, f16, 0, v) SHAPE_HCMP(id##_f16_z, f16, MOD_FTZ, v)
#define D_FCMP_bf16(id, v) SHAPE_HCMP(id##_bf16_p, bf16, 0, v)
#define D_TEST(ty, id, v)                                               \
    H(id##_##ty##_v)                                                    \
    {                                                                   \
        TYPES(ty) const T *pa = PTR(const T, a);                        \
        LANE_BITS({ IN_A(pa[l]) m_ |= (u32)(v) << l; })                 \
    }                                                                   \
    H(id##_##ty##_g)                                                    \
    {                                                                   \
        TYPES(ty) IN_A(*PTR(const T, a)) * PTR(u32, d) = 0u - (u32)(v); \
        return 0;                                                       \
    }
#define D_FCMP(ty, id, v) D_FCMP_##ty(id, v)

/* selp: the predicate word is spread with a shift per lane */
#define D_SELECT(ty, id, v)                                               \
    H(id##_##ty##_vv)                                                     \
    {                                                                     \
        TYPES(ty) T *r = PTR(T, d);                                       \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);             \
        const u32 m = *PTR(const u32, c);                                 \
        EACH_LANE                                                         \
        {                                                                 \
            const T a = pa[l], b = pb[l];                                 \
            const u32 p = m >> l & 1;                                     \
            r[l] = v;                                                     \
        }                                                                 \
        return 0;                                                         \
    }                                                                     \
    H(id##_##ty##_vs)                                                     \
    {                                                                     \
        TYPES(ty) T *r = PTR(T, d);                                       \
        const T *pa = PTR(const T, a);                                    \
        const T b = *PTR(const T, b);                                     \
        const u32 m = *PTR(const u32, c);                                 \
        EACH_LANE                                                         \
        {                                                                 \
            const T a = pa[l];                                            \
            const u32 p = m >> l & 1;                                     \
            r[l] = v;                                                     \
        }                                                                 \
        return 0;                                                         \
    }                                                                     \
    H(id##_##ty##_sv)                                                     \
    {                                                                     \
        TYPES(ty) T *r = PTR(T, d);                                       \
        const T *pb = PTR(const T, b);                                    \
        const T a = *PTR(const T, a);                                     \
        const u32 m = *PTR(const u32, c);                                 \
        EACH_LANE                                                         \
        {                                                                 \
            const T b = pb[l];                                            \
            const u32 p = m >> l & 1;                                     \
            r[l] = v;                                                     \
        }                                                                 \
        return 0;                                                         \
    }                                                                     \
    H(id##_##ty##_ss)                                                     \
    {                                                                     \
        TYPES(ty) T *r = PTR(T, d);                                       \
        const T a = *PTR(const T, a), b = *PTR(const T, b);               \
        const u32 m = *PTR(const u32, c);                                 \
        EACH_LANE                                                         \
        {                                                                 \
            const u32 p = m >> l & 1;                                     \
            r[l] = v;                                                     \
        }                                                                 \
        return 0;                                                         \
    }                                                                     \
    H(id##_##ty##_g)                                                      \
    {                                                                     \
        TYPES(ty) const u32 p = (*PTR(const u32, c) & warp_mask(w)) != 0; \
        EACH_GROUP                                                        \
        {                                                                 \
            const T a = GRP(T, a, 1), b = GRP(T, b, 2);                   \
            OUT(T) = v;                                                   \
        }                                                                 \
        return 0;                                                         \
    }

/* conversions: registers hold 8-bit values in 16-bit elements */
#define CVT_TYPES(d_, ty)       \
    TYPES(ty) typedef t_##d_ D; \
    (void)(D)0;
#define D_CVT(d_, ty, id, v) SHAPE1(id##_##d_##_##ty, CVT_TYPES(d_, ty), r_##d_, r_##ty, IN_A, (r_##d_)(D)(v))

#define D_PRED(id, v)                                             \
    H(id##_w)                                                     \
    {                                                             \
        (void)w;                                                  \
        const u32 a = *PTR(const u32, a), b = *PTR(const u32, b); \
        (void)b;                                                  \
        *PTR(u32, d) = v;                                         \
        return 0;                                                 \
    }

/* four operands: the scalar way and the vector way; lanes_mixed does the rest. The fourth one's class is in the
 * flags. */
#define D_LANE4(ty, id, v)                                                                  \
    H(id##_##ty##_vvvv)                                                                     \
    {                                                                                       \
        TYPES(ty) T *r = PTR(T, d);                                                         \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                               \
        const u32 *pc = PTR(const u32, c), *pe = PTR(const u32, e);                         \
        EACH_LANE                                                                           \
        {                                                                                   \
            const T a = pa[l], b = pb[l];                                                   \
            const u32 c = pc[l], e = pe[l];                                                 \
            (void)e;                                                                        \
            r[l] = v;                                                                       \
        }                                                                                   \
        return 0;                                                                           \
    }                                                                                       \
    H(id##_##ty##_vvvs)                                                                     \
    {                                                                                       \
        TYPES(ty) T *r = PTR(T, d);                                                         \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                               \
        const u32 *pc = PTR(const u32, c), e = *PTR(const u32, e);                          \
        EACH_LANE                                                                           \
        {                                                                                   \
            const T a = pa[l], b = pb[l];                                                   \
            const u32 c = pc[l];                                                            \
            (void)e;                                                                        \
            r[l] = v;                                                                       \
        }                                                                                   \
        return 0;                                                                           \
    }                                                                                       \
    H(id##_##ty##_g)                                                                        \
    {                                                                                       \
        TYPES(ty) EACH_GROUP                                                                \
        {                                                                                   \
            const T a = GRP(T, a, 1), b = GRP(T, b, 2);                                     \
            const u32 c = GRP(u32, c, 3);                                                   \
            const u32 e = *(const u32 *)(const void *)(SLOT(R, i->e) + STEP(CLS_E(i)) * g); \
            (void)e;                                                                        \
            OUT(T) = v;                                                                     \
        }                                                                                   \
        return 0;                                                                           \
    }
#endif
