/* Which launches are checked. */
#include "engine/cu_choose.h"
#include "base/demangle.h"
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>

struct seen {          /* a kernel that was launched */
    const char *plain; /* its name in the source */
    bool named;        /* by --kernel-name */
    struct seen *next; /* launched later for the first time */
};
struct shape {    /* a kernel at one shape */
    u64 launches; /* so far */
};

static struct {
    enum { BY_REGEX, BY_PART, BY_WHOLE } by; /* what `name` is */
    const char *name;                        /* NULL: every kernel is named */
    regex_t pattern;                         /* of BY_REGEX */
    u64 skip, most, every;                   /* most: 0: no limit; every: 0 and 1: each of them */
    lk_way others;                           /* what the other launches do */
    bool any;                                /* an option was given */
    lock_t lock;                             /* of the fields below */
    struct map kernels;                      /* by name in the PTX: struct seen */
    struct seen *first, **end;               /* all of them; end: where the next one goes, NULL: there is none yet */
    struct map shapes;                       /* by kernel, grid and block: struct shape */
    struct arena mem;                        /* for them */
    u64 named, checked;                      /* launches: of kernels that are named, checked */
    u64 launches;                            /* all */
} chosen = { .others = LK_UNCHECKED, .lock = LOCK_INIT };

/* ---- the options ---- */

/* compute-sanitizer writes kns=PART, kne=NAME; a word without a key is a pattern. */
static bool name_take(const char *value)
{
    static const struct {
        const char *key;
        int by;
    } keys[] = { { "kns=", BY_PART },          { "kernel_substring=", BY_PART }, { "kne=", BY_WHOLE },
                 { "kernel_name=", BY_WHOLE }, { "regex=", BY_REGEX },           { "kernel_regex=", BY_REGEX } };
    chosen.by = BY_REGEX;
    for (u32 i = 0; i < COUNT_OF(keys); i++)
        if (!strncmp(value, keys[i].key, strlen(keys[i].key))) {
            chosen.by = keys[i].by;
            value += strlen(keys[i].key);
            break;
        }
    if (chosen.by == BY_REGEX && regcomp(&chosen.pattern, value, REG_EXTENDED | REG_NOSUB)) return false;
    chosen.name = value;
    return chosen.any = true;
}

bool cu_choose_option(const char *key, const char *value, bool *known)
{
    u64 *number = !strcmp(key, "launch-skip")    ? &chosen.skip
                  : !strcmp(key, "launch-count") ? &chosen.most
                  : !strcmp(key, "check-every")  ? &chosen.every
                                                 : NULL;
    *known = true;
    if (!strcmp(key, "kernel-name")) return name_take(value);
    if (number) return (chosen.any = true) && whole_parse(value, UINT64_MAX, number);
    if (strcmp(key, "others")) return *known = false;
    chosen.others = strcmp(value, "skip") ? LK_UNCHECKED : LK_LEFT_OUT;
    return (chosen.any = true) && (!strcmp(value, "skip") || !strcmp(value, "run"));
}

/* ---- choosing ---- */

static bool fits(const char *name)
{
    switch (chosen.by) {
    case BY_PART: return strstr(name, chosen.name);
    case BY_WHOLE: return !strcmp(name, chosen.name);
    default: return !regexec(&chosen.pattern, name, 0, NULL, 0);
    }
}

/* By any of its names: _Z5scaleIfEvPT_, scale, scale<float>, scale<float>(float*). */
static bool is_named(const struct seen *k, const char *mangled, const struct demangled *d)
{
    return !chosen.name || fits(mangled) || fits(k->plain) || (d->plain && fits(d->plain)) ||
           (d->signature && fits(d->signature));
}

static struct seen *kernel_of(const lk_chosen *l)
{
    struct seen *k = map_get(&chosen.kernels, str_of(l->name));
    struct demangled d = { 0 };
    if (k) return k;
    k = NEW(&chosen.mem, struct seen);
    const char *name = arena_str(&chosen.mem, str_of(l->name));
    k->plain = demangle(&chosen.mem, str_of(name), &d) ? d.name : name;
    k->named = is_named(k, name, &d);
    if (!chosen.end) chosen.end = &chosen.first;
    *chosen.end = k;
    chosen.end = &k->next;
    map_put(&chosen.mem, &chosen.kernels, str_of(name), k);
    return k;
}

/* Launches of this kernel at this shape before. */
static u64 shape_count(const struct seen *k, const lk_chosen *l)
{
    struct {
        const struct seen *kernel;
        u32 grid[3], block[3];
    } key = { k, { l->grid[0], l->grid[1], l->grid[2] }, { l->block[0], l->block[1], l->block[2] } };
    struct str bytes = { (const char *)&key, sizeof key };
    struct shape *s = map_get(&chosen.shapes, bytes);
    if (!s) {
        s = NEW(&chosen.mem, struct shape);
        bytes.p = memcpy(arena_alloc(&chosen.mem, sizeof key, 8), &key, sizeof key);
        map_put(&chosen.mem, &chosen.shapes, bytes, s);
    }
    return s->launches++;
}

static lk_way choose(void *self, const lk_chosen *l)
{
    (void)self;
    lock(&chosen.lock);
    const struct seen *k = kernel_of(l);
    u64 nth = k->named ? chosen.named++ : 0;
    bool checked = k->named && nth >= chosen.skip && (!chosen.most || nth - chosen.skip < chosen.most);
    checked = checked && (chosen.every < 2 || shape_count(k, l) % chosen.every == 0);
    chosen.launches++;
    chosen.checked += checked;
    unlock(&chosen.lock);
    return checked ? LK_CHECKED : chosen.others;
}

void cu_choose_open(lk_gpu *gpu)
{
    if (chosen.any) lk_gpu_choose(gpu, choose, NULL);
}

u64 cu_choose_checked(u64 launches)
{
    if (!chosen.any) return launches;
    lock(&chosen.lock);
    u64 checked = chosen.checked;
    unlock(&chosen.lock);
    return checked;
}

void cu_choose_summary(struct text *t)
{
    enum { MOST = 8 }; /* names that are listed */
    if (!chosen.any) return;
    lock(&chosen.lock);
    u64 left = chosen.launches - chosen.checked;
    text_add(t, "%" PRIu64 " of %" PRIu64 " launch%s checked; %" PRIu64 " %s\n", chosen.checked, chosen.launches,
             chosen.launches == 1 ? " was" : "es were", left,
             chosen.others == LK_LEFT_OUT ? "did not run" : "ran unchecked");
    if (chosen.name && !chosen.named && chosen.kernels.n) {
        text_add(t, "--kernel-name %s names none of the kernels that were launched:", chosen.name);
        u32 n = 0;
        for (const struct seen *k = chosen.first; k && n < MOST; k = k->next)
            text_add(t, "%s %s", n++ ? "," : "", k->plain);
        text_add(t, chosen.kernels.n > MOST ? ", ...\n" : "\n");
    }
    unlock(&chosen.lock);
}
