/* What outlives a campaign: the corpus of failing cases beside a file, and the journal of all that ran. */
#include "base/journal.h"
#include "lab/campaign.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *corpus_path(struct lk_test *t, const char *path)
{
    return t->o->corpus ? t->o->corpus : arena_printf(&t->mem, "%s.cases", path);
}

bool corpus_read(struct lk_test *t, const char *path, struct str *out)
{
    struct str text;
    const char *file = corpus_path(t, path);
    *out = (struct str){ "", 0 };
    if (!file_read_if(file, &text)) return false;
    *out = (struct str){ arena_str(&t->mem, text), text.n };
    base_free((void *)text.p);
    return true;
}

/* A corpus that was asked for by name is there, or --keep can make it. */
bool corpus_known(struct lk_test *t, struct error *e)
{
    const char *file = t->o->corpus, *slash = file ? strrchr(file, '/') : NULL;
    struct stat s;
    if (!file) return true;
    if (!stat(file, &s)) {
        struct str text;
        if (S_ISDIR(s.st_mode)) return error_set(e, ERR_INPUT, "--corpus %.200s: it is a folder", file);
        if (!file_read(file, &text, e)) return false;
        base_free((void *)text.p);
        return true;
    }
    if (errno != ENOENT || !t->o->keep) return error_set(e, ERR_INPUT, "--corpus %.200s: %s", file, strerror(errno));
    const char *folder = !slash          ? "."
                         : slash == file ? "/"
                                         : arena_str(&t->mem, (struct str){ file, (u32)(slash - file) });
    if (stat(folder, &s)) return error_set(e, ERR_INPUT, "--corpus %.200s: %.200s: %s", file, folder, strerror(errno));
    return S_ISDIR(s.st_mode) || error_set(e, ERR_INPUT, "--corpus %.200s: %.200s is not a folder", file, folder);
}

bool corpus_next(struct arena *mem, struct str *rest, const char *kernel, const char **line)
{
    size_t name = strlen(kernel);
    while (rest->n) {
        const char *end = memchr(rest->p, '\n', rest->n), *p = rest->p;
        u32 n = end ? (u32)(end - rest->p) : rest->n;
        rest->p += n + (end != NULL);
        rest->n -= n + (end != NULL);
        if (n < name + 2 || strncmp(p, kernel, name) || p[name] != ':') continue;
        *line = arena_str(mem, (struct str){ p + name + 1, n - (u32)name - 1 });
        return true;
    }
    return false;
}

bool corpus_add(struct lk_test *t, const struct tested *k, const char *line, struct error *e)
{
    struct str all;
    const char *have;
    corpus_read(t, t->read.file, &all);
    while (corpus_next(&t->mem, &all, k->is.name, &have))
        if (!strcmp(have + strspn(have, " "), line)) return true;
    struct text entry = { 0 };
    text_add(&entry, "%s: %s\n", k->is.name, line);
    bool ok = line_append(corpus_path(t, t->read.file), entry.p, entry.n, e);
    text_free(&entry);
    return ok;
}

static void journal_reached(struct json *o, const struct lab_cover *x, const struct lab_cover *before)
{
    struct text points = { 0 };
    if (lab_cover_fresh(before, x, &points)) {
        json_text(o, "reached", points.p);
        struct json lines = json_open(o, "lines", '[');
        for (u32 i = 0; i < x->n; i++) json_number(&lines, NULL, x->at[i].line * 16 + x->at[i].is);
        json_end(&lines, ']');
    }
    text_free(&points);
}

bool journal_add(struct lk_test *t, const struct tested *k, const lk_test_case *c, const struct lab_outcome *x,
                 const struct lab_cover *before, struct error *e)
{
    static const char *const ends[] = { "passed", "failed", "refused", "large", "empty", "unsupported" };
    if (!t->o->journal) return true;
    struct text line = { 0 };
    struct json top = { &line, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "entry", "test");
    json_text(&o, "file", t->read.file);
    json_text(&o, "kernel", k->is.name);
    json_text(&o, "source", t->hash);
    json_text(&o, "on", t->on_gpu ? "gpu" : "sim");
    json_text(&o, "case", c->line);
    json_text(&o, "end", ends[c->end]);
    json_text(&o, "first", c->first);
    json_double(&o, "ratio", c->ratio);
    json_number(&o, "elements", c->elements);
    json_double(&o, "seconds", c->seconds);
    struct json sizes = json_open(&o, "sizes", '[');
    for (u32 i = 0; i < x->dims; i++) json_signed(&sizes, NULL, x->dim[i]);
    json_end(&sizes, ']');
    journal_reached(&o, &x->cover, before);
    char now[32], shard[32];
    journal_time(now);
    json_text(&o, "time", now);
    snprintf(shard, sizeof shard, "%u/%u", t->o->shard + 1, t->o->shards);
    if (t->o->shards) json_text(&o, "shard", shard);
    bool ok = journal_append(t->o->journal, &line, e);
    text_free(&line);
    return ok;
}

static void take_reached(const struct json_value *v, struct lab_cover *to)
{
    const struct json_value *lines = json_get(v, "lines");
    const char *p = json_string(v, "reached");
    for (char *end; *p; p = end) {
        unsigned long bit = strtoul(p, &end, 16);
        if (end == p) break;
        if (bit < COVER_POINTS) to->points[bit / 64] |= (u64)1 << bit % 64;
    }
    for (u32 i = 0; lines && lines->kind == JSON_ARRAY && i < lines->n; i++) {
        s64 x = lines->item[i].is_whole ? lines->item[i].whole : 0;
        if (x >= 16 && x < (s64)16 << 24) lab_cover_add(to, (u32)(x / 16), (u32)(x % 16));
    }
}

/* One entry: what an earlier campaign has found of a case of this file as it is now. */
static void journal_take(struct lk_test *t, const struct json_value *v)
{
    static const char *const ends[] = { "passed", "failed", "refused", "large", "empty" };
    u32 end = 0;
    if (strcmp(json_string(v, "entry"), "test") || strcmp(json_string(v, "source"), t->hash)) return;
    if (strcmp(json_string(v, "on"), t->on_gpu ? "gpu" : "sim")) return;
    while (end < COUNT_OF(ends) && strcmp(ends[end], json_string(v, "end"))) end++;
    if (end == COUNT_OF(ends)) return;
    struct lab_outcome *o = NEW(&t->mem, struct lab_outcome);
    o->end = (enum lab_end)end;
    o->ratio = json_real(v, "ratio");
    o->elements = json_whole(v, "elements");
    o->judged = o->elements > 0;
    const struct json_value *sizes = json_list(v, "sizes");
    for (u32 i = 0; i < sizes->n && i < CONTRACT_DIMS; i++)
        o->dim[o->dims++] = sizes->item[i].is_whole ? sizes->item[i].whole : 0;
    take_reached(v, &o->cover);
    snprintf(o->first, sizeof o->first, "%s", json_string(v, "first"));
    const char *key = arena_printf(&t->mem, "%s %s", json_string(v, "kernel"), json_string(v, "case"));
    map_put(&t->mem, &t->journal, str_of(key), o);
}

bool journal_read(struct lk_test *t, struct error *e)
{
    struct journal_entry *x;
    u32 n;
    if (!t->o->resume) return true;
    if (!t->o->journal)
        return error_set(e, ERR_INPUT, "--resume goes on with the campaign of a journal: say --journal FILE");
    if (access(t->o->journal, F_OK)) return true;
    if (!journal_load(&t->mem, t->o->journal, &x, &n, e)) return false;
    for (u32 i = 0; i < n; i++)
        if (x[i].state == JOURNAL_GOOD)
            journal_take(t, x[i].value);
        else
            t->disbelieved++;
    return true;
}
