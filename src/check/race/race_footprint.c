/* Footprints: what the cells have of a launch when it ends.
 *
 * The race check keeps less than all accesses, and all that a footprint needs. A record of a byte goes only when a
 * later access of the launch takes its place, one that is ordered after it and conflicts with everything that it
 * conflicts with (race_cell.c, race_list.c: supersedes). So of each byte there is
 *   - its last weak write, or none was made. It hides the reads and strong accesses before it, which need not be known:
 *     a weak write conflicts with every access. It may also hide those after it (transient reads of race_cell.c);
 *   - reads since, weak ones as such: a strong write never takes the place of a weak read;
 *   - strong accesses, of which one stands for others of the same kind and bytes with the narrowest scope of them.
 * That holds for each form of record:
 *   uniform words     all bytes of the sector
 *   elements          4, 2 or 1 bytes each; a part of an element that is accessed alone makes it finer
 *   reader sets       the bytes of the element or the sector that has the set
 *   write pairs       weak and strong writes, each with elements
 *   lists             each entry with its bytes, each location with its strong accesses
 * The one loss: a list of more than LIST_MOST entries forgets its oldest.
 *
 * Where launches run side by side, a record of another launch may have taken the place of one of this launch: one that
 * is ordered after it by synchronisation inside the kernels. An access ordered after the other launch is then ordered
 * after that access, too; any other conflicts with the other launch. */
#include "race/race_footprint.h"
#include "race/race_launch.h"
#include "race/race_reads.h"
#include "race/race_slow.h"

/* What is done to a byte: OP_WRITE, and STRONG for a scope that includes other launches. */
enum { STRONG = 2, CLASSES = 4 };
struct sector_use {
    u32 bytes[CLASSES];
    u32 site[CLASSES]; /* of those of one kind, the lowest */
};

struct reading { /* of the cells of one launch */
    const struct race *race;
    const struct race_launch *launch;
    const struct notes *notes;
    u64 lo; /* access words of the launch are not below this */
    const struct launch *of;
    struct footprint_run run[CLASSES]; /* the one that goes on; empty: from == to */
    u32 site[CLASSES];                 /* of that */
};

/* The access belongs to this launch, not to another launch of the era. No launch begins meanwhile. */
static bool is_mine(const struct reading *f, u64 a)
{
    struct race_era *era = f->race->era;
    struct resident was;
    if (a < f->lo || era->launches == 1) return a >= f->lo;
    lock(&era->lock);
    bool mine = resident_at(f->race, word_slot(a), word_time(a), &was) && was.launch == f->launch->number;
    unlock(&era->lock);
    return mine;
}

static void add(struct sector_use *u, u32 op, u32 scope, u32 bytes, u32 site)
{
    u32 k = (op & OP_WRITE) | (op & OP_STRONG && scope >= SCOPE_GPU ? STRONG : 0);
    if (!u->bytes[k] || site < u->site[k]) u->site[k] = site;
    u->bytes[k] |= bytes;
}

/* ---- one sector ---- */

/* The members of a reader set, or of the strong accesses to a location. */
static void add_set(const struct reading *f, struct sector_use *u, u32 set, u32 bytes)
{
    struct member m;
    while (set) {
        set = set_last(f->notes, set, &m);
        u32 op = (m.a & STRONG_ANY ? OP_STRONG : 0) | (m.a & STRONG_ANY && m.a & STRONG_WRITE ? OP_WRITE : OP_READ);
        if (is_mine(f, m.a)) add(u, op, word_scope(m.a), bytes, m.site);
    }
}

static void add_elements(const struct reading *f, struct sector_use *u, u32 x, u32 op)
{
    u32 step = x ? element_size(x) : SECTOR;
    for (u32 k = 0; x && k < SECTOR; k += step) {
        struct prior p = element_at(f->notes, x, k);
        if (!p.a) continue;
        if (word_is_set(p.a))
            add_set(f, u, p.site, bytes_mask(k, step));
        else if (is_mine(f, p.a))
            add(u, op, word_scope(p.a), bytes_mask(k, step), p.site);
    }
}

static void add_list(const struct reading *f, struct sector_use *u, u32 number)
{
    const struct list *l = pool_at(&f->notes->list, number);
    for (u32 n = 0; n < l->n; n++)
        if (is_mine(f, l->e[n].a)) add(u, l->e[n].op, l->e[n].scope, l->e[n].bytes, l->e[n].site);
    for (u32 n = 0; n < l->ns; n++) add_set(f, u, l->s[n].set, l->s[n].bytes);
}

/* Without what another kind hides: a weak write hides all, and a strong read conflicts with weak writes only. */
static void without_hidden(struct sector_use *u)
{
    u32 written = u->bytes[OP_WRITE];
    u->bytes[OP_READ] &= ~written;
    u->bytes[OP_WRITE | STRONG] &= ~written;
    u->bytes[OP_READ | STRONG] &= ~(written | u->bytes[OP_READ] | u->bytes[OP_WRITE | STRONG]);
}

static struct sector_use sector_use(const struct reading *f, const struct cell *c)
{
    struct sector_use u = { 0 };
    if (c->w >= f->lo && !word_mixed(c->w)) {
        if (is_mine(f, c->w)) add(&u, OP_WRITE, 0, ~0u, c->wx);
    } else if (cell_has_list(c, f->lo))
        add_list(f, &u, c->wx);
    else if (c->w >= f->lo) {
        struct write_pair b = { c->wx, 0 };
        if (c->w & FLAG_PAIR) b = *POOL_AT(&f->notes->write_pair, struct write_pair, c->wx);
        add_elements(f, &u, b.weak, OP_WRITE);
        add_elements(f, &u, b.strong, OP_WRITE | OP_STRONG);
    }
    if (c->r >= f->lo && word_is_set(c->r))
        add_set(f, &u, c->rx, ~0u);
    else if (c->r >= f->lo && word_mixed(c->r))
        add_elements(f, &u, c->rx, OP_READ);
    else if (c->r >= f->lo && is_mine(f, c->r))
        add(&u, OP_READ, 0, ~0u, c->rx);
    without_hidden(&u);
    return u;
}

/* Of an object that the launch only reads. */
static struct sector_use read_only_use(const struct reading *f, const struct cell *c)
{
    struct sector_use u = { 0 };
    u.bytes[OP_READ] = reads_bytes(c, f->lo);
    u.site[OP_READ] = reads_site(c);
    return u;
}

/* ---- runs of sectors ---- */

static const struct cell *cell_in(const struct mem_object *o, u64 at)
{
    return cell_of((const char *)(uintptr_t)(o->race ? o->race : o->reads), at);
}

static void flush(struct reading *f, u32 k)
{
    struct footprint_run *r = &f->run[k];
    const struct access_sink *sink = f->launch->sink;
    if (r->from == r->to) return;
    r->write = k & OP_WRITE;
    r->strong = k & STRONG;
    r->low = f->of->sim->functions.func[f->site[k] >> SITE_FUNCTION];
    r->op = f->site[k] & SITE_OPERATION;
    if (r->low && r->op >= r->low->nop) r->low = NULL;
    sink->run(sink->self, r);
    r->from = r->to = 0;
}

static void put_sector(struct reading *f, u64 at, const struct sector_use *u)
{
    for (u32 k = 0; k < CLASSES; k++) {
        struct footprint_run *r = &f->run[k];
        if (r->to == at && r->from != r->to && r->bytes == u->bytes[k] && f->site[k] == u->site[k]) {
            r->to = at + SECTOR;
            continue;
        }
        flush(f, k);
        if (!u->bytes[k]) continue;
        *r = (struct footprint_run){ .from = at, .to = at + SECTOR, .bytes = u->bytes[k] };
        f->site[k] = u->site[k];
    }
}

/* A word of a cell that another launch may be writing. It is read whole, and where it says that there is something, the
 * cell is read again under its lock; ThreadSanitizer cannot know that. */
#if defined __SANITIZE_THREAD__
__attribute__((noinline, no_sanitize("thread")))
#endif
static u64
peek(const volatile u64 *word)
{
    return *word;
}

/* The sectors from `from` to `to` of an object; the number of those that the launch, or another one of its era, has
 * used. */
static u64 put_sectors(struct reading *f, const struct mem_object *o, u64 from, u64 to)
{
    struct race_era *era = f->race->era;
    u64 used = 0;
    for (u64 at = from; at < to; at += SECTOR) {
        const struct cell *c = cell_in(o, at);
        if (likely(peek(&c->w) < f->lo && peek(&c->r) < f->lo)) continue;
        cells_lock(era, at); /* other launches may run */
        struct sector_use u = o->race ? sector_use(f, c) : read_only_use(f, c);
        cells_unlock(era, at);
        put_sector(f, at, &u);
        used++;
    }
    return used;
}

/* ---- large objects ----
 *
 * A launch of a few threads may be given an object of gigabytes, whose cells nearly all are as they were: their pages
 * have never been used, which the system tells without a look at them. Pages that an earlier launch has used are read;
 * where launch after launch leaves them alone, they are given back. */

enum {
    LARGE = 1 << 20,  /* bytes of cells from which on the system is asked */
    ASKED = 4096,     /* pages that it is asked for at a time */
    IDLE_LAUNCHES = 4 /* after so many launches in a row that used few of the pages, the others are given back */
};

/* Goes over the pages of the cells of an object; they are known by their distance from the first cell. */
struct pages_reader {
    struct reading *f;
    const struct tracked *t;
    u64 first_sector, end_sector; /* of the object */
    u64 pages, used;              /* that were read; sectors of them that the era has used */
};

/* The sectors of the cells from..to, whole ones. A cell that lies in two pages is there only if both were used: whoever
 * records an access touches all of it. */
static void sectors_in(const struct pages_reader *p, u64 from, u64 to, u64 *first, u64 *end)
{
    u64 size = sizeof(struct cell);
    *first = p->first_sector + (from + size - 1) / size * SECTOR;
    *end = MIN_OF(p->first_sector + to / size * SECTOR, p->end_sector);
}

/* Called for each maximal run of used pages. */
static void read_pages(struct pages_reader *p, u64 from, u64 to)
{
    u64 first, end;
    sectors_in(p, from, to, &first, &end);
    p->used += put_sectors(p->f, p->t->o, first, end);
    p->pages += (to - from) / page_size();
}

/* No cell of the run from..to that lies in this page, wholly or in part, belongs to the era. */
static bool is_stale(const struct pages_reader *p, u64 from, u64 to, u64 page)
{
    u64 first, end, size = sizeof(struct cell);
    sectors_in(p, MAX_OF(from, page / size * size), MIN_OF(to, page + page_size() + size - 1), &first, &end);
    for (u64 at = first; at < end; at += SECTOR) {
        const struct cell *c = cell_in(p->t->o, at);
        if (c->w >= p->f->lo || c->r >= p->f->lo) return false;
    }
    return true;
}

/* A page is given back when the one after it was looked at, which has a part of its last cell. */
static void give_back_stale(struct pages_reader *p, u64 from, u64 to)
{
    u64 stale = from; /* the first page of a run of stale ones */
    for (u64 page = from; page <= to; page += page_size()) {
        if (page < to && is_stale(p, from, to, page)) continue;
        if (stale < page) pages_discard(p->t->cells + stale, page - stale);
        stale = page + page_size();
    }
}

/* Each run of pages that were used. false: the system does not say which, and nothing was done. */
static bool each_used(struct pages_reader *p, void (*does)(struct pages_reader *p, u64 from, u64 to))
{
    u8 used[ASKED];
    u64 size = page_size(), pages = (cells_for(p->end_sector - p->first_sector) + size - 1) / size, from = pages;
    for (u64 k = 0; k < pages; k++) {
        u64 n = MIN_OF(pages - k, (u64)ASKED), i = k % ASKED;
        if (!i && !pages_used(p->t->cells + k * size, n * size, used)) {
            if (k) does(p, MIN_OF(from, k) * size, pages * size);
            return k;
        }
        if (used[i]) {
            from = MIN_OF(from, k);
            continue;
        }
        if (from < pages) does(p, from * size, k * size);
        from = pages;
        const u8 *next = memchr(used + i, 1, MIN_OF(n, ASKED - i));
        k += (next ? (u64)(next - used) : MIN_OF(n + i, (u64)ASKED)) - i - 1;
    }
    if (from < pages) does(p, from * size, pages * size);
    return true;
}

/* Memory that was freed while the launch ran belongs to its footprint: whoever freed it may not have waited. */
static void put_object(struct reading *f, const struct mem_object *o, struct tracked *t)
{
    if (!o->race && !o->reads) return;
    u64 from = o->base & ~(u64)(SECTOR - 1), to = (o->base + o->size + SECTOR - 1) & ~(u64)(SECTOR - 1);
    struct pages_reader p = { .f = f, .t = t, .first_sector = from, .end_sector = to };
    bool large = t && cells_for(to - from) >= LARGE && !o->maps;
    u64 run, bytes;
    if (o->maps) /* reserved addresses: those that have memory */
        for (u64 next = o->base; mem_run_next(o, next, false, &run, &bytes); next = run + bytes)
            put_sectors(f, o, run, run + bytes);
    else if (!large || !each_used(&p, read_pages))
        put_sectors(f, o, from, to);
    for (u32 k = 0; k < CLASSES; k++) flush(f, k);
    if (!large) return;
    t->idle = p.used < p.pages / 2 ? t->idle + 1 : 0;
    /* nobody else uses the cells: no other launch runs, and none can begin meanwhile */
    bool alone = f->race->running == f->launch && !f->launch->next && !f->race->unwatched;
    if (t->idle < IDLE_LAUNCHES || !alone) return;
    each_used(&p, give_back_stale);
    t->idle = 0;
}

static struct reading reading_of(const struct race *r, const struct race_launch *launch)
{
    const struct race_era *era = r->era;
    return (
        struct reading){ .race = r, .launch = launch, .notes = &era->notes, .lo = hb_era_floor(era), .of = launch->of };
}

void footprint_report(const struct race *r, const struct race_launch *launch)
{
    const struct access_sink *sink = launch->sink;
    struct reading f = reading_of(r, launch);
    sink->begin(sink->self, launch->exact, r->era->serial);
    for (u32 n = 0; n < r->ntracked; n++) /* a freed object may have been there, and its cells may remain */
        if (r->tracked[n].o->tracked == n + 1) put_object(&f, r->tracked[n].o, &r->tracked[n]);
    for (u32 n = 0; n < r->nheap; n++) /* what the kernel itself has freed may be anybody's by now */
        if (r->heap[n]->tracked == n + 1 && mem_is_live(r->heap[n])) put_object(&f, r->heap[n], NULL);
}

void footprint_report_gone(const struct race *r, struct tracked *t)
{
    for (const struct race_launch *k = r->running; k; k = k->next) {
        struct reading f = reading_of(r, k);
        if (k->sink) put_object(&f, t->o, t);
    }
}
