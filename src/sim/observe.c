/* Hands events to the observers of a launch. */
#include "sim/observe.h"

void observe_access(const struct launch *l, const struct access *a)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->access) o->access(o->self, a);
}

void observe_sync(const struct launch *l, struct sync_event e)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->sync) o->sync(o->self, &e);
}

void observe_launch(const struct launch *l, bool begin)
{
    for (const struct observer *o = l->in->observers; o; o = o->next) {
        void (*f)(void *, const struct launch *) = begin ? o->begin : o->end;
        if (f) f(o->self, l);
    }
}
