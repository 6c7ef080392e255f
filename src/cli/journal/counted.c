/* What two profiles count differently, as text, JSON, JUnit and a table for a pull request. */
#include "journal/counted.h"
#include "base/printable.h"
#include <inttypes.h>

void counted_kernel(struct counted *c, const char *name)
{
    VEC_PUSH(c->mem, &c->kernels, ((struct counted_kernel){ name, c->changes.n, 0, 0 }));
}

void counted_add(struct counted *c, const struct counted_change *change)
{
    struct counted_kernel *k = &c->kernels.p[c->kernels.n - 1];
    VEC_PUSH(c->mem, &c->changes, *change);
    k->n++;
    k->worse += change->worse;
    c->worse += change->worse;
}

/* " (+700 %)"; nothing where there was nothing before. */
static void put_percent(struct text *out, const struct counted_change *x)
{
    if (x->before) text_add(out, " (%+" PRId64 " %%)", ((s64)x->after - (s64)x->before) * 100 / (s64)x->before);
}

static void put_text(struct text *out, const struct counted *c, bool quiet)
{
    for (u32 k = 0; k < c->kernels.n; k++) {
        const struct counted_kernel *of = &c->kernels.p[k];
        text_add(out, "%s\n", printable_in(c->mem, of->name));
        for (u32 i = of->first; i < of->first + of->n; i++) {
            const struct counted_change *x = &c->changes.p[i];
            if (!x->worse && quiet) continue;
            text_add(out, "  %-6s  %s: %s %" PRIu64 " -> %" PRIu64, x->worse ? "worse" : "better",
                     printable_in(c->mem, x->where), printable_in(c->mem, x->what), x->before, x->after);
            put_percent(out, x);
            text_add(out, "\n");
        }
    }
    text_add(out, "%u kernel%s compared: %s\n", c->kernels.n, plural(c->kernels.n), c->worse ? "WORSE" : "not worse");
}

/* A row a change; a kernel without one has a row that says so. */
static void put_markdown(struct text *out, const struct counted *c)
{
    text_add(out, "| kernel | where | what | before | after | |\n|---|---|---|---|---|---|\n");
    for (u32 k = 0; k < c->kernels.n; k++) {
        const struct counted_kernel *of = &c->kernels.p[k];
        if (!of->n) {
            text_add(out, "| ");
            text_markdown(out, of->name);
            text_add(out, " | | | | | not worse |\n");
        }
        for (u32 i = of->first; i < of->first + of->n; i++) {
            const struct counted_change *x = &c->changes.p[i];
            text_add(out, "| ");
            text_markdown(out, of->name);
            text_add(out, " | ");
            text_markdown(out, x->where);
            text_add(out, " | ");
            text_markdown(out, x->what);
            text_add(out, " | %" PRIu64 " | %" PRIu64 " | %s", x->before, x->after, x->worse ? "**worse**" : "better");
            put_percent(out, x);
            text_add(out, " |\n");
        }
    }
}

static void put_json(struct text *out, const struct counted *c)
{
    struct json top = { out, false }, all = json_open(&top, NULL, '{');
    json_text(&all, "schema", "lockstep-counts");
    json_number(&all, "version", 1);
    json_double(&all, "threshold", (double)c->threshold / 1000);
    json_bool(&all, "worse", c->worse);
    struct json kernels = json_open(&all, "kernels", '[');
    for (u32 k = 0; k < c->kernels.n; k++) {
        const struct counted_kernel *of = &c->kernels.p[k];
        struct json one = json_open(&kernels, NULL, '{');
        json_text(&one, "name", of->name);
        json_bool(&one, "worse", of->worse);
        struct json changes = json_open(&one, "changes", '[');
        for (u32 i = of->first; i < of->first + of->n; i++) {
            const struct counted_change *x = &c->changes.p[i];
            struct json change = json_open(&changes, NULL, '{');
            json_text(&change, "where", x->where);
            json_text(&change, "what", x->what);
            json_number(&change, "before", x->before);
            json_number(&change, "after", x->after);
            json_bool(&change, "worse", x->worse);
            json_end(&change, '}');
        }
        json_end(&changes, ']');
        json_end(&one, '}');
    }
    json_end(&kernels, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

static void put_junit(struct text *out, const struct counted *c)
{
    u32 bad = 0;
    for (u32 k = 0; k < c->kernels.n; k++) bad += c->kernels.p[k].worse != 0;
    times_junit_open(out, c->kernels.n, bad);
    for (u32 k = 0; k < c->kernels.n; k++) {
        const struct counted_kernel *of = &c->kernels.p[k];
        struct text why = { 0 };
        for (u32 i = of->first; i < of->first + of->n; i++) {
            const struct counted_change *x = &c->changes.p[i];
            if (!x->worse) continue;
            text_add(&why, "%s%s: %s %" PRIu64 " -> %" PRIu64, why.n ? "; " : "", x->where, x->what, x->before,
                     x->after);
            put_percent(&why, x);
        }
        times_junit_case(out, of->name, why.p);
        text_free(&why);
    }
    text_add(out, "</testsuite>\n");
}

bool counted_report(const struct counted *c, const struct times_options *o, struct error *e)
{
    struct text out[TIMES_FORMS] = { 0 };
    if (!times_alone(o)) put_text(&out[TIMES_TOLD], c, o->common->quiet);
    put_json(&out[TIMES_JSON], c);
    put_junit(&out[TIMES_JUNIT], c);
    put_markdown(&out[TIMES_MARKDOWN], c);
    return times_write(out, o, e);
}
