/* clbench: times one kernel of kernels.cl on an OpenCL device, after checking its result.
 *
 *     clbench PLATFORM NAME DIR RUNS       PLATFORM: a part of the platform's name, "Portable" (PoCL) or "Oclgrind"
 *
 * NAME's inputs lie in DIR (see ../inputs.c); its result goes to DIR/NAME.got.bin for `inputs compare`. Prints
 * "MEDIAN ms (min MIN, RUNS runs, U units, C cpu)": compute units of the device, and processor time over wall time,
 * which shows how many threads really ran. One run more than asked, the first, is not counted: it compiles. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct bench {
    const char *name;
    int inputs;              /* buffers a and b */
    size_t bytes, out_bytes; /* of each input, of the result */
    int ints[3], int_count;  /* scalar arguments, after the buffers */
    size_t global[2], local[2];
};
#define M (1 << 20)
static const struct bench benches[] = {
    { "vecadd", 2, 4 * M, 4 * M, { M }, 1, { M, 1 }, { 256, 1 } },
    { "matmul16", 2, M / 4, M / 4, { 256 }, 1, { 256, 256 }, { 16, 16 } },
    { "matmul32", 2, 4 * M, 4 * M, { 1024 }, 1, { 1024, 1024 }, { 32, 32 } },
    { "reduce", 1, 4 * M, 4 * M / 256, { M }, 1, { M, 1 }, { 256, 1 } },
    { "mandelbrot", 0, 0, M, { 512, 512, 256 }, 3, { 512, 512 }, { 32, 8 } },
    { "softmax", 1, 4 * M, 4 * M, { 1024 }, 1, { 128 * 256, 1 }, { 256, 1 } },
};

static void stop(const char *what, cl_int code)
{
    fprintf(stderr, "clbench: %s (%d)\n", what, code);
    exit(2);
}
#define OK(call)                               \
    do {                                       \
        cl_int c_ = (call);                    \
        if (c_ != CL_SUCCESS) stop(#call, c_); \
    } while (0)

static void *load(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) stop(path, 0);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*bytes + 1);
    if (!p || fread(p, 1, *bytes, f) != *bytes) stop(path, 0);
    fclose(f);
    return p;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_device_id find(const char *wanted)
{
    cl_platform_id p[16];
    cl_uint n = 0;
    OK(clGetPlatformIDs(16, p, &n));
    for (cl_uint i = 0; i < n; i++) {
        char name[256] = "";
        cl_device_id d;
        OK(clGetPlatformInfo(p[i], CL_PLATFORM_NAME, sizeof name, name, NULL));
        if (strstr(name, wanted) && clGetDeviceIDs(p[i], CL_DEVICE_TYPE_ALL, 1, &d, NULL) == CL_SUCCESS) return d;
    }
    stop("no such platform", 0);
    return NULL;
}

int main(int argc, char **argv)
{
    const struct bench *b = NULL;
    for (size_t i = 0; argc == 5 && i < sizeof benches / sizeof *benches; i++)
        if (!strcmp(benches[i].name, argv[2])) b = &benches[i];
    int runs = argc == 5 ? atoi(argv[4]) : 0;
    if (!b || runs < 1 || runs > 1000) return fputs("usage: clbench PLATFORM NAME DIR RUNS\n", stderr), 2;

    cl_int code;
    cl_device_id device = find(argv[1]);
    cl_uint units;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    OK(code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    OK(code);

    char path[4096];
    size_t bytes;
    snprintf(path, sizeof path, "%s/kernels.cl", argv[3]);
    char *source = load(path, &bytes);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, &bytes, &code);
    OK(code);
    OK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, b->name, &code);
    OK(code);

    cl_uint arg = 0;
    for (int i = 0; i < b->inputs; i++) {
        snprintf(path, sizeof path, "%s/%s.%c.bin", argv[3], b->name, 'a' + i);
        void *data = load(path, &bytes);
        if (bytes != b->bytes) stop(path, (cl_int)bytes);
        cl_mem m = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, data, &code);
        OK(code);
        OK(clSetKernelArg(kernel, arg++, sizeof m, &m));
        free(data);
    }
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, b->out_bytes, NULL, &code);
    OK(code);
    OK(clSetKernelArg(kernel, arg++, sizeof out, &out));
    for (int i = 0; i < b->int_count; i++) OK(clSetKernelArg(kernel, arg++, sizeof(int), &b->ints[i]));

    double times[1000], begin = 0, work = 0;
    for (int i = runs > 1 ? -1 : 0; i < runs; i++) {
        if (i <= 0) begin = wall(), work = cpu();
        double t = wall();
        OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, b->global, b->local, 0, NULL, NULL));
        OK(clFinish(queue));
        if (i >= 0) times[i] = wall() - t;
    }
    work = (cpu() - work) / (wall() - begin);
    qsort(times, (size_t)runs, sizeof *times, ascending);

    void *got = malloc(b->out_bytes);
    if (!got) stop("out of memory", 0);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, b->out_bytes, got, 0, NULL, NULL));
    snprintf(path, sizeof path, "%s/%s.got.bin", argv[3], b->name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(got, 1, b->out_bytes, f) != b->out_bytes || fclose(f)) stop(path, 0);
    printf("%.3f ms (min %.3f, %d runs, %u units, %.2f cpu)\n", times[runs / 2], times[0], runs, units, work);
    return 0;
}
