// The kernel stands in another file; what is included twice is read once.
#include "included.h"
