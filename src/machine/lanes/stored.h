/* stored.h: values on their way to global memory are looked at for NaN and infinity (rules.md V1).
 *
 * After a launch, check/value_scan.c says which of the floats that it wrote are odd. To read them again for that would
 * wait for memory. So the handlers of launches whose values are checked (those with the check of initialised values, by
 * which the scan knows what was written) look while a value is in a register: an element of 4 bytes as f32, one of 8 as
 * f64. They say only that something was odd; then the scan looks, and finds what and where. What is stored otherwise
 * (atomics, copies, other sizes) counts as odd by what the code is: lowered.unseen. */
#ifndef LOCKSTEP_STORED_H
#define LOCKSTEP_STORED_H
#include "base/base.h"

/* The test of value_any_odd: adding 1 to an exponent of all ones carries into the bit of the sign. */
#define ODD_MASK_4 0x7f800000u
#define ODD_ADD_4 0x00800000u
#define ODD_SIGNS_4 0x8000000080000000u
#define ODD_MASK_8 0x7ff0000000000000u
#define ODD_ADD_8 0x0010000000000000u
#define ODD_SIGNS_8 0x8000000000000000u

typedef u32 stored_vec_4 __attribute__((vector_size(16), aligned(2), may_alias));
typedef u64 stored_vec_8 __attribute__((vector_size(16), aligned(2), may_alias));

/* Copies 128 bytes, elements of N, and says whether some are odd; memcpy would be a call. The other one copies nothing.
 */
#define STORED_INLINE static inline __attribute__((always_inline))
#define STORED(N)                                                                                                \
    STORED_INLINE stored_vec_##N stored_carry_##N(stored_vec_##N v) { return (v & ODD_MASK_##N) + ODD_ADD_##N; } \
    STORED_INLINE bool stored_odd_##N(const stored_vec_##N v[8])                                                 \
    {                                                                                                            \
        stored_vec_##N a = stored_carry_##N(v[0]) | stored_carry_##N(v[1]) | stored_carry_##N(v[2]);             \
        stored_vec_##N b = stored_carry_##N(v[3]) | stored_carry_##N(v[4]) | stored_carry_##N(v[5]);             \
        a |= b | stored_carry_##N(v[6]) | stored_carry_##N(v[7]);                                                \
        stored_vec_8 all = (stored_vec_8)a;                                                                      \
        return (all[0] | all[1]) & ODD_SIGNS_##N;                                                                \
    }                                                                                                            \
    STORED_INLINE bool stored_look_##N(const void *from) { return stored_odd_##N(from); }                        \
    STORED_INLINE bool stored_copy_##N(void *restrict to, const void *restrict from)                             \
    {                                                                                                            \
        const stored_vec_##N *f = from;                                                                          \
        stored_vec_##N *t = to, v[8] = { f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7] };                       \
        t[0] = v[0], t[1] = v[1], t[2] = v[2], t[3] = v[3];                                                      \
        t[4] = v[4], t[5] = v[5], t[6] = v[6], t[7] = v[7];                                                      \
        return stored_odd_##N(v);                                                                                \
    }
STORED(4)
STORED(8)
/* Of all lanes of a register. */
STORED_INLINE bool stored_lanes_odd(const char *from, u32 bytes)
{
    return bytes == 4 ? stored_look_4(from) : stored_look_8(from) || stored_look_8(from + 128);
}

static inline bool stored_is_odd(u64 v, u32 bytes)
{
    return bytes == 4 ? ((u32)v & ODD_MASK_4) == ODD_MASK_4 : bytes == 8 && (v & ODD_MASK_8) == ODD_MASK_8;
}

#endif
