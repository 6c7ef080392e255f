"""Oracles of forked.case: each leaves three processes, and says their numbers in the file $FORKED."""
import os, time

from functions import recur


def leave(deep):
    """A process that sleeps; deep 1: of a session of its own, 2: whose parent ends at once."""
    ready, told = os.pipe()
    if os.fork() == 0:
        if deep and os.fork():
            if deep == 2:
                os._exit(0)
            time.sleep(60)
            os._exit(0)
        if deep == 1:
            os.setsid()
        with open(os.environ["FORKED"], "a") as f:
            f.write("%d\n" % os.getpid())
        os.write(told, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)


def stays(x, a, n):
    for deep in range(3):
        leave(deep)
    return recur(x, a, n)


def ends(x, a, n):
    leave(0)
    leave(2)
    os._exit(3)


def hangs(x, a, n):
    stays(x, a, n)
    time.sleep(60)
