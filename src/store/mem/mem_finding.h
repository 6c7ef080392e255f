/* mem_finding.h: the object that a finding speaks of. */
#ifndef LOCKSTEP_MEM_FINDING_H
#define LOCKSTEP_MEM_FINDING_H
#include "mem/mem.h"
#include "report/finding.h"

/* Names the object in the finding, with its type and where it lies. */
static inline void finding_object(struct finding *f, const struct mem_object *o)
{
    f->object = o->name;
    f->object_type = o->type;
    f->object_base = o->base;
    f->object_size = o->size;
    f->element_size = o->element_size;
}
/* Where it was allocated, as its note, if that is known; the text is the caller's. */
static inline void finding_allocated(struct finding *f, const struct mem_object *o, char *text, size_t size)
{
    if (!o->alloc_site) return;
    snprintf(text, size, "%s, %llu bytes, was allocated at %s", o->name, (unsigned long long)o->size, o->alloc_site);
    f->object_note = text;
}
#endif
