/* Asks every row of advice.def of every line and launch. */
#include "count/advice.h"

static const struct advice_row {
    const char *id, *title, *fix;
    enum advice_about about;
    const char *certainty;
    const char *(*ask)(struct question *q);
} rows[ADVICES] = {
#define LINE ABOUT_LINE
#define LAUNCH ABOUT_LAUNCH
#define OPERATION ABOUT_OPERATION
#define EXACT "exact"
#define MODEL "model"
#define HARDWARE "hardware"
#define ADVICE(id, about, certainty, title, fix) { #id, title, fix, about, certainty, advise_##id },
#include "count/advice.def"
#undef ADVICE
#undef LINE
#undef LAUNCH
#undef OPERATION
#undef EXACT
#undef MODEL
#undef HARDWARE
};

const char *advice_id(enum advice_kind k) { return rows[k].id; }
const char *advice_title(enum advice_kind k) { return rows[k].title; }
const char *advice_fix(enum advice_kind k) { return rows[k].fix; }
const char *advice_certainty(enum advice_kind k) { return rows[k].certainty; }

/* Rows of one waste: the first that holds of a line says it best. */
static bool about_global(enum advice_kind k)
{
    return k == ADVICE_stride_access || k == ADVICE_misaligned_access || k == ADVICE_uncoalesced_access;
}

static void ask_all(struct question *q, enum advice_about about, u32 shape, struct advices *out)
{
    bool global = false;
    u32 room = out->n + ADVICES;
    struct advice *p = NEW_ARRAY(&out->mem, struct advice, room);
    if (out->n) memcpy(p, out->p, out->n * sizeof *p);
    out->p = p;
    for (u32 k = 0; k < ADVICES; k++) {
        if (rows[k].about != about || (global && about_global((enum advice_kind)k))) continue;
        q->weight = 0;
        q->op = NULL;
        const char *why = rows[k].ask(q);
        if (!why) continue;
        global |= about_global((enum advice_kind)k);
        p[out->n++] = (struct advice){ (enum advice_kind)k, q->line, q->launch, shape, q->op, q->weight, why };
    }
}

void advise(const struct counts *all, const struct count_kernel *k, const struct count_lines *lines,
            struct advices *out)
{
    *out = (struct advices){ 0 };
    struct question q = { .all = all, .kernel = k, .lines = lines, .mem = &out->mem };
    u32 shape = 0;
    for (u32 i = 0; i < lines->n; i++) {
        q.line = &lines->line[i];
        ask_all(&q, ABOUT_LINE, 0, out);
    }
    q.line = NULL;
    for (const struct count_launch *l = k->launch; l; l = l->next) {
        q.launch = l;
        count_limits(all->card, l, &q.limits);
        ask_all(&q, ABOUT_LAUNCH, shape++, out);
    }
}

void advise_operations(const struct counts *all, struct advices *out)
{
    *out = (struct advices){ 0 };
    struct question q = { .all = all, .timeline = all->timeline, .mem = &out->mem };
    if (all->timeline) ask_all(&q, ABOUT_OPERATION, 0, out);
}
