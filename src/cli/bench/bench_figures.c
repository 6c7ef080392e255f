/* Rates from times and counts, held against the card. A rate above what the card has is no rate: it is refused. */
#include "bench/figures.h"
#include <math.h>
#include <stdlib.h>

void rate_text(double x, const char *unit, char *out, size_t size)
{
    static const char *const step[] = { "", "k", "M", "G", "T", "P" };
    u32 k = 0;
    for (; k < 5 && x >= 999.5; k++) x /= 1000;
    snprintf(out, size, "%.*f %s%s", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, step[k], unit);
}

/* ---- counting ---- */

static const struct json_value *first_of(const struct json_value *v, const char *key)
{
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_ARRAY && x->n ? &x->item[0] : NULL;
}

static double sum_of(const struct json_value *counts, const char *space, const char *key)
{
    const struct json_value *in = json_get(counts, space);
    double sum = 0;
    for (u32 i = 0; in && in->kind == JSON_OBJECT && i < in->n; i++) sum += (double)json_whole(&in->item[i], key);
    return sum;
}

static bool read_counts(struct arena *a, const struct json_value *profile, struct bench_counts *out)
{
    const struct json_value *kernel = first_of(first_of(profile, "devices"), "kernels"),
                            *shape = first_of(kernel, "shapes"), *counts = json_get(shape, "counts"),
                            *ops = json_get(counts, "operations");
    if (!counts) return false;
    *out = (struct bench_counts){ .known = true,
                                  .kernel = json_string(kernel, "plain"),
                                  .footprint = (double)json_whole(shape, "footprint_bytes"),
                                  .instructions = (double)json_whole(counts, "warp_instructions"),
                                  .sectors = sum_of(counts, "global", "sectors"),
                                  .passes = sum_of(counts, "shared", "wavefronts"),
                                  .occupancy = (double)json_whole(json_get(shape, "occupancy"), "permille") / 1000,
                                  .limit = json_string(shape, "limit") };
    const struct json_value *least = json_get(shape, "least_ps");
    for (u32 i = 0; least && least->kind == JSON_OBJECT && i < least->n; i++)
        if (least->item[i].kind == JSON_NUMBER && least->item[i].number * 1e-12 > out->least)
            out->least = least->item[i].number * 1e-12;
    for (u32 i = 0; ops && ops->kind == JSON_OBJECT && i < ops->n; i++) {
        const char *key = ops->key[i].p;
        double n = ops->item[i].kind == JSON_NUMBER ? ops->item[i].number : 0;
        if (!strncmp(key, "tensor_", 7)) {
            if (n > out->tensor) out->tensor_type = arena_str(a, str_of(key + 7));
            out->tensor += n;
        } else if (strcmp(key, "int") != 0) {
            out->flops += n;
            if (!strcmp(key, "f64")) out->flops64 += n;
        }
    }
    return true;
}

bool bench_count(struct arena *a, const struct side_what *w, const char *line, u64 budget, struct bench_counts *out,
                 struct error *e)
{
    struct side_what counting = *w;
    struct bench_side side;
    struct text t = { 0 };
    *out = (struct bench_counts){ 0 };
    counting.on = "sim";
    counting.count = true;
    counting.budget = budget;
    struct json top = { &t, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "do", "case");
    json_text(&o, "line", line);
    json_text(&o, "folder", "");
    json_end(&o, '}');
    bool ok = side_start(&side, &counting, e) && side_answer(a, &side, 600, e) && side_send(&side, t.p, e) &&
              side_answer(a, &side, 600, e) && side_send(&side, "{\"do\":\"count\"}", e);
    const struct json_value *v = ok ? side_answer(a, &side, 600, e) : NULL;
    side_end(&side);
    text_free(&t);
    if (!v) return false;
    out->profile = json_get(v, "profile");
    const struct json_value *profile = out->profile;
    ok = read_counts(a, profile, out);
    out->profile = profile;
    return ok || error_set(e, ERR_NOTHING, "%.160s: its counts cannot be read", w->text);
}

/* ---- rates ---- */

static double figure_part(double rate, double of) { return of > 0 ? rate / of : 0; }

/* What the level that the mode forces cannot give. Cold: all of the footprint comes from DRAM. Warm: at most what L2
 * holds stays. Counted bytes only: arrays may be larger than what a launch touches. */
static void find_impossible(enum bench_mode mode, struct figures *f, const struct bench_counts *c,
                            const struct ceilings *card)
{
    double from_dram = mode == BENCH_COLD ? f->bytes : f->bytes - 2 * card->l2, peak = card->bandwidth[1];
    char rate[40], most[40];
    if (f->counted && peak > 0 && from_dram > 0 && from_dram / f->median > peak) {
        rate_text(from_dram / f->median, "B/s", rate, sizeof rate);
        rate_text(peak, "B/s", most, sizeof most);
        snprintf(f->impossible, sizeof f->impossible,
                 "%s from memory is %.0f %% of what the card has (%s): the time is wrong, or the work was not done",
                 rate, 100 * from_dram / f->median / peak, most);
    }
    double ops = f->tensor > 0 ? f->tensor : f->flops;
    double top = f->tensor > 0 ? f->of_tensor[1] > 0 ? f->tensor / f->of_tensor[1] : 0 : card->f32[1];
    if (c && c->known && top > 0 && ops > top && !f->impossible[0]) {
        rate_text(ops, "FLOP/s", rate, sizeof rate);
        rate_text(top, "FLOP/s", most, sizeof most);
        snprintf(f->impossible, sizeof f->impossible,
                 "%s is %.0f %% of what the card has (%s): the time is wrong, or the work was not done", rate,
                 100 * ops / top, most);
    }
}

void figures_of(struct arena *a, enum bench_mode mode, const struct bench_series *s, double array_bytes,
                const struct bench_counts *c, const struct ceilings *card, struct figures *f)
{
    lk_judgement j;
    struct timed all = { .process = s->process, .processes = s->processes };
    lk_series x = times_all(a, &all);
    bench_interval(a, s, &j);
    *f = (struct figures){ .median = lk_series_quantile(x, 0.5),
                           .low = j.low,
                           .high = j.high,
                           .p95 = lk_series_quantile(x, 0.95),
                           .p99 = lk_series_quantile(x, 0.99),
                           .processes = s->processes,
                           .samples = x.n,
                           .batch = s->batch,
                           .clock = s->clock };
    if (j.verdict == LK_INVALID || j.verdict == LK_NOT_RUN) snprintf(f->why, sizeof f->why, "%s", j.why);
    if (mode != BENCH_WARM && mode != BENCH_COLD) return;
    f->counted = c && c->known;
    f->bytes = f->counted ? c->footprint : array_bytes;
    if (!(f->median > 0)) return;
    f->rate = f->bytes / f->median;
    for (u32 k = 0; k < 2; k++) f->of_copy[k] = figure_part(f->rate, card->bandwidth[k]);
    if (f->counted && c->flops > 0) {
        f->flops = c->flops / f->median;
        bool doubles = c->flops64 * 2 > c->flops;
        for (u32 k = 0; k < 2; k++) f->of_flops[k] = figure_part(f->flops, doubles ? card->f64[k] : card->f32[k]);
    }
    if (f->counted && c->tensor > 0) {
        f->tensor = c->tensor / f->median;
        f->tensor_type = c->tensor_type;
        for (u32 t = 0; t < card->tensors; t++) {
            if (strcmp(card->tensor[t].type, c->tensor_type)) continue;
            /* the peak at the clock of these samples, not at that of its own measurement */
            double scale = card->tensor[t].mhz && f->clock.sm_mhz ? (double)f->clock.sm_mhz / card->tensor[t].mhz : 1;
            f->of_tensor[0] = figure_part(f->tensor, card->tensor[t].rate[0] * scale);
            f->of_tensor[1] = figure_part(f->tensor, card->tensor[t].rate[1]);
        }
    }
    find_impossible(mode, f, c, card);
}

static void print_parts(const char *what, double rate, const char *unit, const double of[2], const char *behind)
{
    char x[40];
    rate_text(rate, unit, x, sizeof x);
    printf("            %s%s", what, x);
    if (of[0] > 0) printf(", %.0f %% of what was measured on this card", 100 * of[0]);
    if (of[1] > 0) printf("%s%.0f %% of what is published", of[0] > 0 ? " and " : ", ", 100 * of[1]);
    printf("%s\n", behind);
}

void figures_print(const char *mode, const struct figures *f, const struct ceilings *card)
{
    char m[40], lo[40], hi[40], p95[40], p99[40];
    (void)card;
    times_text(f->median, "s", m, sizeof m);
    times_text(f->low, "s", lo, sizeof lo);
    times_text(f->high, "s", hi, sizeof hi);
    times_text(f->p95, "s", p95, sizeof p95);
    times_text(f->p99, "s", p99, sizeof p99);
    printf("  %-9s %s", mode, m);
    if (f->low > 0) printf(" (%s to %s)", lo, hi);
    printf(", p95 %s, p99 %s; %u process%s, %u sample%s", p95, p99, f->processes, f->processes == 1 ? "" : "es",
           f->samples, plural(f->samples));
    if (f->batch > 1) printf(" of %u launches", f->batch);
    printf("\n");
    if (f->why[0]) printf("            %s\n", f->why);
    if (f->rate > 0)
        print_parts("", f->rate, "B/s", f->of_copy,
                    f->counted ? "; bytes as counted" : "; bytes of its arrays, each once");
    if (f->flops > 0) print_parts("", f->flops, "FLOP/s", f->of_flops, "");
    if (f->tensor > 0) {
        char what[40];
        snprintf(what, sizeof what, "tensor %s ", f->tensor_type);
        print_parts(what, f->tensor, "FLOP/s", f->of_tensor, f->of_tensor[0] > 0 ? ", at this clock" : "");
    }
    if (f->impossible[0]) printf("            IMPOSSIBLE: %s\n", f->impossible);
}

void figures_json(struct json *j, const char *mode, const struct figures *f)
{
    struct json o = json_open(j, mode, '{');
    const struct {
        const char *key;
        double x;
    } number[] = { { "median", f->median },
                   { "low", f->low },
                   { "high", f->high },
                   { "p95", f->p95 },
                   { "p99", f->p99 },
                   { "bytes", f->bytes },
                   { "bytes_per_second", f->rate },
                   { "of_measured_bandwidth", f->of_copy[0] },
                   { "of_published_bandwidth", f->of_copy[1] },
                   { "flops", f->flops },
                   { "of_measured_flops", f->of_flops[0] },
                   { "of_published_flops", f->of_flops[1] } };
    for (u32 i = 0; i < COUNT_OF(number); i++)
        if (number[i].x > 0) json_double(&o, number[i].key, number[i].x);
    if (f->tensor > 0) {
        json_text(&o, "tensor_type", f->tensor_type);
        json_double(&o, "tensor_flops", f->tensor);
        json_double(&o, "tensor_share", f->of_tensor[0]);
        json_double(&o, "of_published_tensor", f->of_tensor[1]);
    }
    if (f->rate > 0) json_bool(&o, "counted", f->counted);
    json_number(&o, "processes", f->processes);
    json_number(&o, "samples", f->samples);
    json_number(&o, "batch", f->batch);
    json_number(&o, "sm_mhz", f->clock.sm_mhz);
    if (f->impossible[0]) json_text(&o, "impossible", f->impossible);
    if (f->why[0]) json_text(&o, "why", f->why);
    json_end(&o, '}');
}
