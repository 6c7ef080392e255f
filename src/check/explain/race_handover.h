/* race_handover.h: advice about flags and locks (race_handover.c). */
#ifndef LOCKSTEP_RACE_HANDOVER_H
#define LOCKSTEP_RACE_HANDOVER_H
#include "explain/race_advice.h"

bool advise_blind(struct draft *x);
bool advise_lock(struct draft *x);
bool advise_unlock(struct draft *x);
bool advise_flag(struct draft *x);
bool advise_arrival(struct draft *x);
#endif
