/* carrier.h: a cubin that keeps the PTX it was made of.
 *
 * Producers of cubins (NVRTC, nvJitLink, ptxas) hand machine code to a program, which Lockstep does not run. Under
 * `lockstep run` their cubin gets sections with the texts after what it has: a GPU and the tools of the toolkit take
 * it as ever, and our loader takes the texts. */
#ifndef LOCKSTEP_CARRIER_H
#define LOCKSTEP_CARRIER_H
#include "image/elf.h"

#define CARRIER_SECTION ".lockstep.ptx" /* one for each text */

/* Comments at the end of a text, each the beginning of a line: the name of its source, and the lines of that. */
#define CARRIED_SOURCE "// lockstep source "
#define CARRIED_LINE "//|"

/* `cubin` with `texts` sections more, in `out`. False: it is no cubin, or has no table of sections; why is in e. */
bool carrier_write(const struct piece *cubin, const struct str *text, u32 texts, struct text *out, struct error *e);
#endif
