/* lockstep journal merge: journals of several processes or machines as one. */
#include "journal/show.h"
#include "base/printable.h"
#include <stdlib.h>

struct merged {
    struct str line;
    const char *time;
    u32 at; /* in the order in which they were read: entries of one time stay as they were */
};

static int by_time(const void *x, const void *y)
{
    const struct merged *a = x, *b = y;
    int c = strcmp(a->time, b->time);
    return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* A shard of a campaign says which one it is: "2/4". All of them must be there. */
struct shards {
    struct arena *a;
    VEC(const char *) seen; /* "2/4" */
    struct map is;          /* each of them */
};

static void shard_seen(struct shards *s, const char *shard)
{
    if (map_get(&s->is, str_of(shard))) return;
    map_put(s->a, &s->is, str_of(shard), s);
    VEC_PUSH(s->a, &s->seen, shard);
}

static bool shards_whole(const struct shards *s, struct error *e)
{
    struct map looked = { 0 }; /* at the shards of so many */
    for (u32 i = 0; i < s->seen.n; i++) {
        u32 of = (u32)strtoul(strchr(s->seen.p[i], '/') ? strchr(s->seen.p[i], '/') + 1 : "0", NULL, 10);
        struct str many = str_of(arena_printf(s->a, "%u", of));
        if (map_get(&looked, many)) continue;
        map_put(s->a, &looked, many, &looked);
        for (u32 k = 1; k <= of && of <= 65536; k++) {
            char want[32];
            snprintf(want, sizeof want, "%u/%u", k, of);
            if (!map_get(&s->is, str_of(want)))
                return error_set(e, ERR_INPUT, "shard %s is missing: %s is there, and no file has %s", want,
                                 s->seen.p[i], want);
        }
    }
    return true;
}

bool journal_merge(struct arena *a, const char *const *path, u32 n, const char *to, struct error *e)
{
    VEC(struct merged) all = { 0 };
    struct map known = { 0 };
    struct shards shards = { .a = a };
    u32 cut = 0;
    for (u32 i = 0; i < n; i++) {
        struct journal_entry *x;
        u32 entries;
        if (!journal_load(a, path[i], &x, &entries, e)) return false;
        for (u32 k = 0; k < entries; k++) {
            if (x[k].state == JOURNAL_CUT) {
                fprintf(stderr, "lockstep: %s:%u: this line is cut off, and left out\n", printable_in(a, path[i]),
                        x[k].number);
                cut++;
                continue;
            }
            if (x[k].state == JOURNAL_EDITED)
                return error_set(e, ERR_INPUT, "%.200s:%u: this entry was edited: its hash is another one", path[i],
                                 x[k].number);
            const char *shard = json_string(x[k].value, "shard");
            if (shard[0]) shard_seen(&shards, shard);
            if (map_get(&known, x[k].line)) continue;
            map_put(a, &known, x[k].line, a);
            struct merged m = { x[k].line, json_string(x[k].value, "time"), all.n };
            VEC_PUSH(a, &all, m);
        }
    }
    if (!all.n) return error_set(e, ERR_NOTHING, "none of the files has an entry");
    if (!shards_whole(&shards, e)) return false;
    qsort(all.p, all.n, sizeof *all.p, by_time);
    struct text out = { 0 };
    for (u32 i = 0; i < all.n; i++) {
        text_put(&out, all.p[i].line.p, all.p[i].line.n);
        text_add(&out, "\n");
    }
    bool ok = file_write(to, out.p, out.n, e);
    text_free(&out);
    return ok &&
           (!cut || error_set(e, ERR_INPUT, "%.200s is written, and is not whole: of %u line%s cut off it has nothing",
                              to, cut, plural(cut)));
}
