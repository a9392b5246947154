"""The Markdown form of an entry: YAML front matter, then the content byte for byte.

Everything from the start of a file to the line that closes the front matter, and one blank line
after it, is the head; the rest is the content. The entry keeps the head as it was read. Rendering
changes only those values in it that say otherwise than the entry is, so that comments, unknown
keys, their order and their form survive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode, YAMLError

from pymem.errors import InvalidArgumentError
from pymem.models import ExportedEntry

MAX_CONTENT = 1 << 20
"""Bytes of the content of an entry, 1 MiB."""
MAX_HEAD = 16 << 10
"""Bytes of the front matter that an entry keeps, 16 KiB."""

MAX_DEPTH = 50
"""Brackets within brackets, or items within items of lists."""

ENTRY_ID = re.compile(r"mem-[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{3,8}")

# Composes nodes, and constructs nothing; in C where PyYAML has it, 15 times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BRACKET = re.compile(r"[\[\]{}]")
_NESTED_ITEMS = re.compile(rf"(?:[-?:] +){{{MAX_DEPTH}}}")

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.M)
_BLANK_LINE = re.compile(r"\r?\n")
_WHITESPACE = re.compile(
    "[ \t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*(?: [A-Za-z0-9_/][A-Za-z0-9_/-]*)*")
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_ALIAS = re.compile(r"[ \t]*:[ \t]+(\*[^\s,\]}]+)")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

TYPES = ("fact", "preference", "pattern", "note")
SOURCES = ("user", "system", "tool", "interaction", "import", "derived")


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """A file as it was read.

    Attributes:
        head: The front matter with its delimiters; empty for a plain file.
        content: The rest.
        values: What the front matter says, by the keys of import_entries; a key that is absent
            from it has the value that this means.
        is_own: Whether the front matter names an entry by its id, and so speaks of all its values.
    """

    head: str
    content: str
    values: dict[str, Any]
    is_own: bool

    def element(self) -> dict[str, Any]:
        """Return the element of import_entries that stores this file."""
        given = {
            key: value.isoformat() if isinstance(value, datetime) else value
            for key, value in self.values.items()
        }
        return given | {"content": self.content, "front_matter": self.head}


def parse(data: bytes) -> MarkdownFile:
    """Read a file.

    Raises:
        InvalidArgumentError: It is no entry; the message says why.
    """
    head, content = _split(_decode(data))
    if len(content.encode()) > MAX_CONTENT:
        raise _refusal("its content is longer than 1 MiB", "Split it into several files.")
    if not _WHITESPACE.sub("", content):
        raise _refusal("its content is empty", "Write something below the front matter.")
    values, is_own = _read(_nodes(_body(head))) if _bounds(head) else ({}, False)
    return MarkdownFile(head, content, values, is_own)


def render(entry: ExportedEntry) -> bytes:
    """Return the file of an entry."""
    head = entry.front_matter
    if head is None:
        head = _fresh_head(entry)
    elif not entry.is_as_imported:
        try:
            head = _edited_head(head, entry)
        except InvalidArgumentError:
            # Not a head that parse has read: somebody wrote it into the metadata.
            head = _fresh_head(entry)
    return (_separated(head, entry.content) + entry.content).encode()


def read_front_matter(data: bytes) -> tuple[dict[str, str | list[str]], str]:
    """Return what the front matter of any file says, and its content.

    Only single values and lists of them: a mapping within counts by its own keys.

    Raises:
        InvalidArgumentError: It is no text, its front matter is broken or it is longer than 1 MiB.
    """
    head, content = _split(_decode(data))
    values: dict[str, str | list[str]] = {}

    def add(nodes: Iterable[tuple[Node, Node]], depth: int) -> None:
        for key, value in nodes:
            if not isinstance(key, ScalarNode):
                continue
            if isinstance(value, ScalarNode):
                values.setdefault(str(key.value), str(value.value))
            elif isinstance(value, SequenceNode):
                values.setdefault(
                    str(key.value),
                    [str(each.value) for each in value.value if isinstance(each, ScalarNode)],
                )
            elif isinstance(value, MappingNode) and depth == 0:
                add(value.value, depth + 1)

    if _bounds(head):
        add(_nodes(_body(head)).values(), 0)
    return values, content


def write_front_matter(values: Mapping[str, Any]) -> str:
    """Return front matter and the blank line below it; keys whose value is None are left out."""
    lines = [f"{key}: {_written(value)}\n" for key, value in values.items() if value is not None]
    return f"---\n{''.join(lines)}---\n\n"


# Bytes, head and content


def _refusal(message: str, hint: str) -> InvalidArgumentError:
    return InvalidArgumentError(message, hint=hint)


def _decode(data: bytes) -> str:
    if len(data) > MAX_CONTENT + MAX_HEAD + 8:
        raise _refusal("it is longer than 1 MiB", "Split it into several files.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _refusal(
            f"it is not UTF-8: byte {data[error.start]:#04x} at {error.start}", "Save it as UTF-8."
        ) from None
    if "\0" in text:
        raise _refusal(
            f"it has a NUL byte at {data.index(0)}, which PostgreSQL cannot store",
            "Remove the byte, or the file if it is no text.",
        )
    return text


def _split(text: str) -> tuple[str, str]:
    start = len(_BOM) if text.startswith(_BOM) else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        return text[:start], text[start:]
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise _refusal(
            "its front matter is not closed", "Close it with a line ---, or remove the first one."
        )
    blank = _BLANK_LINE.match(text, closing.end())
    end = blank.end() if blank else closing.end()
    if len(text[:end].encode()) > MAX_HEAD:
        raise _refusal("its front matter is longer than 16 KiB", "Move some of it to the content.")
    return text[:end], text[end:]


def _bounds(head: str) -> tuple[int, int] | None:
    """Return where the YAML of a head begins and ends; None if there is none."""
    opening = _OPENING.match(head, len(_BOM) if head.startswith(_BOM) else 0)
    if opening is None:
        return None
    closing = _CLOSING.search(head, opening.end())
    return (opening.end(), closing.start()) if closing else None


def _body(head: str) -> str:
    bounds = _bounds(head)
    return head[slice(*bounds)] if bounds else ""


def _separated(head: str, content: str) -> str:
    """Return a head that is read as itself before this content."""
    bounds = _bounds(head)
    if bounds is None:
        if head == "" and content.startswith(_BOM):
            head = _BOM
        return f"{head}---\n---\n" if _OPENING.match(content) else head
    line = "\r\n" if "\r\n" in head else "\n"
    if not head.endswith("\n"):
        head += line
    closing = _CLOSING.match(head, bounds[1])
    has_blank_line = closing is not None and closing.end() < len(head)
    return head if has_blank_line or not _BLANK_LINE.match(content) else head + line


# What front matter says


def _nodes(body: str) -> dict[str, tuple[Node, Node]]:
    """Return the nodes of the keys and values of a YAML mapping; nothing is constructed."""
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(body))
    if max(depths, default=0) > MAX_DEPTH or _NESTED_ITEMS.search(body):
        raise _refusal("its front matter is nested too deeply", "Nest it less.")
    try:
        root = yaml.compose(body, Loader=_LOADER)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise _refusal(
            f"its front matter is not YAML: {where}{problem}", "Correct it, or quote the value."
        ) from None
    except (RecursionError, ValueError) as error:
        raise _refusal(
            f"its front matter is not YAML: {type(error).__name__}", "Nest it less."
        ) from None
    if root is None:
        return {}
    if not isinstance(root, MappingNode):
        raise _refusal(
            "its front matter is no mapping", "Write keys and values, such as type: note."
        )
    nodes: dict[str, tuple[Node, Node]] = {}
    for key, value in root.value:
        if not isinstance(key, ScalarNode):
            continue
        if key.value in nodes:
            raise _refusal(
                f"its front matter has the key {key.value[:100]} twice", "Remove one of them."
            )
        nodes[key.value] = (key, value)
    return nodes


def _is_null(node: Node) -> bool:
    return (
        isinstance(node, ScalarNode)
        and not node.style
        and node.value in ("", "~", "null", "Null", "NULL")
    )


def _scalar(key: str, node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise _refusal(f"its {key} is not a single value", f"Write {key}: and a value.")
    value = str(node.value)
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _refusal(
            f"its {key} has a NUL or half a character, which PostgreSQL cannot store",
            "Remove the escape sequence.",
        )
    return value


def _text(key: str, node: Node) -> str | None:
    value = _scalar(key, node)
    return value if _collapse(value) else None


def _scope(key: str, node: Node) -> str:
    return _collapse(_scalar(key, node))


def _word(*words: str) -> Callable[[str, Node], str]:
    def read(key: str, node: Node) -> str:
        value = _scalar(key, node)
        if value not in words:
            raise _refusal(f"its {key} is unknown: {value[:100]!r}", f"Valid: {', '.join(words)}.")
        return value

    return read


def _number(lowest: float, highest: float) -> Callable[[str, Node], float]:
    def read(key: str, node: Node) -> float:
        value = _scalar(key, node)
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not lowest <= number <= highest:
            raise _refusal(
                f"its {key} is {value[:100]!r}",
                f"Write a number between {lowest:g} and {highest:g}.",
            )
        return number

    return read


def _integer(lowest: int) -> Callable[[str, Node], int]:
    def read(key: str, node: Node) -> int:
        value = _scalar(key, node)
        if not re.fullmatch("[0-9]{1,10}", value) or not lowest <= int(value) < 2**31 - 1:
            raise _refusal(f"its {key} is {value[:100]!r}", f"Write a whole number from {lowest}.")
        return int(value)

    return read


def _flag(key: str, node: Node) -> bool:
    return _word("true", "false")(key, node) == "true"


def _time(key: str, node: Node) -> datetime:
    value = _scalar(key, node)
    try:
        parsed = datetime.fromisoformat(re.sub(r"[ \t]+(?=[-+Z])", "", value.strip()))
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _refusal(
            f"its {key} is {value[:100]!r}, not a time", "Write times such as 2026-03-01T12:00:00Z."
        ) from None


def _collapse(text: str) -> str:
    return _WHITESPACE.sub(" ", text).strip(" ")


def _labels(key: str, node: Node) -> list[str]:
    """Return labels as written: a list, or, as Obsidian has it, a text with commas."""
    if isinstance(node, ScalarNode):
        texts: Iterable[str] = str(node.value).split(",")
    elif isinstance(node, SequenceNode):
        texts = [_scalar(f"item of {key}", each) for each in node.value if not _is_null(each)]
    else:
        raise _refusal(f"its {key} are not a list", f"Write {key}: [one, another].")
    return list(dict.fromkeys(filter(None, map(_collapse, texts))))


def _ids(key: str, node: Node) -> list[str]:
    return sorted(set(_labels(key, node)))


_UNSAID = object()


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the front matter.

    Attributes:
        name: In import_entries.
        read: Reads its value.
        absent: What its absence means; a key without a value means the same. _UNSAID: nothing.
        is_told: Whether an import is told of what its absence means.
        is_shared: Whether it is read, and written, where no id says that the file is ours.
        is_lenient: Whether there a value that does not fit is somebody else's.
    """

    name: str
    read: Callable[[str, Node], Any]
    absent: Any = None
    is_told: bool = True
    is_shared: bool = False
    is_lenient: bool = False


_KEYS = {
    "id": _Key("entry_id", _text, _UNSAID, is_told=False),
    "type": _Key("type", _word(*TYPES), "note", is_shared=True),
    "tags": _Key("tags", _labels, [], is_shared=True),
    "confidence": _Key("confidence", _number(0, 1), 0.8, is_told=False, is_shared=True),
    "created": _Key("created_at", _time, _UNSAID, is_told=False, is_shared=True),
    "updated": _Key("updated_at", _time, _UNSAID, is_told=False, is_shared=True),
    "expires": _Key("expires_at", _time, is_shared=True),
    "source": _Key("source", _word(*SOURCES), "import", is_shared=True, is_lenient=True),
    "related": _Key("related", _ids, [], is_shared=True, is_lenient=True),
    "access_count": _Key("access_count", _integer(0), 0),
    "last_accessed": _Key("last_accessed", _time),
    "category": _Key("category", _text, is_shared=True, is_lenient=True),
    "keywords": _Key("keywords", _labels, [], is_shared=True, is_lenient=True),
    "importance": _Key("importance", _number(0, 10), 5.0, is_shared=True, is_lenient=True),
    "scope": _Key("scope", _scope, "global"),
    "user": _Key("user_id", _text),
    "persona": _Key("persona_id", _text),
    "session": _Key("session_id", _text),
    "version": _Key("version", _integer(1), 1),
    "archived": _Key("archived", _flag, False, is_told=False),
}
"""In the order in which they are written."""

# Written where no id says that the file is ours; confidence only if it is there.
_SHARED = ("type", "tags", "confidence", "expires", "related", "category", "keywords", "importance")


def _read(nodes: dict[str, tuple[Node, Node]]) -> tuple[dict[str, Any], bool]:
    own_id = nodes["id"][1] if "id" in nodes else None
    is_own = isinstance(own_id, ScalarNode) and str(own_id.value).startswith("mem-")
    if is_own and not ENTRY_ID.fullmatch(own_id.value):  # type: ignore[union-attr]
        raise _refusal(
            f"its id is {own_id.value[:100]!r}",  # type: ignore[union-attr]
            "Write an id such as mem-2026-03-01-001, or none.",
        )
    values: dict[str, Any] = {}
    for name, key in _KEYS.items():
        if not is_own and not key.is_shared:
            continue
        if name in nodes and not _is_null(nodes[name][1]):
            try:
                value = key.read(name, nodes[name][1])
                if name == "related" and not is_own and not all(map(ENTRY_ID.fullmatch, value)):
                    raise _refusal("its related are no ids", "Write ids of entries.")
            except InvalidArgumentError:
                if is_own or not key.is_lenient:
                    raise
                value = key.absent
            values[key.name] = value
        elif key.is_told:
            values[key.name] = key.absent
    return values, is_own


# Writing


def _quote(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _written(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
        case float():
            short = f"{value:.2f}"
            return short if float(short) == value else repr(value)
        case list():
            return f"[{', '.join(map(_quote, value))}]"
        case str():
            return _quote(value)
    return str(value)


def _wanted(entry: ExportedEntry) -> dict[str, Any]:
    """Return the value of each key for an entry, as _read returns them."""
    values: dict[str, Any] = {name: getattr(entry, key.name) for name, key in _KEYS.items()}
    return values | {"related": sorted(entry.related)}


def _fresh_head(entry: ExportedEntry) -> str:
    always = ("id", "type", "tags", "confidence", "source", "related", "access_count")
    lines = [
        f"{name}: {_written(value)}\n"
        for name, value in _wanted(entry).items()
        if value is not None and (name in always or value != _KEYS[name].absent)
    ]
    return f"---\n{''.join(lines)}---\n\n"


def _edited_head(head: str, entry: ExportedEntry) -> str:
    """Return a head whose values are those of an entry."""
    bounds = _bounds(head)
    body = _body(head)
    nodes = _nodes(body)
    said, is_own = _read(nodes) if bounds else ({}, False)
    changes: dict[str, Any] = {}
    for name, value in _wanted(entry).items():
        key = _KEYS[name]
        absent = key.absent if is_own or name != "confidence" else _UNSAID
        if name == "updated":
            absent = entry.created_at
        now = said.get(key.name, absent)
        if (is_own or name in _SHARED) and now is not _UNSAID and now != value:
            changes[name] = value
    if not changes:
        return head
    line = "\r\n" if "\r\n" in (head or entry.content) else "\n"
    if bounds is None:
        # A plain file gets front matter only now that there is something to say.
        return f"{head}---{line}{_edited_body('', {}, changes, line)}---{line}{line}"
    return head[: bounds[0]] + _edited_body(body, nodes, changes, line) + head[bounds[1] :]


def _edited_body(
    body: str, nodes: dict[str, tuple[Node, Node]], changes: dict[str, Any], line: str
) -> str:
    """Return YAML with other values; the rest of it stays as it is written."""
    edits: list[tuple[int, int, str]] = []
    added: dict[str, str] = {}
    for name, value in changes.items():
        text = "null" if value is None else _written(value)
        if name not in nodes:
            added[name] = text
            continue
        key, node = nodes[name]
        start, end = node.start_mark.index, _end(node)
        alias = _ALIAS.match(body, key.end_mark.index)
        if alias is not None:
            start, end = alias.span(1)
        elif isinstance(node, SequenceNode) and not node.flow_style and value:
            text = f"{line}{' ' * node.start_mark.column}".join(
                f"- {_quote(item)}" for item in value
            )
        elif isinstance(node, SequenceNode) and not node.flow_style:
            start, text = body.index(":", key.end_mark.index) + 1, f" {text}"
        elif isinstance(node, ScalarNode) and node.style in ("|", ">"):
            text += line
        elif start == end:
            start = end = body.index(":", key.end_mark.index) + 1
            text = f" {text}"
        edits.append((start, end, text))
    edited = body
    for start, end, text in sorted(edits, reverse=True):
        edited = edited[:start] + text + edited[end:]
    if added and edited.rstrip().endswith("}") and _is_flow(edited):
        inner, _, rest = edited.rpartition("}")
        edited = inner + "".join(f", {name}: {text}" for name, text in added.items()) + "}" + rest
    elif added:
        edited += line if edited and not edited.endswith("\n") else ""
        edited += "".join(f"{name}: {text}{line}" for name, text in added.items())
    if not _says(edited, nodes, changes):
        # Anchors, or an end of the document: comments are lost, keys are not.
        edited = _written_anew(nodes, changes).replace("\n", line)
    if not _says(edited, nodes, changes):
        raise _refusal("its front matter cannot be edited", "Simplify it.")
    return edited


def _written_anew(nodes: dict[str, tuple[Node, Node]], changes: dict[str, Any]) -> str:
    values = {
        name: (ScalarNode("tag:yaml.org,2002:str", name), node) for name, (_, node) in nodes.items()
    }
    for name, value in changes.items():
        text = "null" if value is None else _written(value)
        values[name] = (
            ScalarNode("tag:yaml.org,2002:str", name),
            yaml.compose(text, Loader=_LOADER),
        )
    mapping = MappingNode("tag:yaml.org,2002:map", list(values.values()), flow_style=False)
    return str(yaml.serialize(mapping, allow_unicode=True, width=1 << 20))


def _is_flow(body: str) -> bool:
    return body.lstrip().startswith("{")


def _end(node: Node) -> int:
    """Return where a value ends: in a block, with its last item."""
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _says(body: str, before: dict[str, tuple[Node, Node]], changes: dict[str, Any]) -> bool:
    """Return whether YAML has the changed values, and no other keys than before."""
    try:
        nodes = _nodes(body)
        return nodes.keys() == before.keys() | changes.keys() and all(
            _is_null(nodes[name][1])
            if value is None
            else _KEYS[name].read(name, nodes[name][1]) == value
            for name, value in changes.items()
        )
    except InvalidArgumentError:
        return False
