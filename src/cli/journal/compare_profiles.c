/* Two profiles: which lines do more than before. A line is the same line if its file and its text are, wherever it
 * stands now, and the number of equal ones before it; else if its number is. What is neither is new: it counts with its
 * kernel. */
#include "journal/comparing.h"
#include "journal/counted.h"
#include <inttypes.h>

/* What is compared: a sum over keys of a line or of the counts of a kernel. */
static const struct measure {
    const char *name;
    const char *path[2][3]; /* space, access (NULL: all), counter; or a single key */
} measures[] = {
    { "warp instructions", { { "warp_instructions" } } },
    { "sectors of global memory", { { "global", NULL, "sectors" } } },
    { "sectors of local memory", { { "local", NULL, "sectors" } } },
    { "passes of shared memory", { { "shared", NULL, "wavefronts" } } },
    { "passes of the constant cache", { { "constant", NULL, "passes" } } },
    { "divergent branches", { { "branch", "divergent" }, { "branches_divergent" } } },
    { "lanes of atomics at one address", { { "atomic_lanes_at_one_address" } } },
    { "instructions waited at barriers", { { "barrier", "waiting_instructions" } } },
};

static u64 measured(const struct json_value *of, const struct measure *m)
{
    u64 sum = 0;
    for (u32 k = 0; k < 2 && m->path[k][0]; k++) {
        const char *const *p = m->path[k];
        const struct json_value *in = json_get(of, p[0]);
        if (!p[1] && !p[2])
            sum += json_whole(of, p[0]);
        else if (p[1])
            sum += in ? json_whole(in, p[1]) : 0;
        else
            for (u32 a = 0; in && in->kind == JSON_OBJECT && a < in->n; a++) sum += json_whole(&in->item[a], p[2]);
    }
    return sum;
}

/* More than the threshold, or anything where there was nothing. */
static bool is_more(const struct comparing *c, u64 before, u64 after)
{
    return after > before && (after - before) * 1000 > before * c->threshold;
}

/* Compares all measures of one thing, a line or all of them. */
static void compare_measures(const struct comparing *c, struct counted *to, const char *where,
                             const struct json_value *before, const struct json_value *after)
{
    for (u32 k = 0; k < COUNT_OF(measures); k++) {
        u64 x = measured(before, &measures[k]), y = measured(after, &measures[k]);
        bool worse = is_more(c, x, y);
        if (!worse && !is_more(c, y, x)) continue;
        counted_add(to, &(struct counted_change){ where, measures[k].name, x, y, worse });
    }
}

static bool same_file(const struct json_value *a, const struct json_value *b)
{
    const char *x = json_string(a, "file"), *y = json_string(b, "file"), *f = strrchr(x, '/'), *g = strrchr(y, '/');
    return !strcmp(f ? f + 1 : x, g ? g + 1 : y);
}

static bool same_text(const struct json_value *a, const struct json_value *b)
{
    const char *x = json_string(a, "source");
    return x[0] && same_file(a, b) && !strcmp(x, json_string(b, "source"));
}

/* The line of the other profile that item `n` of `lines` is; NULL: it was not there. */
static const struct json_value *line_like(const struct json_value *lines, u32 n, const struct json_value *others)
{
    u32 nth = 0;
    for (u32 k = 0; k < n; k++) nth += same_text(&lines->item[k], &lines->item[n]);
    for (u32 k = 0; k < others->n; k++)
        if (same_text(&others->item[k], &lines->item[n]) && !nth--) return &others->item[k];
    for (u32 k = 0; k < others->n; k++)
        if (same_file(&others->item[k], &lines->item[n]) &&
            json_whole(&others->item[k], "line") == json_whole(&lines->item[n], "line"))
            return &others->item[k];
    return NULL;
}

static void compare_lines(const struct comparing *c, struct arena *a, struct counted *to,
                          const struct json_value *before, const struct json_value *after)
{
    enum { WORTH = 10 }; /* of 1000 of the cost of a kernel: lines below it are noise to a reader */
    const struct json_value *x = json_list(before, "lines"), *y = json_list(after, "lines");
    compare_measures(c, to, "all lines", json_get(before, "counts"), json_get(after, "counts"));
    for (u32 k = 0; k < y->n; k++) {
        const struct json_value *line = &y->item[k], *was = line_like(y, k, x);
        if (!was || (json_whole(line, "cost_permille") < WORTH && json_whole(was, "cost_permille") < WORTH)) continue;
        const char *file = json_string(line, "file"), *slash = strrchr(file, '/');
        compare_measures(c, to, arena_printf(a, "%.250s:%" PRIu64, slash ? slash + 1 : file, json_whole(line, "line")),
                         was, line);
    }
}

static const struct json_value *kernel_like(const struct json_value *file, const char *name)
{
    const struct json_value *devices = json_list(file, "devices");
    for (u32 d = 0; d < devices->n; d++) {
        const struct json_value *kernels = json_list(&devices->item[d], "kernels");
        for (u32 k = 0; k < kernels->n; k++)
            if (!strcmp(json_string(&kernels->item[k], "name"), name)) return &kernels->item[k];
    }
    return NULL;
}

int compare_profiles(const struct comparing *c, struct arena *a, struct error *e)
{
    const struct json_value *devices = json_list(c->file[1], "devices");
    struct counted all = { .mem = a, .threshold = c->threshold };
    for (u32 d = 0; d < devices->n; d++) {
        const struct json_value *kernels = json_list(&devices->item[d], "kernels");
        for (u32 k = 0; k < kernels->n; k++) {
            const struct json_value *now = &kernels->item[k], *was = kernel_like(c->file[0], json_string(now, "name"));
            if (!was || !json_get(was, "counts") || !json_get(now, "counts")) continue;
            counted_kernel(&all, json_string(now, "plain"));
            compare_lines(c, a, &all, was, now);
        }
    }
    if (!all.kernels.n) {
        cli_error("compare: the two profiles have no kernel in common");
        return EXIT_NOTHING;
    }
    if (!counted_report(&all, &c->times, e)) return cli_error_value(e);
    return all.worse ? EXIT_FINDINGS : EXIT_CLEAN;
}
