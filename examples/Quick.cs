// The quick start of quick.c from C#: mcs examples/Quick.cs examples/LockstepAbi.cs; LD_LIBRARY_PATH=build mono examples/Quick.exe [sim|gpu]
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Quick
{
    const string L = "lockstep";
    [DllImport(L)] static extern int lk_gpu_create(ref lk_options options, out IntPtr gpu);
    [DllImport(L)] static extern int lk_gpu_destroy(IntPtr gpu);
    [DllImport(L)] static extern IntPtr lk_gpu_error(IntPtr gpu);
    [DllImport(L)] static extern int lk_module_load(IntPtr gpu, string name, byte[] ptx, UIntPtr bytes, out IntPtr module);
    [DllImport(L)] static extern IntPtr lk_module_kernel(IntPtr module, string name);
    [DllImport(L)] static extern int lk_memory_alloc(IntPtr gpu, ulong bytes, int kind, string name, out ulong address);
    [DllImport(L)] static extern int lk_memory_host(IntPtr gpu, ulong address, out IntPtr host);
    [DllImport(L)] static extern IntPtr lk_stream_legacy(IntPtr gpu);
    [DllImport(L)] static extern int lk_stream_synchronise(IntPtr stream);
    [DllImport(L)] static extern int lk_host_call(IntPtr stream, Callback function, IntPtr self);
    [DllImport(L)] static extern int lk_kernel_launch(IntPtr kernel, ref lk_launch launch, IntPtr stats);
    delegate void Callback(IntPtr self);
    const uint Buffer = 1, I64 = 8, F32 = 10; // lk_value_kind
    const int Managed = 2;                    // lk_memory_kind

    const string Ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry scale(.param .u64 x, .param .f32 by)\n{\n"
        + " .reg .b64 %d<3>; .reg .b32 %r; .reg .f32 %f<3>;\n ld.param.u64 %d1, [x]; ld.param.f32 %f1, [by];\n"
        + " mov.u32 %r, %tid.x; mul.wide.u32 %d2, %r, 4; add.u64 %d1, %d1, %d2; ld.global.f32 %f2, [%d1];\n"
        + " mul.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2; ret;\n}\n";

    static string Error(IntPtr gpu) { return Marshal.PtrToStringAnsi(lk_gpu_error(gpu)); }

    static int Main(string[] args)
    {
        var options = new lk_options { size = (UIntPtr)Marshal.SizeOf(typeof(lk_options)), on = Marshal.StringToHGlobalAnsi(args.Length > 0 ? args[0] : "sim") };
        IntPtr gpu, module, host;
        ulong x;
        if (lk_gpu_create(ref options, out gpu) != 0) { Console.WriteLine(Error(IntPtr.Zero)); return 2; }
        byte[] text = Encoding.ASCII.GetBytes(Ptx);
        if (lk_module_load(gpu, "quick.ptx", text, (UIntPtr)text.Length, out module) != 0) { Console.WriteLine(Error(gpu)); return 2; }
        lk_memory_alloc(gpu, 16, Managed, "x", out x); // a managed buffer: the host and the kernel use it
        lk_memory_host(gpu, x, out host);
        float[] data = { 1, 2, 3, 4 };
        Marshal.Copy(data, 0, host, 4);
        IntPtr kernel = lk_module_kernel(module, "scale"), values = Marshal.AllocHGlobal(2 * Marshal.SizeOf(typeof(lk_value)));
        foreach (var by in new[] { new lk_value { kind = F32, @as = BitConverter.ToUInt32(BitConverter.GetBytes(3f), 0) }, new lk_value { kind = I64, @as = 3 } })
        {
            Marshal.StructureToPtr(new lk_value { kind = Buffer, @as = x }, values, false);
            Marshal.StructureToPtr(by, IntPtr.Add(values, Marshal.SizeOf(typeof(lk_value))), false);
            var launch = new lk_launch { size = (UIntPtr)Marshal.SizeOf(typeof(lk_launch)), grid0 = 1, block0 = 4, arg_count = 2, values = values };
            if (lk_kernel_launch(kernel, ref launch, IntPtr.Zero) != 0) Console.WriteLine(Error(gpu)); // the second: refused, by its number
        }
        Callback called = self => Console.WriteLine("called by the stream");
        IntPtr stream = lk_stream_legacy(gpu);
        lk_host_call(stream, called, IntPtr.Zero);
        lk_stream_synchronise(stream);
        GC.KeepAlive(called);
        Marshal.Copy(host, data, 0, 4);
        Console.WriteLine("{0} {1} {2} {3}", data[0], data[1], data[2], data[3]);
        return lk_gpu_destroy(gpu);
    }
}
