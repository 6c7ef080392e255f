/* Finding a kernel by what somebody calls it, and saying what there is when that fails. */
#include "base/demangle.h"
#include "compile/compile.h"
#include "api/host.h"

enum { LISTED = 5, LIST_CHARACTERS = 300 };

static const char *file_of(const lk_module *m) { return m->source ? m->source : m->dev->ptx->name; }

/* "a::b::f<int>" without scopes and template arguments: what a slip of the keyboard is compared with. */
static const char *last_name(struct arena *a, const char *name)
{
    const char *from = name;
    size_t n = strcspn(name, "<(");
    for (const char *p = name; p + 1 < name + n; p++)
        if (p[0] == ':' && p[1] == ':') from = p + 2;
    return arena_str(a, (struct str){ from, (u32)(name + n - from) });
}

/* Up to five of n names, the nearest to `name` first. */
static void nearest(struct arena *a, const char *const *names, u32 n, const char *name, struct text *out)
{
    u32 taken[LISTED], listed = 0;
    const char *want = last_name(a, name);
    for (; listed < LISTED && listed < n && out->n < LIST_CHARACTERS; listed++) {
        u32 best = UINT32_MAX, best_at = 0;
        for (u32 i = 0; i < n; i++) {
            bool used = false;
            for (u32 k = 0; k < listed; k++) used |= taken[k] == i;
            u32 d = used ? UINT32_MAX : str_distance(want, last_name(a, names[i]));
            if (d < best) {
                best = d;
                best_at = i;
            }
        }
        taken[listed] = best_at;
        text_add(out, "%s%.80s", listed ? ", " : "", names[best_at]);
    }
    if (n > listed) text_add(out, " and %u more", n - listed);
}

static bool has(const char *const *names, u32 n, const char *name)
{
    for (u32 i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* The templates of the source, each once: they are in no PTX until somebody asks for an instance. */
static u32 templates(struct arena *a, const lk_module *m, const char ***names, const char ***instances)
{
    struct str source;
    struct declared *d;
    VEC(const char *) list = { 0 }, instance = { 0 };
    if (m->source && file_read_if(m->source, &source)) {
        word_list folders = { 0 };
        for (u32 i = 0; i < m->folders; i++) VEC_PUSH(a, &folders, m->folder[i]);
        u32 n = declared_with_headers(a, m->source, source, &folders, &d);
        for (u32 i = 0; i < n; i++) {
            const char *name = declared_template(a, &d[i]);
            if (!d[i].is_template || has(list.p, list.n, name)) continue;
            VEC_PUSH(a, &list, name);
            VEC_PUSH(a, &instance, declared_instance(a, &d[i]));
        }
        base_free((void *)source.p);
    }
    *names = list.p;
    *instances = instance.p;
    return list.n;
}

static void none_error(lk_module *m, const char *name, struct error *e)
{
    struct arena a = { 0 };
    const char **more, **instance;
    u32 n = templates(&a, m, &more, &instance), all = 0;
    const char **names = NEW_ARRAY(&a, const char *, m->kernels + n + 1);
    for (u32 i = 0; i < m->kernels; i++)
        if (!has(names, all, m->kernel[i].plain)) names[all++] = m->kernel[i].plain;
    for (u32 i = 0; i < n; i++) names[all++] = more[i];
    struct text list = { 0 };
    const char *template = NULL, *start = n ? instance[0] : "";
    for (u32 i = 0; name && i < n && !template; i++)
        if (!strcmp(last_name(&a, more[i]), last_name(&a, name))) template = more[i], start = instance[i];
    nearest(&a, names, all, name ? name : "", &list);
    if (template && !strchr(name, '<'))
        error_set(e, ERR_INPUT, "%.150s: `%.100s` is a template; name an instance of it, as in '%.150s:%.100s'",
                  file_of(m), template, file_of(m), start);
    else if (!all)
        error_set(e, ERR_INPUT, "%.200s has no kernel; a kernel is declared __global__, or .entry in PTX", file_of(m));
    else if (!name)
        error_set(e, ERR_INPUT, "%.100s has only templates of kernels: %.250s. Name an instance, as in '%.60s:%.60s'",
                  file_of(m), list.p, file_of(m), start);
    else
        error_set(e, ERR_INPUT, "%.200s has no kernel `%.60s`; it has %s", file_of(m), name, list.p);
    text_free(&list);
    arena_free(&a);
}

/* Whether no two kernels that fit have the same name: their parameters need not be told then. */
static bool names_differ(const lk_module *m, const char *name, enum name_fit fit)
{
    struct arena a = { 0 };
    struct map seen = { 0 };
    bool differ = true;
    for (u32 i = 0; i < m->kernels && differ; i++) {
        if (name_fits(m->kernel[i].func->name, name) != fit) continue;
        differ = !map_get(&seen, str_of(m->kernel[i].plain));
        map_put(&a, &seen, str_of(m->kernel[i].plain), (void *)m->kernel[i].plain);
    }
    arena_free(&a);
    return differ;
}

/* Several kernels fit: their names or, of equal names, their signatures; none is cut off. */
static void ambiguous(lk_module *m, const char *name, enum name_fit fit, u32 count, struct error *e)
{
    struct text list = { 0 };
    u32 listed = 0;
    bool differ = names_differ(m, name, fit);
    for (u32 i = 0; i < m->kernels && list.n < LIST_CHARACTERS - 100; i++) {
        if (name_fits(m->kernel[i].func->name, name) != fit) continue;
        const char *one = differ ? m->kernel[i].plain : m->kernel[i].signature;
        if (listed && list.n + strlen(one) > LIST_CHARACTERS) break;
        text_add(&list, "%s%.250s", listed++ ? "; " : "", one);
    }
    if (listed < count)
        text_add(&list, "; and %u more, which lockstep compile %.80s lists", count - listed, file_of(m));
    error_set(e, ERR_INPUT, "%.100s has %u kernels named `%.60s`: give one of these in full: %.400s", file_of(m), count,
              name, list.p);
    text_free(&list);
}

/* The kernels, instances of a template together: "sum, reduce<int, 512u> and 59 more of reduce". */
static void families(lk_module *m, u32 kernels, struct text *out)
{
    struct arena a = { 0 };
    word_list seen = { 0 };
    u32 left = 0;
    for (u32 i = 0; i < kernels; i++) {
        const char *plain = m->kernel[i].plain;
        size_t n = strcspn(plain, "<");
        const char *family = arena_str(&a, (struct str){ plain, (u32)n });
        if (has(seen.p, seen.n, family)) continue;
        VEC_PUSH(&a, &seen, family);
        u32 more = 0;
        for (u32 k = i + 1; k < kernels; k++)
            more += !strncmp(m->kernel[k].plain, family, n) && (!m->kernel[k].plain[n] || m->kernel[k].plain[n] == '<');
        if (out->n + strlen(plain) > LIST_CHARACTERS - 40) {
            left++;
            continue;
        }
        text_add(out, "%s%s", out->n ? ", " : "", plain);
        if (more) text_add(out, " and %u more of %s", more, family);
    }
    if (left) text_add(out, ", and %u more names", left);
    arena_free(&a);
}

/* The one kernel that the source itself declares, when all others come from headers (CUB brings some); NULL: there is
 * not one. */
static lk_kernel *own(lk_module *m)
{
    struct arena a = { 0 };
    struct str source;
    struct declared *d;
    lk_kernel *found = NULL;
    u32 count = 0;
    if (m->source && file_read_if(m->source, &source)) {
        u32 n = declared_kernels(&a, source, &d);
        for (u32 i = 0; i < m->kernels; i++) {
            bool here = false;
            for (u32 k = 0; k < n && !here; k++) here = str_is(d[k].name, last_name(&a, m->kernel[i].plain));
            found = here ? &m->kernel[i] : found;
            count += here;
        }
        base_free((void *)source.p);
    }
    arena_free(&a);
    return count == 1 ? found : NULL;
}

/* The one that is meant without a name; of a program of several files the first one counts, as long as it has any. */
static lk_kernel *only(lk_module *m, struct error *e)
{
    u32 kernels = m->first_kernels ? m->first_kernels : m->kernels;
    lk_kernel *mine = kernels == 1 ? &m->kernel[0] : own(m);
    if (mine) return mine;
    if (!m->kernels) {
        none_error(m, NULL, e);
        return NULL;
    }
    struct text list = { 0 };
    size_t length = 0;
    for (u32 i = 0; i < kernels; i++) length += strlen(m->kernel[i].plain) + 2;
    for (u32 i = 0; length <= LIST_CHARACTERS && i < kernels; i++)
        text_add(&list, "%s%s", i ? ", " : "", m->kernel[i].plain);
    if (length > LIST_CHARACTERS) families(m, kernels, &list);
    const char *first = m->kernel[0].plain, *quote = strpbrk(first, "<( ") ? "'" : "";
    error_set(e, ERR_INPUT, "%.100s has %u kernels: %.300s. Name one, as in %s%.100s:%.80s%s", file_of(m), kernels,
              list.p, quote, file_of(m), first, quote);
    text_free(&list);
    return NULL;
}

static bool same_but_blanks(const char *a, const char *b)
{
    while (*(a += strspn(a, " ")) == *(b += strspn(b, " ")) && *a) a++, b++;
    return !*a && !*b;
}

/* Whether the parameter list that the user gave, if any, fits the instance that the compiler chose by the name alone.
 */
static bool parameters_fit(lk_module *m, const char *asked, const char *lowered, struct error *e)
{
    struct arena a = { 0 };
    struct demangled d;
    const char *instance = compile_instance(&a, asked);
    const char *params = instance ? asked + strlen(instance) : "";
    bool known = *params && demangle(&a, str_of(lowered), &d) && d.signature &&
                 !strncmp(d.signature, d.name, strlen(d.name));
    bool wrong = known && !same_but_blanks(params, d.signature + strlen(d.name));
    if (wrong)
        error_set(e, ERR_INPUT, "%.150s: `%.100s` is %.150s: give that, or leave the parameters out", file_of(m), asked,
                  d.signature);
    arena_free(&a);
    return !wrong;
}

static lk_kernel *by_name(lk_module *m, const char *name, struct error *e)
{
    enum name_fit best = NAME_OTHER;
    u32 count = 0;
    lk_kernel *found = NULL;
    for (u32 i = 0; i < m->asks; i++) /* a name the compiler itself has resolved */
        if (!strcmp(m->asked[i], name) && m->lowered[i]) {
            if (!parameters_fit(m, name, m->lowered[i], e)) return NULL;
            name = m->lowered[i];
        }
    for (u32 i = 0; i < m->kernels; i++) {
        enum name_fit fit = name_fits(m->kernel[i].func->name, name);
        if (fit > best) {
            best = fit;
            count = 0;
            found = &m->kernel[i];
        }
        count += fit && fit == best;
    }
    if (count == 1) return found;
    if (count)
        ambiguous(m, name, best, count, e);
    else
        none_error(m, name, e);
    return NULL;
}

lk_kernel *lk_module_kernel(lk_module *module, const char *name)
{
    HOST_CALL(NULL, USE(MODULE, module));
    struct error *e = host_begin(module->gpu);
    lk_kernel *k = name ? by_name(module, name, e) : only(module, e);
    if (!k) host_failed(module->gpu);
    return k;
}

/* ---- without compiling ---- */

static void add_line(struct arena *a, word_list *seen, const char *name, struct text *out)
{
    if (has(seen->p, seen->n, name)) return;
    VEC_PUSH(a, seen, name);
    text_add(out, "%s\n", name);
}

char *lk_file_kernels(const char *path)
{
    struct arena a = { 0 };
    struct str all;
    struct text out = { 0 };
    word_list seen = { 0 }, folders = { 0 };
    size_t length = path ? strlen(path) : 0;
    if (!path || file_is_pipe(path) || !file_read_if(path, &all)) return NULL;
    text_put(&out, "", 0);
    if (length > 3 && !strcmp(path + length - 3, ".cu")) {
        struct declared *d;
        u32 n = declared_with_headers(&a, path, all, &folders, &d);
        for (u32 i = 0; i < n; i++)
            add_line(&a, &seen, d[i].is_template ? declared_instance(&a, &d[i]) : arena_str(&a, d[i].name), &out);
    } else {
        for (const char *p = strstr(all.p, ".entry "); p; p = strstr(p + 7, ".entry ")) {
            const char *from = p + 7 + strspn(p + 7, " \t");
            struct str entry = { from, (u32)strcspn(from, "( \t\r\n") };
            struct demangled d;
            add_line(&a, &seen, demangle(&a, entry, &d) ? d.name : arena_str(&a, entry), &out);
        }
    }
    base_free((void *)all.p);
    arena_free(&a);
    return out.p;
}
