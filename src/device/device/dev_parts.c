/* A software GPU put together: whom the machine asks (sim/asked.h), as one table of what lies above it. */
#include "device/dev_parts.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "units/attachments.h"
#include "units/tmem.h"

_Static_assert((int)AT_dependents <= (int)ATTACH_SLOTS, "each row that keeps something has its slot");

#define ATTACHMENT(name) extern const struct attachment attach_##name;
#include "units/attachments.def"
#undef ATTACHMENT
static const struct attachment *const attachments[] = {
#define ATTACHMENT(name) &attach_##name,
#include "units/attachments.def"
#undef ATTACHMENT
    NULL
};

/* By the row; .sync operations and control end their blocks, and have none. */
static handler *const named[N_COUNT] = {
#define MEM(id, in, pv, low, run, ...) [N_##id] = run_##run,
#define MEM_MORE(...)
#define WARP MEM
#define SYNC(...)
#define SYNC_MORE(...)
#define CTRL(...)
#include "isa/isa_named.def"
#include "isa/isa_end.def"
};

static wait_arrive *const waits[WAITS] = {
#define WAIT(id, ...) [WAIT_##id] = wait_##id,
#include "isa/waits.def"
#undef WAIT
};

const struct asked dev_parts = {
#define ASK(type, name, parameters) .name = name,
#define HANDLER(name) .name = name,
#include "sim/ask.def"
    .attachments = attachments,
    .named = named,
    .waits = waits,
};
