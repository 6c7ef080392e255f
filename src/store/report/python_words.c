/* Sentences about kernels of Numba in Python's words: their authors write cuda.syncthreads(), and know neither
 * __syncthreads() nor the name that Numba gives to an array in shared memory. A kernel is one of these if its place is
 * in a file of Python and its name has the module in front, as Numba's have and Triton's have not. */
#include "report/entry.h"
#include "base/c_text.h"
#include "sites/where.h"

static bool is_numba(const struct finding *f)
{
    const char *file = f->place ? f->place->file : NULL;
    size_t n = file ? strlen(file) : 0;
    return n > 3 && (!strcmp(file + n - 3, ".py") || where_script_title(file)) && f->kernel &&
           (strstr(f->kernel, "::") || !strncmp(f->kernel, "_ZN", 3));
}

/* Whether the word stands in a line, and not as a part of another. */
static bool has_word(struct str line, const char *word, size_t n)
{
    for (u32 i = 0; i + n <= line.n; i++)
        if (!memcmp(line.p + i, word, n) && is_whole_word(line.p, line.p + i, n, line.p + line.n)) return true;
    return false;
}

/* The variable that a line assigns an array in shared memory to; its length, 0: none. */
static size_t shared_name(const char *line, size_t n)
{
    size_t blanks = 0, name, eq;
    while (blanks < n && line[blanks] == ' ') blanks++;
    name = blanks + word_span(line + blanks, line + n);
    for (eq = name; eq < n && line[eq] == ' '; eq++) {}
    if (name == blanks || eq == n || line[eq] != '=') return 0;
    for (size_t i = eq; i + 13 <= n; i++)
        if (!memcmp(line + i, "shared.array(", 13)) return name;
    return 0;
}

/* The variable of the script that an array in shared memory is assigned to: the only one of the function that the place
 * is in, or the only one that the line of the place has. false: it is not certain. */
static bool array_name(const struct finding *f, char *out, size_t size)
{
    struct source s;
    u32 in_function = 0, in_line = 0, number = 1;
    char only[64] = "", used[64] = "";
    source_open(f->place, &s);
    if (!s.all.p || !s.line.p) return false;
    for (const char *p = s.all.p, *end = p + s.all.n; p < end; number++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p), blanks = strspn(p, " "), name;
        if (n > blanks + 4 && !memcmp(p + blanks, "def ", 4)) {
            if (number > f->place->line) break;
            in_function = in_line = 0;
        }
        if ((name = shared_name(p, n))) {
            snprintf(only, sizeof only, "%.*s", (int)(name - blanks), p + blanks);
            in_function++;
            if (has_word(s.line, only, strlen(only))) {
                snprintf(used, sizeof used, "%s", only);
                in_line++;
            }
        }
        p += n + 1;
    }
    if (in_function == 1 || in_line == 1) snprintf(out, size, "%s", in_function == 1 ? only : used);
    return in_function == 1 || in_line == 1;
}

/* The variables that the function of the place assigns the thread's numbers to: `i, j = cuda.grid(2)`. How many, 0: not
 * known. */
static u32 grid_names(const struct finding *f, char names[3][32])
{
    struct source s;
    u32 found = 0, number = 1;
    source_open(f->place, &s);
    for (const char *p = s.all.p, *end = p ? p + s.all.n : p; p < end && number <= f->place->line; number++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p), blanks = strspn(p, " ");
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)MIN_OF(n, sizeof line - 1), p);
        if (n > blanks + 4 && !memcmp(p + blanks, "def ", 4)) found = 0;
        if (strstr(line, "= cuda.grid(") &&
            sscanf(line, " %31[A-Za-z0-9_] , %31[A-Za-z0-9_] , %31[A-Za-z0-9_]", names[0], names[1], names[2]) > 0)
            found = (u32)sscanf(line, " %31[A-Za-z0-9_] , %31[A-Za-z0-9_] , %31[A-Za-z0-9_]", names[0], names[1],
                                names[2]);
        p += n + 1;
    }
    return found;
}

/* The guard of an index, `if (i < n) ...` or `if (x < rows && y < columns) ...`, as the kernel's author would write it.
 * The bytes of it at p, 0: there is none. */
static size_t guard_words(const struct finding *f, const char *p, struct text *out)
{
    char names[3][32];
    int n = 0;
    if (!strncmp(p, "if (i < n) ...", 14)) {
        bool named = grid_names(f, names) == 1;
        text_add(out, "if %s < %s%s: ...", named ? names[0] : "i", f->parameter ? f->parameter : "n",
                 f->parameter ? ".size" : "");
        return 14;
    }
    static const char *const unit[] = { "columns", "rows", "planes" };
    u64 dim[8];
    u32 count = grid_names(f, names), dims = f->parameter ? dimensions(f->object_type, dim) : 0;
    const char *at = p + 4, *sign = "if ";
    struct text guard = { 0 };
    if (strncmp(p, "if (", 4) != 0) return 0;
    for (char axis; sscanf(at, "%c < %n", &axis, &n) == 1 && n == 4 && axis >= 'x' && axis <= 'z'; sign = " and ") {
        u32 k = 0, of = (u32)(axis - 'x');
        while (k < COUNT_OF(unit) && strncmp(at + 4, unit[k], strlen(unit[k])) != 0) k++;
        if (k == COUNT_OF(unit)) break;
        text_add(&guard, "%s", sign);
        if (of < count && count > 1)
            text_add(&guard, "%s", names[of]);
        else
            text_add(&guard, "%c", axis);
        if (k < dims)
            text_add(&guard, " < %s.shape[%u]", f->parameter, dims - 1 - k);
        else
            text_add(&guard, " < %s", unit[k]);
        at += 4 + strlen(unit[k]);
        if (!strncmp(at, " && ", 4)) at += 4;
    }
    bool whole = guard.n && !strncmp(at, ") ...", 5);
    if (whole) text_add(out, "%s: ...", guard.p);
    text_free(&guard);
    return whole ? (size_t)(at + 5 - p) : 0;
}

static const struct {
    const char *c, *python;
} words[] = {
    { "__syncthreads()", "cuda.syncthreads()" },
    { "__syncwarp()", "cuda.syncwarp()" },
    { "__threadfence()", "cuda.threadfence()" },
    { "atomicAdd", "cuda.atomic.add" },
    { "atomicMax", "cuda.atomic.max" },
    { "atomicMin", "cuda.atomic.min" },
    { "atomicCAS", "cuda.atomic.cas" },
    { "atomicExch", "cuda.atomic.exch" },
    { "blockIdx.x * blockDim.x + threadIdx.x", "cuda.grid(1)" },
    { "(x, y: thread numbers in the grid)", "(x, y = cuda.grid(2))" },
    { "(x, y, z: thread numbers in the grid)", "(x, y, z = cuda.grid(3))" },
    { "threadIdx.", "cuda.threadIdx." },
    { "blockIdx.", "cuda.blockIdx." },
    { "cudaDeviceSynchronize()", "cuda.synchronize()" },
};

void python_words(const struct entry *e, struct text *t)
{
    static const char shared[] = "_cudapy_smem";
    struct text out = { 0 };
    char name[64] = "";
    if (!t->p || !is_numba(&e->f)) return;
    if (strstr(t->p, shared) && !array_name(&e->f, name, sizeof name)) name[0] = 0;
    for (const char *p = t->p; *p;) {
        u32 i = 0;
        size_t guard = *p == 'i' ? guard_words(&e->f, p, &out) : 0;
        p += guard;
        if (guard) continue;
        while (i < COUNT_OF(words) && strncmp(p, words[i].c, strlen(words[i].c))) i++;
        if (i < COUNT_OF(words)) {
            text_add(&out, "%s", words[i].python);
            p += strlen(words[i].c);
        } else if (name[0] && !strncmp(p, shared, strlen(shared))) {
            text_add(&out, "%s", name);
            p += word_span(p, NULL);
        } else
            text_put(&out, p++, 1);
    }
    text_free(t);
    *t = out;
}
