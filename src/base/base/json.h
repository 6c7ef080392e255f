/* json.h: JSON, written and read. The writer knows where commas go; the reader is strict, and any bytes may be given to
 * it. Neither depends on the locale of the process. */
#ifndef LOCKSTEP_JSON_H
#define LOCKSTEP_JSON_H
#include "base/base.h"

/* ---- writing ---- */
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
/* The shortest text that reads as the same double; 0.0 is 0. JSON has no NaN and no infinity: they are null. */
void json_double(struct json *j, const char *key, double x);
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
void json_triple(struct json *j, const char *key, const u32 v[3]);
/* Opens an object or array as the value of `key` and returns its writer; json_end closes it with '}' or ']'. */
struct json json_open(struct json *j, const char *key, char bracket);
void json_end(struct json *j, char bracket);

/* ---- reading ---- */
enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };
struct json_value {
    u8 kind;          /* enum json_kind */
    bool yes;         /* JSON_BOOL */
    bool is_whole;    /* JSON_NUMBER: it is written without a fraction and an exponent, and `whole` holds it */
    u32 line, column; /* where it begins, from 1; a column is a byte */
    union {
        struct {
            double number; /* JSON_NUMBER: the nearest one */
            s64 whole;
        };
        struct str text; /* JSON_TEXT: UTF-8, terminated too; \u0000 may be in it */
        struct {
            struct json_value *item; /* JSON_ARRAY, JSON_OBJECT: n values */
            struct str *key;         /* JSON_OBJECT: their keys, all different, in the order of the text */
            u32 n;
        };
    };
};
/* Reads a text that is one JSON value (RFC 8259) and nothing more; what is returned lives in the arena. NULL: e names
 * the place as `name:line:column`. Refused beside what is no JSON: keys that stand twice in an object, text that is no
 * UTF-8 or has half a surrogate, numbers that no double holds, values more than 64 deep, more than four million values.
 */
const struct json_value *json_read(struct arena *a, struct str text, const char *name, struct error *e);
/* The value of a key of an object; NULL: v is no object, or it has no such key. */
const struct json_value *json_get(const struct json_value *v, const char *key);
/* The text, the whole number above 0, any number, or the array of a key; "", 0 and an empty array where there is none.
 */
const char *json_string(const struct json_value *v, const char *key);
u64 json_whole(const struct json_value *v, const char *key);
double json_real(const struct json_value *v, const char *key);
const struct json_value *json_list(const struct json_value *v, const char *key);
/* What a kind is called in sentences: "a number". */
const char *json_kind_name(enum json_kind k);
#endif
