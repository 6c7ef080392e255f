/* What is wrong with wgmma: warps of a warpgroup that do not go together, descriptors that lead nowhere, registers that
 * are touched while a product has them (docs/inside/tensor.md). */
#include "check/tiles.h"
#include "units/bulk.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include "lanes/product.h"
#include "units/wgmma.h"

static bool checks_async(const struct warp *w) { return w->cta->launch->in->checks & CHECK_ASYNC; }

static void report_misuse(struct warp *w, u32 op, enum finding_kind kind, const char *cause, const char *fix)
{
    struct finding f = { .kind = kind, .cause = cause, .fix = fix };
    if (checks_async(w)) finding_add(w, op, &f, w->mask);
}

/* ---- the warpgroup ---- */

enum { REMEMBERED = 64 };
/* What the warps of a warpgroup have issued: whoever is first leaves it here, and the others are held against it. */
struct wgmma_log {
    u32 next; /* products of the warp that is ahead */
    struct {
        const struct lowered *low;
        u32 op;   /* which operation */
        u64 a, b; /* its descriptors */
    } of[REMEMBERED];
    bool reported; /* it has been reported that they do not agree */
};

/* By warpgroup; NULL: none so far. */
static struct wgmma_log *logs_of(const struct cta *c) { return c->attached[AT_wgmma_log]; }

static void logs_reset(struct cta *c) { memset(logs_of(c), 0, sizeof(struct wgmma_log) * ((c->nwarps + 3) / 4)); }

static struct wgmma_log *log_of(const struct warp *w)
{
    struct cta *c = w->cta;
    if (!logs_of(c)) {
        attach_cta(c, AT_wgmma_log, base_need(sizeof(struct wgmma_log) * ((c->nwarps + 3) / 4)));
        logs_reset(c);
    }
    return &logs_of(c)[w->id / 4];
}

static void warp_left(struct warp *w)
{
    if (!w->live) wgmma_recheck(w);
}

const struct attachment attach_wgmma_log = { .cta_begin = logs_reset, .left = warp_left };

bool wgmma_reported(const struct warp *w) { return logs_of(w->cta) && logs_of(w->cta)[w->id / 4].reported; }

bool wgmma_is_last(const struct warp *w)
{
    u32 first = w->id / 4 * 4;
    for (u32 k = first; k < first + 4 && k < w->cta->nwarps; k++) {
        const struct warp *x = w->cta->warp[k];
        if (x->live && (!wgmmas_of(x) || wgmmas_of(x)->count < wgmmas_of(w)->count)) return false;
    }
    return true;
}

static void check_group(struct warp *w, const struct insn *i, u64 a, u64 b)
{
    struct wgmma_log *g = log_of(w);
    u32 n = wgmmas_of(w)->count, first = w->id / 4 * 4, warps = MIN_OF(w->cta->nwarps - first, 4u);
    char cause[240];
    if (g->reported) return;
    if (warps < 4) {
        g->reported = true;
        snprintf(cause, sizeof cause, "the warpgroup of warps %u..%u has %u of its 4 warps: the block has %u threads",
                 first, first + 3, warps, w->cta->launch->threads);
        report_misuse(w, i->op, F_wgmma_divergent, cause, "Launch blocks of a multiple of 128 threads.");
    }
    if (n == g->next) {
        g->of[n % REMEMBERED].low = w->code->low;
        g->of[n % REMEMBERED].op = i->op;
        g->of[n % REMEMBERED].a = a;
        g->of[n % REMEMBERED].b = b;
        g->next++;
        return;
    }
    if (g->next - n > REMEMBERED) return;
    bool other = g->of[n % REMEMBERED].low != w->code->low || g->of[n % REMEMBERED].op != i->op;
    if (!other && g->of[n % REMEMBERED].a == a && g->of[n % REMEMBERED].b == b) return;
    g->reported = true;
    wgmma_recheck(w);
    if (other)
        snprintf(cause, sizeof cause,
                 "product %u of warp %u is not the one that another warp of its warpgroup has issued", n + 1, w->id);
    else
        snprintf(cause, sizeof cause,
                 "warp %u has the descriptors 0x%llx and 0x%llx, another warp of its warpgroup 0x%llx and 0x%llx",
                 w->id, (unsigned long long)a, (unsigned long long)b, (unsigned long long)g->of[n % REMEMBERED].a,
                 (unsigned long long)g->of[n % REMEMBERED].b);
    report_misuse(w, i->op, other ? F_wgmma_divergent : F_wgmma_descriptor, cause, NULL);
}

/* The last warp of a warpgroup has left: all must have issued the same number. */
static void check_counts(struct warp *w)
{
    const struct cta *c = w->cta;
    u32 first = w->id / 4 * 4, end = MIN_OF(first + 4, c->nwarps);
    struct wgmma_log *g = logs_of(c) ? &logs_of(c)[w->id / 4] : NULL;
    char cause[200];
    if (!g || g->reported || !g->next) return;
    for (u32 k = first; k < end; k++)
        if (c->warp[k]->live) return;
    for (u32 k = first; k < end; k++) {
        u32 n = wgmmas_of(c->warp[k]) ? wgmmas_of(c->warp[k])->count : 0;
        if (n == g->next || g->next - n > REMEMBERED) continue;
        struct finding f = { .kind = F_wgmma_divergent, .cause = cause };
        g->reported = true;
        snprintf(
            cause, sizeof cause,
            "warp %u has left the kernel after %u of the %u products that its warpgroup issued: it never came here", k,
            n, g->next);
        if (checks_async(w))
            finding_add_of(w, g->of[n % REMEMBERED].low, g->of[n % REMEMBERED].op, &f, w->mask ? w->mask : 1);
        return;
    }
}

void wgmma_exit(struct warp *w, u32 mask)
{
    const struct wgmmas *s = wgmmas_of(w);
    char cause[160];
    for (u32 k = 0; checks_async(w) && k < s->n && mask; k++) {
        struct finding f = { .kind = F_async_unfinished, .cause = cause };
        if (k && s->p[k].op == s->p[k - 1].op) continue;
        snprintf(cause, sizeof cause,
                 "the thread left with a product that was started here and that it had not waited for%s",
                 s->p[k].group < s->committed ? "" : ": its group was never committed");
        finding_add_of(w, s->p[k].low, s->p[k].op, &f, mask);
    }
    if (!w->live) check_counts(w);
}

/* ---- descriptors ---- */

struct operand { /* of a product */
    const char *name;
    u64 descriptor;
    struct matrix m;
    u32 first, lines; /* rows of a, columns of b */
    u32 chunks;       /* of a line along k */
    u32 k;            /* elements along k */
};

/* False: a chunk of it lies outside of the CTA's shared memory. */
static bool check_bounds(struct warp *w, const struct insn *i, const struct operand *o)
{
    u64 total = w->cta->launch->shared_total;
    const struct matrix *m = &o->m;
    u32 lines = m->by_k ? o->k : o->lines, along = m->by_k ? o->lines / 8 : o->chunks, from = m->by_k ? 0 : o->first,
        skip = m->by_k ? o->first / 8 : 0;
    /* no chunk of it is farther; swizzling stays within 128 bytes */
    u64 most = m->start + (u64)m->lead * MAX_OF(along + skip, lines / 8) +
               (u64)m->stride * MAX_OF((from + lines) / 8, along + skip) + 8ull * m->width + 16ull * along + 128;
    if (most <= total) return true;
    for (u32 l = 0; l < lines; l++)
        for (u32 k = 0; k < along; k++) {
            u32 at = matrix_chunk(m, from + l, skip + k);
            char sum[160], cause[400];
            if (at + (u64)CHUNK_BYTES <= total) continue;
            matrix_arithmetic(m, from + l, skip + k, sum, sizeof sum);
            snprintf(cause, sizeof cause,
                     "the descriptor of %s, 0x%llx, leads to %s %u at %s = 0x%x%s: the block has %llu bytes of shared "
                     "memory",
                     o->name, (unsigned long long)o->descriptor,
                     m->by_k             ? "k"
                     : o->name[0] == 'a' ? "row"
                                         : "column",
                     from + l, sum, at, m->width > 16 ? ", swizzled" : "", (unsigned long long)total);
            report_misuse(w, i->op, F_wgmma_descriptor, cause, NULL);
            return false;
        }
    return true;
}

/* A swizzled matrix begins in the first line of its pattern, unless the base offset says otherwise. A tensor copy of
 * that swizzle goes by the bits of the address, too, and what it has written is read in its order wherever it begins:
 * CUTLASS's matrices lie at multiples of 128. */
static void check_pattern(struct warp *w, const struct insn *i, const struct operand *o)
{
    const struct matrix *m = &o->m;
    u32 lines = m->width / 16, line = (m->start >> 7) - m->base, pattern = 8 * m->width;
    char cause[320];
    if (lines == 1 || !(line & (lines - 1))) return;
    if (!m->base && bulk_swizzles(w->cta) >> __builtin_ctz(lines) & 1) return;
    snprintf(cause, sizeof cause,
             "the descriptor of %s begins at 0x%x, %u bytes past a multiple of %u, the pattern of its %u-byte "
             "swizzle, and its base "
             "offset is %u: the first row is taken for row %u of the pattern",
             o->name, m->start, m->start % pattern, pattern, m->width, m->base, (line & (lines - 1)) * 128 / m->width);
    report_misuse(w, i->op, F_wgmma_pattern, cause, NULL);
}

static bool check_operand(struct warp *w, const struct insn *i, const char *name, u64 descriptor, bool by_k,
                          enum tensor_type t, u32 first, u32 lines, u32 k)
{
    struct operand o = { name, descriptor, matrix_of(descriptor, by_k), first, lines, k * tensor_bits(t) / 128, k };
    check_pattern(w, i, &o);
    if (!check_bounds(w, i, &o)) return false;
    tiles_read(w, &(struct tile_reader){ name, i->op, descriptor, &o.m, by_k ? 0 : first, by_k ? k : lines,
                                         by_k ? first / 8 : 0, by_k ? lines / 8 : o.chunks });
    return true;
}

static bool differ(const u64 *v, u32 lanes, u32 *who)
{
    u32 first = (u32)__builtin_ctz(lanes);
    for (*who = first; *who < LANES; ++*who)
        if (lanes >> *who & 1 && v[*who] != v[first]) return true;
    return false;
}

static void check_lanes(struct warp *w, const struct insn *i, const char *name, u32 lanes, const u64 *v)
{
    u32 first = (u32)__builtin_ctz(lanes), who;
    char cause[200];
    if (!differ(v, lanes, &who)) return;
    snprintf(cause, sizeof cause,
             "lane %u has the descriptor 0x%llx of %s, lane %u 0x%llx: it must be the same in all threads", first,
             (unsigned long long)v[first], name, who, (unsigned long long)v[who]);
    report_misuse(w, i->op, F_wgmma_descriptor, cause, NULL);
}

/* ---- registers ---- */

static const char *line_of(const struct lowered *l, u32 op, char *out, size_t size)
{
    const struct ptx_insn *i = l->op[op].src;
    if (i && i->loc)
        snprintf(out, size, " (line %u)", i->loc->line);
    else
        out[0] = 0;
    return out;
}

/* The operation writes an accumulator of the product, or a register of a. */
static bool writes_register_of(const struct lowered *l, const struct lop *o, const struct lop *p)
{
    const struct mma *f = &l->mma[p->product];
    u32 n = p->ndst + f->nc + (f->a_shared ? 0u : f->na);
    EACH_DEF (r, o) {
        for (u32 d = 0; d < n; d++)
            if (p->opnd[d].kind == O_REG && p->opnd[d].reg == r) return true;
    }
    return false;
}

/* The last operation since the last fence that has written a register of this product, + 1; 0: there is none. */
static u32 last_writer(const struct wgmmas *s, const struct lowered *l, const struct lop *p)
{
    for (u32 k = MIN_OF(s->nwrote, (u32)COUNT_OF(s->wrote)); k-- > 0;)
        if (s->wrote[k].low == l && writes_register_of(l, &l->op[s->wrote[k].op], p)) return s->wrote[k].op + 1;
    return 0;
}

/* An operation of WRITES_UNFENCED: whether a fence comes before the product is known when that is issued. */
int wgmma_wrote(char *restrict R, const struct insn *i, struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    if (!active_lanes(w, R, i) || !checks_async(w)) return 0;
    if (!s) s = wgmmas_new(w);
    for (u32 k = 0; s && k < MIN_OF(s->nwrote, (u32)COUNT_OF(s->wrote)); k++)
        if (s->wrote[k].op == i->op && s->wrote[k].low == w->code->low) return 0;
    if (!s) return EV_STOP;
    u32 k = s->nwrote++ % COUNT_OF(s->wrote);
    s->wrote[k].low = w->code->low;
    s->wrote[k].op = i->op;
    return 0;
}

static void check_fence(struct warp *w, const struct insn *i)
{
    const struct lowered *l = w->code->low;
    u32 writer = last_writer(wgmmas_of(w), l, &l->op[i->op]);
    char cause[240], line[32];
    if (!wgmmas_of(w)->fenced)
        snprintf(cause, sizeof cause, "no wgmma.fence came before the first product of the warp");
    else if (writer)
        snprintf(cause, sizeof cause, "a register of it was written%s, and no wgmma.fence came between",
                 line_of(l, writer - 1, line, sizeof line));
    else
        return;
    report_misuse(w, i->op, F_wgmma_fence, cause, NULL);
    wgmmas_of(w)->fenced = true; /* once is enough */
    wgmmas_of(w)->nwrote = 0;
}

bool wgmma_check(struct warp *w, const struct insn *i, const struct mma *f, u32 lanes, const u64 *a, const u64 *b)
{
    u32 first = (u32)__builtin_ctz(lanes);
    check_group(w, i, a[first], b[first]);
    check_lanes(w, i, "b", lanes, b);
    check_fence(w, i);
    if (f->a_shared) {
        check_lanes(w, i, "a", lanes, a);
        if (!check_operand(w, i, "a", a[first], f->a_cols, (enum tensor_type)f->a, w->id % 4 * 16, 16,
                           (u32)f->k >> f->sparse))
            return false;
    }
    return check_operand(w, i, "b", b[first], f->b_rows, (enum tensor_type)f->b, 0, f->n, f->k);
}

/* How an operation meets a product in flight; NULL: it does not. */
static const char *meets(const struct lowered *l, const struct lop *o, const struct wgmma *p)
{
    const struct lop *q = &l->op[p->op];
    const struct mma *f = &l->mma[q->product], *own = lop_is_wgmma(o) ? &l->mma[o->product] : NULL;
    /* products of one shape on the same accumulators follow each other without a wait */
    bool same = own && own->n == f->n && own->d == f->d;
    u32 k = 0;
    EACH_USE (s, o) {
        if (same && k++ <= own->nc) continue;
        EACH_DEF (r, q) {
            if (s == r) return "reads an accumulator of";
        }
    }
    if (!same) {
        EACH_DEF (s, o) {
            EACH_DEF (r, q) {
                if (s == r) return "writes an accumulator of";
            }
        }
    }
    if (f->a_shared) return NULL;
    for (k = 0; k < f->na; k++) {
        const struct opnd *x = lop_src(q, f->nc + k);
        EACH_DEF (s, o) {
            if (x->kind == O_REG && x->reg == s) return "writes a register of a of";
        }
    }
    return NULL;
}

/* The same, which depends on the two instructions alone: pairs that do not meet are remembered, since a loop repeats
 * them with up to hundreds of registers. */
static const char *meets_now(struct wgmmas *s, const struct lowered *l, u32 op, const struct wgmma *p)
{
    u32 hash = (op * 0x9e3779b1u ^ p->op * 0x85ebca6bu) >> 16; /* products of a loop are equally far from each other */
    struct wgmma_pair *known = &s->apart[hash % COUNT_OF(s->apart)];
    if (likely(known->function == l->serial + 1 && known->op == op && known->product == p->op)) return NULL;
    const char *how = meets(l, &l->op[op], p);
    if (!how) *known = (struct wgmma_pair){ l->serial + 1, op, p->op };
    return how;
}

int wgmma_touch(char *restrict R, const struct insn *i, struct warp *w)
{
    struct wgmmas *s = wgmmas_of(w);
    const struct lowered *l = w->code->low;
    if (likely(!s || !s->n) || w->cur->fr != w->base || !active_lanes(w, R, i)) return 0;
    for (u32 k = 0; k < s->n; k++) {
        const char *how = s->p[k].low == l && !s->p[k].reported ? meets_now(s, l, i->op, &s->p[k]) : NULL;
        char cause[320], line[32];
        if (!how) continue;
        if (!wgmma_ready(w)) return EV_DEOPT;
        bool committed = s->p[k].group < s->committed;
        u32 newer = committed ? s->committed - s->p[k].group - 1 : 0;
        int n = snprintf(cause, sizeof cause, "it %s a product that is in flight%s: ", how,
                         line_of(l, s->p[k].op, line, sizeof line));
        if (committed)
            snprintf(cause + n, sizeof cause - (size_t)n,
                     "no wait has covered it since; wgmma.wait_group %u or less would", newer);
        else
            snprintf(cause + n, sizeof cause - (size_t)n, "its group has not even been committed");
        report_misuse(w, i->op, F_wgmma_in_flight, cause, NULL);
        s->p[k].reported = true;
        return 0;
    }
    return 0;
}
