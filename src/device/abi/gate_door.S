/* gate_door.S: how an export goes to the gate; included by other files. GATE_DOOR: its number, which is gate_number at that
 * place of the file, and its function, in registers that hold no arguments. */
#if defined __x86_64__
#define GATE_DOOR(symbol, goal)              \
    .globl symbol;                           \
    .type symbol, @function;                 \
    symbol: endbr64;                         \
    mov goal@GOTPCREL(%rip), %r11;           \
    mov $gate_number, %eax;                  \
    jmp *lkgate_enter@GOTPCREL(%rip);        \
    .size symbol, .-symbol;
#else
#define GATE_DOOR(symbol, goal)              \
    .globl symbol;                           \
    .type symbol, %function;                 \
    symbol: hint 34;                         \
    adrp x15, :got:goal;                     \
    ldr x15, [x15, :got_lo12:goal];          \
    movz w14, gate_number & 0xffff;          \
    movk w14, gate_number >> 16, lsl 16;     \
    adrp x16, :got:lkgate_enter;             \
    ldr x16, [x16, :got_lo12:lkgate_enter];  \
    br x16;                                  \
    .size symbol, .-symbol;
#endif
