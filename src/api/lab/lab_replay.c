/* Running a recorded launch again, on the software GPU or on a real one, and making it smaller.
 *
 * Objects lie where the gpu puts them, not where they were: words that point into objects of the recording, in the
 * parameters and in the objects, are moved with them. A word of data that happens to be such an address is moved, too.
 */
#include "base/printable.h"
#include "lab/recording.h"
#include <inttypes.h>

enum { TRIES_MOST = 120 };

/* ---- pointers ---- */

static u64 word_at(const u8 *p)
{
    u64 w;
    memcpy(&w, p, 8);
    return w;
}

void recording_pointers(const struct record *r, const u8 *bytes, u64 n,
                        void (*each)(void *self, u64 offset, const struct record_object *to, u64 into), void *self)
{
    for (u64 at = 0; at + 8 <= n; at += 8) {
        u64 w = word_at(bytes + at);
        const struct record_object *o = w >= r->low && w <= r->high && w ? record_find(r, w) : NULL;
        if (o) each(self, at, o, w - o->address);
    }
}

bool recording_defined(const struct record_object *o, u64 *at, struct record_run *out)
{
    u32 first = 0, last = o->runs; /* the first run that ends after *at: they are in order */
    while (first < last) {
        u32 middle = first + (last - first) / 2;
        if (o->undefined[middle].to <= *at)
            first = middle + 1;
        else
            last = middle;
    }
    for (u32 i = first; i < o->runs; i++) {
        if (o->undefined[i].from > *at) {
            *out = (struct record_run){ *at, o->undefined[i].from };
            *at = o->undefined[i].to;
            return true;
        }
        *at = o->undefined[i].to;
    }
    if (*at >= o->size) return false;
    *out = (struct record_run){ *at, o->size };
    *at = o->size;
    return true;
}

struct moving {
    const lk_recording *r;
    u8 *to;
};
static void move_word(void *self, u64 offset, const struct record_object *o, u64 into)
{
    const struct moving *m = self;
    u64 w = m->r->place[o - m->r->r.object] + into;
    memcpy(m->to + offset, &w, 8);
}

/* ---- opening ---- */

static void forget(lk_recording *r, u8 **list)
{
    for (u32 i = 0; list && i < r->r.objects; i++) {
        base_free(list[i]);
        list[i] = NULL;
    }
}

static u32 recording_ended(struct handle *h)
{
    lk_recording *r = (lk_recording *)h;
    forget(r, r->after);
    forget(r, r->other);
    record_free(&r->r);
    arena_free(&r->mem);
    handle_free(r, sizeof *r);
    return 0;
}

lk_status lk_recording_open(const char *path, lk_recording **out)
{
    if (!path || !out) return HOST_MISSING(NULL, path ? "place for the recording" : "path");
    struct error *e = host_begin(NULL);
    lk_recording *r = handle_new(sizeof *r);
    *out = NULL;
    if (!r) {
        error_set(e, ERR_MEMORY, "no memory for a recording");
        return host_failed(NULL);
    }
    if (!record_read(path, &r->r, e)) {
        handle_free(r, sizeof *r);
        return host_failed(NULL);
    }
    r->handle.end = recording_ended;
    handle_open(&r->handle, NULL, HANDLE_RECORDING);
    u32 n = r->r.objects;
    r->bytes = NEW_ARRAY(&r->mem, u8 *, n + 1);
    r->after = NEW_ARRAY(&r->mem, u8 *, n + 1);
    r->other = NEW_ARRAY(&r->mem, u8 *, n + 1);
    r->place = NEW_ARRAY(&r->mem, u64, n + 1);
    for (u32 i = 0; i < n; i++) r->bytes[i] = r->r.payload + (r->r.object[i].bytes - r->r.payload);
    *out = r;
    return LK_OK;
}

void lk_recording_close(lk_recording *recording)
{
    HOST_CALL(/* nothing */, USE_IF(RECORDING, recording));
    u32 none;
    if (recording) host_destroy(&call, &recording->handle, __func__, &none);
}

uint64_t lk_recording_seed(const lk_recording *recording)
{
    HOST_CALL(0, USE(RECORDING, recording));
    return recording->r.seed;
}

char *lk_recording_text(const lk_recording *recording)
{
    HOST_CALL(NULL, USE(RECORDING, recording));
    const struct record *r = &recording->r;
    struct text t = { 0 };
    u64 bytes = 0;
    for (u32 i = 0; i < r->objects; i++) bytes += r->object[i].size;
    printable(str_of(r->plain), &t);
    text_add(&t, ", grid %u,%u,%u, block %u,%u,%u", r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1],
             r->block[2]);
    if (r->shared) text_add(&t, ", %" PRIu64 " bytes of shared memory", r->shared);
    text_add(&t, "; %u parameter%s, %u object%s of %" PRIu64 " bytes; on ", r->params, plural(r->params), r->objects,
             plural(r->objects), bytes);
    printable(str_of(r->card), &t);
    if (r->from[0]) text_add(&t, "; ");
    printable(str_of(r->from), &t);
    return t.p;
}

/* ---- running ---- */

struct replaying {
    lk_recording *r;
    lk_gpu *gpu;
    lk_module *module;
    struct arena mem;
    struct error *e;
};

static bool refused(struct replaying *p, lk_status status)
{
    return error_set(p->e, status == LK_UNSUPPORTED ? ERR_UNSUPPORTED : ERR_INPUT, "%.500s", lk_gpu_error(p->gpu));
}

static bool place_object(struct replaying *p, u32 i)
{
    static const lk_memory_kind kind[] = { LK_MEMORY_DEVICE, LK_MEMORY_PINNED, LK_MEMORY_MANAGED };
    const struct record_object *o = &p->r->r.object[i];
    lk_status s;
    u64 bytes = 0;
    if (o->kind == RECORD_VARIABLE) {
        s = lk_module_symbol(p->module, o->name, &p->r->place[i], &bytes);
        if (s == LK_OK && bytes != o->size)
            return error_set(p->e, ERR_INPUT, "the variable %.100s has other bytes than in the recording", o->name);
        return s == LK_OK || refused(p, s);
    }
    s = lk_memory_alloc(p->gpu, o->size, kind[o->kind], o->name, &p->r->place[i]);
    if (s == LK_OK && o->type[0]) lk_memory_describe(p->gpu, p->r->place[i], o->name, o->type, o->element);
    return s == LK_OK || refused(p, s);
}

/* Its bytes, with pointers as they are now. What was undefined stays so; a real GPU gets all bytes. */
static bool fill_object(struct replaying *p, u32 i)
{
    const struct record_object *o = &p->r->r.object[i];
    u8 *bytes = base_alloc(o->size);
    if (!bytes) return error_set(p->e, ERR_MEMORY, "no memory for %" PRIu64 " bytes", o->size);
    memcpy(bytes, p->r->bytes[i], o->size);
    recording_pointers(&p->r->r, p->r->bytes[i], o->size, move_word, &(struct moving){ p->r, bytes });
    lk_status s = LK_OK;
    struct record_run run;
    if (p->gpu->device->options.gpu)
        s = lk_memory_write(p->gpu, p->r->place[i], bytes, o->size);
    else
        for (u64 at = 0; s == LK_OK && recording_defined(o, &at, &run);)
            s = lk_memory_write(p->gpu, p->r->place[i] + run.from, bytes + run.from, run.to - run.from);
    base_free(bytes);
    return s == LK_OK || refused(p, s);
}

static bool launch(struct replaying *p, lk_status *status)
{
    const struct record *r = &p->r->r;
    lk_kernel *k = lk_module_kernel(p->module, r->entry);
    if (!k) return refused(p, LK_BAD_INPUT);
    if (lk_kernel_param_count(k) != r->params)
        return error_set(p->e, ERR_INPUT, "%.100s takes %u parameters, and the recording has %u", r->plain,
                         lk_kernel_param_count(k), r->params);
    const void **arg = NEW_ARRAY(&p->mem, const void *, r->params + 1);
    u32 *bytes = NEW_ARRAY(&p->mem, u32, r->params + 1);
    for (u32 i = 0; i < r->params; i++) {
        u8 *copy = arena_alloc(&p->mem, r->param[i].n + 1, 16);
        if (r->param[i].n) memcpy(copy, r->param[i].bytes, r->param[i].n);
        recording_pointers(r, r->param[i].bytes, r->param[i].n, move_word, &(struct moving){ p->r, copy });
        arg[i] = copy;
        bytes[i] = r->param[i].n;
    }
    lk_launch l = { .size = sizeof l, .args = arg, .arg_bytes = bytes, .arg_count = r->params };
    for (u32 i = 0; i < 3; i++) l.grid[i] = r->grid[i], l.block[i] = r->block[i], l.cluster[i] = r->cluster[i];
    l.shared_bytes = l.shared_optin = (u32)r->shared;
    l.cooperative = r->cooperative;
    l.order = r->seeded ? (u32)r->order : 0;
    *status = lk_kernel_launch(k, &l, NULL);
    return *status == LK_OK || *status == LK_FINDINGS || lk_report_errors(p->gpu) || refused(p, *status);
}

/* What the objects hold now. A gpu that has ended with an error has nothing to read. */
static void read_back(struct replaying *p)
{
    lk_recording *r = p->r;
    forget(r, r->other);
    memcpy(r->other, r->after, r->r.objects * sizeof *r->after);
    memset(r->after, 0, r->r.objects * sizeof *r->after);
    for (u32 i = 0; i < r->r.objects; i++) {
        const struct record_object *o = &r->r.object[i];
        u8 *to = base_alloc(o->size);
        struct mem_object *m = to && p->gpu->device->mem ? mem_find(p->gpu->device->mem, r->place[i]) : NULL;
        bool ok = m != NULL;
        if (m)
            memcpy(to, mem_view(m, r->place[i]), o->size);
        else
            ok = to && lk_memory_read(p->gpu, r->place[i], to, o->size) == LK_OK;
        r->after[i] = ok ? to : NULL;
        if (!ok) base_free(to);
    }
    r->runs++;
}

lk_status lk_recording_run(lk_recording *recording, lk_gpu *gpu)
{
    HOST_CALL(LK_BAD_INPUT, USE(RECORDING, recording), USE(GPU, gpu));
    struct error e = { 0 };
    struct replaying p = { .r = recording, .gpu = gpu, .e = &e };
    const struct record *r = &recording->r;
    lk_status status = lk_module_load(gpu, "recording.ptx", r->ptx.p, r->ptx.n, &p.module);
    bool ok = status == LK_OK || refused(&p, status);
    u32 made = 0;
    for (; ok && made < r->objects; made++) ok = place_object(&p, made);
    for (u32 i = 0; ok && i < r->objects; i++) ok = fill_object(&p, i);
    ok = ok && launch(&p, &status);
    if (ok) read_back(&p);
    for (u32 i = 0; i < made; i++)
        if (r->object[i].kind != RECORD_VARIABLE && recording->place[i]) lk_memory_free(gpu, recording->place[i]);
    lk_module_unload(p.module);
    arena_free(&p.mem);
    if (ok) return lk_report_errors(gpu) ? LK_FINDINGS : LK_OK;
    struct error *host = host_begin(gpu);
    *host = e;
    return host_failed(gpu);
}

char *lk_recording_difference(const lk_recording *recording)
{
    HOST_CALL(NULL, USE(RECORDING, recording));
    const lk_recording *r = recording;
    struct text t = { 0 };
    if (r->runs < 2) return NULL;
    for (u32 i = 0; i < r->r.objects; i++) {
        const struct record_object *o = &r->r.object[i];
        u64 differ = 0, first = 0;
        if (!r->after[i] || !r->other[i]) continue;
        for (u64 at = 0; at < o->size; at++)
            if (r->after[i][at] != r->other[i][at] && !differ++) first = at;
        /* pointers are the run's own */
        if (!differ) continue;
        text_add(&t, "%s", t.n ? "; " : "");
        printable(str_of(o->name), &t);
        text_add(&t, ": %" PRIu64 " of %" PRIu64 " bytes differ, the first at byte %" PRIu64, differ, o->size, first);
    }
    if (!t.n) text_add(&t, "%s", "");
    return t.p;
}

/* ---- making it smaller ---- */

struct shrinking {
    lk_recording *r;
    const lk_options *options;
    char first[LAB_FIRST]; /* what came first */
    u32 tries;
};

/* What the report of a run begins with: "bounds:12"; "": nothing. false: it cannot be run so. */
static bool first_of(struct shrinking *x, char *out, size_t size)
{
    lk_gpu *gpu;
    struct report_brief b;
    out[0] = 0;
    x->tries++;
    if (lk_gpu_create(x->options, &gpu) != LK_OK) return false;
    lk_status s = lk_recording_run(x->r, gpu);
    if (report_first(gpu->device->report, &b)) snprintf(out, size, "%s:%u", finding_id(b.kind), b.line);
    lk_gpu_destroy(gpu);
    return s == LK_OK || s == LK_FINDINGS;
}

static bool still(struct shrinking *x)
{
    char now[LAB_FIRST];
    return x->tries < TRIES_MOST && first_of(x, now, sizeof now) && !strcmp(now, x->first);
}

static void less_grid(struct shrinking *x, u32 i)
{
    u32 *n = &x->r->r.grid[i];
    for (u32 by = *n - 1; by > 0 && x->tries < TRIES_MOST;) {
        u32 was = *n;
        *n = was - by;
        bool ok = still(x);
        if (!ok) *n = was;
        by = ok ? MIN_OF(by, *n / 2) : by / 2;
    }
}

/* Zeros in place of bytes [from, to), or of each half where that does not do. */
static void less_bytes(struct shrinking *x, u32 i, u64 from, u64 to, u32 depth)
{
    u8 *bytes = x->r->bytes[i], *was = base_alloc(to - from);
    bool zero = true;
    for (u64 at = from; at < to && zero; at++) zero = !bytes[at];
    if (zero || !was) {
        base_free(was);
        return;
    }
    memcpy(was, bytes + from, to - from);
    memset(bytes + from, 0, to - from);
    bool ok = still(x);
    if (!ok) memcpy(bytes + from, was, to - from);
    base_free(was);
    u64 middle = (from + (to - from) / 2) & ~(u64)7;
    if (ok || depth == 0 || middle <= from || middle >= to) return;
    less_bytes(x, i, from, middle, depth - 1);
    less_bytes(x, i, middle, to, depth - 1);
}

struct reaching {
    lk_recording *r;
    bool *is; /* by object */
    u32 *list, n;
};
static void reach(void *self, u64 offset, const struct record_object *to, u64 into)
{
    struct reaching *x = self;
    u32 i = (u32)(to - x->r->r.object);
    (void)offset, (void)into;
    if (x->is[i]) return;
    x->is[i] = true;
    x->list[x->n++] = i;
}

/* Objects that no pointer leads to any more go; variables stay. */
static void drop_unreached(lk_recording *r)
{
    struct record *rec = &r->r;
    struct reaching x = { r, NEW_ARRAY(&r->mem, bool, rec->objects + 1), NEW_ARRAY(&r->mem, u32, rec->objects + 1), 0 };
    for (u32 i = 0; i < rec->objects; i++)
        if (rec->object[i].kind == RECORD_VARIABLE) reach(&x, 0, &rec->object[i], 0);
    for (u32 i = 0; i < rec->params; i++) recording_pointers(rec, rec->param[i].bytes, rec->param[i].n, reach, &x);
    for (u32 i = 0; i < x.n; i++) /* it grows meanwhile */
        recording_pointers(rec, r->bytes[x.list[i]], rec->object[x.list[i]].size, reach, &x);
    u32 kept = 0;
    forget(r, r->after);
    forget(r, r->other);
    for (u32 i = 0; i < rec->objects; i++) {
        if (!x.is[i]) continue;
        rec->object[kept] = rec->object[i];
        r->bytes[kept++] = r->bytes[i];
    }
    rec->objects = kept;
    record_sort(rec);
    r->runs = 0;
}

lk_status lk_recording_shrink(lk_recording *recording, const lk_options *options, uint32_t *tries)
{
    HOST_CALL(LK_BAD_INPUT, USE(RECORDING, recording));
    if (!options) return HOST_MISSING(NULL, "set of options");
    struct shrinking x = { .r = recording, .options = options };
    bool ran = first_of(&x, x.first, sizeof x.first);
    for (u32 i = 3; ran && x.first[0] && i-- > 0;) less_grid(&x, i);
    for (u32 i = 0; ran && x.first[0] && i < recording->r.objects; i++)
        less_bytes(&x, i, 0, recording->r.object[i].size, 3);
    if (ran && x.first[0]) drop_unreached(recording);
    if (tries) *tries = x.tries;
    return !ran ? LK_BAD_INPUT : x.first[0] ? LK_FINDINGS : LK_OK;
}

lk_status lk_recording_save(const lk_recording *recording, const char *path)
{
    HOST_CALL(LK_BAD_INPUT, USE(RECORDING, recording));
    if (!path) return HOST_MISSING(NULL, "path");
    struct error *e = host_begin(NULL);
    return record_write(&recording->r, path, e) ? LK_OK : host_failed(NULL);
}
