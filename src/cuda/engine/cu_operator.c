/* Operators of a library whose kernels have no PTX, done by other means on memory of the device: PyTorch's own, by its
 * CPU kernels (front/python/lockstep_torch.py). A script waits until the operator's turn in its stream has come
 * (lkpy_reach), computes on the bytes as the engine sees them (lkpy_view), and says what was read and written
 * (lkpy_operated): from then on it is an operation like others, which the checks know. In a stream that is captured it
 * becomes a host function of the graph, which calls back when the graph runs (lkpy_captured). The functions are called
 * by ctypes; all but lkpy_reach with the interpreter's lock held. */
#include "driver/cu.h"
#include "driver/cu_api.h"
#include "api/host.h"
#include "engine/cu_clock.h"
#include "sites/where.h"

#define FOR_PYTHON __attribute__((visibility("default")))

/* Waits for everything enqueued in a stream so far, as an operation of that stream would. A CUresult. */
FOR_PYTHON int lkpy_reach(void *stream);
/* Where this process may read and write what lies at an address of a device; 0: it is no memory of one. */
FOR_PYTHON u64 lkpy_view(u64 address);
/* Whether some of these bytes of a device's memory were written by nobody, or made from such: 1 for each in `map`, if
 * that is not NULL. */
FOR_PYTHON int lkpy_undefined(u64 address, u64 bytes, u8 *map);
/* An operator was done in its turn. word: for each of its parts 1 if it was written, and 2 more if what is undefined of
 * what it read goes on, to where it wrote (the undefined of what it wrote, after the rest); the address, the bytes of
 * a row, rows, bytes from a row to the next, slices, bytes from a slice to the next. A CUresult. */
FOR_PYTHON int lkpy_operated(void *stream, const char *name, const u64 *word, u32 parts);
/* The same in a stream that is captured: a node of the graph, `operate(self)` when it runs, whose answer is a CUresult.
 */
FOR_PYTHON int lkpy_captured(void *stream, const char *name, const u64 *word, u32 parts, u32 (*operate)(void *self),
                             u64 self);
/* Returns each `self` that will not be called any more, once; 0: no further one. */
FOR_PYTHON u64 lkpy_gone(void);
/* Before the first tensor is there: memory is made and freed in streams as tensors are. */
FOR_PYTHON void lkpy_tensors(void);

static struct {
    lock_t lock;
    struct map names; /* of operators, each once: a site's name lives for ever */
    struct arena mem;
    u64 *gone; /* captured operators whose graphs have ended, until the script asks */
    u32 gone_count, gone_room;
} kept = { .lock = LOCK_INIT };

static const char *name_keep(const char *name)
{
    struct str s = str_of(name);
    lock(&kept.lock);
    const char *known = map_get(&kept.names, s);
    if (!known) {
        known = arena_str(&kept.mem, s);
        map_put(&kept.mem, &kept.names, str_of(known), (void *)(uintptr_t)known);
    }
    unlock(&kept.lock);
    return known;
}

static int stream_find(void *handle, lk_stream **out)
{
    struct cu_context *c;
    cu_result r = cu_current_for(handle, &c);
    return r ? r : cu_stream_of(c, handle, out);
}

int lkpy_reach(void *stream)
{
    lk_stream *st;
    struct error e;
    int r = stream_find(stream, &st);
    if (r) return r;
    const struct device *d = st->handle.gpu->device;
    error_none(&e);
    return d->async->stream_reach ? (int)d->async->stream_reach(st->dev, &e) : CU_NOT_SUPPORTED;
}

u64 lkpy_view(u64 address)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        const struct mem_object *o = gpu && gpu->device->mem ? mem_find(gpu->device->mem, address) : NULL;
        if (o && mem_is_live(o)) return (u64)(uintptr_t)mem_view(o, address);
    }
    return 0;
}

int lkpy_undefined(u64 address, u64 bytes, u8 *map)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        const struct mem_object *o = gpu && gpu->device->mem ? mem_find(gpu->device->mem, address) : NULL;
        if (o && mem_is_live(o) && address + bytes <= o->base + o->size)
            return dev_undefined(gpu->device, address, bytes, map);
    }
    return 0;
}

/* NULL: no memory. */
static struct op_races_part *parts_read(const u64 *word, u32 parts)
{
    enum { WORDS = 7 };
    struct op_races_part *part = base_alloc((parts + 1) * sizeof *part);
    for (u32 i = 0; part && i < parts; i++) {
        const u64 *w = word + i * WORDS;
        part[i] = (struct op_races_part){
            w[1], w[2], w[3], w[4], w[5], w[6], w[0] & 1 ? ACCESS_WRITE : ACCESS_READ, w[0] >> 1 & 1
        };
    }
    return part;
}

static int task_enqueue(void *stream, const char *name, struct dev_task *task)
{
    lk_stream *st;
    struct where_stack s;
    int r = stream_find(stream, &st);
    if (r) return r;
    const char *known = name_keep(name), *site = where_script(&s) ? where_site(known, &s) : NULL;
    r = cu_status(st->handle.gpu, host_enqueue(st, task, site ? site : known));
    if (!r && task->kind == OP_LIBRARY) cu_clock_operator(known, site ? site : known);
    return r;
}

int lkpy_operated(void *stream, const char *name, const u64 *word, u32 parts)
{
    struct op_races_part *part = parts_read(word, parts);
    if (!part) return CU_OUT_OF_MEMORY;
    int r = task_enqueue(stream, name, &(struct dev_task){ .kind = OP_LIBRARY, .library = { part, parts } });
    base_free(part);
    return r;
}

/* A captured operator. */
struct captured {
    u32 (*operate)(void *self);
    void *self;
};

static u32 captured_operate(void *self, struct op_races_use *use)
{
    const struct captured *c = self;
    (void)use;
    return c->operate(c->self);
}

static void captured_gone(void *self)
{
    struct captured *c = self;
    lock(&kept.lock);
    NEED_ROOM(kept.gone, kept.gone_count, kept.gone_room, 64);
    kept.gone[kept.gone_count++] = (u64)(uintptr_t)c->self;
    unlock(&kept.lock);
    base_free(c);
}

int lkpy_captured(void *stream, const char *name, const u64 *word, u32 parts, u32 (*operate)(void *self), u64 self)
{
    struct op_races_part *part = parts_read(word, parts);
    struct captured *c = part ? base_alloc(sizeof *c) : NULL;
    if (!c) {
        base_free(part);
        return CU_OUT_OF_MEMORY;
    }
    *c = (struct captured){ operate, (void *)(uintptr_t)self };
    struct dev_task task = {
        .kind = OP_HOST,
        .host = { .operate = captured_operate, .self = c, .gone = captured_gone, .part = part, .parts = parts }
    };
    int r = task_enqueue(stream, name, &task);
    base_free(part);
    return r;
}

u64 lkpy_gone(void)
{
    lock(&kept.lock);
    u64 self = kept.gone_count ? kept.gone[--kept.gone_count] : 0;
    unlock(&kept.lock);
    return self;
}

void lkpy_tensors(void) { op_races_tensors(); }
