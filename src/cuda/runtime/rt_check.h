/* rt_check.h: what is asked of a call before its function runs, made from the last column of abi/cudart.def, as
 * driver/cu_check.h does it for libcuda.def. RT_DEFINE(cudaGetDevice, int *, device) { ... } is the function of the
 * API; its error is kept as the thread's last one.
 *
 * Words beside those of abi/call_token.h:
 *   READY  the devices: cuInit is called if need be
 *   ENTER  the primary context of the thread's device is current: here.context */
#ifndef LOCKSTEP_RT_CHECK_H
#define LOCKSTEP_RT_CHECK_H
#include "driver/cu_check.h"
#include "runtime/rt.h"

#include "abi/call_token.h"
#define READY CU_TRY(rt_ready())
#define ENTER CU_TRY(rt_enter(&here->context))
#define RT(symbol, first, last, variant, returns, parameters, ...)                           \
    static inline cu_result rt_check_##symbol(const struct cu_word *w, struct cu_here *here) \
    {                                                                                        \
        static const char *const names = parameters;                                         \
        (void)w, (void)here, (void)names;                                                    \
        __VA_ARGS__                                                                          \
        return CU_OK;                                                                        \
    }
#include "abi/cudart.def"
#undef RT
#undef FORWARD
#undef READY
#undef ENTER
#include "abi/call_token.h"

#define RT_DEFINE(symbol, ...)                                                                                 \
    static cu_result rt_do_##symbol(struct cu_here here __VA_OPT__(, ) CU_EACH(CU_PARAMETER, __VA_ARGS__));    \
    RT_API(symbol)(CU_EACH(CU_PARAMETER, __VA_ARGS__))                                                         \
    {                                                                                                          \
        struct cu_here here = { 0 };                                                                           \
        const struct cu_word argument[] = { CU_EACH(CU_ARGUMENT, __VA_ARGS__) __VA_OPT__(, ){ 0, 0 } };        \
        cu_result checked = rt_check_##symbol(argument, &here);                                                \
        return rt_done(checked ? checked : rt_do_##symbol(here __VA_OPT__(, ) CU_EACH(CU_NAME, __VA_ARGS__))); \
    }                                                                                                          \
    static cu_result rt_do_##symbol(__attribute__((unused)) struct cu_here here __VA_OPT__(, )                 \
                                        CU_EACH(CU_UNUSED, __VA_ARGS__))
#endif
