/* Does a launch keep its contract? The arguments as they are about to be passed against the numbers of the bound
 * contract.
 *
 * A pointer must belong to a live allocation that is long enough from there on, of the right type where somebody told
 * it, aligned; buffers may share memory only where the contract says so; a value made of dims must be that value.
 * Each offence is one finding, at the line of the contract that is not kept, since that is where both sides of the
 * disagreement can be read. */
#include "contract/contract.h"
#include "mem/mem_finding.h"
#include <inttypes.h>
#include <stdlib.h>

/* What can be broken, and what to do about it. */
enum rule { R_POINTER, R_TYPE, R_EXTENT, R_ALIGN, R_ALIAS, R_VALUE, R_SHARED_SIZE, R_SHARED };
static const char *const fixes[] = {
    [R_POINTER] = "Pass the address of a live device allocation; if null is fine, say `optional` in the contract.",
    [R_TYPE] = "Pass a buffer of the type and shape in the contract, or convert it first.",
    [R_EXTENT] = "Allocate as many elements as the contract says, or launch with the dims that the buffer really has.",
    [R_ALIGN] = "Pass the start of an allocation, or an offset that is a multiple of the alignment.",
    [R_ALIAS] = "Pass separate buffers; if the kernel works in place, say `alias` in the contract.",
    [R_VALUE] = "Pass the value that the contract gives, or launch with the dims that belong to this one.",
    /* that of the kind */
    [R_SHARED_SIZE] = "Launch with as much shared memory as the last part needs.",
    [R_SHARED] = NULL,
};

struct hearing {
    const struct contract_launch *l;
    u32 found; /* offences so far */
};

void contract_place(const struct contract *c, const char *at, struct place *p)
{
    u32 line = 1, col = 1;
    for (const char *q = c->text.p; q < at; q++, col++)
        if (*q == '\n') {
            line++;
            col = 0;
        }
    *p = (struct place){ .file = c->file, .line = line, .col = col };
}

/* Which: sets apart the findings of one line. */
static void offence(struct hearing *h, const char *at, enum rule rule, u64 which, const struct mem_object *o,
                    const char *fmt, ...) PRINTF_LIKE(6, 7);
static void offence(struct hearing *h, const char *at, enum rule rule, u64 which, const struct mem_object *o,
                    const char *fmt, ...)
{
    char cause[500], note[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cause, sizeof cause, fmt, ap);
    va_end(ap);
    struct place p;
    contract_place(h->l->bound->contract, at, &p);
    p.function = h->l->kernel;
    struct finding f = { .kind = rule == R_SHARED ? F_shared_overlap : F_contract,
                         .place = &p,
                         .kernel = h->l->kernel,
                         .cause_key = which << 3 | rule,
                         .cause = cause,
                         .fix = fixes[rule] };
    if (o) {
        finding_object(&f, o);
        snprintf(note, sizeof note, "%.60s: %" PRIu64 " bytes%s%.100s", o->name, o->size,
                 o->alloc_site ? ", allocated at " : "", o->alloc_site ? o->alloc_site : "");
        f.object_note = note;
    }
    report_add(h->l->report, &f);
    h->found++;
}

static u64 pointer(const struct hearing *h, u32 i)
{
    u64 v;
    memcpy(&v, h->l->args[i], 8);
    return v;
}

/* Whether "f32" of an allocation is what the contract calls `t`. Plain bits of the same size fit everything. */
static bool same_type(const char *type, size_t n, const struct scalar *t)
{
    const struct scalar *is = scalar_find((struct str){ type, (u32)n });
    if (!is || is->bytes != t->bytes) return !is;
    return is->class == SCALAR_BITS || t->class == SCALAR_BITS ||
           (is->class == t->class && is->exponent == t->exponent);
}

/* Whether the dims in "f32[64,32]" are those of the contract. A flat array fits every shape. */
static bool same_shape(const char *dims, const struct bound_arg *b)
{
    u64 dim[CONTRACT_RANK];
    u32 n = 0;
    for (const char *p = dims; *p && n < CONTRACT_RANK; p++)
        if (*p >= '0' && *p <= '9') {
            char *end;
            dim[n++] = strtoull(p, &end, 10);
            p = end - 1;
        }
    return n != b->arg->shape.rank || n < 2 || !memcmp(dim, b->shape.dim, n * sizeof *dim);
}

/* Whether the elements lie side by side, as in the memory of an allocation with this shape. */
static bool is_dense(const struct bound_arg *b)
{
    u64 dense = 1;
    for (u32 i = b->arg->shape.rank; i-- > 0; dense *= MAX_OF(b->shape.dim[i], 1u))
        if (b->shape.dim[i] > 1 && b->shape.stride[i] != dense) return false;
    return true;
}

static void check_type(struct hearing *h, u32 i, const struct mem_object *o)
{
    const struct bound_arg *b = &h->l->bound->arg[i];
    char want[160];
    if (!o->type) return;
    size_t n = strcspn(o->type, "[.");
    contract_type_text(b, want, sizeof want);
    if (!same_type(o->type, n, b->arg->shape.type))
        offence(h, b->arg->at, R_TYPE, i, o, "%s is %s in the contract, and %s is %s.", b->arg->name, want, o->name,
                o->type);
    else if (is_dense(b) && pointer(h, i) == o->base && !same_shape(o->type + n, b))
        offence(h, b->arg->at, R_TYPE, i, o,
                "%s is %s in the contract, and %s is %s: the same elements in other places.", b->arg->name, want,
                o->name, o->type);
}

static void check_extent(struct hearing *h, u32 i, const struct mem_object *o)
{
    const struct bound_arg *b = &h->l->bound->arg[i];
    u64 at = pointer(h, i) - o->base, left = o->size - at;
    char want[160];
    if (left >= b->bytes) return;
    contract_type_text(b, want, sizeof want);
    offence(h, b->arg->at, R_EXTENT, i, o,
            "%s is %s in the contract%s, which needs %" PRIu64 " bytes; %s has %" PRIu64 "%s.", b->arg->name, want,
            b->arg->shape.stride[0] ? ", with its strides" : "", b->bytes, o->name, left,
            at ? " after the address passed" : "");
}

static void check_buffer(struct hearing *h, u32 i)
{
    const struct bound_arg *b = &h->l->bound->arg[i];
    u64 at = pointer(h, i);
    if (!b->bytes || (!at && b->arg->optional)) return;
    struct mem_object *o = at ? h->l->find(h->l->ctx, at) : NULL;
    if (!at) {
        offence(h, b->arg->at, R_POINTER, i, NULL, "%s is a null pointer.", b->arg->name);
    } else if (!o) {
        offence(h, b->arg->at, R_POINTER, i, NULL,
                "%s is 0x%" PRIx64
                ", which belongs to no allocation of this device; a host pointer is the usual mistake.",
                b->arg->name, at);
    } else if (__atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED) {
        offence(h, b->arg->at, R_POINTER, i, o, "%s points into %s, which has been freed.", b->arg->name, o->name);
    } else {
        check_type(h, i, o);
        check_extent(h, i, o);
        if (at % b->align)
            offence(h, b->arg->at, R_ALIGN, i, o,
                    "%s is %s+0x%" PRIx64 ", %" PRIu64 " bytes past a multiple of %" PRIu64 ".", b->arg->name, o->name,
                    at - o->base, at % b->align, b->align);
    }
}

static void check_value(struct hearing *h, u32 i)
{
    const struct bound_arg *b = &h->l->bound->arg[i];
    char is[64], should[64];
    if (!b->tied || !memcmp(h->l->args[i], b->value, b->bytes)) return;
    scalar_print(b->arg->shape.type, h->l->args[i], is, sizeof is);
    scalar_print(b->arg->shape.type, b->value, should, sizeof should);
    offence(h, b->arg->at, R_VALUE, i, NULL, "%s is %s; the contract makes it %s.", b->arg->name, is, should);
}

static void check_overlap(struct hearing *h, u32 i, u32 j)
{
    const struct bound_arg *x = &h->l->bound->arg[i], *y = &h->l->bound->arg[j];
    if (x->arg->kind != CONTRACT_BUFFER || y->arg->kind != CONTRACT_BUFFER ||
        (x->arg->flow == FLOW_IN && y->arg->flow == FLOW_IN) || y->arg->alias == i)
        return;
    u64 a = pointer(h, i), b = pointer(h, j), from = MAX_OF(a, b), to = MIN_OF(a + x->bytes, b + y->bytes);
    if (!a || !b || from >= to) return;
    const struct contract_arg *written = y->arg->flow != FLOW_IN ? y->arg : x->arg;
    offence(h, y->arg->at, R_ALIAS, (u64)i << 32 | j, h->l->find(h->l->ctx, from),
            "%s and %s have %" PRIu64 " bytes in common, and the kernel writes %s.", x->arg->name, y->arg->name,
            to - from, written->name);
}

static void check_parts(struct hearing *h)
{
    const struct bound *b = h->l->bound;
    for (u32 i = 0; i < b->kernel->parts.n; i++) {
        const struct bound_part *p = &b->part[i];
        if (p->offset + p->bytes > h->l->shared)
            offence(h, p->part->at, R_SHARED_SIZE, 0, NULL,
                    "%s ends at byte %" PRIu64 " of dynamic shared memory, and the launch provides %" PRIu64 ".",
                    p->part->name, p->offset + p->bytes, h->l->shared);
        for (u32 j = 0; j < i; j++) {
            const struct bound_part *q = &b->part[j];
            u64 from = MAX_OF(p->offset, q->offset), to = MIN_OF(p->offset + p->bytes, q->offset + q->bytes);
            if (from < to)
                offence(h, p->part->at, R_SHARED, j, NULL,
                        "%s (bytes %" PRIu64 " to %" PRIu64 ") and %s (bytes %" PRIu64 " to %" PRIu64
                        ") overlap by %" PRIu64 " bytes.",
                        q->part->name, q->offset, q->offset + q->bytes - 1, p->part->name, p->offset,
                        p->offset + p->bytes - 1, to - from);
        }
    }
}

bool contract_obeyed(const struct contract_launch *l)
{
    struct hearing h = { .l = l };
    u32 n = MIN_OF(l->nargs, l->bound->kernel->args.n);
    for (u32 i = 0; i < n; i++) {
        enum contract_arg_kind kind = l->bound->arg[i].arg->kind;
        if (kind == CONTRACT_BUFFER) check_buffer(&h, i);
        if (kind == CONTRACT_VALUE) check_value(&h, i);
    }
    for (u32 j = 0; j < n; j++)
        for (u32 i = 0; i < j; i++) check_overlap(&h, i, j);
    check_parts(&h);
    return !h.found;
}
