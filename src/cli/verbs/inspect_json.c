/* lockstep inspect --json: the same list for machines. docs/inside/image.md describes it. */
#include "verbs/inspect.h"
#include <inttypes.h>

static void text_field(struct text *t, const char *key, const char *value)
{
    text_add(t, ",\"%s\":", key);
    text_json(t, value);
}

static void number(struct text *t, const char *key, u64 n) { text_add(t, ",\"%s\":%" PRIu64, key, n); }

static void flag(struct text *t, const char *key, bool on) { text_add(t, ",\"%s\":%s", key, on ? "true" : "false"); }

static void shape(struct text *t, const char *key, const u32 v[3])
{
    if (v[0]) text_add(t, ",\"%s\":[%u,%u,%u]", key, v[0], MAX_OF(v[1], 1u), MAX_OF(v[2], 1u));
}

static void params(struct inspect *a, u32 image, u32 kernel, u32 n, struct text *t)
{
    text_add(t, ",\"parameters\":[");
    for (u32 p = 0; p < n; p++) {
        lk_image_param x;
        if (lk_images_param(a->images, image, kernel, p, &x) != LK_OK) break;
        text_add(t, "%s{\"offset\":%u,\"bytes\":%u,\"type\":", p ? "," : "", x.offset, x.bytes);
        text_json(t, x.type);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void kernel(struct inspect *a, u32 image, u32 k, struct text *t)
{
    lk_image_kernel x;
    if (!inspect_kernel(a, image, k, &x)) return;
    text_add(t, "%s{\"name\":", k ? "," : "");
    text_json(t, x.plain);
    text_field(t, "signature", x.signature);
    text_field(t, "entry", x.name);
    params(a, image, k, x.params, t);
    number(t, "parameter_bytes", x.param_bytes);
    number(t, "shared_bytes", x.shared_bytes);
    number(t, "stack_bytes", x.stack_bytes);
    if (x.assembled) {
        number(t, "registers", x.registers);
        number(t, "barriers", x.barriers);
        number(t, "constant_bytes", x.const_bytes);
        number(t, "code_bytes", x.code_bytes);
        flag(t, "warp_sync", x.warp_sync);
    } else {
        flag(t, "dynamic_shared", x.dynamic_shared);
        flag(t, "grid_sync", x.grid_sync);
    }
    shape(t, "max_threads", x.max_threads);
    shape(t, "required_threads", x.required_threads);
    shape(t, "cluster", x.cluster);
    if (x.max_cluster) number(t, "max_cluster", x.max_cluster);
    text_add(t, "}");
}

static void image(struct inspect *a, u32 i, struct text *t)
{
    lk_image m = { .size = sizeof m };
    lk_image_code c;
    if (!lk_images_at(a->images, i, &m)) return;
    text_add(t, "{\"number\":%u,\"kind\":", i + 1);
    text_json(t, m.kind);
    number(t, "kind_number", m.kind_number);
    text_field(t, "arch", m.arch);
    if (m.major || m.minor) text_add(t, ",\"version\":[%u,%u]", m.major, m.minor);
    number(t, "offset", m.at);
    number(t, "bytes", m.bytes);
    number(t, "stored_bytes", m.stored_bytes);
    text_field(t, "packing", m.packing);
    number(t, "flags", m.flags);
    text_field(t, "identifier", m.identifier);
    text_field(t, "options", m.options);
    text_field(t, "verdict", lk_images_verdict(a->images, i, a->device, a->strict));
    if (inspect_code(a, i, &c)) {
        flag(t, "lines", c.lines);
        flag(t, "debug", c.debug);
        flag(t, "relocatable", c.relocatable);
        number(t, "global_bytes", c.global_bytes);
        number(t, "constant_bytes", c.const_bytes);
        if (c.toolkit) number(t, "toolkit", c.toolkit);
        if (c.tool[0]) text_field(t, "tool", c.tool);
        if (c.tool_options[0]) text_field(t, "tool_options", c.tool_options);
        text_add(t, ",\"kernels\":[");
        for (u32 k = 0; k < c.kernels; k++) kernel(a, i, k, t);
        text_add(t, "]");
    }
    text_add(t, "}");
}

static void fatbin(struct inspect *a, u32 i, const lk_fatbin *b, struct text *t)
{
    lk_image_choice c;
    text_add(t, "%s{\"offset\":%" PRIu64, i ? "," : "", b->at);
    number(t, "bytes", b->bytes);
    text_field(t, "section", b->section);
    text_field(t, "member", b->member);
    if (lk_images_choose(a->images, i, a->device, a->strict, &c) == LK_OK) {
        number(t, "sm", c.sm);
        if (c.image >= 0) number(t, "loads", (u64)c.image + 1);
        if (c.silicon >= 0) number(t, "gpu_would_load", (u64)c.silicon + 1);
        if (c.why[0]) text_field(t, "why_not", c.why);
        if (c.note[0]) text_field(t, "note", c.note);
    }
    text_add(t, ",\"images\":[");
    for (u32 k = 0; k < b->count; k++) {
        text_put(t, ",", k ? 1 : 0);
        image(a, b->first + k, t);
    }
    text_add(t, "]}");
}

void inspect_json(struct inspect *a, struct text *t)
{
    lk_fatbin b = { .size = sizeof b };
    text_add(t, "{\"format\":\"lockstep-inspect\",\"version\":1,\"file\":");
    text_json(t, a->path);
    text_field(t, "kind", lk_images_kind(a->images));
    if (lk_images_machine(a->images)[0]) text_field(t, "machine", lk_images_machine(a->images));
    text_field(t, "device", a->device ? a->device : "h200");
    text_add(t, ",\"fatbins\":[");
    for (u32 i = 0; lk_images_fatbin(a->images, i, &b); i++) fatbin(a, i, &b, t);
    text_add(t, "]");
    if (a->damage[0]) text_field(t, "damage", a->damage);
    text_add(t, "}\n");
}
