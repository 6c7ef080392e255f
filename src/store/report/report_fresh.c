/* Findings as they happen: entries are given out once each, when nothing more is to come for them from the launch that
 * they were found in. What later launches add to them is in the whole report only. */
#include "report/entry.h"

void report_on_fresh(struct report *r, void (*call)(void *self), void *self)
{
    lock(&r->lock);
    r->fresh_self = self;
    __atomic_store_n(&r->fresh_call, call, __ATOMIC_RELEASE);
    unlock(&r->lock);
}

u32 report_fresh(const struct report *r) { return __atomic_load_n(&r->fresh, __ATOMIC_RELAXED); }

void fresh_notify(struct report *r)
{
    void (*call)(void *) = __atomic_load_n(&r->fresh_call, __ATOMIC_ACQUIRE);
    if (call) call(r->fresh_self);
}

/* Whether nothing more comes for the entry when the launch o has ended. What is said of the pointers that a launch is
 * given is found by its call, with the call's own origin, and may follow from nothing: it waits for the launch itself,
 * which may follow them. */
static bool ends_with(const struct entry *e, const struct launch_origin *o)
{
    if (e->f.kind != F_launch_pointer || e->origin.by) return e->running == o;
    return e->running && e->running != o && e->origin.nth == o->nth && same_text(e->origin.site, o->site);
}

void report_origin_ended(struct report *r, const struct launch_origin *o)
{
    if (likely(!report_fresh(r)) || !o) return;
    bool any = false;
    lock(&r->lock);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b]; e; e = e->next)
            if (!e->said && ends_with(e, o)) {
                e->running = NULL;
                any = true;
            }
    if (any) r->settled = UINT32_MAX;
    /* what many launches have in common is put together in time, before there is no room for more */
    if (any && r->entries > r->kept + ENTRIES_MOST / 8) report_settle(r);
    unlock(&r->lock);
    if (any) fresh_notify(r);
}

u32 report_text_fresh(struct report *r, struct report_style style, bool all, struct text *out)
{
    u32 n = 0, left = 0;
    lock(&r->lock);
    struct entry **v = report_sorted(r);
    for (u32 i = 0; v && i < r->entries; i++) {
        struct entry *e = v[i];
        if (e->said) continue;
        if (e->running && !all) {
            left++;
            continue;
        }
        e->said = true;
        e->said_launches = entry_launches(e);
        if (e->suppressed || (style.max && n >= style.max)) continue;
        entry_text_styled(e, style.color, out);
        n++;
    }
    __atomic_store_n(&r->fresh, left, __ATOMIC_RELAXED);
    base_free(v);
    sources_drop();
    unlock(&r->lock);
    return n;
}

void report_text_end(struct report *r, struct text *out)
{
    lock(&r->lock);
    struct entry **v = report_sorted(r); /* consequences are taken out, and not counted */
    grown_text(v, r->entries, out);
    closing_text(r, out);
    base_free(v);
    unlock(&r->lock);
}

void report_of_kernel(struct report *r, const char *kernel, u32 *errors, u32 *notes)
{
    *errors = *notes = 0;
    lock(&r->lock);
    for (u32 b = 0; b < BUCKETS; b++)
        for (const struct entry *e = r->bucket[b]; e; e = e->next)
            if (!e->suppressed && same_text(e->f.kernel, kernel))
                ++*(finding_severity(e->f.kind) == SEV_ERROR ? errors : notes);
    unlock(&r->lock);
}
