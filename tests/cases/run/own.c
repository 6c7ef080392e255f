/* A program that launches through lockstep.h, and not through CUDA: under `lockstep run`, too, it is told itself what is
 * found. "none": it makes a gpu, and launches nothing. */
#include <lockstep.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\nret;\n}\n";

int main(int argc, char **argv)
{
    lk_gpu *gpu;
    lk_module *module;
    lk_launch launch = { .size = sizeof launch, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    if (lk_gpu_create(NULL, &gpu) || lk_module_load(gpu, "f.ptx", ptx, sizeof ptx - 1, &module)) return 9;
    if (argc < 2 || strcmp(argv[1], "none")) printf("launch %d\n", lk_kernel_launch(lk_module_kernel(module, "f"), &launch, NULL));
    return lk_gpu_destroy(gpu);
}
