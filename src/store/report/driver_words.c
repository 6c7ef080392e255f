/* Sentences for programs of the driver interface, in its words: who calls cuMemAlloc and cuLaunchKernel has no
 * cudaMalloc. An entry is of such a program if the call that it is about, or the one that has launched its kernel, is
 * one of the driver's, and no interpreter of Python made it: what stands between the two is then somebody else's. */
#include "report/entry.h"
#include "base/c_text.h"
#include "sites/where.h"

/* Names and phrases of the runtime, and what the driver has in their place; the first one that fits. Of names that are
 * not here, cudaGetSymbolAddress is of variables that only the runtime knows, and some are those of kernels. */
static const struct {
    const char *runtime, *driver;
} words[] = {
    { "cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)", "cuMemcpyDtoH(host, device, bytes)" },
    { "cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)", "cuMemcpyHtoD(device, host, bytes)" },
    { "cudaMemcpyHostToDevice", "cuMemcpyHtoD" },
    { "cudaMemcpyDeviceToHost", "cuMemcpyDtoH" },
    { ", and ask cudaGetLastError() after each <<<>>>, which returns nothing", "" },
    { "cudaMalloc", "cuMemAlloc" },
    { "cudaMallocManaged", "cuMemAllocManaged" },
    { "cudaMallocHost", "cuMemAllocHost" },
    { "cudaMallocAsync", "cuMemAllocAsync" },
    { "cudaFree", "cuMemFree" },
    { "cudaFreeAsync", "cuMemFreeAsync" },
    { "cudaHostRegister", "cuMemHostRegister" },
    { "cudaHostUnregister", "cuMemHostUnregister" },
    { "cudaMemcpy", "cuMemcpy" },
    { "cudaMemcpyAsync", "cuMemcpyAsync" },
    { "cudaMemcpyToSymbol", "cuMemcpyHtoD to the address from cuModuleGetGlobal" },
    { "cudaMemset", "cuMemsetD8" },
    { "cudaMemsetAsync", "cuMemsetD8Async" },
    { "cudaDeviceSynchronize", "cuCtxSynchronize" },
    { "cudaStreamSynchronize", "cuStreamSynchronize" },
    { "cudaStreamWaitEvent", "cuStreamWaitEvent" },
    { "cudaStreamQuery", "cuStreamQuery" },
    { "cudaStreamNonBlocking", "CU_STREAM_NON_BLOCKING" },
    { "cudaEventRecord", "cuEventRecord" },
    { "cudaEventSynchronize", "cuEventSynchronize" },
    { "cudaEventElapsedTime", "cuEventElapsedTime" },
    { "cudaDeviceSetLimit", "cuCtxSetLimit" },
    { "cudaLimitStackSize", "CU_LIMIT_STACK_SIZE" },
    { "cudaLimitMallocHeapSize", "CU_LIMIT_MALLOC_HEAP_SIZE" },
    { "cudaFuncSetAttribute", "cuFuncSetAttribute" },
    { "cudaFuncAttributeMaxDynamicSharedMemorySize", "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES" },
    { "cudaFuncAttributeNonPortableClusterSizeAllowed", "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED" },
    { "cudaLaunchKernelEx", "cuLaunchKernelEx" },
    { "cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel" },
    { "cudaLaunchAttributeClusterDimension", "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION" },
    { "cudaDevAttrPageableMemoryAccess", "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS" },
    { "cudaCreateTextureObject", "cuTexObjectCreate" },
    { "cudaCreateSurfaceObject", "cuSurfObjectCreate" },
    { "cudaArraySurfaceLoadStore", "CUDA_ARRAY3D_SURFACE_LDST" },
};

static bool is_driver_call(const char *site)
{
    const char *call = where_called(site);
    return call && !strncmp(call, "cu", 2) && call[2] >= 'A' && call[2] <= 'Z'; /* not cudaMalloc, nor cublasSgemm */
}

/* A text begins with these words, the last one whole. */
static bool at_phrase(const char *text, const char *phrase)
{
    size_t n = strlen(phrase);
    return !strncmp(text, phrase, n) && !(is_word_char(phrase[n - 1]) && is_word_char(text[n]));
}

void driver_words(const struct entry *e, struct text *t)
{
    struct text out = { 0 };
    if (!t->p || !strstr(t->p, "cuda")) return;
    if (!is_driver_call(e->f.call) && !is_driver_call(e->origin.site)) return;
    if (where_python_look()) return;
    for (const char *p = t->p; *p;) {
        u32 i = 0;
        while (i < COUNT_OF(words) && !at_phrase(p, words[i].runtime)) i++;
        bool found = i < COUNT_OF(words);
        size_t n = found ? strlen(words[i].runtime) : word_span(p, NULL);
        if (!found) text_put(&out, p, n += !n);
        if (found) text_add(&out, "%s", words[i].driver);
        p += n;
    }
    text_free(t);
    *t = out;
}
