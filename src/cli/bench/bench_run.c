/* A run: processes of one side or of two, the same case in all of them, samples in turns. */
#include "bench/bench.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define START_SECONDS 300.0
#define CASE_SECONDS 300.0

int bench_failed(const struct error *e)
{
    if (e->code == ERR_STOPPED) return EXIT_SIGNAL + process_signal();
    cli_error_value(e);
    return e->code == ERR_NOTHING ? EXIT_NOTHING : e->code == ERR_UNSUPPORTED ? EXIT_UNSUPPORTED : EXIT_USAGE;
}

/* ---- starting ---- */

bool group_start(struct arena *a, struct bench_group *g, const struct side_what *w, u32 n, struct error *e)
{
    *g = (struct bench_group){ .what = *w, .side = NEW_ARRAY(a, struct bench_side, n + 1) };
    for (u32 i = 0; i < n; i++)
        if (!side_start(&g->side[g->n++], w, e)) return false;
    for (u32 i = 0; i < n; i++) {
        const struct json_value *v = side_answer(a, &g->side[i], START_SECONDS, e);
        if (!v) return false;
        g->gpu = json_string(v, "gpu");
        g->arch = (u32)json_whole(v, "arch");
    }
    return true;
}

bool group_reopen(struct arena *a, struct bench_group *g, const struct side_what *w, struct error *e)
{
    struct text line = { 0 };
    bool ok = true;
    g->what = *w;
    side_question(w, &line);
    for (u32 i = 0; ok && i < g->n; i++) ok = side_send(&g->side[i], line.p, e);
    text_free(&line);
    for (u32 i = 0; ok && i < g->n; i++) ok = side_answer(a, &g->side[i], START_SECONDS, e) != NULL;
    return ok;
}

void group_end(struct bench_group *g)
{
    for (u32 i = 0; i < g->n; i++) side_end(&g->side[i]);
    g->n = 0;
}

/* ---- a case ---- */

static double number_of(const struct json_value *v, const char *key, double none)
{
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_NUMBER ? x->number : none;
}

static void read_case(const struct json_value *v, struct bench_case *out)
{
    *out = (struct bench_case){ .work = json_string(v, "work"),
                                .kernel = json_string(v, "kernel"),
                                .binary = json_string(v, "binary"),
                                .limiter = json_string(v, "limiter"),
                                .bytes = number_of(v, "bytes", 0),
                                .largest = number_of(v, "difference", NAN),
                                .registers = (u32)json_whole(v, "registers"),
                                .warps = (u32)json_whole(v, "warps"),
                                .of_warps = (u32)json_whole(v, "of_warps") };
}

/* A JSON value as it was read, for another process. */
static void copy_json(struct json *to, const char *key, const struct json_value *v)
{
    if (v->kind == JSON_TEXT)
        json_text(to, key, v->text.p);
    else if (v->kind == JSON_NUMBER && v->is_whole)
        json_signed(to, key, v->whole);
    else if (v->kind == JSON_NUMBER)
        json_double(to, key, v->number);
    else if (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT) {
        bool is_list = v->kind == JSON_ARRAY;
        struct json in = json_open(to, key, is_list ? '[' : '{');
        for (u32 i = 0; i < v->n; i++) copy_json(&in, is_list ? NULL : v->key[i].p, &v->item[i]);
        json_end(&in, is_list ? ']' : '}');
    } else
        json_bool(to, key, v->yes);
}

static bool ask_case(struct bench_group *g, u32 i, const char *line, const char *folder, bool make, bool save,
                     bool usage, const struct json_value *like, struct error *e)
{
    struct text t = { 0 };
    struct json top = { &t, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "do", "case");
    json_text(&o, "line", line);
    json_text(&o, "folder", folder);
    json_bool(&o, "make", make);
    json_bool(&o, "save", save);
    json_bool(&o, "usage", usage);
    if (g->what.python && like) {
        json_text(&o, "work", json_string(like, "work"));
        json_double(&o, "bytes", number_of(like, "bytes", 0));
        json_text(&o, "name", g->what.python);
        const struct json_value *arrays = json_get(like, "arrays");
        if (arrays) copy_json(&o, "arrays", arrays);
    }
    json_end(&o, '}');
    bool ok = side_send(&g->side[i], t.p, e);
    text_free(&t);
    return ok;
}

static bool named(const struct bench_group *g, struct error *e)
{
    char text[900];
    snprintf(text, sizeof text, "%.890s", e->text);
    enum error_code code = e->code;
    *e = (struct error){ 0 };
    return error_set(e, code, "%.200s: %.800s", g->what.text, text);
}

bool groups_prepare(struct arena *a, struct bench_group *g, struct bench_group *b, const char *line, const char *folder,
                    struct error *e)
{
    struct bench_group *maker = g->what.python ? b : g, *both[2] = { g, b };
    /* The first process of a kernel makes the contents; the others take them from its files. */
    if (!ask_case(maker, 0, line, folder, true, true, !b, NULL, e)) return named(maker, e);
    const struct json_value *first = side_answer(a, &maker->side[0], CASE_SECONDS, e);
    if (!first) return named(maker, e);
    read_case(first, &maker->last);
    for (u32 k = 0; k < 2; k++)
        for (u32 i = 0; both[k] && i < both[k]->n; i++)
            if (!(both[k] == maker && i == 0) && !ask_case(both[k], i, line, folder, false, false, !b, first, e))
                return named(both[k], e);
    for (u32 k = 0; k < 2; k++)
        for (u32 i = 0; both[k] && i < both[k]->n; i++) {
            if (both[k] == maker && i == 0) continue;
            const struct json_value *v = side_answer(a, &both[k]->side[i], CASE_SECONDS, e);
            if (!v) return named(both[k], e);
            read_case(v, &both[k]->last);
        }
    return true;
}

/* ---- samples ---- */

static bool time_one(struct arena *a, struct bench_group *g, u32 i, enum bench_mode mode, const struct bench_how *how,
                     struct bench_series *out, struct error *e)
{
    char line[160];
    snprintf(line, sizeof line, "{\"do\":\"time\",\"mode\":\"%s\",\"samples\":%u}", bench_mode_name[mode],
             how->samples);
    if (!side_send(&g->side[i], line, e)) return named(g, e);
    const struct json_value *v = side_answer(a, &g->side[i], how->seconds > 0 ? how->seconds : 120, e),
                            *list = v ? json_get(v, "samples") : NULL;
    if (!v || !list || list->kind != JSON_ARRAY) return named(g, e);
    double *s = NEW_ARRAY(a, double, list->n + 1);
    for (u32 k = 0; k < list->n; k++) s[k] = list->item[k].kind == JSON_NUMBER ? list->item[k].number : NAN;
    out->process[i] = (lk_series){ s, list->n };
    u32 batch = (u32)json_whole(v, "batch");
    out->batch = i && out->batch < batch ? out->batch : batch; /* the shortest chain of all processes */
    out->clock = (struct bench_clock){ (u32)json_whole(v, "sm_mhz"), (u32)json_whole(v, "memory_mhz"),
                                       (u32)json_whole(v, "power_mw"), (u32)json_whole(v, "celsius"),
                                       json_whole(v, "throttle") };
    return true;
}

bool groups_time(struct arena *a, struct bench_group *g, struct bench_group *b, enum bench_mode mode,
                 const struct bench_how *how, struct bench_series out[2], struct error *e)
{
    struct bench_group *both[2] = { g, b };
    for (u32 k = 0; k < (b ? 2u : 1u); k++)
        out[k] = (struct bench_series){ .process = NEW_ARRAY(a, lk_series, both[k]->n + 1), .processes = both[k]->n };
    for (u32 i = 0; i < g->n || (b && i < b->n); i++)
        for (u32 k = 0; k < 2; k++) {
            u32 who = (k + i) % 2; /* A B, then B A */
            if (!both[who] || i >= both[who]->n) continue;
            if (!time_one(a, both[who], i, mode, how, &out[who], e)) return false;
        }
    return true;
}

/* ---- one side ---- */

void bench_interval(struct arena *a, const struct bench_series *s, lk_judgement *out)
{
    /* Against a clock that does not vary, the ratio is the time itself. */
    lk_series *one = NEW_ARRAY(a, lk_series, s->processes + 1);
    for (u32 i = 0; i < s->processes; i++) {
        double *v = NEW_ARRAY(a, double, s->process[i].n + 1);
        for (u32 k = 0; k < s->process[i].n; k++) v[k] = 1;
        one[i] = (lk_series){ v, s->process[i].n };
    }
    lk_times t = { "", one, s->process, s->processes };
    lk_times_judge(&t, 1, NULL, out);
}

/* A folder for contents: in memory where the system has one there. */
const char *bench_folder(struct arena *a, struct error *e)
{
    const char *tmp = getenv("TMPDIR"), *base = !access("/dev/shm", W_OK) && !(tmp && tmp[0]) ? "/dev/shm"
                                                : tmp && tmp[0]                               ? tmp
                                                                                              : "/tmp";
    char *path = arena_printf(a, "%.200s/lockstep.XXXXXX", base);
    if (mkdtemp(path)) return path;
    error_set(e, ERR_SYSTEM, "no folder can be made in %.200s: set TMPDIR", base);
    return NULL;
}
