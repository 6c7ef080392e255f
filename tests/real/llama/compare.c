// compare MODEL [TOKENS]: generates text with llama.cpp on the CPU, gives the same tokens to its GPU backend, and
// compares the scores of every next token. Exit 1 when they differ by more than a hundredth of their spread, or when
// one choice is another.
#include "llama.h"

#include "ggml-backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct llama_context *context_of(const char *file, ggml_backend_dev_t *devices, int layers)
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
    struct llama_context *cpu = context_of(argv[1], none, 0), *dev = context_of(argv[1], gpu, 99);
    const struct llama_model *model = llama_get_model(cpu);
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    int n = llama_vocab_n_tokens(vocab);

    const char *prompt = "Lockstep";
    llama_token tokens[64];
    int count = llama_tokenize(vocab, prompt, (int)strlen(prompt), tokens, 64, true, false), wrong = 0;
    double most = 0;
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
        double spread = sqrt(squares / n - sum / n * (sum / n));
        most = fmax(most, far / spread);
        tokens[0] = largest(a, n);
        count = 1;
        wrong += largest(b, n) != tokens[0];
        printf(" %d", tokens[0]);
    }
    printf("\n%d of %d choices differ; the scores differ by %.5f of their spread at most\n", wrong, more + 1, most);
    llama_free(cpu);
    llama_free(dev);
    llama_model_free((struct llama_model *)model);
    llama_free(dev);
    return wrong || !(most < 0.01);
}
