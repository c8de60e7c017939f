/* Names come from files of users: what is UTF-8 is printed as it is, and what is not does not make the whole invalid. */
#include "tools/info/topo_view.h"

unsigned topo_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const unsigned length = (c[0] < 0x80)   ? 1
                            : (c[0] < 0xc2) ? 0
                            : (c[0] < 0xe0) ? 2
                            : (c[0] < 0xf0) ? 3
                            : (c[0] < 0xf5) ? 4
                                            : 0;
    unsigned i;

    for (i = 1; i < length; i++) { /* ends at the end of the text, too */
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if (((c[0] == 0xe0) && (c[1] < 0xa0)) || ((c[0] == 0xf0) && (c[1] < 0x90))) {
        return 0; /* longer than needed */
    }
    if (((c[0] == 0xed) && (c[1] >= 0xa0)) || ((c[0] == 0xf4) && (c[1] >= 0x90))) {
        return 0; /* half of a pair, or beyond the last character */
    }
    return length;
}

const char *topo_utf8_print(FILE *stream, const char *text)
{
    const unsigned length = topo_utf8_length(text);

    fprintf(stream, "%.*s", (length > 0) ? (int)length : 3, (length > 0) ? text : "\xef\xbf\xbd");
    return text + ((length > 0) ? length : 1);
}
