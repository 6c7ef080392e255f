/* attachments.h: the numbers of the rows of attachments.def, by which each finds its slot. */
#ifndef LOCKSTEP_ATTACHMENTS_H
#define LOCKSTEP_ATTACHMENTS_H
#include "sim/attach.h"

enum {
#define ATTACHMENT(name) AT_##name,
#include "units/attachments.def"
#undef ATTACHMENT
    AT_COUNT
};
#endif
