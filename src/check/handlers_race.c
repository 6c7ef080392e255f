/* The fast handlers of launches under the race check without the check of initialised values. */
#define HANDLER_FIRST(sp) ((void)0)
#include "check/handlers.h"

handler *race_memory(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    if (s->flags & (SITE_NC | SITE_FLAG) || (s->flags & SITE_SPECULATED && s->space == SP_GENERIC)) return memory_watched;
    if (s->flags & SITE_SPECULATED) return watch & WATCH_INIT ? race_speculated_init : race_speculated;
    return watch & WATCH_INIT ? race_init_memory(s, i, group, stride) : fast_handler(s, i, group, stride);
}
