/* Fuzz target of what `lockstep run` reads of a program: the first byte chooses.
 *
 *   0  the bytes are an object file, whose CUDA runtime is looked for (front_object.c): every function that would be
 *      redirected lies in code of the file
 *   1  the bytes are an image for cuModuleLoadData, cuLibraryLoadData and the linker, which are told no size: behind
 *      them is a page without access
 *   2  the bytes choose entries of kernelParams, or of the list `extra`: good ones, NULL, device pointers, junk, memory
 *      that ends early. The launch works when all are good, and says so otherwise
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is given.
 */
#include "driver/cu.h"
#include "driver/cu_engine.h"
#include "front/front_object.c"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
enum { PAGE_BYTES = 1 << 16 };
#define NOTHING ((size_t)1 << 36)

/* ---- an object file ---- */

static const uint8_t *now; /* the bytes of the file */
static size_t now_bytes;

/* What the rest of the module would do. */
const char *const front_runtime_file[FRONT_RUNTIMES] = { "11", "12", "13" };
struct front_entry *front_entry_of(uint32_t runtime, const char *name)
{
    static struct front_entry one;
    CHECK(runtime < FRONT_RUNTIMES && strlen(name) < now_bytes);
    return name[0] == 'c' ? &one : NULL;
}
void front_say(const char *format, ...) { (void)format; }
void *front_memory(size_t bytes)
{
    void *p = bytes < 1u << 28 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    return p == MAP_FAILED ? NULL : p;
}
bool front_exec_is(const char *name) { return !strncmp(name, "exec", 4); }
bool front_signal_is(const char *name) { return !strcmp(name, "sigaction"); }
bool front_clock_is(const char *name);
bool front_clock_is(const char *name) { return !strcmp(name, "clock"); }
uintptr_t front_producer_of(const char *name, uintptr_t real, uintptr_t bias)
{
    (void)name, (void)real, (void)bias;
    return 0;
}

static bool is_file_code(uint64_t at, uint64_t bytes)
{
    Elf64_Ehdr h;
    memcpy(&h, now, sizeof h);
    for (u32 i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        u64 from = h.e_phoff + (u64)i * sizeof p;
        if (from > now_bytes || now_bytes - from < sizeof p) return false;
        memcpy(&p, now + from, sizeof p);
        if (p.p_type == PT_LOAD && p.p_flags & PF_X && at >= p.p_vaddr && bytes <= p.p_memsz &&
            at - p.p_vaddr <= p.p_memsz - bytes)
            return true;
    }
    return false;
}

bool front_redirect(struct front_hit *hit, size_t hits, bool bti, enum front_failure *why)
{
    (void)bti, (void)why;
    for (size_t i = 0; i < hits; i++) CHECK(hit[i].entry && is_file_code((uintptr_t)hit[i].at, hit[i].bytes));
    return true;
}

static void object_read(const uint8_t *data, size_t size)
{
    char path[40];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    now = data;
    now_bytes = size;
    file_put(fd, (const char *)data, size);
    front_object(path, 0, false);
    close(fd);
}

/* ---- the driver ---- */

static struct cu_context *context;
static void *kernel;
static u64 memory;                          /* of the device */
static u8 *edge;                            /* behind this address nothing can be read */
static const u32 takes[] = { 8, 4, 4, 64 }; /* bytes of each parameter */

CU_API(cuModuleLoadData)(struct cu_image **out, const void *image);
CU_API(cuCtxCreate_v2)(struct cu_context **out, unsigned flags, int device);
CU_API(cuModuleUnload)(struct cu_image *m);
CU_API(cuModuleGetFunction)(void **out, struct cu_image *m, const char *name);
CU_API(cuLaunchKernel)
(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
 void **params, void **extra);

static void driver_open(void)
{
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry f(.param .u64 .ptr .global a, .param .u32 b, .param .f32 c, .param .align 8 "
        ".b8 d[64])\n{\n ret;\n}\n";
    struct cu_image *m;
    if (context) return;
    setenv("LOCKSTEP_DEVICES", "h200", 1);
    cu_engine = &cu_engine_of_run; /* of the archive, nothing else brings it in */
    CHECK(!lkcu_cuInit(0) && !lkcu_cuCtxCreate_v2(&context, 0, 0));
    CHECK(!lkcu_cuModuleLoadData(&m, ptx) && !lkcu_cuModuleGetFunction(&kernel, m, "f"));
    CHECK(!lkcu_cuMemAlloc_v2(&memory, 256));
    /* Wherever an offset of 36 bits leads, there is nothing: else it is memory of the sanitizers. */
    u8 *p = mmap(NULL, 2 * NOTHING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED && !mprotect(p + NOTHING - PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE));
    edge = p + NOTHING;
}

static void image_load(const uint8_t *data, size_t size)
{
    struct cu_image *m;
    if (!size || size > PAGE_BYTES / 2) return;
    u8 *at = edge - (size + 7) / 8 * 8; /* images are aligned */
    memset(at, 0, (size_t)(edge - at));
    memcpy(at, data, size);
    if (!lkcu_cuModuleLoadData(&m, at)) lkcu_cuModuleUnload(m);
}

/* An entry for a parameter of so many bytes; *good: it can be read. */
static void *entry_of(u8 choice, u32 bytes, const uint8_t *junk, bool *good)
{
    static u64 value[16];
    u64 word;
    memcpy(&word, junk, 8);
    switch (choice % 6) {
    case 0: return value;
    case 1: *good = false; return NULL;
    case 2: *good = false; return (void *)(uintptr_t)(memory + word % 256);
    case 3: return edge - bytes; /* its last byte is the last one that can be read */
    case 4: *good = false; return edge - bytes + 1 + word % bytes;
    default: *good = false; return (void *)(uintptr_t)(word % 4096);
    }
}

static void params_launch(const uint8_t *data, size_t size)
{
    u8 bytes[64] = { 0 };
    void *list[4], *extra[8], **given = list, **buffer = NULL;
    bool good = true;
    memcpy(bytes, data, MIN_OF(size, sizeof bytes));
    for (u32 i = 0; i < COUNT_OF(takes); i++) list[i] = entry_of(bytes[i], takes[i], bytes + 8 + 8 * i, &good);
    if (bytes[4] % 4 == 1) { /* the list itself ends early */
        u32 missing = 1 + bytes[5] % COUNT_OF(takes);
        given = (void **)(void *)edge - (COUNT_OF(takes) - missing);
        if (missing < COUNT_OF(takes)) memcpy(given, list, (COUNT_OF(takes) - missing) * sizeof *list);
        good = false;
    }
    if (bytes[4] % 4 == 2) { /* one buffer: { 1, pointer, 2, &bytes, 0 } */
        static u64 room;
        u64 whole = 16 + 64;
        room = bytes[6] & 1 ? whole : bytes[7];
        u8 *from = bytes[6] & 2 ? edge - whole : edge - room / 2;
        extra[0] = (void *)1, extra[1] = from, extra[2] = (void *)2, extra[3] = &room, extra[4] = NULL;
        good = room >= whole && from + room <= edge;
        if (bytes[6] & 4) extra[4 - 2 * (bytes[6] >> 3 & 1)] = (void *)(uintptr_t)(bytes[7] | 4), good = false;
        extra[5] = extra[6] = extra[7] = NULL;
        buffer = extra;
        given = NULL;
    }
    cu_result r = lkcu_cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, given, buffer);
    CHECK(good ? r == CU_OK : r == CU_INVALID_VALUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    if (data[0] % 3 == 0) object_read(data + 1, size - 1);
    if (data[0] % 3) driver_open();
    if (data[0] % 3 == 1) image_load(data + 1, size - 1);
    if (data[0] % 3 == 2) params_launch(data + 1, size - 1);
    return 0;
}
#ifdef REPLAY
#include "replay.h"
#endif
