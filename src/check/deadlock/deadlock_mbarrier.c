/* What to do where threads wait for the phase of an mbarrier for ever. */
#include "deadlock/deadlock_text.h"
#include <inttypes.h>

static bool lacks_bytes(const struct mbarrier_state *m)
{
    return m->arrived == m->expected && m->tx_expected != m->tx_arrived;
}

bool mbarrier_is_short(const struct mbarrier_state *m)
{
    return lacks_bytes(m) || (m->arrived && m->arrived < m->expected);
}

const char *advise_mbarrier(struct stopped *st, const struct mbarrier_state *m)
{
    if (lacks_bytes(m) && !m->tx_arrived)
        return "Start the copies whose bytes were announced, with this mbarrier, or do not announce them.";
    if (lacks_bytes(m)) {
        bool by_each = m->tx_expected % m->tx_arrived == 0 && m->tx_expected / 8 >= m->tx_arrived;
        return arena_printf(&st->mem,
                            "Announce as many bytes as the copies of the phase bring: expect_tx with %" PRIu64
                            " in place of %" PRIu64 "%s; bytes that a tensor copy fills in count as well.",
                            m->tx_arrived, m->tx_expected,
                            by_each ? ", by one thread, where each of several has announced them" : "");
    }
    if (m->arrived)
        return arena_printf(&st->mem,
                            "Initialise the mbarrier with as many arrivals as there are in a phase, or let the missing "
                            "%u arrive (threads that return early, too, or give it their share with arrive_and_drop); "
                            "and wait for the parity of the phase, the first one's being 0.",
                            m->expected - m->arrived);
    return "Wait for the parity of the phase that the arrivals belong to: 0 for the first, then 1, and so on in turn; "
           "nobody arrives in the phase that is waited for.";
}
