/* every LIBRARY LIST: calls every function named in a table (libcuda.def, cudart.def) with zeros, with small numbers and
 * with junk, each in a process of its own, and prints those that crash or hang. */
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
enum { KINDS = 4 };
static char writable[1 << 16];
static const char *const kind_name[KINDS] = { "zeros", "ones", "junk", "pointers" };

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

int main(int argc, char **argv)
{
    char line[300], name[200];
    int called = 0, bad = 0;
    (void)argc;
    void *library = dlopen(argv[1], RTLD_NOW);
    FILE *f = fopen(argv[2], "r");
    if (!library || !f) {
        printf("%s\n", library ? argv[2] : dlerror());
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "CU(%199[^,]", name) != 1 && sscanf(line, "CUDART(%199[^,]", name) != 1) continue;
        any *call = (any *)(long)dlsym(library, name);
        if (!call) continue; /* of another release */
        called++;
        for (int kind = 0; kind < KINDS; kind++) {
            fflush(stdout);
            pid_t pid = fork();
            if (!pid) {
                int status;
                alarm(20);
                if (!freopen("/dev/null", "w", stderr)) _exit(1);
                any *init = (any *)(long)dlsym(library, "cuInit");
                if (init && strcmp(name, "cuInit")) init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                (void)status;
                if (!strcmp(name, "cudaCreateChannelDesc")) {
                    struct texel t = ((texel_of *)(long)call)(1, 2, 3, (int)argument(kind, 3), 4);
                    _exit(t.v[1] != 2);
                }
                call(argument(kind, 0), argument(kind, 1), argument(kind, 2), argument(kind, 3), argument(kind, 4),
                     argument(kind, 5), argument(kind, 6), argument(kind, 7), argument(kind, 8), argument(kind, 9),
                     argument(kind, 10), argument(kind, 11));
                _exit(0);
            }
            int status = 0;
            waitpid(pid, &status, 0);
            if (!status) continue;
            bad++;
            printf("%s with %s: %s %d\n", name, kind_name[kind], WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    printf("%d functions called, %d calls ended badly\n", called, bad);
    return bad != 0;
}
