/* What the host gets to see: bytes that arithmetic made from undefined values are findings, bytes that were only
 * copied are at most a note (rules.md I2, I3): single ones are padding, so only elements of which every byte is a
 * copy of what was never written are named, or 64 bytes in a row where elements are not known. Memory that no kernel
 * has written is not checked: it need not hold a result. */
#include "sim/planes.h"
#include "mem/mem_finding.h"
#include <inttypes.h>

/* bytes of one cause, from the first to the last: its first and its latest origin; copied: not computed with; what
 * was read there */
struct run {
    u64 first, last, bytes;
    u32 origin, last_origin;
    bool copied;
    struct span_read read;
};

enum { RUNS = 16 }; /* origins that are reported one by one for a copy to the host */

/* Whether two origins are reported as one: the same line was read, and the same line stored it. */
static bool alike(const struct sim *s, u32 a, u32 b)
{
    const struct origin *x = a != b ? origin_get(s->origins, a) : NULL, *y = a != b ? origin_get(s->origins, b) : NULL;
    if (a == b) return true;
    if (!x || !y || x->key != y->key || !x->stored != !y->stored) return false;
    return !x->stored || (x->stored->file && y->stored->file && !strcmp(x->stored->file, y->stored->file) &&
                          x->stored->line == y->stored->line && x->stored->col == y->stored->col);
}

/* What was read first, wherever it was carried since. */
static struct span_read read_of(const struct sim *s, u32 origin)
{
    const struct origin *o = origin_get(s->origins, origin), *root = o ? origin_get(s->origins, o->root) : NULL;
    return root ? root->read : (struct span_read){ 0 };
}

static void join_read(struct span_read *x, struct span_read y)
{
    bool same = x->to && y.to && x->cta == y.cta && x->thread == y.thread,
         before = y.cta < x->cta || (y.cta == x->cta && y.thread < x->thread);
    if (same) {
        x->from = MIN_OF(x->from, y.from);
        x->to = MAX_OF(x->to, y.to);
    } else if (y.to && (!x->to || before))
        *x = y;
}

static void add(const struct sim *s, struct run *run, u32 *n, u64 at, u64 bytes, u32 origin, bool copied)
{
    u32 k = 0;
    while (k < *n && (run[k].copied != copied || !alike(s, run[k].origin, origin))) k++;
    if (k == RUNS) return;
    if (k == *n) run[(*n)++] = (struct run){ .first = at, .last = at, .origin = origin, .copied = copied };
    if (run[k].last_origin != origin) join_read(&run[k].read, read_of(s, origin));
    run[k].last_origin = origin;
    run[k].last = at + bytes - 1;
    run[k].bytes += bytes;
}

/* Which bytes or elements of the object they are. */
static void run_where(const struct mem_object *o, const struct run *r, char *where, size_t size)
{
    u64 first = r->first - o->base, last = r->last - o->base;
    u32 e = o->element_size;
    /* whole elements, and not all in between */
    bool gaps = e && r->bytes % e == 0 && r->bytes / e < last / e - first / e + 1;
    if (e && first / e == last / e)
        snprintf(where, size, "in element [%" PRIu64 "] of %s", first / e, o->name);
    else if (gaps)
        snprintf(where, size, "in %" PRIu64 " of the elements [%" PRIu64 "..%" PRIu64 "] of %s", r->bytes / e,
                 first / e, last / e, o->name);
    else if (e)
        snprintf(where, size, "in elements [%" PRIu64 "..%" PRIu64 "] of %s", first / e, last / e, o->name);
    else
        snprintf(where, size, "between %" PRIu64 " and %" PRIu64 " of %s", first, last, o->name);
}

static void report_run(struct sim *s, struct report *report, const struct mem_object *o, const struct run *r,
                       bool unseen)
{
    const struct origin *from = origin_get(s->origins, r->origin);
    char cause[400], where[200];
    run_where(o, r, where, sizeof where);
    struct finding f = { .kind = r->copied ? F_uninit_copy
                                 : unseen  ? F_uninit_unseen
                                           : F_uninit_output,
                         .cause_key = (from ? from->key : 0) ^ o->id,
                         .cause = cause,
                         .once = true };
    snprintf(cause, sizeof cause, "%" PRIu64 " byte%s %s %s %s%s%s", r->bytes, plural(r->bytes), where,
             r->bytes == 1 ? "was" : "were",
             r->copied ? "copied as they were, and never written" : "computed from an undefined value",
             from && from->name ? ", from " : "", from && from->name ? from->name : "");
    f.object = o->name;
    f.object_type = o->type;
    f.object_base = o->base;
    f.object_size = o->size;
    f.element_size = o->element_size;
    char text[600];
    if (from && r->read.to && r->read.width) {
        const struct span_read *x = &r->read;
        u64 a = x->from / x->width, b = (x->to - 1) / x->width;
        snprintf(text, sizeof text,
                 a == b ? "%s; thread %u reads element [%" PRIu64 "] of it"
                        : "%s; thread %u reads elements [%" PRIu64 "..%" PRIu64 "] of it",
                 from->text, x->thread, a, b);
    } else
        snprintf(text, sizeof text, "%s", from && from->text ? from->text : "");
    if (from && from->branch && !r->copied &&
        !unseen) { /* the branch is where the value was used, and its outcome counts */
        f.kind = F_uninit_branch;
        f.cause_key = from->key;
        snprintf(cause, sizeof cause,
                 "the condition of this branch was computed from an undefined value%s%s; it decides %" PRIu64
                 " byte%s %s",
                 from->name ? ", from " : "", from->name ? from->name : "", r->bytes, plural(r->bytes), where);
        f.other = from->stored;
    }
    if (from) {
        f.place = f.kind == F_uninit_branch ? from->branch : from->stored;
        f.kernel = from->kernel;
        f.call = from->call;
        f.launch = from->launch;
        f.from = &from->host;
        f.origin = from->place;
        f.origin_text = text;
        f.fix = from->fix;
        origin_bytes(s->origins, from, &f);
    }
    report_add(report, &f);
}

/* Bytes that are looked at as one: an element; in memory whose elements are not known more than any padding has. */
enum { UNTYPED = 64 };
static u32 unit_of(const struct mem_object *o)
{
    return o->element_size ? o->element_size : o->size < UNTYPED ? (u32)o->size : UNTYPED;
}

/* What was read first is the value of a register, of which no byte is padding. */
static bool is_of_word(const struct sim *s, struct taint t)
{
    const struct origin *o = origin_get(s->origins, t.origin), *root = o ? origin_get(s->origins, o->root) : NULL;
    return root && root->is_word;
}

/* A whole element of which every byte is a copy: its origin, or 0. *bytes: how many it has. */
static u32 copied_element(const struct sim *s, struct shadow *x, const struct mem_object *o, u64 at, u32 *bytes)
{
    u32 e = !o->element_size && at % 4 == 0 && is_of_word(s, shadow_read(x, at, 1)) ? 4 : unit_of(o), origin = 0;
    *bytes = e;
    if (o->element_size > 8 || (at - o->base) % e || at - o->base + e > o->size) return 0;
    for (u32 k = 0; k < e; k++) {
        struct taint t = shadow_read(x, at + k, 1);
        if (t.undef != 0xff || t.made || !t.origin) return 0;
        origin = origin ? origin : t.origin;
    }
    return origin;
}

/* Adds what the host must not see from `at` to `end`, which are in one page. *next: where to go on. */
static void check_page(struct sim *s, const struct mem_object *o, u64 at, u64 end, struct run *run, u32 *n, u64 *next)
{
    struct shadow *x = mem_shadow(s->mem);
    for (; at < end && (at = shadow_next_undefined(x, at, end - at)) < end; at++) {
        struct taint t = shadow_read(x, at, 1);
        u32 unit, copied = t.made ? 0 : copied_element(s, x, o, at, &unit);
        if (copied) {
            add(s, run, n, at, unit, copied, true);
            shadow_define(x, at, unit);
            mem_unseen_add(MEM_AS_FLOATS);
            at += unit - 1;
            continue;
        }
        if (!t.made) continue;
        add(s, run, n, at, 1, t.origin, false);
        shadow_define(x, at, 1); /* reported: defined from here on */
        mem_unseen_add(MEM_AS_FLOATS);
    }
    *next = MAX_OF(at, end);
}

/* The runs of the object's bytes that the host must not see. */
static u32 runs_of(struct sim *s, const struct mem_object *o, u64 addr, u64 bytes, struct run run[RUNS])
{
    struct shadow *x = mem_shadow(s->mem);
    u32 n = 0, pages;
    if (!__atomic_load_n(&x->stained, __ATOMIC_ACQUIRE)) return 0;
    u64 end = addr + bytes, at = addr;
    /* bytes that are only undefined are not of interest: what this takes follows what was touched, not the buffer */
    u64 *page = shadow_stained(x, addr, end, &pages);
    for (u32 k = 0; k < pages; k++)
        check_page(s, o, MAX_OF(at, page[k]), MIN_OF(end, page[k] + SHADOW_PAGE), run, &n, &at);
    base_free(page);
    return n;
}

/* ---- the rest that one more block would have written ---- */

/* Whether nobody has written a byte of it, nor put a copy there. */
static bool is_raw(struct shadow *x, u64 at, u64 end)
{
    for (; at < end; at++) {
        struct taint t = shadow_read(x, at, 1);
        if (t.undef != 0xff || t.made || t.origin) return false;
    }
    return true;
}

/* The number of blocks, two or more, was rounded down: those of the launch that wrote the buffer have written the same
 * number of bytes each, one after the other from its begin, and what is left is less than another block writes. */
static void check_rest(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes)
{
    enum { MOST = 1 << 16 }; /* bytes of a block */
    struct shadow *x = mem_shadow(s->mem);
    u64 by = __atomic_load_n(&o->written_by, __ATOMIC_RELAXED), end = addr + bytes;
    lock(&s->lock);
    struct launch_shape l = s->shape[by % SIM_SHAPES];
    unlock(&s->lock);
    if (!by || l.serial != by || l.blocks < 2 || addr != o->base || bytes != o->size) return;
    u64 from = shadow_next_undefined(x, addr, bytes), part = (from - addr) / l.blocks;
    if (from == end || !part || part > MOST || part % 32 || (from - addr) % l.blocks || end - from >= part ||
        !is_raw(x, from, end))
        return;
    char cause[400], fix[120];
    snprintf(cause, sizeof cause,
             "the last %" PRIu64 " of the %" PRIu64
             " bytes of %s were never written: the launch had %u blocks of %u threads, "
             "and each block wrote %" PRIu64 " bytes",
             end - from, bytes, o->name, l.blocks, l.threads, part);
    snprintf(fix, sizeof fix, "Round the number of blocks up, (n + block - 1) / block: %u instead of %u.", l.blocks + 1,
             l.blocks);
    struct finding f = { .kind = F_uninit_rest,
                         .cause_key = o->id,
                         .cause = cause,
                         .fix = fix,
                         .once = true,
                         .object = o->name,
                         .object_type = o->type,
                         .object_base = o->base,
                         .object_size = o->size,
                         .element_size = o->element_size };
    char note[400];
    finding_allocated(&f, o, note, sizeof note);
    report_add(report, &f);
    shadow_define(x, from, end - from); /* reported */
    mem_unseen_add(MEM_AS_FLOATS);
}

/* ---- gaps at regular distances ---- */

/* Where the first byte lies that is defined, from `at` on. */
static u64 next_defined(struct shadow *x, u64 at, u64 end)
{
    while (at < end && !shadow_defined(x, at, 1)) at++;
    return at;
}

/* A launch has written pieces of one length at regular distances, and nothing in between: rows without their ends. Less
 * than a third may be the padding of rows. */
static void check_gaps(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes)
{
    enum { LEAST = 3, GAP_LEAST = 128, MOST = 1 << 26 };
    struct shadow *x = mem_shadow(s->mem);
    u64 end = addr + bytes, gap = shadow_next_undefined(x, addr, bytes), piece = gap - addr, pieces = 0;
    if (bytes > MOST || !__atomic_load_n(&o->written_by, __ATOMIC_RELAXED) || addr != o->base || bytes != o->size ||
        !piece || gap == end)
        return;
    u64 next = next_defined(x, gap, end), each = next - addr;
    if (next == end || (next - gap) * 3 < each || next - gap < GAP_LEAST || bytes % each) return;
    for (u64 at = addr; at < end; at += each, pieces++) {
        if (shadow_next_undefined(x, at, each) != at + piece || !is_raw(x, at + piece, at + each)) return;
    }
    if (pieces < LEAST) return;
    char cause[400];
    snprintf(cause, sizeof cause,
             "of every %" PRIu64 " bytes of %s the first %" PRIu64 " were written and the other %" PRIu64
             " never, %" PRIu64 " times: %" PRIu64 " of its %" PRIu64 " bytes reach the host as they were",
             each, o->name, piece, each - piece, pieces, pieces * (each - piece), bytes);
    struct finding f = { .kind = F_uninit_gaps, .cause_key = o->id, .cause = cause, .once = true, .object = o->name };
    f.object_type = o->type;
    f.object_base = o->base;
    f.object_size = o->size;
    f.element_size = o->element_size;
    char note[400];
    finding_allocated(&f, o, note, sizeof note);
    report_add(report, &f);
    for (u64 at = addr; at < end; at += each) shadow_define(x, at + piece, each - piece); /* reported */
    mem_unseen_add(MEM_AS_FLOATS);
}

/* ---- an uninitialised buffer ---- */

enum { NEVER_LEAST = 64 }; /* bytes */

/* Whether none of these bytes was ever touched, not even by a copy of uninitialised bytes. */
static bool is_untouched(struct shadow *x, u64 addr, u64 bytes)
{
    u64 o = addr - x->from, end = o + bytes;
    u32 pages;
    if (o % 64 || end > x->bytes) return false;
    for (; o < end; o += 64)
        if (shadow_word(x, o >> 6) << (end - o < 64 ? 64 - (end - o) : 0)) return false;
    base_free(shadow_stained(x, addr, addr + bytes, &pages));
    return !pages;
}

/* Memory of a program; a benchmark of copies, which launches nothing, is left alone, and so are a few bytes: libraries
 * bring back scalars that they do not look at (Numba, where it broadcasts one). */
static void check_never(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes)
{
    lock(&s->lock);
    bool launched = s->serial != 0;
    unlock(&s->lock);
    if (!launched || o->size < NEVER_LEAST || o->type || o->kind != MEM_DEVICE ||
        __atomic_load_n(&o->given, __ATOMIC_RELAXED) || __atomic_load_n(&o->written_by, __ATOMIC_RELAXED) ||
        !is_untouched(mem_shadow(s->mem), o->base, o->size))
        return;
    char cause[400], where[400];
    snprintf(cause, sizeof cause,
             "%" PRIu64
             " bytes of %s are copied to the host, and none of it was ever written, neither by a launch nor by a "
             "copy nor by cudaMemset%s",
             bytes, o->name, __atomic_load_n(&o->read_by, __ATOMIC_RELAXED) ? "" : "; no launch has used it");
    struct finding f = { .kind = F_uninit_never, .cause_key = o->id, .cause = cause, .once = true, .object = o->name };
    f.object_base = o->base;
    f.object_size = o->size;
    finding_allocated(&f, o, where, sizeof where);
    report_add(report, &f);
    shadow_define(mem_shadow(s->mem), addr, bytes); /* reported */
    mem_unseen_add(MEM_AS_FLOATS);
}

void sim_check_output(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes)
{
    struct run run[RUNS];
    u32 n = runs_of(s, o, addr, bytes, run);
    bool errors = n && report_errors(report) != 0; /* what a copy lacks is then what an error kept from being written */
    for (u32 k = 0; k < n; k++)
        if (!run[k].copied || !errors) report_run(s, report, o, &run[k], false);
    if (n || report_errors(report)) return;
    check_rest(s, report, o, addr, bytes);
    check_gaps(s, report, o, addr, bytes);
    check_never(s, report, o, addr, bytes);
}

void sim_check_unseen(struct sim *s, struct report *report, const struct mem_object *o)
{
    struct run run[RUNS];
    u32 n = runs_of(s, o, o->base, o->size, run);
    for (u32 k = 0; k < n && !report_errors(report); k++) {
        const struct origin *from = origin_get(s->origins, run[k].origin);
        /* of what operators have made, others may have taken the part that is defined: scores that are masked */
        if (!run[k].copied && !(from && from->call)) report_run(s, report, o, &run[k], true);
    }
}
