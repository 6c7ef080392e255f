/* What a thread starts on tensor memory: tcgen05.cp and tcgen05.commit (9.7.16.9, 9.7.16.12). Each is a flight
 * (flight.h); those of copies and products are done when a commit after them is. */
#include "units/bulk.h"
#include "sim/asked.h"
#include "units/attachments.h"
#include "sim/cluster.h"
#include "lanes/descriptor.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/sim_run.h"
#include "units/tmem_async.h"

const struct tmem_work *tmem_work_of(const struct flight *f) { return f->end == FLIGHT_TENSOR ? f->work : NULL; }

static void work(struct flight *f)
{
    struct tmem_work *x = f->work;
    if (x) x->flight = f;
    if (x && x->run) x->run(x);
}

/* ---- shared memory that is read ---- */

void tmem_mark(struct tmem_reads *r, const struct matrix *m, enum tensor_type t, u32 first, u32 lines, u32 k)
{
    u32 each = 128 / tensor_bits(t), along = m->by_k ? (first + lines + each - 1) / each : matrix_across(m, t, k),
        skip = m->by_k ? first / each : 0, from = m->by_k ? 0 : first, to = m->by_k ? k : first + lines;
    for (u32 l = from; l < to; l++)
        for (u32 c = skip; c < along; c++) {
            u32 at = matrix_chunk(m, l, c) / CHUNK_BYTES;
            r->chunk[at / 64] |= 1ull << at % 64;
        }
}

/* The marked chunks become pieces of the flight, runs of neighbours. */
static void add_pieces(struct flight *f, const struct tmem_reads *r)
{
    struct cta *c = f->from_cta;
    for (u32 at = 0; at < WINDOW_BYTES / CHUNK_BYTES; at++) {
        u64 offset = (u64)at * CHUNK_BYTES;
        if (!r->chunk[at / 64]) at |= 63;
        if (!(r->chunk[at / 64] >> at % 64 & 1) || offset + CHUNK_BYTES > c->launch->shared_total) continue;
        flight_add(f, (struct flight_move){ .from = c->shared + offset,
                                            .from_at = cluster_base(c->rank) + offset,
                                            .bytes = CHUNK_BYTES });
    }
}

void tmem_issue(struct warp *w, const struct insn *i, u32 lane, struct tmem_work *x, const struct tmem_reads *reads)
{
    for (u32 k = 0; k < x->ctas; k++) { /* the shared memory of each is read; the first flight does the work */
        struct flight *f = flight_new(w, i, lane, FLIGHT_TENSOR);
        if (!f) {
            if (!k) base_free(x);
            return;
        }
        f->from_space = SP_SHARED;
        f->from_cta = x->cta[k];
        f->act = work;
        if (!k) f->work = x;
        if (observed(w->cta->launch) || x->cta[k]->attached[AT_proxies]) add_pieces(f, reads);
        flight_issue(f);
    }
}

/* ---- copies ---- */

struct tmem_copied {
    struct tmem_work work; /* first */
    u32 aux, at;           /* of the operation; the address */
    u64 descriptor;
};

/* 16 bytes of a row as they lie in tensor memory: 6- and 4-bit elements become bytes. */
static void decompress(u32 aux, const char *from, u32 out[4])
{
    u8 v[17] = { 0 }, to[16];
    memcpy(v, from, CHUNK_BYTES);
    for (u32 e = 0; e < 16; e++)
        to[e] = aux & TMEM_COPY_B6   ? (u8)((u32)(v[6 * e / 8] | v[6 * e / 8 + 1] << 8) >> 6 * e % 8 & 63)
                : aux & TMEM_COPY_B4 ? (u8)((v[e / 2] >> e % 2 * 4 & 15) << 2)
                                     : v[e];
    memcpy(out, to, sizeof to);
}

/* Rows of the matrix in shared memory; its chunks a row; how many copies of each, and their first lane. */
static u32 copy_rows(u32 shape)
{
    return shape == COPY_4X256B ? 4 : shape >= COPY_64X128B_02_13 ? (shape == COPY_32X128B ? 32 : 64) : 128;
}
static u32 copy_chunks(u32 shape) { return shape == COPY_128X256B || shape == COPY_4X256B ? 2 : 1; }
static u32 copy_lane(u32 shape, u32 row, u32 nth)
{
    switch (shape) {
    case COPY_4X256B: return 32 * row;
    case COPY_64X128B_02_13: return row + 64 * nth;
    case COPY_64X128B_01_23: return row % 32 + row / 32 * 64 + 32 * nth;
    case COPY_32X128B: return row + 32 * nth;
    default: return row;
    }
}
static u32 copy_times(u32 shape) { return shape == COPY_32X128B ? 4 : shape >= COPY_64X128B_02_13 ? 2 : 1; }

static void copy(struct tmem_work *work)
{
    struct tmem_copied *x = (struct tmem_copied *)work;
    struct matrix m = matrix_of_tcgen05(x->descriptor, false);
    u32 shape = x->aux & TMEM_COPY;
    for (u32 k = 0; k < work->ctas; k++) {
        struct tmem *t = tmem_in(work->cta[k]);
        for (u32 row = 0; row < copy_rows(shape); row++)
            for (u32 c = 0; c < copy_chunks(shape); c++)
                for (u32 nth = 0; nth < copy_times(shape); nth++) {
                    u32 lane = (x->at >> 16) + copy_lane(shape, row, nth), column = (x->at & 0xffff) + 4 * c, v[4];
                    decompress(x->aux, work->cta[k]->shared + matrix_chunk(&m, row, c), v);
                    memcpy(&t->cell[lane][column], v, sizeof v);
                    if (t->origin) memset(&t->origin[lane][column], 0, sizeof v);
                }
    }
}

static void issue_copy(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 shape = o->aux & TMEM_COPY, rows = copy_rows(shape), chunks = copy_chunks(shape);
    struct tmem_copied *x = base_need(sizeof *x);
    *x = (struct tmem_copied){ .aux = o->aux,
                               .at = (u32)bulk_source(w, R, i, 0, 4, lane),
                               .descriptor = bulk_source(w, R, i, 1, 8, lane) };
    struct matrix m = matrix_of_tcgen05(x->descriptor, false);
    x->work.ctas = tmem_ctas(w, o->aux & TMEM_PAIR, x->work.cta);
    x->work.run = copy;
    x->work.wrote = (struct tmem_area){ .lane = x->at >> 16,
                                        .lanes = shape == COPY_4X256B ? 97 : TMEM_LANES,
                                        .column = x->at & 0xffff,
                                        .columns = 4 * chunks };
    bool ok = asked->umma_check_matrix(w, i, lane, "the source", x->descriptor, &m, TENSOR_S8, 0, rows, 16 * chunks);
    for (u32 k = 0; k < x->work.ctas && ok; k++)
        ok = asked->tmem_check_area(w, i->op, 1u << lane, x->work.cta[k], x->work.wrote, "writes");
    if (!ok) {
        base_free(x);
        return;
    }
    struct tmem_reads reads = { 0 };
    tmem_mark(&reads, &m, TENSOR_S8, 0, rows, 16 * chunks);
    tmem_issue(w, i, lane, &x->work, &reads);
}

int run_tmem_cp(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) issue_copy(w, R, i, l);
    return 0;
}

/* ---- commits ---- */

static void commit(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access at;
    if (!(o->aux & TMEM_PAIR ? bulk_check_peer : bulk_check)(&at, w, R, i, 0, lane, 8) || at.space[lane] != SP_SHARED)
        return;
    u32 ranks = 1u << cluster_rank(at.addr[lane]);
    if (lop_src(o, SRC_COMMIT_CTAS)->kind != O_NONE)
        ranks = (u32)bulk_source(w, R, i, SRC_COMMIT_CTAS, 2, lane) & ((1u << w->cta->cluster->size) - 1);
    for (; ranks; ranks &= ranks - 1) {
        if (!bulk_place_live(&at, (u32)__builtin_ctz(ranks), lane)) continue;
        struct flight *f = flight_new(w, i, lane, FLIGHT_MBARRIER);
        if (!f) return;
        f->arrives = true;
        f->mbarrier = at.ptr[lane];
        f->mbarrier_at = at.addr[lane];
        f->mbarrier_cta = cluster_cta(w->cta, at.addr[lane]);
        flight_issue(f);
    }
}

int run_tmem_commit(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) commit(w, R, i, l);
    return 0;
}
