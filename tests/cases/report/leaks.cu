// regen: no
static float *make_buffer(int n)
{
    float *p;
    cudaMalloc(&p, n * 4);
    return p;
}
float *kept[64];
void a() { kept[0] = make_buffer(10); }
void b() { kept[1] = make_buffer(20); }
int main()
{
    a(); b();
    kept[2] = make_buffer(30);
    kept[3] = make_buffer(40);
    for (int i = 4; i < 9; i++) kept[i] = make_buffer(100 * i);
    float *other;
    cudaMalloc(&other, 4000);
}
