"""PyTorch without a kernel of its own: the device, tensors, copies, streams, events, pinned memory."""
import torch

print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0))
print(torch.cuda.get_device_properties(0).multi_processor_count, torch.cuda.get_device_properties(0).total_memory >> 30)
host = torch.arange(1000, dtype=torch.float32)
x = torch.empty(1000, device="cuda")
x.copy_(host)
print("to the device and back", torch.equal(x.cpu(), host), torch.equal(host.cuda().cpu(), host))

stream, first, last = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
pinned = host.pin_memory()
with torch.cuda.stream(stream):
    first.record()
    y = torch.empty(1000, device="cuda")
    y.copy_(pinned, non_blocking=True)
    z = torch.empty_like(y)
    z.copy_(y)
    last.record()
stream.synchronize()
print("streams", pinned.is_pinned(), first.elapsed_time(last) >= 0, last.query(), torch.equal(z.cpu(), host))
view = x[100:200]
print("views", torch.equal(view.cpu(), host[100:200]))
torch.cuda.synchronize()
