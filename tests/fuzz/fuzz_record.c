/* Fuzz target of recordings: any bytes as a file, and as the payload of a file whose head is right; what is taken is
 * written as C. What is refused must say why. */
#include "lab/recording.h"

static void taken(struct record *rec)
{
    lk_recording r = { .r = *rec };
    r.bytes = NEW_ARRAY(&r.mem, u8 *, rec->objects + 1);
    for (u32 i = 0; i < rec->objects; i++) {
        r.bytes[i] = rec->payload + (rec->object[i].bytes - rec->payload);
        CHECK(r.bytes[i] + rec->object[i].size >= r.bytes[i]);
        CHECK(record_find(rec, rec->object[i].address));
        CHECK(rec->object[i].address + rec->object[i].size > rec->object[i].address);
    }
    lk_text_free(lk_recording_text(&r));
    lk_text_free(lk_recording_c(&r));
    arena_free(&r.mem);
}

static void parsed(const u8 *bytes, u64 n)
{
    struct record rec;
    struct error e = { 0 };
    if (!record_parse("in.rec", bytes, n, &rec, &e)) {
        CHECK((e.code == ERR_INPUT || e.code == ERR_MEMORY) && e.text[0]);
        return;
    }
    taken(&rec);
    record_free(&rec);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    u8 *file = base_alloc(n + RECORD_HEAD);
    u64 hash = 14695981039346656037u, size = n;
    u32 word[2] = { RECORD_VERSION, 0 };
    CHECK(file);
    for (size_t i = 0; i < n; i++) hash = (hash ^ data[i]) * 0x100000001b3u;
    parsed(data, n);
    memcpy(file, "lockrec\n", 8);
    memcpy(file + 8, word, 8);
    memcpy(file + 16, &size, 8);
    memcpy(file + 24, &size, 8);
    memcpy(file + 32, &hash, 8);
    if (n) memcpy(file + RECORD_HEAD, data, n);
    parsed(file, n + RECORD_HEAD);
    base_free(file);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
