/* A library of NVIDIA's as a table of exports: each goes through the call gate (gate_entry.S) to library_enter of
 * liblockstep.so (src/cuda/libraries), which knows by the number which function is meant. Built once for each file, with its
 * table as EXPORTS, its name as NAME and the release of CUDA as RELEASE. */
#include "abi/gate_door.S"
#include "abi/gate_layout.h"
    .text
    .set gate_first, GATE_LIBRARY
#define LIBRARY(name) .set first_##name, gate_first; .set gate_first, gate_first + GATE_LIBRARY;
#include "abi/libraries.def"
    .set gate_number, FIRST
#if RELEASE == 12
    .set gate_number, gate_number + GATE_RELEASE_12
#endif
#define NONE(symbol, first, last)                                                           \
    .if first <= RELEASE && last >= RELEASE; GATE_DOOR(symbol, lklib_enter) .endif; \
    .set gate_number, gate_number + 1;
#define CALL(symbol, shown, first, last, job, type, wide, ...) NONE(symbol, first, last)
#include EXPORTS
    .section .note.GNU-stack, "", %progbits
