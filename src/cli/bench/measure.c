/* lockstep device --measure: what the card at hand reaches with kernels that do one kind of work. Stored per card, as a
 * journal of times: rates are what follows from its samples. */
#include "bench/figures.h"
#include <lockstep.h>
#include <stdlib.h>

enum { SAMPLES = 20, SAMPLES_LEAST = 3, ROUNDS_MOST = 1 << 22 };
#define SAMPLE_SECONDS 2e-3
#define KIND_SECONDS 0.3 /* of all samples of a kind of work, where a launch takes long */

struct measure {
    struct arena mem;
    lk_gpu *gpu;
    lk_gpu_info info;
    lk_stream *stream;
    lk_event *event[2];
    u64 memory[2], bytes; /* to, from */
};

static bool refused(const struct measure *m, struct error *e)
{
    return error_set(e, ERR_INPUT, "%.600s", lk_gpu_error(m->gpu));
}

/* ---- where it is kept ---- */

const char *ceilings_path(struct arena *a, const char *gpu_name)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *name = arena_str(a, str_of(gpu_name));
    for (char *p = name; *p; p++)
        if (*p == ' ' || *p == '/') *p = '_';
    if (state && state[0] == '/') return arena_printf(a, "%s/lockstep/ceilings/%s.journal", state, name);
    return arena_printf(a, "%s/.local/state/lockstep/ceilings/%s.journal", home && home[0] ? home : "/tmp", name);
}

static bool make_folders(struct arena *a, const char *path, struct error *e)
{
    for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/'))
        if (!folder_make(arena_str(a, (struct str){ path, (u32)(p - path) }), e)) return false;
    return true;
}

static void put_rate(struct ceilings *c, const char *name, double rate, u32 mhz)
{
    if (!strcmp(name, "copy")) c->bandwidth[0] = rate;
    if (!strcmp(name, "f32")) c->f32[0] = rate;
    if (!strcmp(name, "f64")) c->f64[0] = rate;
    if (strncmp(name, "tensor ", 7)) return;
    u32 k = 0;
    while (k < c->tensors && strcmp(c->tensor[k].type, name + 7)) k++;
    if (k == COUNT_OF(c->tensor)) return;
    if (k == c->tensors) {
        c->tensor[c->tensors].type = name + 7;
        c->tensor[c->tensors++].rate[1] = 0;
    }
    c->tensor[k].rate[0] = rate;
    c->tensor[k].mhz = mhz;
}

bool ceilings_measured(struct arena *a, const char *gpu_name, struct ceilings *out)
{
    struct error e = { 0 };
    struct timed *t;
    u32 n;
    const char *path = ceilings_path(a, gpu_name);
    if (!file_exists(path) || !times_last(a, path, &t, &n, &e)) return false;
    for (u32 i = 0; i < n; i++) {
        double median = lk_series_quantile(times_all(a, &t[i]), 0.5), amount = times_number(&t[i], "amount", 0);
        if (median > 0 && amount > 0) put_rate(out, t[i].name, amount / median, (u32)times_number(&t[i], "sm_mhz", 0));
    }
    return n > 0;
}

/* ---- what is published: the text of `lockstep device NAME` ---- */

/* The number after a word at the beginning of a line, by its unit. */
static double figure(const char *text, const char *word)
{
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word)) {
        const char *line = p;
        while (line > text && line[-1] == ' ') line--;
        char *end;
        const char *at = p + strlen(word);
        double x = double_read(at + strspn(at, " "), &end);
        if ((line != text && line[-1] != '\n') || *at != ' ' || !(x > 0)) continue;
        while (*end == ' ') end++;
        double unit = *end == 'T'                    ? 1e12
                      : *end == 'G'                  ? 1e9
                      : *end == 'M' && end[1] == 'i' ? 1048576
                      : *end == 'M'                  ? 1e6
                                                     : 1;
        return x * unit;
    }
    return 0;
}

static char *card_text(const char *gpu_name)
{
    for (u32 i = 0; lk_device_name(i); i++) {
        char *text = lk_device_text(lk_device_name(i));
        const char *title = text ? strstr(text, ": ") : NULL;
        size_t n = strlen(gpu_name), m = title ? strcspn(title + 2, ",\n") : 0;
        if (title && n && (!strncmp(title + 2, gpu_name, n) || (m && !strncmp(gpu_name, title + 2, m)))) return text;
        lk_text_free(text);
    }
    return NULL;
}

void ceilings_published(struct arena *a, const char *gpu_name, struct ceilings *out)
{
    static const struct {
        const char *word, *type;
    } tensor[] = { { "peak tensor f16, bf16", "f16" }, { "peak tensor f16, bf16", "bf16" },
                   { "peak tensor tf32", "tf32" },     { "peak tensor f8", "f8" },
                   { "peak tensor i8", "i8" },         { "peak tensor f64", "f64" } };
    char *text = card_text(gpu_name);
    *out = (struct ceilings){ .card = arena_str(a, str_of(gpu_name)) };
    if (!text) return;
    out->bandwidth[1] = figure(text, "bandwidth");
    out->f32[1] = figure(text, "peak f32");
    out->f64[1] = figure(text, "peak f64");
    out->l2 = figure(text, "L2 cache");
    for (u32 i = 0; i < COUNT_OF(tensor); i++) {
        double rate = figure(text, tensor[i].word);
        if (!(rate > 0)) continue;
        out->tensor[out->tensors].type = tensor[i].type;
        out->tensor[out->tensors++].rate[1] = rate;
    }
    lk_text_free(text);
}

/* ---- measuring ---- */

static bool run_once(struct measure *m, lk_kernel *k, const struct work_kernel *w, u32 rounds, double *seconds,
                     struct error *e)
{
    const void *args[] = { &m->memory[0], &m->memory[1], &rounds };
    lk_launch l = { .size = sizeof l, .args = args, .arg_count = 3, .stream = m->stream };
    l.grid[0] = m->info.multiprocessors * w->per_sm * (w->per_round > 0 ? 1 : rounds);
    l.block[0] = w->threads;
    double ms = 0;
    if (lk_event_record(m->event[0], m->stream) != LK_OK || lk_kernel_launch(k, &l, NULL) != LK_OK ||
        lk_event_record(m->event[1], m->stream) != LK_OK || lk_event_synchronise(m->event[1]) != LK_OK ||
        lk_event_elapsed(m->event[0], m->event[1], &ms) != LK_OK)
        return refused(m, e);
    *seconds = ms * 1e-3;
    return true;
}

static bool run_plain(struct measure *m, lk_kernel *k, const struct work_kernel *w, struct error *e)
{
    u32 rounds = 1;
    const void *args[] = { &m->memory[0], &m->memory[1], &rounds };
    lk_launch l = { .size = sizeof l, .args = args, .arg_count = 3 };
    l.grid[0] = m->info.multiprocessors * w->per_sm;
    l.block[0] = w->threads;
    return lk_kernel_launch(k, &l, NULL) == LK_OK || refused(m, e);
}

static double amount_of(const struct measure *m, const struct work_kernel *w, u32 rounds)
{
    double ctas = (double)m->info.multiprocessors * w->per_sm;
    return ctas * rounds * (w->per_round > 0 ? w->per_round : 2.0 * 4 * 16 * w->threads);
}

/* Memory for the sums, or for a copy of so many rounds; what is read was written. */
static bool make_memory(struct measure *m, u64 bytes, struct error *e)
{
    if (m->bytes >= bytes) return true;
    for (u32 i = 0; i < 2; i++) {
        if (m->memory[i]) lk_memory_free(m->gpu, m->memory[i]);
        m->memory[i] = 0;
        if (lk_memory_alloc(m->gpu, bytes, LK_MEMORY_DEVICE, i ? "from" : "to", &m->memory[i]) != LK_OK ||
            lk_memory_fill(m->gpu, m->memory[i], 0x3f, bytes) != LK_OK)
            return refused(m, e);
    }
    m->bytes = bytes;
    return true;
}

/* So many rounds that a launch takes long enough for the events, and no more than memory has. */
static bool find_rounds(struct measure *m, lk_kernel *k, const struct work_kernel *w, u32 *rounds, double *last,
                        struct error *e)
{
    bool copies = !(w->per_round > 0);
    u64 most = m->info.memory / 6;
    for (*rounds = 1; *rounds < ROUNDS_MOST; *rounds *= 2) {
        u64 bytes = copies ? (u64)amount_of(m, w, *rounds) / 2
                           : (u64)m->info.multiprocessors * w->per_sm * w->threads * 8;
        if (copies && bytes > most) break;
        if (!make_memory(m, bytes, e)) return false;
        /* the first launch loads the kernel, and is not between events */
        if (*rounds == 1 && !run_plain(m, k, w, e)) return false;
        if (!run_once(m, k, w, *rounds, last, e)) return false;
        if (*last >= SAMPLE_SECONDS / (copies ? 2 : 1)) return true;
    }
    *rounds /= 2;
    return true;
}

static bool measure_one(struct measure *m, const struct work_kernel *w, struct timed *t, struct error *e)
{
    struct text ptx = { 0 };
    lk_module *module = NULL;
    u32 rounds = 1;
    struct bench_clock clock = { 0 };
    double *sample = NEW_ARRAY(&m->mem, double, SAMPLES), warm = 0;
    lk_series *process = NEW(&m->mem, lk_series);
    work_ptx(w, m->info.arch, &ptx);
    bool ok = lk_module_load(m->gpu, w->name, ptx.p, ptx.n, &module) == LK_OK || refused(m, e);
    text_free(&ptx);
    lk_kernel *k = ok ? lk_module_kernel(module, "work") : NULL;
    ok = k && find_rounds(m, k, w, &rounds, &warm, e);
    u32 samples = warm > 0 ? (u32)MIN_OF(KIND_SECONDS / warm, (double)SAMPLES) : SAMPLES;
    if (samples < SAMPLES_LEAST) samples = SAMPLES_LEAST;
    for (u32 i = 0; ok && i < samples / 4; i++) ok = run_once(m, k, w, rounds, &warm, e);
    for (u32 i = 0; ok && i < samples; i++) {
        ok = run_once(m, k, w, rounds, &sample[i], e);
        if (ok && i == samples / 2) nvml_read(0, &clock);
    }
    if (module) lk_module_unload(module);
    if (!ok) return false;
    *process = (lk_series){ sample, samples };
    *t = (struct timed){ .name = w->name,
                         .work = w->per_round > 0 ? "operations" : "bytes",
                         .device = arena_str(&m->mem, str_of(m->info.name)),
                         .time = "",
                         .unit = "s",
                         .process = process,
                         .processes = 1 };
    times_note(t, "amount", NULL, amount_of(m, w, rounds));
    if (clock.sm_mhz) times_note(t, "sm_mhz", NULL, clock.sm_mhz);
    if (clock.power_mw) times_note(t, "power_mw", NULL, clock.power_mw);
    times_note(t, "by", w->wgmma ? "wgmma" : w->type ? "mma" : w->per_round > 0 ? "fma" : "copy", 0);
    return true;
}

static double published(const struct ceilings *c, const struct work_kernel *w)
{
    if (!strcmp(w->name, "copy")) return c->bandwidth[1];
    if (!w->type) return strcmp(w->name, "f64") ? c->f32[1] : c->f64[1];
    for (u32 i = 0; i < c->tensors; i++)
        if (!strcmp(c->tensor[i].type, w->type)) return c->tensor[i].rate[1];
    return 0;
}

static void tell(const struct measuring *o, const struct work_kernel *w, const struct timed *t, double of)
{
    char rate[40], most[40];
    double x = times_number(t, "amount", 0) / lk_series_quantile(t->process[0], 0.5);
    const char *unit = !(w->per_round > 0) ? "B/s" : w->type && !strcmp(w->type, "i8") ? "OP/s" : "FLOP/s";
    if (o->json) return;
    rate_text(x, unit, rate, sizeof rate);
    printf("  %-12s %-16s", w->name, rate);
    if (of > 0) {
        rate_text(of, unit, most, sizeof most);
        printf(" %3.0f %% of %s", 100 * x / of, most);
    }
    if (times_number(t, "sm_mhz", 0) > 0) printf("   at %.0f MHz", times_number(t, "sm_mhz", 0));
    if (times_number(t, "power_mw", 0) > 0) printf(", %.0f W", times_number(t, "power_mw", 0) / 1000);
    printf("   %s\n", times_word(t, "by"));
    fflush(stdout);
}

static bool is_asked(const char *only, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = only; p && *p; p += strcspn(p, ","), p += *p == ',') {
        size_t k = strcspn(p, ",");
        if ((k == n && !strncmp(p, name, n)) ||
            (!strncmp(name, "tensor ", 7) && k == n - 7 && !strncmp(p, name + 7, k) && strncmp(p, "f64", k)))
            return true;
        if (k == 6 && !strncmp(p, "tensor", 6) && !strncmp(name, "tensor ", 7)) return true;
    }
    return !only;
}

static bool open_gpu(struct measure *m, const char *on, struct error *e)
{
    lk_options o = { .size = sizeof o, .on = on };
    m->info.size = sizeof m->info;
    if (lk_gpu_create(&o, &m->gpu) != LK_OK)
        return error_set(e, ERR_UNSUPPORTED, "nothing can be measured: %.500s", lk_gpu_error(NULL));
    if (lk_gpu_properties(m->gpu, &m->info) == LK_OK &&
        lk_stream_create(m->gpu, LK_STREAM_NON_BLOCKING, 0, &m->stream) == LK_OK &&
        lk_event_create(m->gpu, 0, &m->event[0]) == LK_OK && lk_event_create(m->gpu, 0, &m->event[1]) == LK_OK)
        return true;
    return refused(m, e);
}

static bool measure_all(struct measure *m, const struct measuring *o, struct json *rows, u32 *done, struct error *e)
{
    struct work_kernel w[16];
    struct ceilings c;
    u32 n = work_kernels(m->info.arch, w, COUNT_OF(w));
    const char *path = o->journal ? o->journal : ceilings_path(&m->mem, m->info.name);
    ceilings_published(&m->mem, m->info.name, &c);
    if (!o->journal && !make_folders(&m->mem, path, e)) return false;
    if (!o->json) printf("%s, sm_%u, %u multiprocessors\n", m->info.name, m->info.arch, m->info.multiprocessors);
    for (u32 i = 0; i < n; i++) {
        struct timed t;
        struct error wrong = { 0 };
        if (!is_asked(o->only, w[i].name)) continue;
        if (!measure_one(m, &w[i], &t, &wrong)) {
            fprintf(stderr, "lockstep: device: %s is not measured: %s\n", w[i].name, wrong.text);
            continue;
        }
        (*done)++;
        tell(o, &w[i], &t, published(&c, &w[i]));
        struct json one = json_open(rows, NULL, '{');
        json_text(&one, "name", w[i].name);
        json_double(&one, "rate", times_number(&t, "amount", 0) / lk_series_quantile(t.process[0], 0.5));
        json_double(&one, "published", published(&c, &w[i]));
        json_double(&one, "sm_mhz", times_number(&t, "sm_mhz", 0));
        json_end(&one, '}');
        if (!times_append(path, &t, e)) return false;
    }
    if (!o->json && *done) printf("kept in %s\n", path);
    return true;
}

int bench_measure(const struct measuring *o)
{
    struct measure m = { 0 };
    struct error e = { 0 };
    struct text out = { 0 };
    u32 done = 0;
    struct json top = { &out, false }, all = json_open(&top, NULL, '{');
    bool ok = open_gpu(&m, o->on ? o->on : "gpu", &e);
    json_text(&all, "schema", "lockstep-ceilings");
    json_number(&all, "version", 1);
    json_text(&all, "card", m.info.name);
    struct json rows = json_open(&all, "ceilings", '[');
    ok = ok && measure_all(&m, o, &rows, &done, &e);
    json_end(&rows, ']');
    json_end(&all, '}');
    text_add(&out, "\n");
    if (ok && o->json) ok = file_write(o->json, out.p, out.n, &e);
    int code = !ok ? bench_failed(&e) : done ? EXIT_CLEAN : EXIT_NOTHING;
    text_free(&out);
    if (m.gpu) lk_gpu_destroy(m.gpu);
    arena_free(&m.mem);
    return code;
}
