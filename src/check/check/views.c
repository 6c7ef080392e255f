/* The arrays of a launch in findings; views.h says what they are. */
#include "check/views.h"
#include "report/finding.h"
#include "sim/machine.h"
#include <inttypes.h>

u64 view_address(const void *params, const struct launch_view *v)
{
    u64 address;
    memcpy(&address, (const char *)params + v->at, sizeof address);
    return address;
}

u64 view_elements(const struct launch_view *v)
{
    u64 n = 1;
    for (u32 i = 0; i < v->dims; i++) n *= v->extent[i];
    return n;
}

bool view_is_dense(const struct launch_view *v)
{
    u64 next = v->element;
    for (u32 i = v->dims; i-- > 0; next *= v->extent[i])
        if (v->extent[i] != 1 && v->stride[i] != (s64)next) return false;
    return true;
}

void view_text(const struct launch_view *v, struct text *out)
{
    text_add(out, "%s of shape (", v->type);
    for (u32 i = 0; i < v->dims; i++) text_add(out, "%s%" PRIu64, i ? ", " : "", v->extent[i]);
    text_add(out, v->dims == 1 ? ",)" : ")");
    if (view_is_dense(v)) return;
    text_add(out, ", strides (");
    for (u32 i = 0; i < v->dims; i++) text_add(out, "%s%" PRId64, i ? ", " : "", v->stride[i]);
    text_add(out, v->dims == 1 ? ",) bytes" : ") bytes");
}

void views_name(struct mem *m, const struct launch_views *v, const void *params)
{
    for (u32 i = 0; i < v->n; i++) {
        struct mem_object *o = v->view[i].name[0] ? mem_find(m, view_address(params, &v->view[i])) : NULL;
        if (o) mem_call(m, o, v->view[i].name);
    }
}

const struct launch_view *view_of(const struct launch *l, const struct mem_object *o)
{
    const struct launch_views *all = l->in->views;
    const struct launch_view *found = NULL;
    for (u32 i = 0; all && i < all->n; i++) {
        if (view_address(l->param.block, &all->view[i]) - o->base >= o->size) continue;
        if (found) return NULL;
        found = &all->view[i];
    }
    return found;
}

/* "float32[50,40]" where the view is all of the object, one element after the other; "float32[2000]" otherwise. */
static void describe_type(const struct mem_object *o, const struct launch_view *v, bool whole, struct arena *mem,
                          struct finding *f)
{
    struct text t = { 0 };
    if (!v->element || o->size % v->element) return;
    f->element_size = v->element;
    if (whole && v->dims)
        for (u32 i = 0; i < v->dims; i++) text_add(&t, "%s%" PRIu64, i ? "," : "", v->extent[i]);
    else
        text_add(&t, "%" PRIu64, o->size / v->element);
    f->object_type = arena_printf(mem, "%s[%s]", v->type, t.p);
    text_free(&t);
}

void view_describe(const struct launch *l, const struct mem_object *o, struct arena *mem, struct finding *f)
{
    const struct launch_view *v = view_of(l, o);
    if (!v) return;
    bool whole = view_address(l->param.block, v) == o->base && view_is_dense(v) &&
                 view_elements(v) * v->element == o->size;
    if (!o->type) describe_type(o, v, whole, mem, f);
    f->parameter = v->name[0] ? v->name : NULL;
}

void view_note(const struct launch *l, const struct mem_object *o, struct arena *mem, struct finding *f)
{
    const struct launch_view *v = view_of(l, o);
    struct text t = { 0 };
    if (!v) return;
    u64 from = view_address(l->param.block, v) - o->base;
    text_add(&t, f->object_note ? "%s; " : "%s, ", f->object_note ? f->object_note : f->object);
    text_add(&t, "passed as %s%s", v->name, v->name[0] ? ", " : "");
    view_text(v, &t);
    if (from) text_add(&t, ", from byte %" PRIu64 " on", from);
    f->object_note = arena_str(mem, str_of(t.p));
    text_free(&t);
}
