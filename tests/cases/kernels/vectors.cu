// Two and four elements an access.
extern "C" __global__ void vectors(const float4 *a, const int4 *b, const double2 *c, const uchar4 *d,
                                   float4 *oa, int4 *ob, double2 *oc, uchar4 *od)
{
    int i = threadIdx.x;
    float4 x = a[i];
    int4 y = b[i];
    double2 z = c[i];
    uchar4 w = d[i];
    oa[i] = make_float4(x.w, x.z, x.y, x.x);
    ob[i] = make_int4(y.x + y.y, y.y - y.z, y.z * y.w, y.w ^ y.x);
    oc[i] = make_double2(z.y, z.x * 2);
    od[i] = make_uchar4(w.w, w.x, w.y, w.z);
}
