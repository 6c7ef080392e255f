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
#endif
