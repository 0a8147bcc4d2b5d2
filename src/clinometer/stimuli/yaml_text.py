"""Reads YAML as text: every scalar is a string, anchors are refused, lines are known.

The words "null", "no" and "1e3" remain words. Anchors and aliases are refused because a few
lines of them can expand without bound.
"""

from __future__ import annotations

from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.composer import Composer

from clinometer.errors import StudyError, unknown

#: Characters of a field that an error shows, at most.
_LONGEST = 40

M = TypeVar("M", bound=BaseModel)

if hasattr(yaml, "CBaseLoader"):

    class _Loader(Composer, yaml.CBaseLoader):
        """Reads with libyaml and composes in Python, where nesting too deep is an error."""

        def __init__(self, text: str) -> None:
            yaml.CBaseLoader.__init__(self, text)
            Composer.__init__(self)

else:  # PyYAML without libyaml
    _Loader = yaml.BaseLoader  # type: ignore[assignment, misc]


def parse_yaml(text: str, source: str) -> tuple[Any, yaml.Node | None]:
    """Read YAML into mappings, lists and strings.

    Parameters
    ----------
    text
        YAML.
    source
        What to call the text in errors, usually its path.

    Returns
    -------
    content
        The whole document.
    root
        Its first node, which knows the lines.

    Raises
    ------
    StudyError
        If the text is not YAML, nested too deeply, has anchors or a key twice.
    """
    try:
        root = _compose(text)
        return _read_node(root, source), root
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise StudyError(f"{source}:{line}: not valid YAML: {problem}") from None
    except RecursionError:
        raise StudyError(f"{source}: nested too deeply") from None


def _compose(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:  # libyaml says less
        return yaml.compose(text, Loader=yaml.BaseLoader)


def _read_node(node: yaml.Node | None, source: str, nodes: set[int] | None = None) -> Any:
    """Return the content of a node; `nodes` are the identities of those read before it."""
    nodes = set() if nodes is None else nodes
    if node is None:
        return None
    if id(node) in nodes:  # composing gives an alias as the very node of its anchor
        raise StudyError(
            f"{source}:{node.start_mark.line + 1}: anchors and aliases are not allowed"
        )
    nodes.add(id(node))
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in mapping:
                line = key.start_mark.line + 1
                raise StudyError(f"{source}:{line}: key {name!r} stands twice")
            mapping[name] = _read_node(value, source, nodes)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_read_node(item, source, nodes) for item in node.value]
    return node.value


def validate(model: type[M], content: Any, root: yaml.Node | None, source: str, *start: str) -> M:
    """Validate a file's content, or the part at the place `start` in it, as a pydantic model.

    Raises StudyError, with file, line and field of each problem.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            place = (*start, *problem["loc"])
            field = place
            message = problem["msg"].removeprefix("Value error, ")
            if problem["type"] == "extra_forbidden":
                field = place[:-1]  # the unknown name is in the message
                message = unknown("field", str(place[-1]), _field_names(model))
            # pydantic calls the keys of a mapping "[key]"; the entry itself tells enough.
            name = ".".join(str(part)[:_LONGEST] for part in field if part != "[key]")
            if name:
                message = f"{name}: {message}"
            elif field == place:
                message = f"study: {message}"
            lines.append(f"{source}:{line_of(root, *place)}: {message}")
        raise StudyError("\n".join(lines)) from None


def _field_names(model: type[BaseModel]) -> list[str]:
    """Return the fields of a model and of those in it."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return list(dict.fromkeys(name for part in parts for name in part.get("properties", {})))


def line_of(node: yaml.Node | None, *place: int | str) -> int:
    """Return the line of the deepest node on the way to a place."""
    line = 1
    for part in place:
        step = _find_child(node, part)
        if step is None:
            break
        line, node = step
    return line


def _find_child(node: yaml.Node | None, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child = node.value[part]
        return child.start_mark.line + 1, child
    return None
