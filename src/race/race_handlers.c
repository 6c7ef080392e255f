/* The fast handlers of launches under the race check without the check of initialised values, and the choice among
 * all of them. */
#define HANDLER_FIRST(sp) ((void)0)
#include "race/race_handlers.h"

/* A load by ld.nc, or of a byte: memory that the launch cannot write is read as if nobody watched for races, all else
 * goes the long way. */
static bool nobody_writes(const struct insn *i, const struct warp *w)
{
    return w->range[i->site].size && !w->range[i->site].race;
}
static s32 stride_of(const struct insn *i, const struct code *c) { return CLS_AT(i, 1) == CLS_A ? c->stride[i->a] : 0; }
static int race_constant_init(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    return nobody_writes(i, w) ? init_handler(&c->low->site[i->site], i, c->group, stride_of(i, c))(R, i, w)
                               : memory_watched(R, i, w);
}
static int race_constant(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    return nobody_writes(i, w) ? fast_handler(&c->low->site[i->site], i, c->group, stride_of(i, c))(R, i, w)
                               : memory_watched(R, i, w);
}

handler *race_memory(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    bool constant = s->name == N_ld && s->space == SP_GLOBAL && (s->flags & SITE_NC || s->width < 2);
    if (s->flags & SITE_SPECULATED && s->space == SP_GENERIC) return memory_watched;
    if (s->flags & SITE_SPECULATED) return watch & WATCH_INIT ? race_speculated_init : race_speculated;
    if (constant) return watch & WATCH_INIT ? race_constant_init : race_constant;
    if (s->flags & SITE_NC) return memory_watched;
    return watch & WATCH_INIT ? race_init_memory(s, i, group, stride) : fast_handler(s, i, group, stride);
}
