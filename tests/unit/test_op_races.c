/* Findings between operations: which pairs are reported, as what, in which words, and which are left out. */
#include "unit.h"
#include "device/dev.h"
#include "device/op_races.h"
#include "device/dev_work.h"
#include <stdlib.h>

static struct device device;
static struct dev_work work = { .misuses = { .lock = (lock_t)LOCK_INIT } }; /* nothing is misused */
static struct streams *s;
static struct stream *x, *y;
static struct event *e;
static struct op_races *b;
static struct mem_object *in, *out, *managed, *pinned;

static struct mem_object *memory(u64 bytes, enum mem_kind kind, const char *name, const char *type)
{
    struct error err = { 0 };
    struct mem_object *o = mem_alloc(device.mem, bytes, 0, kind, name, "alloc of test", &err);
    CHECK(o);
    mem_describe(device.mem, o, name, type, 4);
    return o;
}

static void open_all(void)
{
    struct error err = { 0 };
    device = (struct device){ .mem = mem_new(&err), .report = report_new(), .work = &work };
    s = streams_new(&(struct streams_options){ 0 });
    x = stream_new(s, STREAM_NON_BLOCKING, 0);
    y = stream_new(s, STREAM_NON_BLOCKING, 0);
    e = event_new(s, 0);
    b = op_races_new(&device, s);
    in = memory(1024, MEM_DEVICE, "in", "f32[256]");
    out = memory(1024, MEM_DEVICE, "out", "f32[256]");
    managed = memory(1024, MEM_MANAGED, "shared", "f32[256]");
    pinned = memory(1024, MEM_PINNED, "mapped", "f32[256]");
}

static void close_all(void)
{
    streams_synchronise(s);
    op_races_delete(b);
    event_delete(e);
    streams_delete(s);
    report_free(device.report);
    mem_delete(device.mem);
}

static u32 errors(void) { return report_errors(device.report); }

/* The report has this text, and is then empty. */
static bool says(const char *text)
{
    struct text t = { 0 };
    report_text(device.report, (struct report_style){ 0 }, &t);
    bool has = strstr(t.p, text) != NULL;
    if (!has) fprintf(stderr, "no `%s` in\n%s", text, t.p);
    text_free(&t);
    return has;
}
static bool only(const char *kind)
{
    bool right = errors() == 1 && says(kind);
    report_clear(device.report);
    return right;
}

static void hand_over(struct stream *from, struct stream *to)
{
    event_record(e, from, 0);
    event_wait(to, e, 0);
}

static u32 later(struct op *op, void *data)
{
    __atomic_store_n((struct op **)data, op_hold(op), __ATOMIC_RELEASE);
    return OP_LATER;
}

/* An operation that has begun, and ends when `end` is called. */
static struct op *begin(struct stream *st, enum op_kind kind)
{
    static struct op *begun;
    struct op_spec spec = { .kind = kind, .run = later, .data = &begun };
    begun = NULL;
    UNIT_EQ(op_enqueue(st, &spec, NULL), OP_OK);
    while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) cpu_relax();
    return begun;
}
static void end(struct op *op)
{
    op_done(op, OP_OK);
    op_release(op);
}

static void use(struct stream *st, enum op_kind kind, const char *site, const struct mem_object *o, u64 bytes,
                enum access_kind how)
{
    struct op *op = begin(st, kind);
    op_races_add(b, op, &(struct op_races_call){ .site = site },
                 &(struct op_races_part){ .from = o->base, .width = bytes, .kind = how }, 1);
    end(op);
}

/* ---- launches ---- */

static const struct ptx_func kernel = { .name = { "_Z5scalePfi", 11 } };
struct flight {
    struct op *op;
    struct op_races_launch *l;
};
static struct flight launch(struct stream *st, const char *site, bool polls)
{
    struct op *op = begin(st, OP_LAUNCH);
    return (struct flight){ op,
                            op_races_launch_begin(b, op, &(struct op_races_call){ .site = site }, &kernel, 0, polls) };
}
static void launch_end(struct flight f, bool exact, const struct mem_object *o, u32 bytes, bool write, bool strong)
{
    const struct access_sink *sink = op_races_sink(f.l);
    sink->begin(sink->self, exact, 1);
    sink->run(sink->self, &(struct footprint_run){ o->base, o->base + o->size, bytes, write, strong, NULL, 0 });
    op_races_launch_end(f.l);
    end(f.op);
}
static void launch_whole(struct stream *st, const char *site, const struct mem_object *o, bool write, bool strong)
{
    launch_end(launch(st, site, false), false, o, ~0u, write, strong);
}

static void race(void)
{
    open_all();
    use(x, OP_COPY, "copy 1", in, 1024, ACCESS_WRITE);
    launch_whole(y, "launch 1", in, false, false);
    UNIT(says("copy 1 in stream 1 writes elements [0..255] of in (f32[256]), launch 1 (kernel scale) in stream 2 reads "
              "them; no stream order, event, graph edge or waiting call says which comes first"));
    UNIT(says("Record an event after copy 1 in stream 1, and let stream 2 wait for it before launch 1: "
              "cudaEventRecord(e, s1); cudaStreamWaitEvent(s2, e)."));
    UNIT(says("in, 1024 bytes, allocated at alloc of test"));
    UNIT(only("error[race_stream]"));
    close_all();

    open_all(); /* with the event */
    use(x, OP_COPY, "copy 1", in, 1024, ACCESS_WRITE);
    hand_over(x, y);
    launch_whole(y, "launch 1", in, false, false);
    UNIT_EQ(errors(), 0);
    use(y, OP_COPY, "copy 2", in, 1024, ACCESS_READ); /* reads beside reads */
    use(x, OP_COPY, "copy 3", in, 1024, ACCESS_READ);
    UNIT_EQ(errors(), 0);
    use(x, OP_FILL, "fill 1", in, 4,
        ACCESS_WRITE); /* a read-only input that is overwritten: the last reader is named */
    UNIT(says("copy 2 in stream 2 reads element [0] of in (f32[256]), fill 1 in stream 1 writes it"));
    UNIT(only("error[race_stream]"));
    close_all();
}

/* One missing event is one finding: the last operation before it, and the first one behind. */
static void one_cause(void)
{
    open_all();
    use(x, OP_COPY, "copy 1", in, 1024, ACCESS_WRITE);
    use(x, OP_FILL, "fill 1", out, 1024, ACCESS_WRITE);
    struct flight f = launch(y, "launch 1", false);
    const struct access_sink *sink = op_races_sink(f.l);
    sink->begin(sink->self, false, 1);
    sink->run(sink->self, &(struct footprint_run){ in->base, in->base + 1024, ~0u, false, false, NULL, 0 });
    sink->run(sink->self, &(struct footprint_run){ out->base, out->base + 1024, 0xf0f0f0f0, true, false, NULL, 0 });
    op_races_launch_end(f.l);
    end(f.op);
    UNIT(says("fill 1 in stream 1 writes 128 of the elements [1..255] of out (f32[256]), launch 1 (kernel scale) in "
              "stream 2 writes them, too"));
    use(y, OP_COPY, "copy 2", out, 1024, ACCESS_READ); /* would be ordered by the same event */
    UNIT(only("error[race_stream]"));
    use(x, OP_COPY, "copy 3", in, 4, ACCESS_WRITE); /* the other way round: another event */
    UNIT(says("launch 1 (kernel scale) in stream 2 reads element [0] of in"));
    UNIT(only("error[race_stream]"));
    close_all();

    open_all(); /* in a loop: the same two calls */
    for (u32 i = 0; i < 5; i++) {
        use(x, OP_COPY, "copy 1", in, 1024, ACCESS_WRITE);
        launch_whole(y, "launch 1", in, false, false);
        streams_synchronise(s);
    }
    UNIT_EQ(report_error_occurrences(device.report), 5);
    UNIT(only("error[race_stream]"));
    close_all();
}

static void strong(void)
{
    open_all();
    launch_whole(x, "launch 1", in, true, true);
    launch_whole(y, "launch 2", in, true, true);
    UNIT_EQ(errors(), 0);
    use(y, OP_COPY, "copy 1", in, 4, ACCESS_READ);
    UNIT(says("launch 1 (kernel scale) in stream 1 writes element [0] of in (f32[256]), copy 1 in stream 2 reads it"));
    UNIT(only("error[race_stream]"));
    close_all();
}

static void lifetimes(void)
{
    open_all();
    use(x, OP_ALLOC, "cudaMallocAsync at main.cu:3", in, 1024, ACCESS_ALLOC);
    launch_whole(y, "launch 1", in, true, false);
    UNIT(says("Record an event after cudaMallocAsync at main.cu:3 in stream 1, and let stream 2 wait for it before "
              "launch 1"));
    UNIT(only("error[use_before_alloc]"));
    hand_over(x, y);
    hand_over(y, x);
    use(y, OP_COPY, "copy 1", in, 1024, ACCESS_READ);
    use(x, OP_FREE, "free 1", in, 1024, ACCESS_FREE);
    UNIT(says("Record an event after copy 1 in stream 2, and let stream 1 wait for it before free 1: "
              "cudaEventRecord(e, s2); cudaStreamWaitEvent(s1, e)."));
    UNIT(only("error[use_after_free_stream]"));
    use(x, OP_FILL, "fill 1", in, 4, ACCESS_WRITE);
    UNIT(says(
        "free 1 in stream 1 frees element [0] of in (f32[256]), fill 1 in stream 1 writes it, and comes after it"));
    UNIT(only("error[use_after_free_stream]"));
    op_races_forget(b, in->base, 1024);
    use(x, OP_FILL, "fill 1", in, 4, ACCESS_WRITE);
    UNIT_EQ(errors(), 0);
    close_all();
}

static void host_use(const struct mem_object *o, u64 bytes, enum access_kind how, const char *site)
{
    op_races_host(b, &(struct op_races_call){ .site = site },
                  &(struct op_races_part){ .from = o->base, .width = bytes, .kind = how }, 1);
}

static void host(void)
{
    open_all();
    host_use(pinned, 1024, ACCESS_WRITE, NULL); /* fills it, then copies */
    use(x, OP_COPY, "copy 1", pinned, 1024, ACCESS_READ);
    UNIT_EQ(errors(), 0);
    host_use(pinned, 4, ACCESS_WRITE, "lk_memory_write");
    UNIT(says("copy 1 in stream 1 reads element [0] of mapped (f32[256]), the host, in lk_memory_write, writes it; the "
              "host had not waited for copy 1"));
    UNIT(only("error[copy_pending]"));
    stream_synchronise(x);
    host_use(pinned, 1024, ACCESS_READ, NULL);
    UNIT_EQ(errors(), 0);
    launch_whole(x, "launch 1", managed, true, false);
    host_use(managed, 4, ACCESS_READ, NULL);
    UNIT(says("Call cudaStreamSynchronize for stream 1"));
    UNIT(only("error[managed_touched]"));
    char own[64] = "pageable";
    struct op *op = begin(y, OP_COPY);
    struct op_races_part part = { .from = (u64)(uintptr_t)own, .width = 64, .kind = ACCESS_WRITE };
    op_races_add(b, op, &(struct op_races_call){ .site = "copy 2" }, &part, 1);
    end(op);
    part.kind = ACCESS_READ;
    op_races_host(b, NULL, &part, 1);
    UNIT(says("64 bytes of host memory from 0x"));
    UNIT(only("error[copy_pending]"));
    close_all();
}

/* What something invisible may order. */
static void left_out(void)
{
    open_all(); /* two exact launches are the business of the race check */
    struct flight f = launch(x, "launch 1", false), g = launch(y, "launch 2", false);
    launch_end(f, true, in, ~0u, true, false);
    launch_end(g, true, in, ~0u, true, false);
    UNIT_EQ(errors(), 0);
    launch_whole(stream_new(s, STREAM_NON_BLOCKING, 0), "launch 3", in, true, false); /* a simple one is not */
    UNIT(only("error[race_stream]"));
    close_all();

    open_all(); /* f hands its data to g through memory, and a copy comes behind g */
    f = launch(x, "launch 1", false);
    g = launch(y, "launch 2", false);
    launch_end(f, true, in, ~0u, true, false);
    launch_end(g, true, out, ~0u, true, false);
    use(y, OP_COPY, "copy 1", in, 1024, ACCESS_READ);
    UNIT_EQ(errors(), 0);
    close_all();

    open_all(); /* the same; the copy is noted before the end of f */
    f = launch(x, "launch 1", false);
    g = launch(y, "launch 2", false);
    launch_end(g, true, out, ~0u, true, false);
    use(y, OP_COPY, "copy 1", in, 1024, ACCESS_READ);
    launch_end(f, true, in, ~0u, true, false);
    UNIT_EQ(errors(), 0);
    close_all();

    open_all(); /* from f through g to a third one, which begins when f has ended */
    f = launch(x, "launch 1", false);
    g = launch(y, "launch 2", false);
    launch_end(f, true, in, ~0u, true, false);
    struct stream *z = stream_new(s, STREAM_NON_BLOCKING, 0);
    launch_end(launch(z, "launch 3", false), true, out, 0xf, true, true);
    launch_end(g, true, out, ~0u, true, true);
    use(z, OP_COPY, "copy 1", in, 1024, ACCESS_READ);
    UNIT_EQ(errors(), 0);
    close_all();

    open_all(); /* a copy behind which g runs, which hands over to f */
    use(y, OP_COPY, "copy 1", in, 1024, ACCESS_WRITE);
    f = launch(x, "launch 1", false);
    g = launch(y, "launch 2", false);
    launch_end(f, true, in, ~0u, false, false);
    launch_end(g, true, out, ~0u, true, false);
    UNIT_EQ(errors(), 0);
    close_all();

    for (u32 polls = 0; polls < 2; polls++) { /* a copy sets the flag that a launch polls */
        open_all();
        f = launch(x, "launch 1", polls);
        use(y, OP_COPY, "copy 1", in, 4, ACCESS_WRITE);
        launch_end(f, true, in, ~0u, false, true);
        UNIT_EQ(errors(), !polls);
        report_clear(device.report);
        use(y, OP_COPY, "copy 2", in, 4, ACCESS_WRITE); /* after its end; the event that was asked for orders it, too */
        UNIT(polls ? only("error[race_stream]") : !errors());
        close_all();
    }

    open_all(); /* a launch that tells the host through mapped memory; the host then copies its result */
    f = launch(x, "launch 1", false);
    const struct access_sink *sink = op_races_sink(f.l);
    sink->begin(sink->self, true, 1);
    sink->run(sink->self, &(struct footprint_run){ in->base, in->base + 1024, ~0u, true, false, NULL, 0 });
    sink->run(sink->self, &(struct footprint_run){ pinned->base, pinned->base + 32, 0xf, true, true, NULL, 0 });
    op_races_launch_end(f.l);
    end(f.op);
    use(y, OP_COPY, "copy 1", in, 1024, ACCESS_READ);
    UNIT_EQ(errors(), 0);
    close_all();
}

/* Rows of a pitched copy: what lies between them is not used. */
static void rows(void)
{
    open_all();
    struct op *op = begin(x, OP_COPY);
    op_races_add(
        b, op, NULL,
        &(struct op_races_part){
            .from = in->base, .width = 16, .rows = 8, .pitch = 64, .slices = 2, .slice = 512, .kind = ACCESS_WRITE },
        1);
    end(op);
    op = begin(y, OP_FILL);
    struct op_races_part gap = { .from = in->base + 16, .width = 48, .rows = 16, .pitch = 64, .kind = ACCESS_WRITE };
    op_races_add(b, op, NULL, &gap, 1);
    UNIT_EQ(errors(), 0);
    gap.from--;
    op_races_add(b, op, NULL, &gap, 1);
    end(op);
    UNIT(says("a copy in stream 1 writes 16 of the elements [3..243] of in"));
    UNIT(only("error[race_stream]"));
    close_all();
}

/* Thousands of operations leave nothing behind that grows. */
static void many(void)
{
    open_all();
    for (u32 i = 0; i < 20000; i++) {
        use(i % 2 ? x : y, OP_COPY, "copy", i % 2 ? in : out, 1024, ACCESS_WRITE);
        if (i % 64 == 0) streams_synchronise(s);
    }
    UNIT_EQ(errors(), 0);
    close_all();
}

int main(void)
{
    race();
    one_cause();
    strong();
    lifetimes();
    host();
    left_out();
    rows();
    many();
    return unit_done();
}
