/* What front/python finds of a script before it launches: findings that the types of Python's objects show. */
#include "run/cu_failed.h"
#include "report/finding.h"
#include "where/where.h"

/* Of lockstep_cupy.py, by ctypes, with the interpreter's lock held. */
__attribute__((visibility("default"))) void lkpy_found(int which, const char *kernel, const char *cause,
                                                       const char *fix);

void lkpy_found(int which, const char *kernel, const char *cause, const char *fix)
{
    struct where_stack s;
    const char *site = where_script(&s) ? where_site("RawKernel", &s) : NULL;
    struct finding f = {
        .kind = which ? F_array_strides : F_argument_type, .cause = cause, .fix = fix, .kernel = kernel, .call = site
    };
    f.cause_key = str_hash(str_of(cause)) * 31 + str_hash(str_of(site ? site : ""));
    cu_found(&f);
}
