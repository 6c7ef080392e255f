/* What there is on this machine beside Lockstep itself, for the public interface. */
#include "compile/compile.h"
#include "api/host.h"

int lk_tool_at(uint32_t i, lk_tool *tool)
{
    struct toolkit t;
    toolkit_find(&t);
    const struct {
        const char *name, *path, *fix;
        bool compiles;
    } all[] = {
        { "nvrtc", t.nvrtc,
          "not found: install a CUDA toolkit, or pip install nvidia-cuda-nvrtc; it compiles .cu files", true },
        { "nvcc", t.nvcc,
          "not found: it comes with a CUDA toolkit; put it on PATH or set CUDA_HOME; it compiles .cu files", true },
        { "clang", t.clang, "not found: install clang, and the headers of a CUDA toolkit; it compiles .cu files",
          true },
        { "ptxas", t.ptxas,
          "not found: it comes with a CUDA toolkit; `lockstep compile` asks it for registers and spills", false },
    };
    if (i >= COUNT_OF(all) || !tool) return 0;
    lk_tool out = { .size = tool->size, .name = all[i].name, .fix = all[i].fix, .compiles = all[i].compiles };
    snprintf(out.path, sizeof out.path, "%s", all[i].path);
    memcpy(tool, &out, MIN_OF(tool->size, sizeof out));
    return 1;
}
