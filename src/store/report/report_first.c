/* What a report says first, for those who compare two runs of a launch by it. */
#include "report/entry.h"

static void put(char *to, size_t size, const char *text) { snprintf(to, size, "%s", text ? text : ""); }

bool report_first(struct report *r, struct report_brief *out)
{
    struct reports all;
    *out = (struct report_brief){ .kind = F_COUNT };
    reports_begin(&all, &r, 1);
    for (u32 i = 0; i < all.entries && out->kind == F_COUNT; i++) {
        const struct finding *f = &all.v[i]->f;
        if (all.v[i]->suppressed || finding_severity(f->kind) != SEV_ERROR) continue;
        const struct place *p = f->place ? place_shown(f->place) : NULL;
        out->kind = f->kind;
        out->line = p && p->line ? p->line : p ? p->ptx_line : 0;
        out->column = p ? p->col : 0;
        put(out->file, sizeof out->file, p ? p->file : NULL);
        put(out->kernel, sizeof out->kernel, f->kernel);
        put(out->cause, sizeof out->cause, f->cause);
        put(out->detail, sizeof out->detail, f->detail);
    }
    reports_end(&all);
    return out->kind != F_COUNT;
}

void report_leave_out(struct report *r, u32 checks)
{
    lock(&r->lock);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b], *next; e; e = next) {
            next = e->next;
            if ((u32)finding_check(e->f.kind) & checks) report_drop(r, e);
        }
    unlock(&r->lock);
}
