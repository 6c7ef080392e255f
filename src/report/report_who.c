/* Who and what, in words: a set of threads as ranges, an access as a sentence with its arithmetic. */
#include "report/entry.h"
#include <inttypes.h>

static u32 step_join(u32 step, u32 apart)
{
    while (apart) {
        u32 t = step % apart;
        step = apart;
        apart = t;
    }
    return step;
}

static void box_add(struct box *b, const u32 at[3])
{
    for (int i = 0; i < 3; i++) {
        if (!b->count) {
            b->min[i] = b->max[i] = at[i];
            continue;
        }
        u32 apart = at[i] > b->min[i] ? at[i] - b->min[i] : b->min[i] - at[i];
        b->step[i] = apart ? step_join(b->step[i], apart) : b->step[i];
        b->min[i] = MIN_OF(b->min[i], at[i]);
        b->max[i] = MAX_OF(b->max[i], at[i]);
    }
    b->count++;
}

bool box_exact(const struct box *b)
{
    u64 n = 1;
    for (int i = 0; i < 3; i++)
        n *= b->step[i] ? (b->max[i] - b->min[i]) / b->step[i] + 1 : 1;
    return n == b->count;
}

static void unfold(u64 linear, const u32 shape[3], u32 at[3])
{
    at[0] = (u32)(linear % shape[0]);
    at[1] = (u32)(linear / shape[0] % shape[1]);
    at[2] = (u32)(linear / shape[0] / shape[1]);
}

/* 64 bits of the set from bit `at`; pieces are multiples of 64 bits, so a word comes from at most two of them. */
static u64 bits_at(const struct thread_set *s, u64 at)
{
    u64 word = 0;
    for (int k = 0; k < 2; k++) {
        u64 a = (at & ~63ull) + (u64)k * 64, shift = at & 63;
        const u64 *p = a < SET_MOST ? s->piece[a / SET_PIECE] : NULL;
        u64 w = p ? p[a % SET_PIECE / 64] : 0;
        word |= k ? (shift ? w << (64 - shift) : 0) : w >> shift;
    }
    return word;
}

static void cta_bits(const struct thread_set *s, u64 cta, u64 bits[SET_CTA_MOST / 64])
{
    for (u64 i = 0; i < s->threads; i += 64) {
        u64 w = bits_at(s, cta * s->threads + i), left = s->threads - i;
        bits[i / 64] = left < 64 ? w & ((1ull << left) - 1) : w;
    }
}

/* No thread of this CTA can be in the set: the pieces that would hold it were never made. */
static bool piece_missing(const struct thread_set *s, u64 cta)
{
    u64 a = cta * s->threads, b = a + s->threads - 1;
    return !s->piece[a / SET_PIECE] && (b / SET_PIECE >= SET_PIECES || !s->piece[b / SET_PIECE]);
}

bool who_sum(const struct thread_set *s, struct crowd *c)
{
    *c = (struct crowd){ .same = true, .consecutive = true };
    if (!s->piece || !s->threads)
        return false;
    u64 first[SET_CTA_MOST / 64] = { 0 }, bits[SET_CTA_MOST / 64] = { 0 }, expect = 0;
    for (u64 cta = 0; cta < s->ctas && cta * s->threads < SET_MOST; cta++) {
        if (piece_missing(s, cta))
            continue;
        cta_bits(s, cta, bits);
        u32 at[3], in_cta = 0;
        unfold(cta, s->nctaid, at);
        for (u64 i = 0; i < s->threads; i += 64)
            for (u64 w = bits[i / 64]; w; w &= w - 1) {
                u64 t = i + (u64)__builtin_ctzll(w);
                u32 thread[3];
                unfold(t, s->ntid, thread);
                if (!c->total) {
                    memcpy(c->first_cta, at, sizeof at);
                    memcpy(c->first_thread, thread, sizeof thread);
                } else if (cta * s->threads + t != expect) {
                    c->consecutive = false;
                }
                expect = cta * s->threads + t + 1;
                memcpy(c->last_cta, at, sizeof at);
                memcpy(c->last_thread, thread, sizeof thread);
                c->total++;
                in_cta++;
                if (!c->ctas.count)
                    box_add(&c->threads, thread);
            }
        if (!in_cta)
            continue;
        if (!c->ctas.count)
            memcpy(first, bits, sizeof first);
        else if (memcmp(first, bits, sizeof first))
            c->same = false;
        box_add(&c->ctas, at);
    }
    return c->total;
}

/* How many coordinates a launch of this shape needs: "31" for a line, "(3,1)" for a plane. */
static int axes(const u32 shape[3])
{
    return shape[2] > 1 ? 3 : shape[1] > 1 ? 2 : 1;
}

static void box_text(const struct box *b, const u32 shape[3], struct text *out)
{
    int n = axes(shape);
    text_add(out, n > 1 ? "(" : "");
    for (int i = 0; i < n; i++) {
        if (i)
            text_add(out, ",");
        text_add(out, "%u", b->min[i]);
        if (b->max[i] > b->min[i])
            text_add(out, "..%u", b->max[i]);
        if (b->step[i] > 1)
            text_add(out, " step %u", b->step[i]);
    }
    text_add(out, n > 1 ? ")" : "");
}

static void point_text(const u32 p[3], const u32 shape[3], struct text *out)
{
    box_text(&(struct box){ .min = { p[0], p[1], p[2] }, .max = { p[0], p[1], p[2] } }, shape, out);
}

/* The threads of one CTA. */
static void threads_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    u64 n = c->threads.count;
    if (n == s->threads && n > 1) {
        text_add(out, "all %" PRIu64 " threads", n);
    } else if (n == 2 && axes(s->ntid) == 1 && c->threads.step[0] > 1) {
        text_add(out, "threads %u and %u", c->threads.min[0], c->threads.max[0]);
    } else if (box_exact(&c->threads)) {
        text_add(out, n == 1 ? "thread " : "threads ");
        box_text(&c->threads, s->ntid, out);
    } else {
        text_add(out, "%" PRIu64 " threads within ", n);
        box_text(&c->threads, s->ntid, out);
    }
}

static void ctas_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    if (c->ctas.count == 1) {
        text_add(out, "CTA ");
        point_text(c->first_cta, s->nctaid, out);
    } else if (c->ctas.count == s->ctas && !s->partial) {
        text_add(out, "every CTA");
    } else if (box_exact(&c->ctas)) {
        text_add(out, "CTAs ");
        box_text(&c->ctas, s->nctaid, out);
    } else {
        text_add(out, "%" PRIu64 " CTAs within ", c->ctas.count);
        box_text(&c->ctas, s->nctaid, out);
    }
}

static void spread_text(const struct thread_set *s, const struct crowd *c, struct text *out)
{
    text_add(out, "%" PRIu64 " %sthreads in %" PRIu64 " CTAs, from ", c->total, c->consecutive ? "consecutive " : "", c->ctas.count);
    point_text(c->first_thread, s->ntid, out);
    text_add(out, " of CTA ");
    point_text(c->first_cta, s->nctaid, out);
    text_add(out, " to ");
    point_text(c->last_thread, s->ntid, out);
    text_add(out, " of CTA ");
    point_text(c->last_cta, s->nctaid, out);
}

void who_text(const struct entry *e, struct text *out)
{
    const struct thread_set *s = &e->who;
    struct crowd c;
    if (!who_sum(s, &c)) {
        if (!e->f.nlanes)
            return;
        text_add(out, "thread %u of CTA (%u,%u,%u)", e->f.thread[e->first_lane], e->f.cta[0], e->f.cta[1], e->f.cta[2]);
    } else if (c.same) {
        threads_text(s, &c, out);
        text_add(out, " of ");
        ctas_text(s, &c, out);
        bool plain = c.threads.count == 1 || c.threads.count == s->threads;     /* how many they are has been said */
        if (c.ctas.count > 1 && plain)
            text_add(out, " (%" PRIu64 " CTAs)", c.ctas.count);
        else if (c.ctas.count > 1)
            text_add(out, " (%" PRIu64 " threads in each of %" PRIu64 " CTAs)", c.threads.count, c.ctas.count);
        else if (c.total > 2 && c.total < s->threads && box_exact(&c.threads))
            text_add(out, " (%" PRIu64 " threads)", c.total);
    } else {
        spread_text(s, &c, out);
    }
    if (s->partial)
        text_add(out, ", and more in other launches or beyond what is counted exactly");
}

u64 entry_address(const struct entry *e)
{
    return e->f.addr[e->first_lane];
}

/* "ld.global.f32" from "@%p1 ld.global.f32 %f1, [%rd1];" */
static struct str opcode_of(const char *ptx)
{
    struct str s = { NULL, 0 };
    for (const char *p = ptx; p && *p; ) {
        while (*p == ' ' || *p == '\t')
            p++;
        const char *q = p;
        while (*q && *q != ' ' && *q != '\t' && *q != ';')
            q++;
        if (*p != '@' && *p != '{')
            return (struct str){ p, (u32)(q - p) };
        p = q;
    }
    return s;
}

static void past_text(const struct finding *f, s64 off, struct text *out)
{
    u64 size = f->object_size;
    if (off < 0)
        text_add(out, ", %" PRIu64 " byte%s before the start", 0 - (u64)off, off == -1 ? "" : "s");
    else if ((u64)off == size)
        text_add(out, ", just past the end");
    else if ((u64)off > size)
        text_add(out, ", %" PRIu64 " byte%s past the end", (u64)off - size, (u64)off - size == 1 ? "" : "s");
    else if ((u64)off + f->width > size)
        text_add(out, ", its last %" PRIu64 " byte%s past the end", (u64)off + f->width - size,
                 (u64)off + f->width - size == 1 ? "" : "s");
}

static s64 floor_div(s64 a, s64 b)
{
    return a / b - (a % b < 0);
}

/* The dimensions in "f32[8,130]" or "f32[8][130]"; 0: none are written. */
static u32 dimensions(const char *type, u64 dim[8])
{
    u32 n = 0;
    for (const char *p = type ? strchr(type, '[') : NULL; p && *p && n < 8;) {
        u64 d = 0;
        for (p++; *p >= '0' && *p <= '9'; p++)
            d = d * 10 + (u64)(*p - '0');
        dim[n++] = d;
        if (*p == ']')
            p++;
        if (*p != '[' && *p != ',')
            break;
    }
    return n;
}

/* "[1040]", or by row and column "[8,0]": all but the first are kept within their dimension. */
static void element_text(const struct finding *f, s64 linear, struct text *out)
{
    u64 dim[8];
    u32 n = dimensions(f->object_type, dim);
    s64 at[8];
    for (u32 i = n; i-- > 1;) {
        if (!dim[i] || dim[i] > INT64_MAX) {
            n = 0;
            break;
        }
        s64 up = floor_div(linear, (s64)dim[i]);
        at[i] = linear - up * (s64)dim[i];
        linear = up;
    }
    text_add(out, "[%" PRId64, linear);
    for (u32 i = 1; i < n; i++)
        text_add(out, ",%" PRId64, at[i]);
    text_add(out, "]");
}

static void where_text(const struct finding *f, u64 addr, struct text *out)
{
    if (!f->object) {
        text_add(out, "0x%" PRIx64, addr);
        return;
    }
    s64 off = (s64)(addr - f->object_base);
    text_add(out, "%s%c0x%" PRIx64, f->object, off < 0 ? '-' : '+', off < 0 ? 0 - (u64)off : (u64)off);
    if (f->element_size) {
        s64 at = floor_div(off, f->element_size), rest = off - at * f->element_size;
        text_add(out, rest ? ", inside element " : ", element ");
        element_text(f, at, out);
        if (f->object_type)
            text_add(out, " of %s", f->object_type);
    } else {
        text_add(out, " (%s%s%" PRIu64 " bytes)", f->object_type ? f->object_type : "", f->object_type ? ", " : "", f->object_size);
    }
    past_text(f, off, out);
}

void what_text(const struct entry *e, struct text *out)
{
    const struct finding *f = &e->f;
    if (!f->access)
        return;
    struct str op = opcode_of(f->place ? f->place->ptx_text : NULL);
    if (op.n)
        text_put(out, op.p, op.n);
    else
        text_add(out, "the kernel");
    const char *verb = !strcmp(f->access, "read") ? "reads" : !strcmp(f->access, "write") ? "writes" : "updates";
    text_add(out, " %s %u byte%s at ", verb, f->width, f->width == 1 ? "" : "s");
    u64 addr = entry_address(e);
    where_text(f, addr, out);
    if (f->neighbour)
        text_add(out, ", and lands in %s", f->neighbour);
    if (f->kind == F_misaligned && f->width && addr % f->width)
        text_add(out, "; the address is %" PRIu64 " past a multiple of %u", addr % f->width, f->width);
}

void filled_text(const struct entry *e, const char *sentence, struct text *out)
{
    for (const char *p = sentence, *hole; *p; p = hole + 5) {
        hole = strstr(p, "{end}");
        if (!hole) {
            text_add(out, "%s", p);
            return;
        }
        text_put(out, p, (size_t)(hole - p));
        text_add(out, "%" PRId64, e->high + (s64)e->f.width);
    }
}

/* Two ends of a range of elements: "[1000..1023]", and with more dimensions "[8,0] to [8,7]". */
static void ends_text(const struct finding *f, s64 low, s64 high, bool pair, struct text *out)
{
    u64 dim[8];
    if (!pair && dimensions(f->object_type, dim) < 2) {
        text_add(out, "elements [%" PRId64 "..%" PRId64 "]", low, high);
        return;
    }
    text_add(out, "elements ");
    element_text(f, low, out);
    text_add(out, pair ? " and " : " to ");
    element_text(f, high, out);
}

void elements_text(const struct entry *e, struct text *out)
{
    const struct finding *f = &e->f;
    if (!e->has_range || e->low == e->high)
        return;
    u32 es = f->object ? f->element_size : 0;
    bool pair = e->step == (u64)e->high - (u64)e->low;
    if (es) {
        s64 low = floor_div(e->low, es), high = floor_div(e->high, es);
        ends_text(f, low, high, pair && high > low + 1, out);
        if (e->step % es)
            text_add(out, ", addresses %s%" PRIu64 " bytes apart", pair ? "" : "a multiple of ", e->step);
        else if (e->step > es && !pair)
            text_add(out, " in steps of %" PRIu64, e->step / es);
    } else if (f->object) {
        text_add(out, "offsets %" PRId64 "..%" PRId64 " in steps of %" PRIu64 " bytes", e->low, e->high, e->step);
    } else {
        text_add(out, "addresses 0x%" PRIx64 "..0x%" PRIx64 " in steps of %" PRIu64 " bytes", (u64)e->low, (u64)e->high, e->step);
    }
}
