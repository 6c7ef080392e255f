/* Fuzz target of program images: any bytes as a file of any kind. What is refused says why and where; what is read can
 * be asked for everything: each image is unpacked and its kernels are listed, and a choice is made for every
 * architecture. With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files
 * it is given. */
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_kernels(struct image_file *f, u32 image)
{
    struct error e = { 0 };
    const struct image_code *c = image_read(f, image, &e);
    if (!c) {
        CHECK(e.code != ERR_NONE && e.text[0]);
        return;
    }
    for (u32 k = 0; k < c->kernel.n; k++) {
        const struct image_kernel *x = &c->kernel.p[k];
        CHECK(x->name && x->plain && x->signature && (x->params == 0 || x->param));
        for (u32 p = 0; p < x->params; p++) CHECK(x->param[p].type);
    }
}

static void choose(const struct image_file *f, u32 fatbin, u32 sm, bool strict)
{
    const struct image_fatbin *b = &f->fatbin.p[fatbin];
    struct image_choice c;
    image_choose(f, fatbin, sm, strict, &c);
    CHECK(c.image < 0 || ((u32)c.image >= b->first && (u32)c.image < b->first + b->images));
    CHECK((c.image < 0) == (c.why[0] != 0) && c.is_newer == (c.note[0] != 0) &&
          !(strict && c.is_newer && c.silicon < 0));
    u32 loads = 0;
    for (u32 i = b->first; i < b->first + b->images; i++) {
        enum image_verdict v = image_verdict(f, i, sm, &c);
        loads += v == VERDICT_LOADS || v == VERDICT_LOADS_NEWER;
        CHECK(image_verdict_text(v)[0]);
    }
    CHECK(loads == (c.image >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_file *f = image_open("fuzz", (struct str){ (const char *)data, (u32)size });
    CHECK(!f->damage.code || (f->damage.code == ERR_INPUT && f->damage.text[0]));
    for (u32 i = 0; i < f->image.n; i++) {
        struct error e = { 0 };
        struct str text;
        bool ok = image_unpack(f, i, &text, &e);
        CHECK(ok == !e.code);
        CHECK(!ok || text.n <= f->image.p[i].bytes);
        read_kernels(f, i);
    }
    for (u32 b = 0; b < f->fatbin.n; b++)
        for (u32 sm = 70; sm < 130; sm += 10) {
            choose(f, b, sm, false);
            choose(f, b, sm, true);
        }
    image_close(f);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
