/* A naive oracle of the race check: a vector clock a thread, every access to every byte kept for ever, told everything lane by lane.
 * It follows RULES.md R1 to R4 and R6 to the letter and knows nothing of cells, sets, phases or sectors. */
#include "check/race.h"
#include <stdlib.h>

enum { ORACLE_CTAS = 4, ORACLE_BLOCK = 96, ORACLE_THREADS = ORACLE_CTAS * ORACLE_BLOCK, ORACLE_BYTES = 1024, ORACLE_PLACES = ORACLE_CTAS + 1 };
enum { ORACLE_POINTS = 8192, ORACLE_FENCES = 2048 };
struct vclock { u32 c[ORACLE_THREADS], point[ORACLE_POINTS / 32], news[ORACLE_FENCES / 32]; };    /* known of each thread; strong writes that were observed (8.10.5); fence.sc it has news of */

struct oracle_access { u16 thread; u8 op, scope, size; u32 clock, instance, start, point; };
struct oracle_pub { struct vclock v; u16 thread; u8 scope; };
struct oracle_loc { struct oracle_pub *p; u32 n; u32 *point, npoint; struct vclock news; u16 thread; u8 scope, size; };  /* publications; writes that led to the value; the last of them */

struct oracle {
    struct vclock now[ORACLE_THREADS], fenced[ORACLE_THREADS];
    struct vclock fence[ORACLE_FENCES]; u8 fence_scope[ORACLE_FENCES]; u16 fence_thread[ORACLE_FENCES]; u32 fences;     /* sequentially consistent ones, and what their thread knew */ u8 fscope[ORACLE_THREADS];
    struct { struct oracle_pub *p; u8 *scope; u32 n; } pend[ORACLE_THREADS];
    struct { struct oracle_access *a; u32 n, cap; } hist[ORACLE_PLACES][ORACLE_BYTES];
    struct oracle_loc loc[ORACLE_PLACES][ORACLE_BYTES];
    struct { struct vclock v; u8 arrived[ORACLE_BLOCK], waits[ORACLE_BLOCK]; } bar[ORACLE_CTAS][MAX_BARS];
    u8 racy[ORACLE_PLACES][ORACLE_BYTES];
    u64 base;                   /* of the one global buffer */
    u32 instance, block, points;
};

static void oracle_news(struct vclock *a, const struct vclock *b) { for (u32 k = 0; k < ORACLE_FENCES / 32; k++) a->news[k] |= b->news[k]; }
static void oracle_join(struct vclock *a, const struct vclock *b)
{
    for (u32 k = 0; k < ORACLE_THREADS; k++) if (a->c[k] < b->c[k]) a->c[k] = b->c[k];
    for (u32 k = 0; k < ORACLE_POINTS / 32; k++) a->point[k] |= b->point[k];
    oracle_news(a, b);
}
static u32 oracle_thread(const struct warp *w, u32 lane) { return (u32)w->cta->linear * ORACLE_BLOCK + w->id * LANES + lane; }
static bool oracle_included(u32 t, u32 u, u32 a, u32 b) { return t / ORACLE_BLOCK == u / ORACLE_BLOCK || (a >= SCOPE_GPU && b >= SCOPE_GPU); }

/* A new launch: all that was is ordered before. */
static void oracle_launch(struct oracle *o)
{
    for (u32 t = 0; t < ORACLE_THREADS; t++) {
        memset(&o->now[t], 0, sizeof o->now[t]);
        o->now[t].c[t] = 1; o->fscope[t] = 255;
        free(o->pend[t].p); free(o->pend[t].scope);
        o->pend[t].p = NULL; o->pend[t].scope = NULL; o->pend[t].n = 0;
    }
    for (u32 p = 0; p < ORACLE_PLACES; p++)
        for (u32 b = 0; b < ORACLE_BYTES; b++) { o->hist[p][b].n = 0; free(o->loc[p][b].p); free(o->loc[p][b].point); o->loc[p][b] = (struct oracle_loc){ 0 }; }
    memset(o->bar, 0, sizeof o->bar);
    o->points = o->fences = 0;
}

static void oracle_byte(struct oracle *o, u32 place, u64 b, struct oracle_access m)
{
    for (u32 n = 0; n < o->hist[place][b].n; n++) {
        const struct oracle_access *x = &o->hist[place][b].a[n];
        if (!((x->op | m.op) & OP_WRITE) || x->thread == m.thread || x->clock <= o->now[m.thread].c[x->thread]) continue;
        if (x->point && o->now[m.thread].point[x->point / 32] >> x->point % 32 & 1) continue;
        if (x->op & m.op & OP_STRONG && x->size == m.size && x->start == m.start && oracle_included(x->thread, m.thread, x->scope, m.scope)) continue;
        if (x->instance == m.instance) continue;                /* R6: lanes of one instruction */
        o->racy[place][b] = 1;
    }
    if (o->hist[place][b].n == o->hist[place][b].cap) {
        o->hist[place][b].cap = o->hist[place][b].cap ? 2 * o->hist[place][b].cap : 8;
        o->hist[place][b].a = realloc(o->hist[place][b].a, sizeof m * o->hist[place][b].cap);
    }
    o->hist[place][b].a[o->hist[place][b].n++] = m;
}

static void oracle_publish(struct oracle *o, struct oracle_loc *l, const struct vclock *v, u32 t, u32 scope)
{
    l->p = realloc(l->p, sizeof *l->p * (l->n + 1));
    l->p[l->n].v = *v;
    l->p[l->n].thread = (u16)t; l->p[l->n++].scope = (u8)scope;
    (void)o;
}

static void oracle_learn(struct oracle *o, u32 t, const struct oracle_loc *l, u32 sem, u32 scope, u32 size)
{
    oracle_news(&o->now[t], &l->news);
    bool observes = l->size == size && oracle_included(t, l->thread, scope, l->scope);
    for (u32 n = 0; n < l->npoint && observes; n++) o->now[t].point[l->point[n] / 32] |= 1u << l->point[n] % 32;
    for (u32 n = 0; n < l->n; n++) {
        if (sem == SEM_ACQUIRE || sem == SEM_ACQ_REL) { if (oracle_included(t, l->p[n].thread, scope, l->p[n].scope)) oracle_join(&o->now[t], &l->p[n].v); continue; }
        o->pend[t].p = realloc(o->pend[t].p, sizeof(struct oracle_pub) * (o->pend[t].n + 1));
        o->pend[t].scope = realloc(o->pend[t].scope, o->pend[t].n + 1);
        o->pend[t].p[o->pend[t].n] = l->p[n]; o->pend[t].scope[o->pend[t].n++] = (u8)scope;
    }
}

static void oracle_lane(struct oracle *o, const struct access *a, u32 l)
{
    const struct site *s = a->site;
    u32 t = oracle_thread(a->warp, l), place = a->space[l] == SP_SHARED ? (u32)a->warp->cta->linear + 1 : 0;
    u64 at = place ? a->addr[l] : a->addr[l] - o->base;
    bool atomic = s->name == N_atom || s->name == N_red, wrote = a->wrote >> l & 1, strong = atomic || s->sem != SEM_WEAK;
    u32 sem = s->sem == SEM_WEAK || s->sem == SEM_VOLATILE ? SEM_RELAXED : s->sem;
    if (strong && (s->name == N_ld || s->name == N_atom)) oracle_learn(o, t, &o->loc[place][at], sem, s->scope, s->width);
    u32 point = strong && wrote && o->points + 1 < ORACLE_POINTS ? ++o->points : 0;
    for (u32 k = 0; k < a->bytes; k++)
        oracle_byte(o, place, at + k, (struct oracle_access){ (u16)t, (u8)((wrote ? OP_WRITE : 0) | (strong ? OP_STRONG : 0)), s->scope, s->width, o->now[t].c[t], o->instance, (u32)(at + k / s->width * s->width), point });
    if (!wrote) return;
    if (!strong) { for (u32 k = 0; k < a->bytes; k++) o->loc[place][at + k].n = o->loc[place][at + k].npoint = 0, memset(&o->loc[place][at + k].news, 0, sizeof(struct vclock)); return; }
    struct oracle_loc *x = &o->loc[place][at];
    if (!atomic) { x->n = 0; memset(&x->news, 0, sizeof x->news); }
    oracle_news(&x->news, &o->now[t]);
    x->point = realloc(x->point, sizeof *x->point * (x->npoint + 1));
    x->point[x->npoint++] = point;
    x->thread = (u16)t; x->scope = s->scope; x->size = s->width;
    if (sem == SEM_RELEASE || sem == SEM_ACQ_REL) { oracle_publish(o, x, &o->now[t], t, s->scope); o->now[t].c[t]++; }
    else if (o->fscope[t] != 255) oracle_publish(o, x, &o->fenced[t], t, o->fscope[t] < s->scope ? o->fscope[t] : s->scope);
}

static void oracle_touch(void *self, const struct access *a)
{
    struct oracle *o = self;
    o->instance++;
    for (u32 l = 0; l < LANES; l++) if (a->ok >> l & 1) oracle_lane(o, a, l);
}

static void oracle_meet(struct oracle *o, const struct warp *w, u32 mask)
{
    static struct vclock all;
    memset(&all, 0, sizeof all);
    for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) oracle_join(&all, &o->now[oracle_thread(w, l)]);
    for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) { u32 t = oracle_thread(w, l); o->now[t] = all; o->now[t].c[t]++; }
}

static void oracle_fence(struct oracle *o, u32 t, u32 scope, bool sc)
{
    for (u32 n = 0; n < o->pend[t].n; n++) {
        const struct oracle_pub *p = &o->pend[t].p[n];
        u32 mine = o->pend[t].scope[n] < scope ? o->pend[t].scope[n] : scope;
        if (oracle_included(t, p->thread, mine, p->scope)) oracle_join(&o->now[t], &p->v);
    }
    o->pend[t].n = 0;
    if (sc) {
        struct vclock had = o->now[t];
        for (u32 n = 0; n < o->fences; n++)
            if (had.news[n / 32] >> n % 32 & 1 && oracle_included(t, o->fence_thread[n], scope, o->fence_scope[n])) oracle_join(&o->now[t], &o->fence[n]);
        u32 n = o->fences++;
        if (n >= ORACLE_FENCES) abort();
        o->now[t].news[n / 32] |= 1u << n % 32;
        o->fence[n] = o->now[t]; o->fence_scope[n] = (u8)scope; o->fence_thread[n] = (u16)t;
    }
    o->fenced[t] = o->now[t];
    o->fscope[t] = (u8)scope;
    o->now[t].c[t]++;
}

static void oracle_sync(void *self, const struct sync_event *e)
{
    struct oracle *o = self;
    u64 c = e->cta->linear;
    if (e->kind == SYNC_WARP && e->warp->code->low->op[e->op].name == N_warp_bar) oracle_meet(o, e->warp, e->mask);
    for (u32 l = 0; l < LANES && e->warp; l++) {
        if (!(e->mask >> l & 1)) continue;
        u32 t = oracle_thread(e->warp, l);
        if (e->kind == SYNC_FENCE && !(e->id & FENCE_PROXY)) oracle_fence(o, t, e->id & 3, e->id & FENCE_SC);
        if (e->kind == SYNC_BARRIER_ARRIVE) {
            oracle_join(&o->bar[c][e->id].v, &o->now[t]);
            o->now[t].c[t]++;
            if ((e->warp->code->low->op[e->op].aux & 15) != BAR_ARRIVE) o->bar[c][e->id].waits[t % ORACLE_BLOCK] = 1;
        }
    }
    if (e->kind != SYNC_BARRIER) return;
    for (u32 k = 0; k < ORACLE_BLOCK; k++) if (o->bar[c][e->id].waits[k]) oracle_join(&o->now[c * ORACLE_BLOCK + k], &o->bar[c][e->id].v);
    memset(&o->bar[c][e->id], 0, sizeof o->bar[c][e->id]);
}
