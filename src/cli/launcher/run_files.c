/* A file for each process: FILE; of further processes FILE.PID, of further programs in one FILE.PID.N. */
#include "launcher/run_files.h"
#include <lockstep.h>

enum file_form { FORM_JSON, FORM_HTML, FORM_SARIF, FORM_JUNIT, FORMS };

struct writing {
    const struct run_files *files;
    const char *to;
    enum file_form form;
    bool failed; /* one could not be written */
};

static void unwritten(struct writing *w, const struct error *e)
{
    w->files->unwritten(w->files->self, e);
    w->failed = true;
}

static void put(struct writing *w, const char *path, struct text *t)
{
    struct error e = { 0 };
    char *page = NULL;
    if (w->form == FORM_HTML) {
        page = lk_page(t->p, t->n);
        if (!page) error_set(&e, ERR_MEMORY, "no memory for the page %.200s", path);
    }
    const char *p = page ? page : t->p;
    if (e.code || !reporting_put(w->files->to, path, p, page ? strlen(page) : t->n, &e)) unwritten(w, &e);
    lk_text_free(page);
}

/* The report of a process, with the ending, into its file. */
static void finished(struct writing *w, const char *path, struct text *t)
{
    bool profile = w->form == FORM_HTML || (w->form == FORM_JSON && w->files->profiled);
    if (profile && w->files->join) w->files->join(w->files->self, t);
    switch (w->form) {
    case FORM_JUNIT: ending_into_junit(w->files->ending, t); break;
    case FORM_SARIF: ending_into_sarif(w->files->ending, t); break;
    default: ending_into_json(w->files->ending, t);
    }
    put(w, path, t);
}

static void copy_to(void *self, u32 nth, int pid, u32 image, struct str text)
{
    struct writing *w = self;
    struct text own = { 0 };
    char other[4200], which[24] = "";
    if (image) snprintf(which, sizeof which, ".%u", image + 1);
    snprintf(other, sizeof other, "%.4000s.%d%s", w->to, pid, which);
    text_put(&own, text.p, text.n);
    finished(w, nth && strcmp(w->to, "-") ? other : w->to, &own);
    text_free(&own);
}

/* What a process would have written that has found nothing: false: there is no memory for it. */
static bool empty_report(enum file_form form, bool profile, struct text *t)
{
    lk_gpu *gpu;
    lk_options o = { .size = sizeof o, .threads = 1 };
    if (lk_gpu_create(&o, &gpu)) return false;
    char *text = form == FORM_SARIF   ? lk_report_sarif(gpu)
                 : form == FORM_JUNIT ? lk_report_junit(gpu, "run")
                                      : lk_report_json(gpu);
    bool whole = text && (form == FORM_HTML || (form == FORM_JSON && profile));
    if (whole) text_add(t, "{\"schema\":\"lockstep-profile\",\"version\":1,\"devices\":[],\"report\":");
    text_add(t, "%s%s", text ? text : "", whole ? "}\n" : "");
    bool ok = text != NULL;
    lk_text_free(text);
    lk_gpu_destroy(gpu);
    return ok;
}

static bool form_write(const struct run_files *f, enum file_form form, const char *to)
{
    static const enum channel_kind kind[FORMS] = { CHANNEL_JSON, CHANNEL_COUNTS, CHANNEL_SARIF, CHANNEL_JUNIT };
    struct writing w = { f, to, form, false };
    struct error e = { 0 };
    struct text t = { 0 };
    enum channel_kind k = form == FORM_JSON && f->profiled ? CHANNEL_COUNTS : kind[form];
    if (run_report_each(f->report, k, form == FORM_JUNIT ? QUOTE_XML : QUOTE_JSON, copy_to, &w)) return !w.failed;
    if (empty_report(form, f->profiled, &t))
        finished(&w, to, &t);
    else {
        error_set(&e, ERR_MEMORY, "no memory for the report %.200s", to);
        unwritten(&w, &e);
    }
    text_free(&t);
    return !w.failed;
}

bool run_files_write(const struct run_files *f, bool standard_output)
{
    const char *const to[FORMS] = { f->to->json, f->to->html, f->to->sarif, f->to->junit };
    bool ok = true;
    for (u32 i = 0; i < FORMS; i++)
        if (to[i] && !strcmp(to[i], "-") == standard_output) ok &= form_write(f, i, to[i]);
    return ok;
}
