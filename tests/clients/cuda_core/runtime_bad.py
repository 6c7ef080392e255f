"""cuda.bindings.runtime has the CUDA runtime inside, without names: it is out of reach, but for what cuda.core asks of it."""
from cuda.bindings import runtime
from cuda.core import Device

device = Device()
device.set_current()
device.sync()
print(runtime.cudaGetDeviceCount(), runtime.cudaGetDevice(), device.pci_bus_id)
print(runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrWarpSize, 0))
print(runtime.cudaMalloc(4))
