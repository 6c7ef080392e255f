/* A host that goes on writing to the queue of a kernel that has ended.
 *
 * A kernel that polls a word of the host's memory takes messages from the host while it runs. When it has ended, nobody
 * reads what the host writes there, and the host learns that only in a call that waits. So the words that such a launch
 * polled are kept when it ends, with what they and the other bytes of their objects hold. Where the host comes to wait,
 * does not know yet that the launch is over, and has written a word and other bytes of its object since, it has sent a
 * message to nobody.
 *
 * What is no message: a word alone, as a flag that is to stop the kernel; a word that is 0 again, as in a queue that is
 * made ready for the next launch. And nothing is said where anything was enqueued since, which may read the memory,
 * where another launch ran beside the one that has ended, or where the host has asked whether it has. What the host
 * wrote while the launch was about to end is not told from what it wrote before. */
#include "code/code.h"
#include "device/op_races_in.h"
#include "mem/mem_finding.h"
#include "sim/finding_place.h"
#include <inttypes.h>

enum { HASHED_MOST = 1 << 20 }; /* bytes of an object that are looked at */

static bool is_hosts(const struct mem_object *o)
{
    return o && (o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED);
}

static u64 value_at(const struct mem_object *o, const struct left_word *w)
{
    u64 value = 0;
    memcpy(&value, mem_view(o, w->address), w->size);
    return value;
}

/* Of the bytes of an object that are no words in `l`. */
static u64 hash_rest(const struct left *l, const struct mem_object *o)
{
    u64 h = 0xcbf29ce484222325u, end = MIN_OF(o->size, (u64)HASHED_MOST);
    const u8 *p = mem_view(o, o->base);
    for (u64 k = 0; k < end; k++) {
        u8 byte = p[k];
        for (u32 i = 0; i < l->n; i++)
            if (o->base + k - l->word[i].address < l->word[i].size) byte = 0;
        h = (h ^ byte) * 0x100000001b3u;
    }
    return h;
}

void left_drop(struct left *l)
{
    if (l->actor) actor_release(l->actor);
    arena_free(&l->mem);
    *l = (struct left){ 0 };
}

static bool is_written(const struct footprint_run *run, u32 n, const struct footprint_run *by)
{
    for (u32 i = 0; i < n; i++)
        if (run[i].write && run[i].from < by->to && by->from < run[i].to && run[i].bytes & by->bytes) return true;
    return false;
}

/* "a.cu:9 or a.cu:14": where threads leave the function. */
static const char *exits_text(struct arena *mem, const struct lowered *low)
{
    struct text t = { 0 };
    u32 shown = 0, last = 0;
    for (u32 b = 0; b < low->nblock; b++) {
        const struct block *e = &low->block[b];
        for (u32 k = 0; e->is_exit && k < e->npred && shown < 4; k++) {
            const struct block *p = &low->block[e->pred[k]];
            const struct place *at = p->end > p->first ? finding_place(mem, low, p->end - 1) : NULL;
            while (at && at->inlined_at) at = at->inlined_at;
            const char *file = !at        ? NULL
                               : at->file ? at->file
                                          : at->ptx_file,
                       *slash = file ? strrchr(file, '/') : NULL;
            u32 line = !at ? 0 : at->file ? at->line : at->ptx_line;
            if (!file || !line || line == last) continue;
            text_add(&t, "%s%s:%u", shown++ ? " or " : "", slash ? slash + 1 : file, line);
            last = line;
        }
    }
    const char *text = t.n ? arena_str(mem, str_of(t.p)) : NULL;
    text_free(&t);
    return text;
}

void left_note(struct left *l, struct device *d, struct actor *a, const struct footprint_run *run, u32 n)
{
    left_drop(l);
    for (u32 i = 0; i < n && l->n < COUNT_OF(l->word); i++) {
        const struct footprint_run *r = &run[i];
        u32 size = (u32)__builtin_popcount(r->bytes);
        if (r->write || !r->strong || !r->low || r->to - r->from != 32 || (size != 4 && size != 8)) continue;
        u64 address = r->from + (u32)__builtin_ctz(r->bytes);
        const struct mem_object *o = mem_find(d->mem, address);
        if (!is_hosts(o) || !mem_is_live(o) || address + size > o->base + o->size || is_written(run, n, r)) continue;
        l->word[l->n] = (struct left_word){ .address = address, .size = size, .object = o->id };
        l->word[l->n].value = value_at(o, &l->word[l->n]);
        l->word[l->n].place = finding_place(&l->mem, r->low, r->op);
        l->word[l->n++].exits = exits_text(&l->mem, r->low);
    }
    for (u32 i = 0; i < l->n; i++) l->word[i].rest = hash_rest(l, mem_find(d->mem, l->word[i].address));
    if (!l->n) return;
    a->refs++;
    l->actor = a;
}

static void report(const struct left *l, struct device *d, const struct left_word *w, const struct mem_object *o)
{
    const struct actor *a = l->actor;
    char kernel[200], stream[STREAM_TEXT];
    struct text cause = { 0 };
    name_plain(str_of(a->kernel ? a->kernel : "?"), kernel, sizeof kernel);
    stream_label(a->stream, a->stream_id, stream);
    text_add(&cause,
             "%s%skernel %s%s in %s has ended, and polled %s+0x%" PRIx64 " here, which held %" PRIu64
             " then; the host has written %" PRIu64 " there since, and other bytes of %s, and no kernel is left to "
             "read it",
             a->site ? a->site : "", a->site ? " (" : "", kernel, a->site ? ")" : "", stream, o->name,
             w->address - o->base, w->value, value_at(o, w), o->name);
    if (w->exits) text_add(&cause, "; the kernel ends by way of %s", w->exits);
    struct finding f = { .kind = F_queue_left, .place = w->place, .cause = cause.p, .once = true };
    f.kernel = a->kernel;
    f.launch = a->number;
    finding_object(&f, o);
    report_add(d->report, &f);
    text_free(&cause);
}

void left_look(struct left *l, struct device *d)
{
    for (u32 i = 0; i < l->n; i++) {
        const struct left_word *w = &l->word[i];
        const struct mem_object *o = mem_find(d->mem, w->address);
        if (!is_hosts(o) || !mem_is_live(o) || o->id != w->object) continue;
        u64 now = value_at(o, w);
        if (!now || now == w->value || hash_rest(l, o) == w->rest) continue;
        report(l, d, w, o);
        break;
    }
    left_drop(l);
}
