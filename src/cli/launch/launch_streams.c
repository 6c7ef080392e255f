/* Parts of a command line that run as a program enqueues them: launches, copies and the rest in their streams, events
 * where a part says --after, and the host, which goes on at once and waits at the end. */
#include "cli/cli.h"
#include "launch/launch.h"
#include "cli/watch.h"

/* ---- streams and events ---- */

/* The stream of this name, which is made when it is named first; NULL: lk_gpu_error says why. */
static lk_stream *stream_named(struct pipeline *p, const char *name, const struct launch_options *o)
{
    for (u32 i = 0; i < p->streams; i++)
        if (!strcmp(p->stream[i].name, name)) return p->stream[i].stream;
    if (!p->stream) p->stream = NEW_ARRAY(&p->mem, struct named_stream, p->asked->launches);
    struct named_stream *n = &p->stream[p->streams];
    n->name = name;
    if (!strcmp(name, "legacy") || !strcmp(name, "per-thread")) {
        n->stream = name[0] == 'l' ? lk_stream_legacy(p->gpu) : lk_stream_per_thread(p->gpu);
        if (!n->stream) return NULL;
    } else if (lk_stream_create(p->gpu, o->non_blocking ? LK_STREAM_NON_BLOCKING : 0, o->priority, &n->stream) !=
                   LK_OK ||
               lk_stream_name(n->stream, name) != LK_OK) {
        return NULL;
    }
    p->streams++;
    return n->stream;
}

static bool is_waited_for(const struct pipeline *p, const struct session *s)
{
    for (u32 k = s->number + 1; s->o->label && k < p->asked->launches; k++)
        for (u32 i = 0; i < p->asked->launch[k]->afters; i++)
            if (!strcmp(p->asked->launch[k]->after[i], s->o->label)) return true;
    return false;
}

/* What the part says with --after: its stream waits, or the host where it has none. */
static lk_status wait_for_others(struct session *s)
{
    lk_status status = LK_OK;
    for (u32 i = 0; i < s->o->afters && status == LK_OK; i++)
        for (u32 k = 0; k < s->number && status == LK_OK; k++) {
            const struct session *x = &s->all->launch[k];
            if (!x->done || strcmp(x->o->label, s->o->after[i])) continue;
            status = s->stream ? lk_stream_wait(s->stream, x->done) : lk_event_synchronise(x->done);
        }
    return status;
}

static lk_status record(struct session *s)
{
    if (!s->stream || !is_waited_for(s->all, s)) return LK_OK;
    lk_status status = s->done ? LK_OK : lk_event_create(s->gpu, 0, &s->done);
    return status == LK_OK ? lk_event_record(s->done, s->stream) : status;
}

/* "launch 2", "copy y x": the host's call, for reports. */
static const char *site_of(struct session *s)
{
    const struct launch_options *o = s->o;
    if (o->part == PART_LAUNCH)
        return o->label ? arena_printf(&s->mem, "launch %u, %s", s->number + 1, o->label)
                        : arena_printf(&s->mem, "launch %u", s->number + 1);
    struct text t = { 0 };
    text_add(&t, "%s%s%s", o->label ? o->label : "", o->label ? ": " : "", part_word(o->part));
    for (u32 i = 0; i < o->args; i++) text_add(&t, " %.40s", o->arg[i].name ? o->arg[i].name : o->arg[i].text);
    const char *text = arena_str(&s->mem, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}

/* ---- parts ---- */

/* The buffer that argument i is, or leads to. */
static struct buffer *buffer_at(struct session *s, u32 i)
{
    const struct arg *g = &s->o->arg[i];
    return g->kind == ARG_SAME ? launch_buffer(s, g->launch, g->same) : &s->buffer[i];
}

static u64 address_at(struct session *s, u32 i)
{
    const struct arg *g = &s->o->arg[i];
    return buffer_at(s, i)->address + (g->kind == ARG_SAME ? g->offset : 0);
}

/* Bytes of the operation: as asked for, or as many as each of its buffers has. */
static u64 amount(struct session *s)
{
    u64 n = UINT64_MAX;
    for (u32 i = 0; i < s->o->args; i++) {
        const struct arg *g = &s->o->arg[i];
        u64 all = buffer_at(s, i)->bytes, at = g->kind == ARG_SAME ? g->offset : 0;
        n = MIN_OF(n, at < all ? all - at : 0);
    }
    return s->o->bytes ? s->o->bytes : n;
}

/* Addresses that were not known when the arguments were made. */
static void renew_addresses(struct session *s)
{
    for (u32 i = 0; i < s->o->args; i++) {
        const struct arg *g = &s->o->arg[i];
        if (g->kind == ARG_SAME) s->buffer[i].address = address_at(s, i);
        if (g->kind == ARG_STRUCT) launch_put_members(s, g, (u8 *)s->buffer[i].value);
    }
}

static lk_status alloc(struct session *s)
{
    struct buffer *b = &s->buffer[0];
    lk_status status = lk_memory_alloc_async(s->stream, b->bytes, NULL, b->name, &b->address);
    if (status == LK_OK) lk_memory_describe(s->gpu, b->address, b->name, b->type, s->o->arg[0].type->bytes);
    b->gone = status != LK_OK;
    return status;
}

/* The host's own access: every byte is read, or written. */
static lk_status touch(struct session *s)
{
    bool write = s->o->part == PART_HOST_WRITE;
    void *at;
    u64 n = amount(s);
    lk_status status = lk_memory_host(s->gpu, address_at(s, 0), &at);
    if (status == LK_OK) status = lk_memory_touch(s->gpu, address_at(s, 0), n, write);
    if (status != LK_OK) return status;
    volatile u8 *p = at;
    for (u64 i = 0; i < n; i++) {
        if (write)
            p[i] = (u8)s->o->value;
        else
            (void)p[i];
    }
    return LK_OK;
}

static lk_status kernel(struct session *s, lk_stats *stats)
{
    lk_launch l;
    launch_fill(s, &l);
    l.stream = s->stream;
    l.site = s->site;
    return lk_kernel_launch(s->kernel, &l, stats);
}

/* Of the value that a stream writes or waits for. */
static u32 value_bits(struct session *s)
{
    const struct arg *g = &s->o->arg[0];
    return 8 * (g->kind == ARG_SAME ? launch_arg(s, g->launch, g->same) : g)->type->bytes;
}

static lk_copy copy_of(struct session *s)
{
    return (lk_copy){ .size = sizeof(lk_copy),
                      .to.address = address_at(s, 0),
                      .from.address = address_at(s, 1),
                      .width = amount(s),
                      .stream = s->stream,
                      .site = s->site };
}

static lk_fill fill_of(struct session *s)
{
    return (lk_fill){ .size = sizeof(lk_fill),
                      .address = address_at(s, 0),
                      .value = (u32)s->o->value,
                      .bytes = 1,
                      .width = amount(s),
                      .stream = s->stream,
                      .site = s->site };
}

static lk_status do_part(struct session *s, lk_stats *stats)
{
    const struct launch_options *o = s->o;
    renew_addresses(s);
    switch (o->part) {
    case PART_LAUNCH: return kernel(s, stats);
    case PART_COPY: {
        lk_copy c = copy_of(s);
        return lk_memory_copy(s->gpu, &c);
    }
    case PART_FILL: {
        lk_fill f = fill_of(s);
        return lk_memory_set(s->gpu, &f);
    }
    case PART_ALLOC: return alloc(s);
    case PART_FREE: buffer_at(s, 0)->gone = true; return lk_memory_free_async(s->stream, address_at(s, 0));
    case PART_WRITE_VALUE: return lk_stream_write_value(s->stream, address_at(s, 0), value_bits(s), o->value);
    case PART_WAIT_VALUE: return lk_stream_wait_value(s->stream, address_at(s, 0), value_bits(s), o->value, o->compare);
    case PART_SYNC:
        return o->waits ? lk_stream_synchronise(stream_named(s->all, o->waits, o)) : lk_gpu_synchronise(s->gpu);
    case PART_HOST_WRITE:
    case PART_HOST_READ: return touch(s);
    }
    return LK_OK;
}

/* One part, enqueued, or done when the host does not go on before it. */
static lk_status enqueue(struct session *s, lk_stats *stats, struct error *e)
{
    if (!s->site) s->site = site_of(s);
    if (s->o->stream && !(s->stream = stream_named(s->all, s->o->stream, s->o))) return LK_SYSTEM;
    if (s->o->part == PART_LAUNCH && !launch_sets_do(s, e)) return LK_SYSTEM;
    lk_thread_site(s->site);
    lk_status status = wait_for_others(s), own = LK_OK;
    if (status == LK_OK) status = own = do_part(s, stats);
    if (status <= LK_FINDINGS) status = record(s);
    lk_thread_site(NULL);
    return MAX_OF(status, own);
}

/* ---- a graph ---- */

/* Adds the part as a node, after the previous part of its stream and the parts that --after names. */
static lk_status add_node(struct session *s, lk_graph *graph, struct error *e)
{
    const struct launch_options *o = s->o;
    lk_node *after[LAUNCH_AFTER + 1];
    u32 n = 0;
    for (u32 k = s->number; k-- > 0 && !n;)
        if (!strcmp(s->all->launch[k].o->stream, o->stream)) after[n++] = s->all->launch[k].node;
    for (u32 i = 0; i < o->afters; i++)
        for (u32 k = 0; k < s->number; k++) {
            const struct session *x = &s->all->launch[k];
            bool there = !x->o->label || strcmp(x->o->label, o->after[i]) != 0;
            for (u32 j = 0; j < n; j++) there |= after[j] == x->node;
            if (!there) after[n++] = x->node;
        }
    if (!s->site) s->site = site_of(s);
    renew_addresses(s);
    if (o->part == PART_LAUNCH && !launch_sets_do(s, e)) return LK_SYSTEM;
    lk_thread_site(s->site);
    lk_status status;
    struct buffer *b = &s->buffer[0];
    lk_launch l;
    lk_copy copy;
    lk_fill fill;
    switch (o->part) {
    case PART_LAUNCH:
        launch_fill(s, &l);
        l.site = s->site;
        status = lk_graph_add_launch(graph, after, n, s->kernel, &l, &s->node);
        break;
    case PART_COPY:
        copy = copy_of(s);
        status = lk_graph_add_copy(graph, after, n, &copy, &s->node);
        break;
    case PART_FILL:
        fill = fill_of(s);
        status = lk_graph_add_fill(graph, after, n, &fill, &s->node);
        break;
    case PART_ALLOC:
        status = lk_graph_add_alloc(graph, after, n, b->bytes, b->name, &b->address, &s->node);
        if (status == LK_OK) lk_memory_describe(s->gpu, b->address, b->name, b->type, o->arg[0].type->bytes);
        b->gone = status != LK_OK;
        break;
    default: /* PART_FREE: parts_check has refused all others */
        status = lk_graph_add_free(graph, after, n, address_at(s, 0), &s->node);
        buffer_at(s, 0)->gone = true;
    }
    lk_thread_site(NULL);
    return status;
}

/* All parts as one graph, launched in a stream of its own as often as was asked for. */
static lk_status run_graph(struct pipeline *p, u32 *ran, struct error *e)
{
    lk_graph *graph = NULL;
    lk_exec *exec = NULL;
    lk_stream *stream = NULL;
    lk_status status = lk_graph_create(p->gpu, &graph);
    for (*ran = 0; *ran < p->asked->launches && status == LK_OK && !e->code;)
        status = add_node(&p->launch[(*ran)++], graph, e);
    if (status == LK_OK) status = lk_graph_instantiate(graph, 0, &exec);
    if (status == LK_OK) status = lk_stream_create(p->gpu, 0, 0, &stream);
    if (status == LK_OK) status = lk_stream_name(stream, "graph");
    for (u32 k = 0; k < p->asked->run.graphs && status == LK_OK && !watch_signal(); k++) {
        lk_thread_site(arena_printf(&p->mem, "launch %u of the graph", k + 1));
        status = lk_exec_launch(exec, stream);
    }
    lk_thread_site(NULL);
    lk_status at_end = lk_gpu_synchronise(p->gpu);
    if (exec) lk_exec_destroy(exec);
    if (graph) lk_graph_destroy(graph);
    if (stream) lk_stream_destroy(stream);
    return status > LK_FINDINGS ? status : MAX_OF(status, at_end);
}

/* A launch that did not run to its end, as far as the host knows at once. */
static bool ended(const struct session *s, lk_status status, const lk_stats *stats)
{
    const struct launch_options *o = s->o;
    return o->part != PART_LAUNCH || s->stream || status == LK_OK ||
           stats->ctas == (u64)o->grid[0] * o->grid[1] * o->grid[2];
}

/* All parts, as a program enqueues them. */
static lk_status run_streams(struct pipeline *p, u32 *ran, u32 *differs, struct text *wanted, struct error *e)
{
    lk_status worst = LK_OK;
    bool on = true;
    for (*ran = 0; *ran < p->asked->launches && on && !e->code;) {
        struct session *s = &p->launch[(*ran)++];
        lk_stats stats = { 0 };
        lk_status status = enqueue(s, &stats, e);
        worst = MAX_OF(worst, status);
        on = status <= LK_FINDINGS && ended(s, status, &stats) && !watch_signal();
        bool last = *ran == p->asked->launches;
        if (on && !s->stream && !last && differs && s->o->wants && !launch_wants_do(s, differs, wanted, e)) on = false;
    }
    return worst;
}

lk_status parts_run(struct pipeline *p, u32 *ran, u32 *differs, struct text *wanted, struct error *e)
{
    struct watch watch;
    watch_begin(&watch, &p->asked->run.common, p->gpu, "streams");
    lk_status worst = p->asked->run.graphs ? run_graph(p, ran, e) : run_streams(p, ran, differs, wanted, e);
    /* a failure that was told is told; what the streams have found is in the report */
    lk_status at_end = lk_gpu_synchronise(p->gpu);
    if (at_end > LK_FINDINGS && lk_report_errors(p->gpu)) at_end = LK_FINDINGS;
    if (worst > LK_FINDINGS && lk_report_errors(p->gpu)) worst = LK_FINDINGS;
    watch_end(&watch);
    fflush(stdout);
    worst = MAX_OF(worst, at_end);
    return worst == LK_OK && lk_report_errors(p->gpu) ? LK_FINDINGS : worst;
}
