/* Making cases: first the usual one, then one thing at a time (contents, choices, layouts, sizes), then everything at
 * once, by chance, in turns with changes of those that reached something new (lab_guide.c).
 *
 * Sizes are those at which kernels fail: 0 and 1, primes, a step before and after warps, tiles and powers of two, the
 * ends of the range, and a step after what one and two passes of a grid of constant size cover. What does not fit the
 * contract is left to contract_bind to refuse. */
#include "lab/lab.h"

/* Those that find most come first: a campaign may be short. */
static const s64 sizes[] = { 1, 33, 1000, 31, 7,   257, 64, 2,   129, 100, 63, 32, 513,
                             3, 17, 255,  65, 128, 500, 16, 127, 256, 97,  13, 5,  1024 };
enum { RANDOM_SIZE_MOST = 300, SMALL_MOST = 9, FEW = 16, LARGE_DIMS = 2, STAGES = 5, EDGES_MOST = 24, WHOLE = 8 };
enum { CONSTANTS = 8, PASSES_MOST = 6, PASS_MOST = 1 << 16 }; /* threads that a grid of constant size may have */
enum { END_MOST = 8192 }; /* the end of a range that is tried; of a larger one, a step more than that */

struct lab_maker {
    const struct contract_kernel *k;
    u64 seed, drawn;
    u32 cases;        /* that the campaign wants */
    u32 stage;        /* what is varied */
    u32 i, v;         /* which one, and its value */
    u32 made[STAGES]; /* of each stage */
    s64 edge[EDGES_MOST];
    u32 edges; /* sizes that the contract's own constants suggest */
    s64 pass[PASSES_MOST];
    u32 passes;                  /* sizes after one and two passes of a grid whose size is made of constants */
    struct contract_case pinned; /* choices that all cases make */
    VEC(struct lab_reached *) reached;
    u32 number; /* of the case that is made */
};

static void add_edge(struct lab_maker *m, s64 v)
{
    static const s64 beside[] = { 1, -1, 0 };
    for (u32 i = 0; i < m->edges; i++)
        if (m->edge[i] == v + 1) return;
    for (u32 i = 0; i < COUNT_OF(beside); i++)
        if (v > 1 && m->edges < EDGES_MOST) m->edge[m->edges++] = v + beside[i];
}

/* The numbers of an expression: what a block takes of a dim is one of them. */
static void add_edges(struct lab_maker *m, const struct expr *x)
{
    if (!x) return;
    if (x->op == EX_NUMBER && x->value.i <= 1024) add_edge(m, x->value.i);
    for (u32 i = 0; i < COUNT_OF(x->kid); i++) add_edges(m, x->kid[i]);
}

/* The numbers of an expression that may be a count of blocks or threads. */
static void constants_of(const struct expr *x, s64 *list, u32 *n)
{
    if (!x) return;
    if (x->op == EX_NUMBER && x->value.i > 1 && x->value.i <= PASS_MOST && *n < CONSTANTS) list[(*n)++] = x->value.i;
    for (u32 i = 0; i < COUNT_OF(x->kid); i++) constants_of(x->kid[i], list, n);
}

/* A kernel that walks over its data by the size of the grid is right for the first pass by itself. */
static void add_passes(struct lab_maker *m, const struct contract_kernel *k)
{
    s64 blocks[CONSTANTS] = { 1 }, threads[CONSTANTS];
    u32 nblocks = 1, nthreads = 0;
    for (u32 i = 0; i < 3; i++) constants_of(k->grid[i], blocks, &nblocks);
    for (u32 i = 0; i < 3; i++) constants_of(k->block[i], threads, &nthreads);
    for (u32 i = 0; i < k->settings.list.n && nthreads < CONSTANTS; i++)
        if (!k->settings.list.p[i].type && k->settings.list.p[i].value > 1)
            threads[nthreads++] = k->settings.list.p[i].value;
    for (u32 b = nblocks; b-- > 0;)
        for (u32 t = 0; t < nthreads; t++) {
            s64 all = blocks[b] * threads[t];
            bool there = all > PASS_MOST || m->passes + 2 > PASSES_MOST;
            for (u32 i = 0; i < m->passes; i++) there |= m->pass[i] == all + 1;
            if (there) continue;
            m->pass[m->passes++] = all + 1;
            m->pass[m->passes++] = 2 * all + 1;
        }
}

struct lab_maker *lab_maker_new(struct arena *mem, const struct contract_kernel *k, u64 seed, u32 cases)
{
    struct lab_maker *m = NEW(mem, struct lab_maker);
    *m = (struct lab_maker){ .k = k, .seed = seed, .cases = cases };
    add_passes(m, k);
    for (u32 i = 0; i < 3; i++) add_edges(m, k->grid[i]);
    for (u32 i = 0; i < 3; i++) add_edges(m, k->block[i]);
    for (u32 i = 0; i < k->settings.list.n; i++)
        if (!k->settings.list.p[i].type) add_edge(m, k->settings.list.p[i].value);
    return m;
}

bool lab_config_next(struct str *rest, struct str *name, struct str *value)
{
    if (!rest->n) return false;
    const char *end = memchr(rest->p, ',', rest->n);
    u32 n = end ? (u32)(end - rest->p) : rest->n, is = 0;
    while (is < n && rest->p[is] != '=') is++;
    *name = (struct str){ rest->p, is };
    *value = (struct str){ rest->p + MIN_OF(is + 1, n), n - MIN_OF(is + 1, n) };
    rest->p += n + (end != NULL);
    rest->n -= n + (end != NULL);
    return true;
}

const char *lab_config_taken(const struct contract_kernel *k, struct str name, struct str value,
                             const struct contract_choice **choice)
{
    for (u32 i = 0; i < k->choices.n; i++)
        for (u32 v = 0; v < k->choices.p[i].value.n; v++) {
            *choice = &k->choices.p[i];
            if (str_is(name, (*choice)->name) && str_is(value, (*choice)->value.p[v])) return (*choice)->value.p[v];
        }
    return NULL;
}

void lab_maker_pin(struct lab_maker *m, const char *config)
{
    struct str rest = str_of(config), name, value;
    const struct contract_choice *c;
    const char *taken;
    while (lab_config_next(&rest, &name, &value))
        if ((taken = lab_config_taken(m->k, name, value, &c)) && m->pinned.choices < CONTRACT_CHOICES)
            m->pinned.choice[m->pinned.choices++] = (struct choice_value){ c->name, taken };
}

static bool is_usual(const struct contract_kernel *k, const struct choice_value *v)
{
    for (u32 i = 0; i < k->choices.n; i++)
        if (!strcmp(k->choices.p[i].name, v->name))
            return !strcmp(k->choices.p[i].value.p[k->choices.p[i].chosen], v->value);
    return false;
}

/* Pinned choices in place of those that a case has made; the usual ones are not written down. */
static void keep_pinned(const struct lab_maker *m, struct contract_case *c)
{
    for (u32 i = 0; i < m->pinned.choices; i++) {
        u32 k = 0;
        while (k < c->choices && strcmp(c->choice[k].name, m->pinned.choice[i].name)) k++;
        bool made = k < c->choices;
        if (!is_usual(m->k, &m->pinned.choice[i])) {
            c->choice[k] = m->pinned.choice[i];
            c->choices += !made;
        } else if (made)
            c->choice[k] = c->choice[--c->choices];
    }
}

static u64 draw(struct lab_maker *m, u64 below)
{
    u64 state = m->seed * 0x9e3779b97f4a7c15u + ++m->drawn * 0xd1342543de82ef95u;
    return below ? rand_next(&state) % below : 0;
}

static bool number_of(const struct expr *x, s64 *out)
{
    if (!x || x->op != EX_NUMBER) return false;
    *out = x->value.i;
    return true;
}

bool lab_size_varies(const struct contract_dim *d) { return !d->value || d->value->op == EX_NUMBER; }

s64 lab_size_fitted(const struct contract_dim *d, s64 v)
{
    s64 low = 1, high = INT64_MAX, step = 1;
    number_of(d->low, &low);
    number_of(d->high, &high);
    if (number_of(d->step, &step) && step > 1) v = (v + step - 1) / step * step;
    v = MAX_OF(v, low);
    return v > high ? high : v;
}

/* The sizes that a dim can have, where they are few: a condition, a number of parts. 0: they are many. */
static u32 few_sizes(const struct contract_dim *d, s64 *low)
{
    s64 high = INT64_MAX;
    *low = 1;
    number_of(d->low, low);
    return !d->step && number_of(d->high, &high) && high >= *low && high - *low < FEW ? (u32)(high - *low + 1) : 0;
}

/* The v-th size of a dim; false: there are no more. */
static bool size_number(const struct lab_maker *m, const struct contract_dim *d, u32 v, s64 *out)
{
    s64 end;
    if (v == 0 && number_of(d->low, out)) return true; /* 0, where it is one */
    if (v == 1) return *out = number_of(d->high, &end) && end <= END_MOST ? end : END_MOST + 1, true;
    if (v < 2) return *out = sizes[v], true;
    v -= 2;
    if (v < m->passes) return *out = m->pass[v], true;
    v -= m->passes;
    if (v < 2 * m->edges) {
        *out = v & 1 ? sizes[(v >> 1) % COUNT_OF(sizes)] : m->edge[v >> 1];
        return true;
    }
    v -= m->edges; /* so many of the list have been taken between */
    if (v >= COUNT_OF(sizes)) return false;
    *out = sizes[v];
    return true;
}

static s64 size_at(const struct lab_maker *m, const struct contract_dim *d, u32 v)
{
    s64 size = 0;
    return size_number(m, d, v, &size) && v ? lab_size_fitted(d, size) : size;
}

/* Whether one of the sizes before the v-th is the same. */
static bool size_was(const struct lab_maker *m, const struct contract_dim *d, u32 v)
{
    for (u32 w = 0; w < v; w++)
        if (size_at(m, d, w) == size_at(m, d, v)) return true;
    return false;
}

/* Each size of each dim, all dims side by side. */
static bool next_size(struct lab_maker *m, struct contract_case *out)
{
    u32 none = 0;
    for (; none < m->k->dims.n; m->i++) {
        if (m->i == m->k->dims.n) m->i = 0, m->v++;
        const struct contract_dim *d = &m->k->dims.p[m->i];
        s64 v;
        if (!lab_size_varies(d) || !size_number(m, d, m->v, &v)) {
            none++;
            continue;
        }
        none = 0;
        if (size_was(m, d, m->v)) continue;
        out->dim[out->dims++] = (struct dim_value){ d->name, size_at(m, d, m->v) };
        m->i++;
        return true;
    }
    return false;
}

static bool next_choice(struct lab_maker *m, struct contract_case *out)
{
    for (; m->i < m->k->choices.n; m->v = 0, m->i++) {
        const struct contract_choice *c = &m->k->choices.p[m->i];
        if (m->v == c->chosen) m->v++;
        if (m->v >= c->value.n) continue;
        out->choice[out->choices++] = (struct choice_value){ c->name, c->value.p[m->v++] };
        return true;
    }
    return false;
}

const char *lab_layout(const struct contract_arg *g, u32 v)
{
    static const char *const still[] = { "broadcast(0)", "broadcast(1)", "broadcast(2)", "broadcast(3)" };
    if (g->kind != CONTRACT_BUFFER) return NULL;
    if (g->layouts >> LAYOUT_ROWS & 1 && !v--) return "rows(3)";
    if (g->layouts >> LAYOUT_OFFSET & 1 && !v--) return "offset(1)";
    if (g->broadcasts >> BROADCAST_ALL & 1 && !v--) return "broadcast(all)"; /* the gradient of a sum */
    for (u32 d = 0; d < COUNT_OF(still); d++)
        if (g->broadcasts >> d & 1 && !v--) return still[d];
    return NULL;
}

/* The usual sizes as whole vectors, where they are not. */
static bool whole_sizes(const struct contract_kernel *k, struct contract_case *out)
{
    s64 low;
    for (u32 i = 0; i < k->dims.n; i++) {
        const struct contract_dim *d = &k->dims.p[i];
        s64 usual = 0, size = 5 * WHOLE; /* where the contract leaves the usual one open */
        if (!lab_size_varies(d) || few_sizes(d, &low)) continue;
        if (number_of(d->value, &usual)) size = (usual + WHOLE - 1) / WHOLE * WHOLE;
        size = lab_size_fitted(d, size);
        if (size != usual) out->dim[out->dims++] = (struct dim_value){ d->name, size };
    }
    return out->dims > 0;
}

/* Each layout of each array, with the usual sizes and then with whole vectors: a kernel that reads 16 bytes at once
 * does so only where sizes let it, and must not where one of its layouts does not. */
static bool next_layout(struct lab_maker *m, struct contract_case *out)
{
    u32 n = m->k->args.n;
    for (; m->i < 2 * n; m->v = 0, m->i++) {
        const struct contract_arg *g = &m->k->args.p[m->i % n];
        const char *l = lab_layout(g, m->v);
        if (!l || (m->i >= n && !whole_sizes(m->k, out))) continue;
        m->v++;
        out->layout[out->layouts++] = (struct choice_value){ g->name, l };
        return true;
    }
    return false;
}

/* Fills all arrays that allow it with the same word, then a single array at a time. */
static bool next_contents(struct lab_maker *m, struct contract_case *out)
{
    const struct contract_kernel *k = m->k;
    for (; m->i <= k->args.n; m->v = 0, m->i++)
        for (; m->v < FILL_WORDS;) {
            u32 word = m->v++;
            for (u32 a = 0; a < k->args.n && out->contentses < CASE_ARRAYS; a++)
                if (case_may_fill(&k->args.p[a], word) && (!m->i || m->i - 1 == a))
                    out->contents[out->contentses++] = (struct choice_value){ k->args.p[a].name, fill_word_name(word) };
            if (out->contentses > 0) return true;
        }
    return false;
}

/* A size by chance. Of many dims only a few are large at a time: the work is their product. */
static s64 random_size(struct lab_maker *m, const struct contract_dim *d, u32 varying)
{
    s64 low;
    u32 few = few_sizes(d, &low);
    if (few) return low + (s64)draw(m, few);
    if (varying > LARGE_DIMS && draw(m, varying) >= LARGE_DIMS) return 1 + (s64)draw(m, SMALL_MOST);
    if (m->edges && !draw(m, 4)) return m->edge[draw(m, m->edges)];
    return draw(m, 2) ? sizes[draw(m, COUNT_OF(sizes))] : 1 + (s64)draw(m, RANDOM_SIZE_MOST);
}

/* The first words find most, and come twice as often; FILL_WORDS and more: none. */
static u32 word_by_chance(struct lab_maker *m)
{
    enum { OFTEN = 7 };
    u32 r = (u32)draw(m, FILL_WORDS + OFTEN + 2);
    return r < 2 * OFTEN ? r / 2 : r - OFTEN;
}

static bool next_random(struct lab_maker *m, struct contract_case *out)
{
    const struct contract_kernel *k = m->k;
    u32 varying = 0;
    s64 low;
    for (u32 i = 0; i < k->dims.n; i++) varying += lab_size_varies(&k->dims.p[i]) && !few_sizes(&k->dims.p[i], &low);
    for (u32 i = 0; i < k->dims.n; i++) {
        const struct contract_dim *d = &k->dims.p[i];
        if (!lab_size_varies(d) || !draw(m, 3)) continue;
        out->dim[out->dims++] = (struct dim_value){ d->name, lab_size_fitted(d, random_size(m, d, varying)) };
    }
    for (u32 i = 0; i < k->choices.n; i++) {
        const struct contract_choice *c = &k->choices.p[i];
        u32 v = (u32)draw(m, c->value.n);
        if (v != c->chosen) out->choice[out->choices++] = (struct choice_value){ c->name, c->value.p[v] };
    }
    for (u32 i = 0; i < k->args.n; i++) {
        const struct contract_arg *g = &k->args.p[i];
        u32 layouts = 4; /* or more; with fewer layouts, some draws choose the dense one */
        while (lab_layout(g, layouts)) layouts++;
        const char *l = draw(m, 2) ? lab_layout(g, (u32)draw(m, layouts)) : NULL;
        if (l && out->layouts < CASE_ARRAYS) out->layout[out->layouts++] = (struct choice_value){ g->name, l };
        u32 word = word_by_chance(m);
        if (word < FILL_WORDS && case_may_fill(g, word) && out->contentses < CASE_ARRAYS)
            out->contents[out->contentses++] = (struct choice_value){ g->name, fill_word_name(word) };
    }
    return true;
}

void lab_maker_reached(struct arena *mem, struct lab_maker *m, const struct contract_case *c,
                       const struct lab_outcome *o, u32 number)
{
    struct lab_reached *r = NEW(mem, struct lab_reached);
    *r = (struct lab_reached){ .c = *c, .dims = o->dims, .number = number };
    memcpy(r->dim, o->dim, sizeof r->dim);
    VEC_PUSH(mem, &m->reached, r);
}

/* A change of a case that reached something new, the later ones twice as often. */
static bool next_change(struct lab_maker *m, struct contract_case *out)
{
    u32 n = 0;
    while (n < m->reached.n && m->reached.p[n]->number + REACHED_LATER <= m->number) n++;
    if (!n) return false;
    u64 a = draw(m, n), b = draw(m, n), state = draw(m, UINT64_MAX);
    lab_change(m->k, m->reached.p[MAX_OF(a, b)], &state, out);
    return true;
}

static bool next_by_chance(struct lab_maker *m, struct contract_case *out)
{
    bool change = m->number >= GUIDED_FROM && m->made[STAGES - 1] % 2;
    return (change && next_change(m, out)) || next_random(m, out);
}

static void make_next(struct lab_maker *m, struct contract_case *out)
{
    static bool (*const stages[STAGES])(struct lab_maker *, struct contract_case *) = { next_contents, next_choice,
                                                                                        next_layout, next_size,
                                                                                        next_by_chance };
    /* how much of a campaign a stage may take: what is random gets the rest */
    static const u32 percent[STAGES] = { 30, 20, 25, 35, 100 };
    *out = (struct contract_case){ .seed = m->seed };
    if (!m->stage) { /* the usual case */
        m->stage = 1;
        return;
    }
    for (;; m->stage++, m->i = m->v = 0) {
        u32 s = m->stage - 1;
        if (s + 1 < STAGES && m->made[s] * 100 >= m->cases * percent[s]) continue;
        if (!stages[s](m, out)) continue;
        m->made[s]++;
        out->seed = m->seed + (s + 1 == STAGES ? m->made[s] : 0);
        return;
    }
}

void lab_maker_next(struct lab_maker *m, u32 number, struct contract_case *out)
{
    m->number = number;
    make_next(m, out);
    keep_pinned(m, out);
}
