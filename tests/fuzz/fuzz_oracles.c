/* Fuzz target of oracles: any bytes as a text over three arrays and a number, then evaluated. What is refused must say
 * why and where; what is taken must have a value and a bound for every element. */
#include "oracle/oracle.h"
#include <math.h>

static const struct scalar *type(const char *z) { return scalar_find(str_of(z)); }

static void evaluated(const struct oracle *o, const void *const *data)
{
    struct oracle_options how = { 0 };
    struct oracle_result r;
    struct error e = { 0 };
    u64 elements = 0;
    for (u32 i = 0; i < oracle_outputs(o); i++) {
        struct oracle_output d = oracle_output(o, i);
        u64 n = 1;
        for (u32 k = 0; k < d.shape.rank; k++) n *= d.shape.dim[k];
        elements += n;
    }
    if (elements > 10000 || oracle_cost(o) > 1e6) return; /* legal, and too slow to fuzz */
    if (!oracle_evaluate(o, &how, data, &r, &e)) {
        CHECK(e.code && e.text[0]);
        return;
    }
    for (u32 i = 0; i < r.n; i++)
        for (u64 k = 0; k < r.array[i].count; k++) {
            const struct oracle_array *a = &r.array[i];
            CHECK(a->unknown[k] || (a->worst[k] >= 0 && a->suspect[k] <= a->worst[k]));
        }
    oracle_result_free(&r);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    static const float x[12] = { 1, -2, 0.5f, 3, 1e-3f, 7, 0, -0.25f, 1e10f, 2, -1, 4 };
    static const float y[4] = { 0.1f, -1, INFINITY, NAN };
    static const int32_t t[3] = { 2, 0, 1 };
    const struct oracle_name names[] = {
        { .name = "x", .type = type("f32"), .shape = { 2, { 3, 4 } }, .in = true },
        { .name = "y", .type = type("f32"), .shape = { 1, { 4 } }, .in = true },
        { .name = "t", .type = type("i32"), .shape = { 1, { 3 } }, .in = true },
        { .name = "n", .value = 4, .in = true },
    };
    const void *const contents[] = { x, y, t, NULL };
    struct arena a = { 0 };
    struct error e = { 0 };
    char *copy = base_alloc(n ? n : 1); /* exactly as long, so that a sanitizer sees a step too far */
    CHECK(copy);
    memcpy(copy, data, n);
    struct str text = { copy, (u32)n };
    struct oracle *o = oracle_new(&a, names, 4);
    if (!oracle_read(o, "in", text, text, &e))
        CHECK(e.code == ERR_INPUT && e.text[0] && !strncmp(e.where, "in:", 3));
    else
        evaluated(o, contents);
    base_free(copy);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
