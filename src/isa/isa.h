/* isa: what isa.def says, as tables that every layer can read.
 *
 * A *row* of isa.def becomes one *form* for each of its types and each of its .ftz/.sat variants. Forms are numbered in the
 * order of the file, the same in every pass over it, so tables made by different passes are indexed alike. */
#ifndef LOCKSTEP_ISA_H
#define LOCKSTEP_ISA_H
#include "isa/types.h"

enum isa_kind { K_LANE, K_CMP, K_PRED, K_MEM, K_WARP, K_CTRL };
enum isa_mod { MOD_FTZ = 1, MOD_SAT = 2 };
enum isa_shape {                /* which operands there are and how their types follow from T */
    SH_1, SH_2, SH_3,           /* all T */
    SH_4,                       /* a, b are T; c, e are u32 */
    SH_SHIFT, SH_COUNT, SH_WIDE2, SH_WIDE3, SH_CMP, SH_SELECT, SH_CONVERT, SH_PRED1, SH_PRED2, SH_NAMED
};

/* The rows by name: ROW_add, ROW_setp_lt ... (several rows may share a name; the name is what decode switches on). */
struct isa_form {
    const char *id;             /* "setp_lt" */
    const char *syntax;         /* as in isa.def */
    u16 name;                   /* enum isa_name: equal for equal ids */
    u8 kind, shape;
    u8 type;                    /* T */
    u8 dtype;                   /* D of a conversion, W of a wide operation, T otherwise */
    u8 mods;                    /* MOD_* that this form has */
    u8 nsrc;                    /* source operands of a lane form: a b c e */
    u16 line;                   /* in isa.def */
};
extern const struct isa_form isa_forms[];
extern const u32 isa_count;

/* One number per distinct id, for the switch statements of decode. */
#define ISA_NAMES(X) \
    X(add) X(add_sat) X(sub) X(sub_sat) X(mul_lo) X(mul_hi) X(mul_wide) X(mad_lo) X(mad_hi) X(mad_wide) X(div) X(rem) \
    X(min) X(max) X(abs) X(neg) X(popc) X(clz) X(brev) X(bfind) X(bfind_shift) X(bfi) X(lop3) X(prmt) X(shf_l) X(shf_r) X(shf_lc) X(shf_rc) X(bfe) X(mul) X(fma) X(mad) X(div_full) X(rcp) X(rcp_approx) \
    X(sqrt) X(sqrt_approx) X(rsqrt_approx) X(ex2_approx) X(lg2_approx) X(sin_approx) X(cos_approx) X(and) X(or) X(xor) X(not) \
    X(shl) X(shr) X(and_pred) X(or_pred) X(xor_pred) X(not_pred) X(mov_pred) X(setp_eq) X(setp_ne) X(setp_lt) X(setp_le) \
    X(setp_gt) X(setp_ge) X(setp_equ) X(setp_neu) X(setp_ltu) X(setp_leu) X(setp_gtu) X(setp_geu) X(setp_num) X(setp_nan) \
    X(selp) X(mov) X(cvta) X(cvt) X(cvt_rzi) X(cvt_rni) X(cvt_rmi) X(cvt_rpi) X(cvt_rn) X(cvt_sat) X(ld) X(st) X(atom) X(red) \
    X(membar) X(fence) X(isspacep) X(shfl) X(vote) X(ballot) X(match_any) X(match_all) X(redux) X(warp_bar) X(activemask) \
    X(bra) X(brx) X(call) X(ret) X(exit) X(trap) X(nanosleep) X(bar) X(barrier) X(bar_redp) X(bar_redc) X(barrier_redp) X(barrier_redc) \
    X(hint) X(mov128) X(policy) X(cp_async) X(cp_commit) X(cp_wait) X(cp_wait_all) X(cp_mbar) X(mbar_init) X(mbar_inval) X(mbar_arrive) X(mbar_drop) X(mbar_wait) \
    X(mbar_parity) X(mbar_pending) X(ldmatrix) X(stmatrix) X(elect) X(brkpt) X(alloca) X(stacksave) X(stackrestore)
enum isa_name {
#define X(n) N_##n,
    ISA_NAMES(X)
#undef X
    N_COUNT
};

/* Finds the form of an opcode such as "add.rn.ftz.f32"; -1: the table has none. */
int isa_find(struct str opcode);
/* A form by name, type and modifiers, for code that decode makes itself; never fails for what isa.def has. */
int isa_form(enum isa_name name, enum ptx_type type, enum ptx_type dtype, u32 mods);
/* Type of operand n of a lane form (0 = d, 1.. = a b c); T_PRED for predicates, T_NONE: no such operand. */
enum ptx_type isa_operand_type(const struct isa_form *f, u32 n);
#endif
