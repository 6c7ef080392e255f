/* stream_backend.h: a device for the tests of streams: a pool of worker threads that run the bodies of launches some
 * time after they were started, and bodies whose end the test decides. */
#ifndef LOCKSTEP_STREAM_BACKEND_H
#define LOCKSTEP_STREAM_BACKEND_H
#include "queue/graph.h"
#include "queue/op.h"

struct job {
    struct op *op;
    void (*work)(struct op *op, void *data);
    void *data;
    struct job *next;
};
struct workers {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread[8];
    u32 n;
    bool quit;
    struct job *first, **end;
};

static inline void *worker_main(void *of)
{
    struct workers *w = of;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->first && !w->quit) pthread_cond_wait(&w->wake, &w->lock);
        struct job *j = w->first;
        if (!j) break;
        if (!(w->first = j->next)) w->end = &w->first;
        pthread_mutex_unlock(&w->lock);
        j->work(j->op, j->data);
        op_done(j->op, OP_OK);
        base_free(j);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static inline void workers_open(struct workers *w, u32 n)
{
    *w = (struct workers){ .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .n = n };
    w->end = &w->first;
    for (u32 i = 0; i < n; i++) pthread_create(&w->thread[i], NULL, worker_main, w);
}

static inline void workers_close(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
    for (u32 i = 0; i < w->n; i++) pthread_join(w->thread[i], NULL);
}

/* The body of a launch: hands work to the workers. */
static inline u32 workers_start(struct workers *w, struct op *op, void (*work)(struct op *op, void *data), void *data)
{
    struct job *j = base_need(sizeof *j);
    *j = (struct job){ .op = op, .work = work, .data = data };
    pthread_mutex_lock(&w->lock);
    *w->end = j;
    w->end = &j->next;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    return OP_LATER;
}

/* A body whose end the test decides: it keeps the operation in *data. */
static inline u32 manual(struct op *op, void *data)
{
    __atomic_store_n((struct op **)data, op, __ATOMIC_RELEASE);
    return OP_LATER;
}

static inline struct op_spec manual_launch(struct op **at)
{
    *at = NULL;
    return (struct op_spec){ .kind = OP_LAUNCH, .run = manual, .data = at };
}

static inline bool started(struct op *const *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE) != NULL; }

static inline bool soon(struct op *const *at) /* waits for the threads up to 5 s */
{
    for (int i = 0; i < 50000 && !started(at); i++) thread_sleep_us(100);
    return started(at);
}
#endif
