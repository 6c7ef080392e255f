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
                      where_symbol("Py_DecRef", &py.drop);
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
