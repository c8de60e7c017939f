/*
 * The hierarchy as nested boxes, the ranks as cells in the colour of their group: whoever loses a box sees which groups
 * lose how many.
 */
#include "tools/topo_view.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { CELL_WIDTH = 30, CELL_HEIGHT = 18, GAP = 6, TITLE = 15, LETTER = 7, FOOT = 40, WIDTH_MIN = 560 };

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
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c < 0x20) {
            fputc('?', stream);
        } else if ((c >= 0x7f) || (strchr("<>&\"'", c) != NULL)) {
            fprintf(stream, "&#%u;", c);
        } else {
            fputc(c, stream);
        }
    }
}

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

static svg_box_t svg_child_size(const svg_t *svg, uint32_t l, uint32_t child)
{
    return (l == 0) ? (svg_box_t){CELL_WIDTH, CELL_HEIGHT} : svg->box[l - 1][child];
}

/* where children go: row by row, about as many rows as columns */
typedef struct svg_flow {
    uint32_t columns, column;
    unsigned x, y, row_height, width;
} svg_flow_t;

static svg_flow_t svg_flow_begin(uint32_t children)
{
    const double root = sqrt((double)children);

    return (svg_flow_t){.columns = (uint32_t)ceil(root), .x = GAP, .y = TITLE + GAP};
}

/* the place of the next child is flow->x, flow->y until this is called */
static void svg_flow_next(svg_flow_t *flow, svg_box_t child)
{
    flow->x += child.width + GAP;
    flow->width = (flow->x > flow->width) ? flow->x : flow->width;
    flow->row_height = (child.height > flow->row_height) ? child.height : flow->row_height;
    if (++flow->column == flow->columns) {
        flow->y += flow->row_height + GAP;
        flow->x = GAP;
        flow->column = flow->row_height = 0;
    }
}

static svg_box_t svg_measure(const svg_t *svg, uint32_t l, uint32_t element)
{
    const uint32_t begin = svg->view->begin[l][element], end = svg->view->begin[l][element + 1];
    const size_t letters =
        strlen(svg->view->domains->levels[l].name) + 1 + strlen(topo_view_name(svg->view, l, element));
    svg_flow_t flow = svg_flow_begin(end - begin);
    unsigned title = (unsigned)(letters * LETTER) + 2 * GAP;
    uint32_t i;

    for (i = begin; i < end; i++) {
        svg_flow_next(&flow, svg_child_size(svg, l, svg->view->child[l][i]));
    }
    flow.y += (flow.column > 0) ? flow.row_height + GAP : 0;
    return (svg_box_t){(title > flow.width) ? title : flow.width, flow.y};
}

/* ---- drawing -------------------------------------------------------------------------------------------------------- */

/* neighbours in number get colours far apart: turns by the golden angle */
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
    svg_flow_t flow = svg_flow_begin(end - begin);
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

        if (l == 0) {
            svg_rank(svg, child, x + flow.x, y + flow.y);
        } else {
            svg_element(svg, l - 1, child, x + flow.x, y + flow.y);
        }
        svg_flow_next(&flow, svg_child_size(svg, l, child));
    }
}

static void svg_page(const svg_t *svg)
{
    const topo_view_t *view = svg->view;
    const uint32_t top = view->domains->level_count - 1, count = view->domains->levels[top].count;
    svg_flow_t size = svg_flow_begin(count), flow = size;
    unsigned height;
    uint32_t e;

    for (e = 0; e < count; e++) {
        svg_flow_next(&size, svg->box[top][e]);
    }
    height = size.y + ((size.column > 0) ? size.row_height + GAP : 0) + FOOT;
    fprintf(svg->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            (size.width > WIDTH_MIN) ? size.width : WIDTH_MIN, height);
    for (e = 0; e < count; e++) {
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
