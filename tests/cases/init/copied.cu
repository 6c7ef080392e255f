// Copies what nobody wrote: whole elements, or only the padding of a struct.
struct pair { float value; char tag; };         // three bytes of padding
extern "C" __global__ void copied_bad(float *scratch, float *out)
{
    int i = threadIdx.x;
    if (i < 20)
        scratch[i] = i;
    out[i] = scratch[i];
}
extern "C" __global__ void copied_ok(struct pair *scratch, struct pair *out)
{
    int i = threadIdx.x;
    scratch[i].value = i;
    scratch[i].tag = 'a';
    struct pair *from = &scratch[i];
    asm volatile("{ .reg .b64 v; ld.global.b64 v, [%0]; st.global.b64 [%1], v; }" ::"l"(from), "l"(&out[i]) : "memory");
}
