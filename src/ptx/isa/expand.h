/* clang-format off */
/* How a row of isa.def expands to its forms: the type sets, and the C types behind T, U, S, W. Shared by every pass. */
#ifndef LOCKSTEP_ISA_EXPAND_H
#define LOCKSTEP_ISA_EXPAND_H
#include "base/base.h"
typedef float f32; typedef double f64;
/* Small and packed formats are structs around their bits, so that words tell f16 from bf16 from u16. */
typedef struct { u16 v; } f16; typedef struct { u16 v; } bf16;
typedef struct { u32 v; } f16x2; typedef struct { u32 v; } bf16x2; typedef struct { u32 v; } u16x2;
typedef struct { u32 v; } s16x2;
typedef struct { u64 v; } f32x2;
typedef struct { u16 v; } e4m3x2; typedef struct { u16 v; } e5m2x2; typedef struct { u16 v; } e2m3x2;
typedef struct { u16 v; } e3m2x2;
typedef struct { u16 v; } e2m1x2; typedef struct { u16 v; } ue8m0x2;

/* PTX type -> element type in a register (8-bit types live in 16-bit registers and are narrowed where they are read).
 * raw16, raw32, raw64 are f16, f32, f64 in rows that only move bits. */
typedef u16 t_u16, t_b16, t_raw16; typedef s16 t_s16; typedef u32 t_u32, t_b32, t_raw32, t_tf32;
typedef s32 t_s32; typedef u64 t_u64, t_b64, t_raw64; typedef s64 t_s64;
typedef u8 t_u8, t_b8; typedef s8 t_s8; typedef f32 t_f32; typedef f64 t_f64;
typedef f16 t_f16, r_f16; typedef bf16 t_bf16, r_bf16; typedef f16x2 t_f16x2, r_f16x2;
typedef bf16x2 t_bf16x2, r_bf16x2;
typedef u16x2 t_u16x2, r_u16x2; typedef s16x2 t_s16x2, r_s16x2; typedef f32x2 t_f32x2, r_f32x2;
typedef e4m3x2 t_e4m3x2, r_e4m3x2; typedef e5m2x2 t_e5m2x2, r_e5m2x2; typedef e2m3x2 t_e2m3x2, r_e2m3x2;
typedef e3m2x2 t_e3m2x2, r_e3m2x2; typedef e2m1x2 t_e2m1x2, r_e2m1x2; typedef ue8m0x2 t_ue8m0x2, r_ue8m0x2;
/* U: unsigned, at least as wide as unsigned int */
typedef u32 w_u16, w_b16, w_s16, w_u32, w_b32, w_s32, w_f32, w_u8, w_s8; typedef u64 w_u64, w_b64, w_s64, w_f64;
/* W and UW: twice as wide as T */
typedef u32 d_u16, ud_u16, ud_s16; typedef s32 d_s16; typedef u64 d_u32, ud_u32, ud_s32; typedef s64 d_s32;
/* how a register of that type is stored: 8-bit types in u16 elements */
typedef u16 r_u16, r_b16, r_s16, r_u8, r_s8, r_b8, r_raw16; typedef u32 r_u32, r_b32, r_s32, r_raw32, r_tf32;
typedef u64 r_u64, r_b64, r_s64, r_raw64; typedef f32 r_f32; typedef f64 r_f64;

#define EACH_UNS(X, ...) X(u16, __VA_ARGS__) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define EACH_SGN(X, ...) X(s16, __VA_ARGS__) X(s32, __VA_ARGS__) X(s64, __VA_ARGS__)
#define EACH_INT(X, ...) EACH_UNS(X, __VA_ARGS__) EACH_SGN(X, __VA_ARGS__)
#define EACH_BIT(X, ...) X(b16, __VA_ARGS__) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define EACH_ANY(X, ...) EACH_INT(X, __VA_ARGS__) EACH_BIT(X, __VA_ARGS__)
#define EACH_SEL(X, ...) EACH_ANY(X, __VA_ARGS__) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_MOV(X, ...) EACH_ANY(X, __VA_ARGS__) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_WID(X, ...) X(u16, __VA_ARGS__) X(s16, __VA_ARGS__) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__)
#define EACH_B36(X, ...) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define EACH_U36(X, ...) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define EACH_W36(X, ...) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__) X(u64, __VA_ARGS__) X(s64, __VA_ARGS__)
#define EACH_I32(X, ...) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__)
#define EACH_B32(X, ...) X(b32, __VA_ARGS__)
#define EACH_B64(X, ...) X(b64, __VA_ARGS__)
#define EACH_S32(X, ...) X(s32, __VA_ARGS__)
#define EACH_RLU(X, ...) X(s32, __VA_ARGS__) X(s16x2, __VA_ARGS__)
#define EACH_I2(X, ...) X(u16x2, __VA_ARGS__) X(s16x2, __VA_ARGS__)
#define EACH_FLT(X, ...) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_F32(X, ...) X(f32, __VA_ARGS__)
#define EACH_F64(X, ...) X(f64, __VA_ARGS__)
#define EACH_FCM(X, ...) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__) X(f16, __VA_ARGS__) X(bf16, __VA_ARGS__)
#define EACH_F2(X, ...) X(f32x2, __VA_ARGS__)
#define EACH_R32(X, ...) X(raw32, __VA_ARGS__)
#define EACH_RAW(X, ...) X(raw32, __VA_ARGS__) X(raw64, __VA_ARGS__)
#define EACH_H(X, ...) X(f16, __VA_ARGS__) X(f16x2, __VA_ARGS__)
#define EACH_B(X, ...) X(bf16, __VA_ARGS__) X(bf16x2, __VA_ARGS__)
#define EACH_HB(X, ...) EACH_H(X, __VA_ARGS__) EACH_B(X, __VA_ARGS__)

/* conversions: X(D, T, ...) */
#define EACH_TO_INT(X, S, ...) X(u8, S, __VA_ARGS__) X(s8, S, __VA_ARGS__) X(u16, S, __VA_ARGS__) \
    X(s16, S, __VA_ARGS__) \
    X(u32, S, __VA_ARGS__) X(s32, S, __VA_ARGS__) X(u64, S, __VA_ARGS__) X(s64, S, __VA_ARGS__)
#define EACH_II(X, ...) EACH_TO_INT(X, u8, __VA_ARGS__) EACH_TO_INT(X, s8, __VA_ARGS__) \
    EACH_TO_INT(X, u16, __VA_ARGS__) EACH_TO_INT(X, s16, __VA_ARGS__) \
    EACH_TO_INT(X, u32, __VA_ARGS__) EACH_TO_INT(X, s32, __VA_ARGS__) EACH_TO_INT(X, u64, __VA_ARGS__) \
    EACH_TO_INT(X, s64, __VA_ARGS__)
#define EACH_FROM_INT(X, D, ...) X(D, u8, __VA_ARGS__) X(D, s8, __VA_ARGS__) X(D, u16, __VA_ARGS__) \
    X(D, s16, __VA_ARGS__) \
    X(D, u32, __VA_ARGS__) X(D, s32, __VA_ARGS__) X(D, u64, __VA_ARGS__) X(D, s64, __VA_ARGS__)
#define EACH_FI(X, ...) EACH_FROM_INT(X, f32, __VA_ARGS__) EACH_FROM_INT(X, f64, __VA_ARGS__)
#define EACH_IF(X, ...) EACH_TO_INT(X, f32, __VA_ARGS__) EACH_TO_INT(X, f64, __VA_ARGS__)
#define EACH_HI(X, ...) EACH_FROM_INT(X, f16, __VA_ARGS__) EACH_FROM_INT(X, bf16, __VA_ARGS__)
#define EACH_IH(X, ...) EACH_TO_INT(X, f16, __VA_ARGS__) EACH_TO_INT(X, bf16, __VA_ARGS__)
#define EACH_WF(X, ...) X(f64, f32, __VA_ARGS__) X(f32, f32, __VA_ARGS__) X(f64, f64, __VA_ARGS__)
#define EACH_NF(X, ...) X(f32, f64, __VA_ARGS__)
#define EACH_FF(X, ...) X(f32, f32, __VA_ARGS__) X(f64, f64, __VA_ARGS__)
#define EACH_FH(X, ...) X(f32, f16, __VA_ARGS__) X(f64, f16, __VA_ARGS__) X(f32, bf16, __VA_ARGS__) \
    X(f64, bf16, __VA_ARGS__)
#define EACH_FB(X, ...) X(f32, bf16, __VA_ARGS__) X(f64, bf16, __VA_ARGS__)
#define EACH_HN(X, ...) X(f16, f32, __VA_ARGS__) X(bf16, f32, __VA_ARGS__)
#define EACH_HF(X, ...) X(f16, f32, __VA_ARGS__)
#define EACH_BF(X, ...) X(bf16, f32, __VA_ARGS__)
#define EACH_HD(X, ...) X(f16, f64, __VA_ARGS__) X(bf16, f64, __VA_ARGS__)
#define EACH_HH(X, ...) X(f16, f16, __VA_ARGS__) X(bf16, bf16, __VA_ARGS__)
#define EACH_HX(X, ...) X(f16, bf16, __VA_ARGS__) X(bf16, f16, __VA_ARGS__)
#define EACH_TF(X, ...) X(tf32, f32, __VA_ARGS__)
#define EACH_F8(X, ...) X(e4m3x2, f16x2, __VA_ARGS__) X(e5m2x2, f16x2, __VA_ARGS__)
#define EACH_UN8(X, ...) X(f16x2, e4m3x2, __VA_ARGS__) X(f16x2, e5m2x2, __VA_ARGS__) X(f16x2, e2m3x2, __VA_ARGS__) \
    X(f16x2, e3m2x2, __VA_ARGS__) X(f16x2, e2m1x2, __VA_ARGS__)
#define EACH_U8B(X, ...) X(ue8m0x2, bf16x2, __VA_ARGS__)
#define EACH_UNU8(X, ...) X(bf16x2, ue8m0x2, __VA_ARGS__)

/* rows whose operands have types of their own: X(D, A, B, C, E, ...), as many as the row has; the rest repeat */
#define EACH_AB_OF(X, D, C, ...) X(D, u32, u32, C, u32, __VA_ARGS__) X(D, u32, s32, C, u32, __VA_ARGS__) \
    X(D, s32, u32, C, u32, __VA_ARGS__) X(D, s32, s32, C, u32, __VA_ARGS__)
#define EACH_DAB(X, ...) EACH_AB_OF(X, u32, u32, __VA_ARGS__) EACH_AB_OF(X, s32, u32, __VA_ARGS__)
#define EACH_AB(X, ...) EACH_AB_OF(X, u32, u32, __VA_ARGS__)
#define EACH_DAU(X, ...) X(u32, u32, u32, u32, u32, __VA_ARGS__) X(u32, s32, u32, u32, u32, __VA_ARGS__) \
    X(s32, u32, u32, u32, u32, __VA_ARGS__) X(s32, s32, u32, u32, u32, __VA_ARGS__)
#define EACH_DP(X, ...) X(u32, u32, u32, u32, u32, __VA_ARGS__) X(s32, u32, s32, s32, u32, __VA_ARGS__) \
    X(s32, s32, u32, s32, u32, __VA_ARGS__) X(s32, s32, s32, s32, u32, __VA_ARGS__)
#define EACH_SLCT_BY(X, C, ...) X(b16, b16, b16, C, u32, __VA_ARGS__) X(b32, b32, b32, C, u32, __VA_ARGS__) \
    X(b64, b64, b64, C, u32, __VA_ARGS__) \
    X(u16, u16, u16, C, u32, __VA_ARGS__) X(u32, u32, u32, C, u32, __VA_ARGS__) X(u64, u64, u64, C, u32, __VA_ARGS__) \
    X(s16, s16, s16, C, u32, __VA_ARGS__) X(s32, s32, s32, C, u32, __VA_ARGS__) X(s64, s64, s64, C, u32, __VA_ARGS__) \
    X(raw32, raw32, raw32, C, u32, __VA_ARGS__) X(raw64, raw64, raw64, C, u32, __VA_ARGS__)
#define EACH_SLS(X, ...) EACH_SLCT_BY(X, s32, __VA_ARGS__)
#define EACH_SLF(X, ...) EACH_SLCT_BY(X, f32, __VA_ARGS__)
#define EACH_SZX(X, ...) X(u32, u32, u32, u32, u32, __VA_ARGS__) X(s32, s32, u32, u32, u32, __VA_ARGS__)
#define EACH_FNS(X, ...) X(b32, b32, u32, s32, u32, __VA_ARGS__)
#define EACH_BMK(X, ...) X(b32, u32, u32, u32, u32, __VA_ARGS__)
#define EACH_MX2(X, ...) X(f32, f16, f32, f32, u32, __VA_ARGS__) X(f32, bf16, f32, f32, u32, __VA_ARGS__)
#define EACH_MX3(X, ...) X(f32, f16, f16, f32, u32, __VA_ARGS__) X(f32, bf16, bf16, f32, u32, __VA_ARGS__)
#define EACH_F8F(X, ...) X(e4m3x2, f32, f32, u32, u32, __VA_ARGS__) X(e5m2x2, f32, f32, u32, u32, __VA_ARGS__) \
    X(e2m3x2, f32, f32, u32, u32, __VA_ARGS__) X(e3m2x2, f32, f32, u32, u32, __VA_ARGS__) \
    X(e2m1x2, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_U8F(X, ...) X(ue8m0x2, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_H2F(X, ...) X(f16x2, f32, f32, u32, u32, __VA_ARGS__) X(bf16x2, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_H2R(X, ...) X(f16x2, f32, f32, u32, u32, __VA_ARGS__) X(bf16x2, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_RS4(X, ...) X(u32, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_RS2(X, ...) X(u16, f32, f32, u32, u32, __VA_ARGS__)
#define EACH_PK3(X, ...) X(b32, s32, s32, b32, u32, __VA_ARGS__)
#define EACH_PK2(X, ...) X(u32, s32, s32, u32, u32, __VA_ARGS__)
#endif
