"""Text of comments and of --help as man pages: escapes, fonts, paragraphs and lists."""
import re
import textwrap

WORD = r"[A-Za-z_][A-Za-z_0-9]*"


def escape(text, is_code=False):
    """Characters that roff takes for something else. In code each - is a minus."""
    text = text.replace("\\", "\\e").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    if is_code:
        text = text.replace("-", "\\-")
    else:
        text = re.sub(r"(?<![A-Za-z0-9)\\])-(?=[-A-Za-z0-9])|(?<=-)-(?=[A-Za-z])", r"\\-", text)
    return text


def fonts(text, own=""):
    """One run of prose: calls, constants and options bold, parameters italic. own: the page's names, which get no section."""
    text = escape(text)
    text = re.sub(r"@a (" + WORD + r")", r"\\fI\1\\fP", text)
    text = re.sub(r"(?<![\w/.])(keel[_-]?\w+|KEEL_[A-Z_]+|shmemx?_\w+|SHMEMX_[A-Z_]+)\(\)", r"\\fB\1\\fP()", text)
    text = re.sub(r"(?<![\w\\/])(KEELRUN_[A-Z_]+|KEEL_[A-Z0-9_]+|UCX_[A-Z_]+|SHMEMX?_[A-Z_]+)(?!\w|\\fP)", r"\\fB\1\\fP", text)
    text = re.sub(r"(?<![\w\\/])(keel_\w+_t)\b(\.\w+)?", r"\\fB\1\2\\fP", text)
    text = re.sub(r"(?<![\w\\])((?:\\-){1,2}[a-z][a-z-]*)(?!\w)", r"\\fB\1\\fP", text)
    return re.sub(r"(?<!\w)((?:contrib|share|tests)/[\w/.-]+\w)", r"\\fI\1\\fP", text)


def prose(text):
    """A paragraph, one sentence a line."""
    text = " ".join(text.split())
    lines = []
    for sentence in re.split(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[ ]+(?=\S)", text):
        for line in textwrap.wrap(fonts(sentence), 78, break_long_words=False, break_on_hyphens=False):
            lines.append("\\&" + line if line[:1] in (".", "'") else line)
    return "\n".join(lines)


def sentence(text):
    """A remark of a list as a sentence: with a capital, unless it begins with a name, and a full stop."""
    text = " ".join(text.split())
    first = text.split(" ")[0]
    if first.strip(",.:;'").isalpha() and not first.startswith("keel"):
        text = text[:1].upper() + text[1:]
    return prose(text + ("" if text[-1:] in ".:!?" or not text else "."))


def code(lines):
    """Lines as they are."""
    body = [escape(line, True) for line in lines]
    body = ["\\&" + line if line[:1] in (".", "'") else line for line in body]
    return "\n".join([".PP", ".RS 4", ".nf", *body, ".fi", ".RE"])


def tagged(tag, text):
    """A definition: a tag, which has its fonts already, and blocks of roff or a paragraph."""
    return ".TP 7\n" + tag + "\n" + (text if text else "\\&")


LABEL = re.compile(r"^(A peer's death|[A-Z][a-z]+(?:-[a-z]+)?(?: [a-z]+){0,2})[:.](?:\s|$)")


def paragraphs(lines, is_call=False):
    """Splits lines of a comment into (label, kind, text): kind is text, code, item or term. A call's first sentence is no label."""
    found, current = [], None
    for line in [*lines, ""]:
        stripped = line.strip()
        term = re.match(r"^  (KEEL_[A-Z_]+)   *(.*)", line)
        if not stripped:
            current = None
        elif term:
            current = [term.group(1), "term", term.group(2)]
            found.append(current)
        elif re.match(r"^ ?- ", line):
            current = ["", "item", stripped[2:]]
            found.append(current)
        elif current and current[1] in ("term", "item") and line.startswith("  "):
            current[2] += " " + stripped
        elif line.startswith("    "):
            if not found or found[-1][1] != "code" or (current and current[1] != "code"):
                found.append(["", "code", []])
            current = found[-1]
            current[2].append(line[4:])
        else:
            label = LABEL.match(line) if found or not is_call or line.startswith("Death:") else None
            is_begin = current is None or current[1] != "text"
            if label and (is_begin or line[label.end(1)] == ":"):
                current = [label.group(1), "text", line[label.end():].strip()]
                found.append(current)
            elif is_begin:
                current = ["", "text", stripped]
                found.append(current)
            else:
                current[2] += " " + stripped
    return found


def blocks(parts):
    """Paragraphs as roff; a label is a tag in bold."""
    out = []
    for label, kind, text in parts:
        if kind == "code":
            out.append(code(text))
        elif kind == "term":
            out.append(tagged("\\fB" + label + "\\fP", sentence(text)))
        elif kind == "item":
            out.append(".IP \\(bu 2\n" + prose(text))
        elif label:
            out.append(tagged("\\fB" + label + "\\fP", sentence(text)))
        else:
            out.append(".PP\n" + sentence(text))
    return "\n".join(out)


def page(name, section, date, version, manual, parts):
    """A page of (heading, roff) parts; those without text are left out."""
    out = ['.TH %s %s "%s" "Keel %s" "%s"' % (name.upper(), section, date, version, manual), ".nh", ".ad l"]
    for heading, body in parts:
        if body:
            # the first paragraph follows its heading at once
            body = re.sub(r"\A\.PP\n(?!\.RS)", "", body)
            out += [".SH " + ('"%s"' % heading if " " in heading else heading), body]
    text = "\n".join(out) + "\n"
    return re.sub(r"(\.S[HS] [^\n]*\n)\.PP\n", r"\1", text)
