/* Textures and surfaces. */
#include "suite.h"

const struct test image_tests[] = { { 0 } };
