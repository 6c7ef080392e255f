/* The page of JSON from standard input, by the public interface. */
#include <lockstep.h>
#include <stdio.h>

int main(void)
{
    static char json[4 << 20];
    char *page = lk_page(json, fread(json, 1, sizeof json, stdin));
    fputs(page ? page : "no page\n", stdout);
    lk_text_free(page);
    return !page;
}
