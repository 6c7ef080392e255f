/* Collecting findings into entries. entry.h says what an entry keeps; here is how findings become one. */
#include "report/entry.h"

static const struct {
    const char *id, *title, *meaning, *fix;     /* the columns of finding.def */
    enum severity severity;
} kinds[F_COUNT] = {
#define KIND(id, severity, title, meaning, fix) [F_##id] = { #id, title, meaning, fix, severity },
#include "report/finding.def"
#undef KIND
};

const char *finding_id(enum finding_kind k) { return kinds[k].id; }
const char *finding_title(enum finding_kind k) { return kinds[k].title; }
const char *finding_meaning(enum finding_kind k) { return kinds[k].meaning; }
const char *finding_fix(enum finding_kind k) { return kinds[k].fix; }
enum severity finding_severity(enum finding_kind k) { return kinds[k].severity; }

enum finding_kind finding_find(const char *id)
{
    u32 k = 0;
    while (k < F_COUNT && strcmp(kinds[k].id, id))
        k++;
    return k;
}

struct report *report_new(void)
{
    struct report *r = base_alloc(sizeof *r);
    if (r)
        pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void entry_free(struct entry *e)
{
    for (u32 i = 0; e->who.piece && i < SET_PIECES; i++)
        base_free(e->who.piece[i]);
    base_free(e->who.piece);
    arena_free(&e->mem);
    base_free(e);
}

static void empty(struct report *r)
{
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b], *next; e; e = next) {
            next = e->next;
            entry_free(e);
        }
    memset(r->bucket, 0, sizeof r->bucket);
    r->last = NULL;
    r->entries = r->errors = r->notes = 0;
    r->occurrences = r->error_occurrences = r->dropped = 0;
}

void report_free(struct report *r)
{
    if (!r)
        return;
    empty(r);
    pthread_mutex_destroy(&r->lock);
    base_free(r);
}

void report_clear(struct report *r)
{
    lock(&r->lock);
    empty(r);
    unlock(&r->lock);
}

static u64 mix(u64 h, u64 x)
{
    h = (h ^ x) * 0xff51afd7ed558ccdu;
    return h ^ h >> 31;
}

static u64 mix_text(u64 h, const char *z)
{
    return z ? mix(h, str_hash(str_of(z))) : mix(h, 1);
}

/* With a source place, copies of one line (an unrolled loop) are one cause; without, the PTX line is the place. */
static u64 mix_place(u64 h, const struct place *p)
{
    for (; p; p = p->inlined_at) {
        h = mix_text(h, p->file);
        h = mix(h, (u64)p->line << 32 | p->col);
        if (!p->file)
            h = mix(mix_text(h, p->ptx_file), p->ptx_line);
    }
    return h;
}

static u64 finding_hash(const struct finding *f)
{
    u64 h = mix(mix((u64)f->kind + 1, f->cause_key), f->width);
    h = mix_place(mix_place(h, f->place), f->other);
    h = mix_text(mix_text(mix_text(h, f->kernel), f->access), f->space);
    return mix_text(mix_text(h, f->object), f->neighbour);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_place(const struct place *a, const struct place *b)
{
    for (; a && b && a != b; a = a->inlined_at, b = b->inlined_at) {
        if (a->line != b->line || a->col != b->col || !same_text(a->file, b->file))
            return false;
        if (!a->file && (a->ptx_line != b->ptx_line || !same_text(a->ptx_file, b->ptx_file)))
            return false;
    }
    return a == b;
}

static bool same_cause(const struct finding *a, const struct finding *b)
{
    return a->kind == b->kind && a->cause_key == b->cause_key && a->width == b->width && same_place(a->place, b->place) &&
           same_place(a->other, b->other) && same_text(a->kernel, b->kernel) && same_text(a->access, b->access) &&
           same_text(a->space, b->space) && same_text(a->object, b->object) && same_text(a->neighbour, b->neighbour);
}

static void keep_text(struct arena *a, const char **z)
{
    if (*z)
        *z = arena_str(a, str_of(*z));
}

static const struct place *keep_place(struct arena *a, const struct place *p)
{
    if (!p)
        return NULL;
    struct place *q = NEW(a, struct place);
    *q = *p;
    keep_text(a, &q->file);
    keep_text(a, &q->function);
    keep_text(a, &q->ptx_file);
    keep_text(a, &q->ptx_text);
    q->inlined_at = keep_place(a, p->inlined_at);
    return q;
}

static u32 smallest_lane(const struct finding *f)
{
    u32 best = 0;
    for (u32 i = 1; i < f->nlanes; i++)
        if (f->thread[i] < f->thread[best])
            best = i;
    return best;
}

static u64 cta_of(const struct finding *f)
{
    return f->cta[0] + (u64)f->nctaid[0] * (f->cta[1] + (u64)f->nctaid[1] * f->cta[2]);
}

static void represent(struct entry *e, const struct finding *f, u32 lane)
{
    arena_free(&e->mem);
    e->f = *f;
    e->first_cta = cta_of(f);
    e->first_lane = lane;
    e->f.place = keep_place(&e->mem, f->place);
    e->f.other = keep_place(&e->mem, f->other);
    const char **texts[] = { &e->f.kernel, &e->f.access, &e->f.space, &e->f.object, &e->f.object_type, &e->f.object_note,
                             &e->f.neighbour, &e->f.cause, &e->f.fix, &e->f.detail };
    for (u32 i = 0; i < COUNT_OF(texts); i++)
        keep_text(&e->mem, texts[i]);
}

static void set_shape(struct thread_set *s, const struct finding *f)
{
    memcpy(s->nctaid, f->nctaid, sizeof s->nctaid);
    memcpy(s->ntid, f->ntid, sizeof s->ntid);
    s->threads = (u64)s->ntid[0] * s->ntid[1] * s->ntid[2];
    s->ctas = (u64)s->nctaid[0] * s->nctaid[1] * s->nctaid[2];
    s->piece = base_alloc(sizeof *s->piece * SET_PIECES);
}

static void set_add(struct thread_set *s, const struct finding *f)
{
    if (!s->ntid[0])
        set_shape(s, f);
    if (memcmp(s->nctaid, f->nctaid, sizeof s->nctaid) || memcmp(s->ntid, f->ntid, sizeof s->ntid) || !s->piece ||
        s->threads > SET_CTA_MOST) {
        s->partial = true;
        return;
    }
    u64 first = cta_of(f) * s->threads;
    for (u32 i = 0; i < f->nlanes; i++) {
        u64 at = first + f->thread[i];
        if (at >= SET_MOST || f->thread[i] >= s->threads) {
            s->partial = true;
            continue;
        }
        u64 **p = &s->piece[at / SET_PIECE];
        if (!*p && !(*p = base_alloc(SET_PIECE / 8))) {
            s->partial = true;
            continue;
        }
        at %= SET_PIECE;
        (*p)[at / 64] |= 1ull << at % 64;
    }
}

static u64 gcd(u64 a, u64 b)
{
    while (b) {
        u64 t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static void range_add(struct entry *e, const struct finding *f)
{
    for (u32 i = 0; f->access && i < f->nlanes; i++) {
        s64 off = (s64)(f->addr[i] - (f->object ? f->object_base : 0));
        if (!e->has_range)
            e->low = e->high = e->anchor = off;
        e->has_range = true;
        e->low = MIN_OF(e->low, off);
        e->high = MAX_OF(e->high, off);
        u64 apart = off > e->anchor ? (u64)off - (u64)e->anchor : (u64)e->anchor - (u64)off;
        if (apart)
            e->step = gcd(e->step, apart);
    }
}

static struct entry *entry_get(struct report *r, const struct finding *f)
{
    u64 hash = finding_hash(f);
    if (r->last && r->last->hash == hash && same_cause(&r->last->f, f))
        return r->last;
    struct entry **b = &r->bucket[hash % BUCKETS];
    for (struct entry *e = *b; e; e = e->next)
        if (e->hash == hash && same_cause(&e->f, f))
            return r->last = e;
    struct entry *e = r->entries < ENTRIES_MOST ? base_alloc(sizeof *e) : NULL;
    if (!e)
        return NULL;
    e->hash = hash;
    represent(e, f, smallest_lane(f));
    e->next = *b;
    *b = e;
    r->entries++;
    if (finding_severity(f->kind) == SEV_ERROR)
        r->errors++;
    else
        r->notes++;
    return r->last = e;
}

void report_add(struct report *r, const struct finding *f)
{
    CHECK(f->kind < F_COUNT && f->nlanes <= FINDING_LANES);
    u64 n = f->joins ? 0 : f->once ? 1 : MAX_OF(f->nlanes, 1u);
    lock(&r->lock);
    r->occurrences += n;
    r->error_occurrences += finding_severity(f->kind) == SEV_ERROR ? n : 0;
    struct entry *e = entry_get(r, f);
    if (e) {
        u32 lane = smallest_lane(f);
        u64 cta = cta_of(f);
        if (f->nlanes && (cta < e->first_cta || (cta == e->first_cta && f->thread[lane] < e->f.thread[e->first_lane])))
            represent(e, f, lane);
        e->occurrences += n;
        if (f->nlanes && f->ntid[0])
            set_add(&e->who, f);
        range_add(e, f);
    } else {
        r->dropped += n;
    }
    unlock(&r->lock);
}

static u64 counted(const struct report *r, const void *field, size_t size)
{
    lock_t *l = (lock_t *)&r->lock;     /* counting changes nothing that a caller can see */
    lock(l);
    u64 n = size == 4 ? *(const u32 *)field : *(const u64 *)field;
    unlock(l);
    return n;
}

u32 report_errors(const struct report *r) { return (u32)counted(r, &r->errors, 4); }
u32 report_notes(const struct report *r) { return (u32)counted(r, &r->notes, 4); }
u64 report_occurrences(const struct report *r) { return counted(r, &r->occurrences, 8); }
u64 report_error_occurrences(const struct report *r) { return counted(r, &r->error_occurrences, 8); }

static int by_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : !!a - !!b;
}

static int by_number(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int by_place(const struct place *a, const struct place *b)
{
    int c = !!b - !!a;          /* what has no place comes last */
    if (c || !a)
        return c;
    const struct place *x = a, *y = b;
    while (x->inlined_at)
        x = x->inlined_at;
    while (y->inlined_at)
        y = y->inlined_at;
    if ((c = by_text(x->file, y->file)) || (c = by_number(x->line, y->line)) || (c = by_number(x->col, y->col)) ||
        (c = by_text(a->file, b->file)) || (c = by_number(a->line, b->line)) || (c = by_number(a->col, b->col)))
        return c;
    return (c = by_text(a->ptx_file, b->ptx_file)) ? c : by_number(a->ptx_line, b->ptx_line);
}

static int by_entry(const struct entry *x, const struct entry *y)
{
    const struct finding *a = &x->f, *b = &y->f;
    int c;
    if ((c = (int)finding_severity(a->kind) - (int)finding_severity(b->kind)) || (c = by_place(a->place, b->place)) ||
        (c = by_place(a->other, b->other)) || (c = (int)a->kind - (int)b->kind) || (c = by_text(a->kernel, b->kernel)) ||
        (c = by_text(a->object, b->object)) || (c = by_text(a->access, b->access)) || (c = by_number(a->width, b->width)))
        return c;
    return (c = by_number(a->cause_key, b->cause_key)) ? c : by_number(x->hash, y->hash);
}

/* Merge sort: the C library's qsort may allocate, and entries are few. */
static void sort(struct entry **v, struct entry **scratch, u32 n)
{
    if (n < 2)
        return;
    u32 half = n / 2, i = 0, j = half, k = 0;
    sort(v, scratch, half);
    sort(v + half, scratch, n - half);
    while (i < half && j < n)
        scratch[k++] = by_entry(v[i], v[j]) <= 0 ? v[i++] : v[j++];
    while (i < half)
        scratch[k++] = v[i++];
    while (j < n)
        scratch[k++] = v[j++];
    memcpy(v, scratch, sizeof *v * n);
}

struct entry **report_sorted(const struct report *r)
{
    struct entry **v = r->entries ? base_alloc(sizeof *v * r->entries * 2) : NULL;
    if (!v)
        return NULL;
    u32 n = 0;
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b]; e; e = e->next)
            v[n++] = e;
    sort(v, v + n, n);
    return v;
}
