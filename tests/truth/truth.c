/* truth: records what a real GPU computes for every lane form of isa.def, and replays it on the software GPU.
 * docs/measured/truth.md says more. */
#include "truth.h"
#include <stdlib.h>

static const char usage[] =
    "truth list [--ptx NAME]                 the variants; or the PTX of one\n"
    "truth record FILE [--again] [--on sim] [--part K/N] [NAME...]\n"
    "    on the GPU of this machine: what FILE lacks (or everything), into FILE. --on sim records the software GPU "
    "itself, for\n"
    "    testing this program. --part: every N-th variant from K on, so that several processes share the work\n"
    "truth merge FILE FROM...                the records of several files into FILE\n"
    "truth show FILE [NAME...]               what is recorded of the edges, value by value\n"
    "truth replay FILE [--quick] [--every] [--raw] [--all-verdicts] [--threads N] [--part K/N] [NAME...]\n"
    "    every record against the software GPU, on all processors. --quick: edges, a part of the random inputs, a few "
    "spots of all.\n"
    "    --part: every N-th piece of the work, from K = 0 on; the parts together do all of it.\n"
    "    --every: every edge that differs. --raw: what differs is fetched from the GPU of this machine, value by "
    "value\n"
    "truth raw FILE NAME FIRST COUNT [STEP]  the results of COUNT inputs from FIRST on into FILE, from the GPU (--on "
    "sim: from ours); with\n"
    "    STEP (of 1, too) any form of one operand, at most 2^20 inputs\n"
    "truth times FILE [NAME...]              how long each row takes on the software GPU, ns a warp instruction\n"
    "NAME is an opcode or its beginning. Exit 0: all agree; 1: differences; 2: bad input; 4: nothing was compared; "
    "130: interrupted\n";

u64 element(const void *p, u32 bytes, u64 i)
{
    u64 v = 0;
    memcpy(&v, (const u8 *)p + i * bytes, bytes);
    return v;
}

size_t print_operands(const struct variant *v, u64 (*value)(const struct variant *, u32, u32), u64 i, char *out,
                      size_t size)
{
    size_t n = 0;
    for (u32 s = 0; s < v->sources; s++) {
        u32 w = register_bytes(v->source[s]) * 2;
        u64 x = value ? value(v, s, (u32)i) : i;
        n += (size_t)snprintf(out + n, size - n, "%s%c=0x%0*llx", s ? " " : "", "abce"[s], (int)w,
                              (unsigned long long)(w == 16 ? x : x & ((1ull << w * 4) - 1)));
    }
    return n;
}

bool job_wants(const struct job *j, const char *name)
{
    for (int i = 0; i < j->onlys; i++)
        if (!strncmp(name, j->only[i], strlen(j->only[i]))) return true;
    return !j->onlys;
}

static int list(struct job *j, const char *ptx)
{
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct variant *v = &j->variants.p[i];
        if (ptx && !strcmp(ptx, v->name)) fputs(variant_ptx(&j->mem, v), stdout);
        if (!ptx) puts(v->name);
    }
    return 0;
}

static bool is_flag(struct job *j, const char *word)
{
    bool *flag = !strcmp(word, "--quick")          ? &j->quick
                 : !strcmp(word, "--raw")          ? &j->raw
                 : !strcmp(word, "--every")        ? &j->every
                 : !strcmp(word, "--again")        ? &j->again
                 : !strcmp(word, "--all-verdicts") ? &j->show_all
                                                   : NULL;
    if (flag) *flag = true;
    return flag;
}

/* Options stand before the names. false: there is no such option. */
static bool options(struct job *j, int argc, char **argv, const char **file, const char **ptx)
{
    for (int i = 2; i < argc; i++) {
        bool more = i + 1 < argc;
        if (is_flag(j, argv[i])) continue;
        if (!strcmp(argv[i], "--ptx") && more)
            *ptx = argv[++i];
        else if (!strcmp(argv[i], "--on") && more)
            j->on = argv[++i];
        else if (!strcmp(argv[i], "--threads") && more)
            j->threads = (u32)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--part") && more && sscanf(argv[i + 1], "%u/%u", &j->part, &j->parts) == 2 &&
                 j->parts)
            i++;
        else if (!strncmp(argv[i], "--", 2))
            return false;
        else if (!*file)
            *file = argv[i];
        else {
            j->only = argv + i;
            j->onlys = argc - i;
            break;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *verb;
        int (*run)(struct job *, const char *, struct error *);
    } verbs[] = {
        { "record", record }, { "merge", merge }, { "show", show },
        { "replay", replay }, { "raw", raw },     { "times", times },
    };
    struct job j = { .parts = 1, .on = "gpu" };
    struct error e = { 0 };
    const char *verb = argc > 1 ? argv[1] : "", *file = NULL, *ptx = NULL;
    bool good = options(&j, argc, argv, &file, &ptx);
    int code = -1;
    variants_list(&j.mem, &j.variants);
    if (good && !strcmp(verb, "list")) code = list(&j, ptx);
    for (u32 i = 0; good && file && i < COUNT_OF(verbs); i++)
        if (!strcmp(verb, verbs[i].verb)) code = verbs[i].run(&j, file, &e);
    if (code < 0) fputs(usage, stderr);
    if (e.code) error_print(stderr, &e);
    arena_free(&j.mem);
    return code < 0 ? 2 : code;
}
