/* JSON of other tools: Google Benchmark and nvbench, taken in as entries of times, and written from them.
 *
 * A repetition of Google Benchmark is a sample of one process. nvbench has the samples of a state in a file of floats
 * beside its JSON (--jsonbin), or else their mean alone: one sample. */
#include "journal/exchange.h"
#include "base/printable.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>

const char *const exchange_name[EXCHANGES] = { "google", "nvbench" };

/* ---- in ---- */

static double unit_of(const char *name)
{
    return !strcmp(name, "s") ? 1 : !strcmp(name, "ms") ? 1e-3 : !strcmp(name, "us") ? 1e-6 : 1e-9;
}

static bool take(struct arena *a, const char *name, const double *sample, u32 n, const char *time, const char *device,
                 const char *by, const char *to, struct error *e)
{
    lk_series *process = NEW(a, lk_series);
    *process = (lk_series){ sample, n };
    struct timed t = {
        .name = name, .work = "", .device = device, .time = time, .unit = "s", .process = process, .processes = 1
    };
    times_note(&t, "by", by, 0);
    return times_append(to, &t, e);
}

struct repeated { /* of one name, in the order of the first ones */
    const char *name;
    VEC(double) sample;
};

static bool read_google(struct arena *a, const struct json_value *v, const char *to, u32 *taken, struct error *e)
{
    const struct json_value *all = json_get(v, "benchmarks"), *context = json_get(v, "context");
    const char *date = context ? json_string(context, "date") : "",
               *host = context ? json_string(context, "host_name") : "";
    VEC(struct repeated *) names = { 0 };
    struct map known = { 0 };
    for (u32 i = 0; i < all->n; i++) {
        const struct json_value *x = &all->item[i], *real = json_get(x, "real_time");
        const char *name = json_string(x, "run_name")[0] ? json_string(x, "run_name") : json_string(x, "name");
        if (!name[0] || !strcmp(json_string(x, "run_type"), "aggregate")) continue;
        struct repeated *r = map_get(&known, str_of(name));
        if (!r) {
            r = NEW(a, struct repeated);
            r->name = name;
            map_put(a, &known, str_of(name), r);
            VEC_PUSH(a, &names, r);
        }
        if (real && real->kind == JSON_NUMBER)
            VEC_PUSH(a, &r->sample, real->number * unit_of(json_string(x, "time_unit")));
    }
    for (u32 i = 0; i < names.n; i++) {
        const struct repeated *r = names.p[i];
        if (!r->sample.n) continue;
        if (!take(a, r->name, r->sample.p, r->sample.n, date, host, "Google Benchmark", to, e)) return false;
        (*taken)++;
    }
    return true;
}

/* The value of a summary by its tag, as text; NULL: there is none. */
static const char *summary(const struct json_value *state, const char *tag, const char *name)
{
    const struct json_value *all = json_get(state, "summaries");
    for (u32 i = 0; all && all->kind == JSON_ARRAY && i < all->n; i++) {
        const struct json_value *data = json_get(&all->item[i], "data");
        if (strcmp(json_string(&all->item[i], "tag"), tag) || !data || data->kind != JSON_ARRAY) continue;
        for (u32 k = 0; k < data->n; k++)
            if (!strcmp(json_string(&data->item[k], "name"), name)) return json_string(&data->item[k], "value");
    }
    return NULL;
}

/* Whether a name leads to a plain file in this folder or below it, by whatever links: that file into `out`. What others
 * have written names no file of this machine but those that came with it, and none that is waited for. */
static bool is_within(const char *folder, const char *name, char out[PATH_MAX])
{
    char in[PATH_MAX];
    if (!realpath(folder, in) || !realpath(name, out)) return false;
    size_t n = strcmp(in, "/") ? strlen(in) : 0;
    return !strncmp(in, out, n) && out[n] == '/' && file_is_regular(out);
}

/* The file that a JSON names: from its folder, from the current one, or with the last folder alone, where both were
 * moved (nvbench writes FILE.json-bin/0.bin, from where it ran). */
static bool find_floats(struct arena *a, const char *path, const char *name, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *last = strrchr(name, '/'), *tail = last ? last : name;
    const char *folder = slash ? arena_printf(a, "%.*s/", (int)(slash - path), path) : "./";
    while (tail > name && tail[-1] != '/') tail--;
    return is_within(folder, arena_printf(a, "%s%s", folder, name), out) || is_within(folder, name, out) ||
           is_within(folder, arena_printf(a, "%s%s", folder, tail), out);
}

/* Samples from the file of floats that the JSON names; 0: there are none, which is said. */
static u32 read_floats(struct arena *a, const char *path, const char *name, double **out)
{
    struct str text;
    char file[PATH_MAX];
    bool there = find_floats(a, path, name, file) && file_read_if(file, &text), good = there;
    u32 n = there ? text.n / 4 : 0;
    *out = NEW_ARRAY(a, double, n + 1);
    for (u32 i = 0; i < n; i++) {
        float f;
        memcpy(&f, text.p + 4 * (size_t)i, 4);
        (*out)[i] = (double)f;
        good &= isfinite(f) && f >= 0;
    }
    if (there) base_free((void *)text.p);
    if (!good)
        fprintf(stderr, "lockstep: %s: the samples in %.200s are not taken, their mean alone: %s\n",
                printable_in(a, path), printable_in(a, name),
                there ? "they are not times" : "no file of that name is in the folder of the JSON");
    return good ? n : 0;
}

static bool read_state(struct arena *a, const struct json_value *b, const struct json_value *state, const char *device,
                       const char *path, const char *to, u32 *taken, struct error *e)
{
    const char *mean = summary(state, "nv/cold/time/gpu/mean", "value"),
               *file = summary(state, "nv/json/bin:nv/cold/sample_times", "filename");
    double *s = NEW(a, double), x = 0;
    u32 n = file ? read_floats(a, path, file, &s) : 0;
    if (!n) s = NEW(a, double);
    if (!n && mean && double_parse(str_of(mean), &x)) {
        *s = x;
        n = 1;
    }
    if (!n) return true;
    (*taken)++;
    return take(a, arena_printf(a, "%s %s", json_string(b, "name"), json_string(state, "name")), s, n, "", device,
                "nvbench", to, e);
}

static bool read_nvbench(struct arena *a, const struct json_value *v, const char *path, const char *to, u32 *taken,
                         struct error *e)
{
    const struct json_value *all = json_get(v, "benchmarks"), *devices = json_get(v, "devices");
    const char *device = devices && devices->kind == JSON_ARRAY && devices->n ? json_string(&devices->item[0], "name")
                                                                              : "";
    for (u32 i = 0; i < all->n; i++) {
        const struct json_value *states = json_get(&all->item[i], "states");
        for (u32 k = 0; states && states->kind == JSON_ARRAY && k < states->n; k++)
            if (!read_state(a, &all->item[i], &states->item[k], device, path, to, taken, e)) return false;
    }
    return true;
}

bool exchange_is(const struct json_value *v, enum exchange *out)
{
    const struct json_value *all = v && v->kind == JSON_OBJECT ? json_get(v, "benchmarks") : NULL;
    if (!all || all->kind != JSON_ARRAY) return false;
    *out = all->n && json_get(&all->item[0], "states") ? EXCHANGE_NVBENCH : EXCHANGE_GOOGLE;
    return true;
}

bool exchange_read(struct arena *a, const char *path, const char *to, bool *is, struct error *e)
{
    struct str text;
    struct error none = { 0 };
    enum exchange kind;
    u32 taken = 0;
    if (!file_read(path, &text, e)) return false;
    const struct json_value *v = json_read(a, (struct str){ arena_str(a, text), text.n }, path, &none);
    base_free((void *)text.p);
    *is = exchange_is(v, &kind);
    if (!*is) return true;
    bool ok = kind == EXCHANGE_GOOGLE ? read_google(a, v, to, &taken, e) : read_nvbench(a, v, path, to, &taken, e);
    return ok && (taken || error_set(e, ERR_NOTHING, "%.200s has no benchmark with a time", path));
}

/* ---- out ---- */

static void put_google(struct text *out, struct arena *a, const struct timed *t, u32 n)
{
    struct json top = { out, false }, all = json_open(&top, NULL, '{'), context = json_open(&all, "context", '{');
    json_text(&context, "executable", "lockstep");
    json_text(&context, "library_build_type", "release");
    json_end(&context, '}');
    struct json list = json_open(&all, "benchmarks", '[');
    for (u32 i = 0; i < n; i++) {
        lk_series s = times_all(a, &t[i]);
        for (u32 k = 0; k < s.n; k++) {
            struct json one = json_open(&list, NULL, '{');
            json_text(&one, "name", t[i].name);
            json_text(&one, "run_name", t[i].name);
            json_text(&one, "run_type", "iteration");
            json_number(&one, "repetitions", s.n);
            json_number(&one, "repetition_index", k);
            json_number(&one, "threads", 1);
            json_number(&one, "iterations", (u64)times_number(&t[i], "batch", 1));
            json_double(&one, "real_time", s.sample[k] * 1e9);
            json_double(&one, "cpu_time", s.sample[k] * 1e9);
            json_text(&one, "time_unit", "ns");
            json_end(&one, '}');
        }
    }
    json_end(&list, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

static void put_summary(struct json *list, const char *tag, const char *type, double x)
{
    char value[40];
    double_print(x, value, sizeof value);
    struct json one = json_open(list, NULL, '{');
    json_text(&one, "tag", tag);
    struct json data = json_open(&one, "data", '['), v = json_open(&data, NULL, '{');
    json_text(&v, "name", "value");
    json_text(&v, "type", type);
    json_text(&v, "value", value);
    json_end(&v, '}');
    json_end(&data, ']');
    json_end(&one, '}');
}

static void put_nvbench(struct text *out, struct arena *a, const struct timed *t, u32 n)
{
    struct json top = { out, false }, all = json_open(&top, NULL, '{'), devices = json_open(&all, "devices", '['),
                device = json_open(&devices, NULL, '{');
    json_number(&device, "id", 0);
    json_text(&device, "name", n ? t[0].device : "");
    json_end(&device, '}');
    json_end(&devices, ']');
    struct json list = json_open(&all, "benchmarks", '[');
    for (u32 i = 0; i < n; i++) {
        lk_series s = times_all(a, &t[i]);
        double sum = 0;
        for (u32 k = 0; k < s.n; k++) sum += s.sample[k];
        struct json one = json_open(&list, NULL, '{');
        json_text(&one, "name", t[i].name);
        json_number(&one, "index", i);
        struct json states = json_open(&one, "states", '['), state = json_open(&states, NULL, '{');
        json_text(&state, "name", "Device=0");
        json_number(&state, "device", 0);
        json_bool(&state, "is_skipped", false);
        struct json sums = json_open(&state, "summaries", '[');
        put_summary(&sums, "nv/cold/sample_size", "int64", s.n);
        put_summary(&sums, "nv/cold/time/gpu/mean", "float64", s.n ? sum / s.n : 0);
        if (times_number(&t[i], "bytes", 0) > 0 && s.n)
            put_summary(&sums, "nv/cold/bw/global/bytes_per_second", "float64",
                        times_number(&t[i], "bytes", 0) * s.n / sum);
        json_end(&sums, ']');
        json_end(&state, '}');
        json_end(&states, ']');
        json_end(&one, '}');
    }
    json_end(&list, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

void exchange_write(struct arena *a, enum exchange kind, const struct timed *t, u32 n, struct text *out)
{
    if (kind == EXCHANGE_GOOGLE)
        put_google(out, a, t, n);
    else
        put_nvbench(out, a, t, n);
}
