/* A misaligned access in words: where the offset that is no multiple comes from, and what to change. */
#include "explain/explain_fault.h"
#include "explain/explain_access.h"
#include "explain/explain_index.h"
#include "code/shared_layout.h"
#include "sim/finding_place.h"
#include <inttypes.h>

/* How the lanes of an access lie: rows of `length` threads, `stride` bytes apart, with everything inside a row
 * aligned alike. */
struct rows {
    u32 length;
    s64 stride;
};

static bool rows_of(const struct access *a, u32 length, struct rows *r)
{
    u32 seen = 0;
    *r = (struct rows){ .length = length };
    for (u32 l = 0; l + length < LANES; l++) {
        if (!(a->mask >> l & 1) || !(a->mask >> (l + length) & 1)) continue;
        s64 s = (s64)(a->addr[l + length] - a->addr[l]);
        if (seen++ && s != r->stride) return false;
        r->stride = s;
    }
    for (u32 l = 0; l + 1 < LANES; l++)
        if ((a->mask >> l & 3) == 3 && (l + 1) % length && (a->addr[l + 1] - a->addr[l]) % a->bytes) return false;
    return seen > 0;
}

static bool find_rows(const struct access *a, struct rows *r)
{
    for (u32 n = 1; n < LANES; n *= 2)
        if (rows_of(a, n, r)) return true;
    return false;
}

/* In elements when the object has some: "pad by 8 elements instead of 1" is what the author of a tile wants to hear. */
static const char *padding_fix(struct arena *mem, const struct finding *f, u64 stride, u32 need)
{
    u64 below = stride / need * need, above = below + need;
    u32 e = f->element_size;
    if (!e || below % e || above % e || stride % e || !below)
        return arena_printf(mem,
                            "Make the distance a multiple of %u bytes (%" PRIu64 " instead of %" PRIu64
                            "), or use a narrower access.",
                            need, above, stride);
    return arena_printf(mem,
                        "Make the distance %" PRIu64 " elements instead of %" PRIu64 " (%" PRIu64 " padded by %" PRIu64
                        " instead of %" PRIu64 "), or use a narrower access.",
                        above / e, stride / e, below / e, (above - below) / e, (stride - below) / e);
}

static const char *argument_text(const struct access *a, u64 residue, struct arena *mem)
{
    const struct provenance *r = &a->site->prov;
    const struct launch *l = a->warp->cta->launch;
    u64 v;
    if (r->kind != FROM_PARAM) return NULL;
    memcpy(&v, l->param.block + r->off, 8);
    const struct mem_object *o = mem_find(l->sim->mem, v);
    if (!o || v % access_align(a) != residue) return NULL;
    for (u32 k = 0; k < l->kernel->func->nparam; k++)
        if (l->kernel->func->param[k]->offset == r->off)
            return arena_printf(mem, "%s is %s+0x%" PRIx64 ", already %" PRIu64 " past a multiple of %u",
                                ptx_argument(l->kernel->func, k).text, o->name, v - o->base, residue,
                                (u32)access_align(a));
    return NULL;
}

/* Bytes from one row of the object to the next, from its type: 120 of f32[5,30]; 0: it has no rows. */
static u64 row_bytes(const struct finding *f)
{
    const char *comma = f->object_type ? strrchr(f->object_type, ',') : NULL;
    u64 n = 0;
    for (const char *p = comma ? comma + 1 : ""; *p >= '0' && *p <= '9'; p++) n = n * 10 + (u64)(*p - '0');
    return n * f->element_size;
}

/* All lanes are off alike, and by what the rows above theirs amount to: the pitch of the array does not fit. */
static bool explain_pitch(struct arena *mem, struct finding *f, const char *rule, u64 off, u32 need)
{
    u64 row = row_bytes(f), rest = row % need, r = row ? off / row : 0;
    if (!rest || r * row % need != off % need) return false;
    u32 period = need / (u32)(rest & (0 - rest));
    f->cause = arena_printf(
        mem,
        "%srows of %s are %" PRIu64 " bytes apart (%" PRIu64 " elements of %u), and %" PRIu64 " = %" PRIu64
        "*%u + %" PRIu64 ": rows with r mod %u != 0 are misaligned, here row %" PRIu64,
        rule, f->object, row, row / f->element_size, f->element_size, row, row / need, need, rest, period, r);
    f->fix = padding_fix(mem, f, row, need);
    return true;
}

/* Where thread 0 of CTA 0 would begin, in bytes from the object's start, when that is not a multiple of `need`; 0: it
 * is, or is not known. `only`: all else is a multiple. */
static u64 bad_start(const struct access *a, const struct finding *f, u32 need, bool *only)
{
    struct index_form form = formula_of(a, f);
    const struct sim_launch *in = a->warp->cta->launch->in;
    *only = true;
    for (u32 k = 0; k < 3; k++)
        *only &= (in->block[k] == 1 || (u64)form.step[k] * f->element_size % need == 0) &&
                 (in->grid[k] == 1 || (u64)form.cta_step[k] * f->element_size % need == 0);
    u64 start = form.known && !form.open && form.start > 0 ? (u64)form.start * f->element_size : 0;
    return start % need ? start : 0;
}

/* "Begin at byte 0 or 16 (element 0 or 4) instead of 4 (element 1)" */
static const char *start_fix(struct arena *mem, const struct finding *f, u64 start, u32 need)
{
    u64 below = start / need * need, e = f->element_size;
    if (need % e)
        return arena_printf(mem, "Begin at byte %" PRIu64 " or %" PRIu64 " of %s instead of %" PRIu64, below,
                            below + need, f->object, start);
    return arena_printf(mem, "Begin at element %" PRIu64 " or %" PRIu64 " of %s instead of %" PRIu64, below / e,
                        (below + need) / e, f->object, start / e);
}

/* All are off alike, and so is the first one. */
static void explain_start(const struct access *a, const char *rule, u64 start, u32 need, struct arena *mem,
                          struct finding *f)
{
    f->cause = arena_printf(
        mem, "%sthe first one is at offset %" PRIu64 " = %" PRIu64 "*%u + %" PRIu64 "%s", rule, start, start / need,
        need, start % need,
        a->mask & (a->mask - 1)
            ? arena_printf(mem, ", and what is added for the other threads is a multiple of %u, so all are off alike",
                           need)
            : "");
    f->fix = arena_printf(mem, "%s, or use a narrower access.", start_fix(mem, f, start, need));
}

/* All are off alike, by what the pointer is that they get; arg: a sentence about the argument, NULL: none. */
static void explain_alike(const struct access *a, const char *rule, const char *arg, u64 off, u32 need,
                          struct arena *mem, struct finding *f)
{
    f->cause = arg ? arena_printf(mem, "%s%s", rule, arg)
                   : arena_printf(mem, "%shere it is offset %" PRIu64 " = %" PRIu64 "*%u + %" PRIu64 "%s", rule, off,
                                  off / need, need, off % need,
                                  a->mask & (a->mask - 1)
                                      ? ", and the residue is the same for every thread: it comes from what is "
                                        "added to the pointer before the index"
                                      : "");
    f->fix = arg ? arena_printf(mem, "Pass a pointer that is a multiple of %u, or use a narrower access.", need)
                 : arena_printf(mem, "Keep that offset a multiple of %u bytes, or use a narrower access.", need);
}

/* Which of the rows are misaligned, in words. */
static const char *rows_text(const struct access *a, u32 mask, const struct rows *r, u32 period, struct arena *mem)
{
    bool regular = true, from_zero = true; /* aligned are every period-th row, from the CTA's first on */
    u32 zero = (u32)__builtin_ctz(a->mask & ~mask ? a->mask & ~mask : a->mask) / r->length;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        regular &= (mask >> l & 1) == ((l / r->length - zero) % period != 0);
        from_zero &= (mask >> l & 1) == ((a->warp->id * LANES + l) / r->length % period != 0);
    }
    return from_zero && period > 1
               ? arena_printf(mem, ": %s with %s mod %u != 0 are misaligned", r->length == 1 ? "threads" : "rows",
                              r->length == 1 ? "t" : "r", period)
           : regular && period > 1 ? arena_printf(mem, ": one in %u is aligned", period)
                                   : "";
}

/* Rows lie at a distance that is no multiple; start: the first one is no multiple either, 0: it is. */
static void explain_rows(const struct access *a, u32 mask, const struct rows *r, const char *rule, u64 start, u32 need,
                         struct arena *mem, struct finding *f)
{
    u64 s = (u64)r->stride, rest = s % need;
    const char *which = rows_text(a, mask, r, need / (u32)(rest & (0 - rest)), mem);
    const char *also =
        start ? arena_printf(mem, ", and the first begins at offset %" PRIu64 ", no multiple either", start) : "";
    f->cause =
        arena_printf(mem, "%s%s are %" PRIu64 " bytes apart, and %" PRIu64 " = %" PRIu64 "*%u + %" PRIu64 "%s%s", rule,
                     r->length == 1 ? "neighbouring threads" : arena_printf(mem, "rows of %u threads", r->length), s, s,
                     s / need, need, rest, which, also);
    f->fix = start ? arena_printf(mem,
                                  "%s, with a distance of %" PRIu64 " bytes instead of %" PRIu64
                                  ", or use a narrower access.",
                                  start_fix(mem, f, start, need), s / need * need + need, s)
                   : padding_fix(mem, f, s, need);
}

/* An access of a surface: its x counts bytes, and looks like a number of texels. */
static bool explain_surface(const struct access *a, const char *rule, u64 off, u32 need, struct arena *mem,
                            struct finding *f)
{
    const struct ptx_insn *i = a->warp->code->low->op[a->insn->op].src;
    if (!i || i->opcode.n < 4 || (memcmp(i->opcode.p, "sust", 4) && memcmp(i->opcode.p, "suld", 4))) return false;
    f->cause = arena_printf(mem,
                            "%shere it is offset %" PRIu64 ": x of a surface counts bytes, and the texels are %u bytes "
                            "apart",
                            rule, off, need);
    f->fix = arena_printf(mem, "Multiply x by the size of a texel: surf2Dwrite(v, surface, x * %u, y).", need);
    return true;
}

/* The address is not a multiple of the width: which term of it carries the residue. */
void explain_misaligned(const struct access *a, u32 first, u32 mask, struct arena *mem, struct finding *f)
{
    u32 need = (u32)access_align(a);
    u64 off = a->addr[first] - f->object_base, residue = a->addr[first] & (need - 1);
    bool alike = true, only;
    for (u32 l = 0; l < LANES; l++) alike &= !(a->mask >> l & 1) || (a->addr[l] & (need - 1)) == residue;
    f->align = need;
    const char *rule = a->site->flags & SITE_BULK
                           ? arena_printf(mem, "a bulk copy needs addresses that are multiples of %u; ", need)
                           : arena_printf(mem, "%s %u-byte access needs an address that is a multiple of %u; ",
                                          need == 8 ? "an" : "a", need, need);
    struct rows r;
    if (explain_surface(a, rule, off, need, mem, f)) return;
    const char *arg = alike ? argument_text(a, residue, mem) : NULL;
    if (alike && !arg && explain_pitch(mem, f, rule, off, need)) return;
    u64 start = arg ? 0 : bad_start(a, f, need, &only);
    if (alike && start && only)
        explain_start(a, rule, start, need, mem, f);
    else if (alike)
        explain_alike(a, rule, arg, off, need, mem, f);
    else if (find_rows(a, &r) && r.stride > 0 && (u64)r.stride % need)
        explain_rows(a, mask, &r, rule, start, need, mem, f);
    else
        f->cause = arena_printf(mem, "%shere it is offset %" PRIu64 " = %" PRIu64 "*%u + %" PRIu64, rule, off,
                                off / need, need, off % need);
}
