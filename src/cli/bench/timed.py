# Times a Python callable on cases of a contract, asked in lines of JSON: src/cli/bench/bench.h says what for. Inputs are the arrays of the case as CUDA tensors of
# PyTorch, by the names of the callable's parameters where these are names of the contract, else in the order of the contract.
import ctypes, importlib, importlib.util, inspect, json, math, os, struct, sys, time

BATCH_SECONDS, WARM_SECONDS, TRY_SECONDS, BATCH_MOST, GROUP = 200e-6, 20e-3, 5e-3, 4096, 16
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
torch = None
function = None
case = None


def said(error):
    text = " ".join(str(error).split())
    return type(error).__name__ + (": " + text if text else "")


def load(name):
    """FILE.py:FUNCTION, or MODULE:FUNCTION, which may lie in the current folder where Python finds no other. folder_add: base/python.c"""
    where, _, what = name.rpartition(":")
    if where.endswith(".py"):
        spec = importlib.util.spec_from_file_location(os.path.basename(where)[:-3], where)
        found = importlib.util.module_from_spec(spec)
        folder_add(os.path.dirname(os.path.abspath(where)))
        spec.loader.exec_module(found)
    else:
        sys.path.append(os.getcwd())
        found = importlib.import_module(where)
    for part in what.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError("%s is not a function" % name)
    return found


def dtype(name):
    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
    if name not in names:
        raise TypeError("PyTorch has no %s" % name)
    return getattr(torch, names[name])


def tensor(array, path):
    """The array of the contract, in its layout."""
    t = dtype(array["type"])
    size = torch.empty(0, dtype=t).element_size()
    flat = torch.from_file(path, shared=False, size=array["bytes"] // size, dtype=t).cuda()
    return torch.as_strided(flat, array["dim"], array["stride"], array["offset"])


def number(array):
    codes = {"f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
    raw = struct.pack("=Q", array["raw"])
    return struct.unpack("=" + codes[array["type"]], raw[: struct.calcsize("=" + codes[array["type"]])])[0] if array["type"] in codes else None


def bind(given, tensors):
    """How the callable is called: by name where its parameters are names of the contract, else its inputs in order."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = None
    if parameters is not None:
        needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if needed and all(p.name in given for p in needed):
            fits = {p.name: given[p.name] for p in parameters if p.name in given and p.kind != p.POSITIONAL_ONLY}
            first = [given[p.name] for p in parameters if p.kind == p.POSITIONAL_ONLY and p.name in given]
            return lambda: function(*first, **fits)
    return lambda: function(*tensors)


def difference(value, arrays, folder):
    """The largest relative distance of a result from what the kernel has computed; None: there is nothing to compare."""
    outs = [a for a in arrays if a.get("flow") == "out"]
    values = value if isinstance(value, (tuple, list)) else [value]
    most = None
    for array, v in zip(outs, values):
        path = os.path.join(folder, "out." + array["name"])
        if v is None or not os.path.exists(path):
            continue
        if v.dtype != dtype(array["type"]):
            raise TypeError("%s is %s, and the contract says %s: other work is not compared" % (array["name"], str(v.dtype).replace("torch.", ""), array["type"]))
        want = tensor(array, path).double()
        if list(v.shape) != list(want.shape):
            if v.numel() != want.numel():
                raise ValueError("%s has shape %s, and the contract says %s" % (array["name"], list(v.shape), list(want.shape)))
            v = v.reshape(want.shape)
        v = v.double()
        both = torch.isfinite(want) & torch.isfinite(v)
        if not bool((torch.isfinite(want) == torch.isfinite(v)).all()):
            return math.inf
        norm = float(torch.linalg.vector_norm(want[both]))
        apart = float(torch.linalg.vector_norm((v - want)[both]))
        most = max(most or 0.0, apart / norm if norm > 0 else apart)
    return most


def prepare(q):
    global case
    case = None
    torch.cuda.empty_cache()
    given, tensors, folder = {}, [], q["folder"]
    for array in q["arrays"]:
        if "dim" not in array:
            given[array["name"]] = number(array)
        elif array["flow"] != "out":
            given[array["name"]] = tensor(array, os.path.join(folder, "in." + array["name"]))
            tensors.append(given[array["name"]])
    call = bind(given, tensors)
    with torch.no_grad():
        apart = difference(call(), q["arrays"], folder)
    torch.cuda.synchronize()
    case = {"call": call, "graph": True}
    answer = {"work": q["work"], "bytes": q["bytes"], "kernel": q.get("name", ""), "binary": "torch " + torch.__version__, "graph": True}
    if apart is not None:
        answer["difference"] = apart if math.isfinite(apart) else 1e300
    return answer


class Repeated:
    """So many calls, as a graph where the callable can be captured."""

    def __init__(self, call, batch):
        self.call, self.batch, self.graph = call, batch, None
        if not case["graph"]:
            return
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    call()
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                for _ in range(batch):
                    call()
        except Exception:
            torch.cuda.synchronize()
            self.graph, case["graph"] = None, False

    def run(self):
        if self.graph:
            self.graph.replay()
        else:
            for _ in range(self.batch):
                self.call()

    def seconds(self):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        self.run()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) * 1e-3

    def warm(self, seconds):
        """The shortest time: the last call may be delayed arbitrarily, and the chain would then be too short."""
        total, n, least = 0.0, 0, math.inf
        while n < 3 or (total < seconds and n < 1000):
            last = self.seconds()
            least = min(least, last)
            total += last
            n += 1
        return least


def time_warm(samples):
    few = Repeated(case["call"], 1)
    one, batch = few.warm(TRY_SECONDS), 1
    need = min(int(BATCH_SECONDS / one) + 1, BATCH_MOST) if one > 0 else 1
    if need == 1:
        few.warm(WARM_SECONDS)
    for _ in range(2):  # the first is mostly launch: what a longer chain takes tells how long it has to be
        if need <= batch:
            break
        few, batch = Repeated(case["call"], need), need
        one = few.warm(WARM_SECONDS)
        need = min(int(BATCH_SECONDS / one * batch) + 1, BATCH_MOST)
    return [few.seconds() / batch for _ in range(samples)], batch


def time_cold(samples):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    result = []
    for _ in range((samples + GROUP - 1) // GROUP + 1):
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(GROUP)]
        for i, (a, b) in enumerate(events):
            flush.fill_(i)
            a.record()
            case["call"]()
            b.record()
        torch.cuda.synchronize()
        result.append([a.elapsed_time(b) * 1e-3 for a, b in events])
    return [x for group in result[1:] for x in group][:samples], 1


def time_launch(samples, wait):
    result = []
    for i in range(samples + 20):
        begin = time.perf_counter()
        case["call"]()
        if wait:
            torch.cuda.synchronize()
        end = time.perf_counter()
        if i % 64 == 63:
            torch.cuda.synchronize()
        if i >= 20:
            result.append(end - begin)
    torch.cuda.synchronize()
    return result, 1


class Clock:
    """The GPU's clocks, by NVML."""

    def __init__(self):
        self.library = None
        for path in [os.environ.get("LOCKSTEP_LIBNVML"), "libnvidia-ml.so.1"]:
            try:
                library = ctypes.CDLL(path) if path else None
                handle = ctypes.c_void_p()
                if library and library.nvmlInit_v2() == 0 and library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0:
                    self.library, self.handle = library, handle
                    return
            except (OSError, AttributeError):
                pass

    def read(self):
        answer, x = {}, ctypes.c_uint()
        if not self.library:
            return answer
        for key, which in (("sm_mhz", 1), ("memory_mhz", 2)):
            if self.library.nvmlDeviceGetClockInfo(self.handle, which, ctypes.byref(x)) == 0:
                answer[key] = x.value
        if self.library.nvmlDeviceGetPowerUsage(self.handle, ctypes.byref(x)) == 0:
            answer["power_mw"] = x.value
        if self.library.nvmlDeviceGetTemperature(self.handle, 0, ctypes.byref(x)) == 0:
            answer["celsius"] = x.value
        return answer


def answer(q):
    global torch, function, clock
    if q["do"] == "open":
        import torch as found

        torch = found
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no GPU")
        function, clock = load(q["call"]), Clock()
        return {"gpu": torch.cuda.get_device_name(0), "arch": 0}
    if q["do"] == "case":
        return prepare(q)
    if q["do"] != "time":
        raise ValueError("a process that times is asked to open, case or time")
    with torch.no_grad():
        if q["mode"] == "warm":
            samples, batch = time_warm(q["samples"])
        elif q["mode"] == "cold":
            samples, batch = time_cold(q["samples"])
        elif q["mode"] in ("launch", "issue"):
            samples, batch = time_launch(q["samples"], q["mode"] == "launch")
        else:
            raise ValueError("a Python callable is not timed with its copies")
    return dict(clock.read(), samples=samples, batch=batch, graph=case["graph"])


clock = None
sys.dont_write_bytecode = True
for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except BaseException as error:
        code = 3 if isinstance(error, (ImportError, RuntimeError)) and function is None else 2 if isinstance(error, (TypeError, ValueError, AttributeError, OSError)) else 4
        reply = {"why": said(error)[:800], "code": code}
    out.write(json.dumps(reply) + "\n")
    out.flush()
