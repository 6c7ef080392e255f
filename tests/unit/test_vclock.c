/* Vector clocks (vclock.h) against arrays: many clocks, joined with each other and added to at random, have the same
 * times as arrays of maxima. */
#include "unit.h"
#include "clocks/vclock.h"
#include <string.h>

enum { CTAS = 70, WARPS = 2, LANES_N = 32, PLACES = 40, VALUES = 12, STEPS_N = 20000 };

struct model {
    u32 cta[CTAS]; /* all its threads below this */
    u32 lane[CTAS][WARPS][LANES_N];
    u32 count[PLACES];
};

static struct vclock *value[VALUES];
static struct model model[VALUES];

static u32 pick(u64 *rng, u32 n) { return (u32)(rand_next(rng) >> 33) % n; }
static void raise_to(u32 *v, u32 to)
{
    if (*v < to) *v = to;
}

static void join_models(struct model *a, const struct model *b)
{
    for (u32 c = 0; c < CTAS; c++) {
        raise_to(&a->cta[c], b->cta[c]);
        for (u32 w = 0; w < WARPS; w++)
            for (u32 l = 0; l < LANES_N; l++) raise_to(&a->lane[c][w][l], b->lane[c][w][l]);
    }
    for (u32 p = 0; p < PLACES; p++) raise_to(&a->count[p], b->count[p]);
}

static void change(struct vclock_store *vs, u64 *rng, u32 n)
{
    u32 c = pick(rng, CTAS), w = pick(rng, WARPS), time = 1 + pick(rng, 1000), all = pick(rng, 1000),
        lanes = (u32)rand_next(rng), other = pick(rng, VALUES), p = pick(rng, PLACES);
    switch (pick(rng, 7)) {
    case 0:
        vclock_add_cta(vs, &value[n], c, time);
        raise_to(&model[n].cta[c], time);
        break;
    case 1:
        vclock_add_leader(vs, &value[n], c, time);
        raise_to(&model[n].lane[c][0][0], time);
        break;
    case 2:
        vclock_add_writes(vs, &value[n], p, time);
        raise_to(&model[n].count[p], time);
        break;
    case 3:
        vclock_add_lanes(vs, &value[n], c, w, all, lanes, time);
        for (u32 l = 0; l < LANES_N; l++) raise_to(&model[n].lane[c][w][l], lanes >> l & 1 && time > all ? time : all);
        break;
    case 4:
        vclock_add_warp(vs, &value[n], c, w, time);
        for (u32 l = 0; l < LANES_N; l++) raise_to(&model[n].lane[c][w][l], time);
        break;
    case 5:
        vclock_join(vs, &value[n], value[other]);
        join_models(&model[n], &model[other]);
        break;
    default:
        if (pick(rng, 8)) return;
        vclock_drop(vs, value[n]);
        value[n] = NULL;
        memset(&model[n], 0, sizeof model[n]);
    }
}

static bool includes(const struct model *a, const struct model *b)
{
    for (u32 c = 0; c < CTAS; c++) {
        if (b->cta[c] > a->cta[c]) return false;
        for (u32 w = 0; w < WARPS; w++)
            for (u32 l = 0; l < LANES_N; l++)
                if (b->lane[c][w][l] > a->lane[c][w][l] && b->lane[c][w][l] > a->cta[c]) return false;
    }
    for (u32 p = 0; p < PLACES; p++)
        if (b->count[p] > a->count[p]) return false;
    return true;
}

/* How many of some questions have another answer. */
static u32 ask(u64 *rng, u32 n)
{
    const struct model *m = &model[n];
    u32 wrong = 0;
    for (u32 k = 0; k < 20; k++) {
        u32 c = pick(rng, CTAS), w = pick(rng, WARPS), l = pick(rng, LANES_N), time = pick(rng, 1100),
            p = pick(rng, PLACES);
        if (pick(rng, 4) == 0) w = l = 0;
        wrong += vclock_cta_time(value[n], c) != m->cta[c];
        wrong += vclock_has_thread(value[n], c, w, l, time) != (time < m->cta[c] || time < m->lane[c][w][l]);
        u32 least = ~0u;
        for (u32 x = 0; x < LANES_N; x++) least = m->lane[c][w][x] < least ? m->lane[c][w][x] : least;
        /* of the first one, what is known of the first thread is not looked at */
        if (w)
            wrong += vclock_warp_time(value[n], c, w) != (least > m->cta[c] ? least : m->cta[c]);
        else
            wrong += vclock_warp_time(value[n], c, w) > (least > m->cta[c] ? least : m->cta[c]);
        u32 warps = ~0u;
        for (u32 x = 0; x < WARPS; x++)
            for (u32 y = 0; y < LANES_N; y++) warps = m->lane[c][x][y] < warps ? m->lane[c][x][y] : warps;
        u32 twin = pick(rng, VALUES);
        if (vclock_covers_maybe(value[n], value[twin])) wrong += !includes(m, &model[twin]);
        wrong += !vclock_covers_maybe(value[n], value[n]);
        wrong += vclock_warps_time(value[n], c, WARPS) > warps;
        u32 some = (u32)rand_next(rng), all = time < m->cta[c] ? ~0u : 0;
        for (u32 x = 0; x < LANES_N; x++) all |= (u32)(time < m->lane[c][w][x]) << x;
        if (w) wrong += vclock_has_lanes_maybe(value[n], c, w, some, time) != !(some & ~all);
        wrong += vclock_has_write(value[n], p, time) != (time < m->count[p]);
    }
    u32 least = ~0u;
    for (u32 c = 0; c < CTAS; c++) least = m->cta[c] < least ? m->cta[c] : least;
    return wrong + (vclock_min_cta_time(value[n], CTAS) != least);
}

static void compare(u64 large)
{
    struct vclock_store vs = { .large = large };
    u64 rng = 3 + large;
    u32 wrong = 0, all = 0;
    for (u32 k = 0; k < STEPS_N; k++) {
        u32 n = pick(&rng, VALUES);
        change(&vs, &rng, n);
        wrong += ask(&rng, n);
        all += vclock_min_cta_time(value[n], CTAS) > 0;
    }
    UNIT_EQ(wrong, 0);
    UNIT(all > 0);
    for (u32 n = 0; n < VALUES; n++) {
        vclock_drop(&vs, value[n]);
        value[n] = NULL;
    }
    memset(model, 0, sizeof model);
    vclock_store_free(&vs);
}

/* Clocks of chains: random numbers and joins against arrays; a join that one side already is gives that side. */
static void chains(void)
{
    enum { CHAINS = 200, CLOCKS = 6 };
    static u64 number[CLOCKS][CHAINS];
    struct vclock *k[CLOCKS] = { 0 };
    struct vclock_store vs = { .large = UINT64_MAX };
    u64 rng = 11;
    for (u32 round = 0; round < 20000; round++) {
        u32 a = pick(&rng, CLOCKS), b = pick(&rng, CLOCKS), c = pick(&rng, CHAINS);
        u64 to = (u64)pick(&rng, 1000) << 33;
        bool has_all = true;
        for (u32 i = 0; i < CHAINS; i++) has_all &= number[a][i] >= number[b][i];
        CHECK(vclock_covers_maybe(k[a], k[b]) == has_all);
        CHECK(vclock_number(k[a], c) == number[a][c]);
        if (round % 3) {
            vclock_add_number(&vs, &k[a], c, to);
            number[a][c] = MAX_OF(number[a][c], to);
            continue;
        }
        struct vclock *before = vclock_hold(k[a]);
        vclock_join_kept(&vs, &k[a], k[b]);
        CHECK(!has_all || k[a] == before);
        vclock_drop(&vs, before);
        for (u32 i = 0; i < CHAINS; i++) number[a][i] = MAX_OF(number[a][i], number[b][i]);
        if (round % 1000 == 999) {
            vclock_drop(&vs, k[a]);
            k[a] = NULL;
            memset(number[a], 0, sizeof number[a]);
        }
    }
    for (u32 a = 0; a < CLOCKS; a++) vclock_drop(&vs, k[a]);
    vclock_store_free(&vs);
}

int main(void)
{
    chains();
    compare(VCLOCK_LARGE);
    compare(1);
    return unit_done();
}
