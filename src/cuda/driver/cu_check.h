/* cu_check.h: what is asked of a call before its function runs, made from the last column of abi/libcuda.def.
 *
 * CU_DEFINE(cuStreamGetFlags, void *, s, unsigned *, out) { ... } is the function of the API with what its row asks in
 * front: types and names in pairs, as a system call is defined in Linux. The function has what was looked up on the way
 * in `here`. A call from another function of the driver's or from the runtime's is asked the same. */
#ifndef LOCKSTEP_CU_CHECK_H
#define LOCKSTEP_CU_CHECK_H
#include "driver/cu.h"
#include "driver/cu_reason.h"
#include "queue/node_type.h"
#include <inttypes.h>

struct cu_here { /* what the checks have found; NULL: the row does not ask for it */
    struct cu_context *context;
    lk_stream *stream;
    struct cu_device *device;
    struct cu_function *function;
};
struct cu_word { /* an argument */
    u64 value;
    u64 bytes; /* of what it points to; 1: it is no pointer */
};

#include "abi/call_token.h"
#define CU(symbol, name, since, variant, later, returns, parameters, ...)                    \
    static inline cu_result cu_check_##symbol(const struct cu_word *w, struct cu_here *here) \
    {                                                                                        \
        static const char *const names = parameters;                                         \
        (void)w, (void)here, (void)names;                                                    \
        __VA_ARGS__                                                                          \
        return CU_OK;                                                                        \
    }
#include "abi/libcuda.def"
#undef CU
#include "abi/call_token.h"

/* ---- definitions ---- */

/* m(type, name) for each pair, with commas between them. */
#define CU_EACH(m, ...)                                                                                         \
    CU_COUNT(0 __VA_OPT__(, ) __VA_ARGS__, 20, x, 18, x, 16, x, 14, x, 12, x, 10, x, 8, x, 6, x, 4, x, 2, x, 0) \
    (m __VA_OPT__(, ) __VA_ARGS__)
#define CU_COUNT(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, count, \
                 ...)                                                                                                  \
    CU_EACH_##count
#define CU_EACH_0(m)
#define CU_EACH_2(m, t, n) m(t, n)
#define CU_EACH_4(m, t, n, ...) m(t, n), CU_EACH_2(m, __VA_ARGS__)
#define CU_EACH_6(m, t, n, ...) m(t, n), CU_EACH_4(m, __VA_ARGS__)
#define CU_EACH_8(m, t, n, ...) m(t, n), CU_EACH_6(m, __VA_ARGS__)
#define CU_EACH_10(m, t, n, ...) m(t, n), CU_EACH_8(m, __VA_ARGS__)
#define CU_EACH_12(m, t, n, ...) m(t, n), CU_EACH_10(m, __VA_ARGS__)
#define CU_EACH_14(m, t, n, ...) m(t, n), CU_EACH_12(m, __VA_ARGS__)
#define CU_EACH_16(m, t, n, ...) m(t, n), CU_EACH_14(m, __VA_ARGS__)
#define CU_EACH_18(m, t, n, ...) m(t, n), CU_EACH_16(m, __VA_ARGS__)
#define CU_EACH_20(m, t, n, ...) m(t, n), CU_EACH_18(m, __VA_ARGS__)
#define CU_PARAMETER(type, name) type name
#define CU_UNUSED(type, name) __attribute__((unused)) type name
#define CU_NAME(type, name) name
/* What a pointer leads to has a size; of a number it is 1. Nothing is asked of a float. */
#define CU_ARGUMENT(type, name)                              \
    {                                                        \
        (u64)(uintptr_t) _Generic((name), float : 0, default \
                                  : (name)),                 \
            sizeof *_Generic((name), int                     \
                             : "", unsigned                  \
                             : "", u64                       \
                             : "", s64                       \
                             : "", u8                        \
                             : "", u16                       \
                             : "", float                     \
                             : "", default                   \
                             : (name))                       \
    }

#define CU_DEFINE(symbol, ...)                                                                              \
    static cu_result cu_do_##symbol(struct cu_here here __VA_OPT__(, ) CU_EACH(CU_PARAMETER, __VA_ARGS__)); \
    CU_API(symbol)(CU_EACH(CU_PARAMETER, __VA_ARGS__))                                                      \
    {                                                                                                       \
        struct cu_here here = { 0 };                                                                        \
        const struct cu_word argument[] = { CU_EACH(CU_ARGUMENT, __VA_ARGS__) __VA_OPT__(, ){ 0, 0 } };     \
        cu_result checked = cu_check_##symbol(argument, &here);                                             \
        return checked ? checked : cu_do_##symbol(here __VA_OPT__(, ) CU_EACH(CU_NAME, __VA_ARGS__));       \
    }                                                                                                       \
    static cu_result cu_do_##symbol(__attribute__((unused)) struct cu_here here __VA_OPT__(, )              \
                                        CU_EACH(CU_UNUSED, __VA_ARGS__))
#endif
