/* Tensor memory (tmem.h): who has which columns, and what moves between it and registers (9.7.16.7, 9.7.16.8). */
#include "units/tmem.h"
#include "sim/asked.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/wait.h"

enum { RAW = ~0u }; /* in tmem.origin: nobody has written the cell */

struct tmem *tmem_of(struct cta *c)
{
    struct tmem *t = tmem_in(c);
    if (t) return t;
    t = base_alloc(sizeof *t);
    if (t) {
        memset(t, 0, sizeof *t);
        attach_cta(c, AT_tmem, t);
        if (c->launch->plain->watch & WATCH_INIT) t->origin = base_alloc(sizeof t->cell);
        if (t->origin) memset(t->origin, 0, sizeof t->cell);
    }
    if (!t || (c->launch->plain->watch & WATCH_INIT && !t->origin)) {
        launch_fail(c->launch, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for the tensor memory of a block");
        return NULL;
    }
    return t;
}

/* A CTA starts: nothing is allocated. */
static void tmem_begin(struct cta *c)
{
    struct tmem *t = tmem_in(c);
    memset(t->unit, 0, sizeof t->unit);
    t->taken = 0;
    t->relinquished = false;
}

static void tmem_free(struct cta *c)
{
    base_free(tmem_in(c)->origin);
    base_free(tmem_in(c));
    attach_cta(c, AT_tmem, NULL);
}

static void tmem_left(struct cta *c) { asked->tmem_end(c); }

const struct attachment attach_tmem = { .cta_begin = tmem_begin, .cta_end = tmem_left, .cta_free = tmem_free };

u32 tmem_ctas(const struct warp *w, bool pair, struct cta *out[2])
{
    const struct cluster *x = w->cta->cluster;
    u32 even = w->cta->rank & ~1u;
    out[0] = w->cta;
    out[1] = NULL;
    if (!pair || even + 1 >= x->size) return 1;
    out[0] = x->cta[even];
    out[1] = x->cta[even + 1];
    return 2;
}

/* ---- allocation ---- */

static u32 unit_bits(u32 first, u32 units) { return (u32)low_bits(units) << first; }

/* The first of so many free units in a row; TMEM_UNITS: there are none. */
static u32 find_room(const struct tmem *t, u32 units)
{
    u32 at = 0;
    while (at + units <= TMEM_UNITS && t->taken & unit_bits(at, units)) at++;
    return at + units <= TMEM_UNITS ? at : TMEM_UNITS;
}

/* tcgen05.alloc by the running split. */
bool wait_room(struct warp *w, struct split *s, const struct insn *i)
{
    struct tmem *t = tmem_of(w->cta);
    const struct insn_opnd *o = insn_src(w->code, i, 0);
    u64 wanted[LANES];
    if (!t) return true;
    lane_values(w->code, w->R, o->slot, o->cls, 4, wanted);
    u32 columns = (u32)wanted[__builtin_ctz(w->mask)];
    if (!asked->tmem_check_same(w, i->op, w->mask, wanted, "number of columns") ||
        !asked->tmem_check_columns(w, i->op, w->mask, columns)) {
        t->given[w->id] = 0;
        return true;
    }
    if (t->relinquished)
        asked->tmem_misused(
            w, i->op, w->mask,
            "it comes after tcgen05.relinquish_alloc_permit, with which the block gave up the right to allocate",
            "Relinquish the permit after the last allocation.");
    u32 at = find_room(t, columns / TMEM_UNIT);
    if (at == TMEM_UNITS) {
        split_waits(s, i, WAIT_room);
        return false;
    }
    t->unit[at] = (struct tmem_allocation){ columns / TMEM_UNIT, w->code->low, i->op, w };
    t->taken |= unit_bits(at, columns / TMEM_UNIT);
    t->given[w->id] = at * TMEM_UNIT;
    for (u32 l = 0; l < TMEM_LANES && t->origin; l++)
        for (u32 c = 0; c < columns; c++) t->origin[l][at * TMEM_UNIT + c] = RAW;
    w->syncs++;
    return true;
}

/* The address to every lane, and one that stores it. */
int run_tmem_alloc(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 lanes = active_lanes(w, R, i);
    if (!lanes || !tmem_in(w->cta)) return 0;
    u32 *p = (u32 *)(void *)SLOT(R, insn_dst(w->code, i, 1)->slot);
    for (u32 l = 0; l < LANES; l++)
        if (lanes >> l & 1) memcpy(SLOT(R, insn_dst(w->code, i, 0)->slot) + 4 * l, &tmem_in(w->cta)->given[w->id], 4);
    *p = (*p & ~lanes) | (lanes & -lanes);
    return 0;
}

int run_tmem_dealloc(char *restrict R, const struct insn *i, struct warp *w)
{
    struct tmem *t = tmem_in(w->cta);
    u32 lanes = active_lanes(w, R, i);
    u64 at[LANES], columns[LANES];
    char cause[240];
    if (!lanes) return 0;
    const struct insn_opnd *a = insn_src(w->code, i, 0), *n = insn_src(w->code, i, 1);
    lane_values(w->code, R, a->slot, a->cls, 4, at);
    lane_values(w->code, R, n->slot, n->cls, 4, columns);
    u32 first = (u32)at[__builtin_ctz(lanes)], count = (u32)columns[__builtin_ctz(lanes)], unit = first / TMEM_UNIT;
    struct tmem_allocation *x = t && first % TMEM_UNIT == 0 && unit < TMEM_UNITS ? &t->unit[unit] : NULL;
    if (!x || !x->units || x->units * TMEM_UNIT != count) {
        if (x && x->units)
            snprintf(cause, sizeof cause, "%u columns are freed at 0x%x, where %u were allocated", count, first,
                     x->units * TMEM_UNIT);
        else
            snprintf(cause, sizeof cause, "no allocation begins at 0x%x: it was never made, or is freed already",
                     first);
        asked->tmem_misused(w, i->op, lanes, cause, "Free each allocation once, by its address and with its columns.");
        return 0;
    }
    flights_land_tensor(w->cta);
    t->taken &= ~unit_bits(unit, x->units);
    *x = (struct tmem_allocation){ 0 };
    for (u32 k = 0; k < w->cta->nwarps; k++)
        for (u32 j = 0; j < w->cta->warp[k]->nsplit; j++)
            if (w->cta->warp[k]->split[j].state == SPLIT_AT(room)) w->cta->warp[k]->split[j].state = SPLIT_RUN;
    w->syncs++;
    return 0;
}

int run_tmem_relinquish(char *restrict R, const struct insn *i, struct warp *w)
{
    struct tmem *t = active_lanes(w, R, i) ? tmem_of(w->cta) : NULL;
    if (t) t->relinquished = true;
    return 0;
}

/* ---- loads and stores ---- */

/* Where register r of lane t lies, from the address on (9.7.16.2.3.1). Packed, a register has two columns. */
static void place_of(u32 aux, u32 half, u32 t, u32 r, u32 *row, u32 *column)
{
    u32 each = aux & TMEM_PACK ? 2 : 1;
    *row = t / 4;
    switch (aux & TMEM_SHAPE) {
    case TMEM_32X32B:
        *row = t;
        *column = r * each;
        return;
    case TMEM_16X64B:
        *row += t % 2 * 8;
        *column = (t / 2 % 2 + 2 * r) * each;
        return;
    case TMEM_16X128B:
        *row += r % 2 * 8;
        *column = (t % 4 + r / 2 * 4) * each;
        return;
    case TMEM_16X256B:
        *row += r / 2 % 2 * 8;
        *column = (t % 4 * 2 + r % 2 + r / 4 * 8) * each;
        return;
    default: /* 16x32bx2 */ *row = t % 16; *column = r * each + t / 16 * half;
    }
}

/* The halves of 16x32bx2 are as far apart as an immediate says; false: so far that no tensor memory has both. */
static bool good_half(struct warp *w, const struct insn *i, u32 lanes)
{
    const struct lop *o = &w->code->low->op[i->op];
    char cause[200];
    if (o->off >= 0 && o->off <= TMEM_COLUMNS) return true;
    snprintf(cause, sizeof cause,
             "its immediate has the second half of the lanes %lld columns after the first, and tensor memory has %u",
             (long long)o->off, TMEM_COLUMNS);
    asked->tmem_beyond(w, i->op, lanes, cause);
    return false;
}

static struct tmem_area area_of(u32 aux, u32 half, u32 at)
{
    u32 row, column = 0, n = tmem_registers(aux);
    for (u32 t = 0; t < LANES; t++) {
        u32 c;
        place_of(aux, half, t, n - 1, &row, &c);
        column = MAX_OF(column, c);
    }
    return (struct tmem_area){ .lane = at >> 16,
                               .lanes = (aux & TMEM_SHAPE) == TMEM_32X32B ? 32 : 16,
                               .column = at & 0xffff,
                               .columns = column + (aux & TMEM_PACK ? 2 : 1) };
}

/* Whether a cell of the area is undefined. */
static bool any_undefined(const struct tmem *t, struct tmem_area a)
{
    u32 some = 0;
    for (u32 l = 0; l < a.lanes; l++)
        for (u32 c = 0; c < a.columns; c++) some |= t->origin[a.lane + l][a.column + c];
    return some;
}

static struct taint cell_taint(struct warp *w, const struct insn *i, u32 origin, bool packed, u32 k)
{
    if (!origin) return (struct taint){ 0 };
    u64 bits = packed ? 0xffffull << 16 * k : low_bits(32);
    return (struct taint){ bits, origin == RAW ? 0 : bits,
                           origin == RAW ? asked->origin_of_tensor(w, w->code->low, i->op) : origin - 1 };
}

/* The taints of a register: of a load from tensor memory, of a store to it. */
static void move_taints(struct warp *w, const struct insn *i, struct tmem_area a, u32 lanes, u32 r, bool load)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 slot = (load ? insn_dst(w->code, i, r) : insn_src(w->code, i, 1 + r))->slot;
    bool packed = o->aux & TMEM_PACK;
    struct taint t[LANES] = { { 0 } };
    for (u32 l = 0; l < LANES; l++) {
        u32 row, column;
        place_of(o->aux, (u32)o->off, l, r, &row, &column);
        u32 *origin = &tmem_in(w->cta)->origin[a.lane + row][a.column + column];
        for (u32 k = 0; k < (packed ? 2u : 1u); k++) {
            if (load) {
                struct taint x = cell_taint(w, i, origin[k], packed, k);
                t[l].undef |= x.undef;
                t[l].made |= x.made;
                if (x.undef) t[l].origin = x.origin;
            } else {
                struct taint x = w->planes ? plane_taint(w->planes, slot, l) : (struct taint){ 0 };
                if (packed) x.undef &= 0xffffull << 16 * k;
                if (lanes >> l & 1) origin[k] = x.undef ? x.origin + 1 : 0;
            }
        }
    }
    if (load && w->planes) asked->planes_put(w->planes, slot, lanes, t);
}

static int move(char *R, const struct insn *i, struct warp *w, bool load)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 lanes = active_lanes(w, R, i), n = tmem_registers(o->aux);
    const struct insn_opnd *address = insn_src(w->code, i, 0);
    bool packed = o->aux & TMEM_PACK, init = w->code->watch & WATCH_INIT;
    u64 v[LANES];
    if (!lanes) return 0;
    if (init && w->planes && w->planes->dirty)
        asked->init_use(w, i->op, USE_ADDRESS, address->slot, lanes, "the address");
    lane_values(w->code, R, address->slot, address->cls, 4, v);
    bool ok = good_half(w, i, lanes);
    struct tmem_area a = area_of(o->aux, ok ? (u32)o->off : 0, (u32)v[__builtin_ctz(lanes)]);
    ok = ok && asked->tmem_check_same(w, i->op, lanes, v, "address") && asked->tmem_check_quarter(w, i->op, lanes, a) &&
         asked->tmem_check_area(w, i->op, lanes, w->cta, a, load ? "reads" : "writes");
    struct tmem *t = tmem_in(w->cta);
    if (ok && init && load && !w->planes && any_undefined(t, a)) return EV_DEOPT;
    if (ok) asked->tmem_check_flights(w, i->op, lanes, a, !load);
    for (u32 r = 0; r < n; r++) {
        const struct insn_opnd *reg = load ? insn_dst(w->code, i, r) : insn_src(w->code, i, 1 + r);
        if (load && lop_dst(o, r)->kind != O_REG) continue;
        if (!load) lane_values(w->code, R, reg->slot, reg->cls, 4, v);
        for (u32 l = 0; l < LANES; l++) {
            u32 row, column, x = 0;
            place_of(o->aux, (u32)o->off, l, r, &row, &column);
            u32 *cell = ok ? &t->cell[a.lane + row][a.column + column] : NULL;
            if (!(lanes >> l & 1)) continue;
            if (!load && cell) {
                cell[0] = packed ? (u32)v[l] & 0xffff : (u32)v[l];
                if (packed) cell[1] = (u32)v[l] >> 16;
            }
            if (load && cell) x = packed ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
            if (load) memcpy(SLOT(R, reg->slot) + 4 * l, &x, 4);
        }
        if (ok && init) move_taints(w, i, a, lanes, r, load);
    }
    w->changed |= load ? 0 : CHANGED_ALL;
    return 0;
}

int run_tmem_ld(char *restrict R, const struct insn *i, struct warp *w) { return move(R, i, w, true); }
int run_tmem_st(char *restrict R, const struct insn *i, struct warp *w) { return move(R, i, w, false); }

/* Loads and stores are done when they are executed. */
int run_tmem_wait_ld(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R, (void)i, (void)w;
    return 0;
}
int run_tmem_wait_st(char *restrict R, const struct insn *i, struct warp *w)
{
    (void)R, (void)i, (void)w;
    return 0;
}
