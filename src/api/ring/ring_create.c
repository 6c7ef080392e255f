/* Before a launch: what the kernel and the card must have, each failure one line with the limit; then the memory. */
#include "api/host.h"
#include "ring/ring.h"
#include "card/occupancy.h"
#include <stdlib.h>

enum { PROBE_SECONDS = 5 };

static __thread char last_error[2400];

lk_status ring_fail(lk_ring *r, lk_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = r ? snprintf(last_error, sizeof last_error, "ring %s: ", r->name) : 0;
    vsnprintf(last_error + n, sizeof last_error - (size_t)n, fmt, ap);
    va_end(ap);
    if (r && status != LK_NOTHING) { /* there being nothing is no error */
        lock(&r->error_lock);
        snprintf(r->last_error, sizeof r->last_error, "%s", last_error + n);
        unlock(&r->error_lock);
    }
    return status;
}

const char *lk_ring_error(const lk_ring *ring)
{
    (void)ring;
    return last_error;
}

void ring_log(lk_ring *r, const char *fmt, ...)
{
    char line[400];
    va_list ap;
    int n = snprintf(line, sizeof line, "ring %s: ", r->name);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n, fmt, ap);
    va_end(ap);
    r->options.log(r->options.self, line);
}

/* A variable of the module, whole, with a 0 after it; NULL: there is none. */
static char *variable(lk_ring *r, const char *name, u64 *bytes)
{
    u64 address;
    if (lk_module_symbol(r->module, name, &address, bytes) != LK_OK) return NULL;
    char *p = arena_alloc(&r->mem, *bytes + 1, 8);
    return lk_memory_read(r->gpu, address, p, *bytes) == LK_OK ? p : NULL;
}

/* "point:point" of LK_RING_ACTOR; an actor without types has no such variable. */
static void read_types(lk_ring *r, struct ring_actor *a)
{
    u64 bytes;
    char *text = variable(r, arena_printf(&r->mem, "%s_types", a->name), &bytes),
         *out = text ? strchr(text, ':') : NULL;
    if (out) *out++ = 0;
    a->type[0] = out ? text : "any";
    a->type[1] = out ? out : "any";
}

/* "lk_ring::block:add, mirror" of LK_RING_KERNEL. */
static lk_status read_actors(lk_ring *r)
{
    u64 bytes;
    char *text = variable(r, arena_printf(&r->mem, "%s_actors", lk_kernel_plain(r->kernel)), &bytes);
    char *list = text ? strrchr(text, ':') : NULL;
    if (!list)
        return ring_fail(
            r, LK_BAD_INPUT,
            "kernel %s is not a ring kernel: the module has no variable %s_actors, which LK_RING_KERNEL makes",
            lk_kernel_plain(r->kernel), lk_kernel_plain(r->kernel));
    *list++ = 0;
    r->warps = strstr(text, "warp");
    VEC(struct ring_actor) all = { 0 };
    for (char *p = list; *p;) {
        while (*p == ' ' || *p == ',') p++;
        char *end = p;
        while (*end && *end != ',') end++;
        if (end == p) break;
        VEC_PUSH(&r->mem, &all, ((struct ring_actor){ .name = arena_str(&r->mem, (struct str){ p, (u32)(end - p) }) }));
        p = end;
    }
    for (u32 i = 0; i < all.n; i++) read_types(r, &all.p[i]);
    r->actor = all.p;
    r->actors = all.n;
    return all.n ? LK_OK : ring_fail(r, LK_BAD_INPUT, "kernel %s has no actors", lk_kernel_plain(r->kernel));
}

/* The host's layout of a type against the device's, row by row. */
static lk_status compare_type(lk_ring *r, const struct lk_ring_row *host)
{
    u64 bytes;
    char *symbol = arena_printf(&r->mem, "lk_ring_layout_%.*s", LK_RING_NAME - 1, host[0].name);
    const struct lk_ring_row *device = (const struct lk_ring_row *)variable(r, symbol, &bytes);
    if (!device)
        return ring_fail(r, LK_BAD_INPUT,
                         "message %s: the module has no layout of it (no LK_RING_MESSAGE in its source)", host[0].name);
    u32 rows = (u32)(bytes / sizeof *device);
    for (u32 i = 0; i < rows; i++) {
        const struct lk_ring_row *h = &host[i], *d = &device[i];
        if (h->last || d->last) {
            if (h->last && d->last) return LK_OK;
            return ring_fail(r, LK_BAD_INPUT, "message %s: field %.*s is known to the %s only", host[0].name,
                             LK_RING_NAME - 1, h->last ? d->name : h->name, h->last ? "device" : "host");
        }
        if (strncmp(h->name, d->name, LK_RING_NAME))
            return ring_fail(r, LK_BAD_INPUT, "message %s: field %u is %.*s on the host and %.*s on the device",
                             host[0].name, i, LK_RING_NAME - 1, h->name, LK_RING_NAME - 1, d->name);
        if (!i && (h->size != d->size || h->align != d->align))
            return ring_fail(r, LK_BAD_INPUT,
                             "message %s is %u bytes (aligned to %u) on the host and %u (aligned to %u) on the device",
                             host[0].name, h->size, h->align, d->size, d->align);
        if (!i && h->offset != d->offset)
            return ring_fail(r, LK_BAD_INPUT, "message %s has the number %u on the host and %u on the device",
                             host[0].name, h->offset, d->offset);
        if (h->offset != d->offset || h->size != d->size || h->align != d->align)
            return ring_fail(
                r, LK_BAD_INPUT,
                "message %s: field %.*s is %u bytes at offset %u on the host, %u bytes at offset %u on the device",
                host[0].name, LK_RING_NAME - 1, h->name, h->size, h->offset, d->size, d->offset);
    }
    return ring_fail(r, LK_BAD_INPUT, "message %s: its layout on the device has no end", host[0].name);
}

static lk_status check_options(lk_ring *r)
{
    lk_ring_options *o = &r->options;
    const struct {
        const char *name;
        u32 value;
    } policies[] = { { "inbox_policy", o->inbox_policy },
                     { "respond_policy", o->respond_policy },
                     { "mail_policy", o->mail_policy } };
    for (u32 i = 0; i < COUNT_OF(policies); i++)
        if (policies[i].value > (i ? LK_RING_DROP : LK_RING_REFUSE))
            return ring_fail(r, LK_BAD_INPUT, "%s is %u: it may be LK_RING_WAIT%s LK_RING_DROP%s", policies[i].name,
                             policies[i].value, i ? " or" : ",", i ? "" : " or LK_RING_REFUSE");
    if ((u64)r->actors * o->instances > LK_RING_MOST)
        return ring_fail(r, LK_BAD_INPUT, "%u actors of %u units each are %llu units; a ring has at most %d", r->actors,
                         o->instances, (unsigned long long)r->actors * o->instances, LK_RING_MOST);
    if (o->inline_bytes > 1u << 20)
        return ring_fail(r, LK_BAD_INPUT, "inline_bytes is %u; the most is %u: larger payloads are sent by reference",
                         o->inline_bytes, 1u << 20);
    u64 slots = (u64)o->inbox_slots + o->outbox_slots + o->mail_slots;
    if (slots * (2 * LK_RING_LINE + (u64)o->inline_bytes) * o->instances * r->actors > 1ull << 36)
        return ring_fail(r, LK_BAD_INPUT, "the queues would take more than 64 GiB");
    return LK_OK;
}

static lk_status check_card(lk_ring *r)
{
    const struct card *p = r->gpu->device->card;
    lk_usage u = { .size = sizeof u };
    if (p->sm < 70)
        return ring_fail(r, LK_BAD_INPUT, "%s has compute capability %u.%u; acquire and release need 7.0", p->title,
                         p->sm / 10, p->sm % 10);
    const char *loading = getenv("CUDA_MODULE_LOADING");
    r->bounds = !r->gpu->device->gpu && r->gpu->device->options.checks & CHECK_BOUNDS;
    if (r->gpu->device->gpu && loading && !strcmp(loading, "LAZY"))
        return ring_fail(
            r, LK_BAD_INPUT,
            "CUDA_MODULE_LOADING is LAZY: the first launch of another kernel would wait for the ring, which "
            "does not end; set it to EAGER, or leave it out");
    if (lk_kernel_usage(r->kernel, &u) != LK_OK) return ring_fail(r, LK_BAD_INPUT, "%s", lk_gpu_error(r->gpu));
    if ((r->options.cooperative || r->options.probe) && !p->cooperative)
        return ring_fail(r, LK_BAD_INPUT, "%s has no cooperative launches", p->title);
    if (r->block > p->threads_per_cta)
        return ring_fail(r, LK_BAD_INPUT, "a unit of %u threads; a block of %s has at most %u", r->block, p->title,
                         p->threads_per_cta);
    if (u.max_threads[0] && r->block > u.max_threads[0])
        return ring_fail(r, LK_BAD_INPUT, "a unit of %u threads; the kernel's __launch_bounds__ allows %u", r->block,
                         u.max_threads[0]);
    if (u.shared_bytes > p->shared_per_cta)
        return ring_fail(r, LK_BAD_INPUT, "the kernel has %llu bytes of static shared memory; a block of %s has %u",
                         (unsigned long long)u.shared_bytes, p->title, p->shared_per_cta);
    struct occupancy o = occupancy_of(p, &(struct cta_needs){ r->block, u.registers, u.shared_bytes, UINT64_MAX });
    u64 most = (u64)o.ctas * p->sms;
    if (r->grid > most)
        return ring_fail(r, LK_BAD_INPUT,
                         "%u blocks of %u threads for %u units; %s holds %llu of them at a time, by its %s: a block "
                         "that is never resident would never answer",
                         r->grid, r->block, r->units, p->title, (unsigned long long)most, occupancy_limit_name(o.by));
    return LK_OK;
}

static u64 lines(u64 bytes) { return (bytes + LK_RING_LINE - 1) / LK_RING_LINE * LK_RING_LINE; }

/* Hands out whole lines of a memory whose address is not known yet. */
struct carve {
    u64 used;
};
static u64 carve(struct carve *c, u64 bytes)
{
    u64 at = c->used;
    c->used += lines(bytes);
    return at;
}

/* Where everything is: offsets into the two memories. */
struct ring_plan {
    struct carve pinned, device;
    u64 head, probe, table, edge, topic;              /* pinned */
    u64 inbox, outbox, taken, control, status;        /* pinned, of all units in a row */
    u64 mail, mail_words, local, scratch, edge_local; /* device, in the same way */
    u64 in_bytes, out_bytes, mail_bytes;              /* of one unit */
};
static struct ring_plan plan_of(const lk_ring *r)
{
    struct ring_plan p = { 0 };
    const lk_ring_options *o = &r->options;
    u64 n = r->units, edge = (u64)LK_RING_TABLES * n * r->edge_stride * 8;
    p.in_bytes = (u64)o->inbox_slots * r->in_bytes;
    p.out_bytes = (u64)o->outbox_slots * r->out_bytes;
    p.mail_bytes = (u64)o->mail_slots * r->slot_bytes;
    p.head = carve(&p.pinned, sizeof(struct lk_ring_head));
    p.probe = carve(&p.pinned, sizeof(struct lk_ring_probe));
    p.table = carve(&p.pinned, n * sizeof(struct lk_ring_unit));
    p.edge = carve(&p.pinned, edge);
    p.topic = carve(&p.pinned, (u64)o->topics * (1 + n) * 4);
    p.taken = carve(&p.pinned, n * sizeof(struct lk_ring_word));
    p.control = carve(&p.pinned, n * sizeof(struct lk_ring_control));
    p.status = carve(&p.pinned, n * sizeof(struct lk_ring_status));
    p.inbox = carve(&p.pinned, n * p.in_bytes);
    p.outbox = carve(&p.pinned, n * p.out_bytes);
    p.local = carve(&p.device, n * sizeof(struct lk_ring_local));
    p.mail_words = carve(&p.device, n * 2 * sizeof(struct lk_ring_word));
    p.edge_local = carve(&p.device, edge);
    p.scratch = carve(&p.device, n * r->slot_bytes);
    p.mail = carve(&p.device, n * p.mail_bytes);
    return p;
}

static struct ring_actor *find_actor(lk_ring *r, const char *name)
{
    for (u32 i = 0; name && i < r->actors; i++)
        if (!strcmp(r->actor[i].name, name)) return &r->actor[i];
    return NULL;
}

static lk_status set_routes(lk_ring *r, struct lk_ring_unit *table)
{
    const lk_ring_options *o = &r->options;
    for (u32 i = 0; i < o->routes; i++) {
        struct ring_actor *from = find_actor(r, o->route[i].from), *to = find_actor(r, o->route[i].to);
        if (!from || (o->route[i].to && !to))
            return ring_fail(r, LK_BAD_INPUT, "route %u: the kernel has no actor %s", i,
                             !from ? o->route[i].from : o->route[i].to);
        for (u32 k = 0; k < from->units; k++)
            table[from->first + k].route = to ? to->first + k % to->units : LK_RING_NOBODY;
    }
    return LK_OK;
}

static lk_status set_topics(lk_ring *r, u32 *row)
{
    const lk_ring_options *o = &r->options;
    for (u32 i = 0; i < o->topics; i++, row += 1 + r->units)
        for (u32 k = 0; k < o->topic[i].actors; k++) {
            struct ring_actor *a = find_actor(r, o->topic[i].actor[k]);
            if (!a) return ring_fail(r, LK_BAD_INPUT, "topic %u: the kernel has no actor %s", i, o->topic[i].actor[k]);
            for (u32 j = 0; j < a->units && row[0] < r->units; j++) row[++row[0]] = a->first + j;
        }
    return LK_OK;
}

static lk_status write_memory(lk_ring *r, const struct ring_plan *p, u8 *host)
{
    const lk_ring_options *o = &r->options;
    struct lk_ring_head *h = r->head = (struct lk_ring_head *)(host + p->head);
    *h = (struct lk_ring_head){ .command.value = LK_RING_PAUSE,
                                .magic = LK_RING_MAGIC,
                                .version = LK_RING_VERSION,
                                .units = r->units,
                                .slot_bytes = r->slot_bytes,
                                .in_bytes = r->in_bytes,
                                .out_bytes = r->out_bytes,
                                .in_words = r->in_words,
                                .out_words = r->out_words,
                                .inline_bytes = o->inline_bytes,
                                .inbox_slots = o->inbox_slots,
                                .outbox_slots = o->outbox_slots,
                                .mail_slots = o->mail_slots,
                                .respond_policy = o->respond_policy,
                                .mail_policy = o->mail_policy,
                                .idle_ns = o->idle_ns,
                                .unit = r->pinned + p->table,
                                .probe = r->pinned + p->probe,
                                .edge = r->pinned + p->edge,
                                .edge_local = r->device + p->edge_local,
                                .edge_stride = r->edge_stride,
                                .topics = o->topics,
                                .topic = r->pinned + p->topic };
    r->probe = (struct lk_ring_probe *)(host + p->probe);
    r->edge = (u64 *)(host + p->edge);
    struct lk_ring_unit *table = (struct lk_ring_unit *)(host + p->table);
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        u64 taken = p->taken + i * sizeof(struct lk_ring_word),
            control = p->control + i * sizeof(struct lk_ring_control);
        table[i] = (struct lk_ring_unit){ .inbox = r->pinned + p->inbox + i * p->in_bytes,
                                          .inbox_taken = r->pinned + taken,
                                          .outbox = r->pinned + p->outbox + i * p->out_bytes,
                                          .control = r->pinned + control,
                                          .mail = r->device + p->mail + i * p->mail_bytes,
                                          .mail_words = r->device + p->mail_words + i * 2 * sizeof(struct lk_ring_word),
                                          .status = r->pinned + p->status + i * sizeof(struct lk_ring_status),
                                          .local = r->device + p->local + i * sizeof(struct lk_ring_local),
                                          .actor = u->actor,
                                          .route = LK_RING_HOST,
                                          .scratch = r->device + p->scratch + i * r->slot_bytes };
        u->inbox = (u64 *)(void *)(host + p->inbox + i * p->in_bytes);
        u->outbox = (u64 *)(void *)(host + p->outbox + i * p->out_bytes);
        u->inbox_taken = (struct lk_ring_word *)(host + taken);
        u->control = (struct lk_ring_control *)(host + control);
        u->control->command = LK_RING_PAUSE;
        u->status = (struct lk_ring_status *)(host + p->status + i * sizeof(struct lk_ring_status));
    }
    lk_status s = set_routes(r, table);
    return s != LK_OK ? s : set_topics(r, (u32 *)(host + p->topic));
}

static lk_status make_memory(lk_ring *r)
{
    struct ring_plan p = plan_of(r);
    void *host = NULL;
    r->pinned_bytes = p.pinned.used;
    r->device_bytes = p.device.used;
    const char *pinned = arena_printf(&r->mem, "%s.mapped", r->name),
               *device = arena_printf(&r->mem, "%s.device", r->name);
    if (lk_memory_alloc(r->gpu, r->pinned_bytes, LK_MEMORY_PINNED, pinned, &r->pinned) != LK_OK ||
        lk_memory_host(r->gpu, r->pinned, &host) != LK_OK)
        return ring_fail(r, LK_OUT_OF_MEMORY, "%llu bytes of mapped memory for its queues: %s",
                         (unsigned long long)r->pinned_bytes, lk_gpu_error(r->gpu));
    if (lk_memory_alloc(r->gpu, r->device_bytes, LK_MEMORY_DEVICE, device, &r->device) != LK_OK ||
        lk_memory_fill(r->gpu, r->device, 0, r->device_bytes) != LK_OK)
        return ring_fail(r, LK_OUT_OF_MEMORY, "%llu bytes of device memory for its queues: %s",
                         (unsigned long long)r->device_bytes, lk_gpu_error(r->gpu));
    memset(host, 0, r->pinned_bytes);
    return write_memory(r, &p, host);
}

static void make_units(lk_ring *r)
{
    const lk_ring_options *o = &r->options;
    r->units = r->actors * o->instances;
    r->unit = NEW_ARRAY(&r->mem, struct ring_host_unit, r->units);
    for (u32 a = 0; a < r->actors; a++) {
        r->actor[a].first = a * o->instances;
        r->actor[a].units = o->instances;
        for (u32 k = 0; k < o->instances; k++) {
            struct ring_host_unit *u = &r->unit[a * o->instances + k];
            snprintf(u->name, sizeof u->name, "%.24s.%.24s.%u", r->name, r->actor[a].name, k);
            u->actor = a;
            static const char *const direction[] = { "in", "out", "mail" };
            for (u32 d = 0; d < COUNT_OF(direction); d++)
                u->queue[d] = arena_printf(&r->mem, "%s.%.23s.%s", u->name, r->actor[a].type[d == RING_OUT],
                                           direction[d]);
            u->used_end = &u->used;
            pthread_mutex_init(&u->lock, NULL);
        }
    }
    r->block = r->warps ? 32 * MIN_OF(r->units, (u32)RING_WARPS) : o->threads;
    r->grid = r->warps ? (r->units + r->block / 32 - 1) / (r->block / 32) : r->units;
    r->edge_stride = (r->units + 15) / 16 * 16;
    r->slot_bytes = (u32)lines(sizeof(struct lk_ring_slot) + o->inline_bytes);
    /* a payload in words may have the two addresses of a long message in front of it */
    u32 wordy = (MIN_OF(o->inline_bytes, (u32)LK_RING_WORDY) + 3) / 4,
        behind = o->inline_bytes > LK_RING_WORDY ? (u32)lines(o->inline_bytes) : 0;
    r->in_words = (u32)lines(8 * MAX_OF((u32)LK_RING_IN_WORDS, LK_RING_W_IN + 4 + wordy)) / 8;
    r->out_words = (u32)lines(8 * MAX_OF((u32)LK_RING_OUT_WORDS, LK_RING_W_OUT + wordy)) / 8;
    r->in_bytes = 8 * r->in_words + behind;
    r->out_bytes = 8 * r->out_words + behind;
}

static void fill_in(lk_ring_options *o)
{
    if (!o->instances) o->instances = 1;
    if (!o->threads) o->threads = RING_THREADS;
    if (!o->inbox_slots) o->inbox_slots = RING_SLOTS;
    if (!o->outbox_slots) o->outbox_slots = RING_SLOTS;
    if (!o->mail_slots) o->mail_slots = RING_SLOTS;
    if (!o->inline_bytes) o->inline_bytes = RING_INLINE;
    if (!o->letters) o->letters = RING_LETTERS;
}

/* Every block arrives, and ends when all are there. */
static const char probe_ptx[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                                ".visible .entry lk_ring_probe(.param .u64 at, .param .u32 blocks)\n{\n"
                                ".reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<2>;\n"
                                "ld.param.u64 %rd1, [at];\nld.param.u32 %r1, [blocks];\n"
                                "mov.u32 %r2, %tid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\n"
                                "atom.acq_rel.gpu.add.u32 %r3, [%rd1], 1;\n"
                                "WAIT:\nld.acquire.gpu.u32 %r4, [%rd1];\nsetp.lt.u32 %p2, %r4, %r1;\n@%p2 bra WAIT;\n"
                                "END:\nret;\n}\n";

/* A cooperative kernel of the ring's shape, in the ring's stream: that all its blocks are resident at once is tried. */
static lk_status try_cooperative(lk_ring *r)
{
    u32 arrived = 0;
    const void *args[] = { &r->device, &r->grid };
    lk_launch l = { .size = sizeof l,
                    .grid = { r->grid, 1, 1 },
                    .block = { r->block, 1, 1 },
                    .args = args,
                    .arg_count = 2,
                    .stream = r->stream,
                    .cooperative = 1 };
    struct ring_wait w = ring_wait_for(PROBE_SECONDS);
    if (!r->gpu->probe &&
        lk_module_load(r->gpu, "ring probe", probe_ptx, sizeof probe_ptx - 1, &r->gpu->probe) != LK_OK)
        return ring_fail(r, LK_BAD_INPUT, "probe: %s", lk_gpu_error(r->gpu));
    lk_status s = lk_kernel_launch(lk_module_kernel(r->gpu->probe, "lk_ring_probe"), &l, NULL);
    if (s != LK_OK)
        return ring_fail(r, LK_BAD_INPUT, "probe: a cooperative <<<%u, %u>>> was refused: %s", r->grid, r->block,
                         s == LK_FINDINGS ? "the report of the gpu says why" : lk_gpu_error(r->gpu));
    while ((s = lk_stream_query(r->stream)) == LK_NOT_READY)
        if (!ring_pause(r, &w)) break;
    if (s != LK_OK)
        return ring_fail(r, LK_BAD_INPUT, "probe: a cooperative <<<%u, %u>>> did not end in %d s: %s", r->grid,
                         r->block, PROBE_SECONDS,
                         s == LK_NOT_READY ? "other kernels hold the gpu" : lk_gpu_error(r->gpu));
    if (lk_memory_read(r->gpu, r->device, &arrived, sizeof arrived) != LK_OK || arrived != r->grid)
        return ring_fail(r, LK_BAD_INPUT, "probe: %u of %u blocks arrived", arrived, r->grid);
    RING_LOG(r, "probe: a cooperative <<<%u, %u>>> was resident as a whole", r->grid, r->block);
    return lk_memory_fill(r->gpu, r->device, 0, sizeof arrived);
}

static lk_status prepare(lk_ring *r)
{
    const char *kernel = r->options.kernel;
    lk_status s;
    r->kernel = lk_module_kernel(r->module, kernel);
    r->name = r->options.name ? r->options.name : kernel ? kernel : "ring";
    if (!r->kernel) return ring_fail(r, LK_BAD_INPUT, "%s", lk_gpu_error(r->gpu));
    if (!r->options.name) r->name = lk_kernel_plain(r->kernel);
    r->name = arena_str(&r->mem, str_of(r->name));
    if (lk_kernel_param_count(r->kernel) != 1)
        return ring_fail(r, LK_BAD_INPUT, "kernel %s has %u parameters; one that LK_RING_KERNEL makes has 1",
                         lk_kernel_plain(r->kernel), lk_kernel_param_count(r->kernel));
    if ((s = read_actors(r)) != LK_OK || (s = check_options(r)) != LK_OK) return s;
    make_units(r);
    if ((s = check_card(r)) != LK_OK) return s;
    for (u32 i = 0; i < r->options.types; i++)
        if ((s = compare_type(r, r->options.type[i])) != LK_OK) return s;
    r->letter = NEW_ARRAY(&r->mem, lk_ring_letter, r->options.letters);
    if ((s = make_memory(r)) != LK_OK) return s;
    if (lk_stream_create(r->gpu, LK_STREAM_NON_BLOCKING, 0, &r->stream) != LK_OK ||
        lk_stream_create(r->gpu, LK_STREAM_NON_BLOCKING, 0, &r->copies) != LK_OK)
        return ring_fail(r, LK_BAD_INPUT, "%s", lk_gpu_error(r->gpu));
    lk_stream_name(r->stream, r->name);
    lk_stream_name(r->copies, arena_printf(&r->mem, "%s.payloads", r->name));
    return r->options.probe ? try_cooperative(r) : LK_OK;
}

lk_status lk_ring_create(lk_gpu *gpu, const lk_ring_options *options, lk_ring **ring)
{
    if (!gpu || !options || !ring || !options->module)
        return ring_fail(NULL, LK_BAD_INPUT,
                         "lk_ring_create needs a gpu, options with a module, and a place for the ring");
    if (options->size != sizeof *options)
        return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_options.size is %zu, not %zu", options->size, sizeof *options);
    lk_ring *r = base_alloc(sizeof *r);
    *ring = NULL;
    if (!r) return ring_fail(NULL, LK_OUT_OF_MEMORY, "no memory for a ring");
    r->gpu = gpu;
    r->module = options->module;
    r->options = *options;
    r->name = "?";
    fill_in(&r->options);
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->ask_lock, NULL);
    lk_status s = prepare(r);
    if (s != LK_OK) {
        lk_ring_destroy(r);
        return s;
    }
    RING_LOG(
        r,
        "created: kernel %s <<<%u, %u>>>, %u units of %u actors, slots of %u, %u and %u bytes, %llu bytes mapped and "
        "%llu on the device",
        lk_kernel_plain(r->kernel), r->grid, r->block, r->units, r->actors, r->in_bytes, r->out_bytes, r->slot_bytes,
        (unsigned long long)r->pinned_bytes, (unsigned long long)r->device_bytes);
    *ring = r;
    return LK_OK;
}

uint32_t lk_ring_unit_of(lk_ring *ring, const char *actor)
{
    struct ring_actor *a = ring ? find_actor(ring, actor) : NULL;
    return a ? a->first + __atomic_fetch_add(&a->turn, 1, __ATOMIC_RELAXED) % a->units : UINT32_MAX;
}
