/* lockstep ring --validate, messages between units: the actors of src/api/ring/mail.cu pass tokens on in chains, from
 * one to all, and from all to one. Every unit that a token comes to answers the host, with the sum that each of its
 * threads has read of the message. The host computes the same, and holds the answers to what is promised: each comes
 * once, those of a unit in the order in which it worked, and a unit gets another one's messages in the order in which
 * they were sent. */
#include "base/embed.h"
#include "verbs/ring_command.h"
#include <stdlib.h>
#include <unistd.h>

EMBED(ring_mail_ptx, "src/generated/mail.ptx");

/* as in mail.cu */
enum { WORDS = 33, MOST_UNITS = 16, TOKENS = 64, RUN = 1 };
struct run {
    u32 token, hop, hops, step, units, delay, collector, word[WORDS];
};
struct seen {
    u32 token, hop, from, ok;
};

enum { SLOTS = 4096 }; /* of every outbox: room for all answers of a round, so that a drain needs no receiver */

struct round { /* a ring, and what goes through it */
    const char *kernel;
    u32 units, threads, slots; /* runners; threads of a unit; slots of a mailbox */
    u32 tokens, hops, step; /* hops 0: each token goes from a herald to all runners, and from them to one collector */
    u32 delay;              /* ns; 0: nobody lingers */
    bool drains;            /* before the answers are received */
};

struct answers { /* of one round */
    const struct round *r;
    struct arena mem;
    u32 count;
    u32 sequence[3 * MOST_UNITS]; /* of each unit: the last answer's number */
    u8 *came;                     /* by token and hop, or token and unit: how many answers */
    u32 *sent[MOST_UNITS];        /* of each runner: what it has sent on, in the order of its answers */
    u32 *got[MOST_UNITS];         /* and what it has got by mail */
    u32 nsent[MOST_UNITS], ngot[MOST_UNITS];
    u32 serial[MOST_UNITS]; /* of each runner: the number that the collector saw last; 0: none yet */
};

/* ---- what the actors compute ---- */

static u32 first_word(u32 token, u32 i) { return token * 0x9e3779b9u + i * 0x85ebca6bu; }

/* What thread `thread` sums up of a token's message after so many hops. */
static u32 sum_of(u32 token, u32 hop, u32 thread)
{
    u32 word[WORDS], sum = 0;
    for (u32 i = 0; i < WORDS; i++) {
        word[i] = first_word(token, i);
        for (u32 k = 0; k < hop; k++) word[i] = word[i] * 3 + i;
    }
    for (u32 i = 0; i < WORDS; i++) sum += word[(i + thread) % WORDS] * (i + thread + 1);
    return sum;
}

/* ---- one answer ---- */

static bool wrong_answer(struct suite *s, const lk_ring_message *m, const struct seen *a, const char *what)
{
    return suite_wrong(s, "unit %u, answer %llu (token %u, hop %u, from %d): %s", m->unit,
                       (unsigned long long)m->sequence, a->token, a->hop, (int)a->from, what);
}

/* The hop that the sums of an answer are of. */
static u32 hop_of(const struct round *r, const lk_ring_message *m, const struct seen *a)
{
    return r->hops ? a->hop : m->unit / r->units == 2;
}

static bool sums_are_right(const struct round *r, const lk_ring_message *m, const struct seen *a)
{
    const u32 *sum = (const u32 *)(a + 1);
    u32 hop = hop_of(r, m, a);
    for (u32 i = 0; i < r->threads; i++)
        if (sum[i] != sum_of(a->token, hop, i)) return false;
    return true;
}

/* Of a chain: the runner before this one has sent it, in its turn. */
static bool chain_answer(struct suite *s, struct answers *x, const lk_ring_message *m, const struct seen *a)
{
    const struct round *r = x->r;
    u32 unit = m->unit, from = (unit + r->units - r->step % r->units) % r->units,
        at = a->token * (r->hops + 1) + a->hop;
    if (unit >= r->units || a->hop > r->hops) return wrong_answer(s, m, a, "no message was sent there");
    if (x->came[at]++) return wrong_answer(s, m, a, "it came before");
    if (a->from != (a->hop ? from : LK_RING_HOST)) return wrong_answer(s, m, a, "another unit was to send it");
    if (a->hop) x->got[unit][x->ngot[unit]++] = at - 1;
    if (a->hop < r->hops) x->sent[unit][x->nsent[unit]++] = at;
    return true;
}

/* Of a herald, a runner or the collector. */
static bool spread_answer(struct suite *s, struct answers *x, const lk_ring_message *m, const struct seen *a)
{
    const struct round *r = x->r;
    u32 n = r->units, role = m->unit / n, at = a->token * (2 * n + 1);
    if (role == 0)
        at += m->unit;
    else if (role == 1 && a->ok != n)
        return wrong_answer(s, m, a, "not all runners got it");
    else if (role == 1)
        at += 2 * n;
    else if (role != 2 || a->from >= n)
        return wrong_answer(s, m, a, "no message was sent there");
    else
        at += n + a->from;
    if (x->came[at]++) return wrong_answer(s, m, a, "it came before");
    if (role == 0 && a->from != n + a->token % n) return wrong_answer(s, m, a, "another unit was to send it");
    if (role != 2) return true;
    u32 *last = &x->serial[a->from];
    if (*last && a->hop != *last + 1) return wrong_answer(s, m, a, "it overtook another one of its sender");
    *last = a->hop;
    return true;
}

static bool take_answer(struct suite *s, struct answers *x, const lk_ring_message *m)
{
    const struct round *r = x->r;
    const struct seen *a = m->data;
    struct seen none = { 0 };
    if (m->result || m->bytes != sizeof *a + 4 * r->threads)
        return wrong_answer(s, m, &none, m->result ? lk_ring_result_name(m->result) : "it has another length");
    if (m->sequence != ++x->sequence[m->unit])
        return wrong_answer(s, m, a, "the numbers of the unit's answers have a gap");
    if (a->token >= r->tokens || m->id != a->token + 1)
        return wrong_answer(s, m, a, "it is of no token, or of another one");
    if (!a->ok) return wrong_answer(s, m, a, "the unit could not send it on, or another number was to come");
    if (!sums_are_right(r, m, a)) return wrong_answer(s, m, a, "a thread has read other words than were sent");
    x->count++;
    return r->hops ? chain_answer(s, x, m, a) : spread_answer(s, x, m, a);
}

/* ---- a round ---- */

static u32 answers_wanted(const struct round *r) { return r->tokens * (r->hops ? r->hops + 1 : 2 * r->units + 1); }

static bool send_tokens(struct suite *s, const struct round *r)
{
    for (u32 t = 0; t < r->tokens; t++) {
        struct run m = { .token = t,
                         .hops = r->hops,
                         .step = r->step,
                         .units = r->units,
                         .delay = r->delay,
                         .collector = r->hops ? 0 : 2 * r->units };
        for (u32 i = 0; i < WORDS; i++) m.word[i] = first_word(t, i);
        lk_ring_message send = { .size = sizeof send,
                                 .unit = t % r->units + (r->hops ? 0 : r->units),
                                 .type = RUN,
                                 .id = t + 1,
                                 .data = &m,
                                 .bytes = sizeof m };
        if (!suite_said(s, lk_ring_send(s->ring, &send, s->r->seconds))) return false;
        if (r->delay && rand_next(&s->seed) % 4 == 0) thread_sleep_us((u32)(rand_next(&s->seed) % 300));
    }
    return true;
}

/* All answers, and then no more. After a drain they all are there. */
static bool receive_all(struct suite *s, struct answers *x)
{
    u32 wanted = answers_wanted(x->r);
    while (x->count < wanted) {
        lk_ring_message m = { .size = sizeof m };
        lk_status status = lk_ring_receive(s->ring, &m, x->r->drains ? 0 : s->r->seconds);
        if (status != LK_OK && x->r->drains)
            return suite_wrong(s, "after the drain there are %u answers of %u: %.300s", x->count, wanted,
                               lk_ring_error(s->ring));
        if (!suite_said(s, status) || !take_answer(s, x, &m)) return false;
    }
    return true;
}

static bool nothing_is_left(struct suite *s, const struct answers *x)
{
    const struct round *r = x->r;
    lk_ring_message m = { .size = sizeof m };
    if (lk_ring_receive(s->ring, &m, 0) == LK_OK)
        return suite_wrong(s, "unit %u has answered message %llu once too often", m.unit, (unsigned long long)m.id);
    for (u32 from = 0; r->hops && from < r->units; from++) {
        u32 to = (from + r->step) % r->units;
        if (x->nsent[from] != x->ngot[to] || memcmp(x->sent[from], x->got[to], 4 * x->ngot[to]))
            return suite_wrong(s, "unit %u got the %u messages of unit %u in another order", to, x->nsent[from], from);
    }
    return true;
}

static void begin_answers(struct answers *x, const struct round *r)
{
    *x = (struct answers){ .r = r };
    u32 wanted = answers_wanted(r);
    x->came = NEW_ARRAY(&x->mem, u8, wanted);
    for (u32 i = 0; i < r->units; i++) {
        x->sent[i] = NEW_ARRAY(&x->mem, u32, wanted);
        x->got[i] = NEW_ARRAY(&x->mem, u32, wanted);
    }
}

static bool run_round(struct suite *s, const struct round *r)
{
    double limit = s->r->seconds;
    const char *const runner[] = { "runner" };
    lk_ring_topic topic = { runner, 1 };
    lk_ring_options o = { .size = sizeof o,
                          .module = s->module,
                          .kernel = r->kernel,
                          .instances = r->units,
                          .threads = r->threads,
                          .outbox_slots = SLOTS,
                          .mail_slots = r->slots,
                          .inline_bytes = 512,
                          .topic = &topic,
                          .topics = 1 };
    struct answers x;
    begin_answers(&x, r);
    s->ring = NULL;
    bool right = suite_said(s, lk_ring_create(s->gpu, &o, &s->ring)) && suite_said(s, lk_ring_launch(s->ring, limit)) &&
                 suite_said(s, lk_ring_activate(s->ring, limit)) && send_tokens(s, r) &&
                 (!r->drains || suite_said(s, lk_ring_drain(s->ring, limit))) && receive_all(s, &x) &&
                 (r->drains || suite_said(s, lk_ring_drain(s->ring, limit))) && nothing_is_left(s, &x) &&
                 suite_said(s, lk_ring_terminate(s->ring, limit)) && suite_said(s, lk_ring_destroy(s->ring));
    arena_free(&x.mem);
    if (right && lk_report_errors(s->gpu))
        right = suite_wrong(s, "%u findings of the checks", lk_report_errors(s->gpu));
    return right;
}

/* ---- claims ---- */

static bool on_gpu(const struct ring_request *r) { return r->on && strcmp(r->on, "sim"); }

static bool load(struct suite *s)
{
    return lk_module_load(s->gpu, "mail.ptx", ring_mail_ptx, (size_t)(ring_mail_ptx_end - ring_mail_ptx), &s->module) ==
               LK_OK ||
           suite_wrong(s, "%.380s", lk_gpu_error(s->gpu));
}

/* What a claim tries: each round with about so many messages, its tokens lingering or not. */
struct trial {
    u64 messages;
    u32 delay;
    u32 skip; /* takes one round of so many; 0: all */
};

/* As many hops as make the messages that were asked for, and no more than all outboxes hold. */
static u32 hops_for(u64 messages, u32 tokens)
{
    u64 most = SLOTS / tokens - 1;
    return (u32)MIN_OF(MAX_OF(messages / tokens, (u64)5), MIN_OF(most, (u64)100));
}

/* A message that a unit works on is in its slot: fewer tokens than there are slots, or all units wait for room in a
 * circle. */
static bool chains(struct suite *s, const struct trial *t)
{
    const struct round rounds[] = {
        { .kernel = "mail", .units = 3, .threads = 32, .slots = 2, .tokens = 5, .step = 1, .drains = true },
        { .kernel = "mail", .units = 3, .threads = 32, .slots = 2, .tokens = 1, .step = 1 },
        { .kernel = "mail", .units = 2, .threads = 20, .slots = 256, .tokens = 7, .step = 1, .drains = true },
        { .kernel = "mail_warp", .units = 5, .threads = 32, .slots = 8, .tokens = 16, .step = 2, .drains = true },
        { .kernel = "mail", .units = 1, .threads = 1, .slots = 4, .tokens = 3, .step = 1 },
        { .kernel = "mail", .units = 4, .threads = 64, .slots = 1, .tokens = 3, .step = 3 },
    };
    for (u32 i = 0; i < COUNT_OF(rounds); i++) {
        struct round r = rounds[i];
        if (t->skip && i % t->skip) continue;
        r.hops = hops_for(t->messages, r.tokens);
        r.delay = t->delay;
        if (!run_round(s, &r)) return false;
    }
    return true;
}

static bool spreads(struct suite *s, const struct trial *t)
{
    const struct round rounds[] = {
        { .kernel = "mail", .units = 4, .threads = 32, .slots = 1, .tokens = TOKENS, .drains = true },
        { .kernel = "mail_warp", .units = 5, .threads = 32, .slots = 1, .tokens = TOKENS },
        { .kernel = "mail", .units = 3, .threads = 64, .slots = 256, .tokens = TOKENS, .drains = true },
    };
    for (u32 i = 0; i < COUNT_OF(rounds); i++) {
        struct round r = rounds[i];
        if (t->skip && i % t->skip) continue;
        r.delay = t->delay;
        r.tokens = (u32)MIN_OF((u64)r.tokens, MAX_OF(t->messages / (2 * r.units + 1), (u64)3));
        if (!run_round(s, &r)) return false;
    }
    return true;
}

bool ring_mail_chains(struct suite *s)
{
    struct suite x = *s;
    bool right = load(&x) && chains(&x, &(struct trial){ .messages = s->r->messages });
    memcpy(s->why, x.why, sizeof s->why);
    return right;
}

bool ring_mail_spread(struct suite *s)
{
    struct suite x = *s;
    bool right = load(&x) && spreads(&x, &(struct trial){ .messages = s->r->messages });
    memcpy(s->why, x.why, sizeof s->why);
    return right;
}

/* ---- under load ---- */

enum { MOST_BUSY = 64, MOST_TIMES = 10, GPUS = 2, DELAY_NS = 20000 };

struct busy {
    pthread_t thread[MOST_BUSY];
    u32 threads;
    u32 end; /* atomic */
};

static void *be_busy(void *p)
{
    struct busy *b = p;
    u64 x = 1;
    while (!__atomic_load_n(&b->end, __ATOMIC_RELAXED)) rand_next(&x);
    return NULL;
}

static void begin_busy(struct busy *b)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *b = (struct busy){ 0 };
    for (long i = 0; i < processors && b->threads < MOST_BUSY; i++)
        b->threads += !pthread_create(&b->thread[b->threads], NULL, be_busy, b);
}

static void end_busy(struct busy *b)
{
    __atomic_store_n(&b->end, 1, __ATOMIC_RELAXED);
    for (u32 i = 0; i < b->threads; i++) pthread_join(b->thread[i], NULL);
}

/* Orders of execution are not many in one round: several short ones, then. */
static bool delayed(struct suite *s)
{
    struct trial t = { .messages = s->r->messages / 10, .delay = DELAY_NS, .skip = 3 };
    u64 times = MIN_OF(MAX_OF(s->r->messages / 500, (u64)1), (u64)MOST_TIMES);
    if (!load(s)) return false;
    for (u64 i = 0; i < times; i++)
        if (!chains(s, &t) || !spreads(s, &t)) return false;
    return true;
}

/* The software GPU with other numbers of workers, more than one and more than there are units, is another gpu. */
static bool with_workers(struct suite *s, u32 workers)
{
    struct suite x = *s;
    lk_options o = { .size = sizeof o, .on = s->r->on, .device = s->r->device, .threads = workers };
    if (lk_gpu_create(&o, &x.gpu) != LK_OK) return suite_wrong(s, "%.380s", lk_gpu_error(NULL));
    bool right = delayed(&x);
    if (lk_report_errors(x.gpu)) {
        char *report = lk_report_text(x.gpu, cli_color(&s->r->common));
        fputs(report, stderr);
        lk_text_free(report);
    }
    s->seed = x.seed;
    memcpy(s->why, x.why, sizeof s->why);
    if (!right) lk_gpu_interrupt(x.gpu);
    lk_gpu_destroy(x.gpu);
    return right;
}

bool ring_mail_load(struct suite *s)
{
    static const u32 workers[GPUS] = { 3, 8 };
    struct busy b;
    struct suite x = *s;
    bool right = true;
    begin_busy(&b);
    if (on_gpu(s->r)) right = delayed(&x);
    for (u32 i = 0; right && !on_gpu(s->r) && i < GPUS; i++)
        right = with_workers(&x, s->r->workers ? (u32)s->r->workers : workers[i]);
    end_busy(&b);
    memcpy(s->why, x.why, sizeof s->why);
    return right;
}
