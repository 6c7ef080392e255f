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


class lk_argument(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("type", c.c_char_p),
        ("kind", c.c_int32),
        ("flow", c.c_int32),
        ("rank", c.c_uint32),
        ("dim", c.c_uint64 * 8),
        ("stride", c.c_uint64 * 8),
        ("bytes", c.c_uint64),
        ("align", c.c_uint64),
        ("same", c.c_int32),
        ("filled", c.c_uint32),
        ("line", c.c_uint32),
        ("offset", c.c_uint64),
    ]


class lk_dim(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class lk_choice(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class lk_kind_info(c.Structure):
    _fields_ = [
        ("id", c.c_char_p),
        ("code", c.c_uint32),
        ("is_error", c.c_uint32),
        ("check", c.c_char_p),
        ("rule", c.c_char_p),
        ("example", c.c_char_p),
        ("title", c.c_char_p),
        ("meaning", c.c_char_p),
        ("fix", c.c_char_p),
    ]


class lk_tool(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("fix", c.c_char_p), ("compiles", c.c_uint32), ("path", c.c_char * 1024)]


class lk_oracle_name(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_char_p), ("rank", c.c_uint32), ("dim", c.c_uint64 * 8), ("data", c.c_void_p), ("value", c.c_double)]


class lk_oracle_result(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("rank", c.c_uint32),
        ("dim", c.c_uint64 * 8),
        ("count", c.c_uint64),
        ("value", c.c_void_p),
        ("worst", c.c_void_p),
        ("suspect", c.c_void_p),
        ("unknown", c.c_void_p),
        ("exact", c.c_int),
        ("sampled", c.c_int),
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
    lk_argument: (200, {"name": 0, "type": 8, "kind": 16, "flow": 20, "rank": 24, "dim": 32, "stride": 96, "bytes": 160, "align": 168, "same": 176, "filled": 180, "line": 184, "offset": 192}),
    lk_dim: (16, {"name": 0, "value": 8}),
    lk_choice: (16, {"name": 0, "value": 8}),
    lk_kind_info: (64, {"id": 0, "code": 8, "is_error": 12, "check": 16, "rule": 24, "example": 32, "title": 40, "meaning": 48, "fix": 56}),
    lk_tool: (1056, {"size": 0, "name": 8, "fix": 16, "compiles": 24, "path": 28}),
    lk_oracle_name: (104, {"name": 0, "type": 8, "rank": 16, "dim": 24, "data": 88, "value": 96}),
    lk_oracle_result: (128, {"name": 0, "rank": 8, "dim": 16, "count": 80, "value": 88, "worst": 96, "suspect": 104, "unknown": 112, "exact": 120, "sampled": 124}),
}

for struct, (size, offsets) in LAYOUT.items():
    assert c.sizeof(struct) == size, struct
    assert all(getattr(struct, f).offset == o for f, o in offsets.items()), struct

P, S, I = c.c_void_p, c.c_char_p, c.c_int

FUNCTIONS = {  # function: (result, [arguments])
    "lk_array_create": (I, [P, P, P]),
    "lk_array_destroy": (I, [P]),
    "lk_array_read": (I, [P, P, c.c_uint64]),
    "lk_array_write": (I, [P, P, c.c_uint64]),
    "lk_cache_clear": (c.c_uint32, []),
    "lk_cache_folder": (I, [P, c.c_size_t]),
    "lk_cache_limit": (c.c_uint64, []),
    "lk_cache_list": (c.c_uint32, [P, c.c_uint32]),
    "lk_check_at": (S, [c.c_uint32, P]),
    "lk_contract_argument": (I, [P, c.c_uint32, P]),
    "lk_contract_argument_count": (c.c_uint32, [P]),
    "lk_contract_bind": (I, [P, P, P, c.c_uint32]),
    "lk_contract_dims": (S, [P]),
    "lk_contract_fill": (I, [P, c.c_uint32, c.c_uint64, P]),
    "lk_contract_flags": (S, [P, c.c_uint32]),
    "lk_contract_free": (I, [P]),
    "lk_contract_is_empty": (I, [P]),
    "lk_contract_json": (I, [S, S, c.c_size_t, P]),
    "lk_contract_kernel": (S, [P, c.c_uint32]),
    "lk_contract_layout": (I, [P, S, S]),
    "lk_contract_oracle": (S, [P]),
    "lk_contract_oracle_read": (None, [P]),
    "lk_contract_read": (I, [P, S, S, c.c_size_t, P]),
    "lk_contract_read_case": (I, [P, S, S, c.c_size_t, S, S, P]),
    "lk_contract_read_with": (I, [P, S, S, c.c_size_t, P, c.c_uint32, P]),
    "lk_contract_shape": (None, [P, P]),
    "lk_cuda_error_at": (I, [c.c_uint32, P]),
    "lk_cuda_phrase_at": (S, [c.c_uint32, P]),
    "lk_cuda_sign_at": (I, [c.c_uint32, P]),
    "lk_device_name": (S, [c.c_uint32]),
    "lk_device_text": (P, [S]),
    "lk_event_create": (I, [P, c.c_uint32, P]),
    "lk_event_destroy": (I, [P]),
    "lk_event_elapsed": (I, [P, P, P]),
    "lk_event_query": (I, [P]),
    "lk_event_record": (I, [P, P]),
    "lk_event_record_external": (I, [P, P]),
    "lk_event_synchronise": (I, [P]),
    "lk_exec_destroy": (I, [P]),
    "lk_exec_launch": (I, [P, P]),
    "lk_exec_set_copy": (I, [P, P, P]),
    "lk_exec_set_fill": (I, [P, P, P]),
    "lk_exec_set_host": (I, [P, P, P, P]),
    "lk_exec_set_launch": (I, [P, P, P, P]),
    "lk_exec_update": (I, [P, P]),
    "lk_file_kernels": (P, [S]),
    "lk_gpu_arch": (c.c_uint32, [P]),
    "lk_gpu_at": (I, [c.c_uint32, P]),
    "lk_gpu_choose": (None, [P, P, P]),
    "lk_gpu_count": (c.c_uint32, []),
    "lk_gpu_create": (I, [P, P]),
    "lk_gpu_cuda_error": (c.c_uint32, [P]),
    "lk_gpu_destroy": (I, [P]),
    "lk_gpu_error": (S, [P]),
    "lk_gpu_interrupt": (None, [P]),
    "lk_gpu_last_error": (I, [P, P]),
    "lk_gpu_log": (S, [P]),
    "lk_gpu_progress": (I, [P, P]),
    "lk_gpu_properties": (I, [P, P]),
    "lk_gpu_synchronise": (I, [P]),
    "lk_gpu_title": (S, [P]),
    "lk_graph_add_alloc": (I, [P, P, c.c_uint32, c.c_uint64, S, P, P]),
    "lk_graph_add_child": (I, [P, P, c.c_uint32, P, P]),
    "lk_graph_add_copy": (I, [P, P, c.c_uint32, P, P]),
    "lk_graph_add_empty": (I, [P, P, c.c_uint32, P]),
    "lk_graph_add_fill": (I, [P, P, c.c_uint32, P, P]),
    "lk_graph_add_free": (I, [P, P, c.c_uint32, c.c_uint64, P]),
    "lk_graph_add_host": (I, [P, P, c.c_uint32, P, P, P]),
    "lk_graph_add_launch": (I, [P, P, c.c_uint32, P, P, P]),
    "lk_graph_add_record": (I, [P, P, c.c_uint32, P, P]),
    "lk_graph_add_wait": (I, [P, P, c.c_uint32, P, P]),
    "lk_graph_create": (I, [P, P]),
    "lk_graph_destroy": (I, [P]),
    "lk_graph_edge": (I, [P, P, P]),
    "lk_graph_edge_remove": (I, [P, P, P]),
    "lk_graph_instantiate": (I, [P, c.c_uint32, P]),
    "lk_graph_node_count": (c.c_uint32, [P]),
    "lk_host_call": (I, [P, P, P]),
    "lk_images_at": (I, [P, c.c_uint32, P]),
    "lk_images_choose": (I, [P, c.c_uint32, S, I, P]),
    "lk_images_close": (I, [P]),
    "lk_images_code": (I, [P, c.c_uint32, P]),
    "lk_images_error": (S, [P]),
    "lk_images_fatbin": (I, [P, c.c_uint32, P]),
    "lk_images_keep": (I, [P, P, c.c_uint32, S]),
    "lk_images_kernel": (I, [P, c.c_uint32, c.c_uint32, P]),
    "lk_images_kind": (S, [P]),
    "lk_images_machine": (S, [P]),
    "lk_images_open": (I, [S, P]),
    "lk_images_param": (I, [P, c.c_uint32, c.c_uint32, c.c_uint32, P]),
    "lk_images_unpack": (I, [P, c.c_uint32, P, P]),
    "lk_images_verdict": (S, [P, c.c_uint32, S, I]),
    "lk_isa_form": (I, [c.c_uint32, P]),
    "lk_isa_opcode": (I, [c.c_uint32, c.c_uint32, P, c.c_size_t]),
    "lk_kernel_file": (S, [P]),
    "lk_kernel_launch": (I, [P, P, P]),
    "lk_kernel_name": (S, [P]),
    "lk_kernel_occupancy": (I, [P, c.c_uint32, c.c_uint64, P]),
    "lk_kernel_param": (I, [P, c.c_uint32, P]),
    "lk_kernel_param_count": (c.c_uint32, [P]),
    "lk_kernel_plain": (S, [P]),
    "lk_kernel_signature": (S, [P]),
    "lk_kernel_undefined": (S, [P, c.c_uint32]),
    "lk_kernel_usage": (I, [P, P]),
    "lk_kind_at": (I, [c.c_uint32, P]),
    "lk_memory_alloc": (I, [P, c.c_uint64, I, S, P]),
    "lk_memory_alloc_async": (I, [P, c.c_uint64, P, S, P]),
    "lk_memory_alloc_pitched": (I, [P, c.c_uint64, c.c_uint64, c.c_uint64, S, P, P]),
    "lk_memory_at": (I, [P, c.c_uint64, P]),
    "lk_memory_copy": (I, [P, P]),
    "lk_memory_copy_async": (I, [P, c.c_uint64, c.c_uint64, c.c_uint64]),
    "lk_memory_describe": (I, [P, c.c_uint64, S, S, c.c_uint32]),
    "lk_memory_fill": (I, [P, c.c_uint64, I, c.c_uint64]),
    "lk_memory_fill_async": (I, [P, c.c_uint64, I, c.c_uint64]),
    "lk_memory_free": (I, [P, c.c_uint64]),
    "lk_memory_free_async": (I, [P, c.c_uint64]),
    "lk_memory_growth": (c.c_uint32, [P, c.c_uint32, P, c.c_uint32, P, c.c_uint32]),
    "lk_memory_host": (I, [P, c.c_uint64, P]),
    "lk_memory_iteration": (I, [P, P]),
    "lk_memory_live": (c.c_uint64, [P]),
    "lk_memory_output": (I, [P, c.c_uint64, c.c_uint64]),
    "lk_memory_peak": (c.c_uint64, [P]),
    "lk_memory_read": (I, [P, c.c_uint64, P, c.c_uint64]),
    "lk_memory_read_async": (I, [P, c.c_uint64, P, c.c_uint64]),
    "lk_memory_register": (I, [P, P, c.c_uint64, S, P]),
    "lk_memory_set": (I, [P, P]),
    "lk_memory_snapshot": (c.c_uint32, [P, P, c.c_uint32]),
    "lk_memory_span": (I, [P, c.c_uint64, c.c_uint64, I, P]),
    "lk_memory_touch": (I, [P, c.c_uint64, c.c_uint64, c.c_uint32]),
    "lk_memory_unregister": (I, [P, P]),
    "lk_memory_usage": (I, [P, P]),
    "lk_memory_write": (I, [P, c.c_uint64, P, c.c_uint64]),
    "lk_memory_write_async": (I, [P, c.c_uint64, P, c.c_uint64]),
    "lk_module_arch": (S, [P]),
    "lk_module_assemble": (I, [P]),
    "lk_module_compile": (I, [P, S, P, P]),
    "lk_module_compile_source": (I, [P, S, S, c.c_size_t, P, P]),
    "lk_module_compiler": (S, [P]),
    "lk_module_kernel": (P, [P, S]),
    "lk_module_kernel_at": (P, [P, c.c_uint32]),
    "lk_module_kernel_count": (c.c_uint32, [P]),
    "lk_module_link": (I, [P, P, c.c_uint32, P]),
    "lk_module_load": (I, [P, S, S, c.c_size_t, P]),
    "lk_module_load_file": (I, [P, S, P]),
    "lk_module_load_image": (I, [P, S, P, c.c_size_t, P]),
    "lk_module_note": (S, [P]),
    "lk_module_ptx": (S, [P, P]),
    "lk_module_symbol": (I, [P, S, P, P]),
    "lk_module_unload": (I, [P]),
    "lk_oracle_accumulate": (I, [P, S]),
    "lk_oracle_accumulates": (S, [P]),
    "lk_oracle_definitions": (S, []),
    "lk_oracle_error": (S, [P]),
    "lk_oracle_evaluate": (I, [P]),
    "lk_oracle_free": (None, [P]),
    "lk_oracle_new": (P, [P, c.c_uint32]),
    "lk_oracle_output": (I, [P, c.c_uint32, P]),
    "lk_oracle_read": (I, [P, S]),
    "lk_oracle_row": (I, [c.c_uint32, P]),
    "lk_oracle_signature": (S, [c.c_uint32]),
    "lk_oracle_why": (c.c_uint32, [P, c.c_uint32, c.c_uint64, P, c.c_uint32]),
    "lk_page": (P, [S, c.c_size_t]),
    "lk_physical_create": (I, [P, c.c_uint64, P]),
    "lk_physical_release": (I, [P]),
    "lk_pool_access": (I, [P, c.c_uint32]),
    "lk_pool_create": (I, [P, c.c_uint64, P]),
    "lk_pool_create_of": (I, [P, I, c.c_uint64, c.c_uint32, P]),
    "lk_pool_current": (I, [P, P]),
    "lk_pool_default": (P, [P]),
    "lk_pool_destroy": (I, [P]),
    "lk_pool_has": (c.c_uint32, [P, c.c_uint64]),
    "lk_pool_threshold": (I, [P, c.c_uint64]),
    "lk_pool_trim": (I, [P, c.c_uint64]),
    "lk_pool_usage": (I, [P, P, c.c_uint32]),
    "lk_profile_json": (P, [P]),
    "lk_profile_text": (P, [P, I, I]),
    "lk_range_pop": (None, []),
    "lk_range_push": (None, [S]),
    "lk_record": (I, [P, P, S]),
    "lk_recording_c": (P, [P]),
    "lk_recording_close": (None, [P]),
    "lk_recording_difference": (P, [P]),
    "lk_recording_open": (I, [S, P]),
    "lk_recording_run": (I, [P, P]),
    "lk_recording_save": (I, [P, S]),
    "lk_recording_seed": (c.c_uint64, [P]),
    "lk_recording_shrink": (I, [P, P, P]),
    "lk_recording_text": (P, [P]),
    "lk_reference_serve": (I, [S, S]),
    "lk_report_clear": (None, [P]),
    "lk_report_compare": (I, [P, c.c_uint64, P, c.c_uint64, c.c_uint64, P]),
    "lk_report_conclude": (I, [P, P]),
    "lk_report_errors": (c.c_uint32, [P]),
    "lk_report_fail_on": (I, [P, c.c_uint32]),
    "lk_report_html": (P, [P]),
    "lk_report_json": (P, [P]),
    "lk_report_junit": (P, [P, S]),
    "lk_report_leaks": (None, [P]),
    "lk_report_leaks_host": (None, [P]),
    "lk_report_limit": (None, [P, c.c_uint32]),
    "lk_report_notes": (c.c_uint32, [P]),
    "lk_report_rules": (P, [P]),
    "lk_report_run": (None, [P, P]),
    "lk_report_sarif": (P, [P]),
    "lk_report_suppress": (I, [P, S]),
    "lk_report_suppressed": (c.c_uint32, [P]),
    "lk_report_text": (P, [P, I]),
    "lk_report_unused": (P, [P]),
    "lk_stream_capture": (I, [P, I]),
    "lk_stream_capture_end": (I, [P, P]),
    "lk_stream_capture_status": (I, [P, P]),
    "lk_stream_create": (I, [P, c.c_uint32, c.c_int32, P]),
    "lk_stream_destroy": (I, [P]),
    "lk_stream_legacy": (P, [P]),
    "lk_stream_name": (I, [P, S]),
    "lk_stream_per_thread": (P, [P]),
    "lk_stream_query": (I, [P]),
    "lk_stream_synchronise": (I, [P]),
    "lk_stream_wait": (I, [P, P]),
    "lk_stream_wait_external": (I, [P, P]),
    "lk_stream_wait_value": (I, [P, c.c_uint64, c.c_uint32, c.c_uint64, I]),
    "lk_stream_write_value": (I, [P, c.c_uint64, c.c_uint32, c.c_uint64]),
    "lk_surface_create": (I, [P, P]),
    "lk_surface_destroy": (I, [P, c.c_uint64]),
    "lk_test_case_at": (I, [P, c.c_uint32, c.c_uint32, P]),
    "lk_test_conclude": (I, [P, c.c_uint32, c.c_uint32, P]),
    "lk_test_disbelieved": (c.c_uint32, [P]),
    "lk_test_failure_at": (I, [P, c.c_uint32, c.c_uint32, P]),
    "lk_test_file": (I, [P, S, P, P]),
    "lk_test_free": (None, [P]),
    "lk_test_json": (P, [P, c.c_uint32, P]),
    "lk_test_junit": (P, [P, c.c_uint32, P]),
    "lk_test_kernel_at": (I, [P, c.c_uint32, P]),
    "lk_test_path": (S, [P]),
    "lk_test_serve": (I, [I, I]),
    "lk_test_undone": (I, [P, S, I, S, P]),
    "lk_test_why": (S, [P]),
    "lk_text_free": (None, [P]),
    "lk_texture_create": (I, [P, P, P]),
    "lk_texture_destroy": (I, [P, c.c_uint64]),
    "lk_thread_site": (None, [S]),
    "lk_time_at": (I, [P, c.c_uint32, P]),
    "lk_time_text": (P, [P]),
    "lk_tool_at": (I, [c.c_uint32, P]),
    "lk_version": (S, []),
    "lk_virtual_access": (I, [P, c.c_uint64, c.c_uint64, I]),
    "lk_virtual_at": (I, [P, c.c_uint64, P]),
    "lk_virtual_free": (I, [P, c.c_uint64, c.c_uint64]),
    "lk_virtual_map": (I, [P, c.c_uint64, c.c_uint64, P]),
    "lk_virtual_reserve": (I, [P, c.c_uint64, c.c_uint64, S, P]),
    "lk_virtual_unmap": (I, [P, c.c_uint64, c.c_uint64]),
}
