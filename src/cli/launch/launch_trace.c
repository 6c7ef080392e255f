/* --trace and --break of `lockstep launch`: the file that the lines of a trace go to, and where a stop is printed. */
#include "launch/launch.h"
#include <errno.h>

static void write_line(void *self, const char *text, size_t bytes)
{
    struct tracing *t = self;
    if (t->file && !t->lines++) fputs("#cta\twarp\tlanes\tsource\tptx\tinstruction\tresults <- operands\n", t->file);
    if (t->file && fwrite(text, 1, bytes, t->file) != bytes && !t->failed) t->failed = errno ? errno : EIO;
}

static void print_stop(void *self, const char *text, size_t bytes)
{
    struct tracing *t = self;
    t->stopped = true;
    fwrite(text, 1, bytes, stdout);
}

bool launch_trace_begin(const struct launch_options *o, struct tracing *t, struct error *e)
{
    *t = (struct tracing){ .trace = o->trace };
    if (!o->trace_file && !o->trace.break_at) return true;
    t->trace.size = sizeof t->trace;
    t->trace.self = t;
    t->trace.write = o->trace_file ? write_line : NULL;
    t->trace.stop = print_stop;
    t->on = true;
    if (!o->trace_file) return true;
    t->file = !strcmp(o->trace_file, "-") ? stdout : fopen(o->trace_file, "w");
    if (!t->file) return error_set(e, ERR_INPUT, "--trace: cannot write %.200s: %s", o->trace_file, strerror(errno));
    return true;
}

bool launch_trace_end(const struct launch_options *o, struct tracing *t, struct error *e)
{
    if (t->file && fflush(t->file) && !t->failed) t->failed = errno;
    if (t->file && t->file != stdout) fclose(t->file);
    t->file = NULL;
    if (t->failed)
        return error_set(e, ERR_SYSTEM, "--trace: cannot write %.200s: %s", o->trace_file, strerror(t->failed));
    if (o->trace.break_at && !t->stopped) printf("break: no warp got to %s\n", o->trace.break_at);
    t->on = false;
    return true;
}
