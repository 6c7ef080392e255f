/* A recorded launch as one C program over the driver's interface, with its data: it needs no header of CUDA, and runs
 * on a GPU, under compute-sanitizer, or under `lockstep run`. */
#include "base/printable.h"
#include "lab/recording.h"
#include "base/c_text.h"
#include <inttypes.h>

enum { WORDS_A_LINE = 6, SHOWN = 8 };

static const char head[] =
    "#include <stdint.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "\n"
    "typedef unsigned long long ptr; /* CUdeviceptr */\n"
    "int cuInit(unsigned flags);\n"
    "int cuDeviceGet(int *device, int ordinal);\n"
    "int cuDevicePrimaryCtxRetain(void **context, int device);\n"
    "int cuCtxSetCurrent(void *context);\n"
    "int cuCtxSynchronize(void);\n"
    "int cuModuleLoadData(void **module, const void *image);\n"
    "int cuModuleGetFunction(void **function, void *module, const char *name);\n"
    "int cuModuleGetGlobal_v2(ptr *address, size_t *bytes, void *module, const char *name);\n"
    "int cuMemAlloc_v2(ptr *address, size_t bytes);\n"
    "int cuMemAllocManaged(ptr *address, size_t bytes, unsigned flags);\n"
    "int cuMemAllocHost_v2(void **address, size_t bytes);\n"
    "int cuMemFree_v2(ptr address);\n"
    "int cuMemFreeHost(void *address);\n"
    "int cuModuleUnload(void *module);\n"
    "int cuDevicePrimaryCtxRelease_v2(int device);\n"
    "int cuMemcpyHtoD_v2(ptr to, const void *from, size_t bytes);\n"
    "int cuMemcpyDtoH_v2(void *to, ptr from, size_t bytes);\n"
    "int cuFuncSetAttribute(void *function, int attribute, int value);\n"
    "int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,\n"
    "                   unsigned shared, void *stream, void **params, void **extra);\n"
    "int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,\n"
    "                              unsigned bz, unsigned shared, void *stream, void **params);\n"
    "int cuGetErrorName(int error, const char **name);\n"
    "\n"
    "static void ok(int error, const char *call)\n"
    "{\n"
    "    const char *name = NULL;\n"
    "    if (!error) return;\n"
    "    cuGetErrorName(error, &name);\n"
    "    fprintf(stderr, \"%s: %s (%d)\\n\", call, name ? name : \"?\", error);\n"
    "    exit(2);\n"
    "}\n"
    "#define OK(call) ok(call, #call)\n"
    "\n"
    "/* Bytes of memory: words, then `fill` again and again. */\n"
    "static void put(ptr to, size_t bytes, const uint64_t *words, size_t n, uint64_t fill)\n"
    "{\n"
    "    static uint64_t buffer[4096];\n"
    "    for (size_t at = 0; at < bytes; at += sizeof buffer) {\n"
    "        size_t part = bytes - at < sizeof buffer ? bytes - at : sizeof buffer;\n"
    "        for (size_t i = 0; i < 4096; i++) buffer[i] = at / 8 + i < n ? words[at / 8 + i] : fill;\n"
    "        OK(cuMemcpyHtoD_v2(to + at, buffer, part));\n"
    "    }\n"
    "}\n"
    "\n";

/* A string of C, a line of it for each of the text. */
static void put_string(struct text *t, struct str s)
{
    text_add(t, "\"");
    for (u32 i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\n' && i + 1 < s.n)
            text_add(t, "\\n\"\n    \"");
        else if (c == '\n')
            text_add(t, "\\n");
        else if (c == '"' || c == '\\')
            text_add(t, "\\%c", c);
        else if (c == '?' || c < ' ' || c > '~')
            text_add(t, "\\%03o", c);
        else
            text_put(t, (const char *)&c, 1);
    }
    text_add(t, "\"");
}

/* A comment may not end early, and a name of C has letters. */
static void put_comment(struct text *t, const char *z)
{
    struct text is = { 0 };
    printable(str_of(z), &is);
    for (u32 i = 0; i < is.n; i++) text_put(t, is.p[i] == '*' ? "." : &is.p[i], 1);
    text_free(&is);
}

static u64 word_of(const u8 *p, u64 n, u64 i)
{
    u64 w = 0;
    memcpy(&w, p + 8 * i, MIN_OF(n - 8 * i, (u64)8));
    return w;
}

/* The number of words to write out until the rest repeats a single word. */
static u64 words_needed(const u8 *p, u64 n, u64 *fill)
{
    u64 all = (n + 7) / 8, need;
    *fill = all > 1 ? word_of(p, n, all - 2) : 0;
    bool tail = n % 8 != 0; /* the last word is a part */
    need = all;
    while (need > 0) {
        u64 w = word_of(p, n, need - 1);
        bool part = tail && need == all;
        u64 mask = part ? ((u64)1 << 8 * (n % 8)) - 1 : ~(u64)0;
        if ((w & mask) != (*fill & mask)) break;
        need--;
    }
    return need;
}

/* The words of the defined parts of an object as arrays, and the calls that write them. */
static void put_data(struct text *arrays, struct text *calls, const lk_recording *r, u32 i)
{
    const struct record_object *o = &r->r.object[i];
    struct record_run run;
    u32 part = 0;
    for (u64 at = 0; recording_defined(o, &at, &run); part++) {
        const u8 *p = r->bytes[i] + run.from;
        u64 n = run.to - run.from, fill, need = words_needed(p, n, &fill);
        char name[40] = "NULL";
        if (need) {
            snprintf(name, sizeof name, "data%u_%u", i, part);
            text_add(arrays, "static const uint64_t %s[] = {", name);
            for (u64 k = 0; k < need; k++)
                text_add(arrays, "%s0x%" PRIx64 ",", k % WORDS_A_LINE ? " " : "\n    ", word_of(p, n, k));
            text_add(arrays, "\n};\n");
        }
        text_add(calls, "    put(object[%u] + %" PRIu64 ", %" PRIu64 ", %s, %" PRIu64 ", 0x%" PRIx64 ");\n", i,
                 run.from, n, name, need, fill);
    }
}

struct patching {
    struct text *t;
    const lk_recording *r;
    u32 i; /* of the object, or of the parameter, that has the word */
};

static void patch_memory(void *self, u64 offset, const struct record_object *to, u64 into)
{
    const struct patching *p = self;
    const struct record_object *o = &p->r->r.object[p->i];
    for (u32 k = 0; k < o->runs; k++)
        if (offset + 8 > o->undefined[k].from && offset < o->undefined[k].to) return;
    text_add(p->t,
             "    pointer = object[%u] + %" PRIu64 ";\n    OK(cuMemcpyHtoD_v2(object[%u] + %" PRIu64
             ", &pointer, 8));\n",
             (u32)(to - p->r->r.object), into, p->i, offset);
}

static void patch_param(void *self, u64 offset, const struct record_object *to, u64 into)
{
    const struct patching *p = self;
    text_add(p->t, "    pointer = object[%u] + %" PRIu64 ";\n    memcpy((char *)param%u + %" PRIu64 ", &pointer, 8);\n",
             (u32)(to - p->r->r.object), into, p->i, offset);
}

static void put_allocations(struct text *t, const struct record *r)
{
    for (u32 i = 0; i < r->objects; i++) {
        const struct record_object *o = &r->object[i];
        text_add(t, "    ");
        if (o->kind == RECORD_VARIABLE) {
            text_add(t, "OK(cuModuleGetGlobal_v2(&object[%u], &bytes, module, ", i);
            put_string(t, str_of(o->name));
            text_add(t, "));");
        } else if (o->kind == RECORD_MANAGED)
            text_add(t, "OK(cuMemAllocManaged(&object[%u], %" PRIu64 ", 1));", i, o->size);
        else if (o->kind == RECORD_PINNED)
            text_add(t, "OK(cuMemAllocHost_v2(&host, %" PRIu64 "));\n    object[%u] = (ptr)(uintptr_t)host;", o->size,
                     i);
        else
            text_add(t, "OK(cuMemAlloc_v2(&object[%u], %" PRIu64 "));", i, o->size);
        text_add(t, " /* ");
        put_comment(t, o->name);
        text_add(t, o->type[0] ? ", " : "");
        put_comment(t, o->type);
        text_add(t, " */\n");
    }
}

static void put_params(struct text *t, const lk_recording *r)
{
    for (u32 i = 0; i < r->r.params; i++) {
        const struct record_param *p = &r->r.param[i];
        text_add(t, "    uint64_t param%u[] = {", i);
        for (u64 k = 0; k < (p->n + 7) / 8; k++)
            text_add(t, "%s0x%" PRIx64, k ? ", " : " ", word_of(p->bytes, p->n, k));
        text_add(t, p->n ? " };\n" : " 0 };\n");
    }
    for (u32 i = 0; i < r->r.params; i++)
        recording_pointers(&r->r, r->r.param[i].bytes, r->r.param[i].n, patch_param, &(struct patching){ t, r, i });
    text_add(t, "    void *params[] = { ");
    for (u32 i = 0; i < r->r.params; i++) text_add(t, "%sparam%u", i ? ", " : "", i);
    text_add(t, r->r.params ? " };\n" : "NULL };\n");
}

/* Prints the first elements of what it knows the type of. */
static void put_results(struct text *t, const struct record *r)
{
    for (u32 i = 0; i < r->objects; i++) {
        const struct record_object *o = &r->object[i];
        bool f32 = !strncmp(o->type, "f32[", 4), i32 = !strncmp(o->type, "i32[", 4) || !strncmp(o->type, "u32[", 4);
        if ((!f32 && !i32) || o->kind == RECORD_VARIABLE) continue;
        u64 n = MIN_OF(o->size / 4, (u64)SHOWN);
        text_add(t, "    {\n        %s shown[%" PRIu64 "];\n", f32 ? "float" : "int", n);
        text_add(t, "        OK(cuMemcpyDtoH_v2(shown, object[%u], sizeof shown));\n        printf(\"", i);
        for (const char *z = o->name; *z; z++)
            if (is_word_char(*z) || *z == ' ') text_put(t, z, 1);
        text_add(t, ":\");\n        for (int i = 0; i < %" PRIu64 "; i++) printf(\" %%%s\", %sshown[i]);\n", n,
                 f32 ? ".9g" : "d", f32 ? "(double)" : "");
        text_add(t, "        printf(\"%s\\n\");\n    }\n", n < o->size / 4 ? " ..." : "");
    }
}

static void put_launch(struct text *t, const struct record *r)
{
    if (r->shared > 48 << 10)
        text_add(t, "    OK(cuFuncSetAttribute(function, 8, %" PRIu64 ")); /* dynamic shared memory */\n", r->shared);
    text_add(t, "    OK(%s(function, %u, %u, %u, %u, %u, %u, %" PRIu64 ", NULL, params%s));\n",
             r->cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", r->grid[0], r->grid[1], r->grid[2],
             r->block[0], r->block[1], r->block[2], r->shared, r->cooperative ? "" : ", NULL");
    text_add(t, "    OK(cuCtxSynchronize());\n");
}

static void put_end(struct text *t, const struct record *r)
{
    for (u32 i = 0; i < r->objects; i++) {
        if (r->object[i].kind == RECORD_PINNED)
            text_add(t, "    OK(cuMemFreeHost((void *)(uintptr_t)object[%u]));\n", i);
        else if (r->object[i].kind != RECORD_VARIABLE)
            text_add(t, "    OK(cuMemFree_v2(object[%u]));\n", i);
    }
    text_add(t, "    OK(cuModuleUnload(module));\n    OK(cuDevicePrimaryCtxRelease_v2(device));\n    return 0;\n}\n");
}

char *lk_recording_c(const lk_recording *recording)
{
    HOST_CALL(NULL, USE(RECORDING, recording));
    const lk_recording *r = recording;
    struct text t = { 0 }, arrays = { 0 }, calls = { 0 };
    if (r->r.cluster[0] > 1 || r->r.cluster[1] > 1 || r->r.cluster[2] > 1) return NULL;
    char *is = lk_recording_text(r);
    text_add(&t, "/* A launch that Lockstep has recorded: ");
    put_comment(&t, is ? is : "");
    text_add(&t, ".\n *\n *     cc this.c -o this -lcuda && lockstep run ./this\n */\n%s", head);
    lk_text_free(is);
    text_add(&t, "static const char ptx[] =\n    ");
    put_string(&t, r->r.ptx);
    text_add(&t, ";\n\n");
    for (u32 i = 0; i < r->r.objects; i++) {
        put_data(&arrays, &calls, r, i);
        recording_pointers(&r->r, r->bytes[i], r->r.object[i].size, patch_memory, &(struct patching){ &calls, r, i });
    }
    if (arrays.n) text_put(&t, arrays.p, arrays.n);
    text_add(
        &t, "\nint main(void)\n{\n    int device;\n    void *context, *module, *function, *host;\n    size_t bytes;\n");
    text_add(&t, "    ptr object[%u], pointer;\n    (void)host, (void)bytes, (void)pointer, (void)object, (void)put;\n",
             MAX_OF(r->r.objects, 1u));
    text_add(
        &t,
        "    OK(cuInit(0));\n    OK(cuDeviceGet(&device, 0));\n    OK(cuDevicePrimaryCtxRetain(&context, device));\n"
        "    OK(cuCtxSetCurrent(context));\n    OK(cuModuleLoadData(&module, ptx));\n");
    text_add(&t, "    OK(cuModuleGetFunction(&function, module, ");
    put_string(&t, str_of(r->r.entry));
    text_add(&t, "));\n");
    put_allocations(&t, &r->r);
    if (calls.n) text_put(&t, calls.p, calls.n);
    put_params(&t, r);
    put_launch(&t, &r->r);
    put_results(&t, &r->r);
    put_end(&t, &r->r);
    text_free(&arrays);
    text_free(&calls);
    return t.p;
}
