"""Contracts, which the library reads, are bound in Python as the library binds them: for every block of the tree, with the sizes
that the library chooses, arguments, values, strides and launch are the same."""
import ctypes as c
import glob
import os
import struct

import pytest
from conftest import TOP

import lockstep._abi as abi
from lockstep import _contract
from lockstep._contract import Layout
from lockstep._gpu import current
from lockstep._library import contract_json, library, read_contract

FILES = sorted(glob.glob(TOP + "/kernels/*.cu") + glob.glob(TOP + "/tests/cases/contract/*.cu") + glob.glob(TOP + "/tests/cases/lab/*.cu"))


def stub(k, types):
    """PTX with the parameters of a block, so that nothing is to be compiled."""
    params = []
    for i, a in enumerate(k.args):
        kind = types[a.name]
        if a.kind == "bytes":
            params.append(f".param .align 8 .b8 p{i}[{len(a.raw)}]")
        elif a.kind == "value":
            size = _contract.BYTES[kind]
            letter = "f" if kind in ("f32", "f64") else "b" if kind[0] in "fb" else "s" if kind[0] == "i" else "u"
            params.append(f".param .{letter}{size * 8} p{i}")
        else:
            params.append(f".param .u64 p{i}")
    return f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry stub({', '.join(params)})\n{{ ret; }}\n"


def same(lib, gpu, file, k, text, **given):
    chosen = _contract.choose(k, {}, given)
    types = {a.name: chosen.get(a.type, a.type) for a in k.args}
    instance, _ = k.instance(chosen)
    source = "\n".join(line for line in text.splitlines()).encode()
    ptx = stub(k, types).replace("stub", "k").encode()
    _, kernel = gpu.load("stub.ptx", ptx, "k")
    contract = c.c_void_p()
    choices = (abi.lk_choice * (len(given) + 1))(*[(n.encode(), v.encode()) for n, v in given.items()])
    renamed = source.replace(b"kernel " + k.name.encode(), b"kernel k", 1)
    if renamed == source:
        pytest.skip("a name that is written with blanks")
    status = lib.lk_contract_read_with(gpu._handle, b"f", renamed, len(renamed), choices, len(given), c.byref(contract))
    if status:
        return None
    if lib.lk_contract_bind(contract, kernel, None, 0):
        lib.lk_contract_free(contract)
        return None
    dims = dict((w.split("=")[0], int(w.split("=")[1])) for w in lib.lk_contract_dims(contract).decode().split(", ") if w)
    launch = abi.lk_launch(size=c.sizeof(abi.lk_launch))
    lib.lk_contract_shape(contract, c.byref(launch))
    arrays = {}
    for i, a in enumerate(k.args):
        out = abi.lk_argument()
        lib.lk_contract_argument(contract, i, c.byref(out))
        assert out.name.decode() == a.name
        if a.kind == "array":
            arrays[a.name] = Layout(tuple(out.dim[: out.rank]), tuple(out.stride[: out.rank]), out.type.decode())
    bound = _contract.bind(k, arrays, {**dims, **given})
    for i, a in enumerate(k.args):
        if a.kind == "value":
            data = c.create_string_buffer(8)
            lib.lk_contract_fill(contract, i, 0, data)
            n = _contract.BYTES[types[a.name]]
            assert data.raw[:n] == bound.values[a.name], a.name
    assert bound.dims == dims
    if k.grid:
        assert tuple(launch.grid) == bound.grid and tuple(launch.block) == bound.block and launch.shared_bytes == bound.shared
    lib.lk_contract_free(contract)
    return bound


@pytest.mark.parametrize("file", FILES, ids=[os.path.relpath(f, TOP) for f in FILES])
def test_as_the_library(file):
    lib, gpu, text = library(), current(), open(file).read()
    done = 0
    for k in read_contract(text, file).kernels:
        if not k.grid or not k.block:
            continue
        done += same(lib, gpu, file, k, text) is not None
        for choice in k.choices:
            done += same(lib, gpu, file, k, text, **{choice.name: choice.values[-1]}) is not None
    assert done or "//!" not in text or not any(k.grid for k in read_contract(text).kernels)


@pytest.mark.parametrize("text, value", [("7 / 2 * 2", 6), ("-7 / 2", -3), ("-7 % 4", -3), ("1 + 2 << 3", 24), ("5 > 3 ? 1 : 2", 1), ("ceildiv(7, 4) + roundup(7, 4)", 10),
                                         ("1.0 / 4", 0.25), ("!0 || 1 / 0", 1), ("pow2(17) + log2(17)", 37), ("0x10 | 1", 17), ("1 == 1 && 2 != 2", 0), ("2 ** 3 ** 2", 512), ("-2 ** 2", -4), ("2.0 ** -3", 0.125)])
def test_expressions(text, value):
    a = read_contract(f"//! kernel c\n//! arg v f64 = {text}\n").kernel().args[0]
    assert _contract.evaluate(a.value, {}) == value


def test_what_the_lines_say():
    """Everything that a contract can say, as the library says it (docs/lab/contract.md)."""
    k = read_contract("""//! kernel c<T,B>
//! type   T f32|f16
//! config B 64 {32, 128}, FAST 1 {0}
//! dim    n 0..B * 4 step 2 = B, m
//! arg x  T[n, m] in view dense|rows|broadcast(0)|broadcast(all)
//! arg ld i64 = x.stride0
//! arg q  b8[m, n] in stride [1, m] align 16 optional
//! arg y  T[n] inout alias x partial
//! arg s  bytes = 0000803f 01
//! arg z  null
//! arg h  f32 = n > 2 ? -1.0 : float(m)
//! launch grid=ceildiv(n, B),m block=B cluster=2 cooperative
//! shared a T[n] at 16
//! require n % 2 == 0 && m < 100   # why
//! compile -lineinfo -DX
//! oracle y = x
//! accumulate f32 tree 8
//! tolerance 2x
//! empty zeros
//! op f(x) -> y
//! forward c(x) -> y
//! backward c(dy, x) -> dx
""").kernel("c")
    assert (k.name, k.plain, k.flags) == ("c<T,B>", "c", "-lineinfo -DX")
    assert [(c.name, c.is_type, c.values, c.in_name) for c in k.choices] == [("T", True, ["f32", "f16"], True), ("B", False, ["64", "32", "128"], True), ("FAST", False, ["1", "0"], False)]
    assert k.instance({"T": "f16", "B": "32", "FAST": "0"}) == ("c<__half,32>", ["-lineinfo", "-DX", "-DFAST=0"])
    n, m = k.dims
    assert n.high == ("binary", "*", ("name", "B"), ("number", 4)) and n.step == ("number", 2) and n.value == ("name", "B") and m.low is None
    x, ld, q, y, s, z, h = k.args
    assert (x.type, x.flow, x.layouts, x.broadcasts) == ("T", "in", ("dense", "rows", "broadcast"), (0, "all")) and ld.value == ("name", "x.stride0")
    assert q.stride == [("number", 1), ("name", "m")] and q.align == ("number", 16) and q.optional and q.layouts == ("dense",)
    assert (y.flow, y.alias, y.partial, y.once) == ("inout", "x", True, False) and s.raw == bytes.fromhex("0000803f01") and z.kind == "null"
    assert h.value == ("ternary", ("binary", ">", ("name", "n"), ("number", 2)), ("unary", "-", ("number", 1.0)), ("call", "float", ("name", "m")))
    assert isinstance(h.value[2][2][1], float) and k.grid[0] == ("call", "ceildiv", ("name", "n"), ("name", "B")) and len(k.grid) == 2
    assert k.cooperative and k.cluster == [("number", 2)] and k.parts == [("a", "T", [("name", "n")], ("number", 16))]
    assert k.requires[0][1] == "n % 2 == 0 && m < 100" and (k.accumulate, k.tolerance, k.empty, k.oracles) == ("f32 tree 8", 2.0, "zeros", ["y = x"])


def test_ops_and_mistakes():
    parsed = read_contract("//! op f(x, g) -> y\n//! forward c(x, g) -> y, m\n//! backward d(dy, x) -> dx\n//! oracle y = x\n//! kernel c\n")
    (op,) = parsed.ops
    assert (op.call.name, op.call.ins, op.call.outs, op.forward[0].outs, op.backward[0].ins, op.oracles) == ("f", ["x", "g"], ["y"], ["y", "m"], ["dy", "x"], ["y = x"])
    with pytest.raises(_contract.ContractError, match=r"k.cu:2:.*dimm|k.cu:2"):
        read_contract("//! kernel c\n//! dimm n\n", "k.cu")
    assert read_contract("int main;").kernels == [] and contract_json("")["version"] == 1


def test_solved_sizes():
    k = read_contract("""//! kernel c
//! dim groups 1..8 = 2, ins 1..64, outs 1..64, n 1..64
//! arg x f32[n, groups * ins] in
//! arg w f32[groups * outs, ins] in
//! arg y f32[n, groups * outs] out
//! launch grid=n block=32
""").kernel()
    layouts = {"x": Layout((5, 12), (12, 1), "f32"), "w": Layout((6, 4), (4, 1), "f32")}
    bound = _contract.bind(k, layouts)
    assert bound.dims == {"groups": 3, "ins": 4, "outs": 2, "n": 5} and bound.shapes["y"] == (5, 6)
    assert struct.unpack("<i", _contract.pack("i32", -3, "v")) == (-3,)


@pytest.mark.parametrize("shape, strides, word", [((4, 5), (5, 1), "dense"), ((4, 5), (8, 1), "rows(3)"), ((4, 5), (0, 1), "broadcast(0)"), ((4, 5), (1, 0), "broadcast(1)"),
                                                  ((4, 5), (0, 0), "broadcast(all)"), ((4, 5), (1, 4), None), ((1, 5), (77, 1), "dense"), ((3, 4, 5), (32, 8, 1), "rows(3)"),
                                                  ((3, 4, 5), (33, 8, 1), None), ((0, 5), (1, 7), "dense")])
def test_layouts(shape, strides, word):
    a = read_contract(f"""//! kernel c
//! arg x f32[{", ".join("n" * len(shape))}] in view dense|rows|offset|broadcast
""".replace("//! arg", "//! dim n\n//! arg")).kernel().args[0]
    assert _contract.layout_word(a, Layout(shape, strides, "f32")) == word
