/* Frames of CPython. They are asked for by its public C interface, which every client has loaded anyway; no header of
 * it is needed.
 *
 * The interpreter's lock is taken if the thread gave it up for the call, as most clients do. So the frames are asked
 * for when the call begins, before the thread holds anything that another one with that lock could wait for. */
#include "sites/where.h"

/* Of CPython, from 3.9 on. Objects are handles here. */
static struct {
    bool there; /* all of them were found */
    int (*initialised)(void), (*holds)(void), (*ensure)(void), (*finalising)(void);
    void (*release)(int), (*drop)(void *), (*clear)(void);
    void *(*thread)(void), *(*frame)(void), *(*code)(void *), *(*back)(void *), *(*attribute)(void *, const char *);
    int (*line)(void *);
    long (*number)(void *);
    int (*location)(void *, int, int *, int *, int *, int *); /* from 3.11 on, else NULL */
    const char *(*text)(void *);
} py;

bool where_python_look(void)
{
    if (py.there) return true;
    if (!where_symbol("Py_IsFinalizing", &py.finalising))
        where_symbol("_Py_IsFinalizing", &py.finalising); /* before 3.13 */
    where_symbol("PyCode_Addr2Location", &py.location);
    return py.there = where_symbol("Py_IsInitialized", &py.initialised) &&
                      where_symbol("PyGILState_Check", &py.holds) && where_symbol("PyGILState_Ensure", &py.ensure) &&
                      where_symbol("PyGILState_Release", &py.release) &&
                      where_symbol("PyGILState_GetThisThreadState", &py.thread) &&
                      where_symbol("PyEval_GetFrame", &py.frame) && where_symbol("PyFrame_GetCode", &py.code) &&
                      where_symbol("PyFrame_GetBack", &py.back) && where_symbol("PyFrame_GetLineNumber", &py.line) &&
                      where_symbol("PyObject_GetAttrString", &py.attribute) &&
                      where_symbol("PyUnicode_AsUTF8", &py.text) && where_symbol("PyErr_Clear", &py.clear) &&
                      where_symbol("PyLong_AsLong", &py.number) && where_symbol("Py_DecRef", &py.drop);
}

/* A file of Python's own library, or none: what a package or the interpreter makes. timeit's loop has no file, too. */
static bool is_library(const char *file)
{
    return file_of_package(file) || strstr(file, "/lib/python3") || !strncmp(file, "<frozen", 7);
}

/* What the script's author did not write: packages, Python's own timeit and threading, what has no file. */
static bool is_package(const char *file) { return (is_library(file) || file[0] == '<') && !where_script_title(file); }

static bool is_ours(const char *file) { return !strcmp(file, "<lockstep>"); }

/* The place of a frame; 0: the frame is of a package, and not the first one, or of Lockstep. */
static u64 frame_place(void *frame, bool first)
{
    void *code = py.code(frame), *file = code ? py.attribute(code, "co_filename") : NULL;
    void *name = code ? py.attribute(code, "co_name") : NULL;
    const char *path = file ? py.text(file) : NULL, *function = name ? py.text(name) : NULL;
    bool named = path && function && !is_ours(path) && (first || !is_package(path));
    u64 place = named ? where_line(path, function, (u32)py.line(frame)) : 0;
    if (!path || !function) py.clear();
    if (file) py.drop(file);
    if (name) py.drop(name);
    if (code) py.drop(code);
    return place;
}

bool where_python(struct where_stack *s)
{
    enum { DEEPEST = 200 };
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

bool where_python_notes(u64 handler) { return py.there && where_same_file(handler, (uintptr_t)py.initialised); }

/* ---- the statement that the thread executes ---- */

static u64 frame_at(void *frame)
{
    void *at = py.attribute(frame, "f_lasti");
    long n = at ? py.number(at) : -1;
    if (!at) py.clear();
    if (at) py.drop(at);
    return n < 0 ? 0 : (u64)n + 1;
}

/* The function of a frame. */
struct function {
    u64 id;
    bool users;  /* it is in a file of the user's, or in timeit's loop */
    bool timeit; /* that loop */
    bool with;   /* it is the __enter__ or __exit__ of a class */
    u64 cell; /* it is a statement of a notebook's cell, of which each has code of its own: the cell; 0: it is not one
               */
};

static struct function python_function(void *frame)
{
    void *code = py.code(frame), *file = code ? py.attribute(code, "co_filename") : NULL;
    void *name = code ? py.attribute(code, "co_name") : NULL;
    const char *path = file ? py.text(file) : NULL, *function = name ? py.text(name) : NULL;
    struct function f = { .id = (uintptr_t)code };
    if (path && function) {
        f.timeit = !strncmp(path, "<timeit", 7) || !strncmp(path, "<magic-timeit", 13);
        f.users = f.timeit || !is_library(path) || where_script_title(path);
        f.with = !strcmp(function, "__enter__") || !strcmp(function, "__exit__");
        if (function[0] == '<') f.cell = (uintptr_t)where_script_title(path); /* <module>, <cell line: 1> */
    } else
        py.clear();
    if (file) py.drop(file);
    if (name) py.drop(name);
    if (code) py.drop(code);
    return f;
}

/* Whether the expression may be a read of a clock: a call without arguments, of a function with such a name. */
static bool is_clock(const char *text)
{
    static const char *const word[] = { "time", "clock", "counter", "monotonic", "now", "tic", "toc" };
    size_t n = strlen(text);
    if (n < 3 || strcmp(text + n - 2, "()") != 0) return false;
    const char *dot = strrchr(text, '.');
    for (u32 i = 0; i < COUNT_OF(word); i++)
        if (strstr(dot ? dot : text, word[i])) return true;
    return false;
}

/* Whether a statement, at an instruction of a frame, reads a clock by the script's own words. The interpreter does so
 * for itself, too: to collect garbage, to sleep. Before 3.11 only the line is known, and a call is looked for in it. */
static bool reads_clock(void *frame, u64 at, u64 place)
{
    int first = 0, from = -1, last = 0, to = -1;
    void *code = py.code(frame);
    char *line = where_script_line(place), *end;
    bool is = false;
    if (line && code && py.location && py.location(code, (int)at - 1, &first, &from, &last, &to) && first == last &&
        from >= 0 && to > from && (size_t)to <= strlen(line)) {
        line[to] = 0;
        is = is_clock(line + from);
    } else
        for (char *p = line; p && !is && (end = strstr(p, "()")); p = end + 1) {
            char was = end[2];
            end[2] = 0;
            is = is_clock(p);
            end[2] = was;
        }
    if (line && !strncmp(line + strspn(line, " \t"), "while ", 6)) is = false; /* it asks for how long it goes on */
    base_free(line);
    if (code) py.drop(code);
    return is;
}

static bool reads_clock_kept(void *frame, const struct where_statement *s)
{
    enum { SEEN = 64 };
    static _Thread_local struct seen {
        u64 code, at;
        bool reads;
    } seen[SEEN]; /* a loop asks for the same statements each time */
    struct seen *k = &seen[(s->code / 16 + s->at) % SEEN];
    if (k->code != s->code || k->at != s->at) *k = (struct seen){ s->code, s->at, reads_clock(frame, s->at, s->place) };
    return k->reads;
}

/* The line of the frame, or of the first one after it that has a file. */
static u64 line_of_user(void *frame)
{
    enum { DEEPEST = 20 };
    void *owned = NULL;
    u64 place = 0;
    for (u32 depth = 0; frame && depth < DEEPEST && !place; depth++) {
        if (python_function(frame).users) place = frame_place(frame, false);
        void *back = py.back(frame);
        if (owned) py.drop(owned);
        frame = owned = back;
    }
    if (owned) py.drop(owned);
    return place;
}

bool where_python_clock(u64 address, struct where_statement *s)
{
    static u64 known; /* atomic: the last address that was one of the interpreter's */
    if (!py.there || !py.initialised() || !py.thread() || !py.holds()) return false;
    if (address != __atomic_load_n(&known, __ATOMIC_RELAXED)) {
        if (!where_same_file(address, (uintptr_t)py.initialised)) return false;
        __atomic_store_n(&known, address, __ATOMIC_RELAXED);
    }
    void *frame = py.frame(), *owned = NULL;
    struct function f = frame ? python_function(frame) : (struct function){ 0 };
    if (!f.users) return false;
    *s = (struct where_statement){ line_of_user(frame), (uintptr_t)frame, f.id, frame_at(frame) };
    if (!s->place || !s->at || (!f.timeit && !reads_clock_kept(frame, s))) return false;
    if (f.cell) *s = (struct where_statement){ s->place, f.cell, f.cell, s->at | (u64)py.line(frame) << 32 };
    if (f.with && (owned = py.back(frame))) {
        f = python_function(owned);
        *s = (struct where_statement){ line_of_user(owned), (uintptr_t)owned, f.id, frame_at(owned) };
        py.drop(owned);
    }
    return s->place && s->at;
}
