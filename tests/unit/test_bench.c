/* Sizes, figures, crossovers, marks of axes and the kernels of device --measure: what can be known without a GPU. */
#include "bench/compare_sides.h"
#include "bench/figures.h"
#include "journal/plot.h"
#include "unit.h"
#include <lockstep.h>
#include <math.h>

static void sizes(void)
{
    struct arena a = { 0 };
    struct bench_sizes s = { 0 };
    struct error e = { 0 };
    UNIT(sizes_read(&a, "rows=4 cols=64..300 T=f32,bf16; rows=1 x:rows(2)", &s, &e));
    UNIT(s.line.n == 9);
    UNIT(!strcmp(s.line.p[0], "rows=4 cols=64 T=f32") && !strcmp(s.line.p[7], "rows=4 cols=300 T=bf16"));
    UNIT(!strcmp(s.line.p[8], "rows=1 x:rows(2)"));
    sizes_vary(&a, &s);
    UNIT(!s.varies);
    s = (struct bench_sizes){ 0 };
    UNIT(sizes_read(&a, "rows=4 cols=64,128", &s, &e));
    sizes_vary(&a, &s);
    UNIT(s.varies && !strcmp(s.varies, "cols") && s.value.p[1] == 128);
    UNIT(!sizes_read(&a, "cols=9..3", &s, &e) && e.code == ERR_INPUT);
    arena_free(&a);
}

static struct bench_series series_of(struct arena *a, double median)
{
    lk_series *p = NEW_ARRAY(a, lk_series, 5);
    for (u32 i = 0; i < 5; i++) {
        double *v = NEW_ARRAY(a, double, 9);
        for (u32 k = 0; k < 9; k++) v[k] = median * (1 + 0.001 * (double)((k * 7 + i * 3) % 9) - 0.004);
        p[i] = (lk_series){ v, 9 };
    }
    return (struct bench_series){ .process = p, .processes = 5, .batch = 2, .clock = { .sm_mhz = 990 } };
}

/* above_roofline: 113 % of the bandwidth and 1966 TFLOP/s are no rates. */
static void figures(void)
{
    struct arena a = { 0 };
    struct ceilings card;
    struct figures f;
    ceilings_published(&a, "NVIDIA H200", &card);
    UNIT(card.bandwidth[1] == 4.8e12 && card.f32[1] == 67e12 && card.l2 == 50.0 * 1048576);
    card.bandwidth[0] = 4e12;
    struct bench_counts c = { .known = true, .footprint = 4.8e9, .flops = 1e9 };
    struct bench_series s = series_of(&a, 2e-3);
    figures_of(&a, BENCH_COLD, &s, 1, &c, &card, &f);
    UNIT(fabs(f.rate / 2.4e12 - 1) < 0.01 && fabs(f.of_copy[0] - 0.6) < 0.01 && fabs(f.of_copy[1] - 0.5) < 0.01);
    UNIT(!f.impossible[0] && f.low > 0.99 * 2e-3 && f.high < 1.01 * 2e-3 && f.p95 >= f.median && f.p99 >= f.p95);
    UNIT(f.tensor == 0);
    s = series_of(&a, 1e-3 / 1.13);
    figures_of(&a, BENCH_COLD, &s, 1, &c, &card, &f);
    UNIT(strstr(f.impossible, "113 %"));
    c = (struct bench_counts){ .known = true, .footprint = 1e6, .flops = 1e6, .tensor = 1966e9, .tensor_type = "f16" };
    s = series_of(&a, 1e-3);
    figures_of(&a, BENCH_WARM, &s, 1, &c, &card, &f);
    UNIT(strstr(f.impossible, "FLOP/s"));
    /* half of the peak, at half of the clock at which that was measured: all of it */
    for (u32 i = 0; i < card.tensors; i++)
        if (!strcmp(card.tensor[i].type, "f16")) card.tensor[i].rate[0] = 900e12, card.tensor[i].mhz = 1980;
    c.tensor = 450e9;
    figures_of(&a, BENCH_WARM, &s, 1, &c, &card, &f);
    UNIT(!f.impossible[0] && fabs(f.of_tensor[0] - 1) < 0.01 && fabs(f.of_tensor[1] - 450.0 / 989) < 0.01);
    /* arrays may be larger than what is touched: their bytes refuse nothing */
    figures_of(&a, BENCH_COLD, &s, 1e12, NULL, &card, &f);
    UNIT(!f.counted && !f.impossible[0]);
    arena_free(&a);
}

static struct times_pair pair_of(double low, double ratio, double high)
{
    struct times_pair p = { 0 };
    p.judged = (lk_judgement){ .low = low, .ratio = ratio, .high = high };
    p.judged.verdict = low > 1.03 ? LK_SLOWER : high < 1 / 1.03 ? LK_FASTER : LK_UNCLEAR;
    return p;
}

static void crossover(void)
{
    struct arena a = { 0 };
    struct bench_sizes s = { 0 };
    struct error e = { 0 };
    struct text out = { 0 };
    UNIT(sizes_read(&a, "n=100,1000,10000", &s, &e));
    sizes_vary(&a, &s);
    struct times_pair up[] = { pair_of(1.9, 2, 2.1), pair_of(0.95, 1, 1.05), pair_of(0.45, 0.5, 0.55) };
    crossover_tell(&out, &s, up);
    UNIT(out.n && strstr(out.p, "from n = 1000 on (") && strstr(out.p, "B is faster"));
    out.n = 0;
    struct times_pair never[] = { pair_of(1.9, 2, 2.1), pair_of(0.5, 0.9, 1.5), pair_of(1.2, 1.3, 1.4) };
    crossover_tell(&out, &s, never);
    UNIT(!out.n);
    text_free(&out);
    arena_free(&a);
}

static void axes(void)
{
    double m[32];
    char label[40];
    UNIT(plot_marks(0, 10, false, m, 32) == 6 && m[1] == 2);
    UNIT(plot_marks(1, 1e6, true, m, 32) == 7 && m[6] == 1e6);
    UNIT(plot_marks(64, 1000, true, m, 32) == 4 && m[0] == 100 && m[3] == 1000);
    plot_label(1.5e-6, "s", label, sizeof label);
    UNIT(!strcmp(label, "1.5 us"));
    plot_label(3.92e12, "B/s", label, sizeof label);
    UNIT(!strcmp(label, "3.92 TB/s"));
    plot_label(2000, "", label, sizeof label);
    UNIT(!strcmp(label, "2k"));
}

/* The kernels of each architecture are PTX that loads; those of sm_90 run. */
static void kernels(void)
{
    static const u32 arch[] = { 75, 80, 89, 90, 100, 120 };
    for (u32 k = 0; k < COUNT_OF(arch); k++) {
        struct work_kernel w[16];
        u32 n = work_kernels(arch[k], w, COUNT_OF(w));
        lk_gpu *gpu;
        lk_options o = { .size = sizeof o, .any_arch = 1, .no_check = "all" };
        UNIT(n >= 4 && lk_gpu_create(&o, &gpu) == LK_OK);
        for (u32 i = 0; i < n; i++) {
            struct text ptx = { 0 };
            lk_module *module = NULL;
            work_ptx(&w[i], arch[k], &ptx);
            UNIT(lk_module_load(gpu, w[i].name, ptx.p, ptx.n, &module) == LK_OK);
            text_free(&ptx);
            if (arch[k] != 90 || !module) continue;
            u64 memory[2] = { 0, 0 };
            u32 rounds = 1;
            for (u32 m = 0; m < 2; m++)
                UNIT(lk_memory_alloc(gpu, 1 << 16, LK_MEMORY_DEVICE, "m", &memory[m]) == LK_OK &&
                     lk_memory_fill(gpu, memory[m], 0x3f, 1 << 16) == LK_OK);
            const void *args[] = { &memory[0], &memory[1], &rounds };
            lk_launch l = { .size = sizeof l, .args = args, .arg_count = 3, .grid = { 1 }, .block = { w[i].threads } };
            UNIT(lk_kernel_launch(lk_module_kernel(module, "work"), &l, NULL) == LK_OK);
            for (u32 m = 0; m < 2; m++) lk_memory_free(gpu, memory[m]);
        }
        lk_gpu_destroy(gpu);
    }
}

int main(void)
{
    sizes();
    figures();
    crossover();
    axes();
    kernels();
    return unit_done();
}
