/* Both sides declare the message with 128 bytes. */
#include <lockstep_ring.h>
#include <stdio.h>
#define READING(F, A, S) F(S, unsigned long long, time) A(S, float, value, 30)
LK_RING_MESSAGE(reading, 1, READING)

int main(int argc, char **argv)
{
    lk_gpu *gpu;
    lk_module *module;
    lk_ring *ring;
    const struct lk_ring_row *types[] = { lk_ring_layout_reading };
    if (argc < 2 || lk_gpu_create(NULL, &gpu) || lk_module_load_file(gpu, argv[1], &module)) return 2;
    lk_ring_options o = { .size = sizeof o, .module = module, .kernel = "readings", .type = types, .types = 1 };
    if (lk_ring_create(gpu, &o, &ring) != LK_OK) return puts(lk_ring_error(NULL)), 1;
    struct reading r = { .time = 7 };
    lk_ring_message m = { .size = sizeof m, .type = reading_number, .data = &r, .bytes = sizeof r },
                    back = { .size = sizeof back };
    if (lk_ring_launch(ring, 60) || lk_ring_activate(ring, 60) || lk_ring_ask(ring, &m, &back, 60))
        return puts(lk_ring_error(ring)), 1;
    printf("%llu came back in %u bytes\n", ((const struct reading *)back.data)->time, back.bytes);
    if (lk_ring_drain(ring, 60) || lk_ring_terminate(ring, 60) || lk_ring_destroy(ring))
        return puts(lk_ring_error(ring)), 1;
    lk_gpu_destroy(gpu);
    return 0;
}
