/* Errors as objects: what a call says of itself, and how a thread's last error lives. */
#include "suite.h"

static void object(int unused)
{
    lk_error e = { .size = sizeof e };
    uint64_t d = buffer(16, NULL);
    char byte[32] = { 0 };
    (void)unused;
    CHECK(lk_gpu_last_error(gpu, &e) == 0 || e.status == LK_OK);
    REFUSED(lk_memory_write(gpu, d, byte, 32), "16 bytes");
    CHECK(lk_gpu_last_error(gpu, &e) == 1 && e.status == LK_BAD_INPUT);
    CHECK(!strcmp(e.call, "lk_memory_write") && strstr(e.message, "16 bytes") && !*e.launch);
    CHECK(e.lasting == LK_CUDA_PASSING);
}

static void of_a_launch(int unused)
{
    lk_error e = { .size = sizeof e };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .arg_count = 1 };
    (void)unused;
    REFUSED(lk_kernel_launch(job("vector_add"), &l, NULL), "takes 4 arguments");
    CHECK(lk_gpu_last_error(gpu, &e) == 1 && !strcmp(e.launch, "vector_add") && !strcmp(e.call, "lk_kernel_launch"));
}

static void out_of_memory(int unused)
{
    lk_error e = { .size = sizeof e };
    uint64_t at = 0;
    (void)unused;
    ANSWERS(lk_memory_alloc(gpu, 1ull << 50, LK_MEMORY_DEVICE, "x", &at), LK_OUT_OF_MEMORY, "");
    CHECK(lk_gpu_last_error(gpu, &e) == 1 && e.cuda == 2 && !strcmp(e.name, "CUDA_ERROR_OUT_OF_MEMORY"));
    CHECK(*e.causes && *e.fix && e.lasting != LK_CUDA_STICKY);
}

/* A call that succeeds does not take the error away; the next that fails does. */
static void until_the_next(int unused)
{
    uint64_t d = buffer(16, NULL), at = 0;
    (void)unused;
    REFUSED(lk_memory_fill(gpu, d, 0, 17), "16 bytes");
    ANSWERS(lk_memory_alloc(gpu, 1ull << 50, LK_MEMORY_DEVICE, "x", &at), LK_OUT_OF_MEMORY, "");
    CHECK(!strstr(lk_gpu_error(gpu), "16 bytes"));
    CHECK(lk_gpu_cuda_error(gpu) == 2);
}

static void smaller_struct(int unused)
{
    lk_error e = { .size = offsetof(lk_error, call) };
    uint64_t at = 0;
    (void)unused;
    e.call = "as before";
    ANSWERS(lk_memory_alloc(gpu, 1ull << 50, LK_MEMORY_DEVICE, "x", &at), LK_OUT_OF_MEMORY, "");
    CHECK(lk_gpu_last_error(gpu, &e) == 1 && e.cuda == 2 && !strcmp(e.call, "as before"));
}

const struct test error_tests[] = { { "object", object, 0 },
                                    { "of_a_launch", of_a_launch, 0 },
                                    { "out_of_memory", out_of_memory, 0 },
                                    { "until_the_next", until_the_next, 0 },
                                    { "smaller_struct", smaller_struct, 0 },
                                    { 0 } };
