/* Joins what a GPU has measured with what was counted. */
#include "verbs/hardware.h"
#include "base/demangle.h"
#include "base/json.h"
#include <inttypes.h>

/* ---- the profile ---- */

/* global.load.sectors */
static double at_path(const struct json_value *v, const char *path)
{
    char key[40];
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        v = json_get(v, key);
    }
    return json_real(v, path);
}

/* The longest limit of each launch, added up, in nanoseconds. */
static double least_ns(const struct json_value *kernel)
{
    const struct json_value *shapes = json_list(kernel, "shapes");
    double ns = 0;
    for (u32 i = 0; i < shapes->n; i++) {
        const struct json_value *least = json_get(&shapes->item[i], "least_ps");
        double most = 0;
        for (u32 k = 0; least && least->kind == JSON_OBJECT && k < least->n; k++)
            if (least->item[k].kind == JSON_NUMBER && least->item[k].number > most) most = least->item[k].number;
        ns += most * json_real(&shapes->item[i], "launches") / 1000;
    }
    return ns;
}

/* What is counted of a measure; false: nothing. */
static bool counted_of(const struct json_value *kernel, const struct measure_row *row, double *out)
{
    const struct json_value *counts = json_get(kernel, "counts"), *shapes = json_list(kernel, "shapes");
    if (!counts || !row->counted) return false;
    if (!strcmp(row->counted, "@least"))
        *out = least_ns(kernel);
    else if (!strcmp(row->counted, "@footprint_read"))
        *out = 32 * at_path(counts, "footprint.sectors_read");
    else if (!strcmp(row->counted, "@footprint_written"))
        *out = 32 * at_path(counts, "footprint.sectors_written");
    else if (!strcmp(row->counted, "@instructions"))
        *out = json_real(counts, "warp_instructions");
    else if (!strcmp(row->counted, "@occupancy"))
        *out = shapes->n ? at_path(&shapes->item[0], "occupancy.permille") / 10 : 0;
    else
        *out = at_path(counts, row->counted);
    return true;
}

/* ---- names ---- */

/* A name without what differs from tool to tool: spaces, `void`, the parameters, casts of template arguments, nameless
 * namespaces. "void <unnamed>::scale<(int)4>(T1 *)" is "scale<4>". */
static void name_bare(const char *name, char *out, size_t size)
{
    size_t n = 0;
    int depth = 0;
    if (!strncmp(name, "void ", 5)) name += 5;
    for (const char *p = name; *p && n + 1 < size; p++) {
        static const char *const none[] = { "<unnamed>::", "(anonymous namespace)::" };
        for (u32 k = 0; k < COUNT_OF(none); k++)
            if (!strncmp(p, none[k], strlen(none[k]))) p += strlen(none[k]);
        if (*p == '(' && !depth) break;
        depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
        if (*p == '(') { /* (int)4 */
            const char *close = strchr(p, ')');
            if (!close) break;
            p = close;
            continue;
        }
        if (!*p) break;
        if (*p != ' ') out[n++] = *p;
    }
    out[n] = 0;
}

struct pairing {
    struct arena mem;
    const struct json_value **kernel; /* all that were counted */
    u32 n;
};

static void kernels_list(struct pairing *p, const struct json_value *profile)
{
    const struct json_value *devices = json_list(profile, "devices");
    u32 cap = 0;
    for (u32 i = 0; i < devices->n; i++) {
        const struct json_value *list = json_list(&devices->item[i], "kernels");
        for (u32 k = 0; k < list->n; k++) {
            if (p->n == cap) p->kernel = vec_grow(&p->mem, p->kernel, &cap, sizeof *p->kernel, 8);
            p->kernel[p->n++] = &list->item[k];
        }
    }
}

/* The kernel of this name: as it is mangled; with its template arguments; the only one of this name. NULL: none. */
static const struct json_value *kernel_named(struct pairing *p, const char *name)
{
    char bare[1000], other[1000];
    const struct json_value *found = NULL;
    u32 alike = 0;
    for (u32 i = 0; i < p->n; i++)
        if (!strcmp(json_string(p->kernel[i], "name"), name)) return p->kernel[i];
    name_bare(name, bare, sizeof bare);
    for (u32 i = 0; i < p->n; i++) {
        struct demangled d;
        bool ok = demangle(&p->mem, str_of(json_string(p->kernel[i], "name")), &d);
        name_bare(ok ? d.name : json_string(p->kernel[i], "plain"), other, sizeof other);
        if (!strcmp(bare, other)) return p->kernel[i];
    }
    bare[strcspn(bare, "<")] = 0;
    for (u32 i = 0; i < p->n; i++)
        if (!strcmp(json_string(p->kernel[i], "plain"), bare)) {
            found = p->kernel[i];
            alike++;
        }
    return alike == 1 ? found : NULL;
}

/* ---- what both have ---- */

struct hardware_pair {
    const struct measured *m;
    const struct json_value *kernel; /* NULL: it was not counted */
    bool each;                       /* sums are those of one launch, since the two had different numbers of them */
};

static struct hardware_pair pair_of(struct pairing *p, const struct measured *m)
{
    const struct json_value *k = kernel_named(p, m->name);
    return (struct hardware_pair){ m, k, k && json_real(k, "launches") != (double)m->launches };
}

static const char *pair_name(const struct hardware_pair *x)
{
    return x->kernel ? json_string(x->kernel, "plain") : x->m->name;
}

static bool is_sum(const struct measure_row *row) { return row->unit <= UNIT_COUNT; }

/* What was measured; false: nothing. */
static bool value_of(const struct hardware_pair *x, u32 k, double *out)
{
    const struct measured *m = x->m;
    if (!m->n[k]) return false;
    double mean = m->sum[k] / (double)m->n[k];
    *out = is_sum(&measure_rows[k]) && !x->each ? mean * (double)m->launches : mean;
    return true;
}

static bool counted_in(const struct hardware_pair *x, u32 k, double *out)
{
    if (!x->kernel || !counted_of(x->kernel, &measure_rows[k], out)) return false;
    double launches = json_real(x->kernel, "launches");
    if (x->each && is_sum(&measure_rows[k]) && launches > 0) *out /= launches;
    return true;
}

/* Counted exactly, and so on a GPU. */
static bool is_exact(const struct measure_row *row) { return row->counted && row->counted[0] != '@'; }

/* ---- as text ---- */

static void value_text(struct text *t, enum measure_unit unit, double x, int width)
{
    static const char *const time[] = { "ns", "us", "ms", "s" }, *const bytes[] = { "B", "kB", "MB", "GB" };
    char out[48];
    u32 k = 0;
    if (unit == UNIT_NS || unit == UNIT_BYTES) {
        for (; k < 3 && x >= 1000; k++) x /= 1000;
        snprintf(out, sizeof out, "%.1f %s", x, (unit == UNIT_NS ? time : bytes)[k]);
    } else if (unit == UNIT_COUNT)
        snprintf(out, sizeof out, "%.0f", x);
    else
        snprintf(out, sizeof out, unit == UNIT_PERCENT ? "%.1f %%" : "%.2f", x);
    text_add(t, "%*s", width, out);
}

static void row_text(struct text *t, const struct hardware_pair *x, u32 k)
{
    const struct measure_row *row = &measure_rows[k];
    double is, counted;
    if (!value_of(x, k, &is)) return;
    bool both = counted_in(x, k, &counted);
    if (both && is_exact(row) && !is && !counted) return; /* it has none of these */
    text_add(t, "    %-28s", row->plain);
    value_text(t, row->unit, is, 16);
    if (both) value_text(t, row->unit, counted, 16);
    if (both && is_exact(row))
        text_add(t, "  %s", is == counted ? "the same" : "differs");
    else if (both)
        text_add(t, "  %s",
                 !strcmp(row->counted, "@least")          ? "at least, by the model"
                 : !strcmp(row->counted, "@occupancy")    ? "fits at most"
                 : !strcmp(row->counted, "@instructions") ? "of PTX"
                                                          : "the footprint");
    text_add(t, "\n");
}

/* What warps waited for, the longest first. */
static void stalls_text(struct text *t, const struct hardware_pair *x)
{
    bool done[MEASURES] = { false };
    u32 shown = 0;
    for (; shown < 5; shown++) {
        u32 most = MEASURES;
        double value = 0.1, is; /* less is not worth a word */
        for (u32 k = 0; k < MEASURES; k++)
            if (measure_rows[k].unit == UNIT_RATIO && !done[k] && value_of(x, k, &is) && is > value) {
                most = k;
                value = is;
            }
        if (most == MEASURES) break;
        done[most] = true;
        text_add(t, "%s%s %.2f", shown ? ", " : "    warps that wait, an issue: ", measure_rows[most].plain, value);
    }
    if (shown) text_add(t, "\n");
}

static void pair_text(struct text *t, const struct hardware_pair *x)
{
    text_add(t, "  %s: %" PRIu64 " launch%s measured", pair_name(x), x->m->launches, x->m->launches == 1 ? "" : "es");
    if (!x->kernel)
        text_add(t, ", none counted here");
    else if (x->each)
        text_add(t, ", %.0f counted: sums are those of one launch", json_real(x->kernel, "launches"));
    text_add(t, "\n    %-28s%16s%s\n", "", "measured", x->kernel ? "         counted" : "");
    for (u32 k = 0; k < MEASURES; k++)
        if (measure_rows[k].unit != UNIT_RATIO) row_text(t, x, k);
    stalls_text(t, x);
}

/* ---- as JSON ---- */

static void pair_json(struct json *j, const struct hardware_pair *x)
{
    static const char *const unit[] = { "ns", "bytes", "", "%", "warps" };
    double is, counted;
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "kernel", x->kernel ? json_string(x->kernel, "name") : x->m->name);
    json_text(&o, "plain", pair_name(x));
    json_number(&o, "launches", x->m->launches);
    json_bool(&o, "sums_of_one_launch", x->each);
    double ps = x->m->n[0] ? x->m->sum[0] / (double)x->m->n[0] * 1000 : 0;
    if (ps >= 1 && ps < 1e18) json_number(&o, "duration_ps", (u64)ps);
    struct json l = json_open(&o, "metrics", '[');
    for (u32 k = 0; k < MEASURES; k++) {
        const struct measure_row *row = &measure_rows[k];
        if (!value_of(x, k, &is)) continue;
        struct json m = json_open(&l, NULL, '{');
        char name[80];
        snprintf(name, sizeof name, "%s%s", row->unit == UNIT_RATIO ? "warps wait for " : "", row->plain);
        json_text(&m, "name", name);
        json_text(&m, "metric", row->metric);
        json_text(&m, "unit", unit[row->unit]);
        json_double(&m, "measured", is);
        if (counted_in(x, k, &counted)) {
            json_double(&m, "counted", counted);
            json_bool(&m, "exact", is_exact(row));
        }
        json_end(&m, '}');
    }
    json_end(&l, ']');
    json_end(&o, '}');
}

bool hardware_join(const struct hardware *h, struct str profile, struct text *json, struct text *table, struct error *e)
{
    struct pairing p = { 0 };
    const struct json_value *v = json_read(&p.mem, profile, "the profile", e);
    if (!v) {
        arena_free(&p.mem);
        return false;
    }
    kernels_list(&p, v);
    if (table)
        text_add(table, "\nmeasured by %s%s%s, beside what was counted\n", h->by ? h->by : "nobody",
                 h->capability ? " on a GPU of compute capability " : "", h->capability ? h->capability : "");
    struct text list = { 0 };
    struct json top = { .out = &list, .more = true }, o = json_open(&top, "hardware", '{');
    json_text(&o, "by", h->by);
    json_text(&o, "capability", h->capability);
    struct json k = json_open(&o, "kernels", '[');
    for (u32 i = 0; i < h->kernels; i++) {
        struct hardware_pair x = pair_of(&p, &h->kernel[i]);
        if (table) pair_text(table, &x);
        pair_json(&k, &x);
    }
    json_end(&k, ']');
    json_end(&o, '}');
    if (json) { /* before the last bracket */
        size_t n = profile.n;
        while (n && profile.p[n - 1] != '}') n--;
        text_put(json, profile.p, n ? n - 1 : 0);
        text_put(json, list.p, list.n);
        text_add(json, "}\n");
    }
    text_free(&list);
    arena_free(&p.mem);
    return true;
}
