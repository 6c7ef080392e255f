/* How a row of isa.def expands to its forms: the type sets, and the C types behind T, U, S, W. Shared by every pass. */
#ifndef LOCKSTEP_ISA_EXPAND_H
#define LOCKSTEP_ISA_EXPAND_H
#include "base/base.h"
typedef float f32; typedef double f64;

/* PTX type -> element type in a register (8-bit types live in 16-bit registers and are narrowed where they are read). */
typedef u16 t_u16, t_b16; typedef s16 t_s16; typedef u32 t_u32, t_b32; typedef s32 t_s32; typedef u64 t_u64, t_b64; typedef s64 t_s64;
typedef u8 t_u8, t_b8; typedef s8 t_s8; typedef f32 t_f32; typedef f64 t_f64;
/* U: unsigned, at least as wide as unsigned int */
typedef u32 w_u16, w_b16, w_s16, w_u32, w_b32, w_s32, w_f32, w_u8, w_s8; typedef u64 w_u64, w_b64, w_s64, w_f64;
/* W and UW: twice as wide as T */
typedef u32 d_u16, ud_u16, ud_s16; typedef s32 d_s16; typedef u64 d_u32, ud_u32, ud_s32; typedef s64 d_s32;
/* how a register of that type is stored: 8-bit types in u16 elements */
typedef u16 r_u16, r_b16, r_s16, r_u8, r_s8, r_b8; typedef u32 r_u32, r_b32, r_s32; typedef u64 r_u64, r_b64, r_s64; typedef f32 r_f32; typedef f64 r_f64;

#define EACH_UNS(X, ...) X(u16, __VA_ARGS__) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define EACH_SGN(X, ...) X(s16, __VA_ARGS__) X(s32, __VA_ARGS__) X(s64, __VA_ARGS__)
#define EACH_INT(X, ...) EACH_UNS(X, __VA_ARGS__) EACH_SGN(X, __VA_ARGS__)
#define EACH_BIT(X, ...) X(b16, __VA_ARGS__) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define EACH_BUN(X, ...) EACH_BIT(X, __VA_ARGS__) EACH_UNS(X, __VA_ARGS__)
#define EACH_ANY(X, ...) EACH_INT(X, __VA_ARGS__) EACH_BIT(X, __VA_ARGS__)
#define EACH_SEL(X, ...) EACH_ANY(X, __VA_ARGS__) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_MOV(X, ...) EACH_ANY(X, __VA_ARGS__) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_WID(X, ...) X(u16, __VA_ARGS__) X(s16, __VA_ARGS__) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__)
#define EACH_B36(X, ...) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define EACH_U36(X, ...) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define EACH_W36(X, ...) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__) X(u64, __VA_ARGS__) X(s64, __VA_ARGS__)
#define EACH_B32(X, ...) X(b32, __VA_ARGS__)
#define EACH_S32(X, ...) X(s32, __VA_ARGS__)
#define EACH_FLT(X, ...) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define EACH_F32(X, ...) X(f32, __VA_ARGS__)
/* conversions: X(D, T, ...) */
#define EACH_II_FROM(X, S, ...) X(u8, S, __VA_ARGS__) X(s8, S, __VA_ARGS__) X(u16, S, __VA_ARGS__) X(s16, S, __VA_ARGS__) \
    X(u32, S, __VA_ARGS__) X(s32, S, __VA_ARGS__) X(u64, S, __VA_ARGS__) X(s64, S, __VA_ARGS__)
#define EACH_II(X, ...) EACH_II_FROM(X, u8, __VA_ARGS__) EACH_II_FROM(X, s8, __VA_ARGS__) EACH_II_FROM(X, u16, __VA_ARGS__) EACH_II_FROM(X, s16, __VA_ARGS__) \
    EACH_II_FROM(X, u32, __VA_ARGS__) EACH_II_FROM(X, s32, __VA_ARGS__) EACH_II_FROM(X, u64, __VA_ARGS__) EACH_II_FROM(X, s64, __VA_ARGS__)
#define EACH_FI_TO(X, D, ...) X(D, u8, __VA_ARGS__) X(D, s8, __VA_ARGS__) X(D, u16, __VA_ARGS__) X(D, s16, __VA_ARGS__) \
    X(D, u32, __VA_ARGS__) X(D, s32, __VA_ARGS__) X(D, u64, __VA_ARGS__) X(D, s64, __VA_ARGS__)
#define EACH_FI(X, ...) EACH_FI_TO(X, f32, __VA_ARGS__) EACH_FI_TO(X, f64, __VA_ARGS__)
#define EACH_IF(X, ...) EACH_II_FROM(X, f32, __VA_ARGS__) EACH_II_FROM(X, f64, __VA_ARGS__)
#define EACH_WF(X, ...) X(f64, f32, __VA_ARGS__) X(f32, f32, __VA_ARGS__) X(f64, f64, __VA_ARGS__)
#define EACH_NF(X, ...) X(f32, f64, __VA_ARGS__)
#define EACH_FF(X, ...) X(f32, f32, __VA_ARGS__) X(f64, f64, __VA_ARGS__)
#define EACH_SF(X, ...) X(f32, f32, __VA_ARGS__)
#endif
