// regen: no
#include <only_templates.cuh>
