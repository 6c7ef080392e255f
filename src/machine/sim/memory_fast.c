/* The fast handlers of launches without checks of accesses. */
#define LOOKS 0
#define FAST_MISS run_access
#define WATCH_RUN(sp, W, a, n, lane, N) ((void)0)
#define WATCH_ONE(sp, W, a, N) ((void)0)
#define WATCH_GROUP(sp, a, N, lane, k) ((void)0)
#define WATCH_SOME(sp, W, a, lane, N, m) ((void)(lane))
#define WATCH_EACH(sp, W, a, N) ((void)0)
#define WATCH_PICK(sp, W, a, N) ((void)0)
#include "sim/handlers.h"
#include "sim/memory_fast.h"

handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    return fast_handler(s, i, group, stride);
}
