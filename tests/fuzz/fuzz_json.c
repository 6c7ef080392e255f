/* Fuzz target of the reader of JSON (base/json.h). Any bytes may come. What is read is written again, and reads as the
 * same. With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is
 * given. */
#include "base/json.h"

static void put_text(struct text *t, struct str s)
{
    text_add(t, "\"");
    for (u32 i = 0; i < s.n; i++)
        text_add(t, (u8)s.p[i] < 0x20 || s.p[i] == '"' || s.p[i] == '\\' ? "\\u%04x" : "%c", (u8)s.p[i]);
    text_add(t, "\"");
}

static void put(struct text *t, const struct json_value *v)
{
    struct json j = { t, false };
    CHECK(v->line && v->column);
    switch ((enum json_kind)v->kind) {
    case JSON_NULL: json_null(&j, NULL); break;
    case JSON_BOOL: json_bool(&j, NULL, v->yes); break;
    case JSON_NUMBER:
        if (v->is_whole)
            json_signed(&j, NULL, v->whole);
        else
            json_double(&j, NULL, v->number);
        break;
    case JSON_TEXT: put_text(t, v->text); break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        text_add(t, v->kind == JSON_ARRAY ? "[" : "{");
        for (u32 i = 0; i < v->n; i++) {
            if (i) text_add(t, ",");
            if (v->kind == JSON_OBJECT) {
                put_text(t, v->key[i]);
                text_add(t, ":");
            }
            put(t, &v->item[i]);
        }
        text_add(t, v->kind == JSON_ARRAY ? "]" : "}");
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    struct arena a = { 0 };
    struct error e = { 0 };
    struct text once = { 0 }, twice = { 0 };
    const struct json_value *v = json_read(&a, (struct str){ (const char *)data, (u32)MIN_OF(n, (size_t)1 << 20) },
                                           "fuzz", &e);
    CHECK(!v == (e.code != ERR_NONE));
    if (v) {
        put(&once, v);
        const struct json_value *w = json_read(&a, (struct str){ once.p, (u32)once.n }, "again", &e);
        CHECK(w);
        put(&twice, w);
        CHECK(once.n == twice.n && !memcmp(once.p, twice.p, once.n));
    }
    text_free(&once);
    text_free(&twice);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
