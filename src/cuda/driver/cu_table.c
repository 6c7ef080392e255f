/* Which function a name of the API stands for, and what happens to those that nobody defines. */
#include "base/mapping.h"
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver/gate.h"
#include <dlfcn.h>
#include <errno.h>

/* the entries through the gate, declared without parameters: they are only compared and handed out */
#define ENTRY(symbol, function, name, since, thread, returns, parameters) \
    extern char lkcu_row_##symbol[] __asm__("lkdoor_" #symbol);
#include "abi/libcuda.def"
#undef ENTRY

static const struct table_entry {
    const char *symbol, *name;
    u32 since;
    bool thread;
    void *function;
} table[] = {
#define ENTRY(symbol, function, name, since, thread, returns, parameters) \
    { #symbol, #name, since, thread, lkcu_row_##symbol },
#include "abi/libcuda.def"
#undef ENTRY
};

/* What a program can do in place of what is refused, by a word of it; NULL: nothing is known. */
static const char *instead_of(const char *what)
{
    static const char processes[] =
        "Memory, events and pools are of one process here, and the attributes of the device say so: let threads of one "
        "process share them, or copy by way of memory of the host that both processes map (shm_open, mmap).";
    static const char partition[] =
        "Use the primary context: a green context chooses which multiprocessors run a kernel, and changes no result.";
    static const char outside[] =
        "No other interface has memory here: use cudaMalloc and events where the program imports or maps some; samples "
        "mostly have an option without a window.";
    static const struct {
        const char *word, *instead;
    } known[] = { { "Ipc", processes },
                  { "INTERPROCESS", processes },
                  { "other processes", processes },
                  { "ShareableHandle", processes },
                  { "PoolExport", processes },
                  { "PoolImport", processes },
                  { "GreenCtx", partition },
                  { "DevResource", partition },
                  { "SmResource", partition },
                  { "External", outside },
                  { "Graphics", outside },
                  { "cuGL", outside },
                  { "cudaGL", outside },
                  { "EGL", outside },
                  { "VDPAU", outside } };
    for (u32 i = 0; i < COUNT_OF(known); i++)
        if (strstr(what, known[i].word)) return known[i].instead;
    return NULL;
}

/* Once for each text, which is copied. */
void cu_refused(const char *what)
{
    static struct {
        lock_t lock;
        char *said[256];
        u32 n;
    } all = { .lock = LOCK_INIT };
    bool first = true;
    const char *instead = instead_of(what);
    if (instead) cu_reason("Lockstep does not have it.", instead, false);
    lock(&all.lock);
    for (u32 i = 0; i < all.n && first; i++) first = strcmp(all.said[i], what) != 0;
    char *copy = first && all.n < COUNT_OF(all.said) ? base_alloc(strlen(what) + 1) : NULL;
    if (copy) {
        memcpy(copy, what, strlen(what) + 1);
        all.said[all.n++] = copy;
    }
    unlock(&all.lock);
    if (first)
        fprintf(stderr, "lockstep: %s is not supported: it returns CUDA_ERROR_NOT_SUPPORTED%s%s\n", what,
                instead ? ". " : "", instead ? instead : "");
}

/* Called by the stub of a function, which its variant for the thread's stream has, too. */
__attribute__((visibility("hidden"))) cu_result cu_refuse(u32 row);
cu_result cu_refuse(u32 row)
{
    static const char *const symbol[] = {
#define CU(symbol, name, since, variant, later, returns, parameters, ...) #symbol,
#include "abi/libcuda.def"
    };
    cu_refused_call(symbol[row]);
    return CU_NOT_SUPPORTED;
}

void cu_refused_call(const char *symbol)
{
    const struct cu_call *c = cu_call_now();
    size_t n = strlen(symbol);
    bool variant = c && !strncmp(cu_call_name(c), symbol, n) && !strncmp(cu_call_name(c) + n, "_pt", 3);
    cu_refused(variant ? cu_call_name(c) : symbol);
}

enum { PROC_LEGACY = 1, PROC_PER_THREAD = 2 };                              /* flags */
enum { PROC_FOUND = 0, PROC_SYMBOL_NOT_FOUND = 1, PROC_VERSION_NEWER = 2 }; /* CUdriverProcAddressQueryResult */

/* The newest row of the name that is not newer than the caller. Rows of a name are side by side. */
static const struct table_entry *find(const char *name, u32 version, bool thread, bool *exists)
{
    const struct table_entry *best = NULL;
    *exists = false;
    for (u32 i = 0; i < COUNT_OF(table); i++) {
        const struct table_entry *r = &table[i];
        if (strcmp(r->name, name)) continue;
        *exists = true;
        if (r->since > version) continue;
        /* where there is a variant for the thread's stream, it goes before the other one of its release */
        if (!best || (r->thread == thread && (best->thread != thread || r->since > best->since)) ||
            (r->thread != thread && best->thread != thread && r->since > best->since))
            best = r->thread && !thread ? best : r;
    }
    return best;
}

CU_DEFINE(cuGetProcAddress_v2, const char *, name, void **, function, int, version, u64, flags, int *, result)
{
    bool exists;
    *function = NULL;
    if (result) *result = PROC_SYMBOL_NOT_FOUND;
    if (flags & ~(u64)(PROC_LEGACY | PROC_PER_THREAD) || version < 0) return CU_INVALID_VALUE;
    const struct table_entry *r = find(name, (u32)version, flags & PROC_PER_THREAD, &exists);
    if (result) *result = r ? PROC_FOUND : exists ? PROC_VERSION_NEWER : PROC_SYMBOL_NOT_FOUND;
    if (r) *function = r->function;
    return CU_OK; /* also where nothing is found and nobody asks for the status */
}

CU_API(cuGetProcAddress)(const char *name, void **function, int version, u64 flags)
{
    int result;
    cu_result r = lkcu_cuGetProcAddress_v2(name, function, version, flags, &result);
    return r ? r : result == PROC_FOUND ? CU_OK : CU_NOT_FOUND;
}

/* ---- undocumented tables of functions: closed libraries ask for them ----
 *
 * Who asked is named, so that what fails next is understood. */

/* Whether a file is one of NVIDIA's libraries, which come compiled. */
static bool is_vendors(const char *base)
{
    static const char *const begin[] = { "libcublas", "libcudnn",   "libcufft",  "libcusparse", "libcusolver",
                                         "libcurand", "libnccl",    "libnpp",    "libnvjpeg",   "libcutensor",
                                         "libcufile", "libnvinfer", "libnvshmem" };
    return begins_with(base, begin, COUNT_OF(begin));
}

/* The first time it asks: the way out. */
static bool stripped_said(const char *file, const char *base)
{
    static char said[600]; /* the file that was said last: most programs have one */
    bool main = !strcmp(file, program_invocation_name);
    if (!strcmp(said, file)) return true;
    if (!cu_stripped_runtime(main ? mapping_exe() : file)) return false;
    snprintf(said, sizeof said, "%s", file);
    if (is_vendors(base))
        fprintf(stderr,
                "lockstep: %s is a library of NVIDIA's that comes compiled: its kernels have no PTX, and its runtime "
                "cannot be taken over. What the program asks of it will fail; use the CPU for that, or a kernel of "
                "your own\n",
                base);
    else
        fprintf(
            stderr,
            "lockstep: %s has the CUDA runtime linked in and its symbols stripped, so that its calls cannot be taken "
            "over, and will fail: build it with -cudart shared, or without strip, or let lockstep run FILE.cu "
            "compile it\n",
            file);
    return true;
}

CU_API(cuGetExportTable)(const void **out, const void *id)
{
    Dl_info who;
    char text[600];
    (void)id;
    if (cu_ok(out)) *out = NULL;
    const struct cu_call *call = cu_call_now();
    const char *file = call && dladdr(call->return_address, &who) && who.dli_fname ? who.dli_fname : "the program";
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    if (stripped_said(file, base)) return CU_NOT_SUPPORTED;
    snprintf(text, sizeof text, "cuGetExportTable, which %s asks for,", file);
    /* these two ask, and work without */
    if (strncmp(base, "libnvrtc", 8) && strncmp(base, "libnvJitLink", 12)) cu_refused(text);
    return CU_NOT_SUPPORTED;
}
