/* Pictures of journals: a landscape over sizes, the distribution of samples, kernels on the roofline.
 *
 * One SVG with its own colours, for light and dark: axes with marks and units, a legend, and for readers without eyes a
 * title and a description. Numbers are those of the entries, nothing is smoothed. */
#include "journal/plot.h"
#include "base/xml.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

const char *const plot_kind_name[PLOT_KINDS] = { "landscape", "samples", "roofline" };

enum { WIDTH = 860, HEIGHT = 480, LEFT = 92, RIGHT = 24, TOP = 64, BOTTOM = 56, MARKS = 24, LINES_MOST = 8, ROW = 44 };

struct axis {
    double low, high;
    bool is_log;
    double from, to; /* in the picture */
    const char *unit, *title;
};

/* ---- axes ---- */

void plot_label(double x, const char *unit, char *out, size_t size)
{
    static const char *const up[] = { "", "k", "M", "G", "T", "P" }, *const down[] = { "s", "ms", "us", "ns", "ps" };
    u32 k = 0;
    if (!strcmp(unit, "s")) {
        for (; k < 4 && x > 0 && x < 0.9995; k++) x *= 1000;
        snprintf(out, size, "%.3g %s", x, down[k]);
        return;
    }
    for (; k < 5 && fabs(x) >= 999.5; k++) x /= 1000;
    snprintf(out, size, "%.3g%s%s%s", x, unit[0] ? " " : "", up[k], unit);
}

u32 plot_marks(double low, double high, bool is_log, double *mark, u32 most)
{
    u32 n = 0;
    if (is_log) {
        double decades = log10(high / low);
        if (decades < 1.5) /* 1, 2, 5 of each power of ten */
            for (double p = pow(10, floor(log10(low))); p <= high * 1.0001; p *= 10)
                for (u32 k = 0; k < 3 && n < most; k++) {
                    double x = p * (k == 0 ? 1 : k == 1 ? 2 : 5);
                    if (x >= low * 0.9999 && x <= high * 1.0001) mark[n++] = x;
                }
        else
            for (double p = pow(10, ceil(log10(low) - 1e-9)); p <= high * 1.0001 && n < most; p *= 10) mark[n++] = p;
        return n;
    }
    double raw = (high - low) / 6, p = pow(10, floor(log10(raw))),
           step = raw / p > 5   ? 10 * p
                  : raw / p > 2 ? 5 * p
                  : raw / p > 1 ? 2 * p
                                : p;
    for (double x = ceil(low / step - 1e-9) * step; x <= high + step * 1e-9 && n < most; x += step)
        mark[n++] = fabs(x) < step * 1e-9 ? 0 : x;
    return n;
}

static double place(const struct axis *a, double x)
{
    double t = a->is_log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
    return a->from + t * (a->to - a->from);
}

static void grow(struct axis *a, double x)
{
    if (!(x > 0) && a->is_log) return;
    if (!(a->low <= x)) a->low = x;
    if (!(a->high >= x)) a->high = x;
}

/* Some air at both ends. */
static void round_axis(struct axis *a)
{
    if (a->is_log) {
        double air = a->high > a->low ? pow(a->high / a->low, 0.06) : 2;
        a->low /= air;
        a->high *= air;
    } else {
        double air = a->high > a->low ? 0.06 * (a->high - a->low) : a->high ? fabs(a->high) / 2 : 1;
        a->low = fmax(0, a->low - air);
        a->high += air;
    }
}

static void begin(struct text *out, const char *title, const char *about, u32 height)
{
    text_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" role=\"img\" "
             "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<title>",
             WIDTH, height, WIDTH, height);
    text_xml_line(out, title);
    text_add(out, "</title>\n<desc>");
    text_xml_line(out, about);
    text_add(out,
             "</desc>\n<style>\n"
             ":root { --paper: #ffffff; --ink: #1a1a1a; --faint: #d8d8d8; --c0: #1f6fb4; --c1: #c2571a; --c2: #2b8a4b; "
             "--c3: #8a4fb0; --c4: #b3263c; --c5: #6b6b1f; --c6: #128a8a; --c7: #555555; }\n"
             "@media (prefers-color-scheme: dark) { :root { --paper: #161618; --ink: #e8e8e8; --faint: #3a3a3e; --c0: "
             "#6cb2ee; --c1: #f0985c; --c2: #74cf92; --c3: #c79be8; --c4: #f07a8c; --c5: #cfcf6a; --c6: #5fd3d3; --c7: "
             "#aaaaaa; } }\n"
             ".ink { fill: var(--ink); }\n.grid { stroke: var(--faint); stroke-width: 1; }\n.line { fill: none; "
             "stroke-width: 2; }\n.roof { fill: none; stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 6 4; }\n"
             "</style>\n<rect width=\"%d\" height=\"%u\" fill=\"var(--paper)\"/>\n<text class=\"ink\" x=\"%d\" "
             "y=\"26\" font-size=\"16\" font-weight=\"600\">",
             WIDTH, height, LEFT);
    text_xml_line(out, title);
    text_add(out, "</text>\n");
}

static void put_axis(struct text *out, const struct axis *a, bool across, double other_from, double other_to)
{
    double mark[MARKS];
    u32 n = plot_marks(a->low, a->high, a->is_log, mark, MARKS);
    char label[40];
    for (u32 i = 0; i < n; i++) {
        double p = place(a, mark[i]);
        plot_label(mark[i], a->unit, label, sizeof label);
        if (across)
            text_add(out,
                     "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/><text class=\"ink\" "
                     "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                     p, other_from, p, other_to, p, other_from + 18, label);
        else
            text_add(out,
                     "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/><text class=\"ink\" "
                     "x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                     other_from, p, other_to, p, other_from - 8, p + 4, label);
    }
    if (across)
        text_add(out, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (a->from + a->to) / 2,
                 other_from + 40);
    else
        text_add(out, "<text class=\"ink\" transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                 (a->from + a->to) / 2);
    text_xml_line(out, a->title);
    text_add(out, "</text>\n");
}

enum { LEGEND_ROW = 18 };
static void put_legend(struct text *out, const char *const *name, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        u32 y = 38 + i * LEGEND_ROW;
        text_add(out,
                 "<rect x=\"%d\" y=\"%u\" width=\"12\" height=\"12\" fill=\"var(--c%u)\"/><text class=\"ink\" x=\"%d\" "
                 "y=\"%u\">",
                 LEFT, y, i, LEFT + 17, y + 11);
        text_xml_line(out, name[i]);
        text_add(out, "</text>\n");
    }
}

/* ---- names ---- */

/* The value of a name in a case; NULL: none. */
static const char *value_in(const char *line, const char *name, size_t n, size_t *length)
{
    for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, name, n) && p[n] == '=') {
            *length = strcspn(p + n + 1, " ");
            return p + n + 1;
        }
    return NULL;
}

/* The name in cases whose numbers take the most values; NULL: no case has one. */
static const char *most_varied(struct arena *a, const struct timed *t, u32 n, u32 *values)
{
    const char *best = NULL, *first = n ? times_word(&t[0], "case") : "";
    *values = 1;
    for (const char *p = first; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t k = strcspn(p, "= "), length;
        VEC(double) seen = { 0 };
        if (p[k] != '=') continue;
        for (u32 i = 0; i < n; i++) {
            char *end;
            const char *v = value_in(times_word(&t[i], "case"), p, k, &length);
            double x = v ? double_read(v, &end) : NAN;
            if (!v || end != v + length) continue;
            u32 s = 0;
            while (s < seen.n && seen.p[s] != x) s++;
            if (s == seen.n) VEC_PUSH(a, &seen, x);
        }
        if (seen.n > *values) {
            *values = seen.n;
            best = arena_str(a, (struct str){ p, (u32)k });
        }
    }
    return best;
}

/* An entry's name without the value that varies: what belongs to one line of a picture. */
static const char *series_name(struct arena *a, const struct timed *t, const char *varies)
{
    const char *name = t->name, *at = NULL;
    size_t n = varies ? strlen(varies) : 0;
    for (const char *p = name; varies && *p; p++)
        if (!strncmp(p, varies, n) && p[n] == '=' && (p == name || p[-1] == ' ')) at = p;
    if (!at) return name;
    size_t length = strcspn(at, " ");
    const char *behind = at + length + (at[length] == ' ');
    return arena_printf(a, "%.*s%s", (int)(at - name), name, behind);
}

/* ---- landscape ---- */

struct point {
    double x, y;
    u32 line;
};
static int by_line(const void *p, const void *q)
{
    const struct point *a = p, *b = q;
    return a->line != b->line ? (a->line > b->line) - (a->line < b->line) : (a->x > b->x) - (a->x < b->x);
}

static double median_of(struct arena *a, const struct timed *t) { return lk_series_quantile(times_all(a, t), 0.5); }

static void put_points(struct text *out, const struct point *all, u32 n, const struct axis *x, const struct axis *y)
{
    for (u32 i = 0; i < n; i++) {
        const struct point *p = &all[i];
        if (i + 1 < n && p[1].line == p->line)
            text_add(out,
                     "<line class=\"line\" stroke=\"var(--c%u)\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                     p->line, place(x, p->x), place(y, p->y), place(x, p[1].x), place(y, p[1].y));
        char label[40];
        plot_label(p->y, "s", label, sizeof label);
        text_add(out,
                 "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"var(--c%u)\"><title>%s = %.10g: %s</title></circle>\n",
                 place(x, p->x), place(y, p->y), p->line, x->title, p->x, label);
    }
}

static bool landscape(struct arena *a, const struct timed *t, u32 n, struct text *out, struct error *e)
{
    u32 values, lines = 0, left = 0;
    const char *varies = most_varied(a, t, n, &values), *name[LINES_MOST];
    struct axis x = { NAN, NAN, true, LEFT, WIDTH - RIGHT, "", varies },
                y = { NAN, NAN, true, 0, 0, "s", "median time" };
    VEC(struct point) all = { 0 };
    if (!varies)
        return error_set(
            e, ERR_NOTHING,
            "no size varies: a landscape needs entries of `bench --sizes` or `compare --sizes` with several values");
    for (u32 i = 0; i < n; i++) {
        size_t length;
        const char *v = value_in(times_word(&t[i], "case"), varies, strlen(varies), &length),
                   *own = series_name(a, &t[i], varies);
        u32 k = 0;
        if (!v) continue;
        while (k < lines && strcmp(name[k], own)) k++;
        if (k == LINES_MOST) {
            left++;
            continue;
        }
        if (k == lines) name[lines++] = own;
        char *end;
        struct point p = { double_read(v, &end), median_of(a, &t[i]), k };
        if (!(p.x > 0) || !(p.y > 0)) continue;
        grow(&x, p.x);
        grow(&y, p.y);
        VEC_PUSH(a, &all, p);
    }
    if (!all.n) return error_set(e, ERR_NOTHING, "no entry has a size and a time");
    u32 top = 46 + LEGEND_ROW * lines, bottom = top + 360, height = bottom + BOTTOM;
    y.from = bottom;
    y.to = top;
    qsort(all.p, all.n, sizeof *all.p, by_line);
    round_axis(&x);
    round_axis(&y);
    begin(out, arena_printf(a, "Time over %s%s%s", varies, t[0].device[0] ? ", " : "", t[0].device),
          "Median time of each entry over the size that varies, both axes logarithmic.", height);
    put_legend(out, name, lines);
    put_axis(out, &x, true, bottom, top);
    put_axis(out, &y, false, LEFT, WIDTH - RIGHT);
    put_points(out, all.p, all.n, &x, &y);
    if (left)
        text_add(out,
                 "<text class=\"ink\" x=\"%d\" y=\"%u\" text-anchor=\"end\">%u entries of further names are left "
                 "out</text>\n",
                 WIDTH - RIGHT, height - 8, left);
    text_add(out, "</svg>\n");
    return true;
}

/* ---- samples ---- */

static bool samples(struct arena *a, const struct timed *t, u32 n, struct text *out, struct error *e)
{
    u32 rows = MIN_OF(n, 24u), height = TOP + rows * ROW + BOTTOM;
    struct axis x = { NAN, NAN, false, LEFT, WIDTH - RIGHT, "s", "time of a launch" };
    for (u32 i = 0; i < rows; i++) {
        lk_series s = times_all(a, &t[i]);
        for (u32 k = 0; k < s.n; k++) grow(&x, s.sample[k]);
    }
    if (!(x.high > 0)) return error_set(e, ERR_NOTHING, "no entry has samples");
    x.is_log = x.low > 0 && x.high / x.low > 20;
    round_axis(&x);
    begin(out, arena_printf(a, "Samples%s%s", t[0].device[0] ? ", " : "", t[0].device),
          "Every sample of each entry as a dot, its processes one below the other; the bar is the median.", height);
    put_axis(out, &x, true, height - BOTTOM, TOP - 20);
    for (u32 i = 0; i < rows; i++) {
        double y = TOP + (double)i * ROW, step = 20.0 / (t[i].processes ? t[i].processes : 1),
               m = place(&x, median_of(a, &t[i]));
        char label[40];
        plot_label(median_of(a, &t[i]), "s", label, sizeof label);
        text_add(out, "<text class=\"ink\" x=\"%d\" y=\"%.1f\" font-size=\"12\">", LEFT, y - 2);
        text_xml_line(out, t[i].name);
        text_add(out, ", median %s</text>\n", label);
        for (u32 p = 0; p < t[i].processes; p++)
            for (u32 k = 0; k < t[i].process[p].n; k++)
                text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\" fill=\"var(--c%u)\" fill-opacity=\"0.55\"/>\n",
                         place(&x, t[i].process[p].sample[k]), y + 6 + step * (p + 0.5), p % LINES_MOST);
        text_add(out,
                 "<line stroke=\"var(--ink)\" stroke-width=\"2\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                 m, y + 3, m, y + 29);
    }
    if (rows < n)
        text_add(out,
                 "<text class=\"ink\" x=\"%d\" y=\"%u\" text-anchor=\"end\">%u further entries are left out</text>\n",
                 WIDTH - RIGHT, height - 8, n - rows);
    text_add(out, "</svg>\n");
    return true;
}

/* ---- roofline ---- */

static bool roofline(struct arena *a, const struct timed *t, u32 n, struct text *out, struct error *e)
{
    struct axis x = { 0.05, 200, true, LEFT, WIDTH - RIGHT, "", "operations a byte" },
                y = { NAN, NAN, true, HEIGHT - BOTTOM, TOP, "FLOP/s", "operations a second" };
    double bandwidth = 0, peak = 0;
    u32 points = 0;
    char label[40];
    for (u32 i = 0; i < n; i++) {
        double flops = times_number(&t[i], "flops", 0) + times_number(&t[i], "tensor_flops", 0),
               bytes = times_number(&t[i], "bytes", 0), m = median_of(a, &t[i]);
        bandwidth = fmax(bandwidth, times_number(&t[i], "copy_ceiling", 0));
        peak = fmax(peak, times_number(&t[i], "peak", 0));
        if (!(flops > 0) || !(bytes > 0) || !(m > 0)) continue;
        points++;
        grow(&x, flops / bytes);
        grow(&y, flops / m);
    }
    if (!points)
        return error_set(
            e, ERR_NOTHING,
            "no entry has counted operations and bytes: `bench` adds them where the software GPU could count");
    if (bandwidth > 0) grow(&y, bandwidth * x.low), grow(&y, peak > 0 ? peak : bandwidth * x.high);
    round_axis(&y);
    begin(out, arena_printf(a, "Roofline%s%s", t[0].device[0] ? ", " : "", t[0].device),
          "Operations a second of each entry over its operations a byte; dashed: what the card reached in a copy, and "
          "in fused multiply-adds.",
          HEIGHT);
    put_axis(out, &x, true, HEIGHT - BOTTOM, TOP);
    put_axis(out, &y, false, LEFT, WIDTH - RIGHT);
    if (bandwidth > 0) {
        double knee = peak > 0 ? fmin(peak / bandwidth, x.high) : x.high;
        text_add(out, "<polyline class=\"roof\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", place(&x, x.low),
                 place(&y, bandwidth * x.low), place(&x, knee), place(&y, bandwidth * knee), place(&x, x.high),
                 place(&y, peak > 0 && knee < x.high ? peak : bandwidth * knee));
        plot_label(bandwidth, "B/s", label, sizeof label);
        text_add(out, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\">copy %s</text>\n", place(&x, x.low) + 8,
                 place(&y, bandwidth * x.low) - 26, label);
    }
    for (u32 i = 0; i < n; i++) {
        double flops = times_number(&t[i], "flops", 0) + times_number(&t[i], "tensor_flops", 0),
               bytes = times_number(&t[i], "bytes", 0), m = median_of(a, &t[i]);
        if (!(flops > 0) || !(bytes > 0) || !(m > 0)) continue;
        double px = place(&x, flops / bytes), py = place(&y, flops / m);
        plot_label(flops / m, "FLOP/s", label, sizeof label);
        text_add(out,
                 "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"var(--c%u)\"/><text class=\"ink\" font-size=\"11\" "
                 "x=\"%.1f\" y=\"%.1f\">",
                 px, py, i % LINES_MOST, px + 8, py + 4);
        text_xml_line(out, t[i].name);
        text_add(out, " (%s)</text>\n", label);
    }
    text_add(out, "</svg>\n");
    return true;
}

bool plot_svg(struct arena *a, enum plot_kind kind, const struct timed *t, u32 n, struct text *out, struct error *e)
{
    if (!n) return error_set(e, ERR_NOTHING, "no entry of times to show");
    return kind == PLOT_LANDSCAPE ? landscape(a, t, n, out, e)
           : kind == PLOT_SAMPLES ? samples(a, t, n, out, e)
                                  : roofline(a, t, n, out, e);
}
