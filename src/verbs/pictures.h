/* pictures.h: times of journals as pictures on the page of a profile. */
#ifndef LOCKSTEP_PICTURES_H
#define LOCKSTEP_PICTURES_H
#include "base/base.h"

/* Adds the pictures that the last entries of a journal can be shown as to a list of JSON objects: { kind, journal, svg
 * }. false: it is no journal, or there is none. */
bool pictures_read(struct text *list, const char *journal, struct error *e);
/* The JSON of a profile with the list as its key `pictures`. */
void pictures_join(const struct text *list, struct str profile, struct text *json);
#endif
