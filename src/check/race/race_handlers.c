/* The fast handlers under the race check alone, and the choice among all handlers of a race-checked launch.
 *
 * race_handlers_init.c is the other instance of the template, for launches that check initialised values as well. */
#define HANDLER_FIRST(sp) ((void)0)
#include "sim/asked.h"
#include "race/race_handlers.h"
#include "race/race_pending.h"
#include "sim/lanes.h"
#include "sim/memory.h"

/* ld.nc, and loads of a byte: from memory that the launch cannot write they are done as if no race check were on, from
 * other memory by the general handler. Which it is depends on the launch, so these decide when they run. */
static int race_constant_init(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    const struct site *s = &c->low->site[i->site];
    if (w->range[i->site].reads) return race_init_memory(s, i, c->group, address_stride(c, i))(R, i, w);
    return site_is_constant(w, i) ? init_handler(s, i, c->group, address_stride(c, i))(R, i, w)
                                  : memory_watched(R, i, w);
}
static int race_constant(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    bool written = w->range[i->site].race || !w->range[i->site].size;
    return !written ? fast_handler(&c->low->site[i->site], i, c->group, address_stride(c, i))(R, i, w)
                    : memory_watched(R, i, w);
}

/* Loads whose value some lanes have no need of, where such lanes take part: the general handler knows which. */
static int race_needed_init(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    const struct site *s = &c->low->site[i->site];
    if (active_lanes(w, R, i) & ~race_lanes_needed(w, s)) return memory_watched(R, i, w);
    return race_init_memory(s, i, c->group, address_stride(c, i))(R, i, w);
}
static int race_needed(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    const struct site *s = &c->low->site[i->site];
    if (active_lanes(w, R, i) & ~race_lanes_needed(w, s)) return memory_watched(R, i, w);
    return fast_handler(s, i, c->group, address_stride(c, i))(R, i, w);
}

handler *race_memory(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    if (s->flags & SITE_DISTRIBUTED && s->space == SP_SHARED) return memory_watched;
    bool constant = site_is_load(s) && s->space == SP_GLOBAL && (s->flags & SITE_NC || s->width < 2);
    if (s->flags & SITE_SPECULATED && s->space == SP_GENERIC) return memory_watched;
    if (s->flags & SITE_SPECULATED) return watch & WATCH_INIT ? race_speculated_init : race_speculated;
    if (constant) return watch & WATCH_INIT ? race_constant_init : race_constant;
    if (s->flags & SITE_NC) return memory_watched;
    if (s->needed_by) return watch & WATCH_INIT ? race_needed_init : race_needed;
    return watch & WATCH_INIT ? race_init_memory(s, i, group, stride) : fast_handler(s, i, group, stride);
}
