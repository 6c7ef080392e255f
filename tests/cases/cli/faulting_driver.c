/* A driver whose every kernel ends with error 700: what `--on gpu` makes of a fault, tested without a GPU. Memory is the process's own. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#define CU(name, params, body) int name params; int name params { body; return 0; }
CU(cuInit, (unsigned f), (void)f)
CU(cuDriverGetVersion, (int *v), *v = 13000)
CU(cuDeviceGetCount, (int *n), *n = 1)
CU(cuDeviceGet, (int *d, int k), *d = k)
CU(cuDeviceGetName, (char *s, int n, int d), (void)n; (void)d; strcpy(s, "NVIDIA Stand-in"))
CU(cuDeviceTotalMem_v2, (size_t *b, int d), (void)d; *b = (size_t)1 << 34)
CU(cuDeviceGetAttribute, (int *v, int a, int d), (void)d; *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? 132 : a <= 5 ? 1024 : 65536)
CU(cuDevicePrimaryCtxRetain, (void **c, int d), (void)d; *c = c)
CU(cuDevicePrimaryCtxRelease_v2, (int d), (void)d)
CU(cuCtxSetCurrent, (void *c), (void)c)
CU(cuModuleLoadDataEx, (void **m, const void *i, unsigned n, int *o, void **v), (void)i; (void)n; (void)o; (void)v; *m = m)
CU(cuLinkCreate_v2, (unsigned n, int *o, void **v, void **l), (void)n; (void)o; (void)v; *l = l)
CU(cuLinkAddData_v2, (void *l, int t, void *d, size_t b, const char *s, unsigned n, int *o, void **v),
   (void)l; (void)s; (void)n; (void)o; (void)v; return t != 1 || strlen(d) + 1 != b)
CU(cuLinkComplete, (void *l, void **i, size_t *b), *i = l; *b = 8)
CU(cuLinkDestroy, (void *l), (void)l)
CU(cuModuleUnload, (void *m), (void)m)
CU(cuModuleGetFunction, (void **f, void *m, const char *n), (void)n; *f = m)
CU(cuModuleGetGlobal_v2, (unsigned long long *a, size_t *b, void *m, const char *n), (void)a; (void)b; (void)m; (void)n; return 500)
CU(cuMemAlloc_v2, (unsigned long long *a, size_t b), *a = (unsigned long long)(size_t)aligned_alloc(512, (b + 511) / 512 * 512))
CU(cuMemFree_v2, (unsigned long long a), free((void *)(size_t)a))
CU(cuMemHostAlloc, (void **a, size_t b, unsigned f), (void)f; *a = malloc(b))
CU(cuMemFreeHost, (void *a), free(a))
CU(cuMemAllocManaged, (unsigned long long *a, size_t b, unsigned f), (void)f; *a = (unsigned long long)(size_t)malloc(b))
CU(cuMemcpyHtoD_v2, (unsigned long long to, const void *from, size_t n), memcpy((void *)(size_t)to, from, n))
CU(cuMemcpyDtoH_v2, (void *to, unsigned long long from, size_t n), memcpy(to, (const void *)(size_t)from, n))
CU(cuMemsetD8_v2, (unsigned long long to, unsigned char c, size_t n), memset((void *)(size_t)to, c, n))
CU(cuFuncSetAttribute, (void *f, int a, int v), (void)f; (void)a; (void)v)
CU(cuLaunchKernel, (void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z, unsigned s, void *q, void **p, void **e),
   (void)f; (void)a; (void)b; (void)c; (void)x; (void)y; (void)z; (void)s; (void)q; (void)p; (void)e)
CU(cuLaunchCooperativeKernel, (void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z, unsigned s, void *q, void **p),
   (void)f; (void)a; (void)b; (void)c; (void)x; (void)y; (void)z; (void)s; (void)q; (void)p)
CU(cuStreamQuery, (void *q), (void)q; return 700)
CU(cuGetErrorName, (int c, const char **n), (void)c; *n = "CUDA_ERROR_ILLEGAL_ADDRESS")
CU(cuGetErrorString, (int c, const char **n), (void)c; *n = "an illegal memory access was encountered")
