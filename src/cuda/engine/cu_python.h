/* cu_python.h: what front/python tells of a script. */
#ifndef LOCKSTEP_CU_PYTHON_H
#define LOCKSTEP_CU_PYTHON_H

/* Launches are asked for the arrays that a script passes, from now on. */
void cu_python_open(void);
#endif
