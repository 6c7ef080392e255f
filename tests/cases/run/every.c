/* every LIBRARY LIST: calls every function named in a table (libcuda.def, cudart.def) with zeros, with small numbers and
 * with junk, each in a process of its own, and prints those that crash or hang. Of the driver ones and junk a second
 * time with a context that is current, so that more than the first check is reached. Where a process takes long to
 * start (EMULATED, tests/other-arch), each function is called in one of these ways, the next one in the next. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long any(long, long, long, long, long, long, long, long, long, long, long, long);
struct texel { /* cudaChannelFormatDesc: the one result that is no number, and takes a place of the caller's */
    int v[5];
};
typedef struct texel texel_of(int, int, int, int, int);
enum { KINDS = 4, NAME = 200 };
static char writable[1 << 16];
static const char *const kind_name[KINDS] = { "zeros", "ones", "junk", "pointers" };

/* The primary context of device 0 becomes current. */
static void context_make(void *library)
{
    void *context = NULL;
    any *retain = (any *)(long)dlsym(library, "cuDevicePrimaryCtxRetain");
    any *set = (any *)(long)dlsym(library, "cuCtxSetCurrent");
    if (!retain || !set) return;
    retain((long)&context, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    set((long)context, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Structures of more than 16 bytes: arm64 hands them by the address of a copy, and no caller gets that wrong. */
static int is_copy(const char *name, int i)
{
#ifdef __aarch64__
    static const struct {
        const char *name;
        unsigned which; /* a bit for each argument */
    } copies[] = { { "cudaMalloc3DArray", 4 }, { "cudaMalloc3D", 2 }, { "cudaMallocMipmappedArray", 4 }, { "cudaMemset3D", 5 } };
    for (unsigned k = 0; k < sizeof copies / sizeof *copies; k++)
        if (!strncmp(name, copies[k].name, strlen(copies[k].name))) return copies[k].which >> i & 1;
#endif
    (void)name, (void)i;
    return 0;
}

/* Arguments of one kind. Junk is no address that can be read: only values that are handles are looked at before they are
 * used, so pointers that the API says are read or written are real ones, with zeros in them. */
static long argument(int kind, int i)
{
    switch (kind) {
    case 0: return 0;
    case 1: return 1;
    case 2: return i % 2 ? 0x12345678 + i : (long)(writable + 1024 * i);
    default: return (long)(writable + 1024 * i);
    }
}

/* One of the ways that main has for it. */
static int way(int number, int driver)
{
    static const int ways[] = { 0, 1, 2, 3, KINDS + 1, KINDS + 2 };
    return ways[number % (driver ? 6 : KINDS)];
}

/* The next name of the table: a row's function, then its variant, where the row has one. */
static int next(FILE *f, char name[NAME])
{
    static char variant[NAME];
    char line[300];
    if (variant[0]) {
        strcpy(name, variant);
        variant[0] = 0;
        return 1;
    }
    while (fgets(line, sizeof line, f)) {
        char suffix[8] = "";
        int row = sscanf(line, "CU(%190[^,], %*[^,], %*d, %7[^,]", name, suffix);
        if (row < 1) row = sscanf(line, "RT(%190[^,], %*d, %*d, %7[^,]", name, suffix);
        if (row < 1) row = sscanf(line, "FORWARD(%190[^,], %*d, %*d, %7[^,]", name, suffix);
        if (row < 2) continue;
        if (strcmp(suffix, "one")) snprintf(variant, NAME, "%s_%s", name, suffix);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char name[NAME];
    int called = 0, bad = 0, emulated = getenv("EMULATED") != NULL;
    (void)argc;
    void *library = dlopen(argv[1], RTLD_NOW);
    FILE *f = fopen(argv[2], "r");
    if (!library || !f) {
        printf("%s\n", library ? argv[2] : dlerror());
        return 2;
    }
    while (next(f, name)) {
        any *call = (any *)(long)dlsym(library, name);
        if (!call) continue; /* of another release */
        called++;
        for (int kind = 0; kind < 2 * KINDS; kind++) {
            if (kind >= KINDS && !dlsym(library, "cuInit")) break; /* the runtime makes its own context */
            if (kind == KINDS || kind == 2 * KINDS - 1) continue;  /* ones and junk are enough for the second time */
            if (emulated && kind != way(called, dlsym(library, "cuInit") != NULL)) continue;
            fflush(stdout);
            pid_t pid = fork();
            if (!pid) {
                alarm(emulated ? 120 : 20);
                if (!freopen("/dev/null", "w", stderr)) _exit(1);
                any *init = (any *)(long)dlsym(library, "cuInit");
                if (init && strcmp(name, "cuInit")) init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                if (kind >= KINDS) context_make(library);
                if (!strcmp(name, "cudaCreateChannelDesc")) {
                    struct texel t = ((texel_of *)(long)call)(1, 2, 3, (int)argument(kind, 3), 4);
                    _exit(t.v[1] != 2);
                }
                long a[12];
                for (int i = 0; i < 12; i++) a[i] = argument(is_copy(name, i) ? 3 : kind % KINDS, i);
                call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
                _exit(0);
            }
            int status = 0;
            waitpid(pid, &status, 0);
            if (!status) continue;
            bad++;
            printf("%s with %s%s: %s %d\n", name, kind_name[kind % KINDS], kind >= KINDS ? " and a context" : "", WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    printf("%d functions called, %d calls ended badly\n", called, bad);
    return bad != 0;
}
