"""From a wrong element to the lines of a kernel (lockstep._slice), by a trace as `lockstep launch --trace` writes it."""
from lockstep import _slice

TRACE = """#cta\twarp\tlanes\tsource\tptx\tinstruction\tresults <- operands
0\t0\tffffffff\ta.cu:3\ta.ptx:1\tmov.u32 %r1, %tid.x\t%r1=lane
0\t0\tffffffff\th.cuh:9 (in twice, called at a.cu:4)\ta.ptx:2\tadd.f32 %f2, %f1, %f1\t%f2=2 <- %f1=1 %f1=1
0\t1\tffffffff\ta.cu:8\ta.ptx:2\tadd.f32 %f2, %f1, %f1\t%f2=2 <- %f1=1 %f1=1
0\t0\tffffffff\ta.cu:5\ta.ptx:3\tmul.wide.u32 %rd1, %r1, 4\t%rd1=4*lane <- %r1=lane
0\t0\tffffffff\ta.cu:6\ta.ptx:4\tadd.f32 %f9, %f1, %f1\t%f9=2 <- %f1=1 %f1=1
0\t0\tffffffff\ta.cu:7\ta.ptx:5\tst.global.f32 [%rd1], %f2\t<- %rd1=y+0x0+4*lane %f2=2
"""


def test_lines_that_compute_an_element():
    found = _slice.backward(_slice.read(TRACE), "y", 8, "a.cu")
    assert found.stored == 7 and sorted(found.lines) == [3, 4, 5, 7]  # not 6, which computes something else, nor another warp's 8


def test_an_array_that_nobody_stores_to():
    assert _slice.backward(_slice.read(TRACE), "z", 0, "a.cu") == _slice.Slice()
