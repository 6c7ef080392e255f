/* The devices of the process: which cards LOCKSTEP_DEVICES and CUDA_VISIBLE_DEVICES give it, cuInit, and what a child
 * of fork finds. */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver/cu_engine.h"
#include "card/card.h"
#include <inttypes.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct cu_process cu_process = { .lock = LOCK_INIT };

/* The next word of a list with commas; false: there is none. */
static bool word_next(const char **p, char *out, size_t size)
{
    while (**p == ',' || isspace((unsigned char)**p)) ++*p;
    size_t n = strcspn(*p, ",");
    if (!n) return false;
    size_t keep = n;
    while (keep && isspace((unsigned char)(*p)[keep - 1])) keep--;
    snprintf(out, size, "%.*s", (int)MIN_OF(keep, size - 1), *p);
    *p += n;
    return true;
}

void cu_given_wrong(const char *what)
{
    fprintf(stderr, "lockstep: %s\n", what);
    fflush(stdout);
    _exit(CU_EXIT_GIVEN);
}

/* A card that nobody asked for would be checked in place of another one. */
u32 cu_cards(const struct card *card[CU_DEVICES])
{
    const char *list = getenv("LOCKSTEP_DEVICES");
    bool given = list && *list;
    char word[80], why[200];
    u32 n = 0;
    while (list && word_next(&list, word, sizeof word)) {
        const struct card *p = card_find(word);
        snprintf(why, sizeof why, "LOCKSTEP_DEVICES: there is no device `%s`; lockstep device lists them", word);
        if (!p) cu_given_wrong(why);
        if (n == CU_DEVICES) cu_given_wrong("LOCKSTEP_DEVICES: 16 devices at most");
        card[n++] = p;
    }
    if (given && !n) cu_given_wrong("LOCKSTEP_DEVICES names no device; lockstep device lists them");
    if (!n) card[n++] = card_default();
    return n;
}

/* The order in which CUDA numbers the cards: CUDA_DEVICE_ORDER=PCI_BUS_ID is that of LOCKSTEP_DEVICES, otherwise the
 * fastest come first. */
static void cards_order(const struct card *const *card, u32 cards, u32 *order)
{
    const char *by = getenv("CUDA_DEVICE_ORDER");
    for (u32 i = 0; i < cards; i++) {
        u32 k = i;
        u64 speed = (u64)card[i]->sms * card[i]->clock_mhz;
        for (; k && !(by && !strcmp(by, "PCI_BUS_ID")); k--) {
            const struct card *p = card[order[k - 1]];
            if ((u64)p->sms * p->clock_mhz >= speed) break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

/* The card that a word of CUDA_VISIBLE_DEVICES means: its number in `order`, or the beginning of the UUID of one card
 * alone, "GPU-4c6f". `cards`: none. */
static u32 card_named(const char *word, const struct card *const *card, u32 cards, const u32 *order)
{
    char *end;
    long i = strtol(word, &end, 10);
    if (end != word && !*end) return i >= 0 && i < (long)cards ? order[i] : cards;
    u32 found = cards;
    for (u32 k = 0; k < cards && !strncmp(word, "GPU-", 4) && word[4]; k++) {
        char uuid[48];
        cu_card_uuid_text(k, card[k], uuid);
        if (strncasecmp(uuid, word, strlen(word)) != 0) continue;
        if (found != cards) return cards;
        found = k;
    }
    return found;
}

/* CUDA_VISIBLE_DEVICES: words up to the first that means no card, or one that was named before. */
static void devices_read(void)
{
    const struct card *card[CU_DEVICES];
    u32 cards = cu_cards(card), order[CU_DEVICES], k;
    const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
    bool taken[CU_DEVICES] = { false };
    struct cu_process *p = &cu_process;
    char word[80];
    cards_order(card, cards, order);
    for (u32 i = 0; !chosen && i < cards; i++)
        p->device[p->devices++] = (struct cu_device){ .card = card[order[i]], .number = order[i] };
    while (chosen && p->devices < CU_DEVICES && word_next(&chosen, word, sizeof word) &&
           (k = card_named(word, card, cards, order)) < cards && !taken[k]) {
        taken[k] = true;
        p->device[p->devices++] = (struct cu_device){ .card = card[k], .number = k };
    }
    for (u32 i = 0; i < p->devices; i++) p->device[i].ordinal = i;
}

CU_DEFINE(cuInit, unsigned, flags)
{
    struct cu_process *p = &cu_process;
    lock(&p->lock);
    bool forked = p->ready && p->pid != process_id();
    if (!p->ready) {
        devices_read();
        p->pid = process_id();
        p->ready = true;
    }
    unlock(&p->lock);
    if (forked) cu_engine->cu_forked();
    return forked ? CU_NOT_INITIALIZED : p->devices ? CU_OK : CU_NO_DEVICE;
}

cu_result cu_begin(void)
{
    const struct cu_process *p = &cu_process;
    if (!__atomic_load_n(&p->ready, __ATOMIC_ACQUIRE)) return CU_NOT_INITIALIZED;
    if (likely(p->pid == process_id())) return CU_OK;
    cu_engine->cu_forked();
    return CU_NOT_INITIALIZED;
}

struct cu_device *cu_device_at(int ordinal)
{
    return ordinal >= 0 && (u32)ordinal < cu_process.devices ? &cu_process.device[ordinal] : NULL;
}

bool cu_is_of_device(u64 address)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        if (gpu && gpu->device->mem && mem_covers(gpu->device->mem, address)) return true;
    }
    return false;
}

cu_result cu_device_open(struct cu_device *d)
{
    lock(&cu_process.lock);
    lk_status s = LK_OK;
    if (!d->gpu) s = cu_engine->cu_run_open(d);
    unlock(&cu_process.lock);
    return s ? cu_status(NULL, s) : CU_OK;
}

cu_result cu_sticky(const lk_gpu *gpu)
{
    if (likely(!cu_process.faults) || !gpu) return CU_OK;
    const struct dev_fault *f = &gpu->device->fault;
    u32 code = __atomic_load_n(&f->code, __ATOMIC_ACQUIRE);
    char text[600];
    static bool named;
    if (!code) return CU_OK;
    if (__atomic_exchange_n(&named, true, __ATOMIC_RELAXED)) {
        cu_reported(); /* each call returns it, and the first one is named */
        return (cu_result)code;
    }
    int n = snprintf(text, sizeof text, "It is the error of %s", f->kernel);
    if (f->nth) n += snprintf(text + n, sizeof text - (size_t)n, ", launch %" PRIu64 " of this kernel", f->nth);
    if (f->site && !strncmp(f->site, "{lk@s", 5))
        n += snprintf(text + n, sizeof text - (size_t)n, ", from {lk@h%s", f->site + 5);
    snprintf(text + n, sizeof text - (size_t)n,
             ": calls return before kernels have run. Every later call returns it, too.");
    cu_reason(text, "Repair what the findings of that launch say; this call has nothing to do with it.", false);
    return (cu_result)code;
}

cu_result cu_status(lk_gpu *gpu, lk_status s)
{
    u32 number = 0;
    const struct launch_refusal *refused = s == LK_FINDINGS ? launch_refused() : NULL;
    if (refused) {
        number = refused->code;
        cu_reason(refused->cause, refused->fix, refused->shape);
        launch_refused_forget();
        return (cu_result)number;
    }
    if (s == LK_OK || s == LK_FINDINGS) return cu_sticky(gpu); /* a finding does not stop the program */
    if (s == LK_NOT_READY) return CU_NOT_READY;
    number = lk_gpu_cuda_error(gpu);
    char text[400];
    snprintf(text, sizeof text, "%s", lk_gpu_error(gpu));
    text[strcspn(text, "\n")] = 0;
    cu_reason(text, NULL, false);
    return number ? (cu_result)number : CU_UNKNOWN;
}

CU_DEFINE(cuDriverGetVersion, int *, version)
{
    *version = CU_VERSION;
    return CU_OK;
}

/* ---- errors by number ---- */

static bool error_find(int number, lk_cuda_error *out)
{
    for (u32 i = 0; lk_cuda_error_at(i, out); i++)
        if ((int)out->number == number && (out->driver[0] || !number)) return true;
    return false;
}

const char *cu_error_words(int number)
{
    const char *words;
    u32 n;
    for (u32 i = 0; (words = lk_cuda_phrase_at(i, &n)); i++)
        if ((int)n == number) return words;
    return NULL;
}

/* Names and sentences live for ever: each is composed once. */
static const char *error_text(int number, bool name)
{
    static lock_t guard = LOCK_INIT;
    static const char *made[2][1000];
    lk_cuda_error x;
    if (number < 0 || number >= 1000 || !error_find(number, &x)) return NULL;
    lock(&guard);
    const char **slot = &made[name][number], *words = cu_error_words(number);
    if (!*slot) {
        char text[600];
        if (name)
            snprintf(text, sizeof text, number ? "CUDA_ERROR_%s" : "CUDA_SUCCESS", x.driver);
        else
            snprintf(text, sizeof text, "%s", !number ? "no error" : words ? words : x.meaning);
        char *copy = base_alloc(strlen(text) + 1);
        if (copy) memcpy(copy, text, strlen(text) + 1);
        *slot = copy;
    }
    const char *found = *slot;
    unlock(&guard);
    return found;
}

const char *cu_error_name(int number) { return error_text(number, true); }

CU_API(cuGetErrorName)(int error, const char **out)
{
    cu_engine->cu_asked(error);
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    *out = error_text(error, true);
    return *out ? CU_OK : CU_INVALID_VALUE;
}

CU_API(cuGetErrorString)(int error, const char **out)
{
    cu_engine->cu_asked(error);
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    *out = error_text(error, false);
    return *out ? CU_OK : CU_INVALID_VALUE;
}
