// The driver and the runtime API through P/Invoke: a kernel from PTX, a table of arguments, an exception of the runtime's own.
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Cuda
{
    const string Driver = "libcuda.so.1", Runtime = "libcudart.so.13";
    [DllImport(Driver)] public static extern int cuInit(uint flags);
    [DllImport(Driver)] public static extern int cuDeviceGetName(StringBuilder name, int bytes, int device);
    [DllImport(Driver)] public static extern int cuDevicePrimaryCtxRetain(out IntPtr context, int device);
    [DllImport(Driver)] public static extern int cuCtxSetCurrent(IntPtr context);
    [DllImport(Driver)] public static extern int cuCtxSynchronize();
    [DllImport(Driver)] public static extern int cuModuleLoadData(out IntPtr module, byte[] image);
    [DllImport(Driver)] public static extern int cuModuleGetFunction(out IntPtr function, IntPtr module, string name);
    [DllImport(Driver)] public static extern int cuModuleUnload(IntPtr module);
    [DllImport(Driver)] public static extern int cuMemAlloc_v2(out ulong address, UIntPtr bytes);
    [DllImport(Driver)] public static extern int cuMemFree_v2(ulong address);
    [DllImport(Driver)] public static extern int cuMemcpyDtoH_v2(int[] to, ulong from, UIntPtr bytes);
    [DllImport(Driver)] public static extern int cuLaunchKernel(IntPtr f, uint gx, uint gy, uint gz, uint bx, uint by, uint bz,
        uint shared, IntPtr stream, IntPtr[] parameters, IntPtr[] extra);
    [DllImport(Runtime)] public static extern int cudaMalloc(out IntPtr address, UIntPtr bytes);
    [DllImport(Runtime)] public static extern int cudaFree(IntPtr address);
    [DllImport(Runtime)] public static extern int cudaMemset(IntPtr address, int value, UIntPtr bytes);
    [DllImport(Runtime)] public static extern int cudaMemcpy(int[] to, IntPtr from, UIntPtr bytes, int kind);

    public static void Check(int code)
    {
        if (code != 0) throw new Exception("CUDA error " + code);
    }
}

class Program
{
    const string Ptx = @"
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 at, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [at];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    setp.ge.u32 %p, %r1, %r0;
    @%p ret;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d0, %d0, %d1;
    st.global.u32 [%d0], %r1;
    ret;
}
";
    static IntPtr fill;

    static ulong Allocate(int n)
    {
        ulong at;
        Cuda.Check(Cuda.cuMemAlloc_v2(out at, (UIntPtr)(4 * n)));
        return at;
    }

    // The arguments lie in pinned boxes, and the table holds their addresses.
    static void Fill(ulong at, uint n)
    {
        GCHandle a = GCHandle.Alloc(at, GCHandleType.Pinned), b = GCHandle.Alloc(n, GCHandleType.Pinned);
        Cuda.Check(Cuda.cuLaunchKernel(fill, 4, 1, 1, 64, 1, 1, 0, IntPtr.Zero,
            new[] { a.AddrOfPinnedObject(), b.AddrOfPinnedObject() }, null));
        Cuda.Check(Cuda.cuCtxSynchronize());
        a.Free();
        b.Free();
    }

    // The address itself in the table, where the address of a box with it belongs.
    static void FillByValue(ulong at, uint n)
    {
        GCHandle b = GCHandle.Alloc(n, GCHandleType.Pinned);
        Console.WriteLine("launch: " + Cuda.cuLaunchKernel(fill, 4, 1, 1, 64, 1, 1, 0, IntPtr.Zero,
            new[] { (IntPtr)(long)at, b.AddrOfPinnedObject() }, null));
        b.Free();
    }

    // A null reference is a SIGSEGV that the runtime makes an exception of.
    static int Length(int[] of) { return of.Length; }
    static void Exceptions()
    {
        try { Length(null); } catch (NullReferenceException) { Console.WriteLine("NullReferenceException"); }
        int zero = Environment.GetEnvironmentVariable("NEVER") == null ? 0 : 1;
        try { Console.WriteLine(1 / zero); } catch (DivideByZeroException) { Console.WriteLine("DivideByZeroException"); }
    }

    static int Main(string[] args)
    {
        string what = args.Length > 0 ? args[0] : "good";
        Exceptions();
        IntPtr context, module, other;
        var name = new StringBuilder(100);
        Cuda.Check(Cuda.cuInit(0));
        Cuda.Check(Cuda.cuDeviceGetName(name, name.Capacity, 0));
        Console.WriteLine(name);
        Cuda.Check(Cuda.cuDevicePrimaryCtxRetain(out context, 0));
        Cuda.Check(Cuda.cuCtxSetCurrent(context));
        Cuda.Check(Cuda.cuModuleLoadData(out module, Encoding.ASCII.GetBytes(Ptx + "\0")));
        Cuda.Check(Cuda.cuModuleGetFunction(out fill, module, "fill"));
        ulong numbers = Allocate(200);
        Fill(numbers, 200);
        if (what == "bounds") Fill(numbers, 256);
        if (what == "value") FillByValue(numbers, 200);
        if (what == "thread") {
            var thread = new System.Threading.Thread(() => { Cuda.Check(Cuda.cuCtxSetCurrent(context)); Fill(numbers, 256); });
            thread.Start();
            thread.Join();
        }
        Exceptions();
        var host = new int[200];
        Cuda.Check(Cuda.cuMemcpyDtoH_v2(host, numbers, (UIntPtr)800));
        long sum = 0;
        foreach (int i in host) sum += i;
        Console.WriteLine("sum " + sum);
        Cuda.Check(Cuda.cudaMalloc(out other, (UIntPtr)16));
        Cuda.Check(Cuda.cudaMemset(other, 1, (UIntPtr)16));
        Cuda.Check(Cuda.cudaMemcpy(host, other, (UIntPtr)16, 2));
        Console.WriteLine("runtime " + host[3].ToString("x"));
        if (what == "leak") return 0;
        if (what == "read")
            try { Marshal.ReadInt32(other); } catch (NullReferenceException) { Console.WriteLine("NullReferenceException of a device address"); }
        Cuda.Check(Cuda.cudaFree(other));
        Cuda.Check(Cuda.cuMemFree_v2(numbers));
        Cuda.Check(Cuda.cuModuleUnload(module));
        return 0;
    }
}
