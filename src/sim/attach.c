/* What hangs at a warp or a CTA (attach.h): its end, and what is pushed on. */
#include "sim/attach.h"

void attach_free_warp(struct warp *w)
{
    for (u32 todo = w->has; todo; todo &= todo - 1) {
        u32 row = (u32)__builtin_ctz(todo);
        if (attachments[row]->warp_free)
            attachments[row]->warp_free(w);
        else
            base_free(w->attached[row]);
    }
    w->has = 0;
}

void attach_free_cta(struct cta *c)
{
    for (u32 todo = c->has; todo; todo &= todo - 1) {
        u32 row = (u32)__builtin_ctz(todo);
        if (attachments[row]->cta_free)
            attachments[row]->cta_free(c);
        else
            base_free(c->attached[row]);
    }
    c->has = 0;
}

bool attach_push(struct cta *c)
{
    bool some = false;
    for (u32 todo = c->has; todo; todo &= todo - 1) {
        const struct attachment *a = attachments[__builtin_ctz(todo)];
        some |= a->push && a->push(c);
    }
    return some;
}
