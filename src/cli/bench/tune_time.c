/* lockstep tune --on gpu: a configuration that passes is timed, in processes of its own; the best is timed once more.
 */
#include "bench/tune_time.h"
#include <math.h>

/* Tested on the GPU, then timed. */
bool tune_time(struct arena *a, const struct side_what *w, const char *line, const struct bench_how *how,
               struct tune_timed *out, struct error *e)
{
    struct bench_sizes s = { 0 };
    struct bench_test tested;
    struct bench_group g = { 0 };
    struct bench_series series[2];
    struct ceilings none = { 0 };
    struct figures f;
    const char *folder = bench_folder(a, e);
    VEC_PUSH(a, &s.line, line);
    bool ok = folder && bench_tested(a, &(struct bench_ask){ w, &s, &tested }, 1, folder, e);
    if (ok && !tested.passed) ok = error_set(e, (enum error_code)tested.code, "%s", tested.said);
    ok = ok && group_start(a, &g, w, how->processes, e) && groups_prepare(a, &g, NULL, line, folder, e) &&
         groups_time(a, &g, NULL, BENCH_WARM, how, series, e);
    if (ok) {
        figures_of(a, BENCH_WARM, &series[0], 0, NULL, &none, &f);
        *out = (struct tune_timed){ f.median, f.low, f.high };
    }
    group_end(&g);
    if (folder) folder_remove(folder);
    return ok;
}

/* Two configurations in turns, in fresh processes: those that made one of them the best are not asked again. */
bool tune_again(struct arena *a, const struct side_what w[2], const char *const line[2], const struct bench_how *how,
                struct times_pair *out, struct error *e)
{
    struct bench_group g[2] = { 0 };
    struct bench_series s[2];
    const char *folder[2] = { bench_folder(a, e), bench_folder(a, e) };
    bool ok = folder[0] && folder[1];
    for (u32 k = 0; ok && k < 2; k++)
        ok = group_start(a, &g[k], &w[k], how->processes, e) && groups_prepare(a, &g[k], NULL, line[k], folder[k], e);
    ok = ok && groups_time(a, &g[0], &g[1], BENCH_WARM, how, s, e);
    for (u32 k = 0; ok && k < 2; k++)
        out->side[k] = (struct timed){ .name = line[k],
                                       .work = "",
                                       .device = g[k].gpu,
                                       .time = "",
                                       .unit = "s",
                                       .process = s[k].process,
                                       .processes = s[k].processes };
    out->interleaved = true;
    if (ok) {
        lk_times t = { "", s[0].process, s[1].process, how->processes };
        lk_times_judge(&t, 1, NULL, &out->judged);
    }
    for (u32 k = 0; k < 2; k++) {
        group_end(&g[k]);
        if (folder[k]) folder_remove(folder[k]);
    }
    return ok;
}
