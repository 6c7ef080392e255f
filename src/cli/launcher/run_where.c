/* The sites of one process, as it told them, and what they are called. A site is looked up when a report names it. */
#include "base/demangle.h"
#include "base/printable.h"
#include "base/xml.h"
#include "launcher/run_where.h"
#include <stdlib.h>

enum { RECORDS = 1 << 16, ADDRESSES = 32, SHOWN = 6 };

struct module {
    u64 low, high, bias;
    char *path;
};
struct modules { /* one list of files; a later one holds for later sites */
    struct module *m;
    u32 n, cap;
    struct debug *debug; /* NULL: not opened yet */
    struct modules *before;
};
struct line { /* of a script */
    u64 place;
    u32 number;
    char *file, *function;
    char *text; /* where it is in no file; else NULL */
};
struct trace_record { /* a site, or a name */
    char function[64];
    u32 n; /* addresses of a site */
    u64 address[ADDRESSES];
    u32 site;                      /* a name: of which call */
    bool global;                   /* a name: at address[0] */
    bool script;                   /* a name: what the line of a script assigns */
    bool package;                  /* the same: compiled code of a package made the call */
    bool held;                     /* a name: of a pointer; address[0] as where.h has it, then the places */
    u32 has_end;                   /* a local name: address[2] is known; of a pointer: a bit for each place */
    bool resolved;                 /* what follows is known */
    char *brief;                   /* "main.cu:41"; a name: the variable or "" */
    char *stack;                   /* "step (main.cu:41), main (main.cu:60)" */
    char *file;                    /* of the source, else the program's; "": not known */
    u32 line;                      /* 0: not known */
    bool launch;                   /* it was written as kernel<<<...>>>(...) */
    const struct modules *modules; /* when it was made */
};
struct host_sites {
    struct trace_record *record[RECORDS]; /* by number */
    struct modules *modules;              /* the last list */
    VEC(struct line) line;                /* of scripts */
    struct text rest;                     /* of a line that was not whole yet */
    struct arena mem;
};

struct host_sites *sites_new(void) { return base_need(sizeof(struct host_sites)); }

void sites_free(struct host_sites *s)
{
    if (!s) return;
    for (struct modules *m = s->modules, *before; m; m = before) {
        before = m->before;
        debug_free(m->debug);
        base_free(m->m);
    }
    text_free(&s->rest);
    arena_free(&s->mem);
    base_free(s);
}

/* ---- what the program says ---- */

static void module_read(struct host_sites *s, char *words)
{
    struct modules *l = s->modules;
    char *p = words;
    u64 low = strtoull(p, &p, 16), high = strtoull(p, &p, 16), bias = strtoull(p, &p, 16);
    if (!l || *p != ' ') return;
    NEED_ROOM(l->m, l->n, l->cap, 32);
    l->m[l->n++] = (struct module){ low, high, bias, arena_str(&s->mem, str_of(p + 1)) };
}

static void script_read(struct host_sites *s, char *p)
{
    struct line l = { .place = strtoull(p, &p, 16) };
    l.number = (u32)strtoul(p, &p, 10);
    char *tab = strchr(p, '\t');
    if (*p != ' ' || !tab) return;
    l.file = arena_str(&s->mem, (struct str){ p + 1, (u32)(tab - p - 1) });
    char *text = strchr(tab + 1, '\t');
    l.function = arena_str(&s->mem, (struct str){ tab + 1, (u32)(text ? text - tab - 1 : (s64)strlen(tab + 1)) });
    l.text = text ? arena_str(&s->mem, str_of(text + 1)) : NULL;
    VEC_PUSH(&s->mem, &s->line, l);
}

static const struct line *script_at(const struct host_sites *s, u64 place)
{
    for (u32 i = 0; i < s->line.n; i++)
        if (s->line.p[i].place == place) return &s->line.p[i];
    return NULL;
}

static void site_read(struct host_sites *s, struct trace_record *r, char *p)
{
    size_t n = strcspn(p, " ");
    (void)s;
    snprintf(r->function, sizeof r->function, "%.*s", (int)MIN_OF(n, sizeof r->function - 1), p);
    char *under = strrchr(r->function, '_'); /* of cuMemAlloc_v2, cudaMemcpy_ptds: not as people write it */
    if (under && (!strcmp(under, "_ptsz") || !strcmp(under, "_ptds"))) *under = 0;
    under = strrchr(r->function, '_');
    if (under && under[1] == 'v' && under[2] >= '2' && under[2] <= '9' && !under[3]) *under = 0;
    for (p += n; *p == ' ' && r->n < ADDRESSES;) r->address[r->n++] = strtoull(p, &p, 16);
}

static void named_read(struct trace_record *r, char *p)
{
    r->site = (u32)strtoul(p, &p, 16);
    r->global = !strncmp(p, " global ", 8);
    r->package = !strcmp(p, " script package");
    if ((r->script = !strncmp(p, " script", 7))) return;
    if ((r->held = !strncmp(p, " held ", 6))) {
        r->address[0] = strtoull(p + 6, &p, 16);
        for (r->n = 1; *p && r->n + 3 <= ADDRESSES; r->n += 3)
            for (u32 i = 0; i < 3 && *p; i++) {
                bool none = i == 2 && !strncmp(p, " -", 2);
                if (i == 2 && !none) r->has_end |= 1u << r->n / 3;
                r->address[r->n + i] = none ? 0 : strtoull(p, &p, 16);
                if (none) p += 2;
            }
        return;
    }
    if (!r->global && strncmp(p, " local ", 7) != 0) return;
    p += r->global ? 8 : 7;
    for (u32 i = 0; i < 3 && *p; i++) {
        r->has_end |= i == 2 && *p != '-' && p[1] != '-';
        r->address[i] = strtoull(p, &p, 16);
    }
}

static void line_read(struct host_sites *s, char *line)
{
    if (!strcmp(line, "modules")) {
        struct modules *l = NEW(&s->mem, struct modules);
        l->before = s->modules;
        s->modules = l;
        return;
    }
    if (!strncmp(line, "module ", 7)) {
        module_read(s, line + 7);
        return;
    }
    if (!strncmp(line, "line ", 5)) {
        script_read(s, line + 5);
        return;
    }
    bool site = !strncmp(line, "site ", 5);
    if (!site && strncmp(line, "name ", 5) != 0) return;
    char *p;
    u64 number = strtoull(line + 5, &p, 16);
    if (number >= RECORDS || *p != ' ') return;
    struct trace_record *r = s->record[number] = NEW(&s->mem, struct trace_record);
    r->modules = s->modules;
    if (site)
        site_read(s, r, p + 1);
    else
        named_read(r, p + 1);
}

void sites_read(struct host_sites *s, struct str text)
{
    text_put(&s->rest, text.p, text.n);
    char *p = s->rest.p, *end;
    if (!p) return;
    for (; (end = strchr(p, '\n')); p = end + 1) {
        *end = 0;
        line_read(s, p);
    }
    s->rest.n = strlen(p);
    memmove(s->rest.p, p, s->rest.n + 1);
}

/* ---- what a site is called ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const struct module *module_at(const struct modules *l, u64 address)
{
    for (u32 i = 0; l && i < l->n; i++)
        if (address >= l->m[i].low && address < l->m[i].high) return &l->m[i];
    return NULL;
}

bool sites_is_in(const struct host_sites *s, u32 number, const char *file)
{
    const struct trace_record *r = number < RECORDS ? s->record[number] : NULL;
    const struct module *m = r && r->n ? module_at(r->modules, r->address[0]) : NULL;
    return m && !strncmp(base_name(m->path), file, strlen(file));
}

static struct debug *debug_of(const struct modules *l)
{
    struct modules *mine = (struct modules *)(uintptr_t)l;
    if (!mine->debug) mine->debug = debug_new();
    return mine->debug;
}

/* A header of the CUDA toolkit: one of the folders above it holds cuda_fp16.h. */
static bool is_toolkit(const char *file)
{
    char path[600];
    if (!strstr(file, "/include/")) return false;
    snprintf(path, sizeof path - 20, "%s", file);
    for (u32 up = 0; up < 6; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        memcpy(slash, "/cuda_fp16.h", 13);
        if (file_exists(path)) return true;
        *slash = 0;
    }
    return false;
}

/* Not of a header of CUDA or of the C++ library, nor what nvcc makes for a launch. */
static bool is_users(const struct host_frame *f)
{
    return !strstr(f->file, "/usr/include/") && !strstr(f->file, "/include/c++/") &&
           !strstr(f->file, ".cudafe1.stub.c") && !is_toolkit(f->file);
}

static bool is_stub(const struct host_frame *f)
{
    return strstr(f->function, "__device_stub_") != NULL; /* of a template: __wrapper__device_stub_NAME as well */
}

/* What calls main, and it calls nothing else of the program. */
static bool is_start(const struct host_frame *f)
{
    return !strncmp(f->function, "__libc_start", 12) || !strcmp(f->function, "_start");
}

/* Whether the function is the kernel's own host side, which calls nvcc's stub: the stub has the mangled name of that
 * function in its own. Where the compiler made the call a jump, the function that calls the stub is the program's. */
static bool is_host_side(const struct host_frame *f, const char *stub)
{
    const char *end = f->function + strcspn(f->function, "(<"), *from = end;
    char name[300];
    while (from > f->function && from[-1] != ':' && from[-1] != ' ') from--;
    if (from == end || strlen(stub) + 1 >= sizeof f->function) return true; /* not known, or not the whole name */
    snprintf(name, sizeof name, "%d%.*s", (int)(end - from), (int)MIN_OF(end - from, 250), from);
    if (strstr(stub, name)) return true;
    const char *plain = strstr(stub, "__device_stub_"); /* of C, and of a template's wrapper, by the plain name */
    plain = plain ? plain + strlen("__device_stub_") : "";
    plain += *plain == '_';
    return !strncmp(plain, from, (size_t)(end - from));
}

/* A function of the toolkit's headers or of the C++ library in a program without debug information, which would name
 * the header: cudaMalloc, made from its template, __cudaLaunchKernel_helper, thrust::sort. */
static bool is_headers(const char *name)
{
    static const char *const space[] = { "thrust::", "cub::", "cuda::", "std::", "__gnu_cxx::" };
    if (begins_with(name, space, COUNT_OF(space))) return true;
    name += !strncmp(name, "__", 2) ? 2 : 0;
    return !strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z';
}

struct naming {
    struct text brief, stack;
    u32 shown;
    char file[600]; /* of the first function that is shown */
    u32 line;
    bool launch;
    char stub[128]; /* nvcc's, of the function before; "": that was another one */
};

static void frame_take(struct naming *n, const struct host_frame *f, const struct module *m, u64 address)
{
    bool host_side = n->stub[0] && is_host_side(f, n->stub);
    n->stub[0] = 0;
    if (is_stub(f)) snprintf(n->stub, sizeof n->stub, "%s", f->function);
    n->launch |= is_stub(f);
    if (host_side || is_stub(f) || is_start(f)) return;
    if (!is_users(f)) return;
    if (!f->file[0] && is_headers(f->function)) return;
    char place[700];
    if (f->file[0] && f->line)
        snprintf(place, sizeof place, "%s:%u", base_name(f->file), f->line);
    else if (f->file[0]) /* an assembly */
        snprintf(place, sizeof place, "%s", base_name(f->file));
    else
        snprintf(place, sizeof place, "%s+0x%llx", m ? base_name(m->path) : "",
                 (unsigned long long)(address - (m ? m->bias : 0)));
    if (!n->shown) {
        snprintf(n->file, sizeof n->file, "%s", f->file[0] ? f->file : m ? m->path : "");
        n->line = f->file[0] ? f->line : 0;
        text_add(&n->brief, "%s", place);
        if (!f->file[0] && f->function[0]) text_add(&n->brief, " (%s)", f->function);
    }
    if (n->shown++ >= SHOWN) return;
    text_add(&n->stack, "%s%s (%s)", n->stack.n ? ", " : "", f->function[0] ? f->function : "?", place);
}

static bool is_libc(const struct module *m) { return m && !strncmp(base_name(m->path), "libc.so", 7); }

/* ptx_run, which calls the driver for the program. */
static bool is_between(const struct module *m) { return m && !strcmp(base_name(m->path), "libgpuocelot.so"); }

/* Ours: they call host functions of the program, too. */
static bool is_ours(const struct module *m)
{
    const char *name = m ? base_name(m->path) : "";
    return !strncmp(name, "liblockstep.so", 14) || !strncmp(name, "libcudart.so", 12) ||
           !strncmp(name, "libcuda.so", 10);
}

/* Libraries that the program's code calls: libc, and ours. */
static bool is_called(const struct module *m) { return !m || is_libc(m) || is_ours(m); }

/* The first address of the program's own code: a signal comes in memcpy or in abort, too. 0: there is none, it is the
 * first one. */
static u32 own_code(const struct trace_record *r)
{
    if (strcmp(r->function, "signal") != 0 && strcmp(r->function, "access") != 0) return 0;
    for (u32 i = 0; i < r->n; i++)
        if (!is_called(module_at(r->modules, r->address[i]))) return i;
    return 0;
}

/* Chooses the innermost script line that the user wrote; without such a line, the first one, of a package.
 * NULL: there are none. */
static const struct line *script_first(const struct host_sites *s, const struct trace_record *r)
{
    const struct line *first = r->n ? script_at(s, r->address[0]) : NULL, *next = NULL;
    if (!first || (!file_of_package(first->file) && first->file[0] != '<')) return first;
    if (r->n > 1) next = script_at(s, r->address[1]);
    return next ? next : first;
}

static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/* The text of a line: from base_alloc, NULL: there is none. */
static char *script_line(const struct line *l)
{
    struct str text;
    if (l && l->text) {
        char *copy = base_need(strlen(l->text) + 1);
        return strcpy(copy, l->text);
    }
    if (!l || !l->number || !file_read_if(l->file, &text)) return NULL;
    char *all = (char *)(uintptr_t)text.p, *p = all;
    for (u32 k = 1; p && k < l->number; k++) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    if (p) {
        size_t n = strcspn(p, "\n");
        memmove(all, p, n);
        all[n] = 0;
        return all;
    }
    base_free(all);
    return NULL;
}

/* The variable that a line assigns, "": none, or several. */
static void assigned_name(const char *p, char *name, size_t size)
{
    p += strspn(p, " \t");
    size_t n = strspn(p, word), behind = n + strspn(p + n, " \t");
    if (!strchr(p, ';') && n && p[behind] == '=' && p[behind + 1] != '=')
        snprintf(name, size, "%.*s", (int)MIN_OF(n, size - 1), p);
}

/* The variable that a line of C# gives to a call to be written: the only `out at`, `out var at`. "": there is none. */
static void out_name(const char *line, char *name, size_t size)
{
    const char *p = strstr(line, "out ");
    if (!p || strstr(p + 4, "out ") || (p > line && strchr(word, p[-1]))) return;
    p += 4 + strspn(p + 4, " ");
    size_t n = strspn(p, word);
    if (n && p[n] == ' ') { /* after its type */
        p += n + strspn(p + n, " ");
        n = strspn(p, word);
    }
    if (n && (p[n] == ',' || p[n] == ')')) snprintf(name, size, "%.*s", (int)MIN_OF(n, size - 1), p);
}

/* What a call's new memory is called in the script that made it. */
static void script_name(const struct line *first, bool by_package, char *name, size_t size)
{
    size_t n = first ? strlen(first->file) : 0;
    char *line = script_line(first);
    if (line && n > 3 && !strcmp(first->file + n - 3, ".cs"))
        out_name(line, name, size);
    else if (line && by_package) /* what the user's line assigns is an array; otherwise it is what the call returned */
        assigned_name(line, name, size);
    base_free(line);
}

static void site_resolve(struct host_sites *s, struct trace_record *r)
{
    struct naming n = { 0 };
    for (u32 i = own_code(r); i < r->n; i++) {
        struct host_frame f[FRAMES_AT] = { 0 };
        const struct line *l = script_at(s, r->address[i]);
        if (l) {
            if (l != script_first(s, r) && !n.shown) continue;
            snprintf(f->file, sizeof f->file, "%s", l->file);
            snprintf(f->function, sizeof f->function, "%s", l->function);
            f->line = l->number;
            frame_take(&n, f, NULL, 0);
            continue;
        }
        const struct module *m = module_at(r->modules, r->address[i]);
        if (is_between(m)) continue;
        /* what called main, the function of a thread, or a host function; main itself may have no frame pointer */
        if ((n.shown || n.launch) && is_called(m)) break;
        u32 k = m ? debug_frames(debug_of(r->modules), m->path, m->bias, r->address[i] - 1, f) : 1;
        for (u32 j = 0; j < k; j++) frame_take(&n, &f[j], m, r->address[i]);
    }
    if (!n.shown && r->n) { /* nvcc's stub alone: the program has no frame pointers */
        u32 last = r->n - 1;
        while (last && is_called(module_at(r->modules, r->address[last]))) last--;
        const struct module *m = module_at(r->modules, r->address[last]);
        u64 in = r->address[last] - (m ? m->bias : 0);
        text_add(&n.brief, "%s%s0x%llx", m ? base_name(m->path) : "", m ? "+" : "", (unsigned long long)in);
        text_add(&n.stack, "%s (compile with -fno-omit-frame-pointer for the line)", n.brief.p);
    }
    r->brief = arena_str(&s->mem, str_of(n.brief.p ? n.brief.p : ""));
    r->stack = arena_str(&s->mem, str_of(n.stack.p ? n.stack.p : ""));
    r->file = arena_str(&s->mem, str_of(n.file));
    r->line = n.line;
    r->launch = n.launch;
    r->resolved = true;
    text_free(&n.brief);
    text_free(&n.stack);
}

static void global_name(const struct trace_record *r, u64 address, char *name, size_t size)
{
    for (u32 i = 0; r->modules && i < r->modules->n && !name[0]; i++) {
        const struct module *m = &r->modules->m[i];
        if (i && m->bias == m[-1].bias) continue;
        debug_global(debug_of(r->modules), m->path, m->bias, address, name, size);
    }
    struct arena tmp = { 0 };
    struct demangled d;
    if (demangle(&tmp, str_of(name), &d)) snprintf(name, size, "%s", d.name); /* a static variable of a function */
    arena_free(&tmp);
}

/* The name of what the local variable of a function is returned into: of the function that is `owner` inlined calls
 * further out than what stands in that frame. */
static void returned_look(const struct trace_record *r, const struct trace_record *site, u64 frame, u32 owner,
                          char *name, size_t size)
{
    enum { MOST = 40 };
    struct host_frame *f = base_need(sizeof *f * (MOST + FRAMES_AT));
    u32 n = 0;
    for (u64 k = frame; k < site->n && n < MOST; k++) {
        const struct module *m = module_at(site->modules, site->address[k]);
        if (!m) break;
        n += debug_frames(debug_of(r->modules), m->path, m->bias, site->address[k] - 1, f + n);
    }
    u32 users = owner;
    while (users < n && !is_users(&f[users])) users++;
    if (users > owner) { /* a variable of a header, as Thrust's, has a name that nobody knows */
        name[0] = 0;
        if (users < n) declared_name(&f[users], name, size);
    } else if (owner < n)
        returned_name(f + owner, n - owner, name, size);
    base_free(f);
}

/* The variable at a place of a frame of the site, three words: frame, from its stack pointer, from its end; `returned`:
 * of the caller, where the function returns what it holds. */
static void local_name(const struct trace_record *r, const struct trace_record *site, const u64 *place, bool has_end,
                       bool returned, char *name, size_t size)
{
    if (!site || place[0] >= site->n) return;
    u64 code = site->address[place[0]] - 1;
    const struct module *m = module_at(r->modules, code);
    u32 owner;
    if (!m) return;
    debug_local(debug_of(r->modules), m->path, m->bias, code, place[1], has_end, (s64)place[2], name, size, &owner);
    if (returned && name[0]) returned_look(r, site, place[0], owner, name, size);
}

/* Whether the frame of a site is of a function that the user wrote, and not of what nvcc makes for a launch. */
static bool is_written(const struct trace_record *site, u64 frame)
{
    struct naming n = { 0 };
    bool shown = false;
    for (u64 i = 0; i <= frame && i < site->n; i++) {
        struct host_frame f[FRAMES_AT] = { 0 };
        const struct module *m = module_at(site->modules, site->address[i]);
        u32 k = m ? debug_frames(debug_of(site->modules), m->path, m->bias, site->address[i] - 1, f) : 1;
        u32 before = n.shown;
        for (u32 j = 0; j < k; j++) frame_take(&n, &f[j], m, site->address[i]);
        shown = n.shown != before;
    }
    text_free(&n.brief);
    text_free(&n.stack);
    return shown;
}

/* ", held by x": the variable that holds a pointer; ", the variable x": the one that it leads to. */
static void held_resolve(struct host_sites *s, struct trace_record *r, const struct trace_record *site)
{
    char name[128] = "", text[160] = "";
    if (r->address[0] > 1) global_name(r, r->address[0], name, sizeof name);
    if (r->address[0] == 1 && r->n == 4) local_name(r, site, &r->address[1], r->has_end & 1, false, name, sizeof name);
    bool leads = name[0] != 0;
    size_t n = strlen(name);
    if (n > 3 && !strcmp(name + n - 3, "[0]")) name[n - 3] = 0; /* the pointer leads to all of the array */
    for (u32 i = 1; r->address[0] != 1 && site && i < r->n && !name[0]; i += 3)
        if (is_written(site, r->address[i]))
            local_name(r, site, &r->address[i], r->has_end >> i / 3 & 1, false, name, sizeof name);
    if (name[0]) snprintf(text, sizeof text, ", %s %s", leads ? "the variable" : "held by", name);
    r->brief = arena_str(&s->mem, str_of(text));
    r->resolved = true;
}

static void name_resolve(struct host_sites *s, struct trace_record *r)
{
    char name[128] = "";
    const struct trace_record *site = r->site < RECORDS ? s->record[r->site] : NULL;
    if (r->held) {
        held_resolve(s, r, site);
        return;
    }
    if (r->script) {
        const struct line *first = site ? script_first(s, site) : NULL;
        script_name(first, r->package || (first && first->place != site->address[0]), name, sizeof name);
    } else if (r->global) {
        global_name(r, r->address[0], name, sizeof name);
    } else
        local_name(r, site, r->address, r->has_end, true, name, sizeof name);
    r->brief = arena_str(&s->mem, str_of(name));
    r->resolved = true;
}

static struct trace_record *record_at(struct host_sites *s, u64 number, bool site)
{
    struct trace_record *r = number < RECORDS ? s->record[number] : NULL;
    if (!r || (r->function[0] != 0) != site) return NULL;
    if (!r->resolved) {
        if (site)
            site_resolve(s, r);
        else
            name_resolve(s, r);
    }
    return r;
}

/* ---- marks in a text ---- */

static void put_quoted(struct text *out, const char *z, enum quoting q)
{
    if (q == QUOTE_XML) {
        text_xml(out, z);
        return;
    }
    if (q == QUOTE_NOT) { /* the text around it may have colours, so that the streams let controls of it pass */
        printable(str_of(z), out);
        return;
    }
    for (; *z; z++) {
        if (*z == '"' || *z == '\\')
            text_add(out, "\\%c", *z);
        else if ((u8)*z >= 0x20 && *z != 0x7f)
            text_put(out, z, 1);
    }
}

/* { "physicalLocation": ... }, whatever file the text is for; nothing where no file is known. */
static void put_location(struct text *out, const struct trace_record *r)
{
    if (!r->file[0]) return;
    text_add(out, "{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"%s", r->file[0] == '/' ? "file://" : "");
    for (const u8 *p = (const u8 *)r->file; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     strchr("/._-~", *p);
        text_add(out, plain ? "%c" : "%%%02X", *p);
    }
    text_add(out, "\"}");
    if (r->line) text_add(out, ",\"region\":{\"startLine\":%u}", r->line);
    text_add(out, "}}");
}

/* Replaces the mark at z; the bytes it had, 0: it is not one. */
static u32 mark_expand(struct host_sites *s, const char *z, const char *end, bool at, enum quoting q, struct text *out)
{
    char copy[200], *rest, words[900];
    size_t n = MIN_OF((size_t)(end - z), sizeof copy - 1);
    memcpy(copy, z, n);
    copy[n] = 0;
    if (n < 7 || memcmp(copy, "{lk@", 4) != 0 || !strchr("sfhnjv", copy[4])) return 0;
    u64 number = strtoull(copy + 5, &rest, 16), nth = 0;
    if (*rest == '#') nth = strtoull(rest + 1, &rest, 10);
    const char *called = *rest == '=' ? rest + 1 : NULL;
    if (called) rest += strcspn(rest, "}");
    const struct trace_record *r = *rest == '}' ? record_at(s, number, copy[4] != 'n' && copy[4] != 'v') : NULL;
    if (!r) return 0;
    if (copy[4] == 'j') {
        put_location(out, r);
        return (u32)(rest + 1 - copy);
    }
    if (copy[4] == 'v' || (copy[4] == 'n' && r->brief[0]))
        snprintf(words, sizeof words, "%s", r->brief);
    else if (copy[4] == 'n' && called)
        snprintf(words, sizeof words, "%.*s", (int)(rest - called), called);
    else if (copy[4] == 'n')
        snprintf(words, sizeof words, "buffer %llu", (unsigned long long)nth);
    else if (copy[4] == 'h')
        snprintf(words, sizeof words, "%s", r->stack);
    else if (copy[4] == 'f')
        snprintf(words, sizeof words, "%s", r->function);
    else if (at)
        snprintf(words, sizeof words, "%s", r->brief);
    else
        snprintf(words, sizeof words, "%s at %s", r->launch ? "the launch" : r->function, r->brief);
    put_quoted(out, words, q);
    return (u32)(rest + 1 - copy);
}

void sites_expand(struct host_sites *s, struct str text, enum quoting q, struct text *out)
{
    const char *z = text.p, *end = text.p + text.n;
    while (z < end) {
        const char *brace = memchr(z, '{', (size_t)(end - z));
        if (brace) {
            text_put(out, z, (size_t)(brace - z));
            bool at = brace - text.p >= 3 && !memcmp(brace - 3, "at ", 3);
            u32 n = mark_expand(s, brace, end, at, q, out);
            if (!n) text_put(out, "{", 1);
            z = brace + (n ? n : 1);
        } else {
            text_put(out, z, (size_t)(end - z));
            z = end;
        }
    }
}
