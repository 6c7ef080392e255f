/* The shared memory for reports: texts that grow and are replaced, no room, senders of several processes at once, a
 * writer that is killed, and contents that somebody has overwritten. */
#include "base/channel.h"
#include "unit.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool text_is(const struct channel *c, const struct channel_sender *s, enum channel_kind kind, const char *wanted)
{
    struct str got;
    if (!channel_read(c, s, kind, 0, &got)) return !*wanted;
    bool same = str_is(got, wanted);
    base_free((void *)(uintptr_t)got.p);
    return same;
}

static void test_texts(void)
{
    struct channel c;
    struct channel_writer w;
    struct error e = { 0 };
    static char large[100000];
    if (!UNIT(channel_create(&c, 1 << 20, &e)) || !UNIT(channel_begin(&w, &c, 7))) return;
    UNIT(!channel_has(w.sender, CHANNEL_LOG));
    UNIT(channel_add(&w, CHANNEL_LOG, "one", 3) && channel_add(&w, CHANNEL_LOG, " two", 4));
    UNIT(text_is(&c, w.sender, CHANNEL_LOG, "one two"));
    memset(large, 'x', sizeof large);
    UNIT(channel_add(&w, CHANNEL_LOG, large, sizeof large)); /* it moves */
    struct str got;
    UNIT(channel_read(&c, w.sender, CHANNEL_LOG, 4, &got) && got.n == sizeof large + 3 && !memcmp(got.p, "twoxxx", 6));
    base_free((void *)(uintptr_t)got.p);
    UNIT(!channel_read(&c, w.sender, CHANNEL_LOG, sizeof large + 7, &got));
    for (u32 i = 0; i < 1000; i++) { /* two pieces take turns: this needs no more memory than one */
        char text[2000];
        int n = snprintf(text, sizeof text, "%u %1500u", i, i);
        if (!channel_put(&w, CHANNEL_JSON, text, (size_t)n) || !text_is(&c, w.sender, CHANNEL_JSON, text)) {
            UNIT(!"a text that is replaced");
            break;
        }
    }
    UNIT(channel_put(&w, CHANNEL_NOW, "now", 3) && channel_has(w.sender, CHANNEL_NOW));
    UNIT(channel_put(&w, CHANNEL_NOW, NULL, 0) && !channel_has(w.sender, CHANNEL_NOW));
    channel_mark(&w, CHANNEL_DONE | CHANNEL_WHOLE, true);
    channel_mark(&w, CHANNEL_WHOLE, false);
    UNIT_EQ(channel_marks(w.sender), CHANNEL_DONE);
    channel_close(&c);
}

/* What a program may do to memory that is not its own: the head, a sender, the place of a text. */
static void test_overwritten(void)
{
    struct channel c;
    struct channel_writer w, other;
    struct error e = { 0 };
    u64 checked;
    if (!UNIT(channel_create(&c, 1 << 20, &e))) return;
    UNIT(!channel_damaged(&c));
    if (!UNIT(channel_begin(&w, &c, 7) && channel_begin(&other, &c, 8))) return;
    UNIT(channel_put(&w, CHANNEL_TXT, "kept", 4) && !channel_damaged(&c));
    channel_launches(&w, 5, 3);
    UNIT_EQ(channel_launches_of(w.sender, &checked), 5);
    UNIT_EQ(checked, 3);
    struct channel_sender was = *w.sender;
    memset(w.sender, 0, sizeof was); /* the first sender, which the second one leads to */
    UNIT(channel_damaged(&c));
    *w.sender = was;
    UNIT(!channel_damaged(&c));
    w.sender->text[CHANNEL_TXT].view[w.sender->text[CHANNEL_TXT].turn % 2].offset = 1ull << 40;
    UNIT(channel_damaged(&c));
    *w.sender = was;
    w.sender->before = 1 << 19; /* where nothing was given out */
    UNIT(channel_damaged(&c));
    *w.sender = was;
    for (u32 byte = 0; byte < 256; byte += 255) {
        char head[64];
        memcpy(head, c.base, sizeof head);
        memset(c.base, (int)byte, sizeof head);
        UNIT(channel_damaged(&c));
        memcpy(c.base, head, sizeof head);
        UNIT(!channel_damaged(&c));
    }
    channel_close(&c);
}

static void test_full(void)
{
    struct channel c;
    struct channel_writer w, other;
    struct error e = { 0 };
    static char large[1 << 20];
    u32 n = 0;
    if (!UNIT(channel_create(&c, 1 << 20, &e)) || !UNIT(channel_begin(&w, &c, 7))) return;
    UNIT(channel_put(&w, CHANNEL_TXT, "kept", 4));
    UNIT(!channel_put(&w, CHANNEL_TXT, large, sizeof large));
    UNIT(text_is(&c, w.sender, CHANNEL_TXT, "kept"));
    UNIT_EQ(w.sender->missing[CHANNEL_TXT], sizeof large);
    UNIT(channel_put(&w, CHANNEL_TXT, "smaller", 7) && !w.sender->missing[CHANNEL_TXT]);
    while (channel_begin(&other, &c, 8)) n++;
    UNIT(n > 100 && !other.sender && channel_refused(&c) == 1);
    UNIT(!channel_add(&w, CHANNEL_LOG, large, 5000) && w.sender->missing[CHANNEL_LOG] == 5000);
    UNIT(!channel_add(&other, CHANNEL_LOG, "x", 1)); /* there is no sender: nothing happens */
    channel_close(&c);
}

/* Processes that write at once, each until it is killed: what is read is always whole. */
static void test_killed(void)
{
    enum { PROCESSES = 4, LOOKS = 200 };
    struct channel c;
    struct error e = { 0 };
    pid_t child[PROCESSES];
    u32 n = 0, seen = 0, wrong = 0;
    if (!UNIT(channel_create(&c, 64 << 20, &e))) return;
    for (u32 i = 0; i < PROCESSES; i++) {
        if ((child[i] = fork())) continue;
        struct channel_writer w;
        static char text[20000];
        if (!channel_begin(&w, &c, (s32)getpid())) _exit(1);
        for (u32 k = 1;; k++) {
            size_t size = 1 + k * 7919 % (sizeof text - 1);
            memset(text, 'a' + (int)(k % 26), size);
            channel_put(&w, CHANNEL_JSON, text, size);
        }
    }
    for (u32 look = 0; look < LOOKS; look++) {
        struct channel_sender **s = channel_senders(&c, &n);
        if (look == LOOKS - 1)
            for (u32 i = 0; i < PROCESSES; i++) {
                kill(child[i], SIGKILL);
                waitpid(child[i], NULL, 0);
            }
        for (u32 i = 0; i < n; i++) {
            struct str got;
            if (!channel_read(&c, s[i], CHANNEL_JSON, 0, &got)) continue;
            seen++;
            for (u32 k = 1; k < got.n; k++) wrong += got.p[k] != got.p[0];
            base_free((void *)(uintptr_t)got.p);
        }
        base_free(s);
        usleep(500);
    }
    UNIT_EQ(n, PROCESSES);
    UNIT(seen >= PROCESSES);
    UNIT_EQ(wrong, 0);
    channel_close(&c);
}

/* Whatever lies in the memory, reading it ends and stays inside. */
static void test_damaged(void)
{
    enum { ROUNDS = 2000, DAMAGED = 4096 };
    struct channel c;
    struct channel_writer w;
    struct error e = { 0 };
    u32 senders = 0;
    srand(1);
    if (!UNIT(channel_create(&c, 1 << 20, &e))) return;
    for (u32 i = 0; i < 4; i++)
        if (UNIT(channel_begin(&w, &c, 7))) channel_put(&w, CHANNEL_JSON, "text", 4);
    char *kept = base_need(DAMAGED);
    memcpy(kept, c.base, DAMAGED);
    for (u32 round = 0; round < ROUNDS; round++) {
        memcpy(c.base, kept, DAMAGED);
        for (u32 k = 0; k < 8; k++) c.base[8 + rand() % (DAMAGED - 8)] = (char)rand();
        u32 n;
        struct channel_sender **s = channel_senders(&c, &n);
        senders += n;
        for (u32 i = 0; i < n && i < 100; i++) {
            struct str got;
            if (channel_read(&c, s[i], (enum channel_kind)(round % CHANNEL_KINDS), 0, &got))
                base_free((void *)(uintptr_t)got.p);
        }
        base_free(s);
        if (channel_begin(&w, &c, 9)) channel_add(&w, CHANNEL_LOG, "log", 3);
    }
    UNIT(senders > ROUNDS);
    base_free(kept);
    channel_close(&c);
}

/* A child of exec finds it by the descriptor, else by the launcher's. */
static void test_words(void)
{
    struct channel c, again;
    struct channel_writer w;
    struct error e = { 0 };
    char words[120];
    if (!UNIT(channel_create(&c, 1 << 20, &e)) || !UNIT(channel_begin(&w, &c, 7))) return;
    channel_words(&c, words, sizeof words);
    UNIT(channel_open(&again, words));
    UNIT(again.base && again.base != c.base && !memcmp(again.base, c.base, 64));
    channel_close(&again);
    pid_t child = fork();
    int status = 0;
    if (!child) {
        close(c.fd);
        _exit(channel_open(&again, words) ? 0 : 1);
    }
    waitpid(child, &status, 0);
    UNIT_EQ(status, 0);
    UNIT(!channel_open(&again, "junk") && !channel_open(&again, "0 1 2 3") && !channel_open(&again, NULL));
    channel_close(&c);
}

int main(void)
{
    test_texts();
    test_full();
    test_killed();
    test_damaged();
    test_overwritten();
    test_words();
    return unit_done();
}
