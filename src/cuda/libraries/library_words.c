/* Findings about calls of libraries: what an argument says, and memory that an operand reaches. */
#include "driver/cu_engine.h"
#include "libraries/library.h"
#include "mem/mem_finding.h"
#include "report/finding.h"
#include <inttypes.h>

enum { TEXT = 700 };

s64 library_wrong(const struct library_call *c, const char *fix, const char *format, ...)
{
    char cause[TEXT];
    va_list a;
    va_start(a, format);
    vsnprintf(cause, sizeof cause, format, a);
    va_end(a);
    struct finding f = { .kind = F_library_argument, .cause = cause, .fix = fix, .call = c->site };
    f.cause_key = str_hash(str_of(cause)) * 31 + str_hash(str_of(c->site ? c->site : ""));
    cu_engine->cu_found(&f);
    return c->codes->invalid;
}

static u64 end_of(const struct library_operand *p)
{
    return p->at + (p->slices - 1) * p->slice + (p->rows - 1) * p->pitch + p->width;
}

/* "64 columns of 256 bytes, 260 bytes apart". */
static void extent_text(const struct library_operand *p, char *out, size_t size)
{
    int n = 0;
    if (p->slices > 1) n = snprintf(out, size, "%" PRIu64 " times ", p->slices);
    if (p->rows > 1)
        snprintf(out + n, size - (size_t)n, "%" PRIu64 " columns of %" PRIu64 " bytes, %" PRIu64 " bytes apart",
                 p->rows, p->width, p->pitch);
    else
        snprintf(out + n, size - (size_t)n, "%" PRIu64 " bytes", p->width);
}

void library_memory_found(const struct library_call *c, const struct library_operand *p, const struct mem_object *o,
                          bool running)
{
    char cause[TEXT], extent[200], note[300];
    const char *fix = NULL, *verb = p->direction == READS ? "reads" : p->direction == WRITES ? "writes" : "uses";
    struct finding f = { .kind = F_library_memory, .call = c->site };
    char named[300] = ""; /* the object, where the parameter has another name */
    extent_text(p, extent, sizeof extent);
    if (o && strcmp(o->name, p->name)) snprintf(named, sizeof named, " (%s)", o->name);
    if (!o) {
        bool host = bytes_readable((const void *)(uintptr_t)p->at, 1);
        snprintf(cause, sizeof cause, "%s %s %s, which is %s.", c->name, verb, p->name,
                 host     ? "memory of the host: malloc, new or a variable"
                 : !p->at ? "NULL"
                          : "no memory of the device");
        fix = host ? "Pass memory of cudaMalloc, and copy what the host has into it first."
                   : "Pass the address that cudaMalloc gave.";
    } else if (o->state == MEM_FREED) {
        snprintf(cause, sizeof cause, "%s %s %s%s, which was freed before%s.", c->name, verb, p->name, named,
                 running ? " this operation runs" : "");
        fix = "Free it after the last operation that uses it, in the order of their stream.";
    } else if (o->state == MEM_RESERVED) {
        snprintf(cause, sizeof cause, "%s %s %s%s, whose allocation is not before it in the order of streams.", c->name,
                 verb, p->name, named);
        fix = "Let the stream wait for an event that is recorded after the allocation.";
    } else {
        snprintf(cause, sizeof cause,
                 "%s %s %s: %s, which end %" PRIu64 " bytes after its address, and %s has %" PRIu64
                 " bytes from there on.",
                 c->name, verb, p->name, extent, end_of(p) - p->at, o->name, o->base + o->size - p->at);
        fix =
            "Compare the sizes, the leading dimension and the stride with what was allocated; they count elements, and "
            "matrices are stored by columns.";
    }
    if (o) {
        snprintf(note, sizeof note, "%s, %" PRIu64 " bytes%s%s%s%s", o->name, o->size,
                 o->alloc_site ? ", allocated at " : "", o->alloc_site ? o->alloc_site : "",
                 o->state == MEM_FREED && o->free_site ? ", freed at " : "",
                 o->state == MEM_FREED && o->free_site ? o->free_site : "");
        f.object_note = note;
        finding_object(&f, o);
    }
    f.cause = cause;
    f.fix = fix;
    f.cause_key = str_hash(str_of(p->name)) * 31 + str_hash(str_of(c->site ? c->site : c->name)) +
                  (o ? o->state + 1 : 0);
    cu_engine->cu_found(&f);
}
