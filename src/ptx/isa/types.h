/* clang-format off */
/* PTX types and special registers, the words that the front end and the machine share. */
#ifndef LOCKSTEP_ISA_TYPES_H
#define LOCKSTEP_ISA_TYPES_H
#include "base/base.h"

/* X(enum, text, bytes) */
#define PTX_TYPES(X) \
    X(T_NONE, "", 0) X(T_PRED, "pred", 1) \
    X(T_B8, "b8", 1) X(T_B16, "b16", 2) X(T_B32, "b32", 4) X(T_B64, "b64", 8) X(T_B128, "b128", 16) \
    X(T_U8, "u8", 1) X(T_U16, "u16", 2) X(T_U32, "u32", 4) X(T_U64, "u64", 8) \
    X(T_S8, "s8", 1) X(T_S16, "s16", 2) X(T_S32, "s32", 4) X(T_S64, "s64", 8) \
    X(T_F16, "f16", 2) X(T_F16X2, "f16x2", 4) X(T_BF16, "bf16", 2) X(T_BF16X2, "bf16x2", 4) \
    X(T_TF32, "tf32", 4) X(T_F32, "f32", 4) X(T_F64, "f64", 8) X(T_F32X2, "f32x2", 8) \
    X(T_E4M3, "e4m3", 1) X(T_E5M2, "e5m2", 1) X(T_E4M3X2, "e4m3x2", 2) X(T_E2M3X2, "e2m3x2", 2) \
    X(T_E3M2X2, "e3m2x2", 2) X(T_E2M1X2, "e2m1x2", 1) \
    X(T_UE8M0X2, "ue8m0x2", 2) X(T_E5M2X2, "e5m2x2", 2) X(T_U16X2, "u16x2", 4) X(T_S16X2, "s16x2", 4) \
    X(T_TEXREF, "texref", 8) X(T_SAMPLERREF, "samplerref", 8) X(T_SURFREF, "surfref", 8)
enum ptx_type {
#define X(e, s, n) e,
    PTX_TYPES(X)
#undef X
    T_COUNT
};
extern const char *const type_name[T_COUNT];
extern const u8 type_size[T_COUNT];
enum ptx_type type_find(struct str text);       /* T_NONE: no such type */
static inline bool type_is_float(enum ptx_type t)
{
    return (t >= T_F16 && t <= T_F32X2) || (t >= T_E4M3 && t <= T_E5M2X2);
}
static inline bool type_is_signed(enum ptx_type t) { return t >= T_S8 && t <= T_S64; }

/* Special registers (manual section 10). `id` is what the machine switches on. */
struct sreg { const char *name; u16 id; u8 type; u8 comp; };   /* "%tid.x": id SR_TID, comp 0 */
#define PTX_SREGS(X) \
    X(TID, "%tid", 3) X(NTID, "%ntid", 3) X(CTAID, "%ctaid", 3) X(NCTAID, "%nctaid", 3) \
    X(LANEID, "%laneid", 0) X(WARPID, "%warpid", 0) X(NWARPID, "%nwarpid", 0) X(SMID, "%smid", 0) \
    X(NSMID, "%nsmid", 0) \
    X(GRIDID, "%gridid", -8) X(CLOCK, "%clock", 0) X(CLOCK_HI, "%clock_hi", 0) X(CLOCK64, "%clock64", -8) \
    X(GLOBALTIMER, "%globaltimer", -8) X(GLOBALTIMER_LO, "%globaltimer_lo", 0) X(GLOBALTIMER_HI, "%globaltimer_hi", 0) \
    X(LANEMASK_EQ, "%lanemask_eq", 0) X(LANEMASK_LE, "%lanemask_le", 0) X(LANEMASK_LT, "%lanemask_lt", 0) \
    X(LANEMASK_GE, "%lanemask_ge", 0) X(LANEMASK_GT, "%lanemask_gt", 0) \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size", 0) X(TOTAL_SMEM_SIZE, "%total_smem_size", 0) \
    X(AGGR_SMEM_SIZE, "%aggr_smem_size", 0) \
    X(CLUSTERID, "%clusterid", 3) X(NCLUSTERID, "%nclusterid", 3) X(CLUSTER_CTAID, "%cluster_ctaid", 3) \
    X(CLUSTER_NCTAID, "%cluster_nctaid", 3) X(CLUSTER_CTARANK, "%cluster_ctarank", 0) \
    X(CLUSTER_NCTARANK, "%cluster_nctarank", 0) \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster", 1) X(CURRENT_GRAPH_EXEC, "%current_graph_exec", -8) \
    X(RESERVED_SMEM_OFFSET_BEGIN, "%reserved_smem_offset_begin", 0) \
    X(RESERVED_SMEM_OFFSET_END, "%reserved_smem_offset_end", 0) \
    X(RESERVED_SMEM_OFFSET_CAP, "%reserved_smem_offset_cap", 0) \
    X(RESERVED_SMEM_OFFSET_0, "%reserved_smem_offset_0", 0) \
    X(RESERVED_SMEM_OFFSET_1, "%reserved_smem_offset_1", 0)
/* third column: 3 = has .x .y .z (.w reads 0), 0 = u32, -8 = u64, 1 = predicate. %envreg0..31 and
 * %pm0..7(_64) are numbered registers: SR_ENVREG, SR_PM, SR_PM64 with comp = the number. */
enum sreg_id {
#define X(e, s, k) SR_##e,
    PTX_SREGS(X)
#undef X
    SR_ENVREG, SR_PM, SR_PM64, SR_COUNT
};
/* "%tid.x" -> its row (static storage); NULL: no such register. */
const struct sreg *sreg_find(struct str text);
#endif
