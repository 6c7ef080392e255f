#ifndef EXTRA
#define EXTRA 0
#endif
