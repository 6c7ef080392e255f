/* dev_parts.h: the parts of a software GPU, for sim_new. */
#ifndef LOCKSTEP_DEV_PARTS_H
#define LOCKSTEP_DEV_PARTS_H

extern const struct asked dev_parts;
#endif
