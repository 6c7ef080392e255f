/* What a file says of an address: with libdw its functions, lines and variables; without, the symbols of the file. */
#include "launcher/run_where.h"
#include "base/demangle.h"
#include <elf.h>
#include <stdlib.h>

/* The name of a symbol as its author wrote it, without template arguments and parameters. */
static void symbol_put(const char *symbol, char *out, size_t size)
{
    struct arena mem = { 0 };
    struct demangled d;
    bool mangled = !strncmp(symbol, "_Z", 2) && demangle(&mem, str_of(symbol), &d);
    snprintf(out, size, "%s", mangled ? d.plain : symbol);
    arena_free(&mem);
}

#ifndef NO_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct debug {
    Dwfl *dwfl;
    char *debug_path; /* for libdwfl: where separate debug information lies, NULL: the usual places */
    Dwfl_Callbacks calls;
    struct known { /* files that were opened, or could not be */
        char path[512];
        u64 bias;
        Dwfl_Module *module;
    } * known;
    u32 n, cap;
};

const char *debug_missing(void) { return NULL; }

struct debug *debug_new(void)
{
    struct debug *d = base_need(sizeof *d);
    d->calls.find_elf = dwfl_build_id_find_elf;
    d->calls.find_debuginfo = dwfl_standard_find_debuginfo;
    d->calls.debuginfo_path = &d->debug_path;
    setenv("DEBUGINFOD_URLS", "", 1); /* nothing is fetched over the network */
    d->dwfl = dwfl_begin(&d->calls);
    return d;
}

void debug_free(struct debug *d)
{
    if (!d) return;
    if (d->dwfl) dwfl_end(d->dwfl);
    base_free(d->known);
    base_free(d);
}

static Dwfl_Module *module_of(struct debug *d, const char *path, u64 bias)
{
    for (u32 i = 0; i < d->n; i++)
        if (d->known[i].bias == bias && !strcmp(d->known[i].path, path)) return d->known[i].module;
    NEED_ROOM(d->known, d->n, d->cap, 16);
    struct known *k = &d->known[d->n++];
    *k = (struct known){ .bias = bias };
    snprintf(k->path, sizeof k->path, "%s", path);
    if (!d->dwfl) return NULL;
    dwfl_report_begin_add(d->dwfl);
    k->module = dwfl_report_elf(d->dwfl, path, path, -1, bias, true);
    dwfl_report_end(d->dwfl, NULL, NULL);
    return k->module;
}

static void symbol_name(Dwfl_Module *m, u64 address, char *out, size_t size)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(m, address, &offset, &symbol, NULL, NULL, NULL);
    symbol_put(name ? name : "", out, size);
}

/* The unit of compilation that has a code address, and what is added to its addresses; NULL: none is known. clang
 * writes no table of them (.debug_aranges), so each unit is asked then. */
static Dwarf_Die *unit_of(Dwfl_Module *m, u64 address, Dwarf_Addr *shift)
{
    Dwarf_Die *unit = dwfl_module_addrdie(m, address, shift);
    if (unit) return unit;
    while ((unit = dwfl_module_nextcu(m, unit, shift)) && dwarf_haspc(unit, address - *shift) <= 0) {}
    return unit;
}

/* The file and the line of a code address; NULL: not known. */
static const char *line_of(Dwfl_Module *m, Dwarf_Die *unit, u64 address, Dwarf_Addr shift, int *number, int *column)
{
    Dwfl_Line *line = dwfl_module_getsrc(m, address);
    if (line) return dwfl_lineinfo(line, NULL, number, column, NULL, NULL);
    Dwarf_Line *own = unit ? dwarf_getsrc_die(unit, address - shift) : NULL;
    if (!own || dwarf_lineno(own, number)) return NULL;
    return dwarf_linesrc(own, NULL, NULL);
}

/* The scopes around a code address, the innermost first, of the code as it is: an inlined function's are followed by
 * those of its caller. */
static int scopes_at(Dwarf_Die *unit, u64 address, Dwarf_Die **out)
{
    Dwarf_Die *some = NULL;
    *out = NULL;
    if (dwarf_getscopes(unit, address, &some) <= 0) return 0;
    Dwarf_Die first = some[0];
    base_free(some); /* libdw gives memory of malloc, which base_free takes */
    int n = dwarf_getscopes_die(&first, out);
    return n > 0 ? n : 0;
}

static u64 attribute(Dwarf_Die *die, unsigned which)
{
    Dwarf_Attribute a;
    Dwarf_Word x = 0;
    return dwarf_attr_integrate(die, which, &a) && !dwarf_formudata(&a, &x) ? x : 0;
}

static const char *file_at(Dwarf_Die *unit, u64 index)
{
    Dwarf_Files *files;
    size_t n;
    if (dwarf_getsrcfiles(unit, &files, &n) || index >= n) return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &a));
}

static void debug_function(Dwarf_Die *die, struct host_frame *f)
{
    Dwarf_Attribute a;
    Dwarf_Die type, plain;
    int line = 0;
    f->declared = dwarf_decl_line(die, &line) ? 0 : (u32)line;
    f->is_pointer = dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &a), &type) &&
                    !dwarf_peel_type(&type, &plain) && dwarf_tag(&plain) == DW_TAG_pointer_type;
}

u32 debug_frames(struct debug *d, const char *path, u64 bias, u64 address, struct host_frame out[FRAMES_AT])
{
    Dwfl_Module *m = module_of(d, path, bias);
    Dwarf_Addr shift = 0;
    u32 n = 0;
    out[0] = (struct host_frame){ .line = 0 };
    if (!m) return 1;
    Dwarf_Die *unit = unit_of(m, address, &shift), *scope = NULL;
    int number = 0, column = 0, scopes = unit ? scopes_at(unit, address - shift, &scope) : 0;
    const char *file = line_of(m, unit, address, shift, &number, &column);
    for (int i = 0; i < scopes && n < FRAMES_AT; i++) {
        int tag = dwarf_tag(&scope[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        const char *name = name_of(&scope[i]);
        struct host_frame *f = &out[n++];
        *f = (struct host_frame){ .line = (u32)number, .column = (u32)column };
        debug_function(&scope[i], f);
        snprintf(f->function, sizeof f->function, "%s", name ? name : "");
        snprintf(f->file, sizeof f->file, "%s", file ? file : "");
        if (tag == DW_TAG_subprogram) break;
        file = file_at(unit, attribute(&scope[i], DW_AT_call_file));
        number = (int)attribute(&scope[i], DW_AT_call_line);
        column = (int)attribute(&scope[i], DW_AT_call_column);
    }
    base_free(scope); /* libdw gives memory of malloc, which base_free takes */
    if (n) return n;
    symbol_name(m, address, out[0].function, sizeof out[0].function);
    if (file) snprintf(out[0].file, sizeof out[0].file, "%s", file);
    out[0].line = (u32)number;
    return 1;
}

/* ---- variables ---- */

/* "[2]" and ".x": what lies `offset` bytes into a variable of this type. */
static void part_add(Dwarf_Die *type, u64 offset, char *name, size_t size, u32 depth)
{
    Dwarf_Die plain, member, element;
    Dwarf_Attribute a;
    size_t n = strlen(name);
    if (depth > 6 || dwarf_peel_type(type, &plain) || n + 24 > size) return;
    int tag = dwarf_tag(&plain);
    if (tag == DW_TAG_array_type && dwarf_formref_die(dwarf_attr_integrate(&plain, DW_AT_type, &a), &element)) {
        Dwarf_Word bytes = 0;
        if (dwarf_aggregate_size(&element, &bytes) || !bytes) return;
        snprintf(name + n, size - n, "[%llu]", (unsigned long long)(offset / bytes));
        part_add(&element, offset % bytes, name, size, depth + 1);
        return;
    }
    if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) || dwarf_child(&plain, &member)) return;
    do {
        Dwarf_Die of;
        Dwarf_Word bytes = 0;
        if (dwarf_tag(&member) != DW_TAG_member || !dwarf_diename(&member)) continue;
        u64 at = attribute(&member, DW_AT_data_member_location);
        if (!dwarf_formref_die(dwarf_attr_integrate(&member, DW_AT_type, &a), &of) ||
            dwarf_aggregate_size(&of, &bytes) || offset < at || offset >= at + bytes)
            continue;
        snprintf(name + n, size - n, ".%.60s", dwarf_diename(&member));
        part_add(&of, offset - at, name, size, depth + 1);
        return;
    } while (!dwarf_siblingof(&member, &member));
}

/* How many bytes a variable has, and its type; false: not known. */
static bool type_of(Dwarf_Die *variable, Dwarf_Die *type, u64 *bytes)
{
    Dwarf_Attribute a;
    Dwarf_Word n = 0;
    if (!dwarf_formref_die(dwarf_attr_integrate(variable, DW_AT_type, &a), type) || dwarf_aggregate_size(type, &n))
        return false;
    *bytes = n;
    return true;
}

static bool named(Dwarf_Die *variable, u64 offset, char *name, size_t size)
{
    Dwarf_Die type;
    u64 bytes;
    const char *what = name_of(variable);
    if (!what || !type_of(variable, &type, &bytes) || offset >= bytes) return false;
    snprintf(name, size, "%.80s", what);
    part_add(&type, offset, name, size, 0);
    return true;
}

/* Where a variable lies, if its location is a single operation: `op` with a number. */
static bool location(Dwarf_Die *variable, u64 code, u8 op, s64 *number)
{
    Dwarf_Attribute a;
    Dwarf_Op *expression;
    size_t n;
    if (!dwarf_attr_integrate(variable, DW_AT_location, &a)) return false;
    if (code ? dwarf_getlocation_addr(&a, code, &expression, &n, 1) != 1 : dwarf_getlocation(&a, &expression, &n) != 0)
        return false;
    if (n != 1 || expression[0].atom != op) return false;
    *number = (s64)expression[0].number;
    return true;
}

static bool global_in(Dwarf_Die *scope, u64 address, char *name, size_t size, u32 depth)
{
    Dwarf_Die die;
    if (depth > 4 || dwarf_child(scope, &die)) return false;
    do {
        s64 at;
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_namespace && global_in(&die, address, name, size, depth + 1)) return true;
        if (tag == DW_TAG_variable && location(&die, 0, DW_OP_addr, &at) && (u64)at <= address &&
            named(&die, address - (u64)at, name, size))
            return true;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

void debug_global(struct debug *d, const char *path, u64 bias, u64 address, char *name, size_t size)
{
    Dwarf_Addr low, high, shift;
    Dwfl_Module *m = module_of(d, path, bias);
    name[0] = 0;
    if (!m || !dwfl_module_info(m, NULL, &low, &high, NULL, NULL, NULL, NULL) || address < low || address >= high)
        return;
    Dwarf *dwarf = dwfl_module_getdwarf(m, &shift);
    Dwarf_CU *unit = NULL, *next;
    Dwarf_Die die;
    u8 kind;
    while (dwarf && !dwarf_get_units(dwarf, unit, &next, NULL, &kind, &die, NULL)) {
        if (kind == DW_UT_compile && global_in(&die, address - shift, name, size, 0)) return;
        unit = next;
    }
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *known = dwfl_module_addrinfo(m, address, &offset, &symbol, NULL, NULL, NULL);
    if (known && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && offset < symbol.st_size) {
        if (!offset)
            snprintf(name, size, "%.80s", known);
        else if (symbol.st_size % 8 == 0 && offset % 8 == 0)
            snprintf(name, size, "%.80s[%llu]", known, (unsigned long long)offset / 8);
    }
}

/* ---- variables of a frame ---- */

#if defined __x86_64__
enum { FRAME = 6, STACK = 7 }; /* the numbers that DWARF has for the frame pointer and the stack pointer */
#else
enum { FRAME = 29, STACK = 31 };
#endif

/* What the description of a frame says at an instruction: distances to its end (DWARF's canonical frame address). */
struct rule {
    bool by_stack, by_record; /* which of them are known */
    s64 stack;                /* from the stack pointer */
    s64 record;               /* from where the caller's frame pointer is kept: there the frame pointer leads */
};

static struct rule rule_at(Dwfl_Module *m, u64 code)
{
    struct rule r = { 0 };
    Dwarf_Addr shift;
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(m, &shift);
    Dwarf_Frame *frame;
    Dwarf_Op *ops, room[3];
    size_t n;
    if (!cfi || dwarf_cfi_addrframe(cfi, code - shift, &frame)) return r;
    if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1) {
        r.by_stack = (ops[0].atom == DW_OP_bregx && ops[0].number == STACK) || ops[0].atom == DW_OP_breg0 + STACK;
        r.stack = (s64)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
    }
    if (!dwarf_frame_register(frame, FRAME, room, &ops, &n) && n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
        ops[1].atom == DW_OP_plus_uconst) {
        r.by_record = true;
        r.record = -(s64)ops[1].number;
    }
    base_free(frame); /* libdw gives memory of malloc, which base_free takes */
    return r;
}

/* An address of a frame, counted from each place that variables are described from. */
enum {
    FROM_END,
    FROM_RECORD,
    FROM_STACK,
    FROM_BASE,
    FROM_COUNT
}; /* RECORD: the frame pointer, BASE: of the function */
struct debug_place {
    u64 code; /* the instruction, as the file has it */
    struct {
        bool known;
        s64 bytes;
    } from[FROM_COUNT];
};

/* gcc says that the frame base of a function is the end of the frame, clang that it is a register. */
static void base_of(Dwarf_Die *function, struct debug_place *p)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &a) ||
        dwarf_getlocation_addr(&a, p->code, &ops, &n, 1) != 1 || n != 1)
        return;
    if (ops[0].atom == DW_OP_call_frame_cfa) p->from[FROM_BASE] = p->from[FROM_END];
    if (ops[0].atom == DW_OP_reg0 + FRAME) p->from[FROM_BASE] = p->from[FROM_RECORD];
    if (ops[0].atom == DW_OP_reg0 + STACK) p->from[FROM_BASE] = p->from[FROM_STACK];
}

static bool local_in(Dwarf_Die *scope, const struct debug_place *p, char *name, size_t size)
{
    static const u8 op[FROM_COUNT] = {
        [FROM_RECORD] = DW_OP_breg0 + FRAME, [FROM_STACK] = DW_OP_breg0 + STACK, [FROM_BASE] = DW_OP_fbreg
    };
    Dwarf_Die die;
    if (dwarf_child(scope, &die)) return false;
    do {
        s64 at;
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
        for (u32 i = FROM_RECORD; i < FROM_COUNT; i++)
            if (p->from[i].known && location(&die, p->code, op[i], &at) && at <= p->from[i].bytes &&
                named(&die, (u64)(p->from[i].bytes - at), name, size))
                return true;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

void debug_local(struct debug *d, const char *path, u64 bias, u64 code, u64 offset, bool has_end, s64 end, char *name,
                 size_t size, u32 *owner)
{
    Dwfl_Module *m = module_of(d, path, bias);
    Dwarf_Addr shift = 0;
    name[0] = 0;
    *owner = 0;
    Dwarf_Die *unit = m ? unit_of(m, code, &shift) : NULL, *scope = NULL;
    if (!unit) return;
    struct rule r = rule_at(m, code);
    if (r.by_stack) end = (s64)offset - r.stack; /* better than a register that was found */
    bool known = r.by_stack || has_end;
    struct debug_place p = { .code = code - shift,
                             .from = { [FROM_END] = { known, end },
                                       [FROM_RECORD] = { known && r.by_record, end + r.record },
                                       [FROM_STACK] = { true, (s64)offset } } };
    int scopes = scopes_at(unit, p.code, &scope), function = 0;
    while (function < scopes && dwarf_tag(&scope[function]) != DW_TAG_subprogram) function++;
    if (function < scopes) {
        base_of(&scope[function], &p);
        for (int i = 0; i <= function && !local_in(&scope[i], &p, name, size); i++)
            *owner += dwarf_tag(&scope[i]) == DW_TAG_inlined_subroutine;
    }
    base_free(scope); /* libdw gives memory of malloc, which base_free takes */
}

#else /* without libdw */

struct debug {
    u32 unused; /* nothing is kept open */
};
const char *debug_missing(void) { return "libdw (libdw-dev when lockstep is built)"; }
struct debug *debug_new(void) { return base_need(sizeof(struct debug)); }
void debug_free(struct debug *d) { base_free(d); }

/* The symbol whose extent holds the address, of either table of the file. */
static void debug_symbol(struct str file, u64 address, bool code, char *out, size_t size)
{
    Elf64_Ehdr h;
    if (file.n < sizeof h || memcmp(file.p, ELFMAG, SELFMAG) != 0) return;
    memcpy(&h, file.p, sizeof h);
    for (u32 i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr table, text;
        u64 at = h.e_shoff + (u64)i * sizeof table; /* may wrap around, and is inside or outside as any other */
        if (at > file.n || sizeof table > file.n - at) return;
        memcpy(&table, file.p + at, sizeof table);
        at = h.e_shoff + (u64)table.sh_link * sizeof text;
        if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
        if (at > file.n || sizeof text > file.n - at) continue;
        memcpy(&text, file.p + at, sizeof text);
        if (table.sh_offset > file.n || table.sh_size > file.n - table.sh_offset || text.sh_offset > file.n ||
            text.sh_size > file.n - text.sh_offset)
            continue;
        for (u64 k = 0; k + sizeof(Elf64_Sym) <= table.sh_size; k += sizeof(Elf64_Sym)) {
            Elf64_Sym s;
            memcpy(&s, file.p + table.sh_offset + k, sizeof s);
            if (ELF64_ST_TYPE(s.st_info) != (code ? STT_FUNC : STT_OBJECT) || address - s.st_value >= s.st_size ||
                s.st_name >= text.sh_size)
                continue;
            const char *name = file.p + text.sh_offset + s.st_name;
            if (!memchr(name, 0, text.sh_size - s.st_name)) continue;
            symbol_put(name, out, size);
            return;
        }
    }
}

u32 debug_frames(struct debug *d, const char *path, u64 bias, u64 address, struct host_frame out[FRAMES_AT])
{
    struct str file;
    (void)d;
    out[0] = (struct host_frame){ .line = 0 };
    if (!file_read_if(path, &file)) return 1;
    debug_symbol(file, address - bias, true, out[0].function, sizeof out[0].function);
    base_free((void *)(uintptr_t)file.p);
    return 1;
}

void debug_global(struct debug *d, const char *path, u64 bias, u64 address, char *name, size_t size)
{
    struct str file;
    (void)d;
    name[0] = 0;
    if (address < bias || !file_read_if(path, &file)) return;
    debug_symbol(file, address - bias, false, name, size);
    base_free((void *)(uintptr_t)file.p);
}

void debug_local(struct debug *d, const char *path, u64 bias, u64 code, u64 offset, bool has_end, s64 end, char *name,
                 size_t size, u32 *owner)
{
    (void)d, (void)path, (void)bias, (void)code, (void)offset, (void)has_end, (void)end, (void)size;
    *owner = 0;
    name[0] = 0;
}
#endif
