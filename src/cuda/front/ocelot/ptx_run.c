/* libgpuocelot.so: the one function that tinygrad's mock GPU asks of GPU Ocelot, an emulator of PTX. It runs the kernel
 * of a text over the memory of the process. Here it is a client of the driver interface (libcuda.so.1 of the same
 * folder), so every check and the report are those of any program.
 *
 * An argument is a value of at most 8 bytes: a number, or an address of the process. How much memory lies after an
 * address nobody says. Where it is the beginning of a block of the C library's malloc, that block is registered for the
 * time of the launch, and otherwise the mapping (/proc/self/maps) that it is in: accesses outside that are reported,
 * those into another array of the same mapping are not. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 128, RANGES = 256, INVALID_VALUE = 1, NOT_FOUND = 500 }; /* the last two are CUresult */

extern int cuInit(unsigned);
extern int cuDevicePrimaryCtxRetain(void **, int);
extern int cuCtxPushCurrent_v2(void *);
extern int cuCtxPopCurrent_v2(void **);
extern int cuCtxSynchronize(void);
extern int cuModuleLoadData(void **, const void *);
extern int cuModuleUnload(void *);
extern int cuModuleGetFunctionCount(unsigned *, void *);
extern int cuModuleEnumerateFunctions(void **, unsigned, void *);
extern int cuFuncGetParamInfo(void *, size_t, size_t *, size_t *);
extern int cuFuncSetAttribute(void *, int, int);
extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostUnregister(void *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);

struct module {
    char *text;   /* NULL: free entry */
    void *module; /* CUmodule */
    void *kernel; /* the first one: CUfunction */
};
struct address_range {
    uintptr_t low, high; /* a mapping that can be read and written */
};
static struct {
    pthread_mutex_t lock;
    void *context;                 /* CUcontext; NULL: not made yet */
    struct module module[MODULES]; /* the last texts */
    unsigned next;                 /* entry that is used again */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int context_make(void)
{
    int r = all.context ? 0 : cuInit(0);
    return r || all.context ? r : cuDevicePrimaryCtxRetain(&all.context, 0);
}

static int module_make(const char *text, struct module **out)
{
    for (unsigned i = 0; i < MODULES; i++) {
        *out = &all.module[i];
        if ((*out)->text && !strcmp((*out)->text, text)) return 0;
    }
    struct module *m = *out = &all.module[all.next++ % MODULES], made = { 0 };
    unsigned kernels = 0;
    int r = cuModuleLoadData(&made.module, text);
    if (r) return r;
    if (!(r = cuModuleGetFunctionCount(&kernels, made.module)) && !kernels) r = NOT_FOUND;
    if (!r) r = cuModuleEnumerateFunctions(&made.kernel, 1, made.module);
    if (!r && !(made.text = strdup(text))) r = 2;
    if (r) {
        cuModuleUnload(made.module);
        return r;
    }
    if (m->text) cuModuleUnload(m->module);
    free(m->text);
    *m = made;
    return 0;
}

/* ---- memory ---- */

/* The list of mappings; that of /proc/self is empty once the first thread of the process has ended. */
static FILE *maps_open(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    int first = f ? fgetc(f) : EOF;
    if (first != EOF) {
        ungetc(first, f);
        return f;
    }
    if (f) fclose(f);
    return fopen("/proc/thread-self/maps", "re");
}

/* The mapping that an address is in, if it can be read and written. */
static bool mapping_of(uintptr_t address, struct address_range *out)
{
    char line[512];
    bool found = false;
    FILE *maps = maps_open();
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        char rights[3];
        if (sscanf(line, "%lx-%lx %2s", &low, &high, rights) != 3 || address < low || address >= high) continue;
        *out = (struct address_range){ low, high };
        found = !strcmp(rights, "rw");
        break;
    }
    if (maps) fclose(maps);
    return found;
}

#if defined __GLIBC__ && __SIZEOF_POINTER__ == 8
/* The block of malloc that begins at an address. Its size is in the word before it, and so is that of each block after
 * it: it is taken for one only where these sizes lead, block by block, to the very end of the heap. A large block is a
 * mapping of its own, or the begin of a part of one. */
static bool block_of(uintptr_t address, const struct address_range *mapping, struct address_range *out)
{
    enum { IN_USE = 1, MAPPED = 2, FLAGS = 7, HEADER = 16, PAGE = 4096 };
    if (address % HEADER || address - mapping->low < HEADER) return false;
    uintptr_t at = address - HEADER, first = ((const uintptr_t *)at)[1], size = first & ~(uintptr_t)FLAGS;
    if (first & MAPPED) {
        if (at % PAGE || size % PAGE || !size || *(const uintptr_t *)at || size > mapping->high - at) return false;
        *out = (struct address_range){ address, at + size };
        return true;
    }
    while (at != mapping->high) {
        uintptr_t left = mapping->high - at; /* the last two of a heap that was left are headers alone */
        if (left < HEADER) return false;
        uintptr_t word = ((const uintptr_t *)at)[1], bytes = word & ~(uintptr_t)FLAGS;
        if ((at == address - HEADER + size && !(word & IN_USE)) || word & (FLAGS & ~IN_USE)) return false;
        if (bytes < (left > 2 * HEADER ? 2 * HEADER : HEADER) || bytes % HEADER || bytes > left) return false;
        at += bytes;
    }
    *out = (struct address_range){ address, address + size - HEADER / 2 };
    return true;
}
#else
static bool block_of(uintptr_t address, const struct address_range *mapping, struct address_range *out)
{
    (void)address, (void)mapping, (void)out;
    return false;
}
#endif

/* Adds the memory at an address; what is in no mapping is a number. Ranges that overlap become one. */
static void range_add(uintptr_t address, struct address_range *range, unsigned *n)
{
    struct address_range mapping, own;
    for (unsigned i = 0; i < *n; i++)
        if (address >= range[i].low && address < range[i].high) return;
    if (*n == RANGES || !mapping_of(address, &mapping)) return;
    if (!block_of(address, &mapping, &own)) own = mapping;
    for (unsigned i = 0; i < *n;) {
        if (range[i].low >= own.high || range[i].high <= own.low) {
            i++;
            continue;
        }
        if (range[i].low < own.low) own.low = range[i].low;
        if (range[i].high > own.high) own.high = range[i].high;
        range[i] = range[--*n];
    }
    range[(*n)++] = own;
}

static int launch(const struct module *m, unsigned n, void **args, const unsigned *block, const unsigned *grid,
                  unsigned shared)
{
    enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, SHARED_PLAIN = 48 * 1024 };
    static struct address_range range[RANGES];
    unsigned ranges = 0, registered = 0;
    size_t offset, bytes;
    void **table = calloc(n + 1, sizeof *table);
    if (!table) return 2;
    int r = 0;
    for (unsigned i = 0; i < n; i++) {
        if ((r = cuFuncGetParamInfo(m->kernel, i, &offset, &bytes)) || bytes > sizeof *args) break;
        table[i] = &args[i];
        if (bytes == sizeof *args) range_add((uintptr_t)args[i], range, &ranges);
    }
    if (!r && n && bytes > sizeof *args) r = INVALID_VALUE;
    if (!r && !cuFuncGetParamInfo(m->kernel, n, &offset, &bytes)) r = INVALID_VALUE; /* it has more */
    if (r) fprintf(stderr, "lockstep: ptx_run: the kernel does not take %u arguments of 8 bytes or less\n", n);
    if (!r && shared > SHARED_PLAIN) r = cuFuncSetAttribute(m->kernel, MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
    for (; !r && registered < ranges; registered++)
        r = cuMemHostRegister_v2((void *)range[registered].low, range[registered].high - range[registered].low, 0);
    if (!r)
        r = cuLaunchKernel(m->kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, NULL, table,
                           NULL);
    if (!r) r = cuCtxSynchronize();
    while (registered) cuMemHostUnregister((void *)range[--registered].low);
    free(table);
    return r;
}

/* Runs the first kernel of `source` over the memory of the process and returns when it has ended: 0, or a CUresult. */
__attribute__((visibility("default"))) int ptx_run(const char *source, int n, void **args, int block_x, int block_y,
                                                   int block_z, int grid_x, int grid_y, int grid_z, int shared);
int ptx_run(const char *source, int n, void **args, int block_x, int block_y, int block_z, int grid_x, int grid_y,
            int grid_z, int shared)
{
    const unsigned block[] = { (unsigned)block_x, (unsigned)block_y, (unsigned)block_z };
    const unsigned grid[] = { (unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z };
    struct module *m;
    void *before;
    if (!source || n < 0 || (n && !args) || shared < 0) return INVALID_VALUE;
    pthread_mutex_lock(&all.lock);
    int r = context_make();
    if (!r && !(r = cuCtxPushCurrent_v2(all.context))) {
        r = module_make(source, &m);
        if (!r) r = launch(m, (unsigned)n, args, block, grid, (unsigned)shared);
        cuCtxPopCurrent_v2(&before);
    }
    pthread_mutex_unlock(&all.lock);
    return r;
}

/* Nobody frees what it has made. */
__attribute__((destructor)) static void end(void)
{
    void *before;
    if (!all.context || cuCtxPushCurrent_v2(all.context)) return;
    for (unsigned i = 0; i < MODULES; i++) {
        if (all.module[i].text) cuModuleUnload(all.module[i].module);
        free(all.module[i].text);
    }
    cuCtxPopCurrent_v2(&before);
}
