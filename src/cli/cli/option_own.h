/* enum own_option: OWN_GRID and the like, one for each row of the verb whose options a file reads, so that its switch
 * over them has no default and the compiler refuses a row that nobody reads (-Wswitch). The file says which verb, and
 * includes this once:
 *
 *     #define OPTIONS_launch OWN_ROWS
 *     #include "cli/option_own.h"
 *
 * Rows of COMPILER_OPTIONS and REPORT_OPTIONS, which several verbs share, are left out: they are read by
 * compiling_option and reporting_option, whose files define OWN_GROUP_COMPILER or OWN_GROUP_REPORT and have those
 * alone. It has no guard: it is for one .c file. */
#define OWN_ROWS ~, OWN_TAKE
#define OWN_TAKE(verb, ID) OWN_##ID = O_##verb##_##ID,
#define OWN_LEAVE(verb, ID)
#define OWN_SECOND(first, second, ...) second
/* OWN_TAKE where the argument is a macro that stands for OWN_ROWS, otherwise OWN_LEAVE. */
#define OWN_PICK(probe) OWN_SECOND(probe, OWN_LEAVE, )
#ifdef OWN_GROUP_COMPILER
#define COMPILER_OPTION(verb, ID, name, operand, text) OWN_PICK(OPTIONS_##verb)(verb, ID)
#elif defined OWN_GROUP_REPORT
#define REPORT_OPTION(verb, ID, name, operand, text) OWN_PICK(OPTIONS_##verb)(verb, ID)
#else
#define OPTION(verb, ID, name, operand, text) OWN_PICK(OPTIONS_##verb)(verb, ID)
#define COMPILER_OPTION(verb, ID, name, operand, text)
#define REPORT_OPTION(verb, ID, name, operand, text)
#endif
enum own_option {
#include "cli/option_rows.h"
};
