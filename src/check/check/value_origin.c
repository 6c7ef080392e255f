/* Births of odd values, and the way from there to a store. value_origin.h says when.
 *
 * One map holds where odd values lie now: its key is the address of the cell, be it a lane of a register, two bytes
 * of any memory, or a lane of a warp on its way through a call. An entry is only believed when the value in the cell
 * is odd, so what is no longer true need not be taken out; only cells whose type is not known (a register of bits)
 * are kept exact. */
#include "check/value_origin.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include "trace/trace.h"
#include <inttypes.h>

/* by arithmetic; read from memory; an operand had it, from an instruction that is not followed */
enum birth_how { BORN_MADE, BORN_READ, BORN_GIVEN };
struct birth {
    const struct lowered *low;
    u32 op;
    u8 how, odd, noperand; /* enum birth_how, enum odd */
    u8 type[4];            /* of the operands, enum ptx_type */
    /* births of operands that are odd themselves (an infinity that became NaN), plus one; 0: none */
    u32 parent[4];
    u64 operand[4]; /* their bits */
    u32 cta[3], thread;
    u64 addr;   /* READ: as the program has it */
    u32 object; /* READ: id of the allocation, 0: no global memory */
    u8 space;   /* READ: enum ptx_space */
};

enum { BIRTHS = 1 << 18, MAP_FIRST = 1 << 12, MAP_MOST = 1 << 25 };
struct origin_cell {
    u64 key;
    u32 birth;
}; /* birth: number + 1 */
struct types {
    const struct lowered *low;
    const u8 *type;
    struct types *next;
};

struct value_origins {
    struct observer observer;
    struct arena mem; /* types */
    struct birth *birth;
    u32 n, cap;
    struct origin_cell *cell;
    u32 used, size; /* size: power of two, 0: none yet */
    struct types *types;
    const struct mem *memory; /* of the launch */
    u64 before[4][LANES];     /* operands of the instruction under way */
    u32 lanes;                /* that execute it */
};

/* ---- types ---- */

const struct scalar *odd_type(enum ptx_type t, u32 *elements)
{
    static const enum ptx_type single[T_COUNT] = {
        [T_F16] = T_F16,   [T_BF16] = T_BF16,   [T_F32] = T_F32,  [T_F64] = T_F64,
        [T_F16X2] = T_F16, [T_BF16X2] = T_BF16, [T_F32X2] = T_F32
    };
    enum ptx_type s = single[t];
    if (!s) return NULL;
    *elements = type_size[t] / type_size[s];
    return scalar_find(str_of(type_name[s]));
}

const u8 *odd_types(const struct lowered *low, struct arena *a)
{
    struct traced t = { .low = low };
    trace_types(&t, a);
    return t.type;
}

static const u8 *types_of(struct value_origins *v, const struct lowered *low)
{
    for (struct types *t = v->types; t; t = t->next)
        if (t->low == low) return t->type;
    struct types *t = NEW(&v->mem, struct types);
    *t = (struct types){ low, odd_types(low, &v->mem), v->types };
    v->types = t;
    return t->type;
}

static bool has_type(enum ptx_type t) { return (t >= T_F16 && t <= T_F64 && t != T_TF32) || t == T_F32X2; }

static enum odd look_one(u64 exponent, u64 fraction, u64 bits)
{
    return (bits & exponent) != exponent ? ODD_NONE : bits & fraction ? ODD_NAN : ODD_INF;
}

/* The oddest element of a value. */
static enum odd look(enum ptx_type type, u64 bits)
{
    switch (type) {
    case T_F16: return look_one(0x7c00, 0x3ff, bits);
    case T_BF16: return look_one(0x7f80, 0x7f, bits);
    case T_F32: return look_one(0x7f800000, 0x7fffff, bits);
    case T_F64: return look_one(0x7ffull << 52, (1ull << 52) - 1, bits);
    case T_F16X2: return MAX_OF(look(T_F16, bits), look(T_F16, bits >> 16));
    case T_BF16X2: return MAX_OF(look(T_BF16, bits), look(T_BF16, bits >> 16));
    case T_F32X2: return MAX_OF(look(T_F32, bits), look(T_F32, bits >> 32));
    default: return ODD_NONE;
    }
}

/* ---- the map ---- */

static struct origin_cell *slot_of(const struct value_origins *v, u64 key)
{
    u64 h = key * 0x9e3779b97f4a7c15u;
    for (u32 k = (u32)(h >> 32);; k++) {
        struct origin_cell *c = &v->cell[k & (v->size - 1)];
        if (c->key == key || !c->key) return c;
    }
}

static bool grow(struct value_origins *v)
{
    struct origin_cell *old = v->cell;
    u32 size = v->size;
    if (size >= MAP_MOST) return false;
    struct origin_cell *more = base_need(sizeof *more * (size ? 2 * size : MAP_FIRST));
    v->cell = more;
    v->size = size ? 2 * size : MAP_FIRST;
    v->used = 0;
    for (u32 k = 0; k < size; k++)
        if (old[k].birth) {
            *slot_of(v, old[k].key) = old[k];
            v->used++;
        }
    base_free(old);
    return true;
}

static u32 get(const struct value_origins *v, const void *p)
{
    return v->size ? slot_of(v, (u64)(uintptr_t)p)->birth : 0;
}

static void put(struct value_origins *v, const void *p, u32 birth)
{
    if (!birth && (!v->size || !slot_of(v, (u64)(uintptr_t)p)->key)) return;
    if (2 * v->used >= v->size && !grow(v) && v->used + 1 >= v->size) return;
    struct origin_cell *c = slot_of(v, (u64)(uintptr_t)p);
    v->used += !c->key;
    *c = (struct origin_cell){ (u64)(uintptr_t)p, birth };
}

/* Memory goes by two bytes, the least that an odd value takes: what is stored as eight may be loaded in pieces. */
static const char *piece(const char *p) { return (const char *)((uintptr_t)p & ~(uintptr_t)1); }

static void put_memory(struct value_origins *v, const char *p, u32 bytes, u32 birth)
{
    for (const char *q = piece(p); q < p + bytes; q += 2) put(v, q, birth);
}

static u32 get_memory(const struct value_origins *v, const char *p, u32 bytes)
{
    u32 b = 0;
    for (const char *q = piece(p); !b && q < p + bytes; q += 2) b = get(v, q);
    return b;
}

/* ---- births ---- */

/* Beyond BIRTHS of them, the last one of the same instruction is used: it differs in the thread only. */
static u32 born(struct value_origins *v, const struct birth *b)
{
    if (v->n == v->cap) {
        u32 cap = v->cap ? MIN_OF(2 * v->cap, (u32)BIRTHS) : 256;
        if (cap == v->cap) {
            for (u32 k = v->n; k-- > 0;)
                if (v->birth[k].low == b->low && v->birth[k].op == b->op && v->birth[k].odd == b->odd) return k + 1;
            return 0;
        }
        v->birth = base_need_more(v->birth, sizeof *v->birth * cap);
        v->cap = cap;
    }
    v->birth[v->n] = *b;
    return ++v->n;
}

static struct birth birth_at(const struct warp *w, u32 op, u32 lane, enum birth_how how, enum odd odd)
{
    struct birth b = { .low = w->code->low, .op = op, .how = (u8)how, .odd = (u8)odd, .thread = w->id * LANES + lane };
    memcpy(b.cta, w->cta->id, sizeof b.cta);
    return b;
}

/* ---- registers ---- */

struct operand {
    u16 slot;
    u8 cls, type;
};
static u32 operands_of(const struct insn *i, struct operand out[4])
{
    const struct isa_form *f = &isa_forms[i->form];
    const u16 slot[] = { i->a, i->b, i->c, i->e };
    for (u32 k = 0; k < f->nsrc; k++)
        out[k] = (struct operand){ slot[k], (u8)(k == 3 ? CLS_E(i) : CLS_AT(i, k + 1)),
                                   (u8)isa_operand_type(f, k + 1) };
    return f->nsrc;
}

static const char *origin_cell_of(const char *R, u32 slot, u32 width, u32 lane) { return SLOT(R, slot) + lane * width; }

/* Of an operand that lies in a register of this version; a constant has none. */
static u32 operand_birth(const struct value_origins *v, const char *R, const struct operand *x, u32 lane)
{
    return x->cls == CLS_V && x->type != T_PRED
               ? get(v, origin_cell_of(R, x->slot, MAX_OF(type_size[x->type], 2), lane))
               : 0;
}

/* An operand whose value went on into the result: the one with the same bits, else any that is as odd. */
static u32 inherited(const struct value_origins *v, const char *R, const struct operand *x, u32 n, u32 lane, u64 result,
                     enum odd odd)
{
    u32 best = 0;
    for (u32 k = 0; k < n; k++) {
        u32 b = operand_birth(v, R, &x[k], lane);
        if (!b) continue;
        if (v->before[k][lane] == result) return b;
        bool fits = !has_type((enum ptx_type)x[k].type) || look((enum ptx_type)x[k].type, v->before[k][lane]) == odd;
        if (!best && fits) best = b;
    }
    return best;
}

static u32 born_of_operands(struct value_origins *v, const struct warp *w, const char *R, const struct insn *i,
                            const struct operand *x, u32 n, u32 lane, enum odd odd)
{
    struct birth b = birth_at(w, i->op, lane, BORN_MADE, odd);
    b.noperand = (u8)n;
    for (u32 k = 0; k < n; k++) {
        b.type[k] = x[k].type;
        b.operand[k] = v->before[k][lane];
        enum odd is = look((enum ptx_type)x[k].type, b.operand[k]);
        if (is == odd) b.how = BORN_GIVEN;
        b.parent[k] = is ? operand_birth(v, R, &x[k], lane) : 0;
    }
    return born(v, &b);
}

static void after_lanes(struct value_origins *v, struct warp *w, const struct insn *i)
{
    const struct lowered *low = w->code->low;
    const struct isa_form *f = &isa_forms[i->form];
    const struct lop *o = &low->op[i->op];
    struct operand x[4];
    const struct opnd *result = lop_dst(o, 0);
    if (result->kind != O_REG || f->kind != K_LANE) return;
    u32 n = operands_of(i, x), width = low->reg_width[result->reg];
    enum ptx_type type = isa_operand_type(f, 0);
    bool copies = f->init == INIT_COPY || f->init == INIT_MERGE || f->init == INIT_PAIR;
    if (!has_type(type) && copies) type = (enum ptx_type)types_of(v, low)[result->reg];
    if (!has_type(type) && !copies) return;
    u64 d[LANES];
    lane_values(w->code, w->R, i->d, CLS_AT(i, 0), width, d);
    EACH_SET (l, v->lanes) {
        const char *to = origin_cell_of(w->R, i->d, width, l);
        enum odd odd = look(type, d[l]);
        if (has_type(type) && !odd) continue;
        u32 b = inherited(v, w->R, x, n, l, d[l], odd);
        put(v, to, b || !odd ? b : born_of_operands(v, w, w->R, i, x, n, l, odd));
    }
}

static void before_lanes(struct value_origins *v, struct warp *w, const struct insn *i)
{
    struct operand x[4];
    u32 n = isa_forms[i->form].kind == K_LANE ? operands_of(i, x) : 0;
    v->lanes = active_lanes(w, w->R, i);
    for (u32 k = 0; k < n; k++)
        if (x[k].type != T_PRED)
            lane_values(w->code, w->R, x[k].slot, x[k].cls, MAX_OF(type_size[x[k].type], 2), v->before[k]);
        else
            memset(v->before[k], 0, sizeof v->before[k]);
}

static void on_step(void *self, struct warp *w, const struct insn *i, bool done)
{
    if (i->kind == K_LANE) (done ? after_lanes : before_lanes)(self, w, i);
}

/* A shuffle has fired: its lanes have their results, and rdv_from says from whom. */
static void on_sync(void *self, const struct sync_event *e)
{
    struct value_origins *v = self;
    if (e->kind != SYNC_WARP || e->op == NONE || !e->warp->R) return;
    const struct warp *w = e->warp;
    const struct lop *o = &w->code->low->op[e->op];
    const struct insn *i = &w->code->insn[w->code->insn_of[e->op]];
    if (!(o->flags & ISA_SHUFFLE) || lop_dst(o, 0)->kind != O_REG || lop_src(o, SRC_VALUE)->kind != O_REG) return;
    u32 b[LANES];
    for (u32 l = 0; l < LANES; l++) b[l] = get(v, origin_cell_of(w->R, i->a, 4, l));
    EACH_SET (l, e->mask) {
        put(v, origin_cell_of(w->R, i->d, 4, l), b[w->rdv.from[l] % LANES]);
    }
}

/* ---- memory ---- */

/* A lane of a warp on its way through a call: what was last given to one, or back from it. */
static const void *passing(const struct warp *w, u32 lane) { return &w->rdv.e[lane]; }

static u32 read_birth(struct value_origins *v, const struct access *a, u32 lane, u32 offset, enum odd odd)
{
    struct birth b = birth_at(a->warp, a->insn->op, lane, BORN_READ, odd);
    const struct mem_object *o = a->space[lane] == SP_GLOBAL || a->space[lane] == SP_CONST
                                     ? mem_find(v->memory, a->addr[lane] + offset)
                                     : NULL;
    b.addr = a->addr[lane] + offset;
    b.object = o ? o->id : 0;
    b.space = a->space[lane];
    return born(v, &b);
}

static void load_lane(struct value_origins *v, const struct access *a, u32 lane, u32 k, u32 reg, enum ptx_type type)
{
    const struct warp *w = a->warp;
    const char *from = a->ptr[lane] + k * a->site->width,
               *to = origin_cell_of(w->R, insn_dst(w->code, a->insn, k)->slot, w->code->low->reg_width[reg], lane);
    u64 bits = 0;
    memcpy(&bits, from, MIN_OF(a->site->width, 8));
    enum odd odd = look(type, bits);
    if (has_type(type) && !odd) return;
    u32 b = get_memory(v, from, a->site->width);
    if (!b && odd && a->site->space == SP_CALL) b = get(v, passing(w, lane));
    put(v, to, b || !odd ? b : read_birth(v, a, lane, k * a->site->width, odd));
}

static void store_lane(struct value_origins *v, const struct access *a, u32 lane, u32 k)
{
    const struct warp *w = a->warp;
    u32 slot = insn_data(w->code, a->insn, k)->slot;
    bool is_register = w->code->plain && slot >= w->code->vector;
    u32 b = is_register ? get(v, origin_cell_of(w->R, slot, MAX_OF(a->site->reg_width, 2), lane)) : 0;
    put_memory(v, a->ptr[lane] + k * a->site->width, a->site->width, b);
    if (b && a->site->space == SP_CALL) put(v, passing(w, lane), b);
}

/* What an atomic leaves behind: its operand, what was there, or something new. */
static void atomic_lane(struct value_origins *v, const struct access *a, u32 lane, const struct opnd *d)
{
    const struct warp *w = a->warp;
    u32 there = get_memory(v, a->ptr[lane], a->site->width),
        given = get(v, origin_cell_of(w->R, a->insn->b, MAX_OF(a->site->reg_width, 2), lane));
    u64 now = 0;
    memcpy(&now, a->ptr[lane], MIN_OF(a->site->width, 8));
    enum odd odd = look((enum ptx_type)a->site->type, now);
    if (d->kind == O_REG && there)
        put(v, origin_cell_of(w->R, a->insn->d, w->code->low->reg_width[d->reg], lane), there);
    if (odd && !given && !there) {
        struct birth b = birth_at(w, a->insn->op, lane, BORN_MADE, odd);
        given = born(v, &b);
    }
    put_memory(v, a->ptr[lane], a->site->width,
               odd || !has_type((enum ptx_type)a->site->type) ? (given ? given : there) : 0);
}

static void on_access(void *self, const struct access *a)
{
    struct value_origins *v = self;
    const struct lowered *low = a->warp->code->low;
    const struct lop *o = &low->op[a->insn->op];
    if (!(o->flags & ISA_ACCESS)) return;
    EACH_SET (l, a->ok) {
        if (lop_is_atomic(o)) atomic_lane(v, a, l, lop_dst(o, 0));
        for (u32 k = 0; k < a->site->vec && !lop_is_atomic(o); k++)
            if (lop_is_store(o))
                store_lane(v, a, l, k);
            else if (lop_dst(o, k)->kind == O_REG)
                load_lane(v, a, l, k, lop_dst(o, k)->reg, (enum ptx_type)types_of(v, low)[lop_dst(o, k)->reg]);
    }
}

/* ---- a launch ---- */

static void on_begin(void *self, const struct launch *l) { ((struct value_origins *)self)->memory = l->sim->mem; }

struct value_origins *value_origins_new(void)
{
    struct value_origins *v = base_alloc(sizeof *v);
    if (v)
        v->observer =
            (struct observer){ .self = v, .begin = on_begin, .access = on_access, .sync = on_sync, .step = on_step };
    return v;
}

void value_origins_free(struct value_origins *v)
{
    if (!v) return;
    base_free(v->birth);
    base_free(v->cell);
    arena_free(&v->mem);
    base_free(v);
}

const struct observer *value_origins_observer(struct value_origins *v, const struct observer *next)
{
    v->observer.next = next;
    return &v->observer;
}

const struct birth *value_born(const struct value_origins *v, const struct access *a, u32 lane, u32 offset)
{
    u32 b = get_memory(v, a->ptr[lane] + offset, 1);
    return b ? &v->birth[b - 1] : NULL;
}

/* ---- in words ---- */

u64 birth_key(const struct birth *b)
{
    const struct ptx_insn *i = b->low->op[b->op].src;
    return str_hash(b->low->func->name) ^ (i ? i->line : b->op) ^ (u64)b->how << 40;
}

static const char *value_text(struct arena *mem, enum ptx_type type, u64 bits)
{
    u32 n = 0;
    const struct scalar *t = odd_type(type, &n);
    char text[64];
    if (!t || n > 1) return arena_printf(mem, "0x%" PRIx64, bits);
    scalar_print(t, &bits, text, sizeof text);
    return arena_printf(mem, "%s", text);
}

static const char *operands_text(struct arena *mem, const struct birth *b)
{
    const char *t = "";
    for (u32 k = 0; k < b->noperand; k++)
        t = arena_printf(mem, "%s%s%s", t,
                         !k                     ? " of "
                         : k + 1 == b->noperand ? " and "
                                                : ", ",
                         value_text(mem, (enum ptx_type)b->type[k], b->operand[k]));
    return t;
}

static const char *thread_text(struct arena *mem, const struct birth *b)
{
    bool flat = !b->cta[1] && !b->cta[2];
    return flat ? arena_printf(mem, "thread %u of block %u", b->thread, b->cta[0])
                : arena_printf(mem, "thread %u of block (%u,%u,%u)", b->thread, b->cta[0], b->cta[1], b->cta[2]);
}

/* The infinity that a NaN was made from has a beginning of its own. */
static const char *parents_text(const struct value_origins *v, struct arena *mem, const struct birth *b)
{
    const char *t = "";
    for (u32 k = 0; k < b->noperand && b->how == BORN_MADE; k++) {
        if (!b->parent[k]) continue;
        const struct birth *p = &v->birth[b->parent[k] - 1];
        struct text where = { 0 };
        place_brief(place_shown(finding_place(mem, p->low, p->op)), &where);
        const char *one = arena_printf(mem, "; %s began at %s",
                                       value_text(mem, (enum ptx_type)b->type[k], b->operand[k]),
                                       where.p ? where.p : "?");
        t = strstr(t, one) ? t : arena_printf(mem, "%s%s", t, one);
        text_free(&where);
    }
    return t;
}

static const char *read_text(const struct value_origins *v, struct arena *mem, const struct birth *b)
{
    const struct mem_object *o = b->object ? mem_by_id(v->memory, b->object) : NULL;
    if (!o) return b->space == SP_SHARED ? "shared memory" : "memory";
    u64 off = b->addr - o->base;
    return o->element_size ? arena_printf(mem, "%s[%" PRIu64 "]", o->name, off / o->element_size)
                           : arena_printf(mem, "%s+0x%" PRIx64, o->name, off);
}

static const char *origin_fix(const struct birth *b, struct str opcode)
{
    u32 shape = b->low->op[b->op].shape;
    bool inf = b->odd == ODD_INF;
    if (b->how == BORN_READ) return "Find out who put it there: the kernel only passes it on.";
    if (shape == SHAPE_FDIV)
        return inf ? "Test the divisor, or add a small number to it: it is zero, or too small for the quotient."
                   : "Test the divisor: a sum or a count of nothing is the usual zero.";
    if (shape == SHAPE_ROOT)
        return "Keep the argument above zero: a difference that should be zero is often a little less.";
    if (shape == SHAPE_EXP) return "Subtract the largest of the arguments before taking exp.";
    if (inf && opcode.n > 3 && !memcmp(opcode.p, "cvt", 3))
        return "Scale the value before it is narrowed: f16 ends at 65504.";
    return inf ? "Compute in a wider type, or scale the operands." : NULL;
}

/* The code has the constant NaN in it that NVIDIA's compilers put where a value is undefined. */
static bool has_undefined_nan(const struct lowered *l)
{
    static const u64 nan[] = { 0x7fc00000, 0x7fffffff, 0x7ff8000000000000u, 0x7fffffffffffffffu };
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        for (u32 i = 0; i < o->nsrc; i++)
            for (u32 n = 0; n < COUNT_OF(nan); n++)
                if (lop_src(o, i)->kind == O_CONST && !lop_src(o, i)->reg && lop_src(o, i)->value == nan[n])
                    return true;
    }
    return false;
}

void birth_describe(const struct value_origins *v, const struct birth *b, struct arena *mem, struct finding *f)
{
    const struct ptx_insn *src = b->low->op[b->op].src;
    const char *what = b->odd == ODD_NAN ? "NaN" : "an infinity";
    struct str opcode = src ? src->opcode : STR("?");
    f->origin = finding_place(mem, b->low, b->op);
    f->fix = origin_fix(b, opcode);
    f->cause_key = birth_key(b);
    if (b->how == BORN_READ) {
        const char *from = read_text(v, mem, b);
        f->origin_text = arena_printf(mem, "%s read it from %s", thread_text(mem, b), from);
        f->cause = b->object ? arena_printf(mem, "%s held %s when it was read: the kernel was given it", from, what)
                             : arena_printf(mem, "%s held %s when it was read", from, what);
        if (b->object || b->odd != ODD_NAN || !has_undefined_nan(b->low)) return;
        f->cause = arena_printf(mem,
                                "%s; the code itself has NaN as a constant, which the compiler puts where a value is "
                                "undefined: a variable or an array that was never set",
                                f->cause);
        f->fix = "Give the variable a value where it is declared; compiled with -G, the report names it.";
        return;
    }
    f->origin_text = arena_printf(mem, "%s: %.*s%s gives %s%s", thread_text(mem, b), (int)opcode.n, opcode.p,
                                  operands_text(mem, b), b->odd == ODD_NAN ? "NaN" : "infinity",
                                  parents_text(v, mem, b));
    f->cause =
        b->how == BORN_MADE
            ? arena_printf(mem, "%s begins here, as no operand is %s, and is stored into %s", what,
                           b->odd == ODD_NAN ? "one" : "infinite", f->object ? f->object : "memory")
            : arena_printf(mem, "an operand is %s already: a constant, or a value from where it could not be followed",
                           what);
}
