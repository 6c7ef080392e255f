// A ring kernel from C#, by P/Invoke on liblockstep.so.0: no GPU is needed, and nothing is compiled where PTX is given.
//
//     mcs -out:ring.exe examples/ring.cs && LD_LIBRARY_PATH=build mono ring.exe src/generated/vectors.ptx [sim|gpu]
//
// The structs are those of lockstep.h and lockstep_ring.h, field by field; each begins with its size, which the library compares.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)] struct Options { // lk_options
    public UIntPtr size;
    public string device;
    public uint threads, seeded;
    public ulong seed;
    public string check, no_check;
    public ulong budget;
    public string on;
    public double time_limit;
    public string managed;
    public uint any_arch;
}

[StructLayout(LayoutKind.Sequential)] struct RingOptions { // lk_ring_options
    public UIntPtr size;
    public IntPtr module;
    public string kernel, name;
    public uint instances, threads, inbox_slots, outbox_slots, mail_slots, inline_bytes, inbox_policy, respond_policy, mail_policy, idle_ns;
    public IntPtr route;
    public uint routes;
    public IntPtr topic;
    public uint topics;
    public IntPtr type;
    public uint types, letters, cooperative, probe;
    public IntPtr log, self;
}

[StructLayout(LayoutKind.Sequential)] struct Message { // lk_ring_message
    public UIntPtr size;
    public uint unit, type;
    public ulong id;
    public IntPtr data;
    public uint bytes, room_bytes, result;
    public ulong sequence, stage0, stage1, stage2, stage3;
}

/* A ring of one kernel of a .ptx or .cu file, active from the beginning; `using` ends it. */
class Ring : IDisposable {
    const string Lib = "liblockstep.so.0";
    [DllImport(Lib)] static extern int lk_gpu_create(ref Options options, out IntPtr gpu);
    [DllImport(Lib)] static extern void lk_gpu_destroy(IntPtr gpu);
    [DllImport(Lib)] static extern IntPtr lk_gpu_error(IntPtr gpu);
    [DllImport(Lib)] static extern int lk_module_load_file(IntPtr gpu, string path, out IntPtr module);
    [DllImport(Lib)] static extern int lk_ring_create(IntPtr gpu, ref RingOptions options, out IntPtr ring);
    [DllImport(Lib)] static extern int lk_ring_launch(IntPtr ring, double seconds);
    [DllImport(Lib)] static extern int lk_ring_activate(IntPtr ring, double seconds);
    [DllImport(Lib)] static extern int lk_ring_drain(IntPtr ring, double seconds);
    [DllImport(Lib)] static extern int lk_ring_terminate(IntPtr ring, double seconds);
    [DllImport(Lib)] static extern int lk_ring_destroy(IntPtr ring);
    [DllImport(Lib)] static extern uint lk_ring_unit_of(IntPtr ring, string actor);
    [DllImport(Lib)] static extern int lk_ring_ask(IntPtr ring, ref Message message, ref Message response, double seconds);
    [DllImport(Lib)] static extern IntPtr lk_ring_error(IntPtr ring);

    const double Seconds = 60;
    readonly IntPtr gpu, ring;

    static UIntPtr SizeOf<T>() { return (UIntPtr)(uint)Marshal.SizeOf(typeof(T)); }
    static string Text(IntPtr p) { return Marshal.PtrToStringAnsi(p); }
    void Check(int status) { if (status != 0) throw new Exception(Text(lk_ring_error(ring))); }

    public Ring(string path, string kernel, string on, uint inlineBytes)
    {
        IntPtr module;
        var asked = new Options { size = SizeOf<Options>(), on = on };
        if (lk_gpu_create(ref asked, out gpu) != 0 || lk_module_load_file(gpu, path, out module) != 0) throw new Exception(Text(lk_gpu_error(gpu)));
        var wanted = new RingOptions { size = SizeOf<RingOptions>(), module = module, kernel = kernel, inline_bytes = inlineBytes };
        Check(lk_ring_create(gpu, ref wanted, out ring));
        Check(lk_ring_launch(ring, Seconds));
        Check(lk_ring_activate(ring, Seconds));
    }

    /* Sends bytes to an actor; the bytes of its response, and in `result` what became of the message. */
    public byte[] Ask(string actor, uint type, byte[] payload, out uint result)
    {
        uint unit = lk_ring_unit_of(ring, actor);
        if (unit == uint.MaxValue) throw new ArgumentException("the kernel has no actor " + actor);
        var pin = GCHandle.Alloc(payload, GCHandleType.Pinned);
        try {
            var m = new Message { size = SizeOf<Message>(), unit = unit, type = type, data = pin.AddrOfPinnedObject(), bytes = (uint)payload.Length };
            var got = new Message { size = SizeOf<Message>() };
            Check(lk_ring_ask(ring, ref m, ref got, Seconds));
            var back = new byte[got.bytes];
            if (got.bytes > 0) Marshal.Copy(got.data, back, 0, back.Length);
            result = got.result;
            return back;
        } finally {
            pin.Free();
        }
    }

    public void Dispose()
    {
        Check(lk_ring_drain(ring, Seconds));
        Check(lk_ring_terminate(ring, Seconds));
        Check(lk_ring_destroy(ring));
        lk_gpu_destroy(gpu);
    }
}

static class Program {
    static void Main(string[] args)
    {
        using (var ring = new Ring(args[0], "vectors", args.Length > 1 ? args[1] : "sim", 208)) {
            uint result;
            foreach (int n in new[] { 10, 25, 100 }) { // vector_pair: count, scale, n numbers a, n numbers b
                var words = new byte[8 + 8 * n];
                BitConverter.GetBytes(n).CopyTo(words, 0);
                for (int i = 0; i < n; i++) {
                    BitConverter.GetBytes((float)i).CopyTo(words, 8 + 4 * i);
                    BitConverter.GetBytes(0.5f * i).CopyTo(words, 8 + 4 * (n + i));
                }
                var back = ring.Ask("add", 1, words, out result);
                bool right = result == 0 && back.Length == 4 * n;
                for (int i = 0; right && i < n; i++) right = BitConverter.ToSingle(back, 4 * i) == 1.5f * i;
                Console.WriteLine("{0} elements: {1}", n, right ? "right" : "wrong");
            }
            ring.Ask("add", 9, new byte[4], out result);
            Console.WriteLine("a type that the actor does not take: result {0}", result);
            try {
                ring.Ask("subtract", 1, new byte[0], out result);
            } catch (ArgumentException e) {
                Console.WriteLine(e.Message);
            }
        }
    }
}
