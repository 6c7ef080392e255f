/* The fast handlers of launches under all checks. */
#define HANDLER_FIRST(sp) INIT_FIRST(sp)
#include "race/race_handlers.h"

handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    return fast_handler(s, i, group, stride);
}
