/* Calls in words: the name of the function and its arguments. */
#include "driver/gate.h"
#include <inttypes.h>
#include <stdarg.h>

/* ---- arguments by the rules of the machine's calling convention ---- */

struct walk { /* through the words of a call */
    const struct cu_call *call;
    const char *next;             /* the rest of the parameters */
    u32 registers, stack, floats; /* taken so far */
    char kind;                    /* of the parameter */
    char name[48];
    const u64 *word; /* its words */
};

/* Bytes of a parameter that is a struct; 0: it is a word. */
static u32 struct_bytes(char kind)
{
    switch (kind) {
    case '3': return 12;
    case 'C': return 20;
    case 'E': return 24;
    case 'P': return 32;
    case 'I': return 64;
    default: return 0;
    }
}

static const u64 *on_stack(struct walk *w, u32 words)
{
    const u64 *at = w->call->word + GATE_REGISTERS + w->stack;
    w->stack += words;
    return w->stack <= GATE_STACK ? at : NULL;
}
static const u64 *in_registers(struct walk *w, u32 words)
{
    if (w->registers + words <= GATE_REGISTERS) {
        w->registers += words;
        return w->call->word + w->registers - words;
    }
#ifdef __aarch64__
    w->registers = GATE_REGISTERS; /* whatever follows a struct that did not fit is on the stack, too */
#endif
    return on_stack(w, words);
}

static const u64 *place(struct walk *w)
{
    u32 bytes = struct_bytes(w->kind);
    if (w->kind == 'f' || w->kind == 'D') {
        const u64 *base = w->call->word + GATE_REGISTERS + GATE_STACK;
        return w->floats < GATE_FLOATS ? base + w->floats++ : NULL;
    }
#ifdef __aarch64__
    static const u64 none;
    if (w->kind == 'R') return &none; /* in x8 */
    if (bytes > 16) {                 /* a copy of the caller's, by its address */
        const u64 *pointer = in_registers(w, 1), *at = pointer ? (const u64 *)(uintptr_t)*pointer : NULL;
        return bytes_readable(at, bytes) ? at : NULL;
    }
#else
    if (bytes > 16) return on_stack(w, (bytes + 7) / 8);
#endif
    return in_registers(w, bytes ? (bytes + 7) / 8 : 1);
}

static bool walk_next(struct walk *w)
{
    while (*w->next == ' ') w->next++;
    size_t n = strcspn(w->next, " ");
    if (n < 2 || *w->next == '.') return false;
    w->kind = w->next[0] == 'i' && cu_call_is_wide(w->call) ? 'l' : w->next[0];
    snprintf(w->name, sizeof w->name, "%.*s", (int)MIN_OF(n - 2, sizeof w->name - 1), w->next + 2);
    w->next += n;
    w->word = place(w);
    return true;
}

bool cu_call_pointer(const struct cu_call *c, u32 index, char *kind, u64 *value)
{
    struct walk w = { .call = c, .next = cu_call_parameters(c) };
    while (walk_next(&w)) {
        if (w.kind == 'R' || index--) continue;
        *kind = w.kind;
        *value = w.word ? *w.word : 0;
        return true;
    }
    return false;
}

u64 cu_call_argument(const struct cu_call *c, u32 index)
{
    char kind;
    u64 value = 0;
    cu_call_pointer(c, index, &kind, &value);
    return value;
}

/* ---- words ---- */

struct line {
    char *p;
    size_t size, n;
};
__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    va_list args;
    if (l->n + 1 >= l->size) return;
    va_start(args, format);
    int n = vsnprintf(l->p + l->n, l->size - l->n, format, args);
    va_end(args);
    if (n > 0) l->n = MIN_OF(l->n + (size_t)n, l->size - 1);
}

/* A string of the caller, at most this much of it. */
static void string_add(struct line *l, const char *s)
{
    enum { MOST = 60 };
    char text[MOST + 1];
    size_t n = 0;
    if (!s) {
        add(l, "NULL");
        return;
    }
    for (; n < MOST && bytes_readable(s + n, 1) && s[n]; n++) text[n] = s[n] < ' ' || s[n] > '~' ? '.' : s[n];
    text[n] = 0;
    if (!n && !bytes_readable(s, 1))
        add(l, "%p", (const void *)s);
    else
        add(l, "\"%s\"%s", text, n == MOST ? "..." : "");
}

/* The kinds of parameters:
 *   p pointer, o pointer to what the call writes, d device pointer, h handle, s text, n number of 64 bits, l signed, u
 * of 32, i signed, w of 16, b of 8, x and X flags of 32 and 64, e value of an enumeration, k cudaMemcpyKind, f float, D
 * double, 3 dim3, and structs by value: C cudaChannelFormatDesc, E cudaExtent, P cudaPitchedPtr, L location (its kind
 * and number), I handle of another process; R where a struct is returned, which the caller's source does not show. */
static void argument_add(struct line *l, char kind, const u64 *w)
{
    static const char *const direction[] = { "HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice",
                                             "Default" };
    float number;
    double wide;
    if (!w) {
        add(l, "?");
        return;
    }
    switch (kind) {
    case 's': string_add(l, (const char *)(uintptr_t)*w); break;
    case 'n': add(l, "%" PRIu64, *w); break;
    case 'u': add(l, "%u", (u32)*w); break;
    case 'w': add(l, "%u", (u32)*w & 0xffff); break;
    case 'b': add(l, "%u", (u32)*w & 0xff); break;
    case 'l': add(l, "%" PRId64, (s64)*w); break;
    case 'i':
    case 'e': add(l, "%d", (s32)*w); break;
    case 'x': add(l, (u32)*w ? "0x%x" : "%u", (u32)*w); break;
    case 'k':
        if ((u32)*w < COUNT_OF(direction))
            add(l, "%s", direction[(u32)*w]);
        else
            add(l, "%d", (s32)*w);
        break;
    case 'f': memcpy(&number, w, sizeof number), add(l, "%g", (double)number); break;
    case 'D': memcpy(&wide, w, sizeof wide), add(l, "%g", wide); break;
    case '3': add(l, "(%u, %u, %u)", (u32)w[0], (u32)(w[0] >> 32), (u32)w[1]); break;
    case 'L': add(l, "(type %d, id %d)", (s32)*w, (s32)(*w >> 32)); break;
    case 'E': add(l, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", w[0], w[1], w[2]); break;
    case 'P':
        add(l, "(ptr 0x%" PRIx64 ", pitch %" PRIu64 ", xsize %" PRIu64 ", ysize %" PRIu64 ")", w[0], w[1], w[2], w[3]);
        break;
    case 'C':
        add(l, "(%d, %d, %d, %d, format %d)", (s32)w[0], (s32)(w[0] >> 32), (s32)w[1], (s32)(w[1] >> 32), (s32)w[2]);
        break;
    case 'I': add(l, "(64 bytes)"); break;
    case 'X':
    case 'h': add(l, *w ? "0x%" PRIx64 : "%" PRIu64, *w); break;
    default:
        if (*w)
            add(l, "0x%" PRIx64, *w);
        else
            add(l, "NULL");
        break;
    }
}

/* A pointer as a reader of the report needs it: addresses of the host differ from run to run. */
static bool pointer_add(struct line *l, char kind, u64 value)
{
    const struct mem_object *o = NULL;
    if ((kind != 'p' && kind != 'o' && kind != 'd' && kind != 'h') || !value) return false;
    if (kind == 'h') {
        add(l, value > 0xffff ? "handle" : "%" PRIu64, value);
        return true;
    }
    for (u32 i = 0; i < cu_process.devices && !o; i++) {
        const lk_gpu *gpu = cu_process.device[i].gpu;
        if (gpu && gpu->device->mem) o = mem_find(gpu->device->mem, value);
    }
    if (o && value != o->base)
        add(l, "%s+0x%" PRIx64, o->name, value - o->base);
    else if (o)
        add(l, "%s", o->name);
    else if (bytes_readable((const void *)(uintptr_t)value, 1))
        add(l, "host memory");
    else
        add(l, "0x%" PRIx64, value);
    return true;
}

void cu_call_text(const struct cu_call *c, char *out, size_t size, bool raw)
{
    struct line l = { out, size, 0 };
    const char *name = cu_call_name(c), *between = "";
    struct walk w = { .call = c, .next = cu_call_parameters(c) };
    add(&l, "%s(", name);
    while (walk_next(&w)) {
        if (w.kind == 'R') continue;
        add(&l, "%s%s=", between, w.name);
        if (raw || !w.word || !pointer_add(&l, w.kind, *w.word)) argument_add(&l, w.kind, w.word);
        between = ", ";
    }
    add(&l, *w.next == '.' ? "...)" : ")");
}
