/* The software GPU notes what its operations use (op_races.h), from when two of them can be unordered: the first
 * stream that is made, the first use of a stream of a thread, the first executable graph. Until then, and without the
 * race check, none of this costs anything. */
#include "base/fault.h"
#include "device/op_races.h"
#include "check/value_scan.h"
#include "flow/analyses.h"
#include "device/dev_work.h"
#include "mem/mem_finding.h"
#include "mem/shadow.h"
#include "units/condition.h"
#include "sites/where.h"
#include <inttypes.h>

void note_unordered(struct device *d)
{
    struct dev_work *w = d->work;
    struct streams *s = d->race && !work_races(d) ? work_streams(d) : NULL;
    if (!s) return;
    lock(&w->lock);
    if (!w->races) __atomic_store_n(&w->races, op_races_new(d, s), __ATOMIC_RELEASE);
    unlock(&w->lock);
}

void note_host_uses(struct device *d, enum mem_kind kind)
{
    if (kind == MEM_MANAGED || (kind == MEM_PINNED && d->options.managed == DEV_MANAGED_REPORT)) note_unordered(d);
}

/* ---- copies, fills, memory ---- */

static struct op_races_call call_of(const struct op *op)
{
    return (struct op_races_call){ .site = work_site(op_tag(op)) };
}

static struct op_races_part part_of(const struct dev_side *s, u64 width, u64 rows, u64 slices, enum access_kind kind)
{
    return (struct op_races_part){ s->address, width, rows, s->pitch, slices, s->slice, kind, false };
}

/* The race check is told before bytes are written, and after they are read: a kernel in flight may wait for them. */
static void writes_range(void *race, u64 from, u64 bytes) { race_outside(race, from, bytes, true); }
static void reads_range(void *race, u64 from, u64 bytes) { race_outside(race, from, bytes, false); }

void note_copied(struct device *d, const struct dev_copy_plan *p)
{
    if (d->race && p->width && p->from.device)
        dev_side_each(&p->from, p->width, p->rows, p->slices, reads_range, d->race);
}

void note_copy(struct device *d, const struct op *op, const struct dev_copy_plan *p, bool staged)
{
    struct op_races *b = work_races(d);
    if (d->race && p->width && p->to.device) dev_side_each(&p->to, p->width, p->rows, p->slices, writes_range, d->race);
    struct op_races_call c = call_of(op);
    struct op_races_part part[2];
    u32 n = 0;
    if (!b || !p->width) return;
    part[n++] = part_of(&p->to, p->width, p->rows, p->slices, ACCESS_WRITE);
    if (!staged) part[n++] = part_of(&p->from, p->width, p->rows, p->slices, ACCESS_READ);
    op_races_add(b, op, &c, part, n);
}

void note_fill(struct device *d, const struct op *op, const struct dev_fill_plan *p)
{
    struct op_races *b = work_races(d);
    struct op_races_call c = call_of(op);
    if (d->race && p->width) dev_side_each(&p->to, p->width, p->rows, p->slices, writes_range, d->race);
    if (!b || !p->width) return;
    struct op_races_part part = part_of(&p->to, p->width, p->rows, p->slices, ACCESS_WRITE);
    op_races_add(b, op, &c, &part, 1);
}

static const char unfilled_fix[] = "Fill it before the call, with a kernel, cudaMemcpy or cudaMemset (in Python with "
                                   "zeros in place of empty); where a "
                                   "product only adds to it, beta 0 leaves it unread.";

/* Of bytes that an operator has read, some were never written, the first at `at`. */
static void library_undefined(struct device *d, const struct op *op, const struct mem_object *o, u64 at)
{
    const char *site = work_site(op_tag(op));
    char cause[300], memory[300];
    snprintf(cause, sizeof cause, "%s reads uninitialised bytes of %s, from [%" PRIu64 "] on.",
             site ? site : "An operator", o->name, at - o->base);
    snprintf(memory, sizeof memory, "%s, %" PRIu64 " bytes%s%s", o->name, o->size,
             o->alloc_site ? ", allocated at " : "", o->alloc_site ? o->alloc_site : "");
    struct finding f = { .kind = F_uninit_output,
                         .cause_key = (site ? str_hash(str_of(site)) : 0) * 31,
                         .call = site,
                         .cause = cause,
                         .fix = op_races_has_tensors() ? sim_operator_fix : unfilled_fix,
                         .object_note = memory };
    finding_object(&f, o);
    report_add(d->report, &f);
}

bool dev_undefined(struct device *d, u64 from, u64 bytes, u8 *map)
{
    struct shadow *s = mem_shadow(d->mem);
    u64 end = from + bytes, at = from;
    bool some = d->options.checks & CHECK_INIT && (at = shadow_next_undefined(s, from, bytes)) < end;
    for (; some && map && at < end; at = shadow_next_undefined(s, at + 1, end - at - 1)) map[at - from] = 1;
    return some;
}

/* An operator has read a row. What launches have carried there is judged as what the host sees is. origin: NULL, or it
 * is not judged, and what is undefined goes on as that. */
static void library_read(struct device *d, const struct op *op, const struct mem_object *o, u64 from, u64 bytes,
                         u32 *origin)
{
    struct shadow *s = mem_shadow(d->mem);
    u64 at = d->options.checks & CHECK_INIT ? shadow_next_undefined(s, from, bytes) : from + bytes;
    if (at == from + bytes) return;
    struct taint t = shadow_read(s, at, 1);
    if (origin)
        *origin = *origin ? *origin : t.origin ? t.origin : sim_origin_operator(d->sim, o, work_site(op_tag(op)));
    else if (!t.made && !t.origin)
        library_undefined(d, op, o, at);
    else if (d->ops->output)
        d->ops->output(d, o, from, bytes);
}

/* What an operator has written is made of undefined values. */
static void library_carried(struct device *d, u64 from, u64 bytes, u32 origin)
{
    struct shadow *s = mem_shadow(d->mem);
    for (u64 at = from, end = from + bytes, n; at < end; at += n) {
        n = MIN_OF(8 - at % 8, end - at);
        shadow_write(s, at, (u32)n, (struct taint){ low_bits(8 * (u32)n), low_bits(8 * (u32)n), origin });
    }
}

/* Bytes that an operator has used, of one row. */
static void library_row(struct device *d, const struct op *op, u64 from, u64 bytes, const struct op_races_part *p,
                        u32 *origin)
{
    struct mem_object *o = mem_find(d->mem, from);
    bool write = p->kind == ACCESS_WRITE;
    if (!o || !mem_is_live(o) || from + bytes > o->base + o->size) return;
    if (d->race) race_outside(d->race, from, bytes, write);
    if (!write) {
        library_read(d, op, o, from, bytes, p->carried ? origin : NULL);
        return;
    }
    mem_unseen_in(o);
    shadow_define(mem_shadow(d->mem), from, bytes);
    if (p->carried && *origin) library_carried(d, from, bytes, *origin);
    if (d->options.checks & CHECK_VALUES && __atomic_load_n(&o->odd, __ATOMIC_RELAXED) != MEM_AS_FLOATS)
        __atomic_fetch_or(&o->odd, value_odd_as(o, mem_view(o, from), bytes), __ATOMIC_RELAXED);
    __atomic_store_n(&o->given, true, __ATOMIC_RELAXED);
}

void note_library(struct device *d, const struct op *op, const struct op_races_part *part, u32 parts)
{
    struct op_races *b = work_races(d);
    struct op_races_call c = call_of(op);
    u32 origin = 0;
    for (u32 i = 0; i < 2 * parts; i++) { /* all reads first: what is written may be among what is read */
        const struct op_races_part *p = &part[i % parts];
        bool write = p->kind == ACCESS_WRITE;
        if (write != (i >= parts)) continue;
        for (u64 k = 0; k < MAX_OF(p->slices, 1u); k++)
            for (u64 r = 0; r < MAX_OF(p->rows, 1u); r++)
                library_row(d, op, p->from + k * p->slice + r * p->pitch, p->width, p, &origin);
    }
    if (b && parts) op_races_add(b, op, &c, part, parts);
}

void note_life(struct device *d, const struct op *op, const struct mem_object *o, bool alloc)
{
    struct op_races *b = work_races(d);
    struct op_races_call c = call_of(op);
    struct op_races_part part = { .from = o->base, .width = o->size, .kind = alloc ? ACCESS_ALLOC : ACCESS_FREE };
    if (b) op_races_add(b, op, &c, &part, 1);
}

void note_gone(struct device *d, u64 from, u64 bytes)
{
    struct op_races *b = d->work ? work_races(d) : NULL;
    if (b) op_races_forget(b, from, bytes);
}

void note_freed_now(struct device *d, u64 from, u64 bytes, const char *site)
{
    struct op_races *b = d->work ? work_races(d) : NULL;
    struct op_races_part part = { .from = from, .width = bytes, .kind = ACCESS_FREE };
    struct op_races_call c = { .site = site };
    if (b) op_races_host(b, &c, &part, 1);
}

/* ---- conditions of graphs ---- */

static struct op_races_part condition_part(const struct condition *c, enum access_kind kind)
{
    return (struct op_races_part){ .from = (u64)(uintptr_t)&c->value, .width = sizeof c->value, .kind = kind };
}

void note_decided(struct device *d, const struct op *op, struct condition *c)
{
    struct op_races *b = work_races(d);
    struct op_races_part part = condition_part(c, ACCESS_READ);
    struct op_races_call call = call_of(op);
    if (b) op_races_add(b, op, &call, &part, 1);
}

static void condition_is_set(const void *op, struct condition *c)
{
    struct device *d = streams_self(stream_owner(op_stream(op)));
    struct op_races *b = d->work ? work_races(d) : NULL;
    struct op_races_part part = condition_part(c, ACCESS_WRITE);
    if (b) op_races_launch_uses(b, op, &part);
}

void note_conditions(void) { condition_on_set(condition_is_set); }

/* ---- the host ---- */

/* What the instruction does is not known: it touches at least one byte. Where it is, is a site if calls have some. */
static void touched(void *self, const struct dev_touch *t)
{
    struct op_races_part part = { .from = t->address, .width = 1, .kind = t->write ? ACCESS_WRITE : ACCESS_READ };
    if (t->op) { /* a host function, which is an operation as any other */
        struct op_races_call call = call_of(t->op);
        op_races_add(self, t->op, &call, &part, 1);
        return;
    }
    struct where_stack at = { .n = 1, .address = { t->pc + 1 } }; /* as a call there would return after it */
    const char *mark = t->pc && where_used() ? where_site("host", &at) : NULL;
    char site[40];
    snprintf(site, sizeof site, "at %s", mark ? mark : "");
    struct op_races_call c = { .site = mark ? site : NULL };
    op_races_host(self, &c, &part, 1);
}

void note_host(struct device *d, u64 from, u64 bytes, bool write)
{
    struct op_races *b = work_races(d);
    struct op_races_part part = { .from = from, .width = bytes, .kind = write ? ACCESS_WRITE : ACCESS_READ };
    if (b) op_races_host(b, NULL, &part, 1);
}

void note_touches(struct device *d)
{
    struct op_races *b = work_races(d);
    if (b) dev_managed_drain(d, touched, b);
}

void note_waits(struct device *d)
{
    struct op_races *b = work_races(d);
    note_touches(d);
    if (b) op_races_host_waits(b);
}

void dev_host_touches(struct device *d, u64 address, u64 bytes, bool write, const char *site)
{
    struct op_races *b = d->work ? work_races(d) : NULL;
    struct op_races_part part = { .from = address, .width = bytes, .kind = write ? ACCESS_WRITE : ACCESS_READ };
    if (b && bytes) op_races_host(b, &(struct op_races_call){ .site = site }, &part, 1);
}

/* ---- operations in flight, for the host that touches what they use ---- */

/* Whether a loop of the kernel polls memory; yes where that is not known. */
static bool kernel_polls(struct device *d, struct ptx_func *kernel)
{
    if (d->race) return work_kernel_polls(d, kernel);
    struct error e = { 0 };
    struct lowered *low = sim_lowered(d->sim, kernel, &e);
    return !low || code_polls(low);
}

u32 note_queued(struct device *d, const struct dev_task *t, const struct dev_copy_plan *copy, u64 stream)
{
    bool noted = work_races(d); /* else the host may still have to wait */
    if (!noted && d->options.managed != DEV_MANAGED_WAIT) return 0;
    if (t->kind == OP_COPY) return noted ? dev_managed_copy(d, copy, stream) : 0;
    if (t->kind != OP_LAUNCH) return 0;
    return dev_managed_begin(d, &t->launch, kernel_polls(d, t->launch.kernel), stream);
}

/* A finished operation keeps its memory from the host until the host has waited, else a bug would be found or not as
 * the operation is slow or fast. Of many the oldest are let go. */
enum { UNSEEN_MOST = 1024 };

void note_unseen(struct device *d, u32 token, op_stamp op, const void *node)
{
    struct dev_work *w = d->work;
    u32 ends = 0;
    if (!token) return;
    lock(&w->lock);
    if (w->nunseen == UNSEEN_MOST) {
        ends = w->unseen[0].token;
        memmove(w->unseen, w->unseen + 1, --w->nunseen * sizeof *w->unseen);
    }
    NEED_ROOM(w->unseen, w->nunseen, w->capunseen, 16);
    w->unseen[w->nunseen] = (struct dev_flight){ token, op, node };
    __atomic_store_n(&w->nunseen, w->nunseen + 1, __ATOMIC_RELAXED);
    unlock(&w->lock);
    if (ends) dev_managed_end(d, ends);
}

void note_unqueued(struct device *d, u32 *token, const struct op *op)
{
    struct dev_work *w = d->work;
    if (!*token) return;
    note_touches(d);
    bool seen = !op || !work_races(d) || __atomic_load_n(&w->signalled, __ATOMIC_ACQUIRE) ||
                d->options.managed == DEV_MANAGED_WAIT || host_after(work_streams(d), op_stamp_of(op));
    if (seen)
        dev_managed_end(d, *token);
    else
        note_unseen(d, *token, op_stamp_of(op), NULL);
    *token = 0;
}

void note_node_done(struct device *d, const void *node, const struct op *op)
{
    struct dev_work *w = d->work;
    if (!__atomic_load_n(&w->nunseen, __ATOMIC_RELAXED)) return;
    lock(&w->lock);
    u32 k = 0;
    while (k < w->nunseen && w->unseen[k].node != node) k++;
    if (k < w->nunseen) w->unseen[k] = (struct dev_flight){ .token = w->unseen[k].token, .op = op_stamp_of(op) };
    unlock(&w->lock);
}

/* Gives back the memory of operations that are before `op`; NULL: that the host knows to be done, or all of them. */
static void unseen_end(struct device *d, const struct op *op, bool all)
{
    struct dev_work *w = d->work;
    struct dev_flight seen[64];
    for (u32 n = COUNT_OF(seen); n == COUNT_OF(seen);) {
        u32 kept = n = 0;
        lock(&w->lock);
        for (u32 k = 0; k < w->nunseen; k++) {
            op_stamp stamp = w->unseen[k].op;
            bool is = n < COUNT_OF(seen) && (all || (op ? op_before_full(stamp, op) : host_after(w->streams, stamp)));
            *(is ? &seen[n++] : &w->unseen[kept++]) = w->unseen[k];
        }
        __atomic_store_n(&w->nunseen, kept, __ATOMIC_RELAXED);
        unlock(&w->lock);
        for (u32 k = 0; k < n; k++) dev_managed_end(d, seen[k].token);
    }
}

/* ---- registered memory ----
 *
 * It is the program's to free, and nobody is told. So it is looked at when the copy runs, and once more when the host
 * learns that it has run: whichever of the two comes first, the copy and the free were not ordered. */

void note_lent_gone(struct device *d, const struct dev_lent *l, u64 there, const char *rows)
{
    char cause[300];
    snprintf(cause, sizeof cause,
             "%" PRIu64 " of the %" PRIu64
             " bytes%s that the copy %s are there: the memory is registered, and was freed "
             "or unmapped before anything waited for the copy, and without cudaHostUnregister.",
             there, l->bytes, rows, l->write ? "writes" : "reads");
    report_add(d->report, &(struct finding){ .kind = F_host_short,
                                             .cause_key = l->site ? str_hash(str_of(l->site)) : (uintptr_t)l->at,
                                             .call = l->site,
                                             .cause = cause,
                                             .fix = "Unregister the memory (cudaHostUnregister) after the last copy "
                                                    "that uses it, and free it then. A vector that grows frees what it "
                                                    "had." });
}

void note_lent(struct device *d, const struct op *op, const struct dev_side *s, u64 bytes, bool write, const char *site)
{
    struct dev_work *w = d->work;
    op_stamp stamp = op_stamp_of(op);
    if (!work_races(d) || host_after(w->streams, stamp)) return;
    lock(&w->lock);
    if (w->nlent == COUNT_OF(w->lent)) memmove(w->lent, w->lent + 1, --w->nlent * sizeof *w->lent);
    w->lent[w->nlent] = (struct dev_lent){ stamp, (u8 *)s->bytes, bytes, write, site };
    __atomic_store_n(&w->nlent, w->nlent + 1, __ATOMIC_RELAXED);
    unlock(&w->lock);
}

static void lent_look(struct device *d)
{
    struct dev_work *w = d->work;
    struct dev_lent seen[COUNT_OF(w->lent)];
    u32 n = 0, kept = 0;
    lock(&w->lock);
    for (u32 i = 0; i < w->nlent; i++)
        *(host_after(w->streams, w->lent[i].op) ? &seen[n++] : &w->lent[kept++]) = w->lent[i];
    __atomic_store_n(&w->nlent, kept, __ATOMIC_RELAXED);
    unlock(&w->lock);
    for (u32 i = 0; i < n; i++) {
        const struct mem_object *o = mem_find(d->mem, (uintptr_t)seen[i].at);
        u64 there = o && o->kind == MEM_REGISTERED && mem_is_live(o)
                        ? pages_there(seen[i].at, seen[i].bytes, seen[i].write)
                        : seen[i].bytes;
        if (there < seen[i].bytes && !fault_program_handles()) note_lent_gone(d, &seen[i], there, "");
    }
}

void note_waited(struct device *d)
{
    struct dev_work *w = d->work;
    if (__atomic_load_n(&w->nlent, __ATOMIC_RELAXED)) lent_look(d);
    if (!work_races(d) || !__atomic_load_n(&w->nunseen, __ATOMIC_RELAXED)) return;
    unseen_end(d, NULL, __atomic_load_n(&w->signalled, __ATOMIC_ACQUIRE));
}

void note_signalled(struct device *d)
{
    if (!work_races(d) || __atomic_exchange_n(&d->work->signalled, true, __ATOMIC_ACQ_REL)) return;
    note_waited(d);
}

void note_host_begin(struct device *d, const struct op *op)
{
    if (!work_races(d)) return;
    note_touches(d);
    unseen_end(d, op, false); /* it may tell the host what is done before it */
    dev_managed_host_begin(d, op, stream_id(op_stream(op)));
}

void note_host_end(struct device *d)
{
    if (!work_races(d)) return;
    note_touches(d); /* while the operation is there */
    dev_managed_host_end(d);
}

/* ---- launches ---- */

void note_launch_begin(struct dev_run *r)
{
    struct device *d = r->device;
    struct op_races *b = work_races(d);
    if (!b && d->options.managed != DEV_MANAGED_WAIT) return;
    bool polls = kernel_polls(d, r->launch->kernel);
    if (!r->managed) { /* a node of a graph */
        u64 stream = r->op ? stream_id(op_stream(r->op)) : 0;
        r->managed = dev_managed_begin(d, r->launch, polls, stream);
    }
    if (!b || r->unchecked) return;
    struct op_races_call c = call_of(r->op);
    c.simple = d->race && work_kernel_alone(d, r->launch->kernel);
    c.overlaps = op_may_overlap(r->op);
    r->races = op_races_launch_begin(b, r->op, &c, r->launch->kernel, r->in.number, polls);
    r->sink = op_races_sink(r->races);
    r->in.waited = op_races_waited(r->races);
}

void note_launch_end(struct dev_run *r)
{
    note_unqueued(r->device, &r->managed, r->op);
    if (r->op && op_is_node(r->op)) note_node_done(r->device, r->launch, r->op);
    if (r->races) op_races_launch_end(r->races);
    r->races = NULL;
}
