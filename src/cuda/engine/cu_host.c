/* The host's side of a copy: whether as many bytes are there as are asked for (docs/reference/rules.md, A7).
 *
 * Where the memory ends, the driver would read or write all the same, and the program would die inside it: the call
 * fails, with a finding. Where it goes on, but in another block of malloc, another variable, or after the frame of the
 * function, a real copy reads or overwrites these: so does this one, and the finding says it. What cannot be known is
 * not asked for: a block that another allocator made, a piece in the middle of one. */
#include "driver/cu_mem.h"
#include "base/fault.h"
#include "engine/cu_failed.h"
#include "engine/cu_where.h"
#include "report/finding.h"
#include "sites/where.h"
#include <inttypes.h>

struct host_side {
    const char *host;
    bool write;
    u64 width, rows, slices, pitch, slice;
    u64 bytes; /* from the first to after the last */
};

static struct host_side side_of(const lk_end *e, const lk_copy *x, bool write)
{
    struct host_side s = { .host = e->host,
                           .write = write,
                           .width = x->width,
                           .rows = x->rows ? x->rows : 1,
                           .slices = x->slices ? x->slices : 1 };
    s.pitch = e->pitch ? e->pitch : s.width;
    s.slice = e->slice ? e->slice : s.pitch * s.rows;
    return s;
}

/* false: more than an address space. */
static bool side_measure(struct host_side *s)
{
    u64 rows, slices;
    return !__builtin_mul_overflow(s->slices - 1, s->slice, &slices) &&
           !__builtin_mul_overflow(s->rows - 1, s->pitch, &rows) && !__builtin_add_overflow(rows, slices, &rows) &&
           !__builtin_add_overflow(rows, s->width, &s->bytes) && (uintptr_t)s->host + s->bytes >= (uintptr_t)s->host;
}

/* How many bytes are there, rows and the gaps between them; nothing is wanted of a gap. */
static u64 there(const struct host_side *s)
{
    u64 n = pages_there(s->host, s->bytes, s->write);
    if (n == s->bytes || (s->rows == 1 && s->slices == 1)) return n;
    for (u64 k = 0; k < s->slices; k++)
        for (u64 i = 0; i < s->rows; i++) {
            u64 at = k * s->slice + i * s->pitch, row;
            if (at + s->width <= n) continue;
            if ((row = pages_there(s->host + at, s->width, s->write)) < s->width) return at + row;
        }
    return s->bytes;
}

static void asked_text(const struct host_side *s, char *text, size_t size)
{
    int n = snprintf(text, size, "%" PRIu64 " byte%s", s->bytes, plural(s->bytes));
    if (s->rows > 1 || s->slices > 1)
        snprintf(text + n, size - (size_t)n, " (%" PRIu64 " row%s of %" PRIu64 ", %" PRIu64 " apart)",
                 s->rows * s->slices, plural(s->rows * s->slices), s->width, s->pitch);
}

/* `count`: "only", or how else the number of bytes is meant. */
static void found(const struct host_side *s, const char *count, u64 room, const char *why, const char *fix)
{
    char cause[700], asked[120];
    const char *name = cu_where_variable((uintptr_t)s->host);
    asked_text(s, asked, sizeof asked);
    snprintf(cause, sizeof cause, "%s %s %s of memory of the host%s, and %s%s%" PRIu64 " %s there: %s.",
             cu_call_name(cu_call_now()), s->write ? "writes" : "reads", asked, name ? name : "", room ? count : "",
             room ? " " : "", room, room == 1 ? "is" : "are", why);
    struct finding f = { .kind = F_host_short,
                         .cause_key = (uintptr_t)host_site(NULL) + s->write,
                         .call = host_site(NULL),
                         .cause = cause,
                         .fix = fix };
    cu_found(&f);
}

/* As many bytes as the copy has elements: malloc(n) where malloc(n * sizeof(float)) was meant. */
static u64 elements_for_bytes(u64 asked, u64 room)
{
    enum { ROUNDED = 24 }; /* a block of malloc has up to so many bytes more than were asked for */
    for (u64 size = 2; size <= 16; size *= 2)
        if (asked % size == 0 && asked / size <= room && room - asked / size < ROUNDED && room >= 2 * ROUNDED)
            return size;
    return 0;
}

static void goes_beyond(const struct host_side *s, enum where_block what, u64 room)
{
    char why[160], fix[200];
    u64 size = elements_for_bytes(s->bytes, room);
    switch (what) {
    case WHERE_MALLOC:
        snprintf(why, sizeof why, "it is a block of malloc or new with room for %" PRIu64 " bytes", room);
        break;
    case WHERE_FRAME:
        snprintf(why, sizeof why, "the stack frame of the function ends after them, with its return address");
        break;
    default: snprintf(why, sizeof why, "the variable ends after them");
    }
    snprintf(fix, sizeof fix,
             "The block has as many bytes as the copy has elements of %" PRIu64 " bytes: allocate %" PRIu64 " bytes.",
             size, s->bytes);
    found(s, what == WHERE_FRAME ? "at most" : "only", room, why, what == WHERE_MALLOC && size ? fix : NULL);
}

static enum where_block block_at(const struct host_side *s, u64 *room)
{
    struct where_stack stack;
    return where_block(cu_where_stack(&stack) ? &stack : NULL, (uintptr_t)s->host, s->bytes, room);
}

/* What lies in an allocation is not taken for the host's own. */
static bool is_no_allocation(const struct host_side *s)
{
    if (!cu_is_of_device((uintptr_t)s->host)) return false;
    found(s, "only", 0, "the address is one of those of device, pinned and managed memory, and no allocation is there",
          "Pass an address that is inside an allocation, and free it after the copy.");
    cu_reported();
    return true;
}

static cu_result ends_early(const struct host_side *s, u64 room)
{
    struct mapping m;
    u64 block = 0;
    const char *why = s->write ? "the memory behind cannot be written" : "the memory behind cannot be read";
    if (!mapping_at((uintptr_t)s->host + room, &m))
        why = room ? "the memory ends there" : "nothing is mapped at this address";
    else if (fault_program_handles())
        return CU_OK;
    else if (!room)
        why = s->write ? "this memory cannot be written" : "this memory cannot be read";
    enum where_block what = room ? block_at(s, &block) : WHERE_UNKNOWN;
    if (what && block <= room)
        goes_beyond(s, what, block);
    else
        found(s, "only", room, why, NULL);
    cu_reported();
    return CU_INVALID_VALUE;
}

static cu_result side_check(const lk_end *e, const lk_copy *x, bool write)
{
    struct host_side s = side_of(e, x, write);
    u64 room;
    if (!side_measure(&s) || (s.bytes && is_no_allocation(&s))) return CU_INVALID_VALUE;
    if ((room = there(&s)) < s.bytes) return ends_early(&s, room);
    enum where_block what = block_at(&s, &room);
    if (what && room < s.bytes) goes_beyond(&s, what, room);
    return CU_OK;
}

cu_result cu_host_check(const lk_copy *x)
{
    cu_result r = x->to.host ? side_check(&x->to, x, true) : CU_OK;
    return r || !x->from.host ? r : side_check(&x->from, x, false);
}
