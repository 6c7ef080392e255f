/* Unit tests of findings about two threads, of origins, and of the cheap way to count an occurrence again. */
#include "report/report.h"
#include "unit.h"
#include <stdlib.h>

static const struct place store = {
    .file = "/nowhere/tile.cu",
    .line = 10,
    .col = 5,
    .function = "tile",
    .ptx_file = "/nowhere/tile.ptx",
    .ptx_line = 41,
    .ptx_text = "st.shared.f32 [%r3], %f1;",
};
static const struct place load = {
    .file = "/nowhere/tile.cu",
    .line = 12,
    .col = 9,
    .function = "tile",
    .ptx_file = "/nowhere/tile.ptx",
    .ptx_line = 47,
    .ptx_text = "ld.shared.f32 %f2, [%r4+4];",
};

static char *text_of(struct report *r)
{
    struct text t = { 0 };
    report_text(r, (struct report_style){ 0 }, &t);
    return t.p;
}

/* Thread t of a CTA reads what its neighbour t + 1 writes; `reader_first` says which side the checker met last. */
static void race_add(struct report *r, u32 cta, u32 t, bool reader_first, u64 ticket)
{
    struct rival v = { .cta = { cta, 0, 0 },
                       .thread = t + reader_first,
                       .access = reader_first ? "write" : "read",
                       .width = 4,
                       .addr = 4 * (t + 1),
                       .value = reader_first ? "3.5" : "0" };
    struct finding f = {
        .kind = F_race,
        .place = reader_first ? &load : &store,
        .other = reader_first ? &store : &load,
        .kernel = "tile",
        .cta = { cta, 0, 0 },
        .nctaid = { 2, 1, 1 },
        .ntid = { 64, 1, 1 },
        .nlanes = 1,
        .thread = { t + !reader_first },
        .access = reader_first ? "read" : "write",
        .space = "shared",
        .width = 4,
        .addr = { 4 * (t + 1) },
        .value = reader_first ? "0" : "3.5",
        .object = "tile",
        .object_type = "f32[64]",
        .object_size = 256,
        .element_size = 4,
        .rival = &v,
        .order = "a __syncthreads() between line 10 and line 12",
        .ticket = ticket,
    };
    report_add(r, &f);
}

static void two_sides(void)
{
    struct report *r = report_new();
    for (u32 cta = 0; cta < 2; cta++)
        for (u32 t = 0; t < 63; t++) race_add(r, cta, t, t % 3 == 0, 0);
    UNIT_EQ(report_errors(r), 1);
    UNIT_EQ(report_occurrences(r), 126);
    char *t = text_of(r);
    UNIT_HAS(t, "error[race]: data race\n  --> /nowhere/tile.cu:10:5\n");
    UNIT_HAS(t, "  ::: /nowhere/tile.cu:12:9\n");
    UNIT_HAS(t,
             "= first: thread 1 of block 0 (warp 0, lane 1): st.shared.f32 writes 4 bytes at tile+0x4, element [1] of "
             "f32[64]; value 3.5\n");
    UNIT_HAS(t,
             "= second: thread 0 of block 0 (warp 0, lane 0): ld.shared.f32 reads 4 bytes at tile+0x4, element [1] of "
             "f32[64]; value 0\n");
    UNIT_HAS(t, "= who: threads 1..63 of every block (63 threads in each of 2 blocks)\n");
    UNIT_HAS(t,
             "= against: threads 0..62 of every block (63 threads in each of 2 blocks); always 1 thread below, in the "
             "same warp and in other warps of the block\n");
    UNIT_HAS(t, "= order: a __syncthreads() between line 10 and line 12\n");
    free(t);
    report_free(r);
}

static void the_same_in_any_order(void)
{
    struct report *a = report_new(), *b = report_new();
    for (u32 t = 0; t < 63; t++) {
        race_add(a, 0, t, false, 0);
        race_add(b, 0, 62 - t, t % 2, 0);
    }
    char *x = text_of(a), *y = text_of(b);
    UNIT_EQ_STR(x, y);
    free(x);
    free(y);
    report_free(a);
    report_free(b);
}

static void again(void)
{
    struct report *r = report_new(), *whole = report_new();
    struct occurrence o = { .nctaid = { 2, 1, 1 },
                            .ntid = { 64, 1, 1 },
                            .nlanes = 1,
                            .thread = { 3 },
                            .addr = { 16 },
                            .rival_thread = 4,
                            .rival_addr = 16 };
    UNIT(!report_again(r, 77, &o));
    race_add(r, 0, 2, true, 77);
    race_add(whole, 0, 2, true, 0);
    for (u32 t = 3; t < 60; t++) {
        o.thread[0] = t;
        o.rival_thread = t + 1;
        o.addr[0] = o.rival_addr = 4 * (t + 1);
        UNIT(report_again(r, 77, &o));
        race_add(whole, 0, t, true, 0);
    }
    o.thread[0] = 1;
    o.rival_thread = 2;
    UNIT(!report_again(r, 77, &o)); /* comes before the one shown: the whole finding is wanted */
    UNIT_EQ(report_occurrences(r), 58);
    char *x = text_of(r), *y = text_of(whole);
    UNIT_EQ_STR(x, y);
    free(x);
    free(y);
    report_tickets_end(r);
    o.thread[0] = 9;
    UNIT(!report_again(r, 77, &o));
    report_free(r);
    report_free(whole);
}

static void origin(void)
{
    struct report *r = report_new();
    struct finding f = { .kind = F_uninit_branch,
                         .place = &store,
                         .kernel = "tile",
                         .nctaid = { 1, 1, 1 },
                         .ntid = { 32, 1, 1 },
                         .nlanes = 1,
                         .origin = &load,
                         .origin_text = "read from tile+0x4 (f32[64] shared), which was never written" };
    report_add(r, &f);
    char *t = text_of(r);
    UNIT_HAS(t, "error[uninit_branch]: decision on an uninitialised value\n");
    UNIT_HAS(t, "  <-- /nowhere/tile.cu:12:9\n");
    UNIT_HAS(t, "= origin: read from tile+0x4 (f32[64] shared), which was never written\n");
    free(t);
    report_free(r);
}

static bool is_off(const struct check_choice *c, enum finding_kind k) { return c->off[k / 64] >> k % 64 & 1; }

static void kinds(void)
{
    struct check_choice c;
    struct error e = { 0 };
    for (u32 i = 0; i < F_COUNT; i++) {
        char code[16];
        snprintf(code, sizeof code, "LK%04u", finding_code(i));
        UNIT_EQ(finding_find(finding_id(i)), i);
        UNIT_EQ(finding_find(code), i); /* also says that no code is given twice */
        UNIT(finding_title(i)[0] && finding_meaning(i)[0] && finding_fix(i)[0]);
    }
    UNIT(checks_choose("bounds,race", NULL, &c, &e) && c.checks == (CHECK_BOUNDS | CHECK_RACE));
    UNIT(checks_choose(NULL, NULL, &c, &e) && c.checks == CHECK_ALL && !is_off(&c, F_leak));
    UNIT(checks_choose("all", "race", &c, &e) && c.checks == (CHECK_ALL & ~CHECK_RACE));
    UNIT(checks_choose(NULL, "leak", &c, &e) && c.checks == CHECK_ALL && is_off(&c, F_leak));
    UNIT(checks_choose("leak,race", NULL, &c, &e) && c.checks == (CHECK_MEMORY | CHECK_RACE) && !is_off(&c, F_leak));
    UNIT(is_off(&c, F_double_free) && !is_off(&c, F_race_stream));
    UNIT(checks_choose("leak,memory", NULL, &c, &e) && !is_off(&c, F_double_free));
    UNIT(!checks_choose("racing", NULL, &c, &e) && strstr(e.text, "there is no check `racing`"));
    e.code = 0;
    UNIT(!checks_choose(NULL, ",", &c, &e));
    e.code = 0;
    UNIT(!checks_choose(NULL, "deadlock", &c, &e) && strstr(e.text, "reported always"));
    UNIT_EQ_STR(check_name(0), "bounds");
    UNIT(!check_name(CHECK_COUNT));
}

int main(void)
{
    two_sides();
    the_same_in_any_order();
    again();
    origin();
    kinds();
    return unit_done();
}
