/*
 * Draws the hierarchy as nested boxes and the ranks as cells in the colour of their group, so that
 * a box shows the groups hit by its loss.
 */
#include "tools/info/topo_view.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define SLENDER 1.3 /* width, of the side of a square */

enum {
    CELL_WIDTH = 30,
    CELL_HEIGHT = 18,
    GAP = 6,
    TITLE = 15,
    LETTER = 7,
    FOOT = 40,
    WIDTH_MIN = 560,
    SHOWN_MAX = 4000
};

typedef struct svg_box {
    unsigned width, height;
} svg_box_t;

typedef struct svg {
    FILE *stream;
    const topo_view_t *view;
    svg_box_t **box; /* by level and element */
} svg_t;

static void svg_text(FILE *stream, const char *text)
{
    while (*text != '\0') {
        const unsigned char c = (unsigned char)*text;

        if ((c < 0x20) || (c == 0x7f)) {
            fputc('?', stream);
            text++;
        } else if (strchr("<>&\"'", c) != NULL) {
            fprintf(stream, "&#%u;", c);
            text++;
        } else {
            text = topo_utf8_print(stream, text);
        }
    }
}

static size_t svg_letters(const char *text)
{
    size_t letters = 0;
    unsigned length;

    for (; *text != '\0'; letters++) {
        length = topo_utf8_length(text);
        text += (length > 0) ? length : 1;
    }
    return letters;
}

/* ---- sizes ---- */

static svg_box_t svg_child_size(const svg_t *svg, uint32_t l, uint32_t child)
{
    return (l == 0) ? (svg_box_t){CELL_WIDTH, CELL_HEIGHT} : svg->box[l - 1][child];
}

/* Placement of children: row by row, a little wider than high. */
typedef struct svg_flow {
    unsigned x, y, row_height, width, limit;
} svg_flow_t;

/* @a area: of all children with gaps; @a widest: of the widest child. */
static svg_flow_t svg_flow_begin(double area, unsigned widest)
{
    const unsigned even = (unsigned)ceil(SLENDER * sqrt(area)) + GAP;

    return (svg_flow_t){.x = GAP, .y = TITLE + GAP, .limit = (even > widest + 2 * GAP) ? even : widest + 2 * GAP};
}

/* Advances to the place of a child of that size: flow->x, flow->y. */
static void svg_flow_place(svg_flow_t *flow, svg_box_t child)
{
    if ((flow->x > GAP) && (flow->x + child.width + GAP > flow->limit)) {
        flow->y += flow->row_height + GAP;
        flow->x = GAP;
        flow->row_height = 0;
    }
}

static void svg_flow_next(svg_flow_t *flow, svg_box_t child)
{
    flow->x += child.width + GAP;
    flow->width = (flow->x > flow->width) ? flow->x : flow->width;
    flow->row_height = (child.height > flow->row_height) ? child.height : flow->row_height;
}

static unsigned svg_title_width(const svg_t *svg, uint32_t l, uint32_t element)
{
    const size_t letters =
        svg_letters(svg->view->domains->levels[l].name) + 1 + svg_letters(topo_view_name(svg->view, l, element));

    return (unsigned)(letters * LETTER) + 2 * GAP;
}

static svg_flow_t svg_flow_of(const svg_t *svg, uint32_t l, uint32_t element)
{
    unsigned widest = svg_title_width(svg, l, element) - 2 * GAP;
    double area = 0;
    uint32_t i;

    for (i = svg->view->begin[l][element]; i < svg->view->begin[l][element + 1]; i++) {
        const svg_box_t child = svg_child_size(svg, l, svg->view->child[l][i]);

        area += (double)(child.width + GAP) * (child.height + GAP);
        widest = (child.width > widest) ? child.width : widest;
    }
    return svg_flow_begin(area, widest);
}

static svg_box_t svg_measure(const svg_t *svg, uint32_t l, uint32_t element)
{
    const uint32_t begin = svg->view->begin[l][element], end = svg->view->begin[l][element + 1];
    svg_flow_t flow = svg_flow_of(svg, l, element);
    const unsigned title = svg_title_width(svg, l, element);
    uint32_t i;

    for (i = begin; i < end; i++) {
        const svg_box_t child = svg_child_size(svg, l, svg->view->child[l][i]);

        svg_flow_place(&flow, child);
        svg_flow_next(&flow, child);
    }
    return (svg_box_t){(title > flow.width) ? title : flow.width, flow.y + flow.row_height + GAP};
}

/* ---- drawing ---- */

/* Draws a rank. Groups with adjacent numbers get distant colours: turns by the golden angle. */
static void svg_rank(const svg_t *svg, uint32_t rank, unsigned x, unsigned y)
{
    const keel_groups_t *groups = svg->view->groups;
    const unsigned hue = (groups != NULL) ? (unsigned)fmod(groups->of_rank[rank] * 137.508, 360.0) : 0;

    fprintf(svg->stream, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"hsl(%u,%d%%,%d%%)\">", x,
            y, CELL_WIDTH, CELL_HEIGHT, hue, (groups != NULL) ? 65 : 0,
            60 + 10 * (int)((groups != NULL) ? groups->of_rank[rank] % 3 : 2));
    fprintf(svg->stream, "<title>rank %u", rank);
    if (groups != NULL) {
        fprintf(svg->stream, ", group %u, member %u of %u", groups->of_rank[rank], groups->index[rank],
                groups->size[groups->of_rank[rank]]);
    }
    fprintf(svg->stream, "</title></rect><text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%u</text>\n",
            x + CELL_WIDTH / 2, y + CELL_HEIGHT - 5, rank);
}

static void svg_element(const svg_t *svg, uint32_t l, uint32_t element, unsigned x, unsigned y)
{
    const topo_view_t *view = svg->view;
    const uint32_t begin = view->begin[l][element], end = view->begin[l][element + 1];
    const svg_box_t *box = &svg->box[l][element];
    svg_flow_t flow = svg_flow_of(svg, l, element);
    uint32_t i;

    fprintf(svg->stream, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\" fill=\"%s\" stroke=\"#777\"/>", x,
            y, box->width, box->height, (l % 2 == 0) ? "#fff" : "#eee");
    fprintf(svg->stream, "<text x=\"%u\" y=\"%u\">", x + GAP, y + TITLE);
    svg_text(svg->stream, view->domains->levels[l].name);
    fputc(' ', svg->stream);
    svg_text(svg->stream, topo_view_name(view, l, element));
    fputs("</text>\n", svg->stream);
    for (i = begin; i < end; i++) {
        const uint32_t child = view->child[l][i];

        svg_flow_place(&flow, svg_child_size(svg, l, child));
        if (l == 0) {
            svg_rank(svg, child, x + flow.x, y + flow.y);
        } else {
            svg_element(svg, l - 1, child, x + flow.x, y + flow.y);
        }
        svg_flow_next(&flow, svg_child_size(svg, l, child));
    }
}

/*
 * A large drawing is scaled to a size that programs can draw and users can scroll; users can
 * magnify the picture.
 */
static void svg_head(FILE *stream, unsigned width, unsigned height)
{
    const unsigned longest = (width > height) ? width : height;
    const double scale = (longest > SHOWN_MAX) ? (double)SHOWN_MAX / longest : 1;

    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %u %u\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            ceil(width * scale), ceil(height * scale), width, height);
}

static void svg_page(const svg_t *svg)
{
    const topo_view_t *view = svg->view;
    const uint32_t top = view->domains->level_count - 1, count = view->domains->levels[top].count;
    svg_flow_t size, flow;
    unsigned height, widest = 0;
    double area = 0;
    uint32_t e;

    for (e = 0; e < count; e++) {
        area += (double)(svg->box[top][e].width + GAP) * (svg->box[top][e].height + GAP);
        widest = (svg->box[top][e].width > widest) ? svg->box[top][e].width : widest;
    }
    size = flow = svg_flow_begin(area, widest);
    for (e = 0; e < count; e++) {
        svg_flow_place(&size, svg->box[top][e]);
        svg_flow_next(&size, svg->box[top][e]);
    }
    height = size.y + size.row_height + GAP + FOOT;
    svg_head(svg->stream, (size.width > WIDTH_MIN) ? size.width : WIDTH_MIN, height);
    for (e = 0; e < count; e++) {
        svg_flow_place(&flow, svg->box[top][e]);
        svg_element(svg, top, e, flow.x, flow.y);
        svg_flow_next(&flow, svg->box[top][e]);
    }
    fprintf(svg->stream, "<text x=\"%d\" y=\"%u\">", GAP, height - FOOT + TITLE);
    if (view->groups == NULL) {
        fputs("no groups: ", svg->stream);
    } else {
        fprintf(svg->stream, "a colour is a group: %u groups of at most %u ranks; parity %s", view->groups->count,
                view->group_size, view->is_dedicated ? "on ranks of its own" : "rotates over the members");
        fprintf(svg->stream, "</text>\n<text x=\"%d\" y=\"%u\">", GAP, height - FOOT + 2 * TITLE);
    }
    svg_text(svg->stream, view->note);
    fputs("</text>\n</svg>\n", svg->stream);
}

keel_status_t topo_print_svg(FILE *stream, const topo_view_t *view)
{
    const uint32_t levels = view->domains->level_count;
    svg_t svg = {.stream = stream, .view = view};
    keel_status_t status = KEEL_OK;
    uint32_t l, e;

    svg.box = keel_alloc(levels * sizeof(*svg.box), "boxes");
    if (svg.box == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (l = 0; (l < levels) && (status == KEEL_OK); l++) {
        svg.box[l] = keel_alloc(view->domains->levels[l].count * sizeof(**svg.box), "boxes");
        status = (svg.box[l] == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
        for (e = 0; (status == KEEL_OK) && (e < view->domains->levels[l].count); e++) {
            svg.box[l][e] = svg_measure(&svg, l, e);
        }
    }
    if (status == KEEL_OK) {
        svg_page(&svg);
    }
    for (l = 0; l < levels; l++) {
        keel_free(svg.box[l]);
    }
    keel_free(svg.box);
    return status;
}
