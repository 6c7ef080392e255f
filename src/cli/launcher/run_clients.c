/* What clients of the GPU are told by the variables that they document: where they look for libraries, where they cache
 * what they compile, whether they pool memory. */
#include "launcher/run_clients.h"
#include <lockstep.h>
#include <stdlib.h>

enum { LIST_BYTES = 16384 };

/* Puts a folder into a list with colons, at its beginning or at its end. */
static void list_add(const char *name, const char *folder, bool first)
{
    const char *before = getenv(name), *colon = before && *before ? ":" : "";
    char list[LIST_BYTES];
    int n = first ? snprintf(list, sizeof list, "%s%s%s", folder, colon, before ? before : "")
                  : snprintf(list, sizeof list, "%s%s%s", before ? before : "", colon, folder);
    if (n > 0 && (size_t)n < sizeof list) setenv(name, list, 1);
}

/* Cubins that were cached without Lockstep have no PTX, and those made here are of no use to others. */
static void caches_move(void)
{
    static const struct {
        const char *variable, *place;
    } cache[] = { { "CUPY_CACHE_DIR", "cupy" },       { "NUMBA_CACHE_DIR", "numba" },
                  { "TRITON_CACHE_DIR", "triton" },   { "TORCHINDUCTOR_CACHE_DIR", "inductor" },
                  { "CACHEDB", "tinygrad/cache.db" }, { "PYCUDA_CACHE_DIR", "pycuda" } };
    char folder[3000], path[3100];
    if (!lk_cache_folder(folder, sizeof folder)) return;
    for (u32 i = 0; i < COUNT_OF(cache); i++) {
        snprintf(path, sizeof path, "%s/clients/%s", folder, cache[i].place);
        setenv(cache[i].variable, path, 1);
    }
}

void clients_environment(const char *folder, bool keep_pools, bool only)
{
    char python[4200];
    if (!only) list_add("LD_LIBRARY_PATH", folder, false); /* some look for the file libcuda.so.1 before they open it */
    snprintf(python, sizeof python, "%s/python", folder);
    if (!strchr(python, ':')) list_add("PYTHONPATH", python, true);
    caches_move();
    if (keep_pools) {
        setenv("LOCKSTEP_KEEP_POOLS", "1", 1);
    } else {
        unsetenv("LOCKSTEP_KEEP_POOLS");
        /* each tensor is an allocation of its stream, which its free is ordered in, as in PyTorch's own pool */
        setenv("PYTORCH_ALLOC_CONF", "backend:cudaMallocAsync", 1);
        setenv("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync", 1);
    }
}
