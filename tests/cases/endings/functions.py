"""References that judge twice.cu."""

seen = set()


def flaky(x):
    """Wrong the first time that it is asked about contents, right after that: a cache that was cold, a race of its own."""
    key = tuple(x)
    new = key not in seen
    seen.add(key)
    return [(3 if new else 2) * v for v in x]


def unknown(x):
    """Knows nothing."""
    return [float("nan")] * len(x)
