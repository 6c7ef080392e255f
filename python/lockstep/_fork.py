"""Locks that a fork finds free. A child of os.fork has the locks as they were and none of the threads that would release them: it
would wait for ever where another thread was in a call. So the thread that forks takes every lock first, which is when the other
calls have returned, and both processes release them."""
from __future__ import annotations

import os
import threading
import weakref
from typing import Any, List, Tuple

FIRST, INNER, LAST = range(3)  # in which order locks are taken where one is taken under another
_known: List[Tuple[int, "weakref.ref[Any]"]] = []
_guard = threading.Lock()  # of that list; taken after all of them
_held: List[Any] = []


def lock(order: int) -> Any:
    """A re-entrant lock."""
    made = threading.RLock()
    with _guard:
        _known[:] = [x for x in _known if x[1]() is not None] + [(order, weakref.ref(made))]
    return made


def _begin() -> None:
    while True:
        known = list(_known)
        for _, reference in sorted(known, key=lambda x: x[0]):
            one = reference()
            if one is not None:
                one.acquire()
                _held.append(one)
        _guard.acquire()
        if _known == known:
            return
        _end()  # another thread has made one meanwhile, and may hold it


def _end() -> None:
    _guard.release()
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_begin, after_in_parent=_end, after_in_child=_end)
