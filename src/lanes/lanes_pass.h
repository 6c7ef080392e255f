/* The lane handlers of one family: its rows as C loops over 32 lanes, and the table of them. A file lanes_X.c says
 * which rows (LANES_FAMILY, LANES_DEF) and includes this.
 *
 * A form of a common row gets one handler per combination of vector (V) and scalar (S) sources that is worth having,
 * and one for scalar or affine results (grp), which computes insn.n values 8 bytes apart. Of the other rows (HEAVY,
 * OPS and their like) there is the one for vectors, and grp. What has no handler of its own goes through lanes_mixed
 * (lanes_wrap.c), which spreads scalars and affine values to 32 lanes first. Handlers know nothing of masks: wrappers
 * blend.
 *
 * Compiled twice on x86-64 (LANES_V3: with AVX2 and FMA); the machine picks the tables at start. */
#include "isa/words.h"
#include "sim/machine.h"
#include "sim/lanes.h"

#if defined __clang__
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (u32 l = 0; l < LANES; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (u32 l = 0; l < LANES; l++)
#endif
#define H(name) static int name(char *restrict R, const struct insn *i, struct warp *w)
#define PTR(T, s) ((T *)(void *)SLOT(R, i->s))
#define GRP(T, s, n) (*(const T *)(const void *)(SLOT(R, i->s) + (CLS_AT(i, n) == CLS_A ? 8 * g : 0)))
#define EACH_GROUP for (u32 g = 0; g < i->n; g++)
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

/* Every shape is written once over the element types RD (result), A_, B_, C_ (as stored) and the value v. */
#define SHAPE1(name, HEAD, RD, A_, IN, v)                        \
    H(name##_v)                                                  \
    {                                                            \
        HEAD RD *r = PTR(RD, d);                                 \
        const A_ *pa = PTR(const A_, a);                         \
        EACH_LANE { IN(pa[l]) r[l] = (RD)(v); }                  \
        return 0;                                                \
    }                                                            \
    H(name##_s)                                                  \
    {                                                            \
        HEAD RD *r = PTR(RD, d);                                 \
        IN(*PTR(const A_, a)) const RD x = (RD)(v);              \
        EACH_LANE r[l] = x;                                      \
        return 0;                                                \
    }                                                            \
    H(name##_g)                                                  \
    {                                                            \
        HEAD EACH_GROUP { IN(GRP(A_, a, 1)) OUT(RD) = (RD)(v); } \
        return 0;                                                \
    }
#define SHAPE2(name, HEAD, RD, A_, B_, INA, INB, v)                                  \
    H(name##_vv)                                                                     \
    {                                                                                \
        HEAD RD *r = PTR(RD, d);                                                     \
        const A_ *pa = PTR(const A_, a);                                             \
        const B_ *pb = PTR(const B_, b);                                             \
        EACH_LANE { INA(pa[l]) INB(pb[l]) r[l] = (RD)(v); }                          \
        return 0;                                                                    \
    }                                                                                \
    H(name##_vs)                                                                     \
    {                                                                                \
        HEAD RD *r = PTR(RD, d);                                                     \
        const A_ *pa = PTR(const A_, a);                                             \
        INB(*PTR(const B_, b)) EACH_LANE { INA(pa[l]) r[l] = (RD)(v); }              \
        return 0;                                                                    \
    }                                                                                \
    H(name##_sv)                                                                     \
    {                                                                                \
        HEAD RD *r = PTR(RD, d);                                                     \
        INA(*PTR(const A_, a)) const B_ *pb = PTR(const B_, b);                      \
        EACH_LANE { INB(pb[l]) r[l] = (RD)(v); }                                     \
        return 0;                                                                    \
    }                                                                                \
    H(name##_g)                                                                      \
    {                                                                                \
        HEAD EACH_GROUP { INA(GRP(A_, a, 1)) INB(GRP(B_, b, 2)) OUT(RD) = (RD)(v); } \
        return 0;                                                                    \
    }
#define SHAPE3(name, HEAD, RD, A_, B_, C_, INA, INB, INC, v)                                            \
    H(name##_vvv)                                                                                       \
    {                                                                                                   \
        HEAD RD *r = PTR(RD, d);                                                                        \
        const A_ *pa = PTR(const A_, a);                                                                \
        const B_ *pb = PTR(const B_, b);                                                                \
        const C_ *pc = PTR(const C_, c);                                                                \
        EACH_LANE { INA(pa[l]) INB(pb[l]) INC(pc[l]) r[l] = (RD)(v); }                                  \
        return 0;                                                                                       \
    }                                                                                                   \
    H(name##_svv)                                                                                       \
    {                                                                                                   \
        HEAD RD *r = PTR(RD, d);                                                                        \
        INA(*PTR(const A_, a)) const B_ *pb = PTR(const B_, b);                                         \
        const C_ *pc = PTR(const C_, c);                                                                \
        EACH_LANE { INB(pb[l]) INC(pc[l]) r[l] = (RD)(v); }                                             \
        return 0;                                                                                       \
    }                                                                                                   \
    H(name##_vsv)                                                                                       \
    {                                                                                                   \
        HEAD RD *r = PTR(RD, d);                                                                        \
        const A_ *pa = PTR(const A_, a);                                                                \
        INB(*PTR(const B_, b)) const C_ *pc = PTR(const C_, c);                                         \
        EACH_LANE { INA(pa[l]) INC(pc[l]) r[l] = (RD)(v); }                                             \
        return 0;                                                                                       \
    }                                                                                                   \
    H(name##_vvs)                                                                                       \
    {                                                                                                   \
        HEAD RD *r = PTR(RD, d);                                                                        \
        const A_ *pa = PTR(const A_, a);                                                                \
        const B_ *pb = PTR(const B_, b);                                                                \
        INC(*PTR(const C_, c)) EACH_LANE { INA(pa[l]) INB(pb[l]) r[l] = (RD)(v); }                      \
        return 0;                                                                                       \
    }                                                                                                   \
    H(name##_vss)                                                                                       \
    {                                                                                                   \
        HEAD RD *r = PTR(RD, d);                                                                        \
        const A_ *pa = PTR(const A_, a);                                                                \
        INB(*PTR(const B_, b)) INC(*PTR(const C_, c)) EACH_LANE { INA(pa[l]) r[l] = (RD)(v); }          \
        return 0;                                                                                       \
    }                                                                                                   \
    H(name##_g)                                                                                         \
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

/* floats: Z flushes inputs and output, X saturates; a NaN result of f32 arithmetic is canonical */
/* the float shapes: as SHAPE1 to 3, with the look at NaNs */
#define FSHAPE1(name, ty, IN, v)                                           \
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
    H(name##_s)                                                            \
    {                                                                      \
        TYPES(ty) T *r = PTR(T, d);                                        \
        IN(a, *PTR(const T, a)) const T x = nan_##ty(v);                   \
        EACH_LANE r[l] = x;                                                \
        return 0;                                                          \
    }                                                                      \
    H(name##_g)                                                            \
    {                                                                      \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) OUT(T) = nan_##ty(v); } \
        return 0;                                                          \
    }
#define FSHAPE2(name, ty, IN, v)                                                               \
    H(name##_vv)                                                                               \
    {                                                                                          \
        TYPES(ty) T *r = PTR(T, d);                                                            \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                                  \
        NANS_BEGIN EACH_LANE                                                                   \
        {                                                                                      \
            IN(a, pa[l]) IN(b, pb[l]) const T x = v;                                           \
            r[l] = x;                                                                          \
            NANS_##ty(x)                                                                       \
        }                                                                                      \
        NANS_END(ty) return 0;                                                                 \
    }                                                                                          \
    H(name##_vs)                                                                               \
    {                                                                                          \
        TYPES(ty) T *r = PTR(T, d);                                                            \
        const T *pa = PTR(const T, a);                                                         \
        IN(b, *PTR(const T, b)) NANS_BEGIN EACH_LANE                                           \
        {                                                                                      \
            IN(a, pa[l]) const T x = v;                                                        \
            r[l] = x;                                                                          \
            NANS_##ty(x)                                                                       \
        }                                                                                      \
        NANS_END(ty) return 0;                                                                 \
    }                                                                                          \
    H(name##_sv)                                                                               \
    {                                                                                          \
        TYPES(ty) T *r = PTR(T, d);                                                            \
        IN(a, *PTR(const T, a)) const T *pb = PTR(const T, b);                                 \
        NANS_BEGIN EACH_LANE                                                                   \
        {                                                                                      \
            IN(b, pb[l]) const T x = v;                                                        \
            r[l] = x;                                                                          \
            NANS_##ty(x)                                                                       \
        }                                                                                      \
        NANS_END(ty) return 0;                                                                 \
    }                                                                                          \
    H(name##_g)                                                                                \
    {                                                                                          \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) IN(b, GRP(T, b, 2)) OUT(T) = nan_##ty(v); } \
        return 0;                                                                              \
    }
#define FSHAPE3(name, ty, IN, v)                                                                                   \
    H(name##_vvv)                                                                                                  \
    {                                                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                                                \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b), *pc = PTR(const T, c);                               \
        NANS_BEGIN EACH_LANE                                                                                       \
        {                                                                                                          \
            IN(a, pa[l]) IN(b, pb[l]) IN(c, pc[l]) const T x = v;                                                  \
            r[l] = x;                                                                                              \
            NANS_##ty(x)                                                                                           \
        }                                                                                                          \
        NANS_END(ty) return 0;                                                                                     \
    }                                                                                                              \
    H(name##_svv)                                                                                                  \
    {                                                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                                                \
        IN(a, *PTR(const T, a)) const T *pb = PTR(const T, b), *pc = PTR(const T, c);                              \
        NANS_BEGIN EACH_LANE                                                                                       \
        {                                                                                                          \
            IN(b, pb[l]) IN(c, pc[l]) const T x = v;                                                               \
            r[l] = x;                                                                                              \
            NANS_##ty(x)                                                                                           \
        }                                                                                                          \
        NANS_END(ty) return 0;                                                                                     \
    }                                                                                                              \
    H(name##_vsv)                                                                                                  \
    {                                                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                                                \
        const T *pa = PTR(const T, a), *pc = PTR(const T, c);                                                      \
        IN(b, *PTR(const T, b)) NANS_BEGIN EACH_LANE                                                               \
        {                                                                                                          \
            IN(a, pa[l]) IN(c, pc[l]) const T x = v;                                                               \
            r[l] = x;                                                                                              \
            NANS_##ty(x)                                                                                           \
        }                                                                                                          \
        NANS_END(ty) return 0;                                                                                     \
    }                                                                                                              \
    H(name##_vvs)                                                                                                  \
    {                                                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                                                \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                                                      \
        IN(c, *PTR(const T, c)) NANS_BEGIN EACH_LANE                                                               \
        {                                                                                                          \
            IN(a, pa[l]) IN(b, pb[l]) const T x = v;                                                               \
            r[l] = x;                                                                                              \
            NANS_##ty(x)                                                                                           \
        }                                                                                                          \
        NANS_END(ty) return 0;                                                                                     \
    }                                                                                                              \
    H(name##_vss)                                                                                                  \
    {                                                                                                              \
        TYPES(ty) T *r = PTR(T, d);                                                                                \
        const T *pa = PTR(const T, a);                                                                             \
        IN(b, *PTR(const T, b)) IN(c, *PTR(const T, c)) NANS_BEGIN EACH_LANE                                       \
        {                                                                                                          \
            IN(a, pa[l]) const T x = v;                                                                            \
            r[l] = x;                                                                                              \
            NANS_##ty(x)                                                                                           \
        }                                                                                                          \
        NANS_END(ty) return 0;                                                                                     \
    }                                                                                                              \
    H(name##_g)                                                                                                    \
    {                                                                                                              \
        TYPES(ty) EACH_GROUP { IN(a, GRP(T, a, 1)) IN(b, GRP(T, b, 2)) IN(c, GRP(T, c, 3)) OUT(T) = nan_##ty(v); } \
        return 0;                                                                                                  \
    }
#define D_FLOAT_MOD1(ty, id, m, v) FSHAPE1(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_MOD2(ty, id, m, v) FSHAPE2(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
#define D_FLOAT_MOD3(ty, id, m, v) FSHAPE3(id##_##ty##_##m, ty, FIN_##m##_N, FOUT_##m(ty, v))
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
#define D_FLOAT_f32(n, id, v)                                                                 \
    D_FLOAT_MOD##n(f32, id, p, v) D_FLOAT_MOD##n(f32, id, z, v) D_FLOAT_MOD##n(f32, id, s, v) \
        D_FLOAT_MOD##n(f32, id, zs, v)
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
#define D_SELECT(ty, id, v)                                          \
    H(id##_##ty##_vv)                                                \
    {                                                                \
        TYPES(ty) T *r = PTR(T, d);                                  \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);        \
        const u32 m = *PTR(const u32, c);                            \
        EACH_LANE                                                    \
        {                                                            \
            const T a = pa[l], b = pb[l];                            \
            const u32 p = m >> l & 1;                                \
            r[l] = v;                                                \
        }                                                            \
        return 0;                                                    \
    }                                                                \
    H(id##_##ty##_vs)                                                \
    {                                                                \
        TYPES(ty) T *r = PTR(T, d);                                  \
        const T *pa = PTR(const T, a);                               \
        const T b = *PTR(const T, b);                                \
        const u32 m = *PTR(const u32, c);                            \
        EACH_LANE                                                    \
        {                                                            \
            const T a = pa[l];                                       \
            const u32 p = m >> l & 1;                                \
            r[l] = v;                                                \
        }                                                            \
        return 0;                                                    \
    }                                                                \
    H(id##_##ty##_sv)                                                \
    {                                                                \
        TYPES(ty) T *r = PTR(T, d);                                  \
        const T *pb = PTR(const T, b);                               \
        const T a = *PTR(const T, a);                                \
        const u32 m = *PTR(const u32, c);                            \
        EACH_LANE                                                    \
        {                                                            \
            const T b = pb[l];                                       \
            const u32 p = m >> l & 1;                                \
            r[l] = v;                                                \
        }                                                            \
        return 0;                                                    \
    }                                                                \
    H(id##_##ty##_ss)                                                \
    {                                                                \
        TYPES(ty) T *r = PTR(T, d);                                  \
        const T a = *PTR(const T, a), b = *PTR(const T, b);          \
        const u32 m = *PTR(const u32, c);                            \
        EACH_LANE                                                    \
        {                                                            \
            const u32 p = m >> l & 1;                                \
            r[l] = v;                                                \
        }                                                            \
        return 0;                                                    \
    }                                                                \
    H(id##_##ty##_g)                                                 \
    {                                                                \
        TYPES(ty) const u32 p = (*PTR(const u32, c) & w->mask) != 0; \
        EACH_GROUP                                                   \
        {                                                            \
            const T a = GRP(T, a, 1), b = GRP(T, b, 2);              \
            OUT(T) = v;                                              \
        }                                                            \
        return 0;                                                    \
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
#define D_LANE4(ty, id, v)                                                                               \
    H(id##_##ty##_vvvv)                                                                                  \
    {                                                                                                    \
        TYPES(ty) T *r = PTR(T, d);                                                                      \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                                            \
        const u32 *pc = PTR(const u32, c), *pe = PTR(const u32, e);                                      \
        EACH_LANE                                                                                        \
        {                                                                                                \
            const T a = pa[l], b = pb[l];                                                                \
            const u32 c = pc[l], e = pe[l];                                                              \
            (void)e;                                                                                     \
            r[l] = v;                                                                                    \
        }                                                                                                \
        return 0;                                                                                        \
    }                                                                                                    \
    H(id##_##ty##_vvvs)                                                                                  \
    {                                                                                                    \
        TYPES(ty) T *r = PTR(T, d);                                                                      \
        const T *pa = PTR(const T, a), *pb = PTR(const T, b);                                            \
        const u32 *pc = PTR(const u32, c), e = *PTR(const u32, e);                                       \
        EACH_LANE                                                                                        \
        {                                                                                                \
            const T a = pa[l], b = pb[l];                                                                \
            const u32 c = pc[l];                                                                         \
            (void)e;                                                                                     \
            r[l] = v;                                                                                    \
        }                                                                                                \
        return 0;                                                                                        \
    }                                                                                                    \
    H(id##_##ty##_g)                                                                                     \
    {                                                                                                    \
        TYPES(ty) EACH_GROUP                                                                             \
        {                                                                                                \
            const T a = GRP(T, a, 1), b = GRP(T, b, 2);                                                  \
            const u32 c = GRP(u32, c, 3);                                                                \
            const u32 e = *(const u32 *)(const void *)(SLOT(R, i->e) + (CLS_E(i) == CLS_A ? 8 * g : 0)); \
            (void)e;                                                                                     \
            OUT(T) = v;                                                                                  \
        }                                                                                                \
        return 0;                                                                                        \
    }

/* Rows compiled once. M: what the modifiers say; f32 goes in and out by it. ENTER and LEAVE stand around the loop. */
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
#define AT_E(T) (*(const T *)(const void *)(SLOT(R, i->e) + (CLS_E(i) == CLS_A ? 8 * g : 0)))
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
#define SET1(n) { .v = { n##_v, n##_s }, .grp = n##_g },
#define SET2(n) { .v = { n##_vv, n##_sv, n##_vs }, .grp = n##_g },
#define SET3(n) { .v = { n##_vvv, n##_svv, n##_vsv, 0, n##_vvs, 0, n##_vss, 0 }, .grp = n##_g },
#define SET_V(n) { .v = { n##_v }, .grp = n##_g },
#define SET_VV(n) { .v = { n##_vv }, .grp = n##_g },
#define SET_NONE(...) { .grp = 0 },
#define T_LANE1(ty, id) SET1(id##_##ty)
#define T_LANE2(ty, id) SET2(id##_##ty)
#define T_LANE4(ty, id) { .v = { id##_##ty##_vvvv, [7] = id##_##ty##_vvvs }, .grp = id##_##ty##_g },
#define T_LANE3(ty, id) SET3(id##_##ty)
#define T_FLOAT_f32(n, id) SET##n(id##_f32_p) SET##n(id##_f32_z) SET##n(id##_f32_s) SET##n(id##_f32_zs)
#define T_FLOAT_f64(n, id) SET##n(id##_f64_p)
#define T_FLOAT(ty, id, n) T_FLOAT_##ty(n, id)
#define T_FCMP_f32(id) SET2(id##_f32_p) SET2(id##_f32_z)
#define T_FCMP_f64(id) SET2(id##_f64_p)
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
#define CMP(id, types, in, pv, ops, v) EACH_##types(T_LANE2, setp_##id) EACH_##types(SET_NONE)
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
