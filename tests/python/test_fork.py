"""Children of os.fork while other threads of the process call kernels."""
import os
import subprocess
import sys
import textwrap

import lockstep


def test_fork_beside_calls():
    """Each child calls the kernel, too; one that finds a lock taken would wait for ever, and is ended by its alarm."""
    script = textwrap.dedent("""
        import os, signal, sys, threading
        sys.path.insert(0, sys.argv[1])
        import numpy as np, lockstep
        k, x = lockstep.kernel(sys.argv[2]), np.arange(5, dtype=np.float32)
        want, stop = k(x), []
        def call():
            while not stop:
                k(x)
        def make():
            while not stop:
                with lockstep.Gpu(threads=1):
                    k(x)
        threads = [threading.Thread(target=f) for f in (call, call, make)]
        for t in threads:
            t.start()
        ends = []
        for _ in range(4):
            child = os.fork()
            if not child:
                signal.alarm(30)
                os._exit(0 if (k(x) == want).all() else 3)
            ends.append(os.waitpid(child, 0)[1])
        stop.append(1)
        for t in threads:
            t.join()
        print(ends)
    """)
    package = os.path.dirname(os.path.dirname(os.path.abspath(lockstep.__file__)))
    scale = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scale.ptx")
    done = subprocess.run([sys.executable, "-c", script, package, scale], capture_output=True, text=True, timeout=300)
    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr
