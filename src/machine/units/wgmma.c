/* wgmma: asynchronous products of a warpgroup (9.7.15).
 *
 * The four warps of a warpgroup have 16 rows of the 64 each, and nothing of one warp's part depends on another's
 * registers: so each warp does its own. A product is done at the latest moment that the program allows, when the last
 * warp waits for its group, and then reads shared memory and the accumulators. What touches its registers before is
 * reported (wgmma_check.c), and finds what was there. tests/cases/programs/matmul.cu lives by this.
 *
 * On a card a product is one operation of all four warps: none of them gets behind its wait before all have issued it
 * and its operands have been read. So a warp that has waited is held back until the other three have waited as well,
 * and one thread may release a buffer for its whole warpgroup, as kernels do (tests/cases/programs/gemm.cu). */
#include "units/wgmma.h"
#include "sim/asked.h"
#include "sim/attach.h"
#include "sim/cluster.h"
#include "lanes/descriptor.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "lanes/product.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/wait.h"
#include <stdlib.h>

enum { ROWS = 16, BLOCK = TENSOR_MOST, MOST_K = 64 }; /* of a warp; columns at once; of b, in words */

/* The registers of a frame, in whatever version of its code it is. */
struct registers {
    const struct code *code;
    char *R;
    struct planes *planes; /* NULL: none */
};

/* ---- operands ---- */

/* a of a warp: from shared memory, or from its registers when the product was issued. */
static void load_a(const struct warp *w, const struct wgmma *p, const struct mma *f, u32 *out)
{
    u32 k = mma_words(f), turn = f->negate_a ? tensor_sign((enum tensor_type)f->a) : 0;
    if (f->a_shared) {
        struct matrix m = matrix_of(p->a_at, f->a_cols);
        matrix_load(&m, w->cta->shared, (enum tensor_type)f->a, w->id % 4 * ROWS, ROWS, k, turn, out);
        return;
    }
    u32 each = mma_each((enum tensor_type)f->a), bits = each == 1 ? 32 : tensor_bits((enum tensor_type)f->a);
    for (u32 reg = 0; reg < f->na; reg++) {
        struct mma_place at = mma_place(f, OPERAND_A, 0, reg, 0);
        for (u32 l = 0; l < LANES; l++)
            for (u32 e = 0; e < each; e++)
                out[(at.row + l / 4) * k + at.col + l % 4 * each + e] =
                    ((p->a[reg][l] >> e * bits & (u32)low_bits(bits))) ^ turn;
    }
}

static u32 *register_of(const struct registers *r, const struct lop *o, u32 reg)
{
    const struct opnd *d = lop_dst(o, reg);
    return d->kind == O_REG ? (u32 *)(void *)SLOT(r->R, r->code->reg[d->reg].slot) : NULL;
}

/* Two registers of 32 bits, x and y, have eight rows of eight columns: a lane has two neighbours of a row. */
static void take_pair(const u32 *restrict x, const u32 *restrict y, u32 columns, u32 *restrict c)
{
    for (u32 row = 0; row < 8; row++)
        for (u32 q = 0; q < 4; q++) {
            c[row * columns + 2 * q] = x[4 * row + q];
            c[row * columns + 2 * q + 1] = y[4 * row + q];
        }
}
static void give_pair(u32 *restrict x, u32 *restrict y, u32 columns, const u32 *restrict c)
{
    for (u32 row = 0; row < 8; row++)
        for (u32 q = 0; q < 4; q++) {
            x[4 * row + q] = c[row * columns + 2 * q];
            y[4 * row + q] = c[row * columns + 2 * q + 1];
        }
}

/* accumulators() for all lanes and registers of 32 bits; false: it is another case. */
static bool accumulator_pairs(const struct registers *r, const struct lop *o, const struct mma *f, u32 lanes, u32 first,
                              u32 columns, u32 *c, bool store)
{
    if (f->d == TENSOR_F16 || lanes != ALL_LANES) return false;
    for (u32 reg = first / 2; reg < (first + columns) / 2; reg++)
        if (lop_dst(o, reg)->kind != O_REG) return false;
    for (u32 reg = first / 2; reg < (first + columns) / 2; reg += 2) {
        u32 *x = register_of(r, o, reg), *y = register_of(r, o, reg + 1);
        u32 *at = c + (reg / 2 % 2 * 8) * columns + reg / 4 * 8 - first;
        if (store)
            give_pair(x, y, columns, at);
        else
            take_pair(x, y, columns, at);
    }
    return true;
}

/* Moves accumulators of `columns` columns from `first` on between registers and words. */
static void accumulators(const struct registers *r, const struct lop *o, const struct mma *f, u32 lanes, u32 first,
                         u32 columns, u32 *c, bool store)
{
    bool half = f->d == TENSOR_F16;
    u32 each = half ? 2 : 1, per = half ? 2 : 4; /* elements of a register; registers of eight columns */
    if (accumulator_pairs(r, o, f, lanes, first, columns, c, store)) return;
    for (u32 reg = first / 8 * per; reg < (first + columns) / 8 * per; reg++) {
        struct mma_place at = mma_place(f, OPERAND_D, 0, reg, 0);
        u32 *v = register_of(r, o, reg);
        u32 *to = c + at.row * columns + at.col - first;
        for (u32 l = 0; l < LANES; l++) {
            u32 *x = to + l / 4 * columns + l % 4 * 2;
            if (!store) {
                u32 word = v ? v[l] : 0;
                x[0] = half ? word & 0xffff : word;
                if (each == 2) x[1] = word >> 16;
            } else if (v && lanes >> l & 1)
                v[l] = half ? x[0] | x[1] << 16 : x[0];
        }
    }
}

/* ---- undefined bits ---- */

/* The origin of an undefined byte of a line, + 1; 0: there is none. `count` chunks of it. */
static u32 line_origin(const struct warp *w, const struct matrix *m, u32 line, u32 count)
{
    for (u32 k = 0; k < count; k++) {
        u32 at = m->by_k ? matrix_chunk(m, k, line / 8) + line % 8 * 2 : matrix_chunk(m, line, k);
        u32 bytes = m->by_k ? 2 : CHUNK_BYTES;
        at += (u32)w->init_shared->from;
        if (shadow_defined(w->init_shared, at, bytes)) continue;
        for (u32 j = 0; j < bytes; j += 2) {
            struct taint t = shadow_read(w->init_shared, at + j, 2);
            if (t.undef) return t.origin + 1;
        }
    }
    return 0;
}

/* Chunks of a line, or k where a chunk has several lines. */
static u32 chunks_of(const struct matrix *m, enum tensor_type t, u32 elements)
{
    return m->by_k ? elements : elements * tensor_bits(t) / 128;
}

/* All that lies between the first and the last of some lines is defined; lines that are may be among others that are
 * not. */
static bool lines_defined_maybe(const struct warp *w, const struct matrix *m, u32 line, u32 lines, u32 across)
{
    const struct shadow *s = w->init_shared;
    u32 from, end;
    return matrix_span(m, line, lines, across, &from, &end) && end <= s->bytes &&
           shadow_defined_run(s, s->from + from, end - from);
}

/* Which rows of a and columns of b are undefined; false: none. */
static bool undefined_lines(const struct warp *w, const struct wgmma *p, const struct mma *f, u32 *row, u32 *col)
{
    struct matrix a = matrix_of(p->a_at, f->a_cols), b = matrix_of(p->b_at, f->b_rows);
    u32 kept = (u32)f->k >> f->sparse, found = 0;
    if (f->a_shared &&
        lines_defined_maybe(w, &a, w->id % 4 * ROWS, ROWS, chunks_of(&a, (enum tensor_type)f->a, kept)) &&
        lines_defined_maybe(w, &b, 0, f->n, chunks_of(&b, (enum tensor_type)f->b, f->k))) {
        memset(row, 0, ROWS * sizeof *row);
        memset(col, 0, f->n * sizeof *col);
        return false;
    }
    for (u32 r = 0; r < ROWS; r++)
        found |= row[r] = f->a_shared
                              ? line_origin(w, &a, w->id % 4 * ROWS + r, chunks_of(&a, (enum tensor_type)f->a, kept))
                              : p->row_origin[r];
    for (u32 n = 0; n < f->n; n++) found |= col[n] = line_origin(w, &b, n, chunks_of(&b, (enum tensor_type)f->b, f->k));
    return found;
}

static void undefined_results(const struct registers *r, const struct wgmma *p, const struct lop *o,
                              const struct mma *f, const u32 *row, const u32 *col)
{
    bool half = f->d == TENSOR_F16;
    for (u32 reg = 0; reg < f->nd; reg++) {
        const struct opnd *d = lop_dst(o, reg);
        struct taint t[LANES];
        u32 any = 0;
        if (d->kind != O_REG) continue;
        u32 slot = r->code->reg[d->reg].slot;
        for (u32 l = 0; l < LANES; l++) {
            struct taint c = p->add ? plane_taint(r->planes, slot, l) : (struct taint){ 0 };
            t[l] = (struct taint){ 0 };
            for (u32 e = 0; e < (half ? 2u : 1u); e++) {
                struct mma_place at = mma_place(f, OPERAND_D, l, reg, e);
                u64 bits = half ? 0xffffull << 16 * e : low_bits(32);
                u32 from = row[at.row] ? row[at.row] : col[at.col];
                if (!from && !(c.undef & bits)) continue;
                t[l].undef |= bits;
                t[l].made |= bits;
                t[l].origin = from ? from - 1 : c.origin;
            }
            any |= t[l].undef != 0;
        }
        if (any)
            asked->planes_put(r->planes, slot, p->lanes, t);
        else
            asked->planes_clear(r->planes, slot, p->lanes);
    }
}

/* ---- a product ---- */

static void complete(struct warp *w, const struct registers *r, const struct wgmma *p)
{
    const struct lop *o = &p->low->op[p->op];
    const struct mma *f = &p->low->mma[o->product];
    struct matrix m = matrix_of(p->b_at, f->b_rows);
    u32 a[ROWS * MOST_K], b[BLOCK * MOST_K], c[ROWS * BLOCK];
    u32 k = f->sparse ? f->k : mma_words(f), turn = f->negate_b ? tensor_sign((enum tensor_type)f->b) : 0;
    if (r->planes && w->init_shared) {
        u32 row[ROWS], col[256];
        if (undefined_lines(w, p, f, row, col) || r->planes->dirty) undefined_results(r, p, o, f, row, col);
    }
    load_a(w, p, f, a);
    for (u32 n = 0; n < f->n; n += BLOCK) {
        u32 columns = MIN_OF((u32)BLOCK, f->n - n);
        matrix_load(&m, w->cta->shared, (enum tensor_type)f->b, n, columns, k, turn, b);
        if (p->add)
            accumulators(r, o, f, p->lanes, n, columns, c, false);
        else
            memset(c, 0, sizeof c);
        mma_multiply(f, columns, p->meta, NULL, a, b, c, c);
        accumulators(r, o, f, p->lanes, n, columns, c, true);
    }
    w->changed = 1;
}

/* ---- what observers see of it ---- */

enum { CHUNKS = WINDOW_BYTES / CHUNK_BYTES };

struct chunks {           /* of a product */
    u32 first, end;       /* the words below that it has some in */
    u64 has[CHUNKS / 64]; /* bit k of word w: chunk 64 w + k */
};

/* The chunks of an operand, some of its lines: rows of a, or columns of b. A chunk along them has eight. */
static void mark_chunks(u64 descriptor, bool by_k, enum tensor_type t, u32 line, u32 lines, u32 elements,
                        struct chunks *c)
{
    struct matrix m = matrix_of(descriptor, by_k);
    u32 along = elements * tensor_bits(t) / 128;
    for (u32 l = by_k ? 0 : line; l < (by_k ? elements : line + lines); l++)
        for (u32 k = by_k ? line / 8 : 0; k < (by_k ? (line + lines) / 8 : along); k++) {
            u32 at = matrix_chunk(&m, l, k) / CHUNK_BYTES;
            c->has[at / 64] |= 1ull << at % 64;
            c->first = MIN_OF(c->first, at / 64);
            c->end = MAX_OF(c->end, at / 64 + 1);
        }
}

/* The chunks as pieces of a flight, neighbours together. */
static void add_chunks(struct flight *x, const struct chunks *c, const struct cta *cta)
{
    u64 most = cta->launch->shared_total;
    for (u32 w = c->first; w < c->end; w++)
        for (u64 left = c->has[w], run; left; left &= ~run) {
            u32 at = (u32)__builtin_ctzll(left), n = ~(left >> at) ? (u32)__builtin_ctzll(~(left >> at)) : 64;
            run = low_bits(n) << at;
            u64 from = ((u64)w * 64 + at) * CHUNK_BYTES, bytes = (u64)n * CHUNK_BYTES;
            if (from + CHUNK_BYTES > most) return;
            if (from + bytes > most) bytes = (most - from) / CHUNK_BYTES * CHUNK_BYTES;
            flight_add(x, (struct flight_move){ .from = cta->shared + from,
                                                .from_at = cluster_base(cta->rank) + from,
                                                .bytes = (u32)bytes });
        }
}

/* The bytes of shared memory that a product reads, as a flight that is issued, or done. Of a each warp reads its own
 * rows, and not before it has issued the product itself (tests/facts/wgmma_rows.cu asks a card): so a warp may store
 * them, and issue the product, without meeting the others. b is everybody's: one warp tells it for all four, the one
 * that is the last to issue the product, and the first warp when it waits. */
static struct flight reads_of(struct warp *w, const struct wgmma *p, bool of_all)
{
    const struct mma *f = &p->low->mma[p->low->op[p->op].product];
    struct chunks all = { .first = CHUNKS / 64 };
    struct flight x = { .warp = w,
                        .low = p->low,
                        .op = p->op,
                        .lane = (u8)__builtin_ctz(p->lanes),
                        .end = FLIGHT_WGMMA,
                        .product = p->number,
                        .from_space = SP_SHARED,
                        .to_cta = w->cta,
                        .from_cta = w->cta };
    if (f->a_shared)
        mark_chunks(p->a_at, f->a_cols, (enum tensor_type)f->a, w->id % 4 * ROWS, ROWS, (u32)f->k >> f->sparse, &all);
    if (of_all) mark_chunks(p->b_at, f->b_rows, (enum tensor_type)f->b, 0, f->n, f->k, &all);
    add_chunks(&x, &all, w->cta);
    return x;
}

static void note_reads(struct warp *w, const struct wgmma *p, enum flight_moment moment, bool of_all)
{
    const struct cta *c = w->cta;
    bool watched = observed(c->launch), proxy = c->attached[AT_proxies] && moment == FLIGHT_ISSUED;
    if (likely(!watched && !proxy)) return;
    struct flight x = reads_of(w, p, of_all);
    if (proxy) ATTACH_EACH(x.from_cta->has, async_reads, x.from_cta, &x);
    if (watched) observe_flight(c->launch, &x, moment);
    base_free(x.move);
}

void wgmma_each_in_flight(struct cta *c, void (*tell)(struct warp *w, const struct flight *f))
{
    for (u32 n = 0; n < c->nwarps; n++) {
        struct wgmmas *s = wgmmas_of(c->warp[n]);
        for (u32 k = 0; s && k < s->n; k++) {
            struct flight x = reads_of(c->warp[n], &s->p[k], n % 4 == 3);
            tell(c->warp[n], &x);
            base_free(x.move);
        }
    }
}

/* ---- the instructions ---- */

/* A warp starts: it has none. */
static void wgmma_reset(struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    s->committed = s->n = s->count = s->done = s->due = s->met = s->nwrote = 0;
    s->fenced = false;
}

struct wgmmas *wgmmas_new(struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    if (s && s->n < s->cap) return s;
    u32 cap = s ? 2 * s->cap : 8;
    struct wgmmas *t = base_realloc(s, sizeof *t + cap * sizeof *t->p);
    if (!t) {
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for products in flight");
        return NULL;
    }
    if (!s) memset(t, 0, sizeof *t);
    t->cap = cap;
    attach_warp(w, AT_wgmma, t);
    return t;
}

/* The rows of a that undefined bits of its registers reach. */
static void undefined_a(const struct warp *w, const struct insn *i, const struct mma *f, struct wgmma *p)
{
    for (u32 reg = 0; reg < f->na && !f->a_shared; reg++) {
        u32 slot = insn_src(w->code, i, f->nc + reg)->slot;
        EACH_SET (l, plane_lanes(w->planes, slot)) {
            p->row_origin[mma_place(f, OPERAND_A, l, reg, 0).row] = plane_taint(w->planes, slot, l).origin + 1;
        }
    }
}

int run_wgmma(char *restrict R, const struct insn *i, struct warp *w)
{
    struct lowered *low = w->code->low;
    const struct mma *f = &low->mma[low->op[i->op].product];
    u32 lanes = active_lanes(w, R, i), n = f->nc;
    u64 a[LANES] = { 0 }, b[LANES], add[LANES];
    const struct insn_opnd *o = insn_src(w->code, i, n);
    if (!lanes) return 0;
    if (w->code->watch & WATCH_INIT && w->planes && w->planes->dirty) {
        if (f->a_shared) asked->init_use(w, i->op, USE_ADDRESS, o->slot, lanes, "the descriptor of a");
        asked->init_use(w, i->op, USE_ADDRESS, insn_src(w->code, i, n + wgmma_sources_a(f))->slot, lanes,
                        "the descriptor of b");
    }
    if (f->a_shared) lane_values(w->code, R, o->slot, o->cls, 8, a);
    n += wgmma_sources_a(f);
    o = insn_src(w->code, i, n++);
    lane_values(w->code, R, o->slot, o->cls, 8, b);
    struct wgmmas *s = wgmmas_new(w);
    if (!s) return EV_STOP;
    bool sound = asked->wgmma_check(w, i, f, lanes, a, b);
    s->count++;
    if (!sound) return 0;
    struct wgmma *p = &s->p[s->n];
    u32 first = (u32)__builtin_ctz(lanes);
    memset(p, 0, sizeof *p);
    p->low = low;
    p->op = i->op;
    p->group = s->committed;
    p->number = s->count;
    p->lanes = lanes;
    p->a_at = a[first];
    p->b_at = b[first];
    for (u32 reg = 0; reg < f->na && !f->a_shared; reg++) {
        o = insn_src(w->code, i, f->nc + reg);
        lane_values(w->code, R, o->slot, o->cls, 4, add);
        for (u32 l = 0; l < LANES; l++) p->a[reg][l] = (u32)add[l];
    }
    if (f->sparse) {
        o = insn_src(w->code, i, n++);
        lane_values(w->code, R, o->slot, o->cls, 4, p->meta);
    }
    p->add = f->scale == SCALE_ALWAYS;
    if (f->scale == SCALE_PREDICATE) {
        o = insn_src(w->code, i, n);
        p->add = *(const u32 *)(const void *)SLOT(R, o->slot) >> first & 1;
    }
    if (w->planes && w->planes->dirty) undefined_a(w, i, f, p);
    note_reads(w, p, FLIGHT_ISSUED, asked->wgmma_is_last(w));
    if (f->at_once) {
        complete(w, &(struct registers){ w->code, R, w->planes }, p);
        note_reads(w, p, FLIGHT_DONE, w->id % 4 == 0);
        s->done++;
    } else
        s->n++;
    return 0;
}

int run_wgmma_fence(char *restrict R, const struct insn *i, struct warp *w)
{
    struct wgmmas *s = wgmmas_new(w);
    if (s && active_lanes(w, R, i)) {
        s->fenced = true;
        s->nwrote = 0;
    }
    return s ? 0 : EV_STOP;
}

int run_wgmma_commit(char *restrict R, const struct insn *i, struct warp *w)
{
    struct wgmmas *s = wgmmas_new(w);
    if (s && active_lanes(w, R, i)) s->committed++;
    return s ? 0 : EV_STOP;
}

/* Whether it reads undefined memory, and the frame has nowhere to keep what comes of it. */
static bool needs_planes(const struct warp *w, const struct frame *fr, const struct wgmma *p)
{
    u32 row[ROWS], col[256];
    return w->init_shared && !fr->planes && fr->code->watch & WATCH_INIT && fr == w->cur->fr &&
           undefined_lines(w, p, &p->low->mma[p->low->op[p->op].product], row, col);
}

bool wgmma_ready(struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    struct frame *fr = w->base;
    struct registers r = { fr->code, fr->R, fr->planes };
    for (u32 k = 0; k < s->n; k++)
        if (!s->p[k].ready && needs_planes(w, fr, &s->p[k])) return false;
    for (u32 k = 0; k < s->n; k++) {
        if (!s->p[k].ready) complete(w, &r, &s->p[k]);
        s->p[k].ready = true;
    }
    return true;
}

int run_wgmma_wait(char *restrict R, const struct insn *i, struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    struct frame *fr = w->base; /* products of other functions are complete when they are issued */
    u32 due = 0, keep = (u32)w->code->low->op[i->op].off;
    if (!s || !active_lanes(w, R, i)) return 0;
    while (due < s->n && s->p[due].group + keep < s->committed) due++;
    for (u32 k = 0; k < due; k++)
        if (!s->p[k].ready && needs_planes(w, fr, &s->p[k])) return EV_DEOPT;
    s->waited = i->op;
    s->waited_in = w->code->low;
    s->done += due - s->due;
    s->due = due;
    return 0;
}

/* The products that a warp has waited for are done. */
static void finish(struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    const struct frame *fr = w->base;
    struct registers r = { fr->code, fr->R, fr->planes };
    for (u32 k = 0; k < s->due; k++) {
        if (!s->p[k].ready) complete(w, &r, &s->p[k]);
        note_reads(w, &s->p[k], FLIGHT_DONE, w->id % 4 == 0);
    }
    s->n -= s->due;
    memmove(s->p, s->p + s->due, s->n * sizeof *s->p);
    s->due = 0;
}

/* ---- the warps of a warpgroup ---- */

static bool is_behind(const struct warp *w, u32 done)
{
    return w->live && (!wgmmas_of(w) || wgmmas_of(w)->done < done);
}

u32 wgmma_behind(const struct warp *w)
{
    u32 behind = 0, first = w->id / 4 * 4;
    if (asked->wgmma_reported(w)) return 0;
    for (u32 k = 0; k < 4 && first + k < w->cta->nwarps; k++)
        if (is_behind(w->cta->warp[first + k], wgmmas_of(w)->done)) behind |= 1u << k;
    return behind;
}

void wgmma_recheck(struct warp *w)
{
    u32 first = w->id / 4 * 4;
    for (u32 k = first; k < first + 4 && k < w->cta->nwarps; k++) {
        struct warp *x = w->cta->warp[k];
        for (u32 j = 0; j < x->nsplit; j++)
            if (x->split[j].state == SPLIT_AT(group) && !wgmma_behind(x)) {
                finish(x);
                x->split[j].state = SPLIT_RUN;
            }
    }
}

/* The last warp has come: the products are complete for all of them. */
static void group_met(struct warp *w)
{
    struct warp *const *group = &w->cta->warp[w->id / 4 * 4];
    u32 warps = MIN_OF(w->cta->nwarps - w->id / 4 * 4, 4u);
    if (wgmmas_of(w)->met == wgmmas_of(w)->done && !wgmmas_of(w)->due) return;
    for (u32 k = 0; k < warps; k++)
        if (wgmmas_of(group[k])) {
            finish(group[k]);
            wgmmas_of(group[k])->met = wgmmas_of(w)->done;
        }
    if (observed(w->cta->launch))
        observe_sync(w->cta->launch,
                     &(struct sync_event){
                         .kind = SYNC_GROUP, .cta = w->cta, .warp = group[0], .mask = group[0]->live, .op = NONE });
}

/* After a wait: the split goes on when no warp of its warpgroup is behind it. */
bool wait_group(struct warp *w, struct split *s, const struct insn *i)
{
    if (!wgmmas_of(w)) return true;
    w->syncs++;
    wgmma_recheck(w);
    if (!wgmma_behind(w)) {
        group_met(w);
        return true;
    }
    split_waits(s, i, WAIT_group);
    return false;
}

static void wgmma_leave(struct warp *w, u32 mask) { asked->wgmma_exit(w, mask); }

const struct attachment attach_wgmma = { .warp_begin = wgmma_reset, .leave = wgmma_leave };
