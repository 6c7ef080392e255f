/* The fast handlers of launches where initialised values are the only thing that is watched. */
#include "sim/planes.h"
#define LOOKS 1
#define FAST_MISS memory_watched
#define WATCH_RUN(sp, W, a, n, lane, N) INIT_FIRST(sp)
#define WATCH_ONE(sp, W, a, N) INIT_FIRST(sp)
#define WATCH_GROUP(sp, a, N, lane, k) INIT_FIRST(sp)
#define WATCH_SOME(sp, W, a, lane, N, m) \
    do {                                 \
        (void)(lane);                    \
        INIT_FIRST(sp);                  \
    } while (0)
#define WATCH_EACH(sp, W, a, N) INIT_FIRST(sp)
#define WATCH_PICK(sp, W, a, N) INIT_FIRST(sp)
#include "sim/memory_fast.h"

handler *init_handler(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    return fast_handler(s, i, group, stride);
}
