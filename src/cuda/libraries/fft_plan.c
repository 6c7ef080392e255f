/* cuFFT: plans, which programs know by numbers, and transforms of up to three dimensions, many of them. */
#include "libraries/fft_plan.h"
#include <inttypes.h>

enum { VERSION_12 = 11400, VERSION_13 = 12000 };
enum { INVALID_PLAN = 1, INVALID_TYPE = 3, INVALID_SIZE = 8 }; /* cufftResult */

struct planning {
    struct library_handle of;
    u32 number;
    void *stream;
    bool made;
    struct fft_shape shape;
};

/* ---- numbers of plans ---- */

static struct {
    lock_t lock;
    struct planning **at;
    u32 n, cap;
} plans = { .lock = LOCK_INIT };

static u32 number_take(struct planning *p)
{
    lock(&plans.lock);
    u32 k = 1;
    while (k < plans.n && plans.at[k]) k++;
    NEED_ROOM(plans.at, plans.n, plans.cap, 64);
    if (!plans.n) plans.at[plans.n++] = NULL; /* 0 is no plan */
    if (k >= plans.n) {
        k = plans.n;
        NEED_ROOM(plans.at, plans.n, plans.cap, 64);
        plans.n++;
    }
    plans.at[k] = p;
    unlock(&plans.lock);
    return k;
}

/* The plan of a call, made or not; NULL: a finding. */
static struct planning *plan_of(struct library_call *c)
{
    lock(&plans.lock);
    c->a.handle = c->a.plan > 0 && c->a.plan < plans.n ? plans.at[c->a.plan] : NULL;
    unlock(&plans.lock);
    struct planning *p = library_handle(c, HANDLE_FFT);
    if (p) c->stream = p->stream;
    return p;
}

/* ---- settings ---- */

s64 fft_create(struct library_call *c)
{
    int *out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    struct planning *p = library_handle_new(c, HANDLE_FFT, sizeof *p);
    if (!p) return c->codes->unready;
    p->number = number_take(p);
    *out = (int)p->number;
    c->a.plan = p->number;
    library_handle_open(p);
    return 0;
}

s64 fft_destroy(struct library_call *c)
{
    struct planning *p = plan_of(c);
    if (!p) return INVALID_PLAN;
    lock(&plans.lock);
    plans.at[p->number] = NULL;
    unlock(&plans.lock);
    return library_handle_end(c, HANDLE_FFT);
}

s64 fft_set_stream(struct library_call *c)
{
    struct planning *p = plan_of(c);
    if (p) p->stream = c->a.stream;
    return p ? 0 : INVALID_PLAN;
}
s64 fft_set_work_area(struct library_call *c) { return plan_of(c) ? 0 : INVALID_PLAN; }
s64 fft_hint(struct library_call *c) { return plan_of(c) ? 0 : INVALID_PLAN; }
s64 fft_version(struct library_call *c)
{
    int *out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    *out = library_release() == 12 ? VERSION_12 : VERSION_13;
    return 0;
}
s64 fft_property(struct library_call *c)
{
    int *out = c->a.result, version = library_release() == 12 ? VERSION_12 : VERSION_13;
    if (!cu_ok(out)) return c->codes->invalid;
    *out = c->a.type == 0 ? version / 1000 : c->a.type == 1 ? version / 100 % 10 : version % 100;
    return 0;
}

/* ---- shapes ---- */

static bool type_known(s64 type)
{
    return type == FFT_C2C || type == FFT_R2C || type == FFT_C2R || type == FFT_Z2Z || type == FFT_D2Z ||
           type == FFT_Z2D;
}

static s64 shape_wrong(struct library_call *c, const struct fft_shape *s)
{
    for (u32 i = 0; i < s->rank; i++)
        if (s->n[i] < 1) {
            library_wrong(c, "Pass sizes that are 1 or more.", "%s is called with a size of %" PRId64 ".", c->name,
                          s->n[i]);
            return INVALID_SIZE;
        }
    if (s->batch < 1) {
        library_wrong(c, "Pass 1 for a single transform.", "%s is called for %" PRId64 " transforms.", c->name,
                      s->batch);
        return INVALID_SIZE;
    }
    if (type_known(s->type)) return 0;
    library_wrong(c, "Pass a constant of cufft.h.", "%s is called with type %" PRId64 ", which it does not know.",
                  c->name, (s64)s->type);
    return INVALID_TYPE;
}

static s64 make(struct library_call *c, const struct fft_shape *s)
{
    struct planning *p = plan_of(c);
    u64 *bytes = c->a.written;
    if (!p) return INVALID_PLAN;
    s64 wrong = shape_wrong(c, s);
    if (wrong) return wrong;
    if (bytes && cu_ok(bytes)) *bytes = 0; /* no memory of the device is used beside the operands */
    p->shape = *s;
    p->made = true;
    return 0;
}

static struct fft_shape shape_of(const struct library_call *c, u32 rank)
{
    struct fft_shape s = { .rank = rank, .n = { c->a.nx, c->a.ny, c->a.nz }, .type = (s32)c->a.type, .batch = 1 };
    if (rank == 1) s.batch = c->a.batch;
    return s;
}

/* A list of the caller's, of int or of long long. */
static bool list_read(const struct library_call *c, const void *list, s64 out[FFT_RANK])
{
    u64 bytes = c->wide ? sizeof(s64) : sizeof(s32);
    if (!bytes_readable(list, bytes * (u64)c->a.rank)) return false;
    for (s64 i = 0; i < c->a.rank; i++) out[i] = c->wide ? ((const s64 *)list)[i] : ((const s32 *)list)[i];
    return true;
}

/* false: the arguments cannot be read, which is a finding. */
static bool many_read(struct library_call *c, struct fft_shape *s)
{
    *s = (struct fft_shape){ .rank = (u32)c->a.rank, .type = (s32)c->a.type, .batch = c->a.batch };
    if (c->a.rank < 1 || c->a.rank > FFT_RANK || !list_read(c, c->a.lengths, s->n)) {
        library_wrong(c, "Pass 1 to 3 dimensions, and as many sizes.", "%s is called with %" PRId64 " dimensions%s.",
                      c->name, c->a.rank, c->a.lengths ? "" : " and no sizes");
        return false;
    }
    s->in.given = c->a.inembed && list_read(c, c->a.inembed, s->in.embed);
    s->out.given = c->a.onembed && list_read(c, c->a.onembed, s->out.embed);
    s->in.stride = c->a.istride, s->in.distance = c->a.idist;
    s->out.stride = c->a.ostride, s->out.distance = c->a.odist;
    return true;
}

static s64 make_plain(struct library_call *c, u32 rank)
{
    struct fft_shape s = shape_of(c, rank);
    return make(c, &s);
}
s64 fft_make_1(struct library_call *c) { return make_plain(c, 1); }
s64 fft_make_2(struct library_call *c) { return make_plain(c, 2); }
s64 fft_make_3(struct library_call *c) { return make_plain(c, 3); }
s64 fft_make_many(struct library_call *c)
{
    struct fft_shape s;
    return many_read(c, &s) ? make(c, &s) : c->codes->invalid;
}

/* A plan and its shape in one call. */
static s64 plan(struct library_call *c, library_function *shape)
{
    s64 r = fft_create(c);
    if (r) return r;
    r = shape(c);
    if (r) fft_destroy(c);
    return r;
}
s64 fft_plan_1(struct library_call *c) { return plan(c, fft_make_1); }
s64 fft_plan_2(struct library_call *c) { return plan(c, fft_make_2); }
s64 fft_plan_3(struct library_call *c) { return plan(c, fft_make_3); }
s64 fft_plan_many(struct library_call *c) { return plan(c, fft_make_many); }

s64 fft_estimate(struct library_call *c)
{
    u64 *bytes = c->a.written;
    if (!cu_ok(bytes)) return c->codes->invalid;
    *bytes = 0;
    return 0;
}
s64 fft_size(struct library_call *c) { return plan_of(c) ? fft_estimate(c) : INVALID_PLAN; }

/* ---- calls ---- */

static s64 exec(struct library_call *c, s32 type)
{
    struct planning *p = plan_of(c);
    if (!p) return INVALID_PLAN;
    if (!p->made) {
        library_wrong(c, "Call cufftMakePlan1d or one of its like first.",
                      "%s is called with a plan that has no size yet.", c->name);
        return INVALID_PLAN;
    }
    if (type && p->shape.type != type) {
        library_wrong(c, "Make the plan with the type of the call: CUFFT_C2C for cufftExecC2C.",
                      "%s is called with a plan that was made for another type.", c->name);
        return INVALID_TYPE;
    }
    c->fft.shape = p->shape;
    c->fft.inverse = fft_from_half(&p->shape) || c->a.direction > 0;
    return fft_enqueue(c);
}
s64 fft_c2c(struct library_call *c) { return exec(c, c->type == C32 ? FFT_C2C : FFT_Z2Z); }
s64 fft_r2c(struct library_call *c) { return exec(c, c->type == C32 ? FFT_R2C : FFT_D2Z); }
s64 fft_c2r(struct library_call *c) { return exec(c, c->type == C32 ? FFT_C2R : FFT_Z2D); }
s64 fft_any(struct library_call *c) { return exec(c, 0); }
