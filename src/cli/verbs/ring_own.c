/* lockstep ring FILE --bench: how long a message of one's own takes, by stages. What the right answer is only its
 * author knows: an answer counts that is the first one again, which was printed; others are counted apart. */
#include "verbs/ring_bench.h"

/* The time of one round trip in ns, and its stages; 0: it failed. */
static double trip(struct ring_request *r, lk_ring *ring, const lk_ring_message *m, const lk_ring_message *first,
                   double stage[BENCH_STAGES], bool *same)
{
    lk_ring_message sent = *m, got = { .size = sizeof got };
    double all = 0;
    if (lk_ring_ask(ring, &sent, &got, r->seconds) != LK_OK) return 0;
    *same = got.result == first->result && got.type == first->type && got.bytes == first->bytes &&
            (!got.bytes || !memcmp(got.data, first->data, got.bytes));
    for (u32 k = 0; k < BENCH_STAGES; k++) {
        stage[k] += (double)got.stage[k];
        all += (double)got.stage[k];
    }
    return all;
}

int ring_bench_own(struct ring_request *r, lk_ring *ring, const struct ring_send *s, const lk_ring_message *m,
                   const lk_ring_message *first)
{
    double *ns = NEW_ARRAY(&r->mem, double, r->messages), stage[BENCH_STAGES] = { 0 };
    lk_ring_message like = *first; /* the queue uses its memory again */
    u64 n = 0, others = 0, from = time_ns();
    void *data = arena_alloc(&r->mem, first->bytes + 1, 16);
    if (first->bytes) memcpy(data, first->data, first->bytes);
    like.data = data;
    for (u64 i = 0; i < r->messages; i++) {
        bool same = false;
        double took = trip(r, ring, m, &like, stage, &same);
        if (!took) return cli_error("%s", lk_ring_error(ring));
        others += !same;
        ns[n++] = took;
    }
    double seconds = (double)(time_ns() - from) / 1e9, mean = (double)n * 1e3;
    ring_bench_sort(ns, n);
    printf("%s: %llu messages of %u bytes, one after the other: p50 %.1f us, p99 %.1f us, %.0f a second%s\n", s->actor,
           (unsigned long long)n, m->bytes, ring_bench_at(ns, n, 0.5) / 1e3, ring_bench_at(ns, n, 0.99) / 1e3,
           (double)n / seconds,
           !r->on || !strcmp(r->on, "sim") ? " on this processor: it says nothing about a GPU" : "");
    printf("%s: until it was seen %.1f us, in the actor %.1f, until it was answered %.1f, until it was received %.1f\n",
           s->actor, stage[0] / mean, stage[1] / mean, stage[2] / mean, stage[3] / mean);
    if (others)
        printf("%s: %llu of %llu answers are not the first one: an actor with a state, or a race\n", s->actor,
               (unsigned long long)others, (unsigned long long)n);
    return EXIT_CLEAN;
}
