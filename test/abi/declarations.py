#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""declarations.py HEADER [COMPILER OPTION...]: everything that including HEADER
declares in C, one fact a line, sorted: each struct and union with its size, each
member with offset and type, each typedef, each enumerator with value and enum, each
macro with its text, each function with its prototype.

The compiler says it all: types by its debug information, prototypes by -aux-info,
macros by -dM. So nothing that a header has can be forgotten.
"""
import re
import subprocess
import sys
import tempfile

ENTRY = re.compile(r"^ <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: (\d+)(?: \(DW_TAG_(\w+)\))?")
# readelf of some versions says the form first, such as "(data1) ".
ATTRIBUTE = re.compile(
    r"^ +<[0-9a-f]+> +DW_AT_(\w+) *: (?:\((?!indirect|alt)\w+\) )?(?:\((?:indirect|alt)[^)]*\): )?(.*)$")
QUALIFIERS = {"const_type": "const", "volatile_type": "volatile", "restrict_type": "restrict"}


class Die:
    """An entry of the debug information, with its children."""

    def __init__(self, tag):
        self.tag, self.attributes, self.children = tag, {}, []

    def number(self, name):
        text = self.attributes.get(name)
        return None if text is None else int(text.split()[0], 0)

    @property
    def name(self):
        return self.attributes.get("name")


def read_dies(text):
    dies, path, die = {}, [], None
    for line in text.splitlines():
        if entry := ENTRY.match(line):
            depth, offset, _, tag = entry.groups()
            die = Die(tag)
            dies[int(offset, 16)] = die
            del path[int(depth, 16):]
            if path and tag:
                path[-1].children.append(die)
            path.append(die)
        elif die and (attribute := ATTRIBUTE.match(line)):
            die.attributes[attribute[1]] = attribute[2].strip()
    return dies


class Types:
    def __init__(self, dies):
        self.dies = dies

    def of(self, die):
        """The type that an entry refers to, as a word."""
        reference = die.attributes.get("type")
        if not reference:
            return "void"
        return self.spell(self.dies[int(re.match("<0x([0-9a-f]+)>", reference)[1], 16)])

    def spell(self, die):
        kind = die.tag.removesuffix("_type")
        if die.tag == "pointer_type":
            return self.of(die) + " *"
        if die.tag in QUALIFIERS:
            return self.of(die) + " " + QUALIFIERS[die.tag]
        if die.tag == "array_type":
            bounds = [c.number("upper_bound") for c in die.children if c.tag == "subrange_type"]
            return self.of(die) + "".join("[]" if b is None else f"[{b + 1}]" for b in bounds)
        if die.tag == "subroutine_type":
            return f"{self.of(die)} ({', '.join(self.of(c) for c in die.children)})"
        if die.tag in ("typedef", "base_type"):
            return die.name
        if die.name:
            return {"structure": "struct", "enumeration": "enum"}.get(kind, kind) + " " + die.name
        return f"{kind} {{ {'; '.join(self.contents(die))} }}"

    def contents(self, die):
        """The members or enumerators of a struct, union or enum."""
        for child in die.children:
            if child.tag == "member":
                where = child.number("data_member_location") or child.number("data_bit_offset") or 0
                bits = child.number("bit_size")
                yield f"{child.name or '-'} @{where}{f' bits {bits}' if bits else ''} {self.of(child)}"
            elif child.tag == "enumerator":
                yield f"{child.name} {child.number('const_value')}"

    def members(self, name, die):
        """The facts of a struct's members; of unnamed types also their members."""
        for child, text in zip((c for c in die.children if c.tag == "member"), self.contents(die)):
            reference = re.match("<0x([0-9a-f]+)>", child.attributes["type"])[1]
            inner = self.dies[int(reference, 16)]
            if inner.tag in ("structure_type", "union_type") and not inner.name:
                head = text.partition(" {")[0]
                yield f"member {name} {head} size {inner.number('byte_size')}"
                yield from self.members(f"{name}.{head.split()[0] if child.name else head.split()[1]}", inner)
            else:
                yield f"member {name} {text}"

    def facts(self):
        for die in self.dies.values():
            if die.tag in ("structure_type", "union_type") and die.name:
                name = self.spell(die)
                yield f"type {name} size {die.number('byte_size')}"
                yield from self.members(name, die)
            elif die.tag == "enumeration_type":
                for enumerator in self.contents(die):
                    yield f"enumerator {enumerator} of enum {die.name or '-'}"
            elif die.tag == "typedef":
                yield f"typedef {die.name} = {self.of(die)}"


def prototypes(text):
    for line in text.splitlines():
        # "/* FILE:LINE:NC */ extern int f (int); /* old style */"; F: has a body.
        found = re.match(r"/\* .*:[NI]([CF]) \*/ (.*?);(?: /\*.*)?$", line)
        if not found:
            continue
        prototype = found[2]
        if found[1] == "F":
            # A definition comes with the names of its parameters.
            head, _, parameters = prototype.partition(" (")
            parameters = parameters.removesuffix(")").split(", ")
            parameters = [p if p == "void" else re.sub(r"\w+$", "", p).strip() for p in parameters]
            prototype = f"{head} ({', '.join(parameters)})"
        yield "function " + prototype


def declarations(header, options):
    source = f"#include <{header}>\n"
    with tempfile.TemporaryDirectory() as work:
        def run(*command):
            return subprocess.run(command, input=source, check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
        run("gcc", *options, "-x", "c", "-c", "-", "-g", "-gdwarf-4", "-O0",
            "-fno-eliminate-unused-debug-types", "-aux-info", work + "/prototypes",
            "-o", work + "/object")
        debug = run("readelf", "--debug-dump=info", work + "/object")
        macros = run("gcc", *options, "-x", "c", "-E", "-dM", "-")
        with open(work + "/prototypes", encoding="utf-8") as file:
            facts = set(prototypes(file.read()))
    facts.update(Types(read_dies(debug)).facts())
    facts.update("macro " + " ".join(m.removeprefix("#define ").split()) for m in macros.splitlines())
    return sorted(facts)


if __name__ == "__main__":
    try:
        print("\n".join(declarations(sys.argv[1], sys.argv[2:])))
    except subprocess.CalledProcessError as error:
        sys.exit(f"declarations.py: {error.cmd[0]} failed on <{sys.argv[1]}>")
