# A cell that is run again and keeps what it allocates: from the second time on it says how much memory it leaves, and in which variable; one that gives it back says nothing.
from _notebook import show

show(
    """import numpy as np
from numba import cuda
history = []
scratch = cuda.device_array(100, np.float32)""",
    *["""history.append(cuda.to_device(np.ones(250_000, np.float32)))"""] * 3,
    *["""scratch = cuda.device_array(1000, np.float32)"""] * 3,
)
