/* Why a call fails: the words lie with the thread until its next call. */
#include "driver/cu_reason.h"
#include "driver/gate.h"
#include <inttypes.h>
#include <stdarg.h>

static _Thread_local struct {
    u64 serial; /* of the call; 0: of none */
    struct cu_why why;
} mine;

void cu_reason(const char *cause, const char *fix, bool configuration)
{
    mine.serial = cu_call_serial();
    mine.why.configuration = configuration;
    mine.why.reported = false;
    snprintf(mine.why.cause, sizeof mine.why.cause, "%s", cause ? cause : "");
    snprintf(mine.why.fix, sizeof mine.why.fix, "%s", fix ? fix : "");
}

void cu_reported(void)
{
    cu_reason(NULL, NULL, false);
    mine.why.reported = true;
}

const struct cu_why *cu_reason_now(void) { return mine.serial && mine.serial == cu_call_serial() ? &mine.why : NULL; }

/* ---- arguments that calls are refused for ---- */

static const char *const kind_name[CU_KINDS] = {
    [CU_CONTEXT] = "context",
    [CU_MODULE] = "module",
    [CU_LIBRARY] = "library",
    [CU_KERNEL] = "kernel",
    [CU_STALE] = "kernel whose module was unloaded",
    [CU_LINK] = "linker",
    [CU_STREAM] = "stream",
    [CU_EVENT] = "event",
    [CU_FATBIN] = "fatbin",
    [CU_GRAPH] = "graph",
    [CU_NODE] = "node of a graph",
    [CU_EXEC] = "executable graph",
    [CU_USER_OBJECT] = "user object",
    [CU_POOL] = "memory pool",
    [CU_ARRAY] = "array",
    [CU_MIPMAPPED] = "mipmapped array",
    [CU_TEXREF] = "texture reference",
    [CU_SURFREF] = "surface reference",
    [CU_PHYSICAL] = "physical memory",
};

static const char *article(const char *noun) { return strchr("aeiou", noun[0]) && strncmp(noun, "us", 2) ? "an" : "a"; }

/* Parameter n of "o:hfunc h:hmod s:name"; its kind. */
static char name_of(const char *names, u32 n, char *out, size_t size)
{
    const char *p = names;
    while (n-- && p) p = (p = strchr(p, ' ')) ? p + 1 : NULL;
    const char *colon = p ? strchr(p, ':') : NULL;
    if (colon)
        snprintf(out, size, "%.*s", (int)strcspn(colon + 1, " "), colon + 1);
    else
        snprintf(out, size, "an argument");
    return colon ? colon[-1] : 0;
}

void cu_wrong_handle(const char *names, u32 n, const void *handle, enum cu_kind kind)
{
    char name[48], cause[400];
    const char *want = kind_name[kind], *site;
    enum cu_kind was, is = cu_handle_kind(handle);
    name_of(names, n, name, sizeof name);
    if (!handle) {
        snprintf(cause, sizeof cause, "%s is NULL, where %s %s belongs.", name, article(want), want);
        cu_reason(cause, "Check what the call returned that was to make it, and pass the handle that it gave.", false);
    } else if (is == CU_STALE) {
        snprintf(cause, sizeof cause, "%s is a kernel whose module was unloaded.", name);
        cu_reason(cause, "Unload the module after the last launch of its kernels.", false);
    } else if (is == kind) {
        snprintf(cause, sizeof cause, "%s is %s %s of another type than this call is for.", name, article(want), want);
        cu_reason(cause, "Ask for its type, and use the call for that one.", false);
    } else if (is) {
        snprintf(cause, sizeof cause, "%s is %s %s, where %s %s belongs.", name, article(kind_name[is]), kind_name[is],
                 article(want), want);
        cu_reason(cause, "Pass the handle of the right kind: look at the order of the arguments.", false);
    } else if (cu_handle_gone(handle, &was, &site)) {
        snprintf(cause, sizeof cause, "%s is %s %s that was destroyed%s%s.", name, article(kind_name[was]),
                 kind_name[was], site ? " by " : "", site ? site : "");
        cu_reason(cause, "Destroy it after the last call that uses it.", false);
    } else {
        snprintf(cause, sizeof cause, "%s is %p, which is no %s: no call has made it.", name, handle, want);
        cu_reason(cause,
                  "Set the variable to NULL where it is declared, check the call that was to make the handle, "
                  "and pass the handle itself, not its address.",
                  false);
    }
}

void cu_wrong_pointer(const char *names, u32 n, const void *at, u64 bytes)
{
    char name[48], cause[200], fix[200];
    bool text = name_of(names, n, name, sizeof name) == 's';
    if (!at)
        snprintf(cause, sizeof cause, "%s is NULL.", name);
    else
        snprintf(cause, sizeof cause, "%s is %p, where %" PRIu64 " byte%s cannot be read and written.", name, at, bytes,
                 plural(bytes));
    snprintf(fix, sizeof fix, "Pass the address of memory of the host, %" PRIu64 " byte%s of it.", bytes,
             plural(bytes));
    cu_reason(cause,
              text ? "Pass a text that ends with a zero byte. nvrtcGetLoweredName gives one only for what "
                     "nvrtcAddNameExpression was told before nvrtcCompileProgram."
                   : fix,
              false);
}

void cu_wrong_number(const char *names, u32 n, u64 value, const char *rule, ...)
{
    char name[48], must[120], cause[240], fix[200];
    va_list ap;
    name_of(names, n, name, sizeof name);
    va_start(ap, rule);
    vsnprintf(must, sizeof must, rule, ap);
    va_end(ap);
    snprintf(cause, sizeof cause, "%s is %" PRId64 "; it must be %s.", name, (s64)value, must);
    snprintf(fix, sizeof fix, "Pass for %s what is %s.", name, must);
    cu_reason(cause, fix, false);
}
