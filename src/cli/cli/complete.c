/* Completion for bash and zsh, from the table: verbs, then the options of the verb, then what an option takes.
 *
 * What to offer follows from the operand: a|b|c those words, FILE and FOLDER names of files (.cu and .ptx where those
 * are meant, and after FILE: its kernels), CARD the devices that `lockstep device` lists, LIST the checks, one
 * after the other with commas, KIND the kinds of findings that `lockstep explain` lists. Anything else is for the user
 * to know. */
#include "cli/cli.h"
#include "cli/host_launch.h"
#include <ctype.h>
#include <lockstep.h>

#define OPTIONS_completion OWN_ROWS
#include "cli/option_own.h"

static bool is_words(const char *operand)
{
    if (!strchr(operand, '|')) return false;
    for (const char *p = operand; *p; p++)
        if (!strchr("|[]", *p) && !islower((unsigned char)*p) && !isdigit((unsigned char)*p)) return false;
    return true;
}

/* The operand of an option that takes one for certain, else "". */
static const char *operand_of(const struct row *o)
{
    return o->kind == ROW_OPTION && o->operand && !operand_optional(o) ? o->operand : "";
}

/* The names of the checks, with a space between. */
static void add_checks(struct text *t)
{
    const char *name, *purpose;
    for (u32 i = 0; (name = lk_check_at(i, &purpose)); i++) text_add(t, "%s%s", i ? " " : "", name);
}

static bool takes_programs(const char *operand) { return strstr(operand, "PROGRAM") != NULL; }
static bool takes_kernels(const char *operand) { return strstr(operand, "FILE.cu") != NULL; }

static void add_words(struct text *t, const char *operand)
{
    for (const char *p = operand; *p; p++)
        if (*p != '[' && *p != ']') /* around what may be left out */
            text_add(t, "%c", *p == '|' ? ' ' : *p);
}

static const struct row *option_of(enum verb_id verb, const char *name)
{
    const struct row *o = NULL;
    while ((o = row_next(o, ROW_OPTION, verb)) && strcmp(o->name, name)) continue;
    return o;
}

/* The option after `after` (NULL: the first) of those that a verb takes: its own, and those of all; profile takes
 * those of launch and run, too, but for names that it has itself. */
static const struct row *option_next(const struct row *after, enum verb_id verb)
{
    const enum verb_id of[] = { verb, VERB_all, VERB_launch, VERB_run };
    u32 n = verb == VERB_profile ? COUNT_OF(of) : 2, k = 0;
    while (after && k < n && of[k] != after->verb) k++;
    for (const struct row *o = after; k < n; k++, o = NULL)
        while ((o = row_next(o, ROW_OPTION, of[k]))) {
            bool had = false;
            for (u32 i = 0; i < k; i++) had |= option_of(of[i], o->name) != NULL;
            if (!had) return o;
        }
    return NULL;
}

/* With a space before each. */
static void add_options(struct text *t, enum verb_id verb)
{
    for (const struct row *o = NULL; (o = option_next(o, verb));) text_add(t, " %s", o->name);
}

/* Whether profile takes this option of another verb. */
static bool is_for_profile(const struct row *o)
{
    const struct row *x = NULL;
    if (o->verb != VERB_launch && o->verb != VERB_run) return false;
    while ((x = option_next(x, VERB_profile)) && x != o) continue;
    return x != NULL;
}

static void bash_value(struct text *t, const struct row *o)
{
    const char *operand = operand_of(o), *verb = o->verb == VERB_all ? "*" : row_next(NULL, ROW_VERB, o->verb)->name;
    if (!operand[0]) return;
    text_add(t, "    %s:%s", verb, o->name);
    if (is_for_profile(o)) text_add(t, " | profile:%s", o->name);
    text_add(t, ") ");
    if (is_words(operand)) {
        text_add(t, "COMPREPLY=($(compgen -W '");
        add_words(t, operand);
        text_add(t, "' -- \"$word\")); return ;;\n");
    } else if (!strcmp(operand, "CARD")) {
        text_add(t, "COMPREPLY=($(compgen -W \"$(lockstep device 2>/dev/null)\" -- \"$word\")); return ;;\n");
    } else if (!strcmp(operand, "LIST")) {
        text_add(t, "local all=; [[ $word != *,* ]] || all=${word%%,*},; COMPREPLY=($(compgen -P \"$all\" -W '");
        add_checks(t);
        text_add(t, "' -- \"${word##*,}\")); return ;;\n");
    } else if (!strcmp(operand, "FOLDER")) {
        text_add(t, "COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n");
    } else if (strstr(operand, "FILE")) {
        text_add(t, "COMPREPLY=($(compgen -f -- \"${word#*=}\")); return ;;\n");
    } else {
        text_add(t, "return ;;\n");
    }
}

/* What a verb takes that is no option. */
static void bash_word(struct text *t, const struct row *verb)
{
    if (is_words(verb->operand)) {
        text_add(t, "    %s) COMPREPLY=($(compgen -W '", verb->name);
        add_words(t, verb->operand);
        text_add(t, "' -- \"$word\")) ;;\n");
    } else if (strstr(verb->operand, "[NAME]")) {
        text_add(t, "    %s) COMPREPLY=($(compgen -W \"$(lockstep %s 2>/dev/null)\" -- \"$word\")) ;;\n", verb->name,
                 verb->name);
    } else if (strstr(verb->operand, "[VERB]")) {
        text_add(t, "    %s) COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\")) ;;\n", verb->name);
    } else if (strstr(verb->operand, "KIND")) {
        text_add(
            t,
            "    %s) COMPREPLY=($(compgen -W \"$(lockstep %s 2>/dev/null | awk '{ print $3 }')\" -- \"$word\")) ;;\n",
            verb->name, verb->name);
    } else if (takes_programs(verb->operand)) {
        text_add(t, "    %s) _lockstep_kernels || COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", verb->name);
    } else if (takes_kernels(verb->operand)) {
        text_add(t,
                 "    %s) _lockstep_kernels || COMPREPLY=($(compgen -f -X '!*.cu' -- \"$word\"; compgen -f -X '!*.ptx' "
                 "-- \"$word\"; compgen -d -- \"$word\")) ;;\n",
                 verb->name);
    } else if (strstr(verb->operand, "FILE")) {
        text_add(t, "    %s) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", verb->name);
    }
}

void complete_bash(struct text *t)
{
    /* Where : is one of COMP_WORDBREAKS, FILE:KERNEL is three words, and only the last one is replied; in quotes, or
     * where it is not one, it is one. A : that follows no file means the file of the launch before. */
    text_add(
        t, "# bash completion for lockstep, made by `lockstep completion bash`\n"
           "_lockstep_kernels() {\n"
           "    local file= part= before= name k=$((COMP_CWORD - 1)) bare=${word#\\\"}\n    bare=${bare#\\'}\n"
           "    if [[ $word == : ]]; then file=$last\n"
           "    elif [[ $last == : ]]; then file=${COMP_WORDS[COMP_CWORD-2]} part=$word\n"
           "    elif [[ $bare == *.cu:* ]]; then file=${bare%%%%.cu:*}.cu\n"
           "    elif [[ $bare == *.ptx:* ]]; then file=${bare%%%%.ptx:*}.ptx\n"
           "    elif [[ $bare == :* ]]; then part=${bare#:} before=: file=:\n"
           "    else return 1; fi\n"
           "    if [[ $bare == \"$file\":* && $word != : ]]; then part=${bare#\"$file\":} before=$file:; fi\n"
           "    while [[ $file != *.cu && $file != *.ptx && $k -gt 1 ]]; do file=${COMP_WORDS[k]%%%%:*} k=$((k - 1)); "
           "done\n"
           "    while IFS= read -r name; do\n"
           "        [[ $name != \"$part\"* ]] || COMPREPLY+=(\"$before$name\")\n"
           "    done < <(lockstep completion --kernels \"$file\" 2>/dev/null)\n"
           "}\n"
           "_lockstep() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n    "
           "local verbs='");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) text_add(t, "%s%s", i ? " " : "", rows[i].name);
    text_add(t, "'\n    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"$verbs --help --version\" -- "
                "\"$word\"))\n        return\n    fi\n"
                "    case $verb:$last in\n");
    for (u32 i = 0; i < row_count; i++) bash_value(t, &rows[i]);
    text_add(t, "    esac\n    if [[ $word == -* ]]; then\n        case $verb in\n");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) {
            text_add(t, "        %s) COMPREPLY=($(compgen -W '", rows[i].name);
            add_options(t, rows[i].verb);
            text_add(t, "' -- \"$word\")) ;;\n");
        }
    text_add(t, "        esac\n        return\n    fi\n    case $verb in\n");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) bash_word(t, &rows[i]);
    text_add(t, "    esac\n}\ncomplete -o filenames -o bashdefault -F _lockstep lockstep\n");
}

/* Inside single quotes and the brackets of _arguments. */
static void zsh_text(struct text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            text_add(t, "'\\''");
        else if (strchr("[]:\\", *s))
            text_add(t, "\\%c", *s);
        else
            text_add(t, "%c", *s);
    }
}

static void zsh_option(struct text *t, const struct row *o)
{
    const char *operand = operand_of(o);
    text_add(t, "                '*%s[", o->name);
    zsh_text(t, o->text);
    text_add(t, "]");
    if (operand[0]) {
        text_add(t, ":");
        zsh_text(t, operand);
        if (is_words(operand)) {
            text_add(t, ":(");
            add_words(t, operand);
            text_add(t, ")");
        } else if (!strcmp(operand, "LIST")) {
            text_add(t, ":_values -s , check ");
            add_checks(t);
        } else {
            text_add(t, ":%s",
                     !strcmp(operand, "CARD")     ? "_lockstep_devices"
                     : !strcmp(operand, "FOLDER") ? "_directories"
                     : strstr(operand, "FILE")    ? "_files"
                                                  : " ");
        }
    }
    text_add(t, "' \\\n");
}

static void zsh_verb(struct text *t, const struct row *verb)
{
    text_add(t, "        %s)\n            _arguments -S \\\n", verb->name);
    for (const struct row *o = NULL; (o = option_next(o, verb->verb));) zsh_option(t, o);
    text_add(t, "                '*:argument:");
    if (is_words(verb->operand)) {
        text_add(t, "(");
        add_words(t, verb->operand);
        text_add(t, ")");
    } else {
        text_add(t, "%s",
                 strstr(verb->operand, "[NAME]")   ? "_lockstep_devices"
                 : strstr(verb->operand, "[VERB]") ? "_lockstep_verbs"
                 : strstr(verb->operand, "KIND")   ? "_lockstep_kinds"
                 : takes_programs(verb->operand)   ? "_lockstep_programs"
                 : takes_kernels(verb->operand)    ? "_lockstep_kernels"
                 : strstr(verb->operand, "FILE")   ? "_files"
                                                   : " ");
    }
    text_add(t, "' ;;\n");
}

void complete_zsh(struct text *t)
{
    text_add(t, "#compdef lockstep\n# zsh completion for lockstep, made by `lockstep completion zsh`\n"
                "_lockstep_devices() {\n    local -a names\n    names=(${(f)\"$(lockstep device 2>/dev/null)\"})\n    "
                "_describe device names\n}\n"
                "_lockstep_kinds() {\n    local -a names\n    names=(${(f)\"$(lockstep explain 2>/dev/null | awk '{ "
                "print $3 }')\"})\n    _describe finding names\n}\n"
                "_lockstep_kernels() {\n    local file\n    local -a names\n"
                "    if [[ $PREFIX == *.cu:* ]]; then file=${PREFIX%%%%.cu:*}.cu\n"
                "    elif [[ $PREFIX == *.ptx:* ]]; then file=${PREFIX%%%%.ptx:*}.ptx\n"
                "    else _files -g \"*.(cu|ptx)\"; return; fi\n"
                "    compset -P \"${(b)file}:\"\n"
                "    names=(${(f)\"$(lockstep completion --kernels ${(Q)file} 2>/dev/null)\"})\n"
                "    compadd -a names\n}\n"
                "_lockstep_programs() {\n    if [[ $PREFIX == *.(cu|ptx):* ]]; then _lockstep_kernels; else _files; "
                "fi\n}\n"
                "_lockstep_verbs() {\n    local -a verbs\n    verbs=(\n");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) {
            text_add(t, "        '%s:", rows[i].name);
            zsh_text(t, rows[i].summary);
            text_add(t, "'\n");
        }
    text_add(t, "    )\n    _describe verb verbs\n}\n"
                "_lockstep() {\n    if (( CURRENT == 2 )); then\n        _lockstep_verbs\n        return\n    fi\n"
                "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) zsh_verb(t, &rows[i]);
    text_add(t, "    esac\n}\nif [ \"$funcstack[1]\" = _lockstep ]; then _lockstep \"$@\"; else compdef _lockstep "
                "lockstep; fi\n");
}

/* ---- the verb ---- */

struct completion_request {
    const char *shell;   /* "bash" or "zsh" */
    const char *kernels; /* --kernels FILE, or NULL */
};

static bool completion_option(void *self, const struct row *o, const char *value, struct error *e)
{
    (void)e;
    switch ((enum own_option)o->id) {
    case OWN_KERNELS: ((struct completion_request *)self)->kernels = value; return true;
    }
    CHECK(!"an option of completion without its case");
}

/* What the file declares, and the instances that its host code launches. */
static int list_kernels(const char *path)
{
    struct arena a = { 0 };
    struct host_code h;
    char *list = lk_file_kernels(path);
    if (!list) return cli_error("cannot read %.200s", path);
    fputs(list, stdout);
    host_code_read(&a, path, &h);
    const char *dot = strrchr(path, '.');
    for (u32 i = 0; dot && !strcmp(dot, ".cu") && i < h.launches; i++) {
        bool again = !strchr(h.launch[i].kernel, '<');
        for (u32 k = 0; k < i; k++) again |= !strcmp(h.launch[k].kernel, h.launch[i].kernel);
        const char *line = arena_printf(&a, "%s\n", h.launch[i].kernel);
        if (!again && !strstr(list, line)) fputs(line, stdout);
    }
    lk_text_free(list);
    arena_free(&a);
    return EXIT_CLEAN;
}

static bool completion_word(void *self, const char *word, struct error *e)
{
    const char **shell = &((struct completion_request *)self)->shell;
    if (*shell || (strcmp(word, "bash") && strcmp(word, "zsh")))
        return error_set(e, ERR_INPUT, "completion takes one shell, bash or zsh, not `%.40s`", word);
    *shell = word;
    return true;
}

int cmd_completion(int argc, char **argv)
{
    struct completion_request asked = { 0 };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_completion, .self = &asked, .option = completion_option, .word = completion_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    if (asked.kernels) return list_kernels(asked.kernels);
    const char *shell = asked.shell;
    if (!shell) return cli_error("completion needs a shell: lockstep completion bash, or zsh");
    struct text t = { 0 };
    if (!strcmp(shell, "bash"))
        complete_bash(&t);
    else
        complete_zsh(&t);
    fwrite(t.p, 1, t.n, stdout);
    text_free(&t);
    return EXIT_CLEAN;
}
