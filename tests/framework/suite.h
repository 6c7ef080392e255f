/* suite.h: the jobs that a managed framework's CUDA tests do, through lockstep.h, on a device that the command line
 * names: `test_framework [sim|gpu|gpu:1] [NAME ...]`.
 *
 * A group is a file with a table of tests. Each test has a gpu of its own, which must have no finding, no memory and no
 * handle left when it ends. Kernels lie in tests/framework as PTX, so that no compiler is needed; tests that need one
 * are skipped where there is none. */
#ifndef LOCKSTEP_SUITE_H
#define LOCKSTEP_SUITE_H
#include <lockstep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
    const char *name;
    void (*run)(int with); /* NULL: behind the last */
    int with;              /* what the function is given */
};
extern const struct test vector_tests[], matrix_tests[], reduction_tests[], memory_tests[], stream_tests[],
    module_tests[], graph_tests[], image_tests[], nested_tests[], device_tests[], wrong_tests[], error_tests[];

extern lk_gpu *gpu;        /* of the test that runs */
extern const char *on;     /* as lk_options.on */
extern int on_gpu;         /* it is a real one */
extern const char *folder; /* of the kernels */
void suite_fail(const char *file, int line, const char *what, const char *why);
void suite_skip(const char *why);     /* the test says why it cannot run; it has to return then */
void suite_findings(uint32_t errors); /* so many errors in the report are what the test wants */

#define CHECK(condition) ((condition) ? 1 : (suite_fail(__FILE__, __LINE__, #condition, ""), 0))
#define OK(call) suite_ok(__FILE__, __LINE__, #call, call)
/* The call is refused, with a sentence that has these words. */
#define REFUSED(call, words) suite_refused(__FILE__, __LINE__, #call, call, LK_BAD_INPUT, words)
#define ANSWERS(call, status, words) suite_refused(__FILE__, __LINE__, #call, call, status, words)
int suite_ok(const char *file, int line, const char *what, lk_status status);
int suite_refused(const char *file, int line, const char *what, lk_status status, lk_status wanted, const char *words);

/* The kernels: of a file of tests/framework without its ending, loaded once a test and unloaded behind it. */
lk_module *module_of(const char *file);
lk_kernel *kernel_of(const char *file, const char *name);
lk_kernel *job(const char *name); /* of jobs.cu */

/* Memory of the test that is freed behind it; filled with `from` where that is not NULL. */
uint64_t buffer(uint64_t bytes, const void *from);
uint64_t buffer_of(lk_gpu *of, uint64_t bytes, const void *from);
void release(uint64_t address); /* before the end of the test */
void *room(uint64_t bytes);     /* zeroed memory of the host, freed behind the test */
lk_stream *stream_of(uint32_t flags);
lk_event *event_of(void);

/* Launches over n threads in blocks of `block`, and in a stream; the arguments are values, an array of them. */
#define LAUNCH(kernel, n, block, ...)                                    \
    launch_in(kernel, n, block, NULL, (const lk_value[]){ __VA_ARGS__ }, \
              sizeof((const lk_value[]){ __VA_ARGS__ }) / sizeof(lk_value))
#define LAUNCH_IN(stream, kernel, n, block, ...)                           \
    launch_in(kernel, n, block, stream, (const lk_value[]){ __VA_ARGS__ }, \
              sizeof((const lk_value[]){ __VA_ARGS__ }) / sizeof(lk_value))
lk_status launch_in(lk_kernel *kernel, uint32_t n, uint32_t block, lk_stream *stream, const lk_value *values,
                    uint32_t count);
#define B(address) lk_value_buffer(address)
#define I(value) lk_value_i32(value)
#define F(value) lk_value_f32(value)

/* Numbers that depend on `seed` alone, small enough for sums to be exact. */
void numbers(int32_t *to, int n, uint32_t seed);
void floats(float *to, int n, uint32_t seed);
int same(uint64_t device, const void *wanted, uint64_t bytes); /* the bytes there are these */
#endif
