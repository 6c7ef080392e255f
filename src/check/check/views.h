/* views.h: the arrays that a client passes to a launch, as it has them.
 *
 * A kernel gets addresses. Clients such as Numba and CuPy know more of each: the name of the parameter, the type of its
 * elements, its shape and how far apart neighbours lie. engine/cu_python.c learns it from the client, and the launch
 * takes it along: findings name elements by their indices, and bytes that are of no element of what was passed are seen
 * (check/view_check.c). */
#ifndef LOCKSTEP_VIEWS_H
#define LOCKSTEP_VIEWS_H
#include "mem/mem.h"

enum { VIEW_DIMS = 8 };

struct launch_view { /* one array */
    u32 at;          /* where its address is in the parameter block */
    u32 element;     /* bytes of an element */
    u32 dims;
    bool alone; /* the kernel is given the address, and nothing else of it */
    u64 extent[VIEW_DIMS];
    s64 stride[VIEW_DIMS]; /* in bytes */
    const char *name;      /* of the parameter; "": not known */
    const char *type;      /* of an element, as the client calls it: "float32" */
};
struct launch_views { /* never changed, and never freed: many launches share one */
    u32 n;
    struct launch_view view[];
};

struct launch;
struct finding;

/* The address that is in the parameters. */
u64 view_address(const void *params, const struct launch_view *v);
u64 view_elements(const struct launch_view *v);
/* Its elements lie one after the other in the order of their indices. */
bool view_is_dense(const struct launch_view *v);
/* "float32 of shape (50, 40)", and its strides where it is not dense. */
void view_text(const struct launch_view *v, struct text *out);
/* Objects that the host gave no name are called by the parameter that they are passed as first. */
void views_name(struct mem *m, const struct launch_views *v, const void *params);
/* The view of an object that a launch was given; NULL: none, or several. */
const struct launch_view *view_of(const struct launch *l, const struct mem_object *o);
/* What a view says of the object of a finding: the parameter, the type and the dimensions, before anything is said of
 * elements; and its note, after what that has already. */
void view_describe(const struct launch *l, const struct mem_object *o, struct arena *mem, struct finding *f);
void view_note(const struct launch *l, const struct mem_object *o, struct arena *mem, struct finding *f);
#endif
