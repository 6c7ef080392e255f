/* The table of attachments, as sim/attach.h wants it. */
#include "units/attachments.h"

_Static_assert((int)AT_dependents <= (int)ATTACH_SLOTS, "each row that keeps something has its slot");

#define ATTACHMENT(name) extern const struct attachment attach_##name;
#include "units/attachments.def"
#undef ATTACHMENT
const struct attachment *const attachments[] = {
#define ATTACHMENT(name) &attach_##name,
#include "units/attachments.def"
#undef ATTACHMENT
    NULL
};
