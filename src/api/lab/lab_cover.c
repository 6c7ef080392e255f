/* What of a kernel the cases of a campaign have reached: lines of its file, both ways of its branches.
 *
 * An observer sees which blocks of the code are run, and where their branches go; when a launch ends, blocks become
 * lines. Functions that were never called have no lines here, and lines that the compiler left no code for have none.
 * Several branches of one line (of an unrolled loop) count as one.
 *
 * Beside lines there are points, which guide the making of cases (lab_guide.c): a site, a block of the code, where
 * none, some or all of the lanes jump, and how often a warp comes there, to a power of two. */
#include "lab/cover.h"
#include "sim/finding_place.h"
#include "sim/observe.h"
#include <stdlib.h>

struct cover_code { /* a function as it was lowered */
    u32 serial;     /* of it */
    struct lowered *low;
    u32 *line;  /* by operation; 0: none of this file */
    u8 *block;  /* COVER_*, of this launch */
    u32 *round; /* how often, by block and warp, of the first COVER_WARPS */
    u64 name;   /* a hash of its name, which is the same in every process */
    struct cover_code *next;
};
struct cover_watch {
    struct observer observer;
    struct arena mem;
    const char *file; /* its lines count */
    struct cover_code *code;
    struct lab_cover *to; /* of the launch that runs; NULL: none does */
};

static const char *name_in(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* The line of the kernel's own file that an operation comes from: that of the call, where it was inlined from another
 * file. */
static u32 line_of(const struct cover_watch *w, const struct place *p)
{
    for (; p; p = p->inlined_at)
        if (p->file && !strcmp(name_in(p->file), name_in(w->file))) return p->line;
    return 0;
}

static struct cover_code *code_of(struct cover_watch *w, struct lowered *low)
{
    for (struct cover_code *c = w->code; c; c = c->next)
        if (c->low == low && c->serial == low->serial) return c;
    struct arena scratch = { 0 };
    struct cover_code *c = NEW(&w->mem, struct cover_code);
    *c = (struct cover_code){ .serial = low->serial, .low = low, .next = w->code };
    c->line = NEW_ARRAY(&w->mem, u32, low->nop + 1);
    c->block = NEW_ARRAY(&w->mem, u8, low->nblock + 1);
    c->round = NEW_ARRAY(&w->mem, u32, (u64)(low->nblock + 1) * COVER_WARPS);
    c->name = str_hash(low->func->name);
    for (u32 k = 0; k < low->nop; k++)
        if (!low->op[k].dead && low->op[k].src) c->line[k] = line_of(w, finding_place(&scratch, low, k));
    arena_free(&scratch);
    return w->code = c;
}

static void saw_block(void *self, struct warp *w, u32 b, u32 taken)
{
    struct cover_watch *x = self;
    struct cover_code *c = code_of(x, w->code->low);
    u64 number = w->cta->linear * w->cta->nwarps + w->id;
    u32 is = COVER_RAN | (taken ? COVER_JUMPED : 0) | (w->mask & ~taken ? COVER_FOLLOWED : 0);
    is |= !taken ? COVER_NO : w->mask & ~taken ? COVER_SOME : COVER_ALL;
    c->block[b] |= (u8)(is | (~w->mask ? COVER_THIN : 0));
    if (number < COVER_WARPS) c->round[b * COVER_WARPS + number]++;
    if (x->to) x->to->steps += c->low->block[b].end - c->low->block[b].first;
}

static void add_point(struct lab_cover *to, const struct cover_code *c, u32 block, u32 what)
{
    u64 h = (c->name + block * 64u + what) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    u32 bit = (u32)(h >> 40) % COVER_POINTS;
    to->points[bit / 64] |= (u64)1 << bit % 64;
}

/* The points of a block, whose counts begin anew. */
static void add_points(struct lab_cover *to, struct cover_code *c, u32 b)
{
    u32 *round = c->round + b * COVER_WARPS;
    for (u32 bit = 0; bit < 8; bit++)
        if (c->block[b] >> bit & 1) add_point(to, c, b, bit);
    for (u32 w = 0; w < COVER_WARPS; w++) {
        if (!round[w]) continue;
        u32 power = 0;
        while (round[w] >> (power + 1)) power++;
        add_point(to, c, b, 8 + power);
        round[w] = 0;
    }
}

void lab_cover_add(struct lab_cover *to, u32 line, u32 is)
{
    u32 i = 0;
    while (i < to->n && to->at[i].line != line) i++;
    if (i == COVER_MOST) return;
    if (i == to->n) to->at[to->n++] = (struct cover_line){ line, 0 };
    to->at[i].is |= is;
}

static void ended(void *self, const struct launch *l)
{
    struct cover_watch *w = self;
    (void)l;
    for (struct cover_code *c = w->code; c && w->to; c = c->next) {
        bool ran = false;
        for (u32 b = 0; b < c->low->nblock; b++) ran |= c->block[b] != 0;
        for (u32 b = 0; ran && b < c->low->nblock; b++) {
            const struct block *k = &c->low->block[b];
            add_points(w->to, c, b);
            for (u32 op = k->first; op < k->end; op++)
                if (c->line[op]) lab_cover_add(w->to, c->line[op], c->block[b] & COVER_RAN);
            bool decides = k->term == TERM_BRA && k->end > k->first && c->low->op[k->end - 1].guard.kind == O_REG;
            if (decides && c->line[k->end - 1])
                lab_cover_add(w->to, c->line[k->end - 1], COVER_BRANCH | (c->block[b] & COVER_OF_LINES));
        }
        memset(c->block, 0, c->low->nblock);
    }
}

struct cover_watch *lab_cover_new(const char *file)
{
    struct cover_watch *w = base_need(sizeof *w);
    *w = (struct cover_watch){ .file = file, .observer = { .block = saw_block, .end = ended } };
    w->observer.self = w;
    return w;
}

void lab_cover_forget(struct cover_watch *w)
{
    if (!w) return;
    w->code = NULL;
    arena_free(&w->mem);
}

struct observer *lab_cover_observer(struct cover_watch *w, struct lab_cover *to)
{
    w->to = to;
    return &w->observer;
}

void lab_cover_free(struct cover_watch *w)
{
    if (!w) return;
    arena_free(&w->mem);
    base_free(w);
}

void lab_cover_merge(struct lab_cover *to, const struct lab_cover *from)
{
    for (u32 i = 0; i < from->n; i++) lab_cover_add(to, from->at[i].line, from->at[i].is);
    for (u32 i = 0; i < COUNT_OF(to->points); i++) to->points[i] |= from->points[i];
}

u32 lab_cover_fresh(const struct lab_cover *known, const struct lab_cover *x, struct text *list)
{
    u32 n = 0;
    for (u32 i = 0; i < COVER_POINTS; i++) {
        if (!(x->points[i / 64] >> i % 64 & 1) || known->points[i / 64] >> i % 64 & 1) continue;
        if (list) text_add(list, "%s%x", n ? " " : "", i);
        n++;
    }
    return n;
}

u32 lab_cover_points(const struct lab_cover *c)
{
    static const struct lab_cover none;
    return lab_cover_fresh(&none, c, NULL);
}

static int by_line(const void *a, const void *b)
{
    const struct cover_line *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* "12, 14..17" */
static void lines_text(const struct lab_cover *c, bool branches, struct text *out)
{
    for (u32 i = 0, first = 1; i < c->n; i++) {
        u32 is = c->at[i].is, both = COVER_JUMPED | COVER_FOLLOWED;
        bool missing = branches ? is & COVER_BRANCH && is & COVER_RAN && (is & both) != both : !(is & COVER_RAN);
        if (!missing) continue;
        text_add(out, "%s%u", first ? "" : ", ", c->at[i].line);
        first = 0;
    }
}

void lab_cover_sum(struct arena *mem, struct lab_cover *c, lk_test_kernel *to)
{
    struct text lines = { 0 }, branches = { 0 };
    qsort(c->at, c->n, sizeof *c->at, by_line);
    to->lines = c->n;
    to->points = lab_cover_points(c);
    for (u32 i = 0; i < c->n; i++) {
        u32 is = c->at[i].is;
        to->lines_reached += (is & COVER_RAN) != 0;
        if (!(is & COVER_BRANCH)) continue;
        to->ways += 2;
        to->ways_taken += ((is & COVER_JUMPED) != 0) + ((is & COVER_FOLLOWED) != 0);
    }
    lines_text(c, false, &lines);
    lines_text(c, true, &branches);
    to->lines_missing = arena_str(mem, (struct str){ lines.n ? lines.p : "", (u32)lines.n });
    to->branches_one_way = arena_str(mem, (struct str){ branches.n ? branches.p : "", (u32)branches.n });
    text_free(&lines);
    text_free(&branches);
}
