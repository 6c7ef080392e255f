"""The structs of lockstep.h for ctypes. Made by tests/abi from the header: do not edit."""
import ctypes as c


class lk_options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("device", c.c_char_p),
        ("threads", c.c_uint32),
        ("seeded", c.c_uint32),
        ("seed", c.c_uint64),
        ("check", c.c_char_p),
        ("no_check", c.c_char_p),
        ("budget", c.c_uint64),
        ("on", c.c_char_p),
        ("time_limit", c.c_double),
        ("managed", c.c_char_p),
        ("any_arch", c.c_uint32),
        ("profile", c.c_uint32),
        ("keep", c.c_uint32),
        ("blocking", c.c_uint32),
        ("time", c.c_uint32),
        ("assemble", c.c_uint32),
        ("faults", c.c_uint32),
    ]


class lk_gpu_info(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char * 128),
        ("arch", c.c_uint32),
        ("multiprocessors", c.c_uint32),
        ("memory", c.c_uint64),
        ("clock_mhz", c.c_uint32),
        ("is_real", c.c_uint32),
        ("pageable", c.c_uint32),
    ]


class lk_error(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("status", c.c_uint32),
        ("cuda", c.c_uint32),
        ("name", c.c_char_p),
        ("call", c.c_char_p),
        ("message", c.c_char_p),
        ("launch", c.c_char_p),
        ("suspects", c.c_char_p),
        ("causes", c.c_char_p),
        ("fix", c.c_char_p),
        ("lasting", c.c_uint32),
        ("record", c.c_char_p),
    ]


class lk_ptx(c.Structure):
    _fields_ = [("name", c.c_char_p), ("ptx", c.c_char_p), ("bytes", c.c_size_t)]


class lk_source(c.Structure):
    _fields_ = [("name", c.c_char_p), ("text", c.c_char_p), ("bytes", c.c_size_t)]


class lk_param(c.Structure):
    _fields_ = [
        ("offset", c.c_uint32),
        ("bytes", c.c_uint32),
        ("align", c.c_uint32),
        ("type", c.c_char * 8),
        ("is_pointer", c.c_uint32),
        ("name", c.c_char_p),
        ("source_type", c.c_char_p),
    ]


class lk_usage(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("param_bytes", c.c_uint64),
        ("shared_bytes", c.c_uint64),
        ("local_bytes", c.c_uint64),
        ("const_bytes", c.c_uint64),
        ("global_bytes", c.c_uint64),
        ("dynamic_shared", c.c_uint32),
        ("max_threads", c.c_uint32 * 3),
        ("required_threads", c.c_uint32 * 3),
        ("cluster", c.c_uint32 * 3),
        ("min_blocks", c.c_uint32),
        ("max_registers", c.c_uint32),
        ("assembled", c.c_uint32),
        ("registers", c.c_uint32),
        ("barriers", c.c_uint32),
        ("stack_bytes", c.c_uint64),
        ("spill_store_bytes", c.c_uint64),
        ("spill_load_bytes", c.c_uint64),
    ]


class lk_occupancy(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("blocks", c.c_uint32),
        ("warps", c.c_uint32),
        ("of_warps", c.c_uint32),
        ("limiter", c.c_char_p),
        ("by_blocks", c.c_uint32),
        ("by_warps", c.c_uint32),
        ("by_registers", c.c_uint32),
        ("by_shared", c.c_uint32),
        ("registers", c.c_uint32),
        ("suggested_block", c.c_uint32),
        ("suggested_grid", c.c_uint32),
    ]


class lk_end(c.Structure):
    _fields_ = [("gpu", c.c_void_p), ("address", c.c_uint64), ("host", c.c_void_p), ("pitch", c.c_uint64), ("slice", c.c_uint64)]


class lk_fill(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("address", c.c_uint64),
        ("value", c.c_uint32),
        ("bytes", c.c_uint32),
        ("width", c.c_uint64),
        ("rows", c.c_uint64),
        ("slices", c.c_uint64),
        ("pitch", c.c_uint64),
        ("slice", c.c_uint64),
        ("stream", c.c_void_p),
        ("site", c.c_char_p),
    ]


class lk_memory_info(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("gpu", c.c_void_p),
        ("kind", c.c_int32),
        ("freed", c.c_uint32),
        ("base", c.c_uint64),
        ("bytes", c.c_uint64),
        ("name", c.c_char * 64),
        ("id", c.c_uint64),
    ]


class lk_pool_info(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("reserved", c.c_uint64),
        ("reserved_high", c.c_uint64),
        ("used", c.c_uint64),
        ("used_high", c.c_uint64),
        ("most", c.c_uint64),
        ("threshold", c.c_uint64),
    ]


class lk_value(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("bytes", c.c_uint32), ("as", c.c_uint64)]


class lk_stats(c.Structure):
    _fields_ = [("warp_instructions", c.c_uint64), ("ctas", c.c_uint64), ("nanoseconds", c.c_uint64), ("orders", c.c_uint64)]


class lk_progress(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("ctas", c.c_uint64),
        ("ctas_done", c.c_uint64),
        ("warp_instructions", c.c_uint64),
        ("compiling", c.c_uint32),
        ("cases", c.c_uint32),
        ("cases_most", c.c_uint32),
        ("cases_failed", c.c_uint32),
        ("test", c.c_char * 64),
    ]


class lk_memory_use(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("used", c.c_uint64),
        ("pooled", c.c_uint64),
        ("peak", c.c_uint64),
        ("device", c.c_uint64),
        ("pinned", c.c_uint64),
        ("managed", c.c_uint64),
        ("registered", c.c_uint64),
        ("pool", c.c_uint64),
    ]


class lk_memory_site(c.Structure):
    _fields_ = [("site", c.c_char * 160), ("bytes", c.c_uint64), ("count", c.c_uint64)]


class lk_timing(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("range", c.c_char_p),
        ("count", c.c_uint64),
        ("bytes", c.c_uint64),
        ("total_us", c.c_double),
        ("least_us", c.c_double),
        ("most_us", c.c_double),
    ]


class lk_array_info(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("width", c.c_uint64),
        ("height", c.c_uint64),
        ("depth", c.c_uint64),
        ("texel", c.c_uint32),
        ("channels", c.c_uint32),
        ("flags", c.c_uint32),
    ]


class lk_texture(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("array", c.c_void_p),
        ("address", c.c_uint64),
        ("width", c.c_uint64),
        ("height", c.c_uint64),
        ("pitch", c.c_uint64),
        ("texel", c.c_uint32),
        ("channels", c.c_uint32),
        ("smooth", c.c_uint32),
        ("normalised", c.c_uint32),
        ("as_float", c.c_uint32),
        ("outside", c.c_uint32 * 3),
        ("border", c.c_float * 4),
    ]


class lk_compile(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("arch", c.c_char_p),
        ("compiler", c.c_char_p),
        ("flag", c.c_char_p),
        ("flags", c.c_uint32),
        ("name", c.c_char_p),
        ("names", c.c_uint32),
        ("fresh", c.c_uint32),
        ("own", c.c_uint32),
        ("link", c.c_char_p),
        ("links", c.c_uint32),
        ("gather", c.c_uint32),
        ("header", c.c_void_p),
        ("headers", c.c_uint32),
    ]


class lk_copy(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("to", lk_end),
        ("from", lk_end),
        ("width", c.c_uint64),
        ("rows", c.c_uint64),
        ("slices", c.c_uint64),
        ("stream", c.c_void_p),
        ("site", c.c_char_p),
    ]


class lk_launch(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint32 * 3),
        ("shared_bytes", c.c_uint32),
        ("cooperative", c.c_uint32),
        ("args", c.c_void_p),
        ("arg_bytes", c.c_void_p),
        ("arg_count", c.c_uint32),
        ("trace", c.c_void_p),
        ("contract", c.c_void_p),
        ("shared_optin", c.c_uint32),
        ("registers", c.c_uint32),
        ("order", c.c_uint32),
        ("orders", c.c_uint32),
        ("number", c.c_uint32),
        ("stream", c.c_void_p),
        ("programmatic", c.c_uint32),
        ("site", c.c_char_p),
        ("nth", c.c_uint64),
        ("count", c.c_void_p),
        ("cluster", c.c_uint32 * 3),
        ("portable", c.c_uint32),
        ("values", c.c_void_p),
        ("as_given", c.c_uint32),
    ]


LAYOUT = {  # struct: (size, {field: offset})
    lk_options: (112, {"size": 0, "device": 8, "threads": 16, "seeded": 20, "seed": 24, "check": 32, "no_check": 40, "budget": 48, "on": 56, "time_limit": 64, "managed": 72, "any_arch": 80, "profile": 84, "keep": 88, "blocking": 92, "time": 96, "assemble": 100, "faults": 104}),
    lk_gpu_info: (168, {"size": 0, "name": 8, "arch": 136, "multiprocessors": 140, "memory": 144, "clock_mhz": 152, "is_real": 156, "pageable": 160}),
    lk_error: (88, {"size": 0, "status": 8, "cuda": 12, "name": 16, "call": 24, "message": 32, "launch": 40, "suspects": 48, "causes": 56, "fix": 64, "lasting": 72, "record": 80}),
    lk_ptx: (24, {"name": 0, "ptx": 8, "bytes": 16}),
    lk_source: (24, {"name": 0, "text": 8, "bytes": 16}),
    lk_param: (40, {"offset": 0, "bytes": 4, "align": 8, "type": 12, "is_pointer": 20, "name": 24, "source_type": 32}),
    lk_usage: (136, {"size": 0, "param_bytes": 8, "shared_bytes": 16, "local_bytes": 24, "const_bytes": 32, "global_bytes": 40, "dynamic_shared": 48, "max_threads": 52, "required_threads": 64, "cluster": 76, "min_blocks": 88, "max_registers": 92, "assembled": 96, "registers": 100, "barriers": 104, "stack_bytes": 112, "spill_store_bytes": 120, "spill_load_bytes": 128}),
    lk_occupancy: (64, {"size": 0, "blocks": 8, "warps": 12, "of_warps": 16, "limiter": 24, "by_blocks": 32, "by_warps": 36, "by_registers": 40, "by_shared": 44, "registers": 48, "suggested_block": 52, "suggested_grid": 56}),
    lk_end: (40, {"gpu": 0, "address": 8, "host": 16, "pitch": 24, "slice": 32}),
    lk_fill: (80, {"size": 0, "address": 8, "value": 16, "bytes": 20, "width": 24, "rows": 32, "slices": 40, "pitch": 48, "slice": 56, "stream": 64, "site": 72}),
    lk_memory_info: (112, {"size": 0, "gpu": 8, "kind": 16, "freed": 20, "base": 24, "bytes": 32, "name": 40, "id": 104}),
    lk_pool_info: (56, {"size": 0, "reserved": 8, "reserved_high": 16, "used": 24, "used_high": 32, "most": 40, "threshold": 48}),
    lk_value: (16, {"kind": 0, "bytes": 4, "as": 8}),
    lk_stats: (32, {"warp_instructions": 0, "ctas": 8, "nanoseconds": 16, "orders": 24}),
    lk_progress: (112, {"size": 0, "ctas": 8, "ctas_done": 16, "warp_instructions": 24, "compiling": 32, "cases": 36, "cases_most": 40, "cases_failed": 44, "test": 48}),
    lk_memory_use: (72, {"size": 0, "used": 8, "pooled": 16, "peak": 24, "device": 32, "pinned": 40, "managed": 48, "registered": 56, "pool": 64}),
    lk_memory_site: (176, {"site": 0, "bytes": 160, "count": 168}),
    lk_timing: (64, {"size": 0, "name": 8, "range": 16, "count": 24, "bytes": 32, "total_us": 40, "least_us": 48, "most_us": 56}),
    lk_array_info: (48, {"size": 0, "width": 8, "height": 16, "depth": 24, "texel": 32, "channels": 36, "flags": 40}),
    lk_texture: (96, {"size": 0, "array": 8, "address": 16, "width": 24, "height": 32, "pitch": 40, "texel": 48, "channels": 52, "smooth": 56, "normalised": 60, "as_float": 64, "outside": 68, "border": 80}),
    lk_compile: (96, {"size": 0, "arch": 8, "compiler": 16, "flag": 24, "flags": 32, "name": 40, "names": 48, "fresh": 52, "own": 56, "link": 64, "links": 72, "gather": 76, "header": 80, "headers": 88}),
    lk_copy: (128, {"size": 0, "to": 8, "from": 48, "width": 88, "rows": 96, "slices": 104, "stream": 112, "site": 120}),
    lk_launch: (176, {"size": 0, "grid": 8, "block": 20, "shared_bytes": 32, "cooperative": 36, "args": 40, "arg_bytes": 48, "arg_count": 56, "trace": 64, "contract": 72, "shared_optin": 80, "registers": 84, "order": 88, "orders": 92, "number": 96, "stream": 104, "programmatic": 112, "site": 120, "nth": 128, "count": 136, "cluster": 144, "portable": 156, "values": 160, "as_given": 168}),
}

for struct, (size, offsets) in LAYOUT.items():
    assert c.sizeof(struct) == size, struct
    assert all(getattr(struct, f).offset == o for f, o in offsets.items()), struct
