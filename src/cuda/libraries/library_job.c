/* A call of a library as an operation of a stream.
 *
 * What a call uses is known in the call, mostly: operands that reach outside of their allocation, or are memory of the
 * host, are reported there, and nothing is enqueued. What streams decide, whether memory that is allocated and freed in
 * their order is there, is asked when the operation runs. Then, too, an array of pointers in memory of the device says
 * what it leads to. When the operation has run, the checks are told what it has read and written, by the same parts as
 * operators of PyTorch (engine/cu_operator.c). */
#include "api/host.h"
#include "driver/cu_engine.h"
#include "libraries/library.h"
#include "runtime/rt.h"

bool library_ready(void) { return !rt_enter(NULL); }

/* ---- where memory is ---- */

/* The object of an address, of whichever device; NULL: none. */
static const struct mem_object *argument_object(u64 address)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        const struct mem_object *o = gpu && gpu->device->mem ? mem_find(gpu->device->mem, address) : NULL;
        if (o) return o;
    }
    return NULL;
}

/* ---- operands ---- */

static void operand_add(struct library_call *c, const struct library_operand *p)
{
    if (c->n == c->cap) {
        u32 cap = c->cap ? 2 * c->cap : 8;
        struct library_operand *more = base_realloc(c->operand, cap * sizeof *more);
        if (!more) base_exhausted(cap * sizeof *more, "operands of a library call");
        c->operand = more;
        c->cap = cap;
    }
    c->operand[c->n++] = *p;
}

void library_operand(struct library_call *c, const char *name, const void *p, s64 width, s64 rows, s64 pitch,
                     s64 slices, s64 slice, u32 direction)
{
    if (width <= 0 || rows <= 0 || slices <= 0) return;
    if (rows == 1 || pitch == width) { /* one piece */
        width *= rows;
        rows = 1;
        pitch = width;
    }
    if (!slice) slices = 1; /* the same for all */
    struct library_operand o = { .name = name,
                                 .at = (u64)(uintptr_t)p,
                                 .width = (u64)width,
                                 .rows = (u64)rows,
                                 .pitch = (u64)pitch,
                                 .slices = (u64)slices,
                                 .slice = (u64)slice,
                                 .direction = direction };
    operand_add(c, &o);
}

void library_vector(struct library_call *c, const char *name, const void *p, s64 n, s64 inc, s64 bytes, u32 direction)
{
    s64 apart = inc < 0 ? -inc : inc;
    library_operand(c, name, p, bytes, apart ? n : n > 0, apart * bytes, 1, 0, direction);
}

void library_matrix(struct library_call *c, const char *name, const void *p, s64 rows, s64 columns, s64 ld, s64 bytes,
                    u32 direction)
{
    library_operand(c, name, p, rows * bytes, columns, ld * bytes, 1, 0, direction);
}

bool library_scalar(struct library_call *c, const char *name, const void *p, enum number_type type, bool on_device,
                    struct library_scalar *out)
{
    *out = (struct library_scalar){ .type = type };
    bool there = p &&
                 (on_device ? argument_object((u64)(uintptr_t)p) != NULL : bytes_readable(p, (u64)number_bytes(type)));
    if (there && on_device) {
        out->on_device = p;
        library_operand(c, name, p, number_bytes(type), 1, 0, 1, 0, READS);
    } else if (there) {
        out->value = number_load(type, p, 0);
    } else {
        library_wrong(
            c,
            on_device ? "Pass the address of a number in memory of the device, or set CUBLAS_POINTER_MODE_HOST for "
                        "a variable of the host."
                      : "Pass the address of a variable of the host, or set CUBLAS_POINTER_MODE_DEVICE for a number "
                        "in memory of the device.",
            "%s of %s is %s, and the pointer mode says that it lies on the %s.", name, c->name,
            !p          ? "NULL"
            : on_device ? "no address of the device"
                        : "no address of the host",
            on_device ? "device" : "host");
    }
    return there;
}

struct element library_value(const struct library_scalar *s)
{
    const void *p = s->on_device ? library_view(s->on_device) : NULL;
    return p ? number_load(s->type, p, 0) : s->value;
}

bool library_is_zero(const struct library_scalar *s) { return !s->on_device && s->value.re == 0 && s->value.im == 0; }

/* ---- what is there ---- */

void *library_view(const void *p)
{
    const struct mem_object *o = argument_object((u64)(uintptr_t)p);
    return o && mem_is_live(o) ? mem_view(o, (u64)(uintptr_t)p) : NULL;
}

/* Whether all of it lies in its object; running: and the object is there now. */
static bool operand_fits(const struct library_call *c, const struct library_operand *p, bool running)
{
    const struct mem_object *o = argument_object(p->at);
    u64 end = p->at + (p->slices - 1) * p->slice + (p->rows - 1) * p->pitch + p->width;
    bool gone = o && !mem_is_live(o) && (running || o->kind != MEM_POOL);
    if (o && !gone && end >= p->at && end <= o->base + o->size) return true;
    library_memory_found(c, p, o, running);
    return false;
}

static bool operands_fit(const struct library_call *c, bool running)
{
    bool fit = true;
    for (u32 i = 0; i < c->n; i++) fit &= operand_fits(c, &c->operand[i], running);
    return fit;
}

void *library_found(struct library_call *c, const char *name, const void *p, s64 width, s64 rows, s64 pitch,
                    u32 direction)
{
    u32 before = c->n;
    library_operand(c, name, p, width, rows, pitch, 1, 0, direction);
    if (c->n == before) return NULL;
    if (operand_fits(c, &c->operand[before], true)) return library_view(p);
    c->n = before;
    c->failed = true;
    return NULL;
}

/* ---- operations ---- */

static u32 parts_make(struct library_call *c)
{
    u32 parts = 0;
    for (u32 i = 0; i < c->n; i++) {
        const struct library_operand *p = &c->operand[i];
        for (u32 d = READS; d <= WRITES; d++)
            if (p->direction & d)
                c->part[parts++] = (struct op_races_part){
                    p->at, p->width, p->rows, p->pitch, p->slices, p->slice, d == WRITES ? ACCESS_WRITE : ACCESS_READ,
                    false
                };
    }
    return parts;
}

/* Its turn has come. */
static u32 operate(void *self, struct op_races_use *use)
{
    struct library_call *c = self;
    c->n = c->declared; /* a graph runs it again */
    c->failed = false;
    if (!operands_fit(c, true)) return CU_OK;
    c->run(c);
    base_free(c->part);
    c->part = base_alloc((2 * (size_t)c->n + 1) * sizeof *c->part);
    if (!c->part) return CU_OUT_OF_MEMORY;
    use->parts = parts_make(c);
    use->part = c->part;
    return CU_OK;
}

void library_call_end(struct library_call *c)
{
    if (c->end) c->end(c);
    base_free(c->operand);
    base_free(c->part);
    c->end = NULL;
    c->operand = NULL;
    c->part = NULL;
}

static void ended(void *self)
{
    library_call_end(self);
    base_free(self);
}

/* The call's own memory goes to the operation. */
static cu_result enqueue(struct library_call *c)
{
    lk_stream *st;
    struct cu_context *context;
    cu_result r = library_ready() ? cu_current_for(c->stream, &context) : CU_NOT_INITIALIZED;
    if (r || (r = cu_stream_of(context, c->stream, &st))) return r;
    struct library_call *job = base_alloc(sizeof *job);
    if (!job) return CU_OUT_OF_MEMORY;
    *job = *c;
    c->end = NULL;
    c->operand = NULL;
    c->part = NULL;
    struct dev_task task = { .kind = OP_HOST,
                             .host = { .operate = operate, .self = job, .gone = ended, .computes = true } };
    return cu_status(st->handle.gpu, host_enqueue(st, &task, c->site));
}

static s64 status_of(const struct library_call *c, cu_result r)
{
    return !r                                                ? 0
           : r == CU_NOT_INITIALIZED                         ? c->codes->unready
           : r == CU_OUT_OF_MEMORY                           ? c->codes->memory
           : r == CU_INVALID_HANDLE || r == CU_INVALID_VALUE ? c->codes->invalid
                                                             : c->codes->failed;
}

s64 library_enqueue(struct library_call *c, void (*run)(struct library_call *c))
{
    c->run = run;
    c->declared = c->n;
    if (!library_ready()) return c->codes->unready;
    if (!operands_fit(c, false)) return c->codes->failed;
    return status_of(c, enqueue(c));
}

s64 library_perform(struct library_call *c, void (*run)(struct library_call *c))
{
    u32 captured = 0;
    void *stream = c->stream;
    if (!lkcu_cuStreamIsCapturing(stream, &captured) && captured)
        return library_wrong(c, "Set CUBLAS_POINTER_MODE_DEVICE, and pass an address of the device for the result.",
                             "%s gives its result to the host, which a stream that is captured cannot wait for.",
                             c->name);
    s64 result = library_enqueue(c, run);
    return result ? result : status_of(c, lkcu_cuStreamSynchronize(stream));
}
