/* Sums of which a part is missing or counted twice: every term of a sum gets a weight. */
#include "mistake/classify.h"

enum { SUMS_MOST = 64 };
struct sum { /* one reduced axis of a node */
    const struct oracle_node *n;
    u32 axis; /* of its first operand */
    u64 length;
};

/* The reduced axes of a node. */
static u32 sums_of(const struct oracle_node *n, struct sum *out)
{
    u32 found = 0;
    const struct oracle_shape *x = n->ins ? &n->in[0]->shape : NULL;
    if (n->op == OX_scatter_add) {
        out[found++] = (struct sum){ n, 0, x->dim[0] };
    } else if (n->op == OX_sort) {
        out[found++] = (struct sum){ n, (u32)n->attr.list[0], x->dim[n->attr.list[0]] };
    } else if (n->op == OX_sum || n->op == OX_einsum || n->op == OX_max || n->op == OX_min || n->op == OX_argmax ||
               n->op == OX_argmin) {
        struct einsum_parts p = { 0 };
        if (n->op == OX_einsum) p = oracle_einsum_parts(n->attr.text);
        for (u32 i = 0; i < x->rank; i++) {
            bool gone = n->op != OX_einsum ? n->attr.list[0] >> i & 1 : !memchr(p.out.p, p.in[0].p[i], p.out.n);
            if (gone) out[found++] = (struct sum){ n, i, x->dim[i] };
        }
    }
    return found;
}

/* ---- weights ---- */

static void fill(double *w, u64 from, u64 to, double value)
{
    for (u64 i = from; i < to; i++) w[i] = value;
}

/* Which elements a tree keeps that halves its length and forgets the middle of an odd one; false: all of them. */
static bool tree_weights(double *w, u64 n)
{
    bool lost = false;
    for (u64 i = 0; i < n; i++) {
        u64 at = i, l = n;
        bool kept = true;
        while (l > 1 && kept) {
            kept = at < l / 2 * 2;
            at %= l / 2;
            l /= 2;
        }
        w[i] = kept;
        lost |= !kept;
    }
    return lost;
}

enum { WARP_KINDS = 3 * 7 * 4 };

/* What a warp of a block adds up, where the threads walk along n elements, `wide` at a time, and the sums of warps meet
 * in the end: the last warp is missing, all but the first, or the second half. false: there is no such element. */
static bool warp_weights(u64 n, u32 k, double *w, char *what, size_t size)
{
    static const u64 blocks[] = { 64, 96, 128, 192, 256, 512, 1024 }, wides[] = { 1, 2, 4, 8 };
    u64 block = blocks[k % COUNT_OF(blocks)], wide = wides[k / COUNT_OF(blocks) % COUNT_OF(wides)];
    u32 way = k / (u32)(COUNT_OF(blocks) * COUNT_OF(wides));
    u64 from = way == 0 ? block - 32 : way == 1 ? 32 : block / 2;
    bool lost = false;
    if ((way == 1 && block == 64) || (way == 2 && block < 128)) return false; /* that is the last one, or the first */
    for (u64 i = 0; i < n; i++) {
        w[i] = i / wide % block < from;
        lost |= w[i] == 0;
    }
    if (!lost) return false;
    snprintf(what, size,
             way == 0   ? "what the last warp of %llu threads adds up is missing%s"
             : way == 1 ? "only what the first warp of %llu threads adds up is there%s"
                        : "what the second half of the warps of %llu threads adds up is missing%s",
             (unsigned long long)block,
             wide == 1   ? ""
             : wide == 2 ? ", two elements at a time"
             : wide == 4 ? ", four elements at a time"
                         : ", eight elements at a time");
    return true;
}

/* What of the lanes of a warp, of the threads of a block or of the parts of a split is not added up. false: k is past
 * the last kind; *what stays empty where kind k does not apply. `part`: a size of the contract, or 0. */
static bool lane_weights(u64 n, u32 k, u64 part, const char *name, double *w, char *what, size_t size)
{
    static const u32 strides[] = { 2, 4, 8, 16, 32, 64 };
    u64 each = part ? (n + part - 1) / part : 0, root = (u64)nearbyint(sqrt((double)n));
    bool lost = false;
    what[0] = 0;
    for (u64 i = 0; i < n; i++) {
        u64 lane = i % 32;
        switch (k) {
        case 0:
        case 1:
        case 2: w[i] = lane < 16u >> k; break; /* a shuffle that begins at 8, 4, 2 */
        case 3:
        case 4:
        case 5:
        case 6:
        case 7:
        case 8: w[i] = i % strides[k - 3] == 0; break; /* one that ends too early */
        case 9: w[i] = part > 1 && i < each * (part - 1); break;
        case 10: w[i] = part > 1 && i < each; break;
        case 11: w[i] = part > 1 && i && i % each == 0 ? 2 : 1; break;
        case 12: w[i] = root * root == n && i / root < root - 1 && i % root < root - 1; break;
        default: return false;
        }
        lost |= w[i] != 1;
    }
    if (!lost || (k >= 9 && k < 12 && (part < 2 || each < 2 || each >= n)) || (k == 12 && (root * root != n || n < 4)))
        return true;
    if (k < 3) snprintf(what, size, "of every 32 only the first %u are there: lanes of a warp are missing", 16u >> k);
    if (k >= 3 && k < 9)
        snprintf(what, size,
                 "only one of every %u elements is there: steps of a tree, or parts of a vector, are missing",
                 strides[k - 3]);
    if (k == 9) snprintf(what, size, "the last of %.40s parts is missing", name);
    if (k == 10) snprintf(what, size, "only the first of %.40s parts is there", name);
    if (k == 11) snprintf(what, size, "where two of %.40s parts meet an element is counted twice", name);
    if (k == 12) snprintf(what, size, "windows are one smaller: their last row and column are missing");
    return true;
}

/* The k-th way in which a loop over `n` elements goes wrong; false: there are no more. w is left alone, and what is "",
 * where it does not apply. A sum that is shorter than a tile is all tail: that is only said of a name that was found.
 */
static bool weights(u64 n, u32 k, bool asked, double *w, char *what, size_t size)
{
    static const u64 tiles[] = { 2, 4, 8, 16, 32, 64, 128, 256 }, lengths[] = { 2, 4, 8, 9, 16, 32, 0 };
    enum { FIRST_TILE = 6, FIRST_LENGTH = FIRST_TILE + COUNT_OF(tiles) };
    u32 tile = k >= FIRST_TILE && k < FIRST_LENGTH ? k - FIRST_TILE : 0,
        length = k >= FIRST_LENGTH ? (k - FIRST_LENGTH) / 3 : 0;
    u64 t = k < FIRST_LENGTH ? tiles[tile] : length < COUNT_OF(lengths) && lengths[length] ? lengths[length] : n / 2;
    what[0] = 0;
    fill(w, 0, n, 1);
    if (k == 0) snprintf(what, size, "the last element is missing"), w[n - 1] = 0;
    if (k == 1) snprintf(what, size, "the first element is missing"), w[0] = 0;
    if (k == 2) snprintf(what, size, "the last element is counted twice"), w[n - 1] = 2;
    if (k == 3 && tree_weights(w, n))
        snprintf(what, size, "a tree over a length that is no power of two drops elements");
    if (k == 4) snprintf(what, size, "only the first element is there: nothing is summed"), fill(w, 1, n, 0);
    if (k == 5)
        snprintf(what, size, "only the last element is there: each overwrites the one before, nothing is summed"),
            fill(w, 0, n - 1, 0);
    if (k < FIRST_TILE) return true;
    if (k < FIRST_LENGTH) {
        if (n % t == 0 || (n < t && !asked)) return true;
        snprintf(what, size, "the tail beyond a multiple of %llu is missing", (unsigned long long)t);
        fill(w, n / t * t, n, 0);
        return true;
    }
    if (length >= COUNT_OF(lengths)) return false;
    if (t < 2 || t >= n) return true;
    static const char *const half[] = { "the last half is missing", "only the last half is there",
                                        "only the first half is there" };
    static const char *const how[] = { "the last %llu elements are missing", "only the last %llu elements are there",
                                       "only the first %llu elements are there" };
    if (lengths[length])
        snprintf(what, size, how[(k - FIRST_LENGTH) % 3], (unsigned long long)t);
    else
        snprintf(what, size, "%s", half[(k - FIRST_LENGTH) % 3]);
    if ((k - FIRST_LENGTH) % 3 == 0) fill(w, n - t, n, 0);
    if ((k - FIRST_LENGTH) % 3 == 1) fill(w, 0, n - t, 0);
    if ((k - FIRST_LENGTH) % 3 == 2) fill(w, t, n, 0);
    return true;
}

/* ---- mutants ---- */

struct weighing { /* the sums that get weights */
    const struct sum *sum;
    u32 n;
    struct oracle_node *w; /* the weights; NULL: made for each length */
    u32 kind;              /* of weights, where there are several lengths */
};

static struct oracle_node *weighted(struct oracle_graph *g, const struct oracle_node *n, struct oracle_node *const *in,
                                    u32 axis, struct oracle_node *w)
{
    struct oracle_node *now[ORACLE_OPERANDS];
    struct oracle_shape s = { .rank = in[0]->shape.rank - axis };
    for (u32 i = 0; i < s.rank; i++) s.dim[i] = i ? 1 : w->shape.dim[0];
    memcpy(now, in, n->ins * sizeof *now);
    bool least = n->op == OX_min || n->op == OX_argmin;
    if (n->op == OX_max || n->op == OX_argmax || n->op == OX_sort ||
        least) /* an element that counts twice is one element */
        now[0] = oracle_node3(g, OX_where, oracle_reshaped(g, w, &s), in[0],
                              oracle_number(g, least ? INFINITY : -INFINITY, 0));
    else
        now[0] = oracle_node2(g, OX_mul, in[0], oracle_reshaped(g, w, &s));
    return oracle_node(g, n->op, now, n->ins, &n->attr);
}

static struct oracle_node *change_weigh(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    const struct weighing *z = self;
    for (u32 i = 0; i < z->n; i++)
        if (z->sum[i].n == n) return weighted(&s->changed.graph, n, in, z->sum[i].axis, z->w);
    return NULL;
}

static bool is_sum(const struct oracle_node *n)
{
    return n->op == OX_sum || n->op == OX_einsum || n->op == OX_scatter_add;
}

/* One way of going wrong in one group of sums of the same length. */
static void try_group(struct suspect_text *s, const struct sum *sum, u32 n, const double *w, const char *what)
{
    u32 at = 0; /* of sums and maxima the sum has the name: the maximum is often a shift alone */
    for (u32 i = n; i-- > 0;)
        if (is_sum(sum[i].n)) at = i;
    const struct oracle_node *x = sum[at].n->in[0];
    char of[100] = "", name[sizeof s->best->what];
    if (n == 1 && x->op == OX_input) snprintf(of, sizeof of, " (axis %u of %.60s)", sum[0].axis, x->attr.text);
    snprintf(name, sizeof name, "in the %s over %llu%s: %s",
             is_sum(sum[at].n) ? "sum" : oracle_rows[sum[at].n->op].name, (unsigned long long)sum[0].length, of, what);
    s->tried += !oracle_is_wanted(s, name);
    if (!oracle_is_wanted(s, name)) return;
    struct oracle_shape shape = { 1, { sum[0].length } };
    struct weighing z = { sum, n, oracle_extra(s, "$w", &shape, w), 0 };
    oracle_try(s, ORACLE_PART, oracle_rebuilt(s, change_weigh, &z), "%s", name);
}

/* All of these sums together, then each of them. */
static void try_groups(struct suspect_text *s, const struct sum *same, u32 found, const double *w, const char *what)
{
    if (found > 1) try_group(s, same, found, w, what);
    for (u32 i = 0; i < found && found <= 8; i++) try_group(s, &same[i], 1, w, what);
}

/* The sums of one length. */
static void try_length(struct suspect_text *s, const struct sum *all, u32 n, u64 length)
{
    struct sum same[SUMS_MOST];
    u32 found = 0;
    char what[120];
    for (u32 i = 0; i < n; i++)
        if (all[i].length == length) same[found++] = all[i];
    double *w = NEW_ARRAY(&s->mem, double, length);
    bool asked = s->hints && s->hints->only && !s->all_right;
    for (u32 k = 0; k < s->o->n && !oracle_search_done(s); k++) { /* split into as many parts as a size says */
        const struct oracle_name *m = &s->o->names[k];
        if (m->type || m->value < 2 || m->value > 1 << 20 || m->value != floor(m->value)) continue;
        u64 t = (u64)m->value;
        for (u32 i = 9; i < 12 && !oracle_search_done(s); i++) {
            lane_weights(length, i, t, m->name, w, what, sizeof what);
            if (what[0]) try_groups(s, same, found, w, what);
        }
        if (asked && length % t == 0) oracle_is_void(s, "the tail beyond a multiple of ", m->name);
        if (length % t == 0 || (length < t && !asked)) continue;
        fill(w, 0, length, 1);
        fill(w, length / t * t, length, 0);
        snprintf(what, sizeof what, "the tail beyond a multiple of %.40s is missing", m->name);
        try_groups(s, same, found, w, what);
    }
    for (u32 k = 0; !oracle_search_done(s) && weights(length, k, asked, w, what, sizeof what); k++)
        if (what[0]) try_groups(s, same, found, w, what);
    for (u32 k = 0; k < WARP_KINDS && !oracle_search_done(s); k++)
        if (warp_weights(length, k, w, what, sizeof what)) try_groups(s, same, found, w, what);
    for (u32 k = 0; !oracle_search_done(s) && lane_weights(length, k, 0, "", w, what, sizeof what); k++)
        if (what[0]) try_groups(s, same, found, w, what);
}

/* The same mistake in every sum, whatever its length: a shared routine. Four lengths at most. */
static struct oracle_node *change_every(struct suspect_text *s, const struct oracle_node *n,
                                        struct oracle_node *const *in, void *self)
{
    const struct weighing *z = self;
    char name[32], what[120];
    for (u32 i = 0; i < z->n; i++) {
        if (z->sum[i].n != n || z->sum[i].length < 2) continue;
        struct oracle_shape shape = { 1, { z->sum[i].length } };
        const char *text;
        snprintf(name, sizeof name, "$w%llu", (unsigned long long)z->sum[i].length);
        text = oracle_intern(&s->changed.graph, str_of(name));
        double *w = NEW_ARRAY(&s->mem, double, z->sum[i].length);
        weights(z->sum[i].length, z->kind, false, w, what, sizeof what);
        bool known = false;
        for (u32 k = 0; k < s->run.extras; k++) known |= s->run.extra[k].text == text;
        if (!known && s->run.extras == COUNT_OF(s->run.extra)) return NULL;
        struct oracle_attr a = { .n = 1, .list = { (s64)shape.dim[0] }, .text = text };
        struct oracle_node *weight = known ? oracle_node(&s->changed.graph, OX_input, NULL, 0, &a)
                                           : oracle_extra(s, name, &shape, w);
        return weighted(&s->changed.graph, n, in, z->sum[i].axis, weight);
    }
    return NULL;
}

/* Without atomics the last writer of a row wins. */
static void try_lost_updates(struct suspect_text *s, const struct sum *sum)
{
    const struct oracle_node *index = sum->n->in[1];
    u64 n = oracle_count(&index->shape);
    if (sum->n->op != OX_scatter_add || index->shape.rank != 1 || !s->run.slot[index->id].done) return;
    double *w = NEW_ARRAY(&s->mem, double, n + 1);
    for (u64 i = 0; i < n; i++) {
        w[i] = 1;
        for (u64 k = i + 1; k < n && w[i]; k++)
            w[i] = oracle_run_value(&s->run, index, i) != oracle_run_value(&s->run, index, k);
    }
    struct oracle_shape shape = { 1, { n } };
    struct weighing z = { sum, 1, oracle_extra(s, "$w", &shape, w), 0 };
    oracle_try(s, ORACLE_PART, oracle_rebuilt(s, change_weigh, &z),
               "only the last writer of a row counts (no atomics)");
}

/* ---- sums of which there is too much ---- */

/* What an element of 0 adds to a sum of exp(x) or exp(x - m), in the shape of the sum; NULL: it is another sum. */
static struct oracle_node *of_zero(struct suspect_text *s, const struct oracle_node *sum)
{
    struct oracle_graph *g = &s->changed.graph;
    const struct oracle_node *e = sum->in[0];
    if (e->op != OX_exp) return NULL;
    if (e->in[0]->op != OX_sub) return oracle_spread(g, oracle_number(g, 1, 0), &sum->shape);
    struct oracle_node *m = e->in[0]->in[1];
    while (m->op == OX_broadcast) m = m->in[0];
    if (oracle_count(&m->shape) != oracle_count(&sum->shape)) return NULL;
    return oracle_node1(g, OX_exp, oracle_node1(g, OX_neg, oracle_reshaped(g, m, &sum->shape)));
}

/* The weights of a softmax whose last tile is not masked: elements beyond the last are 0, and are counted. */
static void try_unmasked(struct suspect_text *s, const struct sum *sum)
{
    static const u64 tiles[] = { 4, 8, 16, 32, 64, 128, 256 };
    struct oracle_graph *g = &s->changed.graph;
    for (u32 i = 0; i < COUNT_OF(tiles) && !oracle_search_done(s); i++) {
        u64 more = (tiles[i] - sum->length % tiles[i]) % tiles[i];
        struct oracle_node *one = more ? of_zero(s, sum->n) : NULL;
        if (!one) {
            oracle_search_cut(s);
            continue;
        }
        struct oracle_node *all = oracle_node2(g, OX_mul, one, oracle_number(g, (double)more, 0));
        struct oracle_node *is = oracle_node2(g, OX_add, (struct oracle_node *)sum->n, all);
        oracle_try(
            s, ORACLE_PART, oracle_replaced(s, sum->n, is),
            "in the sum over %llu: %llu elements of 0 beyond the last are counted, up to a multiple of %llu: the "
            "last tile is not masked",
            (unsigned long long)sum->length, (unsigned long long)more, (unsigned long long)tiles[i]);
    }
}

void oracle_try_parts(struct suspect_text *s)
{
    struct sum all[SUMS_MOST + ORACLE_RANK];
    u64 done[SUMS_MOST], lengths = 0;
    u32 n = 0;
    char what[120];
    for (u32 i = 0; i < s->base && n < SUMS_MOST; i++)
        if (s->need[i]) n += sums_of(s->o->graph.nodes.p[i], &all[n]);
    n = MIN_OF(n, (u32)SUMS_MOST);
    for (u32 i = 0; i < n && !oracle_search_done(s); i++) {
        bool seen = all[i].length < 2 || all[i].length > 1 << 20;
        for (u32 k = 0; k < lengths; k++) seen |= done[k] == all[i].length;
        if (all[i].n->op == OX_scatter_add) try_lost_updates(s, &all[i]);
        if (all[i].n->op == OX_sum) try_unmasked(s, &all[i]);
        if (seen) continue;
        done[lengths++] = all[i].length;
        try_length(s, all, n, all[i].length);
    }
    for (u32 kind = 0; kind < 4 && lengths > 1 && !oracle_search_done(s); kind++) {
        struct weighing z = { all, n, NULL, kind };
        struct oracle_node **out = oracle_rebuilt(s, change_every, &z);
        double *w = NEW_ARRAY(&s->mem, double, all[0].length + 1);
        weights(MAX_OF(all[0].length, (u64)1), kind, false, w, what, sizeof what);
        if (kind == 3) snprintf(what, sizeof what, "a tree over a length that is no power of two drops elements");
        oracle_try(s, ORACLE_PART, out, "in every sum: %s", what);
    }
}
