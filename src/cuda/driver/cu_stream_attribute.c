/* Attributes of streams: wishes about caches, waiting and scheduling, which are kept and told again. */
#include "driver/cu_stream.h"

enum { /* CUstreamAttrID is CUlaunchAttributeID */
       STREAM_WINDOW = 1,
       STREAM_SYNC_POLICY = 3,
       STREAM_PRIORITY = 8,
       STREAM_DOMAIN_MAP = 9,
       STREAM_DOMAIN = 10
};
static const u32 known[] = { STREAM_WINDOW, STREAM_SYNC_POLICY, STREAM_PRIORITY, STREAM_DOMAIN_MAP, STREAM_DOMAIN };
struct cu_stream_attributes {
    union cu_launch_value value[COUNT_OF(known)]; /* as in `known` */
};

/* Of streams that nobody has made: the legacy one, and those of threads. */
static struct cu_stream_attributes defaults[2];

static int index_of(u32 which)
{
    for (u32 i = 0; i < COUNT_OF(known); i++)
        if (known[i] == which) return (int)i;
    return -1;
}

/* The attributes of a stream, made when they are needed first. */
static cu_result enter(void *handle, struct cu_stream_attributes **out, struct cu_stream **of)
{
    struct cu_context *c;
    lk_stream *st;
    struct cu_stream *s = handle;
    cu_result r = cu_current_for(handle, &c);
    if (r || (r = cu_stream_of(c, handle, &st))) return r;
    *of = cu_handle_is(s, CU_STREAM) ? s : NULL;
    if (!*of) {
        *out = &defaults[handle ? (uintptr_t)handle == 2 : cu_call_per_thread()];
        return CU_OK;
    }
    struct cu_stream_attributes *a = __atomic_load_n(&s->attributes, __ATOMIC_ACQUIRE), *none = NULL;
    struct cu_stream_attributes *made = a ? NULL : base_alloc(sizeof *made);
    if (!a && !made) return CU_OUT_OF_MEMORY;
    if (made && !__atomic_compare_exchange_n(&s->attributes, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        base_free(made); /* another thread was faster: `none` is what it made */
    *out = a ? a : none ? none : made;
    return CU_OK;
}

CU_API(cuStreamGetAttribute)(void *handle, u32 which, union cu_launch_value *out)
{
    struct cu_stream_attributes *a;
    struct cu_stream *s;
    cu_result r = enter(handle, &a, &s);
    int i = index_of(which);
    if (r) return r;
    if (i < 0 || !cu_ok(out)) return CU_INVALID_VALUE;
    *out = a->value[i];
    if (which == STREAM_PRIORITY) out->number = s ? s->priority : 0;
    if (which == STREAM_SYNC_POLICY && !out->number) out->number = 1;                  /* CU_SYNC_POLICY_AUTO */
    if (which == STREAM_DOMAIN_MAP) out->bytes[1] = out->bytes[1] ? out->bytes[1] : 1; /* { 0, 1 } */
    return CU_OK;
}

CU_API(cuStreamSetAttribute)(void *handle, u32 which, const union cu_launch_value *value)
{
    struct cu_stream_attributes *a;
    struct cu_stream *s;
    cu_result r = enter(handle, &a, &s);
    int i = index_of(which);
    if (r) return r;
    if (i < 0 || !cu_ok(value)) return CU_INVALID_VALUE;
    a->value[i] = *value;
    if (which == STREAM_PRIORITY && s) s->priority = MIN_OF(MAX_OF(value->number, -5), 0);
    return CU_OK;
}

CU_API(cuStreamCopyAttributes)(void *to, void *from)
{
    struct cu_stream_attributes *a, *b;
    struct cu_stream *s, *t;
    cu_result r = enter(to, &a, &s);
    if (r || (r = enter(from, &b, &t))) return r;
    *a = *b;
    if (s) s->priority = t ? t->priority : 0;
    return CU_OK;
}
