/* Runs Nsight Compute over a command. */
#include "verbs/hardware.h"
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

/* LOCKSTEP_NCU, the path, or where the toolkit and the package of Nsight Compute put it. */
static bool ncu_find(char *out, size_t size, struct error *e)
{
    const char *given = getenv("LOCKSTEP_NCU");
    if (file_program(given && *given ? given : "ncu", out, size)) return true;
    if (given && *given) return error_set(e, ERR_INPUT, "LOCKSTEP_NCU=%.200s is not a program", given);
    static const char *const places[] = { "/usr/local/cuda/bin/ncu", "/usr/local/cuda*/bin/ncu",
                                          "/opt/nvidia/nsight-compute/*/ncu" };
    for (u32 i = 0; i < COUNT_OF(places); i++) {
        glob_t found;
        bool any = !glob(places[i], 0, NULL, &found) && found.gl_pathc;
        if (any) snprintf(out, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
        if (any) any = !access(out, X_OK);
        globfree(&found);
        if (any) return true;
    }
    return error_set(
        e, ERR_INPUT,
        "ncu is not here: Nsight Compute comes with the CUDA toolkit, and LOCKSTEP_NCU names it where it is "
        "elsewhere. Without --on gpu nothing is measured, and --import takes what ncu --csv has measured on "
        "another machine");
}

static const char *metrics_list(struct arena *mem)
{
    struct text t = { 0 };
    for (u32 k = 0; k < MEASURES; k++) text_add(&t, "%s%s", k ? "," : "", measure_rows[k].metric);
    const char *list = arena_str(mem, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return list;
}

/* What ncu says, as the last lines of it. */
static const char *tail_of(const struct text *t)
{
    enum { MOST = 400 };
    if (!t->n) return "it said nothing";
    const char *p = t->n > MOST ? t->p + t->n - MOST : t->p;
    const char *line = t->n > MOST ? strchr(p, '\n') : NULL;
    return line && line[1] ? line + 1 : p;
}

static bool said(const struct text *output, const char *file, const char *word)
{
    struct str log;
    bool is = output->p && strstr(output->p, word);
    if (!is && file_read_if(file, &log)) {
        is = strstr(log.p, word) != NULL;
        base_free((void *)(uintptr_t)log.p);
    }
    return is;
}

static bool refused(struct error *e)
{
    return error_set(
        e, ERR_INPUT,
        "ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM). Run it as root (sudo), or allow it to "
        "everybody: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into a file of "
        "/etc/modprobe.d, and load the driver again or restart; a container needs --cap-add=SYS_ADMIN. "
        "Without --on gpu the counts need none of this");
}

static bool ncu_run(struct hardware *h, const char *ncu, char *const *command, const char *file, bool verbose,
                    struct error *e)
{
    struct arena mem = { 0 };
    u32 n = 0, words = 0;
    while (command[words]) words++;
    const char *const ours[] = { ncu,
                                 "--csv",
                                 "--page",
                                 "raw",
                                 "--print-units",
                                 "base",
                                 "--print-kernel-base",
                                 "mangled",
                                 "--target-processes",
                                 "all",
                                 "--metrics",
                                 metrics_list(&mem),
                                 "--log-file",
                                 file };
    char **argv = NEW_ARRAY(&mem, char *, COUNT_OF(ours) + words + 1);
    for (u32 i = 0; i < COUNT_OF(ours); i++) argv[n++] = (char *)(uintptr_t)ours[i];
    for (u32 i = 0; i < words; i++) argv[n++] = command[i];
    argv[n] = NULL;
    for (u32 i = 0; verbose && i < n; i++) fprintf(stderr, "%s%s", i ? " " : "lockstep: ", argv[i]);
    if (verbose) fputc('\n', stderr);
    struct text output = { 0 };
    int code = process_run(argv, &output);
    while (output.n && output.p[output.n - 1] == '\n') output.p[--output.n] = 0;
    bool ok = !said(&output, file, "ERR_NVGPUCTRPERM") || refused(e);
    if (ok && !file_exists(file))
        ok = error_set(e, ERR_INPUT, "ncu has measured nothing (exit %d): %s", code, tail_of(&output));
    if (ok) ok = hardware_read(h, file, e);
    if (ok && code) fprintf(stderr, "lockstep: under ncu the program has ended with exit %d\n", code);
    text_free(&output);
    arena_free(&mem);
    return ok;
}

bool hardware_measure(struct hardware *h, char *const *command, bool verbose, struct error *e)
{
    char ncu[4096], folder[] = "/tmp/lockstep-ncu.XXXXXX", file[64];
    if (!ncu_find(ncu, sizeof ncu, e)) return false;
    if (!mkdtemp(folder)) return error_set(e, ERR_SYSTEM, "cannot make a folder in /tmp: %s", strerror(errno));
    snprintf(file, sizeof file, "%s/ncu.csv", folder);
    bool ok = ncu_run(h, ncu, command, file, verbose, e);
    folder_remove(folder);
    return ok;
}
