/* Fuzz target of the reader of measurements (verbs/hardware.h): the CSV of ncu and nsys. Any bytes may come; what is
 * read is joined with a profile, and the JSON of both is JSON. With libFuzzer: clang
 * -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is given. */
#include "base/json.h"
#include "verbs/hardware.h"

static const char profile[] =
    "{\"devices\":[{\"kernels\":[{\"name\":\"_Z5scaleIfEvPT_S0_\",\"plain\":\"scale\",\"launches\":2,\"shapes\":["
    "{\"launches\":2,\"least_ps\":{\"dram\":436900},\"occupancy\":{\"permille\":1000}}],\"counts\":{\"warp_"
    "instructions\":"
    "9,\"footprint\":{\"sectors_read\":4,\"sectors_written\":4},\"global\":{\"load\":{\"requests\":1,\"sectors\":4}}}}]"
    "}]}\n";

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct hardware h = { 0 };
    struct text json = { 0 }, table = { 0 };
    struct arena mem = { 0 };
    struct error e = { 0 };
    if (size > 1 << 16) return 0;
    hardware_take(&h, (struct str){ (const char *)data, (u32)size });
    CHECK(hardware_join(&h, str_of(profile), &json, &table, &e));
    CHECK(json_read(&mem, (struct str){ json.p, (u32)json.n }, "joined", &e));
    arena_free(&mem);
    text_free(&json);
    text_free(&table);
    hardware_free(&h);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
