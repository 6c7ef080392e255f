/* Handles of libraries: they are in the driver's table (cu_handle.c), so that one that another thread destroys stays
 * until the call that uses it has returned. What the program has not destroyed when it ends is told as its streams are.
 */
#include "libraries/library.h"
#include "device/dev.h"

static const char *const made_by[] = { [HANDLE_BLAS] = "cublasCreate",
                                       [HANDLE_LT] = "cublasLtCreate",
                                       [HANDLE_RANDOM] = "curandCreateGenerator",
                                       [HANDLE_FFT] = "cufftCreate" };
static const char *const called[] = { [HANDLE_BLAS] = "cuBLAS handle",
                                      [HANDLE_LT] = "cuBLASLt handle",
                                      [HANDLE_RANDOM] = "cuRAND generator",
                                      [HANDLE_FFT] = "cuFFT plan" };

void *library_handle_new(struct library_call *c, enum library_handle_kind kind, size_t bytes)
{
    if (!library_ready()) return NULL;
    struct library_handle *h = cu_handle_new(CU_OF_LIBRARY, bytes);
    if (!h) return NULL;
    h->kind = kind;
    h->site = c->site;
    return h;
}

void *library_handle_open(void *handle) { return cu_handle_open(handle); }

void *library_handle(struct library_call *c, enum library_handle_kind kind)
{
    struct library_handle *h = c->a.handle;
    if (cu_handle_is(h, CU_OF_LIBRARY) && h->kind == kind) return h;
    char fix[200];
    snprintf(fix, sizeof fix, "Call %s first, look at its status, and destroy what it made last.", made_by[kind]);
    library_wrong(c, fix, "%s is called with %s.", c->name,
                  h ? "a handle that was destroyed, or that another function made" : "NULL in place of a handle");
    return NULL;
}

s64 library_handle_end(struct library_call *c, enum library_handle_kind kind)
{
    if (!library_handle(c, kind)) return c->codes->unready;
    if (cu_handle_take(c->a.handle, CU_OF_LIBRARY)) cu_handle_drop(c->a.handle, NULL);
    return 0;
}

/* ---- leaks ---- */

struct kept_stream { /* made at one place */
    enum library_handle_kind kind;
    const char *site;
    u32 count;
};
struct kept_list {
    struct kept_stream at[64];
    u32 n;
};

static bool kept_count(void *handle, void *self)
{
    const struct library_handle *h = handle;
    struct kept_list *l = self;
    u32 k = 0;
    while (k < l->n && (l->at[k].kind != h->kind || l->at[k].site != h->site)) k++;
    if (k == COUNT_OF(l->at)) return false;
    if (k == l->n) l->at[l->n++] = (struct kept_stream){ h->kind, h->site, 0 };
    l->at[k].count++;
    return false;
}

void library_leaks(struct device *d)
{
    struct kept_list l = { .n = 0 };
    cu_handle_find(CU_OF_LIBRARY, kept_count, &l);
    for (u32 k = 0; k < l.n; k++) dev_leaks_handles(d, called[l.at[k].kind], l.at[k].site, l.at[k].count);
}
