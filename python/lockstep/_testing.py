"""@lockstep.kernel_test: a test whose launches of the package run on a GPU of its own."""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from ._gpu import Gpu
from .errors import FindingsError


def kernel_test(function: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
    """A test function whose launches are checked: `@lockstep.kernel_test`, or `@lockstep.kernel_test(device="l4", seed=7)` with
    the options of Gpu. Any finding that is an error fails it, whatever the test does with the results, and each launch that
    the seed decides is the same in every run. It needs no pytest, and goes with its fixtures and parameters."""

    def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def test(*args: Any, **named: Any) -> Any:
            gpu = Gpu(**{"seed": 0, "strict": False, **options})
            try:
                with gpu:
                    result = f(*args, **named)
                errors = [x for x in gpu.findings if x.severity == "error"]
                if errors:
                    raise FindingsError("\n\n".join(x.text for x in errors), errors)
                if not gpu.launches:
                    raise AssertionError(f"{f.__name__} launched nothing on the software GPU: its arrays were not those of the host, or it has no launch")
                if not gpu.is_checking():
                    raise AssertionError(f"{f.__name__} checked nothing: every check is off")
                return result
            finally:
                gpu.close()

        return test

    return wrap(function) if function is not None else wrap
