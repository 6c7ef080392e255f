/* A kernel as cuTile's compiler writes it, in PTX 9.4: the launch counts tiles, and each is a block of the threads that
 * the kernel requires. With an argument its tiles are one too many for the array. */
#include "api.h"

static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                          ".file 1 \"tile.py\"\n.file 2 \"add.tileir\"\n"
                          ".visible .entry fill(.param .u64 x)\n.reqntid 32\n.minnctapersm 1\n.language 7\n{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.loc 1 5 9\n.loc_intermediate 2 21 4\n"
                          "ld.param.b64 %rd1, [x];\nmov.u32 %r1, %clusterid.x;\nmov.u32 %r2, %tid.x;\n"
                          "mad.lo.u32 %r3, %r1, 32, %r2;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
                          ".loc 1 6 5\n.loc_intermediate 2 22 4\nst.global.u32 [%rd3], %r3;\nret;\n}\n"
                          ".nv_intermediate_source_section {\n.code_block {\n.ir_name: \"tile ir\"\n.sourceFileName: 2\n"
                          ".source_begin\nentry @fill(%arg0: tile<ptr<f32>>) { return }\n.source_end\n}\n}\n";

int main(int argc, char **argv)
{
    void *module, *kernel;
    word at;
    int out[128] = { 0 }, right = 1;
    (void)argv;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel, module, "fill");
    OK(cuMemAlloc_v2, &at, 512L);
    void *params[] = { &at };
    OK(cuLaunchKernel, kernel, 4 + (argc > 1), 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    OK(cuMemcpyDtoH_v2, out, at, 512L);
    for (int i = 0; i < 128; i++) right &= out[i] == i;
    printf("tiles: %d\n", right);
    OK(cuMemFree_v2, at);
    OK(cuModuleUnload, module);
    return 0;
}
