"""A ring kernel from Python, by ctypes over liblockstep.so: no GPU is needed, and nothing is compiled where PTX is given.

    LOCKSTEP_LIBRARY=build/liblockstep.so python3 examples/ring.py src/generated/vectors.ptx [sim|gpu]

The structs are those of lockstep.h and lockstep_ring.h, field by field; each begins with its size, which the library compares.
"""
import ctypes as c
import os
import struct
import sys

lib = c.CDLL(os.environ.get("LOCKSTEP_LIBRARY", "liblockstep.so.0"))


class Options(c.Structure):  # lk_options
    _fields_ = [("size", c.c_size_t), ("device", c.c_char_p), ("threads", c.c_uint32), ("seeded", c.c_uint32), ("seed", c.c_uint64),
                ("check", c.c_char_p), ("no_check", c.c_char_p), ("budget", c.c_uint64), ("on", c.c_char_p), ("time_limit", c.c_double),
                ("managed", c.c_char_p), ("any_arch", c.c_uint32)]


class RingOptions(c.Structure):  # lk_ring_options
    _fields_ = [("size", c.c_size_t), ("module", c.c_void_p), ("kernel", c.c_char_p), ("name", c.c_char_p)] + [
        (name, c.c_uint32) for name in ("instances", "threads", "inbox_slots", "outbox_slots", "mail_slots", "inline_bytes", "inbox_policy",
                                        "respond_policy", "mail_policy", "idle_ns")] + [
        ("route", c.c_void_p), ("routes", c.c_uint32), ("topic", c.c_void_p), ("topics", c.c_uint32), ("type", c.c_void_p), ("types", c.c_uint32),
        ("letters", c.c_uint32), ("cooperative", c.c_uint32), ("probe", c.c_uint32), ("log", c.c_void_p), ("self", c.c_void_p)]


class Message(c.Structure):  # lk_ring_message
    _fields_ = [("size", c.c_size_t), ("unit", c.c_uint32), ("type", c.c_uint32), ("id", c.c_uint64), ("data", c.c_void_p), ("bytes", c.c_uint32),
                ("room_bytes", c.c_uint32), ("result", c.c_uint32), ("sequence", c.c_uint64), ("stage", c.c_uint64 * 4)]


for name in ("lk_ring_error", "lk_gpu_error"):
    getattr(lib, name).restype, getattr(lib, name).argtypes = c.c_char_p, [c.c_void_p]
lib.lk_ring_unit_of.restype, lib.lk_ring_unit_of.argtypes = c.c_uint32, [c.c_void_p, c.c_char_p]
lib.lk_ring_ask.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_double]
for name in ("launch", "activate", "deactivate", "drain", "terminate"):
    getattr(lib, "lk_ring_" + name).argtypes = [c.c_void_p, c.c_double]
lib.lk_ring_destroy.argtypes = [c.c_void_p]
lib.lk_gpu_destroy.argtypes, lib.lk_gpu_destroy.restype = [c.c_void_p], None
lib.lk_module_load_file.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
lib.lk_ring_create.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p]


class Ring:
    """A ring of one kernel of a .ptx or .cu file, active from the beginning; `with` ends it."""

    def __init__(self, path, kernel, on="sim", seconds=60.0, **options):
        self.gpu, self.ring, self.seconds = c.c_void_p(), c.c_void_p(), seconds
        module = c.c_void_p()
        asked = Options(size=c.sizeof(Options), on=on.encode())
        if lib.lk_gpu_create(c.byref(asked), c.byref(self.gpu)) or lib.lk_module_load_file(self.gpu, path.encode(), c.byref(module)):
            raise RuntimeError(lib.lk_gpu_error(self.gpu).decode())
        wanted = RingOptions(size=c.sizeof(RingOptions), module=module, kernel=kernel.encode(), **options)
        self.check(lib.lk_ring_create(self.gpu, c.byref(wanted), c.byref(self.ring)))
        self.check(lib.lk_ring_launch(self.ring, seconds))
        self.check(lib.lk_ring_activate(self.ring, seconds))

    def check(self, status):
        if status:
            raise RuntimeError(lib.lk_ring_error(self.ring).decode())

    def ask(self, actor, number, payload, room=0):
        """Sends bytes to an actor and returns the type, the result and the bytes of its response."""
        unit = lib.lk_ring_unit_of(self.ring, actor.encode())
        if unit == 0xffffffff:
            raise LookupError("the kernel has no actor " + actor)
        data = c.create_string_buffer(payload, len(payload))
        message = Message(size=c.sizeof(Message), unit=unit, type=number, data=c.cast(data, c.c_void_p), bytes=len(payload), room_bytes=room)
        response = Message(size=c.sizeof(Message))
        self.check(lib.lk_ring_ask(self.ring, c.byref(message), c.byref(response), self.seconds))
        return response.type, response.result, c.string_at(response.data, response.bytes) if response.bytes else b""

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if not what[0]:
            self.check(lib.lk_ring_drain(self.ring, self.seconds))
        self.check(lib.lk_ring_terminate(self.ring, self.seconds))
        self.check(lib.lk_ring_destroy(self.ring))
        lib.lk_gpu_destroy(self.gpu)


if __name__ == "__main__":
    with Ring(sys.argv[1], "vectors", *sys.argv[2:3], inline_bytes=208) as ring:
        for n in (10, 25, 100):
            a, b = [float(i) for i in range(n)], [0.5 * i for i in range(n)]
            _, result, back = ring.ask("add", 1, struct.pack(f"<II{2 * n}f", n, 0, *a, *b))
            total = struct.unpack(f"<{n}f", back)
            print(n, "elements:", "right" if result == 0 and list(total) == [x + y for x, y in zip(a, b)] else "wrong")
        print("a type that the actor does not take: result", ring.ask("add", 9, b"1234")[1])
        try:
            ring.ask("subtract", 1, b"")
        except LookupError as error:
            print(error)
