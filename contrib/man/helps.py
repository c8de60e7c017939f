"""Man pages of section 1 from what --help prints."""
import re

import roff

OPTION = re.compile(r"^( {1,8})(-\S.*?)(?:  +(\S.*)|)$")


def _split_usage(lines):
    """The lines of the synopsis, with their remarks, and the rest."""
    usage = []
    while lines and (not usage or re.match(r"^ {6,}\S", lines[0])):
        line = lines.pop(0)
        line = re.sub(r"^Usage: ", "", line).strip()
        if usage and not line.startswith("keel"): # goes on with the line above
            line = usage.pop()[0] + " " + line
        command, _, remark = line.partition("  ")
        usage.append((command, remark.strip()))
    return usage, lines


def _synopsis(usage, name):
    out = [".nf"]
    for command, _ in usage:
        command = roff.escape(command, True)
        out.append(re.sub(r"(?<![\w-])" + re.escape(name.replace("-", "\\-")) + r"(?= )", r"\\fB\g<0>\\fP", command))
    return "\n".join([*out, ".fi"])


def _tag(text):
    """Names of options bold, their values in italics."""
    def option(match):
        value = match.group(2) or ""
        return "\\fB" + match.group(1).replace("-", "\\-") + "\\fP" + re.sub(
            r"[\w<>@=.|\[\],]+", lambda m: "\\fI" + m.group().strip("<>") + "\\fP", value)
    return re.sub(r"(--?[\w:-]+)((?:[ =]\[?[\w<>@=.|\[\],]+)?)", option, text)


def _item(lines):
    """The text of an option: prose, and rows NAME - TEXT as a list."""
    out, text = [], []

    def end():
        if text:
            out.append((".IP\n" if out else "") + roff.sentence(" ".join(text)))
            text.clear()

    rows = False
    for line in lines:
        row = re.match(r"^ {8,}(\w+) - (.*)", line)
        if row:
            end()
            out.append((".RS\n" if not rows else "") + roff.tagged("\\fB%s\\fP" % row.group(1), roff.sentence(row.group(2))))
            rows = True
        else:
            if re.match(r"^ +[A-Z]+: ", line): # of a value
                end()
            text.append(line.strip())
    end()
    return "\n".join(out) + ("\n.RE" if rows else "")


def _body(lines):
    """Options, headings between them, and paragraphs."""
    described, options, status = [], [], []
    at = 0
    while at < len(lines):
        line = lines[at]
        option = OPTION.match(line)
        if option:
            text = [option.group(3) or ""]
            indent = len(option.group(1)) + 3
            at += 1
            while at < len(lines) and re.match(r"^ {%d,}\S" % indent, lines[at]) and not OPTION.match(lines[at]):
                text.append(lines[at])
                at += 1
            options.append(roff.tagged(_tag(option.group(2)), _item(text)))
            continue
        if not line.strip():
            at += 1
            continue
        paragraph = []
        while at < len(lines) and lines[at].strip() and not OPTION.match(lines[at]) and (
                not paragraph or lines[at].startswith(" ") == paragraph[0].startswith(" ")):
            if paragraph and re.match(r"(?:Exit )?status: ", lines[at], re.I):
                break
            paragraph.append(lines[at])
            at += 1
        text = " ".join(part.strip() for part in paragraph)
        if re.match(r"(?:Exit )?status: ", text, re.I):
            status.append(text[text.index(":") + 2:])
        elif paragraph[0].startswith(" "):
            described.append(roff.code([part[2:] for part in paragraph]))
        elif options and text.endswith(":") and len(text) < 60 and at < len(lines) and OPTION.match(lines[at]):
            options.append(".SS " + roff.escape(text[:1].upper() + text[1:-1]))
        else:
            described.append(".PP\n" + roff.prose(text))
    return described, options, status


def _status(text):
    """"0, 1 a failure, 2 wrong options." as a list where it has parts with numbers."""
    rows = re.split(r"[;,] (?=\d+ |128 \+ signal)", text.rstrip("."))
    out = []
    for row in rows:
        number = re.match(r"(128 \+ signal|\d+) ?(.*)", row)
        if not number:
            out.append(".PP\n" + roff.prose(row[:1].upper() + row[1:] + "."))
        else:
            out.append(roff.tagged("\\fB%s\\fP" % number.group(1), roff.sentence(number.group(2) or "success")))
    return "\n".join(out)


def make_page(name, section, title, help_text, extra, meta):
    """The page of a tool. extra: further sections, (heading, roff)."""
    usage, rest = _split_usage(help_text.rstrip("\n").split("\n"))
    described, options, status = _body(rest)
    remarks = [roff.tagged("\\fB%s\\fP" % roff.escape(c, True), roff.prose(r[:1].upper() + r[1:] + "."))
               for c, r in usage if r]
    opening = [".PP\n" + roff.prose(meta["opening"])] if meta["opening"] else []
    return roff.page(name, section, meta["date"], meta["version"], "Keel's Tools", [
        ("NAME", name + " \\- " + title),
        ("SYNOPSIS", _synopsis(usage, name)),
        ("DESCRIPTION", "\n".join([*opening, *remarks, *described])),
        ("OPTIONS", "\n".join(options)),
        ("EXIT STATUS", "\n".join(_status(s) for s in status)),
        *extra])
