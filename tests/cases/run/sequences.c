/* sequences LIBRARY TABLE PTX COUNT LENGTH [SEED]: random sequences of the calls named in a table (libcuda.def,
 * cudart.def), each in a process of its own. Arguments are drawn by the kind and the name that the table gives them:
 * handles that calls before have given (live, or destroyed since), of the same class or another, junk and NULL; pointers
 * into memory that is the program's; sizes up to 2^64 - 1. What ends with a signal, or not within 20 seconds, is printed
 * with its seed; with a SEED that one sequence alone is made, and each call is printed before it is made. */
#include <ctype.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long any(long, long, long, long, long, long, long, long, long, long, long, long);
enum { CALLS = 900, PARAMETERS = 12, NAME = 100, HANDLES = 16, AREA = 1 << 20, MARGIN = 1 << 28, STRUCT = 512 };
enum class { STREAM, EVENT, EXEC, NODE, GRAPH, MODULE, KERNEL, LIBRARY, FUNCTION, CONTEXT, MIPMAP, ARRAY, POOL, TEXTURE, SURFACE, MEMORY, OTHER, CLASSES };

struct parameter {
    char kind, name[47];
};
static struct call {
    char name[NAME];
    any *call;
    int parameters;
    struct parameter p[PARAMETERS];
} calls[CALLS];
static int calls_count;
static struct {
    uint64_t value[HANDLES];
    int count;
} known[CLASSES];
static char *area; /* that the calls read and write; nothing can be, around it */
static uint64_t state;
static int is_shown, is_polite; /* polite: a call without junk, as far as one can tell by the names of its parameters */
static int is_host;             /* the call is about functions of the host */
static int is_copy;             /* the call copies or sets memory: a handle as its address would be the program's own harm */

static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned below(unsigned n) { return draw() % n; }

static long nothing(void) { return 0; }

/* ---- the table ---- */

/* Reads a row: the exported name, and the parameters of its first text. False: it is none, its parameters are not known,
 * or it returns no result code. */
static int row_read(char *line, struct call *c)
{
    char *text = strchr(line, '"'), *end = text ? strchr(text + 1, '"') : NULL;
    if (sscanf(line, "%*[CURTFOWAD](%99[^,],", c->name) != 1 || !end || !strstr(line, ", r,")) return 0;
    *end = 0;
    c->parameters = 0;
    for (char *w = strtok(text + 1, " "); w; w = strtok(NULL, " ")) {
        if (c->parameters == PARAMETERS || w[1] != ':' || strchr("3CEIP", w[0])) return 0; /* structures by value */
        c->p[c->parameters].kind = w[0];
        snprintf(c->p[c->parameters++].name, sizeof c->p[0].name, "%s", w + 2);
    }
    return 1;
}

static void table_read(void *library, const char *path)
{
    static char line[4096], more[2048];
    FILE *f = fopen(path, "r");
    if (!f) exit(2);
    while (fgets(line, sizeof line - sizeof more, f)) {
        if (strchr(line, '(') && isupper(line[0]) && !strchr(line, '"') && fgets(more, sizeof more, f)) strcat(line, more);
        struct call *c = &calls[calls_count];
        if (calls_count == CALLS || !row_read(line, c)) continue;
        c->call = (any *)(long)dlsym(library, c->name);
        calls_count += c->call && !strstr(c->name, "StreamWaitValue") && !strstr(c->name, "BatchMemOp"); /* they would wait for ever */
    }
    fclose(f);
}

/* ---- arguments ---- */

static enum class class_of(const char *name)
{
    static const struct {
        const char *part;
        enum class class;
    } word[] = { { "stream", STREAM },   { "event", EVENT },     { "exec", EXEC },         { "node", NODE },       { "dependenc", NODE }, { "graph", GRAPH },
                 { "tex", TEXTURE },     { "surf", SURFACE },    { "mip", MIPMAP },        { "array", ARRAY },     { "pool", POOL },      { "kernel", KERNEL },
                 { "lib", LIBRARY },     { "func", FUNCTION },   { "mod", MODULE },        { "ctx", CONTEXT },     { "context", CONTEXT }, { "ptr", MEMORY },
                 { "src", MEMORY },      { "dst", MEMORY } };
    char small[48];
    int n = 0;
    for (; name[n]; n++) small[n] = (char)tolower(name[n]);
    small[n] = 0;
    if (!strcmp(small, "f")) return FUNCTION;
    if (!strcmp(small, "start") || !strcmp(small, "end")) return EVENT;
    for (unsigned i = 0; i < sizeof word / sizeof *word; i++)
        if (strstr(small, word[i].part)) return word[i].class;
    return OTHER;
}

static uint64_t handle(enum class c)
{
    unsigned how = is_polite ? 15 : below(16);
    if (how == 0) return 0;
    if (how == 1) return draw() >> below(64);
    if (how == 2 && !is_copy) c = below(CLASSES);
    if (!known[c].count) return below(4) ? 0 : (uint64_t)(uintptr_t)area;
    uint64_t is = known[c].value[below(known[c].count)];
    return c == MEMORY && !below(3) ? is + below(300) : is;
}

static uint64_t number(void)
{
    switch (is_polite ? below(2) * 6 + 5 : below(12)) {
    case 0: return 0;
    case 1: return UINT64_MAX >> below(64);
    case 2: return (uint64_t)1 << below(64);
    case 3: return below(1 << 16);
    case 4: return draw();
    case 5: return 4u << below(10);
    default: return below(9);
    }
}

/* Functions where parameters of a node have one, as CUDA_HOST_NODE_PARAMS and CUgraphNodeParams of a host node. */
static void functions_put(char *at)
{
    long function = (long)nothing;
    uint32_t type;
    memcpy(&type, at, sizeof type);
    if (is_host) memcpy(at, &function, sizeof function);
    if (type == 2) memcpy(at + 16, &function, sizeof function);
}

/* Where a call reads or writes; zeros, or words of all kinds. */
static char *pointed(int filled)
{
    char *at = area + below(AREA / 2 / STRUCT) * STRUCT;
    if (!is_polite && !below(8)) return NULL;
    memset(at, 0, STRUCT);
    for (int i = 0; filled && i < STRUCT / 8; i++) {
        uint64_t word = 0;
        switch (below(6)) {
        case 0: word = number(); break;
        case 1: word = handle(is_copy ? MEMORY : below(CLASSES)); break;
        case 2: word = (uint64_t)(uintptr_t)(area + below(AREA / 2)); break;
        case 3: word = (uint64_t)below(8) << 32 | below(8); break;
        default: break;
        }
        memcpy(at + 8 * i, &word, 8);
    }
    if (filled) functions_put(at);
    return at;
}

static int is_function(const char *name)
{
    return strcasestr(name, "callback") || !strcmp(name, "fn") || !strcmp(name, "destroy") || strstr(name, "SMemSize");
}

static long argument(const struct parameter *p)
{
    static char *const text[] = { "", "scale", "out_of", "no such file", "%s%n", "0000:00:00.0" };
    if (p->kind != 'o' && is_function(p->name)) return (long)nothing;
    switch (p->kind) {
    case 'h': return (long)handle(class_of(p->name));
    case 'd': {
        int is_device = strstr(p->name, "dev") && class_of(p->name) != MEMORY;
        return is_device ? (is_polite ? 0 : (long)below(3) - 1) : (long)handle(MEMORY);
    }
    case 'X':
    case 'x':
    case 'e': return is_polite && below(2) ? (long)below(2) : (long)number();
    case 'o': return (long)pointed(0);
    case 'p': return (long)pointed(below(3) > 0);
    case 's': return (long)text[below(6)];
    default: return (long)number();
    }
}

/* What a call has written becomes known. */
static void results_keep(const struct call *c, const long *a)
{
    for (int i = 0; i < c->parameters; i++) {
        uint64_t value;
        if (c->p[i].kind != 'o' || !a[i]) continue;
        memcpy(&value, (void *)a[i], 8);
        enum class k = class_of(c->p[i].name);
        if (value < 16 || (k == OTHER && value < 4096)) continue;
        if (known[k].count < HANDLES) known[k].value[known[k].count++] = value;
        else known[k].value[below(HANDLES)] = value;
    }
}

/* ---- a sequence ---- */

/* A context, a module and its kernels, with which a sequence begins. */
static void begin(void *library, const char *ptx)
{
    void *context = NULL, *module = NULL, *function = NULL;
    any *init = (any *)(long)dlsym(library, "cuInit");
    if (!init) return;
    init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ((any *)(long)dlsym(library, "cuDevicePrimaryCtxRetain"))((long)&context, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ((any *)(long)dlsym(library, "cuCtxSetCurrent"))((long)context, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ((any *)(long)dlsym(library, "cuModuleLoad"))((long)&module, (long)ptx, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    ((any *)(long)dlsym(library, "cuModuleGetFunction"))((long)&function, (long)module, (long)"scale", 0, 0, 0, 0, 0, 0, 0, 0, 0);
    if (!function) exit(2);
    known[CONTEXT].value[known[CONTEXT].count++] = (uint64_t)(uintptr_t)context;
    known[MODULE].value[known[MODULE].count++] = (uint64_t)(uintptr_t)module;
    known[FUNCTION].value[known[FUNCTION].count++] = (uint64_t)(uintptr_t)function;
}

static void sequence(void *library, const char *ptx, int length)
{
    area = (char *)mmap(NULL, 3 * MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + MARGIN;
    if (mprotect(area, AREA, PROT_READ | PROT_WRITE)) exit(2);
    begin(library, ptx);
    for (int n = 0; n < length; n++) {
        const struct call *c = &calls[below(calls_count)];
        long a[PARAMETERS] = { 0 };
        is_polite = below(4) > 0;
        is_host = strstr(c->name, "Host") != NULL;
        is_copy = strstr(c->name, "Mem") || strstr(c->name, "Graph");
        for (int i = 0; i < c->parameters; i++) a[i] = argument(&c->p[i]);
        if (is_shown) {
            fprintf(stderr, "%d %s(", n, c->name);
            for (int i = 0; i < c->parameters; i++) fprintf(stderr, "%s%s=%#lx", i ? ", " : "", c->p[i].name, a[i]);
            fprintf(stderr, ")");
        }
        long r = c->call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
        if (is_shown) fprintf(stderr, " = %ld\n", r);
        if (!(int)r) results_keep(c, a);
    }
    exit(0);
}

int main(int argc, char **argv)
{
    if (argc < 6) return 2;
    int count = atoi(argv[4]), length = atoi(argv[5]), bad = 0;
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return puts(dlerror()), 2;
    table_read(library, argv[2]);
    if (argc > 6) {
        is_shown = 1;
        state = strtoull(argv[6], NULL, 10);
        sequence(library, argv[3], length);
    }
    for (int seed = 1; seed <= count; seed++) {
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            alarm(getenv("EMULATED") ? 120 : 20);
            if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(1);
            state = seed;
            sequence(library, argv[3], length);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFSIGNALED(status) && WEXITSTATUS(status) != 2) continue;
        bad++;
        printf("seed %d: %s %d\n", seed, WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    printf("%s calls, %d of the sequences ended badly\n", calls_count > 200 ? "many" : "too few", bad);
    return bad || count < 1;
}
