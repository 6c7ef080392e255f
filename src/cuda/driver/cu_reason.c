/* Why a call fails: the words lie with the thread until its next call. */
#include "driver/cu_reason.h"
#include "driver/gate.h"

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
