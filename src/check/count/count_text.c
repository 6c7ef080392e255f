/* The profile for people: of each kernel what it is near to, the lines that cost most, what they waste, and what to do.
 */
#include "count/advice.h"
#include "count/count_write.h"
#include "count/timeline.h"
#include "report/entry.h"
#include <inttypes.h>
#include <stdlib.h>

enum { TOP = 5, SOURCE_MOST = 90 }; /* lines; characters of a source line */

/* "13.1 us" */
static void add_time(struct text *t, u64 ps)
{
    static const char *const unit[] = { "ps", "ns", "us", "ms", "s" };
    u64 scale = 1;
    u32 k = 0;
    while (k + 1 < COUNT_OF(unit) && ps / scale >= 1000) scale *= 1000, k++;
    struct tenths n = tenths(ps, scale);
    text_add(t, TENTHS " %s", TENTHS_OF(n), unit[k]);
}

/* "62.9 M", of anything that is counted */
static void add_count(struct text *t, u64 n)
{
    static const char *const unit[] = { "", " k", " M", " G", " T", " P" };
    u64 scale = 1;
    u32 k = 0;
    if (n < 10000) {
        text_add(t, "%" PRIu64, n);
        return;
    }
    while (k + 1 < COUNT_OF(unit) && n / scale >= 1000) scale *= 1000, k++;
    struct tenths x = tenths(n, scale);
    text_add(t, TENTHS "%s", TENTHS_OF(x), unit[k]);
}

static void add_shape(struct text *t, const u32 v[3])
{
    if (v[2] > 1)
        text_add(t, "%ux%ux%u", v[0], v[1], v[2]);
    else if (v[1] > 1)
        text_add(t, "%ux%u", v[0], v[1]);
    else
        text_add(t, "%u", v[0]);
}

/* ---- a launch ---- */

static void limits_text(struct text *t, const struct card *card, const struct count_limits *x)
{
    u32 n = 0;
    text_add(t, "  limits     ");
    bool done[ROOFS] = { false };
    for (u32 round = 0; round < 4; round++) {
        u32 most = ROOFS;
        for (u32 k = 0; k < ROOFS; k++)
            if (!done[k] && x->ps[k] && (most == ROOFS || x->ps[k] > x->ps[most])) most = k;
        if (most == ROOFS) break;
        done[most] = true;
        text_add(t, "%s%s %" PRIu64 " %%", n++ ? ", " : "", count_limit_plain[most], x->ps[most] * 100 / x->least);
    }
    if (!n) {
        text_add(t, "none: it does nothing that is counted\n");
        return;
    }
    text_add(t, " of ");
    add_time(t, x->least);
    text_add(t, ", which %s needs at least", card->title);
    if (x->by == ROOF_DRAM) {
        text_add(t, " for ");
        add_count(t, x->bytes);
        text_add(t, "B at %u GB/s", card->memory_gbs);
    }
    text_add(t, "\n");
}

static void shape_text(struct text *t, const struct card *card, const struct count_launch *l)
{
    struct count_limits x;
    count_limits(card, l, &x);
    text_add(t, "  launch     grid ");
    add_shape(t, l->grid);
    text_add(t, ", block ");
    add_shape(t, l->block);
    if (l->launches > 1) text_add(t, ", %" PRIu64 " times", l->launches);
    text_add(t, "\n");
    limits_text(t, card, &x);
    struct tenths occupied = tenths(x.occupied, 10), idle = tenths(x.idle, 10);
    text_add(t, "  occupancy  " TENTHS " %%: %u block%s of a multiprocessor, limited by %s", TENTHS_OF(occupied),
             x.occupancy.ctas, plural(x.occupancy.ctas), occupancy_limit_name(x.occupancy.by));
    if (l->more.registers)
        text_add(t, "; %u registers by %s\n", l->more.registers, l->more.assembled ? "ptxas" : "the bound in the PTX");
    else
        text_add(t, "; registers are not known: no ptxas was here to say\n");
    text_add(t,
             "  grid       %" PRIu64 " block%s in %" PRIu64 " wave%s of up to %" PRIu64 "; " TENTHS
             " %% of the places stay empty\n",
             l->ctas / l->launches, l->ctas == l->launches ? "" : "s", x.waves, plural(x.waves), x.slots,
             TENTHS_OF(idle));
    if (!x.intensity_milli) return;
    struct tenths flops = tenths(x.intensity_milli, 1000);
    text_add(t, "  intensity  " TENTHS " floating-point operations a byte\n", TENTHS_OF(flops));
}

/* ---- a line ---- */

static void unit_text(struct text *t, const char *what, const struct space_counts *c, const char *unit, u64 least)
{
    struct tenths n = tenths(c->units, c->requests), m = tenths(least, c->requests);
    if (!c->requests) return;
    text_add(t, "          %s: ", what);
    add_count(t, c->requests);
    text_add(t, " request%s of " TENTHS " %s, " TENTHS " at least\n", plural(c->requests), TENTHS_OF(n), unit,
             TENTHS_OF(m));
}

static void accesses_text(struct text *t, const struct count_line *l)
{
    static const char *const unit[COUNT_SPACES] = { "sectors", "sectors", "wavefronts", "passes", "sectors" };
    char what[40];
    for (u32 s = 0; s < COUNT_SPACES; s++)
        for (u32 k = 0; k < COUNT_ACCESSES; k++) {
            const struct space_counts *c = &l->access[k].in[s];
            snprintf(what, sizeof what, "%s %s", count_space_name[s], count_access_name[k]);
            unit_text(t, what, c, unit[s], s == COUNT_SHARED ? c->parts : c->least);
        }
}

static void line_text(struct text *t, const struct count_lines *all, const struct count_line *l, bool color)
{
    struct source s;
    struct tenths share = tenths(l->cost * 100, all->cost), lanes = tenths(l->lanes, l->times);
    source_open(l->place, &s);
    char where[300];
    if (l->place->file && l->place->line)
        snprintf(where, sizeof where, "%s:%u", path_name(s.shown[0] ? s.shown : l->place->file), l->place->line);
    else
        snprintf(where, sizeof where, "no line");
    const char *from = s.line.p;
    u32 n = s.line.n;
    while (n && (*from == ' ' || *from == '\t')) from++, n--;
    if (n > SOURCE_MOST)
        for (n = SOURCE_MOST; n && ((u8)from[n] & 0xc0) == 0x80;) n--; /* no character is cut */
    text_add(t, "  %s%3llu.%u %%%s  ", color ? "\x1b[1m" : "", TENTHS_OF(share), color ? "\x1b[0m" : "");
    printable(str_of(where), t);
    text_add(t, n ? "  " : "");
    printable((struct str){ from, n }, t);
    text_add(t, "\n");
    text_add(t, "          ");
    add_count(t, l->times);
    text_add(t, " warp instruction%s with " TENTHS " of 32 lanes\n", plural(l->times), TENTHS_OF(lanes));
    accesses_text(t, l);
}

static void advice_text(struct text *t, const struct advice *a, bool color)
{
    const char *sure = advice_certainty(a->kind);
    text_add(t, "          %s%s%s: %s: ", color ? "\x1b[33m" : "", advice_id(a->kind), color ? "\x1b[0m" : "",
             advice_title(a->kind));
    printable(str_of(a->why), t);
    text_add(t, "%s\n", strcmp(sure, "hardware") ? "" : " (measure on hardware before you act)");
    text_add(t, "          fix: %s\n", advice_fix(a->kind));
}

/* The lines that are shown: those that cost most, and those that advice is about. */
static u32 lines_shown(const struct count_lines *l, const struct advices *a, bool all, u32 *show)
{
    u32 n = 0;
    if (all) {
        for (u32 i = 0; i < l->n; i++) show[n++] = i;
        return n;
    }
    n = count_lines_top(l, show, TOP);
    for (u32 i = 0; i < a->n; i++) {
        u32 at = a->p[i].line ? (u32)(a->p[i].line - l->line) : NONE, k = 0;
        while (k < n && show[k] != at) k++;
        if (at != NONE && k == n) show[n++] = at;
    }
    return n;
}

static void kernel_text(struct text *t, const struct counts *c, const struct count_kernel *k, struct count_style style)
{
    struct count_lines lines;
    struct advices found;
    count_lines(c, k, &lines);
    advise(c, k, &lines, &found);
    u32 shape = 0, *show = NEW_ARRAY(&lines.mem, u32, lines.n + TOP + 1);
    text_add(t, "%s", style.color ? "\x1b[1m" : "");
    printable(str_of(k->plain), t);
    text_add(t, "%s: %" PRIu64 " launch%s\n", style.color ? "\x1b[0m" : "", k->launches, k->launches == 1 ? "" : "es");
    for (const struct count_launch *l = k->launch; l; l = l->next, shape++) {
        shape_text(t, c->card, l);
        for (u32 i = 0; i < found.n; i++)
            if (found.p[i].launch == l) advice_text(t, &found.p[i], style.color);
    }
    u32 n = lines_shown(&lines, &found, style.lines, show);
    text_add(t, "   cost    %s\n", style.lines ? "all lines" : n > 1 ? "the lines that cost most" : "the line");
    for (u32 i = 0; i < n; i++) {
        const struct count_line *l = &lines.line[show[i]];
        line_text(t, &lines, l, style.color);
        for (u32 j = 0; j < found.n; j++)
            if (found.p[j].line == l) advice_text(t, &found.p[j], style.color);
    }
    arena_free(&found.mem);
    arena_free(&lines.mem);
}

/* What was enqueued, where asked, and advice about it. */
static void operations_text(struct text *t, const struct counts *c, struct count_style style)
{
    struct advices found;
    if (!c->timeline) return;
    timeline_run(c, c->timeline);
    if (style.timeline) timeline_text(c, c->timeline, t);
    advise_operations(c, &found);
    if (found.n) text_add(t, "\noperations of the host\n");
    for (u32 k = 0; k < found.n; k++) {
        const struct timeline_op *o = found.p[k].op;
        if (o && o->site) {
            text_add(t, "  ");
            printable(str_of(o->site), t);
            text_add(t, "\n");
        }
        advice_text(t, &found.p[k], style.color);
    }
    arena_free(&found.mem);
}

void counts_text(struct counts *c, struct count_style style, struct text *out)
{
    struct arena mem = { 0 };
    lock(&c->lock);
    u32 n;
    const struct count_kernel **k = count_kernels(c, &mem, &n);
    for (u32 i = 0; i < n; i++) {
        if (i) text_add(out, "\n");
        kernel_text(out, c, k[i], style);
    }
    operations_text(out, c, style);
    unlock(&c->lock);
    arena_free(&mem);
    sources_drop();
}
