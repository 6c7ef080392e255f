/* The last operations of each stream, for errors that a GPU reports later: lk_options.keep of them, in a ring. What a
 * GPU says of a fault names no launch, and any that had not ended by then may be to blame. */
#include "api/host.h"
#include <inttypes.h>

enum { KEPT_MOST = 64 };

struct kept_operation {
    u64 number;     /* of all that were kept on this gpu, from 1; 0: none */
    u64 nth;        /* of a launch: which of its kernel; 0: it is not one */
    char name[128]; /* of its kernel */
    char text[160]; /* "scale<<<(4, 1, 1), (256, 1, 1)>>> at main.c:12" */
};
struct kept_handle {
    lock_t lock;
    u32 next; /* where the next one goes */
    struct kept_operation at[KEPT_MOST];
};

static void operation_text(const struct dev_task *t, const char *site, char *out, size_t size)
{
    const struct dev_launch *l = &t->launch;
    char name[80];
    int n = 0;
    switch (t->kind) {
    case OP_LAUNCH:
        name_plain(l->kernel->name, name, sizeof name);
        n = snprintf(out, size, "%.60s<<<(%u, %u, %u), (%u, %u, %u)>>>", name, l->grid[0], l->grid[1], l->grid[2],
                     l->block[0], l->block[1], l->block[2]);
        break;
    case OP_COPY:
        n = snprintf(out, size, "a copy of %" PRIu64 " bytes", t->copy.width * t->copy.rows * t->copy.slices);
        break;
    case OP_FILL: n = snprintf(out, size, "a fill of %" PRIu64 " elements", t->fill.width * t->fill.rows); break;
    case OP_HOST: n = snprintf(out, size, "a function of the host"); break;
    case OP_LIBRARY: n = snprintf(out, size, "an operator of a library"); break;
    case OP_ALLOC: n = snprintf(out, size, "an allocation of %" PRIu64 " bytes", t->alloc.bytes); break;
    case OP_FREE: n = snprintf(out, size, "a free"); break;
    default: n = snprintf(out, size, "an operation"); break;
    }
    if (site && n > 0 && (size_t)n < size) snprintf(out + n, size - (size_t)n, " at %.60s", site);
}

void host_kept_add(lk_gpu *gpu, lk_stream *stream, const struct dev_task *task)
{
    struct kept_handle **place = stream ? &stream->kept : &gpu->kept;
    lock(&gpu->lock);
    struct kept_handle *k = *place;
    if (!k && (k = *place = base_alloc(sizeof *k))) pthread_mutex_init(&k->lock, NULL);
    unlock(&gpu->lock);
    if (!k) return;
    u32 most = MIN_OF(gpu->keep, (u32)KEPT_MOST);
    lock(&k->lock);
    struct kept_operation *o = &k->at[k->next];
    k->next = (k->next + 1) % most;
    o->number = __atomic_add_fetch(&gpu->kept_count, 1, __ATOMIC_RELAXED);
    o->nth = task->kind == OP_LAUNCH ? host_launching_nth() : 0;
    if (o->nth) name_plain(task->launch.kernel->name, o->name, sizeof o->name);
    operation_text(task, task->site, o->text, sizeof o->text);
    unlock(&k->lock);
}

void host_kept_free(struct kept_handle *k)
{
    if (!k) return;
    pthread_mutex_destroy(&k->lock);
    base_free(k);
}

/* The newest first. */
static void kept_text(struct kept_handle *k, u32 most, const char *name, struct text *out)
{
    if (!k) return;
    lock(&k->lock);
    text_add(out, "%s:\n", name);
    for (u32 i = 0; i < most; i++) {
        const struct kept_operation *o = &k->at[(k->next + most - 1 - i) % most];
        if (!o->number) continue;
        text_add(out, "  %" PRIu64 ": %s", o->number, o->text);
        if (o->nth) text_add(out, ", LOCKSTEP_RECORD=%s:%" PRIu64, o->name, o->nth);
        text_add(out, "\n");
    }
    unlock(&k->lock);
}

void host_kept_text(lk_gpu *gpu, struct text *out)
{
    u32 most = MIN_OF(gpu->keep, (u32)KEPT_MOST), number = 0;
    if (!most) return;
    lock(&gpu->lock);
    kept_text(gpu->kept, most, "calls that wait", out);
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h; h = h->next) number++;
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h; h = h->next, number--) {
        char name[40];
        snprintf(name, sizeof name, "stream %u", number);
        kept_text(((lk_stream *)h)->kept, most, name, out);
    }
    unlock(&gpu->lock);
}

static u64 newest(struct kept_handle *k, u64 than, char name[128], u64 *nth)
{
    if (!k) return than;
    lock(&k->lock);
    for (u32 i = 0; i < KEPT_MOST; i++) {
        const struct kept_operation *o = &k->at[i];
        if (!o->nth || o->number <= than) continue;
        than = o->number;
        *nth = o->nth;
        memcpy(name, o->name, sizeof o->name);
    }
    unlock(&k->lock);
    return than;
}

bool host_kept_launch(lk_gpu *gpu, char name[128], u64 *nth)
{
    lock(&gpu->lock);
    u64 number = newest(gpu->kept, 0, name, nth);
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h; h = h->next)
        number = newest(((lk_stream *)h)->kept, number, name, nth);
    unlock(&gpu->lock);
    return number != 0;
}
