/* The writer of JSON. */
#include "base/json.h"
#include <inttypes.h>
#include <math.h>

void json_key(struct json *j, const char *key)
{
    if (j->more) text_add(j->out, ",");
    j->more = true;
    if (!key) return;
    text_json(j->out, key);
    text_add(j->out, ":");
}

void json_text(struct json *j, const char *key, const char *z)
{
    if (!z) {
        json_null(j, key);
        return;
    }
    json_key(j, key);
    text_json(j->out, z);
}

void json_number(struct json *j, const char *key, u64 n)
{
    json_key(j, key);
    text_add(j->out, "%" PRIu64, n);
}

void json_signed(struct json *j, const char *key, s64 n)
{
    json_key(j, key);
    text_add(j->out, "%" PRId64, n);
}

void json_double(struct json *j, const char *key, double x)
{
    char number[32];
    if (!isfinite(x)) {
        json_null(j, key);
        return;
    }
    double_print(x, number, sizeof number);
    json_key(j, key);
    text_add(j->out, "%s", number);
}

void json_bool(struct json *j, const char *key, bool b)
{
    json_key(j, key);
    text_add(j->out, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_key(j, key);
    text_add(j->out, "null");
}

void json_triple(struct json *j, const char *key, const u32 v[3])
{
    json_key(j, key);
    text_add(j->out, "[%u,%u,%u]", v[0], v[1], v[2]);
}

struct json json_open(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    text_put(j->out, &bracket, 1);
    return (struct json){ j->out, false };
}

void json_end(struct json *j, char bracket) { text_put(j->out, &bracket, 1); }
