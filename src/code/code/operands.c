/* The operand that is not there. */
#include "code/code.h"

const struct opnd opnd_none;
