/* Includes option.def once: a kind of row that the includer did not define expands to nothing, and all are undefined
 * again at the end. It has no guard: each reader of the table includes it for itself. */
#ifndef VERB
#define VERB(verb, synopsis, summary, about)
#endif
#ifndef OPTION
#define OPTION(verb, ID, name, operand, text)
#endif
#ifndef COMPILER_OPTION
#define COMPILER_OPTION OPTION
#endif
#ifndef REPORT_OPTION
#define REPORT_OPTION OPTION
#endif
#ifndef TITLE
#define TITLE(verb, text)
#endif
#ifndef TERM
#define TERM(verb, name, text)
#endif
#ifndef TEXT
#define TEXT(verb, text)
#endif
#ifndef EXAMPLE
#define EXAMPLE(verb, line, text)
#endif
#ifndef VARIABLE
#define VARIABLE(name, operand, text)
#endif
#ifndef OWN_VARIABLE
#define OWN_VARIABLE(name, operand, text)
#endif
#ifndef EXIT
#define EXIT(code, text)
#endif
#include "cli/option.def"
#undef VERB
#undef OPTION
#undef COMPILER_OPTION
#undef REPORT_OPTION
#undef TITLE
#undef TERM
#undef TEXT
#undef EXAMPLE
#undef VARIABLE
#undef OWN_VARIABLE
#undef EXIT
