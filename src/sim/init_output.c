/* What the host gets to see: bytes that arithmetic made from undefined values are findings, bytes that were only copied are at most a
 * note (RULES.md I2, I3). Memory that no kernel has written is not looked at: nobody claimed that it holds a result. */
#include "sim/planes.h"
#include <inttypes.h>

struct run { u64 first, last, bytes; u32 origin; };     /* bytes of one origin, from the first to the last */

enum { RUNS = 16 };             /* different origins told apart in one copy */

static void add(struct run *run, u32 *n, u64 at, u32 origin)
{
    u32 k = 0;
    while (k < *n && run[k].origin != origin) k++;
    if (k == RUNS) return;
    if (k == *n) run[(*n)++] = (struct run){ at, at, 0, origin };
    run[k].last = at;
    run[k].bytes++;
}

static void report_run(struct sim *s, struct report *report, const struct mem_object *o, const struct run *r)
{
    const struct origin *from = origin_get(s->origins, r->origin);
    char cause[400], where[200];
    u64 first = r->first - o->base, last = r->last - o->base;
    u32 e = o->element_size;
    if (e && first / e == last / e) snprintf(where, sizeof where, "in element [%" PRIu64 "] of %s", first / e, o->name);
    else if (e) snprintf(where, sizeof where, "in elements [%" PRIu64 "..%" PRIu64 "] of %s", first / e, last / e, o->name);
    else snprintf(where, sizeof where, "between %" PRIu64 " and %" PRIu64 " of %s", first, last, o->name);
    struct finding f = { .kind = F_uninit_output, .cause_key = (from ? from->key : 0) ^ o->id, .cause = cause, .once = true };
    snprintf(cause, sizeof cause, "%" PRIu64 " byte%s %s %s computed from an undefined value%s%s", r->bytes, r->bytes == 1 ? "" : "s", where, r->bytes == 1 ? "was" : "were", from && from->name ? ", from " : "", from && from->name ? from->name : "");
    f.object = o->name; f.object_type = o->type; f.object_base = o->base; f.object_size = o->size; f.element_size = e;
    if (from) { f.place = from->stored; f.kernel = from->kernel; f.origin = from->place; f.origin_text = from->text; f.fix = from->fix; }
    report_add(report, &f);
}

void sim_check_output(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes)
{
    struct shadow *x = mem_shadow(s->mem);
    struct run run[RUNS];
    u32 n = 0;
    if (!__atomic_load_n(&x->stained, __ATOMIC_ACQUIRE)) return;
    u64 end = addr + bytes;
    for (u64 at = addr; (at = shadow_next_undefined(x, at, end - at)) < end; at++) {
        struct taint t = shadow_read(x, at, 1);
        if (!t.made) continue;
        add(run, &n, at, t.origin);
        shadow_define(x, at, 1);                /* what follows from it is no news */
    }
    for (u32 k = 0; k < n; k++) report_run(s, report, o, &run[k]);
}
