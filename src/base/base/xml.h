/* xml.h: XML, written and read.
 *
 * The reader goes as far as files of suppressions need it: elements, text, comments, CDATA, the five entities and
 * character numbers. Attributes, declarations and processing instructions are passed over. It allocates nothing: what
 * it returns points into the text. */
#ifndef LOCKSTEP_XML_H
#define LOCKSTEP_XML_H
#include "base/base.h"

/* A text between tags. Controls, for which XML 1.0 has no place, and marks of direction are spelled out. */
void text_xml(struct text *out, const char *z);
/* In an attribute: the ends of lines are spelled out, too. */
void text_xml_line(struct text *out, const char *z);

enum xml_event { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END, XML_BAD };
enum { XML_DEPTH = 32 }; /* of elements inside each other */
struct xml {
    const char *p, *end;        /* what is left; set these first */
    struct str open[XML_DEPTH]; /* names of the elements that are open */
    u32 depth;
    struct str name; /* XML_OPEN, XML_CLOSE: of the element */
    struct str text; /* XML_TEXT: as written, entities and all; see xml_plain */
    bool closing;    /* the element just opened ends at once: <x/> */
    const char *at;  /* XML_BAD: where */
    const char *why; /* XML_BAD: a sentence */
};
enum xml_event xml_next(struct xml *x);
/* A text with its entities replaced and the blanks around it cut off, in `a`. */
const char *xml_plain(struct arena *a, struct str text);
#endif
