// A kernel from C# by P/Invoke, with the number of threads that the command says, and a null reference, which the runtime learns of by SIGSEGV.
using System;
using System.Runtime.InteropServices;

class App
{
    const string cuda = "libcuda.so.1";
    [DllImport(cuda)] static extern int cuInit(uint flags);
    [DllImport(cuda)] static extern int cuDeviceGet(out int device, int number);
    [DllImport(cuda)] static extern int cuDevicePrimaryCtxRetain(out IntPtr context, int device);
    [DllImport(cuda)] static extern int cuCtxSetCurrent(IntPtr context);
    [DllImport(cuda)] static extern int cuModuleLoadData(out IntPtr module, string ptx);
    [DllImport(cuda)] static extern int cuModuleUnload(IntPtr module);
    [DllImport(cuda)] static extern int cuModuleGetFunction(out IntPtr function, IntPtr module, string name);
    [DllImport(cuda)] static extern int cuMemAlloc_v2(out IntPtr p, UIntPtr bytes);
    [DllImport(cuda)] static extern int cuMemcpyDtoH_v2(float[] to, IntPtr from, UIntPtr bytes);
    [DllImport(cuda)] static extern int cuMemFree_v2(IntPtr p);
    [DllImport(cuda)]
    static extern int cuLaunchKernel(IntPtr f, uint gx, uint gy, uint gz, uint bx, uint by, uint bz, uint shared, IntPtr stream, IntPtr[] arguments, IntPtr extra);

    const string ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fill(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
        + "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d2, %d0, %d1;\nmov.b32 %r1, 0f40000000;\nst.global.b32 [%d2], %r1;\nret;\n}\n";

    static void Main(string[] words)
    {
        int device;
        IntPtr context, module, fill, p;
        cuInit(0);
        cuDeviceGet(out device, 0);
        cuDevicePrimaryCtxRetain(out context, device);
        cuCtxSetCurrent(context);
        Console.WriteLine("load " + cuModuleLoadData(out module, ptx));
        cuModuleGetFunction(out fill, module, "fill");
        cuMemAlloc_v2(out p, (UIntPtr)400);
        GCHandle argument = GCHandle.Alloc(p, GCHandleType.Pinned);
        IntPtr[] arguments = { argument.AddrOfPinnedObject() };
        Console.WriteLine("launch " + cuLaunchKernel(fill, 1, 1, 1, uint.Parse(words[0]), 1, 1, 0, IntPtr.Zero, arguments, IntPtr.Zero));
        float[] values = new float[100];
        Console.WriteLine("copy " + cuMemcpyDtoH_v2(values, p, (UIntPtr)400) + ", the last is " + values[99]);
        try {
            string nothing = words.Length > 5 ? "" : null;
            Console.WriteLine(nothing.Length);
        } catch (NullReferenceException) {
            Console.WriteLine("a null reference was caught");
        }
        GC.Collect();
        argument.Free();
        cuMemFree_v2(p);
        cuModuleUnload(module);
    }
}
