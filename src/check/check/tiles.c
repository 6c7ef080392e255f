/* Tiles: how tensor copies have laid rows into shared memory, and products that read them in another layout.
 *
 * A tensor copy puts a row of its box beside the next, and exchanges units of 16 bytes by the swizzle of its map. A
 * product finds its rows by the layout of its descriptor. Where the two differ, nothing races and nothing is out of
 * bounds: the rows are mixed up. So each CTA keeps the last tensor copies into its shared memory, and a product asks of
 * every two chunks that are neighbours in its operand whether they were neighbours in the box: the next row of the same
 * eight, the next 16 bytes of the same row. Chunks of different copies are not compared, nor those that an ordinary
 * store has written since: who lays out a tile himself may do so as he likes.
 *
 * A pipeline fills the same buffers in the same way again and again, so a descriptor is looked at once for each
 * instruction, until the tiles change. */
#include "check/tiles.h"
#include "check/proxy.h"
#include "mem/tensor_map.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/attachments.h"

enum { TILES = 64, ASKED = 256 };
struct tiles {    /* of a CTA */
    u32 n;        /* how many, the oldest first */
    u32 version;  /* grows when they change */
    bool told;    /* one mistake has been reported */
    struct laid { /* a tile, and the copy that laid it */
        struct tile t;
        const struct lowered *low;
        u32 op;
    } of[TILES];
    struct { /* operands that were looked at */
        const struct lowered *low;
        u64 descriptor;
        u32 op, version;
    } asked[ASKED];
};

static struct tiles *tiles_of(const struct cta *c) { return c->attached[AT_tiles]; } /* NULL: none so far */

static u32 end_of(const struct tile *t) { return t->at + (t->rows - 1) * t->pitch + t->row_bytes; }

static void begin(struct cta *c)
{
    struct tiles *s = tiles_of(c);
    s->n = 0;
    s->version++;
    s->told = false;
}

/* Nothing is known of these bytes any more. */
static void drop(struct tiles *s, u32 from, u32 end)
{
    u32 left = 0;
    for (u32 k = 0; k < s->n; k++)
        if (s->of[k].t.at >= end || end_of(&s->of[k].t) <= from) s->of[left++] = s->of[k];
    if (left != s->n) s->version++;
    s->n = left;
}

/* A copy that lays no rows writes there. */
static void other_copy(struct cta *c, const struct flight *f)
{
    struct tiles *s = tiles_of(c);
    (void)c;
    if (f->to_space != SP_SHARED || f->lays_tile || !f->n) return;
    for (u32 k = 0; k < f->n; k++) {
        u32 at = f->move[k].to ? (u32)cluster_offset(f->move[k].to_at) : 0;
        if (f->move[k].to && s == tiles_of(f->to_cta)) drop(s, at, at + f->move[k].bytes);
    }
}

const struct attachment attach_tiles = { .cta_begin = begin, .async_reads = other_copy };

void tile_copied(struct cta *c, const struct tile *t, const struct warp *w, u32 op)
{
    struct tiles *s = tiles_of(c);
    if (!s) {
        s = base_need(sizeof *s);
        memset(s, 0, sizeof *s);
        attach_cta(c, AT_tiles, s);
        begin(c);
    }
    for (u32 k = 0; k < s->n; k++)
        if (!memcmp(&s->of[k].t, t, sizeof *t)) {
            s->of[k].low = w->code->low;
            s->of[k].op = op;
            return;
        }
    if (!t->rows || !t->row_bytes) return;
    drop(s, t->at, end_of(t));
    if (s->n == TILES) drop(s, s->of[0].t.at, end_of(&s->of[0].t));
    s->of[s->n++] = (struct laid){ *t, w->code->low, op };
    s->version++;
}

/* ---- where a chunk of shared memory stands in its tile ---- */

struct chunk_place {
    const struct laid *in; /* NULL: in none */
    u32 at, row, unit;     /* its offset in shared memory; its row and 16 bytes of it */
};

static u32 unswizzled(u32 swizzle, u32 at)
{
    u32 line = at >> 7;
    return at ^ (swizzle == SWIZZLE_128B_ATOM_32B   ? (line & 3) << 5
                 : swizzle == SWIZZLE_128B_ATOM_64B ? (line & 1) << 6
                                                    : (line & ((1u << swizzle) - 1)) << 4);
}

static struct chunk_place place_of(const struct cta *c, u32 at)
{
    const struct tiles *s = tiles_of(c);
    for (u32 k = 0; k < s->n; k++) {
        const struct tile *t = &s->of[k].t;
        u32 was = unswizzled(t->swizzle, at), row = (was - t->at) / t->pitch, unit = (was - t->at) % t->pitch;
        if (was < t->at || row >= t->rows || unit >= t->row_bytes) continue;
        if (proxy_stored(c, at)) break;
        return (struct chunk_place){ &s->of[k], at, row, unit / CHUNK_BYTES };
    }
    return (struct chunk_place){ .at = at };
}

/* ---- products ---- */

static const char *swizzle_name(struct arena *a, u32 bytes)
{
    return bytes == 16 ? "no swizzle" : arena_printf(a, "a %u-byte swizzle", bytes);
}

static const char *line_of_rows(const struct tile_reader *r)
{
    return r->m->by_k ? "step" : r->name[0] == 'a' ? "row" : "column";
}

/* Chunk p of the operand, at (line, along), has q as its neighbour at (line + lines, along + chunks), which the copy
 * has put elsewhere. */
static void report(struct warp *w, const struct tile_reader *r, const struct chunk_place *p,
                   const struct chunk_place *q, u32 line, u32 lines)
{
    struct arena mem = { 0 };
    const struct tile *t = &p->in->t;
    u32 own = swizzle_width(t->swizzle);
    struct finding f = { .kind = t->swizzle ? F_wgmma_layout : F_wgmma_pattern };
    const char *read =
        lines ? arena_printf(&mem, "%ss %u and %u of %s are read from", line_of_rows(r), line, line + 1, r->name)
              : arena_printf(&mem, "neighbours in %s %u of %s are read from", line_of_rows(r), line, r->name);
    f.cause = arena_printf(&mem,
                           "%s shared memory+0x%x and +0x%x, where the tensor copy has put row %u, bytes %u.., and row "
                           "%u, bytes %u.., of its box: the tile has %s, the descriptor, 0x%llx, %s%s",
                           read, p->at, q->at, p->row, p->unit * CHUNK_BYTES, q->row, q->unit * CHUNK_BYTES,
                           swizzle_name(&mem, own), (unsigned long long)r->descriptor, swizzle_name(&mem, r->m->width),
                           own == r->m->width ? arena_printf(&mem,
                                                             " and a stride of %u bytes from 8 rows to the next "
                                                             "8, where the tile has %u",
                                                             r->m->stride, 8 * t->pitch)
                                              : "");
    f.other = finding_place(&mem, p->in->low, p->in->op);
    if (t->swizzle == 0)
        f.fix =
            "Encode the tensor map with the swizzle that the descriptor has, unless the rows lie swizzled in global "
            "memory already.";
    finding_add(w, r->op, &f, w->mask);
    arena_free(&mem);
}

/* The neighbour q of p is where it belongs: in the next row, if there is one in between (lines), or 16 bytes on. */
static bool fits(const struct tile_reader *r, const struct chunk_place *p, const struct chunk_place *q, u32 line,
                 u32 lines)
{
    if (!q->in || p->in != q->in) return true;
    bool same_eight = line % 8 != 7;
    if (!lines) return r->m->width == CHUNK_BYTES || (q->row == p->row && q->unit == p->unit + 1);
    return same_eight ? q->row == p->row + 1 && q->unit == p->unit : q->row > p->row || q->unit != p->unit;
}

/* The operand is as its copies have laid it; false: it is not, which is reported. */
static bool look(struct warp *w, const struct tile_reader *r)
{
    const struct cta *c = w->cta;
    u32 group = r->m->width / CHUNK_BYTES;
    for (u32 l = 0; l < r->lines; l++)
        for (u32 k = 0; k < r->across; k++) {
            u32 line = r->first + l, along = r->skip + k;
            struct chunk_place p = place_of(c, matrix_chunk(r->m, line, along));
            if (!p.in) continue;
            if (l + 1 < r->lines) {
                struct chunk_place q = place_of(c, matrix_chunk(r->m, line + 1, along));
                if (!fits(r, &p, &q, line, 1)) {
                    report(w, r, &p, &q, line, 1);
                    return false;
                }
            }
            if (k + 1 < r->across && (along + 1) % group) {
                struct chunk_place q = place_of(c, matrix_chunk(r->m, line, along + 1));
                if (!fits(r, &p, &q, line, 0)) {
                    report(w, r, &p, &q, line, 0);
                    return false;
                }
            }
        }
    return true;
}

void tiles_read(struct warp *w, const struct tile_reader *r)
{
    struct tiles *s = tiles_of(w->cta);
    const struct lowered *low = w->code->low;
    if (!s || !s->n || s->told || !(w->cta->launch->in->checks & CHECK_ASYNC)) return;
    u64 key = (r->descriptor ^ r->first * 0x9e37u ^ (u64)r->op << 20) * 0x9e3779b97f4a7c15u;
    u32 n = (u32)(key >> 40) % ASKED;
    if (s->asked[n].low == low && s->asked[n].descriptor == (r->descriptor ^ (u64)r->first << 14) &&
        s->asked[n].op == r->op && s->asked[n].version == s->version)
        return;
    s->asked[n].low = low;
    s->asked[n].descriptor = r->descriptor ^ (u64)r->first << 14;
    s->asked[n].op = r->op;
    s->asked[n].version = s->version;
    s->told = !look(w, r);
}
