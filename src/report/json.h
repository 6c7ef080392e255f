/* A writer of JSON that knows where commas go, for the reports of machines (report_json.c, report_sarif.c). */
#ifndef LOCKSTEP_JSON_H
#define LOCKSTEP_JSON_H
#include "base/base.h"

struct json {
    struct text *out;
    bool more; /* something stands before in this object or array */
};
/* the comma, the key and its colon; NULL in an array: only the comma */
void json_key(struct json *j, const char *key);
/* `key: value`; a NULL text is null. */
void json_text(struct json *j, const char *key, const char *z);
void json_number(struct json *j, const char *key, u64 n);
void json_signed(struct json *j, const char *key, s64 n);
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
void json_triple(struct json *j, const char *key, const u32 v[3]);
/* Opens an object or array as the value of `key` and returns its writer; json_end closes it with '}' or ']'. */
struct json json_open(struct json *j, const char *key, char bracket);
void json_end(struct json *j, char bracket);
#endif
