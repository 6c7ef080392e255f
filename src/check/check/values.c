/* Values (rules.md V1): NaN and infinity where they are stored into an output.
 *
 * The stored bytes are checked after the store, as elements of the type of the output: what the contract says, or
 * with `--check values`, where every store to global memory counts, the type of the allocation, of the instruction,
 * or what the register is used as. What a first run finds is held back; a second one (value_origin.h) finds where it
 * began. */
#include "check/outputs.h"
#include "check/value_origin.h"
#include "check/value_scan.h"
#include "sim/finding_place.h"

bool values_wanted(const struct bound_arg *b) { return b->arg->shape.type->class == SCALAR_FLOAT; }

/* True when the lanes write one piece of memory, and nothing in it is odd. */
static bool is_plain(const struct output *out, const struct access *a, u32 lanes)
{
    const struct scalar *t = out->type;
    u32 first = (u32)__builtin_ctz(lanes), n = (u32)__builtin_popcount(lanes);
    if (lanes != (n == LANES ? ALL_LANES : ((1u << n) - 1) << first) || a->bytes % t->bytes ||
        a->addr[first] % t->bytes || a->addr[first] + (u64)n * a->bytes > out->end)
        return false;
    for (u32 k = 1; k < n; k++)
        if (a->addr[first + k] != a->addr[first] + (u64)k * a->bytes) return false;
    return !value_any_odd(t, mem_view(out->object, a->addr[first]), (u64)n * a->bytes / t->bytes);
}

static void found_odd(struct outputs *o, const struct output *out, const struct access *a, u32 lanes, enum odd what,
                      const struct birth *b)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = what == ODD_NAN ? F_value_nan : F_value_inf,
                         .access = site_is_store(a->site) ? "write" : "atomic",
                         .space = "global",
                         .width = a->bytes };
    memcpy(f.addr, a->addr, sizeof f.addr);
    output_describe(&mem, out, &f);
    f.cause = arena_printf(&mem, "the value that was stored is %s; %s", what == ODD_NAN ? "NaN" : "infinite",
                           o->once ? "where it began was not looked for"
                                   : "running the launch again did not show where it began");
    if (b) birth_describe(o->origins, b, &mem, &f);
    finding_add_to(o->origins ? o->report : o->held, a->warp, a->insn->op, &f, lanes);
    __atomic_fetch_or(o->origins ? &o->reported : &o->odd, 1u << what, __ATOMIC_RELAXED);
    arena_free(&mem);
}

/* In a second run, the lanes whose values began at one instruction are one finding. */
static void found_by_origin(struct outputs *o, const struct output *out, const struct access *a, u32 lanes,
                            const u32 *offset, enum odd what)
{
    const struct birth *b[LANES] = { NULL };
    EACH_SET (l, o->origins ? lanes : 0) {
        b[l] = a->ptr[l] ? value_born(o->origins, a, l, offset[l]) : NULL;
    }
    while (lanes) {
        u32 first = (u32)__builtin_ctz(lanes), same = 0;
        EACH_SET (l, lanes) {
            if (b[l] == b[first] || (b[l] && b[first] && birth_key(b[l]) == birth_key(b[first]))) same |= 1u << l;
        }
        found_odd(o, out, a, same, what, b[first]);
        lanes &= ~same;
    }
}

void values_write(struct outputs *o, const struct output *out, const struct access *a, u32 lanes)
{
    const struct scalar *t = out->type;
    u32 odd[3] = { 0 }, offset[3][LANES];
    if (is_plain(out, a, lanes)) return;
    EACH_SET (l, lanes) {
        for (u32 k = 0; k + t->bytes <= a->bytes && a->addr[l] + k + t->bytes <= out->end; k += t->bytes) {
            u64 bits = 0;
            memcpy(&bits, (const u8 *)mem_view(out->object, a->addr[l]) + k, t->bytes);
            enum odd what = odd_kind(t, bits);
            if (!(odd[what] >> l & 1)) offset[what][l] = k;
            odd[what] |= 1u << l;
        }
    }
    if (odd[ODD_NAN]) found_by_origin(o, out, a, odd[ODD_NAN], offset[ODD_NAN], ODD_NAN);
    if (odd[ODD_INF] & ~odd[ODD_NAN])
        found_by_origin(o, out, a, odd[ODD_INF] & ~odd[ODD_NAN], offset[ODD_INF], ODD_INF);
}

/* ---- every store ---- */

/* What the register that is stored is used as elsewhere. */
static const struct scalar *register_type(struct outputs *o, const struct access *a)
{
    const struct lowered *low = a->warp->code->low;
    const struct opnd *d = lop_src(&low->op[a->insn->op], SRC_DATA);
    u32 n = 0;
    if (d->kind != O_REG || !site_is_store(a->site)) return NULL;
    lock(&o->lock);
    struct learned *t = o->learned;
    while (t && t->low != low) t = t->next;
    if (!t) {
        t = NEW(&o->mem, struct learned);
        *t = (struct learned){ low, odd_types(low, &o->mem), o->learned };
        o->learned = t;
    }
    unlock(&o->lock);
    return odd_type((enum ptx_type)t->type[d->reg], &n);
}

static const struct scalar *type_at(struct outputs *o, const struct mem_object *object, const struct access *a)
{
    const struct scalar *t = mem_scalar(object);
    u32 n = 0;
    if (t) return t->class == SCALAR_FLOAT ? t : NULL;
    t = odd_type((enum ptx_type)a->site->type, &n);
    return t ? t : register_type(o, a);
}

void values_any(struct outputs *o, const struct access *a, u32 lanes)
{
    while (lanes) {
        u32 first = (u32)__builtin_ctz(lanes), same = 0;
        const struct mem_object *object = mem_find(o->memory, a->addr[first]);
        if (!object || !mem_is_live(object)) {
            lanes &= lanes - 1;
            continue;
        }
        struct output out = {
            .object = object, .lo = object->base, .end = object->base + object->size, .type = type_at(o, object, a)
        };
        EACH_SET (l, lanes) {
            if (a->addr[l] >= out.lo && a->addr[l] + a->bytes <= out.end) same |= 1u << l;
        }
        if (out.type && same) values_write(o, &out, a, same);
        lanes &= ~(same | 1u << first);
    }
}
