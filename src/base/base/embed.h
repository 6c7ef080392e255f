/* embed.h: a file as part of the program. */
#ifndef LOCKSTEP_EMBED_H
#define LOCKSTEP_EMBED_H

/* The bytes of `file`, which is named from the root of the tree, from `name` up to `name`_end, and a 0 after them. The
 * Makefile says that the object depends on the file. Hidden, since labels of the assembler are local: gcc would reach
 * others by the GOT, and on arm64 the linker keeps one entry of it for all of .rodata. */
#define EMBED(name, file)                                                              \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" file "\"\n" #name "_end:\n" \
            ".byte 0\n.popsection\n");                                                 \
    extern __attribute__((visibility("hidden"))) const char name[], name##_end[]

#endif
