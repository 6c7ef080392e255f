/* A drop-in library is a table of exports: each goes through the call gate (gate_entry.S) to the function of that name
 * in liblockstep.so, which is the engine of the process. Built once for each file, with its list of names as EXPORTS and
 * how they are called there as PREFIX. Functions are numbered: the entries of libcuda.def, then those of cudart.def. */
#define JOIN(a, b) a##b
#define NAME(prefix, symbol) JOIN(prefix, symbol)
#include "abi/gate_door.S"
#define EXPORT(symbol, function) GATE_DOOR(symbol, NAME(PREFIX, function))
    .text
    .set gate_number, 0
#ifdef RELEASE
#define ENTRY(symbol, function, name, since, thread, returns, parameters) .set gate_number, gate_number + 1;
#include "abi/libcuda.def"
#undef ENTRY
/* what the release has */
#define ENTRY(symbol, function, first, last, thread, returns, parameters)        \
    .if first <= RELEASE && last >= RELEASE; EXPORT(symbol, function) .endif; \
    .set gate_number, gate_number + 1;
#else
#define ENTRY(symbol, function, name, since, thread, returns, parameters) \
    EXPORT(symbol, function) .set gate_number, gate_number + 1;
#endif
/* Some names have meant something else in earlier releases. */
#if defined RELEASE && RELEASE < 13
#define lkrt_cudaGetDeviceProperties lkrt_cudaGetDeviceProperties_11
#define lkrt_cudaGraphAddDependencies lkrt_cudaGraphAddDependencies_11
#define lkrt_cudaGraphRemoveDependencies lkrt_cudaGraphRemoveDependencies_11
#define lkrt_cudaMemAdvise lkrt_cudaMemAdvise_11
#define lkrt_cudaMemPrefetchAsync lkrt_cudaMemPrefetchAsync_11
#define lkrt_cudaMemcpyBatchAsync lkrt_cudaMemcpyBatchAsync_12
#define lkrt_cudaMemcpy3DBatchAsync lkrt_cudaMemcpy3DBatchAsync_12
#define lkrt_cudaGraphGetEdges lkrt_cudaGraphGetEdges_11
#define lkrt_cudaGraphNodeGetDependencies lkrt_cudaGraphNodeGetDependencies_11
#define lkrt_cudaGraphNodeGetDependentNodes lkrt_cudaGraphNodeGetDependentNodes_11
#define lkrt_cudaGraphAddNode lkrt_cudaGraphAddNode_11
#define lkrt_cudaStreamGetCaptureInfo lkrt_cudaStreamGetCaptureInfo_11
#define lkrt_cudaStreamUpdateCaptureDependencies lkrt_cudaStreamUpdateCaptureDependencies_11
#endif
#if defined RELEASE && RELEASE == 12
#define lkrt_cudaGetDriverEntryPoint lkrt_cudaGetDriverEntryPoint_12
#define lkrt_cudaRuntimeGetVersion lkrt_cudaRuntimeGetVersion_12
#endif
#if defined RELEASE && RELEASE < 12
#define lkrt_cudaGetDriverEntryPoint lkrt_cudaGetDriverEntryPoint_11
#define lkrt_cudaRuntimeGetVersion lkrt_cudaRuntimeGetVersion_11
#define lkrt_cudaFuncGetAttributes lkrt_cudaFuncGetAttributes_11
#define lkrt_cudaGraphInstantiate lkrt_cudaGraphInstantiate_11
#define lkrt_cudaGraphExecUpdate lkrt_cudaGraphExecUpdate_11
#define lkrt_cudaCreateTextureObject lkrt_cudaCreateTextureObject_11
#define lkrt_cudaGetTextureObjectTextureDesc lkrt_cudaGetTextureObjectTextureDesc_11
#endif
#include EXPORTS
    .section .note.GNU-stack, "", %progbits
