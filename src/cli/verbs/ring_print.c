/* lockstep ring --bench: its figures as tables, as JSON, and as a histogram (SVG). */
#include "verbs/ring_bench.h"

static double at(const struct bench_row *r, double part) { return ring_bench_at(r->ns, r->n, part); }
static double us(const double *v, u64 n, double part) { return v ? ring_bench_at(v, n, part) / 1e3 : 0; }

void ring_bench_print_batches(const struct bench *b)
{
    for (u32 i = 0; i < b->batches.n; i++) {
        const struct bench_batches *x = &b->batches.p[i];
        printf(
            "\nbatches of 16 bytes, %u thread%s of the host, %u units, sleeps of %u ns: %llu messages, %.0f a second\n",
            x->threads, plural(x->threads), x->units, x->idle_ns, (unsigned long long)x->messages, x->rate);
    }
}

void ring_bench_print_device(const struct bench *b)
{
    printf(
        "\nbetween two warps, looked at on both sides, nanoseconds by the device's clock; one way is half of the round "
        "trip\n%-14s %7s %9s | %9s %9s %9s %9s | %12s\n",
        "where", "bytes", "one way", "p50", "p99", "p99.9", "max", "trips/s");
    for (u32 i = 0; i < b->row.n; i++) {
        const struct bench_row *r = &b->row.p[i];
        char bytes[16];
        if (!strcmp(r->where, "host")) continue;
        snprintf(bytes, sizeof bytes, "%u", r->bytes);
        printf("%-14s %7s %9.0f | %9.0f %9.0f %9.0f %9.0f | %12.0f\n", r->where, r->raw ? "flag" : bytes,
               at(r, 0.5) / 2, at(r, 0.5), at(r, 0.99), at(r, 0.999), at(r, 1), r->rate);
    }
    if (b->matrix_sms) {
        printf("\none way between SMs, 16 bytes, p50 in ns\n%5s", "");
        for (u32 k = 0; k < b->matrix_sms; k++) printf(" %4u", k * b->sms / b->matrix_sms);
        for (u32 i = 0; i < b->matrix_sms; i++) {
            printf("\n%5u", i * b->sms / b->matrix_sms);
            for (u32 k = 0; k < b->matrix_sms; k++)
                if (i == k)
                    printf(" %4s", "-");
                else
                    printf(" %4.0f", (double)b->matrix[i * b->matrix_sms + k]);
        }
        printf("\n");
    }
    fflush(stdout);
}

void ring_bench_print_host(const struct bench *b)
{
    printf("%s%s, every answer checked\n\nhost to actor and back, vector add, microseconds; the means of the stages "
           "add up to the mean\n%7s %8s %8s "
           "%8s %8s %8s | %7s %7s %7s %7s | %10s %10s | %8s %8s\n",
           b->on_gpu ? "" : "software GPU as an ", lk_gpu_title(b->gpu), "bytes", "p50", "p99", "p99.9", "max", "mean",
           "to seen", "actor", "written", "to host", "in turn/s", "filled/s", "launch", "graph");
    for (u32 i = 0; i < b->row.n; i++) {
        const struct bench_row *r = &b->row.p[i];
        char bytes[16];
        double mean = 0;
        if (strcmp(r->where, "host")) continue;
        for (u64 k = 0; k < r->n; k++) mean += r->ns[k] / 1e3 / (double)r->n;
        snprintf(bytes, sizeof bytes, "%u", r->bytes);
        printf("%7s %8.2f %8.2f %8.2f %8.2f %8.2f |", r->raw ? "flag" : bytes, at(r, 0.5) / 1e3, at(r, 0.99) / 1e3,
               at(r, 0.999) / 1e3, at(r, 1) / 1e3, mean);
        if (r->raw) {
            printf(" %7s %7s %7s %7s | %10.0f\n", "", "", "", "", r->rate);
            continue;
        }
        for (u32 k = 0; k < BENCH_STAGES; k++) printf(" %7.2f", r->stage[k] / 1e3);
        printf(" | %10.0f %10.0f | %8.2f %8.2f\n", r->rate, r->filled, us(r->launch, r->n, 0.5),
               us(r->graph, r->n, 0.5));
    }
    const struct bench_life *l = &b->life;
    if (l->activate)
        printf("activate %.1f us (p99 %.1f), deactivate %.1f us (p99 %.1f), terminate %.1f us (most %.1f)\n",
               us(l->activate, l->n, 0.5), us(l->activate, l->n, 0.99), us(l->deactivate, l->n, 0.5),
               us(l->deactivate, l->n, 0.99), us(l->terminate, l->ends, 0.5), us(l->terminate, l->ends, 1));
    const struct bench_row *r = ring_bench_find(b, "host", 16, false);
    if (r) {
        double ring = at(r, 0.5) / 1e3, sim = b->on_gpu ? b->sim_p50 / 1e3 : ring;
        printf("\nthe same sum of 16 bytes, p50 in us\n%-34s %10.2f\n", "ring on the software GPU", sim);
        if (b->on_gpu) printf("%-34s %10.2f\n", "ring on the GPU", ring);
        printf("%-34s %10.2f\n%-34s %10.2f\n",
               b->on_gpu ? "GPU: copies, launch, wait" : "software GPU: copies, launch, wait", us(r->launch, r->n, 0.5),
               b->on_gpu ? "GPU: the same as a graph" : "software GPU: the same as a graph", us(r->graph, r->n, 0.5));
    }
    fflush(stdout);
}

static void add_quantiles(struct text *t, const char *name, const double *v, u64 n)
{
    if (!v) n = 0;
    text_add(t, "\"%s\":{\"p50\":%.1f,\"p99\":%.1f,\"p99.9\":%.1f,\"max\":%.1f}", name, ring_bench_at(v, n, 0.5),
             ring_bench_at(v, n, 0.99), ring_bench_at(v, n, 0.999), ring_bench_at(v, n, 1));
}

static void add_row(struct text *t, const struct bench_row *r)
{
    static const char *const stage[] = { "to_seen", "in_actor", "to_visible", "to_received" };
    text_add(t, "{\"where\":\"%s\",\"bytes\":%u,\"raw\":%s,\"messages\":%llu,", r->where, r->bytes,
             r->raw ? "true" : "false", (unsigned long long)r->n);
    add_quantiles(t, "round_trip_ns", r->ns, r->n);
    text_add(t, ",\"trips_per_second\":%.0f", r->rate);
    if (!strcmp(r->where, "host") && !r->raw) {
        text_add(t, ",\"stages_mean_ns\":{");
        for (u32 k = 0; k < BENCH_STAGES; k++) text_add(t, "%s\"%s\":%.1f", k ? "," : "", stage[k], r->stage[k]);
        text_add(t, "},\"messages_per_second\":%.0f", r->filled);
    }
    if (r->launch) {
        text_add(t, ",");
        add_quantiles(t, "launch_and_wait_ns", r->launch, r->n);
        text_add(t, ",");
        add_quantiles(t, "graph_and_wait_ns", r->graph, r->n);
    }
    text_add(t, "}");
}

void ring_bench_json(const struct bench *b, const char *on, struct text *t)
{
    text_add(t, "{\"device\":");
    text_json(t, lk_gpu_title(b->gpu));
    text_add(t, ",\"on\":\"%s\",\"rows\":[", on);
    for (u32 i = 0; i < b->row.n; i++) {
        if (i) text_add(t, ",\n");
        add_row(t, &b->row.p[i]);
    }
    text_add(t, "],\"flood\":{\"warps\":%u,\"messages\":%llu,\"per_second\":%.0f},\"batched\":[", b->flood_warps,
             (unsigned long long)b->flood_messages, b->flood_rate);
    for (u32 i = 0; i < b->batches.n; i++) {
        const struct bench_batches *x = &b->batches.p[i];
        text_add(t, "%s{\"threads\":%u,\"units\":%u,\"idle_ns\":%u,\"messages\":%llu,\"per_second\":%.0f}",
                 i ? "," : "", x->threads, x->units, x->idle_ns, (unsigned long long)x->messages, x->rate);
    }
    text_add(t, "]");
    const struct bench_life *l = &b->life;
    text_add(t, ",\"life\":{");
    add_quantiles(t, "activate_ns", l->activate, l->n);
    text_add(t, ",");
    add_quantiles(t, "deactivate_ns", l->deactivate, l->n);
    text_add(t, ",");
    add_quantiles(t, "terminate_ns", l->terminate, l->ends);
    text_add(t, "},\"software_gpu_p50_ns\":%.0f,\"matrix_one_way_ns\":[", b->sim_p50);
    for (u32 i = 0; i < b->matrix_sms; i++) {
        text_add(t, "%s[", i ? ",\n" : "");
        for (u32 k = 0; k < b->matrix_sms; k++)
            text_add(t, "%s%.0f", k ? "," : "", (double)b->matrix[i * b->matrix_sms + k]);
        text_add(t, "]");
    }
    text_add(t, "]}\n");
}

/* ---- the histogram: a panel for each place, time on a logarithmic axis, a curve of bars for the size of 16 bytes ----
 */

enum { LEFT = 150, WIDTH = 760, PANEL = 90, GAP = 34, PER_DECADE = 40 };

struct axis {
    double low, high; /* log10 of ns: whole decades */
};
static u32 log_bucket(const struct axis *a, double ns)
{
    double x = 1, l = a->low; /* log10 by comparison, so that no libm is needed: buckets of 10^(1/PER_DECADE) */
    u32 k = 0, last = (u32)((a->high - a->low) * PER_DECADE) - 1;
    for (double d = 0; d < l; d++) x *= 10;
    while (k < last && x * 1.0592537251772889 <= ns) {
        x *= 1.0592537251772889; /* 10^(1/40) */
        k++;
    }
    return k;
}

static void add_panel(const struct bench *b, const struct bench_row *r, const struct axis *a, u32 y, struct text *t)
{
    u32 buckets = (u32)((a->high - a->low) * PER_DECADE), most = 1;
    u32 *count = NEW_ARRAY(b->mem, u32, buckets);
    double wide = (double)WIDTH / buckets;
    for (u64 i = 0; i < r->n; i++) most = MAX_OF(most, ++count[log_bucket(a, r->ns[i])]);
    text_add(t, "<text x=\"8\" y=\"%u\">%s%s</text><text x=\"8\" y=\"%u\" class=\"s\">%llu trips</text>\n", y + 30,
             r->where, r->raw ? ", flag" : "", y + 46, (unsigned long long)r->n);
    text_add(t, "<text x=\"8\" y=\"%u\" class=\"s\">p50 %.0f, p99 %.0f ns</text>\n", y + 60, at(r, 0.5), at(r, 0.99));
    for (u32 k = 0; k < buckets; k++) {
        if (!count[k]) continue;
        double h = (double)count[k] * PANEL / most;
        text_add(t,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"><title>%u</title></rect>\n",
                 LEFT + k * wide, y + PANEL - h, wide * 0.9, h, r->raw ? "r" : "m", count[k]);
    }
    text_add(t, "<line x1=\"%d\" x2=\"%d\" y1=\"%u\" y2=\"%u\" stroke=\"#888\"/>\n", LEFT, LEFT + WIDTH, y + PANEL,
             y + PANEL);
    u32 decades = (u32)(a->high - a->low);
    for (u32 d = 0; d <= decades; d++) {
        static const char *const name[] = { "1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us",
                                            "1 ms", "10 ms", "100 ms", "1 s",  "10 s" };
        u32 x = LEFT + d * WIDTH / decades;
        text_add(t, "<text x=\"%u\" y=\"%u\" class=\"s\" text-anchor=\"middle\">%s</text>\n", x, y + PANEL + 14,
                 name[MIN_OF((u32)a->low + d, (u32)COUNT_OF(name) - 1)]);
    }
}

void ring_bench_svg(const struct bench *b, struct text *t)
{
    static const char *const where[] = { "in a block", "in a cluster", "across blocks", "host" };
    const struct bench_row *row[8];
    u32 rows = 0, y = 40;
    double low = 1e30, high = 0;
    for (u32 i = 0; i < COUNT_OF(where); i++)
        for (u32 raw = 0; raw < 2; raw++) {
            const struct bench_row *r = ring_bench_find(b, where[i], raw ? 8 : 16, raw);
            if (!r || !r->n) continue;
            row[rows++] = r;
            low = MIN_OF(low, r->ns[0]);
            high = MAX_OF(high, r->ns[r->n - 1]);
        }
    struct axis a = { 0, 1 };
    for (double x = 10; x <= low; x *= 10) a.low++;
    for (double x = 10; x < high; x *= 10) a.high++;
    if (a.high <= a.low) a.high = a.low + 1;
    text_add(t,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-family=\"sans-serif\" "
             "font-size=\"13\">\n<style>.m{fill:#2a6fb0}.r{fill:#c07a2c}.s{font-size:11px;fill:#555}</style>\n"
             "<text x=\"8\" y=\"20\">Round trips of 16 bytes and of bare flags, ",
             LEFT + WIDTH + 40, 60 + rows * (PANEL + GAP));
    text_add(t, "%s%s</text>\n", b->on_gpu ? "" : "software GPU as an ", lk_gpu_title(b->gpu));
    for (u32 i = 0; i < rows; i++, y += PANEL + GAP) add_panel(b, row[i], &a, y, t);
    text_add(t, "</svg>\n");
}
