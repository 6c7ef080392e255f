/* The fast handlers under both the race check and the check of initialised values, which comes first. */
#define HANDLER_FIRST(sp) INIT_FIRST(sp)
#include "race/race_handlers.h"

handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    return fast_handler(s, i, group, stride);
}
