// regen: no
/* What the driver answers to questions that have no other source: attributes of the device, sentences of errors, limits
 * of a context, attributes of pointers and functions, properties as the runtime has them.
 *     nvcc -arch=sm_90 -o driver driver.cu -lcuda && ./driver
 * src/cuda/driver was written by its answers on an H200. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__global__ void plain(float *x, int n)
{
    __shared__ float s[100];
    s[threadIdx.x % 100] = n;
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % 100];
}

/* Kernels for occupancy: registers by launch bounds and by what they hold, static shared memory. */
__global__ void __launch_bounds__(256, 8) lean(float *x) { x[threadIdx.x] += 1; }
__global__ void __launch_bounds__(128) heavy(double *x, int n)
{
    double a[40];
    for (int i = 0; i < 40; i++) a[i] = x[i * n + threadIdx.x];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 40; i++) a[i] = a[i] * a[(i + 7) % 40] + a[(i + 13) % 40];
    for (int i = 0; i < 40; i++) x[i * n + threadIdx.x] = a[i];
}
__global__ void large(float *x)
{
    __shared__ float s[10000];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % 1000];
}
static size_t dynamic_for(int threads) { return threads * 40; }

static void occupancy(const char *name, const void *k)
{
    CUfunction f;
    cudaFuncAttributes a;
    int n, grid, block, flags;
    size_t bytes;
    cudaGetFuncBySymbol((cudaFunction_t *)&f, k);
    cudaFuncGetAttributes(&a, k);
    printf("occupancy %s: registers %d static %zu\n", name, a.numRegs, a.sharedSizeBytes);
    for (int t = 32; t <= 1024; t += 96)
        for (int s = 0; s <= 100000; s += 12500) {
            CUresult r = cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, t, s);
            printf(" %d/%d=%d", t, s, r ? -(int)r : n);
        }
    printf("\n");
    for (int limit = 0; limit <= 1000; limit += 250) {
        CUresult r = cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, limit);
        printf(" potential limit %d: %d %d %d", limit, r, grid, block);
        r = cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 20000, limit);
        printf(", 20000 bytes: %d %d %d", r, grid, block);
        r = cuOccupancyMaxPotentialBlockSize(&grid, &block, f, (CUoccupancyB2DSize)dynamic_for, 0, limit);
        printf(", by function: %d %d %d\n", r, grid, block);
    }
    for (int b = 1; b <= 33; b += 3)
        for (int t = 32; t <= 1024; t *= 4) {
            CUresult r = cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, b, t);
            printf(" available %d x %d: %d %zu;", b, t, r, r ? 0 : bytes);
        }
    printf("\n");
    for (flags = 0; flags < 3; flags++) printf(" flags %d: %d", flags, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 128, 0, flags));
    printf(" threads 0: %d, 2000: %d %d\n", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0),
           cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 2000, 0), n);
    for (int c = 1; c <= 16; c *= 2)
        for (int t = 128; t <= 1024; t *= 8) {
            CUlaunchAttribute at[1];
            CUlaunchConfig cfg;
            memset(&cfg, 0, sizeof cfg);
            memset(at, 0, sizeof at);
            at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            at[0].value.clusterDim.x = c, at[0].value.clusterDim.y = at[0].value.clusterDim.z = 1;
            cfg.gridDimX = 1024, cfg.gridDimY = cfg.gridDimZ = 1, cfg.blockDimX = t, cfg.blockDimY = cfg.blockDimZ = 1;
            cfg.attrs = at, cfg.numAttrs = 1;
            cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, c > 8);
            n = -1;
            CUresult r = cuOccupancyMaxActiveClusters(&n, f, &cfg);
            printf(" clusters of %d, %d threads: %d %d;", c, t, r, n);
            if (c == 1) {
                cfg.numAttrs = 0;
                r = cuOccupancyMaxPotentialClusterSize(&n, f, &cfg);
                printf(" potential %d %d;", r, n);
            }
        }
    printf("\n");
}

/* Modules: what the driver says of PTX that is wrong, of names that are not there, of handles after their end. */
static void modules(void)
{
    static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
    static const char *const body[] = {
        ".visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %nothing;\nret;\n}\n",
        ".visible .entry k()\n{\nfoo bar;\nret;\n}\n",
        ".extern .func (.param .b32 r) add_one(.param .b32 x);\n.visible .entry go()\n{\n.reg .b32 %r<2>;\n{\n.param .b32 a;\n.param .b32 b;\n"
        "st.param.b32 [a], 1;\ncall (b), add_one, (a);\n}\nret;\n}\n",
        ".visible .entry fine(.param .u64 x)\n{\nret;\n}\n",
    };
    char log[2000], info[2000], text[3000];
    for (int i = 0; i < 4; i++) {
        CUjit_option o[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                             CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME };
        void *v[] = { log, (void *)sizeof log, info, (void *)sizeof info, (void *)1, NULL };
        CUmodule m;
        CUlinkState l;
        void *cubin;
        size_t n;
        log[0] = info[0] = 0;
        snprintf(text, sizeof text, "%s%s", head, body[i]);
        CUresult r = cuModuleLoadDataEx(&m, text, 6, o, v);
        printf("module %d: %d, error %zu bytes [%s], info %zu bytes [%s]\n", i, r, (size_t)v[1], log, (size_t)v[3], info);
        v[1] = (void *)sizeof log, v[3] = (void *)sizeof info, log[0] = info[0] = 0;
        cuLinkCreate(4, o, v, &l);
        r = cuLinkAddData(l, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "input.ptx", 0, NULL, NULL);
        printf(" link: add %d", r);
        if (!r) printf(", complete %d", cuLinkComplete(l, &cubin, &n));
        printf(", error %zu bytes [%s]\n", (size_t)v[1], log);
        cuLinkDestroy(l);
        if (i == 3) {
            CUfunction f;
            CUfunctionLoadingState s;
            size_t at, bytes;
            cuModuleGetFunction(&f, m, "fine");
            cuFuncIsLoaded(&s, f);
            CUmoduleLoadingMode mode;
            cuModuleGetLoadingMode(&mode);
            printf(" loaded %d, mode %d, no such function %d, parameter 1 %d, name NULL %d\n", s, mode, cuModuleGetFunction(&f, m, "none"),
                   cuFuncGetParamInfo(f, 1, &at, &bytes), cuModuleGetFunction(&f, m, NULL));
            cuModuleUnload(m);
        }
    }
    CUmodule m;
    printf("junk module %d, file %d", cuModuleLoadData(&m, "neither PTX nor anything"), cuModuleLoad(&m, "/nowhere"));
    snprintf(text, sizeof text, ".version 9.9\n.target sm_90\n.address_size 64\n%s", body[3]);
    printf(", newer version %d", cuModuleLoadData(&m, text));
    snprintf(text, sizeof text, ".version 8.7\n.target sm_120\n.address_size 64\n%s", body[3]);
    printf(", newer target %d\n", cuModuleLoadData(&m, text));
}

/* Graphs and captures: statuses of simple mistakes, and what is told of nodes. */
static void graphs(void)
{
    cudaGraph_t g, h;
    cudaGraphNode_t a, b, c, found, list[4];
    cudaGraphExec_t x;
    cudaStream_t s;
    size_t n = 4, edges;
    cudaGraphCreate(&g, 0);
    cudaGraphAddEmptyNode(&a, g, NULL, 0);
    cudaGraphAddEmptyNode(&b, g, &a, 1);
    cudaHostNodeParams hp = { (cudaHostFn_t)dynamic_for, NULL };
    cudaGraphAddHostNode(&c, g, &b, 1, &hp);
    cudaGraphClone(&h, g);
    printf("clone: found %d", cudaGraphNodeFindInClone(&found, b, h));
    printf(", wrong graph %d", cudaGraphNodeFindInClone(&found, b, g));
    printf(", edge twice %d", cudaGraphAddDependencies(g, &a, &b, NULL, 1));
    printf(", to itself %d", cudaGraphAddDependencies(g, &a, &a, NULL, 1));
    printf(", cycle %d", cudaGraphAddDependencies(g, &c, &a, NULL, 1));
    printf(", instantiate %d", cudaGraphInstantiate(&x, g, 0));
    printf(", remove %d, again %d", cudaGraphRemoveDependencies(g, &c, &a, NULL, 1), cudaGraphRemoveDependencies(g, &c, &a, NULL, 1));
    printf(", instantiate %d", cudaGraphInstantiate(&x, g, 0));
    unsigned on = 7;
    printf(", enabled empty %d", cudaGraphNodeGetEnabled(x, b, &on));
    printf(" %u, host %d", on, cudaGraphNodeGetEnabled(x, c, &on));
    printf(", roots %d", cudaGraphGetRootNodes(g, list, &n));
    printf(" %zu, edges %d", n, cudaGraphGetEdges(g, NULL, NULL, NULL, &edges));
    cudaGraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    cudaGraphDestroyNode(c);
    printf(" %zu, update with fewer nodes %d", edges, cudaGraphExecUpdate(x, g, &info));
    printf(" result %d node %d", info.result, info.errorNode != NULL);
    cudaGetLastError();
    cudaStreamCreate(&s);
    cudaStreamCaptureStatus st;
    unsigned long long id = 99;
    printf("\ncapture: info %d", cudaStreamGetCaptureInfo(s, &st, &id, NULL, NULL, NULL, NULL));
    printf(" status %d id %llu, update outside %d", st, id, cudaStreamUpdateCaptureDependencies(s, &a, NULL, 1, 0));
    cudaStreamBeginCaptureToGraph(s, g, &b, NULL, 1, cudaStreamCaptureModeGlobal);
    cudaGraph_t now;
    const cudaGraphNode_t *deps;
    printf(", to graph: info %d", cudaStreamGetCaptureInfo(s, &st, &id, &now, &deps, NULL, &n));
    printf(" same %d deps %zu first %d", now == g, n, n ? deps[0] == b : -1);
    cudaLaunchHostFunc(s, (cudaHostFn_t)dynamic_for, NULL);
    printf(", end %d", cudaStreamEndCapture(s, &now));
    n = 0;
    cudaGraphGetNodes(g, NULL, &n);
    printf(" same %d nodes %zu", now == g, n);
    cudaGraphDebugDotPrint(g, "/tmp/lockstep_facts.dot", 0);
    FILE *f = fopen("/tmp/lockstep_facts.dot", "r");
    char line[300];
    printf("\n");
    while (f && fgets(line, sizeof line, f)) printf("  dot: %s", line);
    CUstream_st *legacy = (CUstream_st *)1;
    cudaStreamAttrValue v;
    memset(&v, 0, sizeof v);
    for (int i = 0; i < 16; i++) printf(" stream attribute %d: %d;", i, cudaStreamGetAttribute(s, (cudaStreamAttrID)i, &v));
    printf(" priority of legacy: %d\n", cudaStreamGetAttribute(legacy, cudaStreamAttributePriority, &v));
}

static void pointer(const char *what, const void *p)
{
    printf("pointer %s:", what);
    for (int a = 1; a <= 20; a++) {
        unsigned long long v = 0;
        CUresult r = cuPointerGetAttribute(&v, (CUpointer_attribute)a, (CUdeviceptr)p);
        printf(" %d=", a);
        if (r)
            printf("E%d", r);
        else if (v == (unsigned long long)p)
            printf("itself");
        else
            printf("%llx", v);
    }
    cudaPointerAttributes t;
    cudaError_t e = cudaPointerGetAttributes(&t, p);
    printf(" runtime: %d type %d device %d device pointer %s host pointer %s\n", e, t.type, t.device,
           t.devicePointer ? t.devicePointer == p ? "itself" : "other" : "0",
           t.hostPointer ? t.hostPointer == p ? "itself" : "other" : "0");
    cudaGetLastError();
}

int main(void)
{
    int v;
    CUcontext c;
    cuInit(0);
    for (int a = 1; a < 160; a++) {
        CUresult r = cuDeviceGetAttribute(&v, (CUdevice_attribute)a, 0);
        if (r)
            printf("attribute %d: error %d\n", a, r);
        else
            printf("attribute %d: %d\n", a, v);
    }
    for (int i = 0; i < 1000; i++) {
        const char *n, *t;
        if (!cuGetErrorName((CUresult)i, &n) && !cuGetErrorString((CUresult)i, &t)) printf("error %d: %s: %s\n", i, n, t);
    }
    for (int i = 0; i < 1000; i++) {
        const char *n = cudaGetErrorName((cudaError_t)i);
        if (strcmp(n, "unrecognized error code")) printf("runtime error %d: %s: %s\n", i, n, cudaGetErrorString((cudaError_t)i));
    }
    printf("runtime unknown: %s / %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    for (int l = 0; l < 12; l++) {
        size_t x = 0;
        CUresult r = cuCtxGetLimit(&x, (CUlimit)l);
        printf("limit %d: %d %zu\n", l, r, x);
    }
    unsigned flags;
    cuCtxGetFlags(&flags);
    CUfunc_cache cache;
    cuCtxGetCacheConfig(&cache);
    printf("flags %u cache %d\n", flags, cache);
    CUuuid id;
    cuDeviceGetUuid(&id, 0);
    char bus[32], name[100];
    cuDeviceGetPCIBusId(bus, sizeof bus, 0);
    cuDeviceGetName(name, sizeof name, 0);
    size_t total, left;
    cuDeviceTotalMem(&total, 0);
    cuMemGetInfo(&left, &total);
    printf("bus %s name %s total %zu left %zu\n", bus, name, total, left);
    void *d, *p, *m, *r = malloc(1 << 20), *g = malloc(1 << 20);
    cudaMalloc(&d, 1000);
    cudaMallocHost(&p, 1000);
    cudaMallocManaged(&m, 1000);
    cudaHostRegister(g, 1 << 20, 0);
    pointer("device", d);
    pointer("inside", (char *)d + 10);
    pointer("pinned", p);
    pointer("managed", m);
    pointer("registered", g);
    pointer("pageable", r);
    pointer("null", NULL);
    cudaFuncAttributes f;
    cudaFuncGetAttributes(&f, plain);
    printf("function: binary %d ptx %d shared %zu const %zu local %zu threads %d regs %d cacheCA %d dynamic %d carveout %d "
           "clusters %d %d %d %d %d\n", f.binaryVersion, f.ptxVersion, f.sharedSizeBytes, f.constSizeBytes, f.localSizeBytes,
           f.maxThreadsPerBlock, f.numRegs, f.cacheModeCA, f.maxDynamicSharedSizeBytes, f.preferredShmemCarveout,
           f.clusterDimMustBeSet, f.requiredClusterWidth, f.requiredClusterHeight, f.requiredClusterDepth, f.clusterSchedulingPolicyPreference);
    cudaDeviceProp q;
    cudaGetDeviceProperties(&q, 0);
    printf("properties, %zu bytes\n", sizeof q);
    for (size_t i = 272; i + 4 <= sizeof q; i += 4) {
        int w;
        memcpy(&w, (char *)&q + i, 4);
        if (w) printf("  %zu: %d\n", i, w);
    }
    void *pitched;
    for (size_t w = 1; w <= 5000; w = w * 3 + 1) {
        size_t pitch;
        cudaMallocPitch(&pitched, &pitch, w, 10);
        printf("pitch of %zu: %zu\n", w, pitch);
    }
    /* errors of simple mistakes */
    printf("free of host pointer %d, of inside %d, twice %d\n", cudaFree(r), cudaFree((char *)d + 4), (cudaFree(d), cudaFree(d)));
    plain<<<1, 2000>>>((float *)m, 1);
    printf("block of 2000: %d\n", cudaGetLastError());
    plain<<<0, 1>>>((float *)m, 1);
    printf("grid of 0: %d\n", cudaGetLastError());
    plain<<<1, 1, 100000>>>((float *)m, 1);
    printf("shared without consent: %d\n", cudaGetLastError());
    printf("copy of 0 bytes %d, from null %d, too long %d\n", cudaMemcpy(m, NULL, 0, cudaMemcpyDefault),
           cudaMemcpy(m, NULL, 4, cudaMemcpyDefault), cudaMemcpy(m, p, (size_t)1 << 40, cudaMemcpyDefault));
    cudaGetLastError();
    cudaStream_t s;
    printf("stream flags 7: %d, event flags 100: %d\n", cudaStreamCreateWithFlags(&s, 7), cudaEventCreateWithFlags((cudaEvent_t *)&s, 100));
    printf("device 99: %d\n", cudaSetDevice(99));
    int blocks;
    for (int t = 32; t <= 1024; t *= 2) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, t, 0);
        printf("occupancy of %d threads: %d\n", t, blocks);
    }
    occupancy("plain", (const void *)plain);
    occupancy("lean", (const void *)lean);
    occupancy("heavy", (const void *)heavy);
    occupancy("large", (const void *)large);
    modules();
    graphs();
    for (int a = 0; a < 8; a++) {
        int w = -1;
        CUresult e = cuDeviceGetP2PAttribute(&w, (CUdevice_P2PAttribute)a, 0, 0);
        printf("p2p %d: %d %d; ", a, e, w);
    }
    char luid[8];
    unsigned mask = 77;
    printf("luid %d\n", cuDeviceGetLuid(luid, &mask, 0));
    return 0;
}
