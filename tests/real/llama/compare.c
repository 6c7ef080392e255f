// compare MODEL [TOKENS [nodes]]: generates text with llama.cpp on the CPU, gives the same tokens to its GPU backend,
// and compares the scores of every next token. The two backends round activations to fewer bits in ways of their own,
// so a difference of a quarter of the scores' spread is no mistake. Exit 1 when it is more, or when a choice is another
// one.
// The scores of the GPU, bit for bit, are summed up in a line of their own: equal on a GPU and under `lockstep run`.
// nodes: a line like that for every operation of the GPU's, to find the first that is not.
#include "llama.h"

#include "ggml-backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A number that tells contents apart (FNV-1a).
static unsigned long long hash_of(const void *data, size_t bytes)
{
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211ull;
    return h;
}

static bool node(struct ggml_tensor *t, bool ask, void *self)
{
    static unsigned long long n;
    (void)self;
    if (ask) return true;
    size_t bytes = ggml_nbytes(t);
    void *data = malloc(bytes);
    ggml_backend_tensor_get(t, data, 0, bytes);
    printf("node %llu: %s(%s) %016llx\n", n++, ggml_op_desc(t), t->name, hash_of(data, bytes));
    free(data);
    return true;
}

static struct llama_context *context_of(const char *file, ggml_backend_dev_t *devices, int layers, bool nodes)
{
    struct llama_model_params m = llama_model_default_params();
    m.devices = devices;
    m.n_gpu_layers = layers;
    struct llama_model *model = llama_model_load_from_file(file, m);
    if (!model) exit(2);
    struct llama_context_params c = llama_context_default_params();
    c.n_ctx = 64;
    c.n_batch = 64;
    c.n_threads = c.n_threads_batch = 2;
    c.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    c.offload_kqv = c.op_offload = layers > 0;
    if (nodes) c.cb_eval = node;
    struct llama_context *ctx = llama_init_from_model(model, c);
    if (!ctx) exit(2);
    return ctx;
}

static int largest(const float *x, int n)
{
    int at = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[at]) at = i;
    return at;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    int more = argc > 2 ? atoi(argv[2]) : 6;
    llama_backend_init();
    ggml_backend_load_all();
    ggml_backend_dev_t gpu[2] = { ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU), NULL }, none[1] = { NULL };
    if (!gpu[0]) {
        printf("llama.cpp has no GPU here\n");
        return 2;
    }
    printf("GPU: %s\n", ggml_backend_dev_description(gpu[0]));
    struct llama_context *cpu = context_of(argv[1], none, 0, false), *dev = context_of(argv[1], gpu, 99, argc > 3);
    const struct llama_model *model = llama_get_model(cpu);
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    int n = llama_vocab_n_tokens(vocab);

    const char *prompt = "Lockstep";
    llama_token tokens[64];
    int count = llama_tokenize(vocab, prompt, (int)strlen(prompt), tokens, 64, true, false), wrong = 0;
    double most = 0;
    unsigned long long all = 0;
    printf("tokens:");
    for (int step = 0; step <= more; step++) {
        if (llama_decode(cpu, llama_batch_get_one(tokens, count)) ||
            llama_decode(dev, llama_batch_get_one(tokens, count)))
            return 2;
        const float *a = llama_get_logits_ith(cpu, -1), *b = llama_get_logits_ith(dev, -1);
        double sum = 0, squares = 0, far = 0;
        for (int i = 0; i < n; i++) {
            sum += a[i];
            squares += (double)a[i] * a[i];
            far = fmax(far, fabs((double)a[i] - b[i]));
            if (!(b[i] == b[i])) far = INFINITY;
        }
        all = all * 31 + hash_of(b, (size_t)n * sizeof *b);
        double spread = sqrt(squares / n - sum / n * (sum / n));
        most = fmax(most, far / spread);
        tokens[0] = largest(a, n);
        count = 1;
        wrong += largest(b, n) != tokens[0];
        printf(" %d", tokens[0]);
    }
    printf("\nscores of the GPU: %016llx\n%d of %d choices differ; the scores differ by %.5f of their spread at most\n",
           all, wrong, more + 1, most);
    struct llama_model *models[] = { (struct llama_model *)model, (struct llama_model *)llama_get_model(dev) };
    llama_free(cpu);
    llama_free(dev);
    for (int i = 0; i < 2; i++) llama_model_free(models[i]);
    return wrong || !(most < 0.25);
}
