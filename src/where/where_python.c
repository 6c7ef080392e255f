/* Frames of CPython. They are asked for by its public C interface, which every client has loaded anyway; no header of
 * it is needed.
 *
 * The interpreter's lock is taken if the thread gave it up for the call, as most clients do. So the frames are asked
 * for when the call begins, before the thread holds anything that another one with that lock could wait for. */
#include "where/where.h"

/* Of CPython, from 3.9 on. Objects are handles here. */
static struct {
    bool there; /* all of them were found */
    int (*initialised)(void), (*holds)(void), (*ensure)(void), (*finalising)(void);
    void (*release)(int), (*drop)(void *), (*clear)(void);
    void *(*thread)(void), *(*frame)(void), *(*code)(void *), *(*back)(void *), *(*attribute)(void *, const char *);
    int (*line)(void *);
    long (*number)(void *);
    const char *(*text)(void *);
} py;

bool where_python_look(void)
{
    if (py.there) return true;
    if (!where_symbol("Py_IsFinalizing", &py.finalising))
        where_symbol("_Py_IsFinalizing", &py.finalising); /* before 3.13 */
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

static bool is_package(const char *file) { return file_of_package(file) || file[0] == '<'; }

/* The place of a frame; 0: the frame is of a package, and not the first one. */
static u64 frame_place(void *frame, bool first)
{
    void *code = py.code(frame), *file = code ? py.attribute(code, "co_filename") : NULL;
    void *name = code ? py.attribute(code, "co_name") : NULL;
    const char *path = file ? py.text(file) : NULL, *function = name ? py.text(name) : NULL;
    u64 place = path && function && (first || !is_package(path)) ? where_line(path, function, (u32)py.line(frame)) : 0;
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

/* ---- the statement that the thread executes ---- */

/* A file of Python's own library, or none: what a package or the interpreter makes. timeit's loop has no file, too. */
static bool is_library(const char *file)
{
    return file_of_package(file) || strstr(file, "/lib/python3") || !strncmp(file, "<frozen", 7);
}

static u64 frame_at(void *frame)
{
    void *at = py.attribute(frame, "f_lasti");
    long n = at ? py.number(at) : -1;
    if (!at) py.clear();
    if (at) py.drop(at);
    return n < 0 ? 0 : (u64)n + 1;
}

/* Whether the function of a frame is the user's, and whether it is the __enter__ or __exit__ of a class. */
static bool frame_is_users(void *frame, u64 *id, bool *with)
{
    void *code = py.code(frame), *file = code ? py.attribute(code, "co_filename") : NULL;
    void *name = code ? py.attribute(code, "co_name") : NULL;
    const char *path = file ? py.text(file) : NULL, *function = name ? py.text(name) : NULL;
    bool is = path && function && !is_library(path);
    *with = is && (!strcmp(function, "__enter__") || !strcmp(function, "__exit__"));
    *id = (uintptr_t)code;
    if (!path || !function) py.clear();
    if (file) py.drop(file);
    if (name) py.drop(name);
    if (code) py.drop(code);
    return is;
}

/* The line of the frame, or of the first one behind it that has a file. */
static u64 line_of_user(void *frame)
{
    enum { DEEPEST = 20 };
    void *owned = NULL;
    u64 place = 0, code;
    bool with;
    for (u32 depth = 0; frame && depth < DEEPEST && !place; depth++) {
        if (frame_is_users(frame, &code, &with)) place = frame_place(frame, false);
        void *back = py.back(frame);
        if (owned) py.drop(owned);
        frame = owned = back;
    }
    if (owned) py.drop(owned);
    return place;
}

bool where_python_statement(u64 address, struct where_statement *s)
{
    static u64 known; /* atomic: the last address that was one of the interpreter's */
    bool with, is;
    if (!py.there || !py.initialised() || !py.thread() || !py.holds()) return false;
    if (address != __atomic_load_n(&known, __ATOMIC_RELAXED)) {
        if (!where_same_file(address, (uintptr_t)py.initialised)) return false;
        __atomic_store_n(&known, address, __ATOMIC_RELAXED);
    }
    void *frame = py.frame(), *owned = NULL;
    if (!frame || !(is = frame_is_users(frame, &s->code, &with))) return false;
    if (with && (frame = owned = py.back(frame))) is = frame_is_users(frame, &s->code, &with);
    if (frame && is) {
        s->frame = (uintptr_t)frame;
        s->at = frame_at(frame);
        s->place = line_of_user(frame);
    }
    if (owned) py.drop(owned);
    return frame && is && s->place && s->at;
}

static bool reads_clock_maybe(u64 place)
{
    static const char *const clock[] = {
        "time()", "time_ns()", "perf_counter", "monotonic", "timer", "now()", "timeit"
    };
    static const char *const waits[] = { "sleep(", "acquire(", "wait(", "join(", "get(", "select(", "poll(" };
    char *line = where_script_line(place);
    bool reads = false, other = false, loop = line && !strncmp(line + strspn(line, " \t"), "while ", 6);
    for (u32 i = 0; line && i < COUNT_OF(clock); i++) reads |= strstr(line, clock[i]) != NULL;
    for (u32 i = 0; line && i < COUNT_OF(waits); i++) other |= strstr(line, waits[i]) != NULL;
    base_free(line);
    return !loop && (reads || !other);
}

bool where_python_reads_clock_maybe(u64 place)
{
    enum { SEEN = 64 };
    static _Thread_local struct seen {
        u64 place;
        bool reads;
    } seen[SEEN]; /* a loop asks for the same lines each time */
    struct seen *s = &seen[place % SEEN];
    if (s->place != place) *s = (struct seen){ place, reads_clock_maybe(place) };
    return s->reads;
}
