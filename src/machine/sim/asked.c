/* The table of those whom the machine asks. */
#include "sim/asked.h"
#include <pthread.h>

const struct asked *asked;

void asked_set(const struct asked *parts)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    CHECK(!asked || asked == parts);
    if (!asked) asked = parts;
    pthread_mutex_unlock(&lock);
}
