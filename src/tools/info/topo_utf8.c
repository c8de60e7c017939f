/*
 * Names come from users' files: valid UTF-8 is printed unchanged, and other bytes do not spoil the
 * rest.
 */
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

    for (i = 1; i < length; i++) { /* also stops at the end of the text */
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if (((c[0] == 0xe0) && (c[1] < 0xa0)) || ((c[0] == 0xf0) && (c[1] < 0x90))) {
        return 0; /* an overlong encoding */
    }
    if (((c[0] == 0xed) && (c[1] >= 0xa0)) || ((c[0] == 0xf4) && (c[1] >= 0x90))) {
        return 0; /* a surrogate, or beyond the last character */
    }
    return length;
}

const char *topo_utf8_print(FILE *stream, const char *text)
{
    const unsigned length = topo_utf8_length(text);

    fprintf(stream, "%.*s", (length > 0) ? (int)length : 3, (length > 0) ? text : "\xef\xbf\xbd");
    return text + ((length > 0) ? length : 1);
}
