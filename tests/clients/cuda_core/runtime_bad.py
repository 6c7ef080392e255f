"""cuda.bindings.runtime has the CUDA runtime inside, without names: it is out of reach."""
from cuda.bindings import runtime

print(runtime.cudaGetDeviceCount())
