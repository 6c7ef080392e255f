/* What the race check keeps: notes and marks against a plain array of what each byte of a sector has, sets of
 * readers, and the end of their numbers. */
#include "unit.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "race/race_touch.h"
#include "sim/sim.h"

struct bench {
    struct race *race;
    struct race_cta *cta;
    struct touch touch;
};

static struct bench bench_new(u32 space, u32 warps)
{
    struct bench b = { race_new(NULL), calloc(1, sizeof *b.cta), { .space = space } };
    struct race_cta *c = b.cta;
    static struct race_launch launch = { .number = 1 };
    c->race = b.race;
    c->era = b.race->era;
    c->launch = &launch;
    c->nwarps = 32;
    c->lo[SPACE_SHARED] = c->lo[SPACE_GLOBAL] = 1ull << 32;
    for (u32 n = 0; n < 32; n++) c->warp[n] = (struct race_warp){ .c = c, .id = n, .now = 1, .key = (u64)n << 14 };
    UNIT(notes_open(&c->notes, CHUNKS_SHARED));
    notes_shape(&c->notes, warps, 1 << 21);
    notes_shape(&b.race->era->notes, warps, 1 << 21);
    b.touch.w = &c->warp[0];
    return b;
}

static void bench_end(struct bench *b)
{
    notes_free(&b->cta->notes);
    free(b->cta);
    race_delete(b->race);
}

/* ---- marks against an array ---- */

enum { SECTORS = 1024, APART = 600000 };
struct model {
    u32 x;
    struct prior byte[SECTOR];
};

static bool agrees(const struct touch *t, const struct model *m)
{
    for (u32 k = 0; k < SECTOR; k++) {
        struct prior s = element_at(notes_of(t), m->x, k);
        if (s.a != m->byte[k].a || (s.a && s.site != m->byte[k].site)) return false;
    }
    return true;
}

static void write_some(struct bench *b, struct model *m, u64 *rng, u32 spread)
{
    static const u32 sizes[] = { 1, 1, 2, 4, 4, 8, 16, 32 };
    u32 size = sizes[rand_next(rng) >> 40 & 7], first = (u32)(rand_next(rng) >> 40) % SECTOR & ~(size - 1);
    b->touch.w = &b->cta->warp[rand_next(rng) >> 40 & 31];
    /* the more times, the more notes, and the farther apart */
    b->touch.w->now = 1 + (u32)(rand_next(rng) >> 40) % spread;
    u64 a = race_stamp(b->touch.w, (u32)(rand_next(rng) >> 40) & 31, ES_ONE, WHO_ONE);
    u32 site = (u32)(rand_next(rng) >> 40) & 15;
    elements_record(&b->touch, &m->x, first, size, a, site);
    for (u32 k = first; k < first + size; k++) m->byte[k] = (struct prior){ a, site, 0 };
}

static void clear_some(struct bench *b, struct model *m, u64 *rng)
{
    u32 first = (u32)(rand_next(rng) >> 40) % SECTOR & ~3u;
    if (!m->x || m->x >> FORM_SHIFT == FORM_FULL) return;
    bool empty = elements_clear(&b->touch, m->x, first, 4);
    memset(&m->byte[first], 0, sizeof *m->byte * 4);
    for (u32 k = 0; k < SECTOR; k++) empty &= !m->byte[k].a;
    if (empty) {
        elements_drop(&b->touch, m->x);
        m->x = 0;
    }
}

/* Notes that nothing else uses, so that those before and after are far apart. */
static void part(struct bench *b, u32 *held)
{
    for (u32 n = 0; n < APART; n++) {
        b->touch.w->now = 2000000 + n;
        held[n] = note_make(b->touch.w, SPACE_GLOBAL, race_stamp(b->touch.w, 0, ES_ONE, WHO_ONE), 1);
        note_ref(&b->race->era->notes, held[n], false);
    }
}

/* warps: that share a note; spread: how many times there are; most: writes. Every form must have come up, and at the
 * end no note may be left. */
static void compare(u32 space, u32 warps, u32 spread, u32 most, u32 forms)
{
    struct bench b = bench_new(space, warps);
    static struct model m[SECTORS];
    u64 rng = spread;
    u32 wrong = 0, seen = 0;
    u32 *held = spread > 1000 ? malloc(sizeof *held * APART) : NULL;
    memset(m, 0, sizeof m);
    for (u32 n = 0; n < most; n++) {
        struct model *s = &m[rand_next(&rng) >> 40 & (SECTORS - 1)];
        if (rand_next(&rng) >> 40 & 7)
            write_some(&b, s, &rng, spread);
        else
            clear_some(&b, s, &rng);
        wrong += !agrees(&b.touch, s);
        if (s->x) seen |= 1u << (s->x >> FORM_SHIFT);
        if (held && n == most / 2) part(&b, held);
        if (n % 1000 == 999) {
            elements_drop(&b.touch, s->x);
            *s = (struct model){ 0 };
        }
    }
    UNIT_EQ(wrong, 0);
    UNIT_EQ(seen & forms, forms);
    struct notes *n = notes_of(&b.touch);
    u32 few = n->upper[UPPER_FEW].n, many = n->upper[UPPER_ALL].n;
    for (u32 k = 0; k < SECTORS; k++) elements_drop(&b.touch, m[k].x);
    for (u32 k = 0; k < FORMS; k++) UNIT_EQ(n->form[k].n, n->form[k].nspare);
    for (u32 k = 0; k < UPPERS; k++) UNIT_EQ(n->upper[k].n, n->upper[k].nspare);
    if (space == SPACE_GLOBAL) {
        note_caches_drop(b.cta);
        for (u32 k = 0; held && k < APART; k++) note_unref(n, held[k], false);
        UNIT_EQ(n->note.n, n->note.nspare);
        UNIT(!held || (few > 0 && many > 0));
    }
    free(held);
    bench_end(&b);
}

/* ---- sets of readers ---- */

enum { READERS = 16 };

/* The latest time at which a lane is in the set; 0: it is not. */
static u32 read_at(const struct notes *n, u32 x, u32 warp, u32 lane)
{
    u32 last = 0;
    while (x) {
        struct member m;
        x = set_last(n, x, &m);
        bool in = word_kind(m.a) == WHO_WARP ? m.lanes >> lane & 1 : word_lane(m.a) == lane;
        if (in && (word_warp(m.a) & 31) == warp && word_time(m.a) > last) last = word_time(m.a);
    }
    return last;
}

/* Lanes of some warps read one element over and over: the set has each lane with its last read, does not grow, and
 * leaves nothing behind. Two elements that the same have read have the same set. */
static void sets(u32 space)
{
    struct bench b = bench_new(space, 32);
    struct notes *n = notes_of(&b.touch);
    static struct resident_run was = { .first = { .start = 1, .launch = 1 }, .count = 1 };
    struct race_cta *slots = b.cta;
    slots->residents = &was;
    slots->nresidents = 1;
    slots->start = slots->base = 1;
    slots->exact = true;
    b.race->slot[0] = slots;
    u32 last[READERS][LANES] = { 0 }, wrong = 0, most = 0, differ = 0;
    u64 rng = 7;
    struct prior set = { 0, 0, 0 }, twin = { 0, 0, 0 };
    for (u32 k = 0; k < 6000; k++) {
        struct race_warp *w = &b.cta->warp[(rand_next(&rng) >> 40) % READERS];
        u32 lanes = (u32)(rand_next(&rng) >> 30) | 1u << (rand_next(&rng) >> 40 & 31);
        if (rand_next(&rng) >> 40 & 1) lanes = 1u << __builtin_ctz(lanes);
        if (rand_next(&rng) >> 40 & 1) w->now++;
        b.touch.w = w;
        b.touch.site = (u32)(rand_next(&rng) >> 40) & 3;
        bool one = !(lanes & (lanes - 1));
        u64 me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
        for (u32 l = 0; l < LANES; l++)
            if (lanes >> l & 1) last[w->id][l] = w->now;
        u32 x = set_add(&b.touch, set, me, one ? 0 : lanes, true),
            y = set_add(&b.touch, twin, me, one ? 0 : lanes, true);
        differ += x != y;
        set_unref(n, set.site, false);
        set_unref(n, twin.site, false);
        set = (struct prior){ word_of_set(w->now), x, 0 };
        twin = (struct prior){ word_of_set(w->now), y, 0 };
        most = MAX_OF(most, set_count(n, x));
        for (u32 r = 0; k % 16 == 0 && r < READERS; r++)
            for (u32 l = 0; l < LANES; l++) wrong += read_at(n, x, r, l) != last[r][l];
    }
    UNIT_EQ(wrong, 0);
    UNIT_EQ(differ, 0);
    UNIT(most < 2 * READERS * LANES + 128);
    set_unref(n, set.site, false);
    set_unref(n, twin.site, false);
    set_memos_drop(b.cta);
    if (space == SPACE_GLOBAL) UNIT_EQ(n->set.n, n->set.nspare);
    slots->residents = NULL;
    bench_end(&b);
}

/* ---- no number is left ---- */

/* Ends this process. */
static void use_up(void)
{
    struct bench b = bench_new(SPACE_GLOBAL, 1);
    b.race->era->notes.form[FORM_WORDS].chunks = 2;
    b.race->era->notes.form[FORM_WORDS].most = 2 * POOL_CHUNK;
    for (u32 n = 0; n < 2 * POOL_CHUNK; n++) {
        u32 x = 0;
        elements_record(&b.touch, &x, 0, 4, race_stamp(b.touch.w, 0, ES_ONE, WHO_ONE), 1);
    }
    exit(0);
}

static void end_of_numbers(void)
{
    int out[2], status;
    char text[256] = { 0 };
    UNIT(!pipe(out));
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        dup2(out[1], 2);
        use_up();
    }
    close(out[1]);
    UNIT(read(out[0], text, sizeof text - 1) > 0);
    UNIT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    UNIT_EQ(WEXITSTATUS(status), 2);
    UNIT_HAS(text, "lockstep: out of memory: 65536 bytes for the race check");
}

int main(void)
{
    for (u32 warps = 1; warps <= 32; warps *= 32) {
        compare(SPACE_SHARED, warps, 3, 30000, 1u << FORM_FULL | 1u << FORM_HALVES | 1u << FORM_BYTES);
        compare(SPACE_GLOBAL, warps, 3, 30000, 1u << FORM_WORDS | 1u << FORM_HALVES | 1u << FORM_BYTES);
        compare(SPACE_GLOBAL, warps, 1000000, 200000, 1u << FORM_WORDS | 1u << FORM_HALVES | 1u << FORM_BYTES);
    }
    sets(SPACE_SHARED);
    sets(SPACE_GLOBAL);
    end_of_numbers();
    return unit_done();
}
