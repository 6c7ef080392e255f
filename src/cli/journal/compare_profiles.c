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
    { "wavefronts of shared memory", { { "shared", NULL, "wavefronts" } } },
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

static const char *file_of(const struct json_value *line)
{
    const char *file = json_string(line, "file"), *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* The lines of a profile: by file and text, in their order, and by file and number. */
struct equal_lines {
    VEC(const struct json_value *) list;
    u32 asked; /* the number of lookups so far, which is the index of the next candidate */
};
struct line_index {
    struct arena *a;
    struct map text;   /* to struct equal_lines */
    struct map number; /* to the first line there */
};

static struct str key_of_text(struct line_index *x, const struct json_value *line)
{
    const char *source = json_string(line, "source");
    return str_of(source[0] ? arena_printf(x->a, "%zu %s%s", strlen(file_of(line)), file_of(line), source) : "");
}

static struct str key_of_number(struct line_index *x, const struct json_value *line)
{
    return str_of(arena_printf(x->a, "%" PRIu64 " %s", json_whole(line, "line"), file_of(line)));
}

static void index_lines(struct line_index *x, const struct json_value *lines)
{
    for (u32 k = 0; k < lines->n; k++) {
        const struct json_value *line = &lines->item[k];
        struct str text = key_of_text(x, line), number = key_of_number(x, line);
        struct equal_lines *equal = text.n ? map_get(&x->text, text) : NULL;
        if (text.n && !equal) {
            equal = NEW(x->a, struct equal_lines);
            map_put(x->a, &x->text, text, equal);
        }
        if (equal) VEC_PUSH(x->a, &equal->list, line);
        if (!map_get(&x->number, number)) map_put(x->a, &x->number, number, (void *)(uintptr_t)line);
    }
}

/* The line of the other profile that the next line of this one is; NULL: it was not there. */
static const struct json_value *line_like(struct line_index *others, const struct json_value *line)
{
    struct str text = key_of_text(others, line);
    struct equal_lines *equal = text.n ? map_get(&others->text, text) : NULL;
    if (equal && equal->asked < equal->list.n) return equal->list.p[equal->asked++];
    return map_get(&others->number, key_of_number(others, line));
}

static void compare_lines(const struct comparing *c, struct arena *a, struct counted *to,
                          const struct json_value *before, const struct json_value *after)
{
    enum { WORTH = 10 }; /* of 1000 of the cost of a kernel: lines below it are noise to a reader */
    const struct json_value *x = json_list(before, "lines"), *y = json_list(after, "lines");
    struct line_index were = { .a = a };
    index_lines(&were, x);
    compare_measures(c, to, "all lines", json_get(before, "counts"), json_get(after, "counts"));
    for (u32 k = 0; k < y->n; k++) {
        const struct json_value *line = &y->item[k], *was = line_like(&were, line);
        if (!was || (json_whole(line, "cost_permille") < WORTH && json_whole(was, "cost_permille") < WORTH)) continue;
        compare_measures(c, to, arena_printf(a, "%.250s:%" PRIu64, file_of(line), json_whole(line, "line")), was, line);
    }
}

/* The first kernel of each name. */
static void index_kernels(struct arena *a, const struct json_value *file, struct map *out)
{
    const struct json_value *devices = json_list(file, "devices");
    for (u32 d = 0; d < devices->n; d++) {
        const struct json_value *kernels = json_list(&devices->item[d], "kernels");
        for (u32 k = 0; k < kernels->n; k++) {
            struct str name = str_of(json_string(&kernels->item[k], "name"));
            if (!map_get(out, name)) map_put(a, out, name, &kernels->item[k]);
        }
    }
}

int compare_profiles(const struct comparing *c, struct arena *a, struct error *e)
{
    const struct json_value *devices = json_list(c->file[1], "devices");
    struct counted all = { .mem = a, .threshold = c->threshold };
    struct map were = { 0 };
    index_kernels(a, c->file[0], &were);
    for (u32 d = 0; d < devices->n; d++) {
        const struct json_value *kernels = json_list(&devices->item[d], "kernels");
        for (u32 k = 0; k < kernels->n; k++) {
            const struct json_value *now = &kernels->item[k], *was = map_get(&were, str_of(json_string(now, "name")));
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
