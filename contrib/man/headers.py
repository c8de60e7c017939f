"""The public headers: declarations with their comments, and the pages of section 3 that they make."""
import re

import roff


class Item:
    """A declaration: kind is call, macro, struct, enum or callback."""

    def __init__(self, kind, name, text, comment, header):
        self.kind, self.name, self.text, self.header = kind, name, text, header
        self.parameters, self.returned, self.deaths, self.body = [], [], [], []
        if comment:
            self._read(comment)

    def _read(self, comment):
        """Sorts a comment: paragraphs, parameters, statuses, deaths."""
        plain, current = [], None
        for line in comment:
            parameter = re.match(r"^@param (?:\[[a-z,]+\])? *(\w+(?:, \w+)*) +(.*)", line)
            direction = re.match(r"^@param (\[[a-z,]+\])", line)
            if parameter:
                current = [parameter.group(1), (direction.group(1) if direction else ""), parameter.group(2)]
                self.parameters.append(current)
            elif line.startswith("@return"):
                current = ["", "", line[len("@return"):].strip()]
                self.returned.append(current)
            elif current and line.strip() and not line.startswith("A peer's death:"):
                current[2] += " " + line.strip()
            else:
                current = None
                plain.append(line)
        for part in roff.paragraphs(plain, True):
            (self.deaths if part[0] in ("Death", "A peer's death") else self.body).append(part)


def comment_lines(raw):
    """A comment without its frame."""
    raw = re.sub(r"^/\*+<?|\*+/$", "", raw)
    lines = [re.sub(r"^\s*\* ?", "", line) if n else line.strip() for n, line in enumerate(raw.split("\n"))]
    # a first line /** Text is followed by lines with one more blank
    return [re.sub(r"^ (?=\S)", "", line).rstrip() for line in lines]


def _declaration_end(text, at):
    depth = 0
    for match in re.compile(r"/\*.*?\*/|[{}();]", re.S).finditer(text, at):
        token = match.group()
        if token in "{(":
            depth += 1
        elif token in "})":
            depth -= 1
        if depth == 0 and token == ("}" if text.startswith("static inline", at) else ";"):
            return match.end()
    raise SystemExit("man: a declaration without an end: " + text[at:at + 60])


# of each header the file that a program includes
INCLUDED = {"ucp.h": "keel/ucp.h", "ucp_old.h": "keel/ucp.h", "runtime.h": "keel/runtime.h", "keel_mpi.h": "keel_mpi.h",
            "shmem.h": "shmem.h", "shmem_survive.h": "shmem.h", "shmemx.h": "shmemx.h"}
# of that file the tools that its programs need
TOOLS = {"keel_mpi.h": ("keel-mpicc", "keel-mpirun"), "shmem.h": ("keel-oshcc", "keel-oshrun"),
         "shmemx.h": ("keel-oshcc", "keel-oshrun")}


def included(item):
    return INCLUDED.get(item.header, "keel/keel.h")


def _make_item(declaration, comment, header):
    flat = " ".join(re.sub(r"/\*.*?\*/", "", declaration, flags=re.S).split())
    plain = header == "keel_mpi.h" and re.match(r"[\w ]+[ *]\w+\(.*\);$", flat) and not flat.startswith("typedef")
    if plain or flat.startswith(("KEEL_API ", "SHMEM_API ")):
        flat = re.sub(r" __attribute__\(\(\w+\)\)", "", re.sub(r"^(KEEL|SHMEM)_API ", "", flat))
        return Item("call", re.search(r"(\w+)\(", flat).group(1), flat, comment, header)
    if comment is None and not flat.startswith(("typedef", "enum")):
        return None # inside of an inline function
    if flat.startswith("static inline "):
        flat = flat[len("static inline "):flat.index(" {")] + ";"
        return Item("call", re.search(r"(\w+)\(", flat).group(1), flat, comment, header)
    if "{" in flat:
        name = re.search(r"(\w+);$", flat) or re.match(r"enum (\w+)", flat) or re.match(r"enum { (\w+)", flat)
        return Item("enum" if re.match(r"(typedef )?enum", flat) else "struct", name.group(1), declaration, comment, header)
    if "(*" in flat:
        return Item("callback", re.search(r"\(\*(\w+)\)", flat).group(1), flat, comment, header)
    return None # a handle


def _make_shmem(text, at, comment, header):
    """SHMEM_FUNCTION(result, name, (arguments)): the end, and the call, unless it is one of OpenSHMEM itself."""
    match = re.compile(r"SHMEM_FUNCTION(?:_CTX)?\(([^,]+), (\w+), (.*?)\)\n", re.S).match(text, at)
    if header == "shmem.h":
        return match.end(), None
    return match.end(), _make_item("SHMEM_API %s shmem_%s%s;" % match.groups(), comment, header)


def _make_types(macro, comment, header):
    """#define SHMEM_DECLARE_X(_name, _type): the calls that the macro declares for each type."""
    flat = " ".join(macro.replace("\\\n", " ").split()).replace("_##_name##_", "_TYPENAME_")
    return [_make_item(re.sub(r"\b_type\b", "TYPE", declaration), comment, header)
            for declaration in re.findall(r"SHMEM_API [^;]*;", flat)]


MACRO = r"#define ((?:KEEL|SHMEMX)_\w+(?:\(\w*\))?|shmemx_\w+)\s+(.*)"


def read(path, name):
    """Returns the paragraphs at the head of a header, and its items. In headers of adapters each macro needs a comment."""
    text = open(path, encoding="ascii").read()
    head, items, comment, at = None, [], None, 0
    while at < len(text):
        if text[at].isspace() or text[at] == "}":
            at += 1
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            comment = comment_lines(text[at:end]) if text.startswith("/**", at) else None
            head = comment_lines(text[at:end]) if head is None else head
            at = end
        elif text[at] == "#":
            end = re.compile(r"(?<!\\)\n").search(text, at).end()
            macro = re.match(MACRO, text[at:end])
            if text.startswith("#define SHMEM_DECLARE_", at):
                items += _make_types(text[at:end], comment, name)
            elif macro and (comment or included(Item("", "", "", None, name)) in TOOLS):
                items.append(Item("macro", macro.group(1).split("(")[0], macro.group(), comment, name))
            comment, at = None, end
        elif text.startswith('extern "C" {', at):
            at += len('extern "C" {')
        elif text.startswith("SHMEM_FUNCTION", at):
            at, item = _make_shmem(text, at, comment, name)
            items += [item] if item else []
            comment = None
        elif re.match(r"SHMEM_(TYPES|COMPLEX)\(", text[at:]):
            at = text.index("\n", at)
        else:
            end = _declaration_end(text, at)
            item = _make_item(text[at:end], comment, name)
            items += [item] if item else []
            comment, at = None, end
    return head or [], items


# ---- one page ----

def prototype(item):
    """A declaration over several lines, names of parameters in italics."""
    if item.kind == "macro":
        return "\\fB#define " + item.text.split()[1].replace("_ctx", "\\fIctx\\fP\\fB") + "\\fP"
    match = re.match(r"(.*?)(\w+)\((.*)\);$", item.text)
    front, arguments = match.group(1), match.group(3).split(", ")
    indent = len(front) + len(match.group(2)) + 1
    shown = [re.sub(r"(\w+)$", r"\\fI\1\\fP", roff.escape(a, True)) if a != "void" else a for a in arguments]
    lines, line, width = [], "", indent
    for number, (plain, argument) in enumerate(zip(arguments, shown)):
        comma = "," if number + 1 < len(arguments) else ""
        if line and width + len(plain) > 70:
            lines.append(line.rstrip())
            line, width = " " * min(indent, 30), min(indent, 30)
        line += argument + comma + " "
        width += len(plain) + 2
    lines.append(line.rstrip())
    return front + "\\fB" + match.group(2) + "\\fP(" + "\n".join(lines) + ");"


def members(item):
    """(name or declaration, comment) of a struct's fields or an enum's constants."""
    inner = item.text[item.text.index("{") + 1:item.text.rindex("}")]
    found, before, text, depth = [], [], "", 0
    for match in re.compile(r"/\*.*?\*/|[(){},;]|[^/(){},;]+|/", re.S).finditer(inner + ","):
        token = match.group()
        if token.startswith("/**<") and not text.strip():
            found[-1] = (found[-1][0], found[-1][1] + [line.strip() for line in comment_lines(token)])
        elif token.startswith("/*"):
            before = comment_lines(token)
        elif depth == 0 and token == ("," if item.kind == "enum" else ";"):
            if text.strip():
                found.append((" ".join(text.split()), before))
                before, text = [], ""
        else:
            depth += (token in "({") - (token in ")}")
            text += token
    if item.kind == "enum" and text.strip(" ,\n"):
        found.append((" ".join(text.split()).rstrip(","), before))
    return found


def type_section(item):
    """A type: what it is, then its members."""
    out = [".SS " + ("enum " if item.kind == "enum" and not item.name.endswith("_t") and not item.name.isupper() else "") + item.name]
    out.append(roff.blocks(item.body + item.deaths))
    if item.kind in ("callback", "macro"):
        out.append(roff.code([item.text]))
        return "\n".join(o for o in out if o)
    for declaration, comment in members(item):
        name = declaration.split(" = ")[0]
        if name.endswith("_LAST"):
            continue
        value = re.search(r" = (-?\d+)$", declaration)
        tag = "\\fB" + roff.escape(name, True) + ("\\fP (%s)" % value.group(1).replace("-", "\\-") if value else "\\fP")
        lines = [re.sub(r"@return", "Returns", line) for line in comment]
        parts = roff.paragraphs(lines)
        body = ["\\fBDeath:\\fP\n" + roff.sentence(p[2]) if p[0] == "Death" else
                roff.sentence((p[0] + ": " if p[0] else "") + p[2]) for p in parts if p[1] != "code"]
        out.append(roff.tagged(tag, "\n.IP\n".join(body)))
    return "\n".join(o for o in out if o)


def _by_call(items, what):
    """A section of several calls: a heading each where there is more than one."""
    out = []
    for item in items:
        body = what(item)
        if body:
            out.append((".SS %s()\n" % item.name if len(items) > 1 else "") + body)
    return "\n".join(out)


def _parameters(item):
    return "\n".join(roff.tagged("\\fI" + names.replace(", ", "\\fP, \\fI") + "\\fP" + (" " + way if way else ""),
                                 roff.sentence(text)) for names, way, text in item.parameters)


def _returned(item, texts):
    """Statuses as a list. texts: of each status, for one that stands alone or begins a remark."""
    out = []
    for part in re.split(r"[;,.] (?=KEEL_)", " ".join(text for _, _, text in item.returned)):
        match = re.match(r"(KEEL_\w+)(.*)", part)
        if match and match.group(1) in texts:
            rest = match.group(2).rstrip(".")
            rest = re.sub(r"^ \((.*)\)$", r" \1", rest)
            rest = texts[match.group(1)] + rest if rest[:2] in ("", ", ", ". ", " (") else rest.lstrip(": ")
            out.append(roff.tagged("\\fB%s\\fP" % match.group(1), roff.sentence(rest)))
        elif part:
            out.append(".PP\n" + roff.sentence(part))
    return "\n".join(out)


COMMON = """A call of type keel_status_t returns KEEL_OK or a negative error. The statuses below are those that a call itself finds. A
call that communicates may also return KEEL_ERR_ROLLED_BACK, KEEL_ERR_CATASTROPHIC or KEEL_ERR_ISOLATED; see keel(7)."""


def make_page(name, title, calls, types, head, related, meta):
    """The page of a group of calls."""
    heads = [part for part in roff.paragraphs(head, True) if part[2] and not str(part[2]).startswith("Keel: ")]
    described = "\n".join((".SS %s()\n" % c.name if len(calls) > 1 else "") + roff.blocks(c.body) for c in calls)
    includes = sorted({included(c) for c in calls})
    common = roff.prose(COMMON) if includes != ["keel/ucp.h"] and any("keel_status_t" in c.text for c in calls) else ""
    synopsis = ".nf\n" + "\n".join(".B #include <%s>" % i for i in includes) + "\n.PP\n"
    synopsis += "\n.PP\n".join(prototype(c) for c in calls) + "\n.fi"
    deaths = _by_call(calls, lambda c: roff.blocks([["", *part[1:]] for part in c.deaths]))
    note = "Documents named contrib/doc are in share/doc/keel of the installation. [F] is the paper that keel(7) names."
    see = " ,\n".join(".BR %s (%s)" % p for p in [*sorted(related), ("keel", "7"), *((t, "1") for t in TOOLS.get(includes[0], ("keelrun",)))])
    return roff.page(name, 3, meta["date"], meta["version"], "Keel's Library", [
        ("NAME", roff.prose(", ".join(c.name for c in calls) + " - " + title).replace(" - ", " \\- ")),
        ("SYNOPSIS", synopsis),
        ("DESCRIPTION", (roff.blocks(heads) + "\n" if heads else "") + described),
        ("PARAMETERS", _by_call(calls, _parameters)),
        ("RETURN VALUE", "\n".join(b for b in [common, _by_call(calls, lambda c: _returned(c, meta["statuses"]))] if b)),
        ("DEATHS", deaths),
        ("TYPES", "\n".join(type_section(t) for t in types)),
        ("NOTES", roff.prose(note)),
        ("SEE ALSO", see)])
