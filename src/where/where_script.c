/* Lines of Python: a thread that came into a call from an interpreter has frames there, and those are what its author
 * knows. They are asked for by the public C interface of CPython, which every client has loaded anyway; no header of it
 * is needed. A line of a script is a place like a code address: a number in a range that no code has.
 *
 * The interpreter's lock is taken if the thread gave it up for the call, as most clients do. So the frames are asked
 * for when the call begins, before the thread holds anything that another one with that lock could wait for. */
#include "where/where.h"
#include <dlfcn.h>
#include <inttypes.h>

enum { LINES = 1 << 15, SLOTS = 2 * LINES };

struct line {
    u64 hash;             /* of what follows */
    u32 number;           /* of the line */
    const char *file;     /* as the interpreter has it */
    const char *function; /* "main" */
};
static struct {
    lock_t lock;
    struct line line[LINES]; /* from 1 on */
    u32 slot[SLOTS];         /* the number at a hash, 0: free */
    u32 n;                   /* lines */
    struct arena mem;
} t = { .lock = LOCK_INIT };

/* Of CPython, from 3.9 on. Objects are handles here. */
static struct {
    bool there; /* all of them were found */
    int (*initialised)(void), (*holds)(void), (*ensure)(void), (*finalising)(void);
    void (*release)(int), (*drop)(void *), (*clear)(void);
    void *(*thread)(void), *(*frame)(void), *(*code)(void *), *(*back)(void *), *(*attribute)(void *, const char *);
    int (*line)(void *);
    const char *(*text)(void *);
} py;

static bool find(const char *name, void *to)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &f, sizeof f);
    return f;
}

bool where_scripts_look(void)
{
    if (py.there) return true;
    if (!find("Py_IsFinalizing", &py.finalising)) find("_Py_IsFinalizing", &py.finalising); /* before 3.13 */
    return py.there = find("Py_IsInitialized", &py.initialised) && find("PyGILState_Check", &py.holds) &&
                      find("PyGILState_Ensure", &py.ensure) && find("PyGILState_Release", &py.release) &&
                      find("PyGILState_GetThisThreadState", &py.thread) && find("PyEval_GetFrame", &py.frame) &&
                      find("PyFrame_GetCode", &py.code) && find("PyFrame_GetBack", &py.back) &&
                      find("PyFrame_GetLineNumber", &py.line) && find("PyObject_GetAttrString", &py.attribute) &&
                      find("PyUnicode_AsUTF8", &py.text) && find("PyErr_Clear", &py.clear) &&
                      find("Py_DecRef", &py.drop);
}

/* ---- lines, each kept once ---- */

static void line_tell(u32 number)
{
    const struct line *l = &t.line[number];
    where_tell("line %" PRIx64 " %u %.2000s\t%.200s\n", WHERE_SCRIPT | number, l->number, l->file, l->function);
}

void where_scripts_tell(void)
{
    for (u32 i = 1; i <= t.n; i++) line_tell(i);
}

/* Its place; 0: there is no room for more. */
static u64 line_keep(const char *file, const char *function, u32 number)
{
    u64 hash = str_hash(str_of(file)) * 31 + str_hash(str_of(function)) + number * 0x9e3779b97f4a7c15ull;
    u32 at = (u32)(hash % SLOTS), k;
    lock(&t.lock);
    for (; (k = t.slot[at]); at = (at + 1) % SLOTS) {
        const struct line *l = &t.line[k];
        if (l->hash == hash && l->number == number && !strcmp(l->file, file) && !strcmp(l->function, function)) break;
    }
    if (!k && t.n < LINES - 1) {
        k = t.slot[at] = ++t.n;
        t.line[k] = (struct line){ hash, number, arena_str(&t.mem, str_of(file)), arena_str(&t.mem, str_of(function)) };
        line_tell(k);
    }
    unlock(&t.lock);
    return k ? WHERE_SCRIPT | k : 0;
}

bool where_script_text(u64 address, struct text *out)
{
    u32 k = (u32)(address & ~WHERE_SCRIPT);
    if ((address & WHERE_SCRIPT) != WHERE_SCRIPT || !k || k > t.n) return false;
    const char *slash = strrchr(t.line[k].file, '/');
    text_add(out, "%s:%u", slash ? slash + 1 : t.line[k].file, t.line[k].number);
    return true;
}

/* ---- frames ---- */

static bool is_package(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") || file[0] == '<';
}

/* The place of a frame; 0: the frame is of a package, and not the first one. */
static u64 frame_place(void *frame, bool first)
{
    void *code = py.code(frame), *file = code ? py.attribute(code, "co_filename") : NULL;
    void *name = code ? py.attribute(code, "co_name") : NULL;
    const char *path = file ? py.text(file) : NULL, *function = name ? py.text(name) : NULL;
    u64 place = path && function && (first || !is_package(path)) ? line_keep(path, function, (u32)py.line(frame)) : 0;
    if (!path || !function) py.clear();
    if (file) py.drop(file);
    if (name) py.drop(name);
    if (code) py.drop(code);
    return place;
}

bool where_script(struct where_stack *s)
{
    enum { DEEPEST = 200 };
    s->n = 0;
    if (!py.there || !py.initialised() || !py.thread()) return false;
    bool holds = py.holds();
    if (!holds && py.finalising && py.finalising()) return false;
    int was = holds ? 0 : py.ensure();
    void *frame = py.frame(), *owned = NULL; /* the first one is borrowed */
    for (u32 depth = 0; frame && depth < DEEPEST && s->n < WHERE_FRAMES; depth++) {
        u64 place = frame_place(frame, !depth);
        if (place) s->address[s->n++] = place;
        void *back = py.back(frame);
        if (owned) py.drop(owned);
        frame = owned = back;
    }
    if (owned) py.drop(owned);
    if (!holds) py.release(was);
    return s->n;
}
