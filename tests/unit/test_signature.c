/* Unit tests of signature: parameter lists out of C++ text. */
#include "cli/host_launch.h"
#include "cli/signature.h"
#include "unit.h"

static struct arena mem;

static struct signature find(const char *source, const char *name)
{
    struct signature s;
    signature_find(&mem, str_of(source), str_of(name), &s);
    return s;
}

static struct host_code host(const char *source)
{
    struct host_code h;
    host_code_find(&mem, str_of(source), &h);
    return h;
}

static void launches(void)
{
    struct host_code h = host(
        "#define T 128\nint main() {\n  const int blocks = 7;\n  ns::k<float, 3><<<blocks, T, T * "
        "sizeof(float)>>>(x, f(a, b), 2.5f);\n  // k<<<1, 1>>>(no)\n}");
    UNIT(h.has_main);
    if (UNIT_EQ(h.launches, 1)) {
        const struct source_launch *l = &h.launch[0];
        UNIT_EQ_STR(l->kernel, "k<float, 3>");
        UNIT_EQ(l->line, 4);
        UNIT_EQ(l->grid[0], 7);
        UNIT_EQ(l->block[0], 128);
        UNIT_EQ(l->shared, 512);
        if (UNIT_EQ(l->args, 3)) UNIT_EQ_STR(l->arg[1], "f(a, b)");
        UNIT(host_launch_of(&h, "a::k<float, 3>(float*)") == l);
        UNIT(!host_launch_of(&h, "kk"));
    }
    h = host("void go() { dim3 b(16, 8); dim3 g = dim3(2, 3); k<<<g, b>>>(); k<<<(n + 255) / 256, n>>>(x); }");
    UNIT(!h.has_main);
    if (UNIT_EQ(h.launches, 2)) {
        UNIT_EQ(h.launch[0].grid[0], 2);
        UNIT_EQ(h.launch[0].grid[1], 3);
        UNIT_EQ(h.launch[0].block[1], 8);
        UNIT_EQ(h.launch[0].args, 0);
        UNIT_EQ(h.launch[1].grid[0], 0);
        UNIT_EQ(h.launch[1].block[0], 0);
    }
    UNIT_EQ(host("int x = y; int y = x; k<<<x, y>>>();").launch[0].grid[0], 0);
    UNIT_EQ(host("k<<<1, 2").launches, 0);
    UNIT_EQ(host("cout << k << 3;").launches, 0);
}

static void lists(void)
{
    struct signature s = find("__global__ void k(const float *__restrict__ x, float (&y)[4], int n = 3) {}", "k");
    if (UNIT_EQ(s.params, 3)) {
        UNIT_EQ_STR(s.name[0], "x");
        UNIT_EQ_STR(s.text[0], "const float *__restrict__ x");
        UNIT_EQ_STR(s.name[2], "n");
    }
    s = find("// __global__ void k(int wrong)\nvoid k(int host);\n__launch_bounds__(256)\n__global__\nvoid k(\n    int "
             " a, /* first, of two */\n    std::pair<int, int> b)\n{}",
             "k");
    if (UNIT_EQ(s.params, 2)) {
        UNIT_EQ_STR(s.name[0], "a");
        UNIT_EQ_STR(s.name[1], "b");
        UNIT_EQ_STR(s.text[1], "std::pair<int, int> b");
    }
    s = find("__global__ void __launch_bounds__(128, 2) other(int q); __global__ void k(void) { other<<<1, 1>>>(1); }",
             "other");
    if (UNIT_EQ(s.params, 1)) UNIT_EQ_STR(s.name[0], "q");
    UNIT_EQ(find("__global__ void k(void) {}", "k").params, 0);
    UNIT_EQ(find("__global__ void k(int", "k").params, 0);
    UNIT_EQ(find("int k(int a);", "k").params, 0);
    s = find("__global__ void k(float *, int); __global__ void k(float *x, int n) {}",
             "k"); /* a definition counts first */
    if (UNIT_EQ(s.params, 2)) UNIT_EQ_STR(s.name[1], "n");
    UNIT_EQ(find("namespace a { __global__ void k(int n) {} }", "a::k").params, 1);
    UNIT_EQ(find("", "k").params, 0);
    UNIT_EQ(find("__global__ void k(char c = ')', int d)", "k").params, 2);
    UNIT_EQ(find("\"__global__ void k(int a)\" /* unclosed", "k").params, 0);
}

int main(void)
{
    lists();
    launches();
    arena_free(&mem);
    return unit_done();
}
