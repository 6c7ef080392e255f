/* What nvcc's code registers before main: images, and the host functions and variables that stand for kernels and
 * variables in them. Nothing is loaded before it is used. */
#include "runtime/rt_check.h"
#include "driver/cu_reason.h"
#include "runtime/rt.h"
#include "mem/host_pointer.h"

struct rt_fatbin { /* what __cudaRegisterFatBinary gave out */
    const void *wrapper;
    struct cu_image *library; /* NULL: not loaded yet */
    cu_result status;         /* why it could not be loaded */
    struct cu_why *why;       /* the same in words; NULL: nothing is known, or there is a finding */
    struct rt_managed *managed;
    struct rt_fatbin *next; /* of all */
};
struct rt_function { /* a host function that stands for a kernel */
    struct rt_fatbin *of;
    const char *name;         /* of the kernel */
    struct cu_function *made; /* NULL: not asked for yet */
    const void *host;         /* the host function */
    struct rt_function *next; /* of all */
};
struct rt_variable {
    struct rt_fatbin *of;
    const char *name;
    u64 bytes;
};
struct rt_managed { /* a pointer of the host that holds the address of a variable */
    void **pointer;
    const char *name;
    struct rt_managed *next;
};

static struct {
    lock_t lock;
    struct arena mem;
    struct map functions, variables; /* by the address in the host program */
    struct rt_function *first;       /* all functions, the newest first */
    struct rt_fatbin *fatbins;       /* all of them, the newest first */
} all = { .lock = LOCK_INIT };

/* The address as a key that the map can keep. */
static struct str key_of(const void *const *p) { return (struct str){ (const char *)p, sizeof *p }; }
static void put(struct map *m, const void *host, void *value)
{
    const void **kept = NEW(&all.mem, const void *);
    *kept = host;
    map_put(&all.mem, m, key_of(kept), value);
}

/* ---- registering ---- */

__attribute__((visibility("default"))) void **lkrt___cudaRegisterFatBinary(void *wrapper);
void **lkrt___cudaRegisterFatBinary(void *wrapper)
{
    struct rt_fatbin *f = base_need(sizeof *f);
    *f = (struct rt_fatbin){ .wrapper = wrapper };
    if (!cu_ok((const u64 *)wrapper) || !cu_handle_add(f, CU_FATBIN)) f->status = CU_INVALID_IMAGE;
    lock(&all.lock);
    f->next = all.fatbins;
    all.fatbins = f;
    unlock(&all.lock);
    return (void **)f;
}

__attribute__((visibility("default"))) void lkrt___cudaRegisterFatBinaryEnd(void **handle);
void lkrt___cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

__attribute__((visibility("default"))) void lkrt___cudaUnregisterFatBinary(void **handle);
void lkrt___cudaUnregisterFatBinary(void **handle)
{
    struct rt_fatbin *f = (struct rt_fatbin *)handle;
    if (!cu_handle_is(f, CU_FATBIN)) return;
    if (f->library) lkcu_cuLibraryUnload(f->library); /* its functions and variables may still be asked for */
    f->library = NULL;
}

__attribute__((visibility("default"))) void lkrt___cudaRegisterFunction(void **handle, const char *host, char *device,
                                                                        const char *name, int limit, void *tid,
                                                                        void *bid, void *block, void *grid, int *warp);
void lkrt___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                                 void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    lock(&all.lock);
    struct rt_function *f = NEW(&all.mem, struct rt_function);
    *f = (struct rt_function){ .of = (struct rt_fatbin *)handle, .name = name, .host = host, .next = all.first };
    all.first = f;
    put(&all.functions, host, f);
    unlock(&all.lock);
}

__attribute__((visibility("default"))) void lkrt___cudaRegisterVar(void **handle, char *host, char *device,
                                                                   const char *name, int external, u64 bytes,
                                                                   int constant, int global);
void lkrt___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, u64 bytes,
                            int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    if (cu_handle_is(handle, CU_FATBIN) && bytes) host_shadow_add((uintptr_t)host, bytes, name);
    lock(&all.lock);
    struct rt_variable *v = NEW(&all.mem, struct rt_variable);
    *v = (struct rt_variable){ (struct rt_fatbin *)handle, name, bytes };
    put(&all.variables, host, v);
    unlock(&all.lock);
}

__attribute__((visibility("default"))) void lkrt___cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                                                                          const char *name, int external, u64 bytes,
                                                                          int constant, int global);
void lkrt___cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int external,
                                   u64 bytes, int constant, int global)
{
    struct rt_fatbin *f = (struct rt_fatbin *)handle;
    if (!cu_handle_is(f, CU_FATBIN)) return;
    lkrt___cudaRegisterVar(handle, (char *)pointer, device, name, external, bytes, constant, global);
    lock(&all.lock);
    struct rt_managed *m = NEW(&all.mem, struct rt_managed);
    *m = (struct rt_managed){ pointer, name, f->managed };
    f->managed = m;
    unlock(&all.lock);
}

/* Variables and functions of the host that device code may use where both share one memory: nothing to do, since a
 * kernel that reaches one is told so. */
__attribute__((visibility("default"))) void lkrt___cudaRegisterHostVar(void **handle, const char *name, char *host,
                                                                       u64 bytes);
void lkrt___cudaRegisterHostVar(void **handle, const char *name, char *host, u64 bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}
__attribute__((visibility("default"))) void lkrt___cudaRegisterUnifiedTable(void **handle, void *table);
void lkrt___cudaRegisterUnifiedTable(void **handle, void *table) { (void)handle, (void)table; }

/* ---- using ---- */

static cu_result load(struct rt_fatbin *f)
{
    cu_result r = cu_handle_is(f, CU_FATBIN) ? rt_enter(NULL) : CU_INVALID_IMAGE;
    if (r || __atomic_load_n(&f->library, __ATOMIC_ACQUIRE)) return r;
    lock(&all.lock);
    struct cu_image *made = f->library;
    if (!made && !f->status) {
        f->status = cu_library_load(&made, f->wrapper);
        const struct cu_why *why = f->status ? cu_reason_now() : NULL;
        if (why && why->cause[0]) *(f->why = NEW(&all.mem, struct cu_why)) = *why;
    } else if (f->why) {
        cu_reason(f->why->cause, f->why->fix, false);
    }
    for (struct rt_managed *m = f->managed; m && !f->status; m = m->next) {
        u64 address = 0;
        if (!lkcu_cuLibraryGetGlobal(&address, NULL, made, m->name)) *m->pointer = (void *)(uintptr_t)address;
    }
    r = f->status;
    __atomic_store_n(&f->library, made, __ATOMIC_RELEASE); /* others go on when they see it */
    unlock(&all.lock);
    return r;
}

void rt_load_all(void)
{
    struct cu_image *module;
    lock(&all.lock);
    struct rt_fatbin *f = all.fatbins;
    unlock(&all.lock);
    for (; f; f = f->next) /* what cannot be loaded is told to whoever uses it */
        if (!load(f)) lkcu_cuLibraryGetModule(&module, f->library);
}

/* Called before the first use of a managed variable. */
__attribute__((visibility("default"))) char lkrt___cudaInitModule(void **handle);
char lkrt___cudaInitModule(void **handle)
{
    return cu_handle_is(handle, CU_FATBIN) && !rt_done(load((struct rt_fatbin *)handle));
}

cu_result rt_function_of(const void *host, struct cu_function **out)
{
    lock(&all.lock);
    struct rt_function *f = map_get(&all.functions, key_of(&host));
    unlock(&all.lock);
    if (!f) {
        *out = cu_function_of((void *)(uintptr_t)host); /* a cudaKernel_t or a cudaFunction_t */
        return *out ? CU_OK : RT_INVALID_DEVICE_FUNCTION;
    }
    cu_result r = load(f->of);
    *out = __atomic_load_n(&f->made, __ATOMIC_ACQUIRE);
    if (!r && !*out && !(r = lkcu_cuLibraryGetKernel(out, f->of->library, f->name)))
        __atomic_store_n(&f->made, *out, __ATOMIC_RELEASE);
    return r == CU_NOT_FOUND ? RT_INVALID_DEVICE_FUNCTION : r;
}

void *rt_host_of(struct cu_function *f)
{
    lock(&all.lock);
    const struct rt_function *x = all.first;
    while (x && __atomic_load_n(&x->made, __ATOMIC_RELAXED) != f) x = x->next;
    unlock(&all.lock);
    return x ? (void *)(uintptr_t)x->host : f;
}

const char *rt_name_of(const void *host)
{
    lock(&all.lock);
    struct rt_function *f = map_get(&all.functions, key_of(&host));
    unlock(&all.lock);
    const struct cu_function *handle = f ? NULL : cu_function_of((void *)(uintptr_t)host);
    return f ? f->name : handle ? handle->name : NULL;
}

cu_result rt_symbol_of(const void *host, u64 *address, u64 *bytes)
{
    lock(&all.lock);
    const struct rt_variable *v = map_get(&all.variables, key_of(&host));
    unlock(&all.lock);
    if (!v) return RT_INVALID_SYMBOL;
    cu_result r = load(v->of);
    if (r) return r;
    r = lkcu_cuLibraryGetGlobal(address, bytes, v->of->library, v->name);
    return r == CU_NOT_FOUND ? RT_INVALID_SYMBOL : r;
}

RT_DEFINE(cudaGetKernel, struct cu_function **, out, const void *, host) { return rt_function_of(host, out); }
RT_API(cudaGetFuncBySymbol)(struct cu_function **out, const void *host) { return lkrt_cudaGetKernel(out, host); }
/* nvcc's code does not look at the answer: it launches what it got. The host function stands for the kernel then, and
 * the launch fails for the same reason. */
RT_API(__cudaGetKernel)(struct cu_function **out, const void *host)
{
    cu_result r = lkrt_cudaGetKernel(out, host);
    if (r && cu_ok(out)) *out = (struct cu_function *)(uintptr_t)host;
    return r;
}

RT_DEFINE(cudaGetSymbolAddress, void **, out, const void *, symbol)
{
    u64 address;
    cu_result r = rt_symbol_of(symbol, &address, NULL);
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_DEFINE(cudaGetSymbolSize, u64 *, out, const void *, symbol) { return rt_symbol_of(symbol, NULL, out); }
