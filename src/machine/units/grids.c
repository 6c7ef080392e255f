/* Grids that kernels launch (grids.h): families, their order, and which comes next. */
#include "units/grids.h"
#include "units/attachments.h"
#include "sim/sim_run.h"

struct grids { /* a family */
    lock_t lock;
    struct sim *sim;
    struct grid root;             /* the host's launch */
    struct grid *todo;            /* launched by grids that have ended: the next one first */
    struct grid *done;            /* those that ran or are running */
    struct grid **ran;            /* the same and the root, by serial */
    u32 nran, capran;             /* how many; room for how many */
    u32 mark;                     /* searches of grid_before */
    u32 lists;                    /* made by grid_wait_for */
    u64 began;                    /* time_ns() */
    u64 warp_insns, ctas, serial; /* sums of sim_result; serial of the root */
    bool infinite;                /* as in sim_result */
    u32 fault;                    /* as in sim_result */
};

static void grid_free(struct grids *f, struct grid *g)
{
    struct mem_object *o;
    if (g->buffer) mem_free(f->sim->mem, g->buffer->base, NULL, &o);
    base_free(g->params);
    base_free(g->wait);
    base_free((void *)(uintptr_t)g->origin.by);
    if (g != &f->root) base_free(g);
}

static void list_free(struct grids *f, struct grid *g)
{
    while (g) {
        struct grid *next = g->next;
        grid_free(f, g);
        g = next;
    }
}

static void making_free(struct grids *f, struct grid *g)
{
    struct grid_making *m = g->making;
    if (!m) return;
    list_free(f, m->buffers);
    list_free(f, m->first);
    for (u32 k = 0; k < m->nhandle; k++) base_free(m->handle[k].wait);
    base_free(m->handle);
    base_free(m->bucket);
    base_free(m->error);
    base_free(m);
    g->making = NULL;
}

static void family_free(struct grids *f)
{
    making_free(f, &f->root);
    list_free(f, f->todo);
    list_free(f, f->done);
    grid_free(f, &f->root);
    base_free(f->ran);
    pthread_mutex_destroy(&f->lock);
    base_free(f);
}

static void ran_add(struct grids *f, struct grid *g)
{
    NEED_ROOM(f->ran, f->nran, f->capran, 16);
    f->ran[f->nran++] = g;
}

/* ---- while a launch runs ---- */

/* The slot of a launch is the grid that it is, written once (atomic); NULL: its kernels have launched nothing so far.
 * The family of a launch of the host is made when a thread of it first asks for one. */
static struct grid *root_make(struct launch *l)
{
    lock(&l->elock);
    if (!l->attached[AT_grids]) {
        struct grids *f = base_alloc(sizeof *f);
        if (f) {
            pthread_mutex_init(&f->lock, NULL);
            f->sim = l->sim;
            f->began = time_ns();
            f->root = (struct grid){ .family = f, .kernel = l->in->kernel, .serial = l->serial };
            f->serial = l->serial;
            if (l->in->origin) f->root.origin = *l->in->origin;
            ran_add(f, &f->root);
            __atomic_store_n(&l->attached[AT_grids], &f->root, __ATOMIC_RELEASE);
        }
    }
    struct grid *g = l->attached[AT_grids];
    unlock(&l->elock);
    return g;
}

struct grid *grid_lock(struct launch *l)
{
    struct grid *g = __atomic_load_n(&l->attached[AT_grids], __ATOMIC_ACQUIRE);
    if (!g) g = root_make(l);
    if (g) lock(&g->family->lock);
    if (g && !g->making) {
        g->making = base_alloc(sizeof *g->making);
        if (g->making)
            g->making->last = &g->making->first;
        else
            unlock(&g->family->lock);
    }
    if (g && g->making) return g;
    launch_fail(l, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for the launch of a kernel by a kernel");
    return NULL;
}

void grid_unlock(struct grid *g) { unlock(&g->family->lock); }

static u32 *bucket_of(const struct grid_making *m, u64 handle)
{
    return &m->bucket[(handle * 0x9e3779b97f4a7c15u >> 32) & (m->caphandle - 1)];
}

static void bucket_add(struct grid_making *m, u32 k)
{
    u32 *b = bucket_of(m, m->handle[k].handle);
    m->handle[k].next = *b;
    *b = k + 1;
}

struct grid_handle *grid_handle_of(struct grid *g, u64 handle, bool event)
{
    struct grid_making *m = g->making;
    for (u32 k = m->caphandle ? *bucket_of(m, handle) : 0; k; k = m->handle[k - 1].next) {
        struct grid_handle *h = &m->handle[k - 1];
        if (h->handle == handle && h->event == event) return h->gone ? NULL : h;
    }
    return NULL;
}

struct grid_handle *grid_handle_new(struct grid *g, u64 handle, bool event)
{
    struct grid_making *m = g->making;
    if (m->nhandle == m->caphandle) {
        m->caphandle = m->caphandle ? 2 * m->caphandle : 8;
        m->handle = base_need_more(m->handle, sizeof *m->handle * m->caphandle);
        base_free(m->bucket);
        m->bucket = base_need(sizeof *m->bucket * m->caphandle);
        for (u32 k = 0; k < m->nhandle; k++) bucket_add(m, k);
    }
    m->handle[m->nhandle] = (struct grid_handle){ .handle = handle, .event = event };
    bucket_add(m, m->nhandle);
    return &m->handle[m->nhandle++];
}

/* Unless it is there: its number of a list says so. There is room for it. */
static void wait_add(struct grid_handle *to, struct grid *g, u32 list)
{
    if (g->list == list) return;
    g->list = list;
    to->wait[to->nwait++] = g;
}

/* Each launch stands there once: a program may record an event and wait for it in the same stream, again and again. */
void grid_wait_for(struct grid *self, struct grid_handle *to, const struct grid_handle *from)
{
    u32 list = ++self->family->lists, most = to->nwait + from->nwait + 1;
    to->wait = base_need_more(to->wait, sizeof *to->wait * most);
    for (u32 k = 0; k < to->nwait; k++) to->wait[k]->list = list;
    if (from->last) wait_add(to, from->last, list);
    for (u32 k = 0; k < from->nwait; k++) wait_add(to, from->wait[k], list);
}

struct grid *grid_new(struct grid *parent)
{
    struct grid *g = base_alloc(sizeof *g);
    if (!g) return NULL;
    g->family = parent->family;
    g->parent = parent;
    g->depth = parent->depth + 1;
    g->next = parent->making->buffers;
    parent->making->buffers = g;
    return g;
}

void grid_launched(struct grid *g, enum grid_kind kind, struct grid_handle *stream)
{
    struct grid_making *m = g->parent->making;
    struct grid **at = &m->buffers;
    while (*at != g) at = &(*at)->next;
    *at = g->next;
    g->next = NULL;
    *m->last = g;
    m->last = &g->next;
    g->nth = ++m->launched;
    g->kind = kind;
    m->tails += kind == GRID_TAIL;
    if (kind != GRID_STREAM) return;
    g->after = stream->last;
    g->wait = stream->wait;
    g->nwait = stream->nwait;
    stream->last = g;
    stream->wait = NULL;
    stream->nwait = 0;
}

/* ---- begin and end of a launch ---- */

static void grid_begins(struct launch *l)
{
    struct grid *g = l->in->as_grid;
    if (!g) return;
    g->serial = l->serial;
    l->attached[AT_grids] = g;
    ran_add(g->family, g);
}

/* Puts the launches of a grid before all that is to be done: those of its tail-launch stream after the others. */
static void push(struct grids *f, struct grid_making *m)
{
    struct grid *other = NULL, **other_end = &other, *tail = NULL, **tail_end = &tail;
    for (struct grid *g = m->first; g; g = g->next) {
        struct grid ***end = g->kind == GRID_TAIL ? &tail_end : &other_end;
        **end = g;
        *end = &g->next;
    }
    *tail_end = f->todo;
    *other_end = tail;
    f->todo = other;
    m->first = NULL;
}

static void grid_ends(struct launch *l)
{
    struct sim_result *r = &l->result;
    struct grid *g = l->attached[AT_grids];
    if (!g) return;
    if (g->making && r->end == SIM_DONE) push(g->family, g->making);
    making_free(g->family, g);
    r->grids = g->family;
}

const struct attachment attach_grids = { .launch_begin = grid_begins, .launch_free = grid_ends };

bool grid_has_more(const struct launch *l)
{
    const struct grid *g = l->attached[AT_grids];
    return g && (g->family->todo || (g->making && g->making->first));
}

static void next_shape(struct sim_launch *in, struct grid *g)
{
    in->as_grid = g;
    in->kernel = g->kernel;
    memcpy(in->grid, g->grid, sizeof in->grid);
    memcpy(in->block, g->block, sizeof in->block);
    memset(in->cluster, 0, sizeof in->cluster);
    in->shared_bytes = g->shared_bytes;
    in->cooperative = false;
    in->params = g->params;
    in->overlaps = NULL;
    in->waited = NULL;
    in->trigger = NULL;
    in->origin = &g->origin;
}

bool grids_next(struct sim_launch *in, struct sim_result *r)
{
    struct grids *f = r->grids;
    if (!f) return false;
    f->warp_insns += r->warp_insns;
    f->ctas += r->ctas;
    f->infinite |= r->infinite;
    if (!f->fault) f->fault = r->fault;
    struct grid *g = r->end == SIM_DONE ? f->todo : NULL;
    if (!g) {
        r->warp_insns = f->warp_insns;
        r->ctas = f->ctas;
        r->infinite = f->infinite;
        r->fault = f->fault;
        r->serial = f->serial;
        r->grids = NULL;
        family_free(f);
        return false;
    }
    f->todo = g->next;
    g->next = f->done;
    f->done = g;
    /* limits are of the whole family */
    double spent = (double)(time_ns() - f->began) / 1e9;
    if (in->time_limit > 0) in->time_limit = in->time_limit > spent ? in->time_limit - spent : 1e-9;
    f->began = time_ns();
    if (in->budget) in->budget = in->budget > r->warp_insns ? in->budget - r->warp_insns : 1;
    next_shape(in, g);
    return true;
}

/* ---- order ---- */

static struct grid *ran_find(const struct grids *f, u64 serial)
{
    u32 from = 0, to = f->nran;
    while (from < to) {
        u32 k = from + (to - from) / 2;
        if (f->ran[k]->serial == serial) return f->ran[k];
        if (f->ran[k]->serial < serial)
            from = k + 1;
        else
            to = k;
    }
    return NULL;
}

/* Adds y to those that waits_for has to look at, unless it has, or y is too early. */
static void look_at(struct grid **due, struct grid *y, const struct grid *x, u32 mark)
{
    if (!y || y->nth < x->nth || y->mark == mark) return;
    y->mark = mark;
    y->due = *due;
    *due = y;
}

/* y waits for x, both of one parent, by streams and events. Without recursion: events can make a chain of any length.
 */
static bool waits_for(struct grid *y, const struct grid *x, u32 mark)
{
    struct grid *due = NULL;
    look_at(&due, y, x, mark);
    while ((y = due)) {
        due = y->due;
        if (y == x) return true;
        look_at(&due, y->after, x, mark);
        for (u32 k = 0; k < y->nwait; k++) look_at(&due, y->wait[k], x, mark);
    }
    return false;
}

bool grid_is_kin(const struct grid *g, u64 serial) { return ran_find(g->family, serial) != NULL; }

bool grid_descends(const struct grid *g, u64 serial)
{
    for (g = g->parent; g; g = g->parent)
        if (g->serial == serial) return true;
    return false;
}

int grid_before(const struct grid *g, u64 serial)
{
    struct grids *f = g->family;
    const struct grid *old = ran_find(f, serial), *x = old;
    struct grid *y = (struct grid *)(uintptr_t)g;
    if (!old || old == g) return -1;
    while (x->depth > y->depth) x = x->parent;
    while (y->depth > x->depth + 1) y = y->parent;
    if (y->depth > x->depth) {
        if (y->parent == x) return x == old && y->kind == GRID_TAIL;
        y = y->parent;
    }
    for (; x->parent != y->parent; x = x->parent) y = y->parent;
    if (x == y) return 0;
    if (y->kind == GRID_TAIL) return x->kind != GRID_TAIL || x->nth < y->nth;
    return x->kind != GRID_TAIL && waits_for(y, x, ++f->mark);
}
