/* Entries of times: written, read, held against themselves. */
#include "journal/times.h"
#include <math.h>

lk_series times_all(struct arena *a, const struct timed *t)
{
    u32 n = 0;
    for (u32 i = 0; i < t->processes; i++) n += t->process[i].n;
    double *v = NEW_ARRAY(a, double, n + 1);
    lk_series out = { v, n };
    for (u32 i = 0; i < t->processes; v += t->process[i++].n)
        if (t->process[i].n) memcpy(v, t->process[i].sample, sizeof *v * t->process[i].n);
    return out;
}

void times_note(struct timed *t, const char *key, const char *text, double number)
{
    if (t->notes < TIMED_NOTES) t->note[t->notes++] = (struct timed_note){ key, text, number };
}

static const struct timed_note *find_note(const struct timed *t, const char *key)
{
    for (u32 i = 0; i < t->notes; i++)
        if (!strcmp(t->note[i].key, key)) return &t->note[i];
    return NULL;
}

double times_number(const struct timed *t, const char *key, double none)
{
    const struct timed_note *n = find_note(t, key);
    return n && !n->text ? n->number : none;
}

const char *times_word(const struct timed *t, const char *key)
{
    const struct timed_note *n = find_note(t, key);
    return n && n->text ? n->text : "";
}

static void put_notes(struct json *o, const struct timed *t)
{
    if (!t->notes) return;
    struct json notes = json_open(o, "notes", '{');
    for (u32 i = 0; i < t->notes; i++)
        if (t->note[i].text)
            json_text(&notes, t->note[i].key, t->note[i].text);
        else
            json_double(&notes, t->note[i].key, t->note[i].number);
    json_end(&notes, '}');
}

static void read_notes(const struct json_value *v, struct timed *t)
{
    const struct json_value *all = json_get(v, "notes");
    for (u32 i = 0; all && all->kind == JSON_OBJECT && i < all->n; i++) {
        const struct json_value *x = &all->item[i];
        if (x->kind == JSON_TEXT || x->kind == JSON_NUMBER)
            times_note(t, all->key[i].p, x->kind == JSON_TEXT ? x->text.p : NULL,
                       x->kind == JSON_NUMBER ? x->number : 0);
    }
}

bool times_append(const char *path, const struct timed *t, struct error *e)
{
    struct arena mem = { 0 };
    struct text line = { 0 };
    char now[32];
    struct json top = { &line, false }, o = json_open(&top, NULL, '{');
    journal_time(now);
    json_text(&o, "entry", "times");
    json_text(&o, "name", t->name);
    json_text(&o, "time", t->time[0] ? t->time : now);
    struct json words = json_open(&o, "command", '[');
    for (u32 i = 0; i < t->words; i++) json_text(&words, NULL, t->command[i]);
    json_end(&words, ']');
    json_text(&o, "work", t->work);
    json_text(&o, "device", t->device);
    json_text(&o, "unit", t->unit);
    put_notes(&o, t);
    struct json processes = json_open(&o, "processes", '[');
    for (u32 i = 0; i < t->processes; i++) {
        struct json one = json_open(&processes, NULL, '[');
        for (u32 k = 0; k < t->process[i].n; k++) json_double(&one, NULL, t->process[i].sample[k]);
        json_end(&one, ']');
    }
    json_end(&processes, ']');
    json_double(&o, "median", lk_series_quantile(times_all(&mem, t), 0.5));
    bool ok = journal_append(path, &line, e);
    text_free(&line);
    arena_free(&mem);
    return ok;
}

static bool read_process(struct arena *a, const struct json_value *v, lk_series *out)
{
    if (v->kind != JSON_ARRAY) return false;
    double *s = NEW_ARRAY(a, double, v->n + 1);
    for (u32 i = 0; i < v->n; i++) {
        if (v->item[i].kind != JSON_NUMBER) return false;
        s[i] = v->item[i].number;
    }
    *out = (lk_series){ s, v->n };
    return true;
}

static bool read_samples(struct arena *a, const struct json_value *v, struct timed *t)
{
    const struct json_value *all = json_get(v, "processes");
    if (!all || all->kind != JSON_ARRAY) return false;
    t->process = NEW_ARRAY(a, lk_series, all->n + 1);
    t->processes = all->n;
    for (u32 i = 0; i < all->n; i++)
        if (!read_process(a, &all->item[i], &t->process[i])) return false;
    return true;
}

bool times_read(struct arena *a, const struct journal_entry *x, const char *path, struct timed *out, struct error *e)
{
    if (!x->value || strcmp(json_string(x->value, "entry"), "times")) return false;
    const struct json_value *v = x->value, *median = json_get(v, "median");
    *out = (struct timed){ .name = json_string(v, "name"),
                           .work = json_string(v, "work"),
                           .line = x->number,
                           .device = json_string(v, "device"),
                           .time = json_string(v, "time"),
                           .unit = json_string(v, "unit") };
    if (x->state == JOURNAL_EDITED)
        return error_set(e, ERR_INPUT,
                         "%.200s:%u: the entry of %.80s was edited: its hash is another one. Who moves a baseline "
                         "measures it again, and adds the entry that gives",
                         path, x->number, out->name);
    if (x->state == JOURNAL_OLD)
        return error_set(e, ERR_INPUT, "%.200s:%u: the entry of %.80s has no hash: only `lockstep` adds entries", path,
                         x->number, out->name);
    if (!read_samples(a, v, out) || !out->name[0])
        return error_set(e, ERR_INPUT, "%.200s:%u: an entry of times needs a name and processes, lists of numbers",
                         path, x->number);
    read_notes(v, out);
    double truth = lk_series_quantile(times_all(a, out), 0.5);
    if (median && median->kind == JSON_NUMBER && fabs(median->number - truth) > 1e-9 * fabs(truth))
        return error_set(e, ERR_INPUT, "%.200s:%u: %.80s says a median of %g, and its samples have %g", path, x->number,
                         out->name, median->number, truth);
    return true;
}

/* Whether a line that has no end may have been an entry of times: "" of that name, where the name is there. */
static bool may_be_times(struct arena *a, struct str line, const char **name)
{
    static const char begin[] = "{\"entry\":\"times\",\"name\":";
    u32 n = MIN_OF(line.n, (u32)sizeof begin - 1);
    struct error ignored = { 0 };
    *name = "";
    if (memcmp(line.p, begin, n)) return memcmp(line.p, begin, MIN_OF(n, 10u)) != 0; /* another kind, {"entry":" */
    for (u32 end = n + 1; end < line.n && !(*name)[0]; end++) {
        if (line.p[end] != '"' || line.p[end - 1] == '\\') continue;
        const struct json_value *v = json_read(a, (struct str){ line.p + n, end + 1 - n }, "name", &ignored);
        if (v && v->kind == JSON_TEXT) *name = v->text.p;
        break;
    }
    return true;
}

/* Lines that were cut off: one may be the last entry of its name, and the entry before it says nothing of what it held.
 */
struct cut {
    u32 number;
    bool is_last; /* no whole entry of the name has come after it */
};
struct cuts {
    VEC(struct cut *) list;
    struct map last; /* of each name */
};

static bool cut_refuse(const char *path, u32 number, struct error *e)
{
    return error_set(e, ERR_INPUT,
                     "%.200s:%u: this line is cut off: a run was stopped while it wrote, and what it had measured is "
                     "not known. Measure again; a later entry of the same name takes its place, or take the line out",
                     path, number);
}

/* false: e says that nobody can tell what it was. */
static bool cut_add(struct arena *a, struct cuts *c, const struct journal_entry *x, const char *path, struct error *e)
{
    const char *name;
    if (!may_be_times(a, x->line, &name)) return true;
    if (!name[0]) return cut_refuse(path, x->number, e);
    struct cut *cut = NEW(a, struct cut), *before = map_get(&c->last, str_of(name));
    *cut = (struct cut){ x->number, true };
    if (before) before->is_last = false;
    VEC_PUSH(a, &c->list, cut);
    map_put(a, &c->last, str_of(name), cut);
    return true;
}

bool times_last(struct arena *a, const char *path, struct timed **out, u32 *n, struct error *e)
{
    struct journal_entry *x;
    VEC(struct timed) all = { 0 };
    struct map places = { 0 }; /* of the names in `all`, and one more each */
    struct cuts cuts = { 0 };
    u32 entries;
    if (!journal_load(a, path, &x, &entries, e)) return false;
    for (u32 i = 0; i < entries; i++) {
        struct timed t;
        if (x[i].state == JOURNAL_CUT && !cut_add(a, &cuts, &x[i], path, e)) return false;
        if (!times_read(a, &x[i], path, &t, e)) {
            if (e->code) return false;
            continue;
        }
        struct cut *before = map_get(&cuts.last, str_of(t.name));
        if (before) before->is_last = false;
        size_t at = (size_t)(uintptr_t)map_get(&places, str_of(t.name));
        if (at) {
            all.p[at - 1] = t;
        } else {
            VEC_PUSH(a, &all, t);
            map_put(a, &places, str_of(t.name), (void *)(uintptr_t)all.n);
        }
    }
    for (u32 i = 0; i < cuts.list.n; i++)
        if (cuts.list.p[i]->is_last) return cut_refuse(path, cuts.list.p[i]->number, e);
    *out = all.p;
    *n = all.n;
    return true;
}
