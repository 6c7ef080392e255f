/* Frames of mono: C# and the other languages of .NET. They are asked for by mono's public embedding interface, whose
 * functions the program exports; no header of it is needed. Lines are known under `mono --debug` for an assembly that
 * was compiled with -debug; a method is known always. The runtime of .NET itself has no such interface. */
#include "sites/where.h"

struct location { /* MonoDebugSourceLocation */
    char *file;
    u32 row, column, il_offset;
};
typedef int (*frame_call)(void *method, s32 native_offset, s32 il_offset, int managed, void *data);
static struct {
    bool there; /* all of them were found */
    void (*walk)(frame_call, void *), (*location_free)(struct location *);
    void *(*domain)(void), *(*class_of)(void *), *(*image)(void *);
    const char *(*method)(void *), *(*class_name)(void *), *(*file)(void *);
    struct location *(*location)(void *, u32, void *);
} mono;

bool where_mono_look(void)
{
    if (mono.there) return true;
    return mono.there = where_symbol("mono_stack_walk", &mono.walk) &&
                        where_symbol("mono_debug_free_source_location", &mono.location_free) &&
                        where_symbol("mono_domain_get", &mono.domain) &&
                        where_symbol("mono_method_get_class", &mono.class_of) &&
                        where_symbol("mono_class_get_image", &mono.image) &&
                        where_symbol("mono_method_get_name", &mono.method) &&
                        where_symbol("mono_class_get_name", &mono.class_name) &&
                        where_symbol("mono_image_get_filename", &mono.file) &&
                        where_symbol("mono_debug_lookup_source_location", &mono.location);
}

/* An assembly of mono itself, the core library for instance. */
static bool is_runtime(const char *file) { return strstr(file, "/lib/mono/") || strstr(file, "/mono/gac/"); }

/* One frame; those of mono's wrappers, which are not managed, are nobody's code. */
static int frame_take(void *method, s32 native_offset, s32 il_offset, int managed, void *data)
{
    struct where_stack *s = data;
    char function[200];
    (void)il_offset;
    if (!managed || !method) return 0;
    void *class = mono.class_of(method), *image = class ? mono.image(class) : NULL;
    const char *assembly = image ? mono.file(image) : NULL;
    if (!assembly || is_runtime(assembly)) return 0;
    snprintf(function, sizeof function, "%s.%s", mono.class_name(class), mono.method(method));
    struct location *at = mono.location(method, (u32)native_offset, mono.domain());
    u64 place = at && at->file ? where_line(at->file, function, at->row) : where_line(assembly, function, 0);
    if (at) mono.location_free(at);
    if (place) s->address[s->n++] = place;
    return s->n == WHERE_FRAMES;
}

bool where_mono(struct where_stack *s)
{
    if (!mono.there || !mono.domain()) return false; /* a thread that mono does not know */
    mono.walk(frame_take, s);
    return s->n;
}
