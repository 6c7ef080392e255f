/* contract_json.h: a contract as JSON. */
#ifndef LOCKSTEP_CONTRACT_JSON_H
#define LOCKSTEP_CONTRACT_JSON_H
#include "contract/contract.h"

void contract_json(const struct contract *c, struct text *out);
/* What the compiler calls a type, "f16": as a template argument, or as one word after -D. NULL: it has no name. */
const char *contract_type_name(const char *type, bool as_word);
#endif
