/* mbarriers (mbarrier.c): one 64-bit word in shared memory each, opaque to the program (9.7.13.15.1). */
#ifndef LOCKSTEP_MBARRIER_H
#define LOCKSTEP_MBARRIER_H
#include "sim/machine.h"

/* The word:
 *   bits 0..19 arrivals still expected in this phase, 20..39 arrivals of a phase, 40..60 the tx-count, signed: bytes
 *   that are still to come, 61..63 number of the phase modulo 8.
 * A phase is complete when no arrival is expected and the tx-count is 0. A state token is the word itself; a wait
 * succeeds when the phase of the word is no longer that of the token. */
enum { MBARRIER_MOST = (1 << 20) - 1 }; /* of arrivals, and of bytes of the tx-count either way */
static inline u32 mbarrier_phase(u64 word) { return (u32)(word >> 61); }
static inline u32 mbarrier_pending(u64 word) { return (u32)word & MBARRIER_MOST; }
static inline u32 mbarrier_expected(u64 word) { return (u32)(word >> 20) & MBARRIER_MOST; }
static inline s32 mbarrier_tx(u64 word) { return (s32)((s64)(word << 3) >> 43); }

struct mbarrier_state {    /* what is known of an mbarrier */
    u64 phase;             /* its number, from 0 */
    u32 arrived, expected; /* arrivals in this phase; how many complete it */
    u64 tx_expected;       /* bytes that expect_tx has announced in this phase */
    u64 tx_arrived;        /* bytes that have come in this phase */
};
/* The mbarrier at `at` in the shared memory of one of the CTAs that share c's, when its word was `word`. */
struct mbarrier_state mbarrier_state(const struct cta *c, const char *at, u64 word);
/* Bytes that a flight was to bring have come: complete_tx on the mbarrier at `at`, in the shared memory of c. */
void mbarrier_bytes_came(struct cta *c, char *at, u32 bytes);
void mbarrier_arrived(struct cta *c, char *at); /* copies of a lane have come: it arrives */
struct flight;
void mbarrier_signalled(const struct flight *f); /* a bulk or tensor copy that signals its mbarrier is issued */
bool mbarrier_known(const struct cta *c, const char *at); /* there is a valid one */
#endif
