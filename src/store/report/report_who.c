/* Who, in words: a set of threads as ranges, or as what their numbers have in common. */
#include "report/entry.h"
#include <inttypes.h>

static u32 step_join(u32 step, u32 apart)
{
    while (apart) {
        u32 t = step % apart;
        step = apart;
        apart = t;
    }
    return step;
}

static void box_add(struct box *b, const u32 at[3])
{
    for (int i = 0; i < 3; i++) {
        if (!b->count) {
            b->min[i] = b->max[i] = at[i];
            continue;
        }
        u32 apart = at[i] > b->min[i] ? at[i] - b->min[i] : b->min[i] - at[i];
        b->step[i] = apart ? step_join(b->step[i], apart) : b->step[i];
        b->min[i] = MIN_OF(b->min[i], at[i]);
        b->max[i] = MAX_OF(b->max[i], at[i]);
    }
    b->count++;
}

bool box_exact(const struct box *b)
{
    u64 n = 1;
    for (int i = 0; i < 3; i++) n *= b->step[i] ? (b->max[i] - b->min[i]) / b->step[i] + 1 : 1;
    return n == b->count;
}

static void unfold(u64 linear, const u32 shape[3], u32 at[3])
{
    at[0] = (u32)(linear % shape[0]);
    at[1] = (u32)(linear / shape[0] % shape[1]);
    at[2] = (u32)(linear / shape[0] / shape[1]);
}

/* 64 bits of the set from bit `at`; pieces are multiples of 64 bits, so a word comes from at most two of them. */
static u64 bits_at(const struct thread_set *s, u64 at)
{
    u64 word = 0;
    for (int k = 0; k < 2; k++) {
        u64 a = (at & ~63ull) + (u64)k * 64, shift = at & 63;
        const u64 *p = a < SET_MOST ? s->piece[a / SET_PIECE] : NULL;
        u64 w = p ? p[a % SET_PIECE / 64] : 0;
        word |= k ? (shift ? w << (64 - shift) : 0) : w >> shift;
    }
    return word;
}

static void cta_bits(const struct thread_set *s, u64 cta, u64 bits[SET_CTA_MOST / 64])
{
    for (u64 i = 0; i < s->threads; i += 64) {
        u64 w = bits_at(s, cta * s->threads + i), left = s->threads - i;
        bits[i / 64] = left < 64 ? w & ((1ull << left) - 1) : w;
    }
}

/* No thread of this CTA can be in the set: the pieces that would hold it were never made. */
static bool piece_missing(const struct thread_set *s, u64 cta)
{
    u64 a = cta * s->threads, b = a + s->threads - 1;
    return !s->piece[a / SET_PIECE] && (b / SET_PIECE >= SET_PIECES || !s->piece[b / SET_PIECE]);
}

bool who_sum(const struct thread_set *s, struct crowd *c)
{
    *c = (struct crowd){ .same = true, .consecutive = true };
    if (!s->piece || !s->threads) return false;
    u64 first[SET_CTA_MOST / 64] = { 0 }, bits[SET_CTA_MOST / 64] = { 0 }, expect = 0;
    for (u64 cta = 0; cta < s->ctas && cta * s->threads < SET_MOST; cta++) {
        if (piece_missing(s, cta)) continue;
        cta_bits(s, cta, bits);
        u32 at[3], in_cta = 0;
        unfold(cta, s->nctaid, at);
        for (u64 i = 0; i < s->threads; i += 64)
            EACH_SET64 (k, bits[i / 64]) {
                u64 t = i + k;
                u32 thread[3];
                unfold(t, s->ntid, thread);
                if (!c->total) {
                    memcpy(c->first_cta, at, sizeof at);
                    memcpy(c->first_thread, thread, sizeof thread);
                } else if (cta * s->threads + t != expect) {
                    c->consecutive = false;
                }
                expect = cta * s->threads + t + 1;
                memcpy(c->last_cta, at, sizeof at);
                memcpy(c->last_thread, thread, sizeof thread);
                c->total++;
                in_cta++;
                box_add(&c->grid, (const u32[3]){ at[0] * s->ntid[0] + thread[0], at[1] * s->ntid[1] + thread[1],
                                                  at[2] * s->ntid[2] + thread[2] });
                if (!c->ctas.count) box_add(&c->threads, thread);
            }
        if (!in_cta) continue;
        if (!c->ctas.count)
            memcpy(first, bits, sizeof first);
        else if (memcmp(first, bits, sizeof first))
            c->same = false;
        box_add(&c->ctas, at);
    }
    return c->total;
}

/* How many coordinates a launch of this shape needs: "31" for a line, "(3,1)" for a plane. */
static int axes(const u32 shape[3]) { return shape[2] > 1 ? 3 : shape[1] > 1 ? 2 : 1; }

static void box_text(const struct box *b, const u32 shape[3], struct text *out)
{
    int n = axes(shape);
    text_add(out, n > 1 ? "(" : "");
    for (int i = 0; i < n; i++) {
        if (i) text_add(out, ",");
        text_add(out, "%u", b->min[i]);
        if (b->max[i] > b->min[i]) text_add(out, "..%u", b->max[i]);
        if (b->step[i] > 1) text_add(out, " step %u", b->step[i]);
    }
    text_add(out, n > 1 ? ")" : "");
}

static void point_text(const u32 p[3], const u32 shape[3], struct text *out)
{
    box_text(&(struct box){ .min = { p[0], p[1], p[2] }, .max = { p[0], p[1], p[2] } }, shape, out);
}

/* The threads of one CTA. */
static void threads_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    u64 n = c->threads.count;
    if (n == s->threads && n > 1) {
        text_add(out, "all %" PRIu64 " threads", n);
    } else if (n == 2 && axes(s->ntid) == 1 && c->threads.step[0] > 1) {
        text_add(out, "threads %u and %u", c->threads.min[0], c->threads.max[0]);
    } else if (box_exact(&c->threads)) {
        text_add(out, n == 1 ? "thread " : "threads ");
        box_text(&c->threads, s->ntid, out);
    } else {
        text_add(out, "%" PRIu64 " threads within ", n);
        box_text(&c->threads, s->ntid, out);
    }
}

static void ctas_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    if (c->ctas.count == 1) {
        text_add(out, "block ");
        point_text(c->first_cta, s->nctaid, out);
    } else if (c->ctas.count == s->ctas && !s->partial) {
        text_add(out, "every block");
    } else if (box_exact(&c->ctas)) {
        text_add(out, "blocks ");
        box_text(&c->ctas, s->nctaid, out);
    } else {
        text_add(out, "%" PRIu64 " blocks within ", c->ctas.count);
        box_text(&c->ctas, s->nctaid, out);
    }
}

/* Threads of several CTAs, not the same ones in each: by their numbers in the grid where those are a box of two or
 * three axes. */
static void spread_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    const u32 shape[3] = { s->nctaid[0] * s->ntid[0], s->nctaid[1] * s->ntid[1], s->nctaid[2] * s->ntid[2] };
    if (axes(shape) > 1 && box_exact(&c->grid)) {
        text_add(out, "threads ");
        box_text(&c->grid, shape, out);
        text_add(out, " of the grid (%" PRIu64 " threads in %" PRIu64 " blocks)", c->total, c->ctas.count);
        return;
    }
    text_add(out, "%" PRIu64 " %sthreads in %" PRIu64 " blocks, from ", c->total, c->consecutive ? "consecutive " : "",
             c->ctas.count);
    point_text(c->first_thread, s->ntid, out);
    text_add(out, " of block ");
    point_text(c->first_cta, s->nctaid, out);
    text_add(out, " to ");
    point_text(c->last_thread, s->ntid, out);
    text_add(out, " of block ");
    point_text(c->last_cta, s->nctaid, out);
}

/* "threads with t mod 8 != 0": what the numbers of the threads have in common when they are no range. Tried for whole
 * CTAs only, and for one or all but one residue: more than that nobody reads. */
static bool residue_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    u64 bits[SET_CTA_MOST / 64] = { 0 };
    u64 cta = c->first_cta[0] + (u64)s->nctaid[0] * (c->first_cta[1] + (u64)s->nctaid[1] * c->first_cta[2]);
    cta_bits(s, cta, bits);
    for (u32 m = 2; m <= 64 && m * 2 <= s->threads; m++) {
        u64 in = 0, outside = 0;
        for (u32 t = 0; t < s->threads; t++) *(bits[t / 64] >> t % 64 & 1 ? &in : &outside) |= 1ull << t % m;
        if (in & outside) continue;
        bool one = !(in & (in - 1));
        if (!one && outside & (outside - 1)) continue;
        text_add(out, "threads with t mod %u %s %u", m, one ? "==" : "!=", (u32)__builtin_ctzll(one ? in : outside));
        return true;
    }
    return false;
}

static void set_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    if (!c->same) {
        spread_text(s, c, out);
        return;
    }
    bool whole = c->threads.count == s->threads, exact = box_exact(&c->threads);
    if (exact || !residue_text(s, c, out)) threads_text(s, c, out);
    text_add(out, " of ");
    ctas_text(s, c, out);
    if (c->ctas.count > 1 && (c->threads.count == 1 || whole)) /* how many they are has been said */
        text_add(out, " (%" PRIu64 " blocks)", c->ctas.count);
    else if (c->ctas.count > 1)
        text_add(out, " (%" PRIu64 " threads in each of %" PRIu64 " blocks)", c->threads.count, c->ctas.count);
    else if (c->total > 2 && !whole && exact)
        text_add(out, " (%" PRIu64 " threads)", c->total);
}

void one_text(const struct finding *f, const u32 cta[3], u32 thread, struct text *out)
{
    u32 at[3];
    if (f->ntid[0]) {
        unfold(thread, f->ntid, at);
        text_add(out, "thread ");
        point_text(at, f->ntid, out);
    } else {
        text_add(out, "thread %u", thread);
    }
    text_add(out, " of block ");
    point_text(cta, f->nctaid, out);
    text_add(out, " (warp %u, lane %u)", thread / 32, thread % 32);
}

void who_text(const struct entry *e, struct text *out)
{
    struct crowd c;
    if (who_sum(&e->who, &c))
        set_text(&e->who, &c, out);
    else if (e->f.nlanes)
        text_add(out, "thread %u of block (%u,%u,%u)", e->f.thread[e->first_lane], e->f.cta[0], e->f.cta[1],
                 e->f.cta[2]);
    if (e->who.partial) text_add(out, ", and more in other launches or beyond what is counted exactly");
}

static void tie_text(const struct tie *t, struct text *out)
{
    u64 d = t->apart < 0 ? 0 - (u64)t->apart : (u64)t->apart;
    bool fixed = !t->varies && d && !t->other_cta && t->count > 1;
    if (fixed) text_add(out, "; always %" PRIu64 " thread%s %s", d, plural(d), t->apart < 0 ? "below" : "above");
    const char *const where[] = { t->same_warp ? "the same warp" : NULL,
                                  t->same_cta ? "other warps of the block" : NULL,
                                  t->other_cta ? "other blocks" : NULL };
    const char *sign = fixed ? ", in " : "; in ";
    for (u32 i = 0; i < COUNT_OF(where); i++)
        if (where[i]) {
            text_add(out, "%s%s", sign, where[i]);
            sign = " and in ";
        }
}

void against_text(const struct entry *e, struct text *out)
{
    struct crowd c;
    if (!who_sum(&e->against, &c)) return;
    set_text(&e->against, &c, out);
    tie_text(&e->tie, out);
}
