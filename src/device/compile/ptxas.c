/* What the assembler makes of a kernel: registers, barriers, stack and spills, from what `ptxas -v` prints. */
#include "compile/compile.h"
#include <stdlib.h>
#include <unistd.h>

/* The number before `word` in this line; 0: none. */
static u32 number_before(struct str line, const char *word)
{
    size_t n = strlen(word);
    for (u32 i = 1; i + n <= line.n; i++) {
        if (memcmp(line.p + i, word, n)) continue;
        u32 from = i;
        while (from && line.p[from - 1] >= '0' && line.p[from - 1] <= '9') from--;
        return (u32)strtoul(line.p + from, NULL, 10);
    }
    return 0;
}

/* "ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'", then its figures, line by line. */
static void read_figures(struct arena *a, const struct text *t, struct assembled **out, u32 *count)
{
    VEC(struct assembled) list = { 0 };
    static const char entry[] = "Compiling entry function '";
    for (const char *p = t->p, *end = p ? p + t->n : p; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
        struct str line = { p, (u32)(stop - p) };
        const char *name = arena_str(a, line), *at = strstr(name, entry);
        struct assembled *k = list.n ? &list.p[list.n - 1] : NULL;
        if (at) {
            at += sizeof entry - 1;
            VEC_PUSH(a, &list, ((struct assembled){ .kernel = { at, (u32)strcspn(at, "'") } }));
        } else if (k && strstr(name, "bytes stack frame") && !k->registers) {
            k->stack = number_before(line, " bytes stack frame");
            k->spill_stores = number_before(line, " bytes spill stores");
            k->spill_loads = number_before(line, " bytes spill loads");
        } else if (k && strstr(name, "Used ") && !k->registers) {
            k->registers = number_before(line, " registers");
            k->barriers = number_before(line, " barriers");
        }
        p = nl ? nl + 1 : end;
    }
    *out = list.p;
    *count = list.n;
}

bool compile_assemble(struct arena *a, struct str ptx, bool part, const char *arch, const char *registers,
                      struct assembled **out, u32 *n, struct error *e)
{
    struct toolkit t;
    *out = NULL;
    *n = 0;
    toolkit_find(&t);
    if (!t.ptxas[0]) return false;
    const char *tmp = getenv("TMPDIR");
    char *file = arena_printf(a, "%s/lockstep-XXXXXX.ptx", tmp && tmp[0] ? tmp : "/tmp");
    int fd = mkstemps(file, 4);
    if (fd < 0) return error_set(e, ERR_SYSTEM, "cannot write %s; set TMPDIR to a folder that can be written", file);
    close(fd);
    char *argv[9] = { t.ptxas, "-v", arena_printf(a, "-arch=%s", arch), file, "-o", "/dev/null" };
    u32 words = 6;
    if (part) argv[words++] = "-c";
    if (registers) argv[words++] = arena_printf(a, "-maxrregcount=%s", registers);
    struct text said = { 0 };
    bool ok = file_write(file, ptx.p, ptx.n, e);
    int status = ok ? process_run(argv, &said) : 0;
    if (ok && status) {
        const char *why = said.p ? strstr(said.p, "ptxas") : NULL;
        ok = error_set(e, ERR_INPUT, "ptxas refuses the PTX: %.*s", why ? (int)strcspn(why, "\n") : 0, why ? why : "");
    }
    if (ok) read_figures(a, &said, out, n);
    unlink(file);
    text_free(&said);
    return ok;
}
