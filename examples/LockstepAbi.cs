// The structs of lockstep.h for P/Invoke. Made by tests/abi from the header: do not edit.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit, Size = 112)]
public struct lk_options
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public IntPtr @device;
    [FieldOffset(16)] public uint @threads;
    [FieldOffset(20)] public uint @seeded;
    [FieldOffset(24)] public ulong @seed;
    [FieldOffset(32)] public IntPtr @check;
    [FieldOffset(40)] public IntPtr @no_check;
    [FieldOffset(48)] public ulong @budget;
    [FieldOffset(56)] public IntPtr @on;
    [FieldOffset(64)] public double @time_limit;
    [FieldOffset(72)] public IntPtr @managed;
    [FieldOffset(80)] public uint @any_arch;
    [FieldOffset(84)] public uint @profile;
    [FieldOffset(88)] public uint @keep;
    [FieldOffset(92)] public uint @blocking;
    [FieldOffset(96)] public uint @time;
    [FieldOffset(100)] public uint @assemble;
    [FieldOffset(104)] public uint @faults;
}

[StructLayout(LayoutKind.Explicit, Size = 168)]
public struct lk_gpu_info
{
    [FieldOffset(0)] public UIntPtr @size;
    // name: 128 characters at offset 8
    [FieldOffset(136)] public uint @arch;
    [FieldOffset(140)] public uint @multiprocessors;
    [FieldOffset(144)] public ulong @memory;
    [FieldOffset(152)] public uint @clock_mhz;
    [FieldOffset(156)] public uint @is_real;
    [FieldOffset(160)] public uint @pageable;
}

[StructLayout(LayoutKind.Explicit, Size = 88)]
public struct lk_error
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public uint @status;
    [FieldOffset(12)] public uint @cuda;
    [FieldOffset(16)] public IntPtr @name;
    [FieldOffset(24)] public IntPtr @call;
    [FieldOffset(32)] public IntPtr @message;
    [FieldOffset(40)] public IntPtr @launch;
    [FieldOffset(48)] public IntPtr @suspects;
    [FieldOffset(56)] public IntPtr @causes;
    [FieldOffset(64)] public IntPtr @fix;
    [FieldOffset(72)] public uint @lasting;
    [FieldOffset(80)] public IntPtr @record;
}

[StructLayout(LayoutKind.Explicit, Size = 24)]
public struct lk_ptx
{
    [FieldOffset(0)] public IntPtr @name;
    [FieldOffset(8)] public IntPtr @ptx;
    [FieldOffset(16)] public UIntPtr @bytes;
}

[StructLayout(LayoutKind.Explicit, Size = 24)]
public struct lk_source
{
    [FieldOffset(0)] public IntPtr @name;
    [FieldOffset(8)] public IntPtr @text;
    [FieldOffset(16)] public UIntPtr @bytes;
}

[StructLayout(LayoutKind.Explicit, Size = 40)]
public struct lk_param
{
    [FieldOffset(0)] public uint @offset;
    [FieldOffset(4)] public uint @bytes;
    [FieldOffset(8)] public uint @align;
    // type: 8 characters at offset 12
    [FieldOffset(20)] public uint @is_pointer;
    [FieldOffset(24)] public IntPtr @name;
    [FieldOffset(32)] public IntPtr @source_type;
}

[StructLayout(LayoutKind.Explicit, Size = 136)]
public struct lk_usage
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @param_bytes;
    [FieldOffset(16)] public ulong @shared_bytes;
    [FieldOffset(24)] public ulong @local_bytes;
    [FieldOffset(32)] public ulong @const_bytes;
    [FieldOffset(40)] public ulong @global_bytes;
    [FieldOffset(48)] public uint @dynamic_shared;
    [FieldOffset(52)] public uint @max_threads0;
    [FieldOffset(56)] public uint @max_threads1;
    [FieldOffset(60)] public uint @max_threads2;
    [FieldOffset(64)] public uint @required_threads0;
    [FieldOffset(68)] public uint @required_threads1;
    [FieldOffset(72)] public uint @required_threads2;
    [FieldOffset(76)] public uint @cluster0;
    [FieldOffset(80)] public uint @cluster1;
    [FieldOffset(84)] public uint @cluster2;
    [FieldOffset(88)] public uint @min_blocks;
    [FieldOffset(92)] public uint @max_registers;
    [FieldOffset(96)] public uint @assembled;
    [FieldOffset(100)] public uint @registers;
    [FieldOffset(104)] public uint @barriers;
    [FieldOffset(112)] public ulong @stack_bytes;
    [FieldOffset(120)] public ulong @spill_store_bytes;
    [FieldOffset(128)] public ulong @spill_load_bytes;
}

[StructLayout(LayoutKind.Explicit, Size = 64)]
public struct lk_occupancy
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public uint @blocks;
    [FieldOffset(12)] public uint @warps;
    [FieldOffset(16)] public uint @of_warps;
    [FieldOffset(24)] public IntPtr @limiter;
    [FieldOffset(32)] public uint @by_blocks;
    [FieldOffset(36)] public uint @by_warps;
    [FieldOffset(40)] public uint @by_registers;
    [FieldOffset(44)] public uint @by_shared;
    [FieldOffset(48)] public uint @registers;
    [FieldOffset(52)] public uint @suggested_block;
    [FieldOffset(56)] public uint @suggested_grid;
}

[StructLayout(LayoutKind.Explicit, Size = 40)]
public struct lk_end
{
    [FieldOffset(0)] public IntPtr @gpu;
    [FieldOffset(8)] public ulong @address;
    [FieldOffset(16)] public IntPtr @host;
    [FieldOffset(24)] public ulong @pitch;
    [FieldOffset(32)] public ulong @slice;
}

[StructLayout(LayoutKind.Explicit, Size = 80)]
public struct lk_fill
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @address;
    [FieldOffset(16)] public uint @value;
    [FieldOffset(20)] public uint @bytes;
    [FieldOffset(24)] public ulong @width;
    [FieldOffset(32)] public ulong @rows;
    [FieldOffset(40)] public ulong @slices;
    [FieldOffset(48)] public ulong @pitch;
    [FieldOffset(56)] public ulong @slice;
    [FieldOffset(64)] public IntPtr @stream;
    [FieldOffset(72)] public IntPtr @site;
}

[StructLayout(LayoutKind.Explicit, Size = 112)]
public struct lk_memory_info
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public IntPtr @gpu;
    [FieldOffset(16)] public int @kind;
    [FieldOffset(20)] public uint @freed;
    [FieldOffset(24)] public ulong @base;
    [FieldOffset(32)] public ulong @bytes;
    // name: 64 characters at offset 40
    [FieldOffset(104)] public ulong @id;
}

[StructLayout(LayoutKind.Explicit, Size = 56)]
public struct lk_pool_info
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @reserved;
    [FieldOffset(16)] public ulong @reserved_high;
    [FieldOffset(24)] public ulong @used;
    [FieldOffset(32)] public ulong @used_high;
    [FieldOffset(40)] public ulong @most;
    [FieldOffset(48)] public ulong @threshold;
}

[StructLayout(LayoutKind.Explicit, Size = 16)]
public struct lk_value
{
    [FieldOffset(0)] public uint @kind;
    [FieldOffset(4)] public uint @bytes;
    [FieldOffset(8)] public ulong @as;
}

[StructLayout(LayoutKind.Explicit, Size = 32)]
public struct lk_stats
{
    [FieldOffset(0)] public ulong @warp_instructions;
    [FieldOffset(8)] public ulong @ctas;
    [FieldOffset(16)] public ulong @nanoseconds;
    [FieldOffset(24)] public ulong @orders;
}

[StructLayout(LayoutKind.Explicit, Size = 112)]
public struct lk_progress
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @ctas;
    [FieldOffset(16)] public ulong @ctas_done;
    [FieldOffset(24)] public ulong @warp_instructions;
    [FieldOffset(32)] public uint @compiling;
    [FieldOffset(36)] public uint @cases;
    [FieldOffset(40)] public uint @cases_most;
    [FieldOffset(44)] public uint @cases_failed;
    // test: 64 characters at offset 48
}

[StructLayout(LayoutKind.Explicit, Size = 72)]
public struct lk_memory_use
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @used;
    [FieldOffset(16)] public ulong @pooled;
    [FieldOffset(24)] public ulong @peak;
    [FieldOffset(32)] public ulong @device;
    [FieldOffset(40)] public ulong @pinned;
    [FieldOffset(48)] public ulong @managed;
    [FieldOffset(56)] public ulong @registered;
    [FieldOffset(64)] public ulong @pool;
}

[StructLayout(LayoutKind.Explicit, Size = 176)]
public struct lk_memory_site
{
    // site: 160 characters at offset 0
    [FieldOffset(160)] public ulong @bytes;
    [FieldOffset(168)] public ulong @count;
}

[StructLayout(LayoutKind.Explicit, Size = 64)]
public struct lk_timing
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public IntPtr @name;
    [FieldOffset(16)] public IntPtr @range;
    [FieldOffset(24)] public ulong @count;
    [FieldOffset(32)] public ulong @bytes;
    [FieldOffset(40)] public double @total_us;
    [FieldOffset(48)] public double @least_us;
    [FieldOffset(56)] public double @most_us;
}

[StructLayout(LayoutKind.Explicit, Size = 48)]
public struct lk_array_info
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public ulong @width;
    [FieldOffset(16)] public ulong @height;
    [FieldOffset(24)] public ulong @depth;
    [FieldOffset(32)] public uint @texel;
    [FieldOffset(36)] public uint @channels;
    [FieldOffset(40)] public uint @flags;
}

[StructLayout(LayoutKind.Explicit, Size = 96)]
public struct lk_texture
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public IntPtr @array;
    [FieldOffset(16)] public ulong @address;
    [FieldOffset(24)] public ulong @width;
    [FieldOffset(32)] public ulong @height;
    [FieldOffset(40)] public ulong @pitch;
    [FieldOffset(48)] public uint @texel;
    [FieldOffset(52)] public uint @channels;
    [FieldOffset(56)] public uint @smooth;
    [FieldOffset(60)] public uint @normalised;
    [FieldOffset(64)] public uint @as_float;
    [FieldOffset(68)] public uint @outside0;
    [FieldOffset(72)] public uint @outside1;
    [FieldOffset(76)] public uint @outside2;
    [FieldOffset(80)] public float @border0;
    [FieldOffset(84)] public float @border1;
    [FieldOffset(88)] public float @border2;
    [FieldOffset(92)] public float @border3;
}

[StructLayout(LayoutKind.Explicit, Size = 96)]
public struct lk_compile
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public IntPtr @arch;
    [FieldOffset(16)] public IntPtr @compiler;
    [FieldOffset(24)] public IntPtr @flag;
    [FieldOffset(32)] public uint @flags;
    [FieldOffset(40)] public IntPtr @name;
    [FieldOffset(48)] public uint @names;
    [FieldOffset(52)] public uint @fresh;
    [FieldOffset(56)] public uint @own;
    [FieldOffset(64)] public IntPtr @link;
    [FieldOffset(72)] public uint @links;
    [FieldOffset(76)] public uint @gather;
    [FieldOffset(80)] public IntPtr @header;
    [FieldOffset(88)] public uint @headers;
}

[StructLayout(LayoutKind.Explicit, Size = 128)]
public struct lk_copy
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public lk_end @to;
    [FieldOffset(48)] public lk_end @from;
    [FieldOffset(88)] public ulong @width;
    [FieldOffset(96)] public ulong @rows;
    [FieldOffset(104)] public ulong @slices;
    [FieldOffset(112)] public IntPtr @stream;
    [FieldOffset(120)] public IntPtr @site;
}

[StructLayout(LayoutKind.Explicit, Size = 176)]
public struct lk_launch
{
    [FieldOffset(0)] public UIntPtr @size;
    [FieldOffset(8)] public uint @grid0;
    [FieldOffset(12)] public uint @grid1;
    [FieldOffset(16)] public uint @grid2;
    [FieldOffset(20)] public uint @block0;
    [FieldOffset(24)] public uint @block1;
    [FieldOffset(28)] public uint @block2;
    [FieldOffset(32)] public uint @shared_bytes;
    [FieldOffset(36)] public uint @cooperative;
    [FieldOffset(40)] public IntPtr @args;
    [FieldOffset(48)] public IntPtr @arg_bytes;
    [FieldOffset(56)] public uint @arg_count;
    [FieldOffset(64)] public IntPtr @trace;
    [FieldOffset(72)] public IntPtr @contract;
    [FieldOffset(80)] public uint @shared_optin;
    [FieldOffset(84)] public uint @registers;
    [FieldOffset(88)] public uint @order;
    [FieldOffset(92)] public uint @orders;
    [FieldOffset(96)] public uint @number;
    [FieldOffset(104)] public IntPtr @stream;
    [FieldOffset(112)] public uint @programmatic;
    [FieldOffset(120)] public IntPtr @site;
    [FieldOffset(128)] public ulong @nth;
    [FieldOffset(136)] public IntPtr @count;
    [FieldOffset(144)] public uint @cluster0;
    [FieldOffset(148)] public uint @cluster1;
    [FieldOffset(152)] public uint @cluster2;
    [FieldOffset(156)] public uint @portable;
    [FieldOffset(160)] public IntPtr @values;
    [FieldOffset(168)] public uint @as_given;
}
