"""From the text of a cell to code that runs: the last expression apart, `await` at the top level allowed."""

from .pristine import BUILTINS as __builtins__

from _ast import PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST, Expr, If, Interactive, Module

from .pristine import own

_FUTURES = 0x1FE0000  # All CO_FUTURE_* flags
CO_COROUTINE = 0x80


# A cell that calls one of these runs in the session's event loop, also when it does not await at its top level …
_NEEDS_LOOP = frozenset(("create_task", "ensure_future", "get_running_loop", "current_task"))
# … unless it starts a loop by itself.
_STARTS_LOOP = frozenset(("run", "run_until_complete", "run_forever", "Runner", "new_event_loop"))


class Program:
    """`codes` run one after the other, inside the event loop when `in_loop`; `last` is the one that shows its value."""

    def __init__(self, codes, last):
        self.codes = codes
        self.last = last
        self.in_loop = any([code.co_flags & CO_COROUTINE for code in codes]) or _means_loop(codes)


def _means_loop(codes):
    names = set()
    for code in codes:
        names.update(code.co_names)
    return "asyncio" in names and bool(names & _NEEDS_LOOP) and not names & _STARTS_LOOP


def compile_cell(source, filename, script=False):
    """Compiles `source`, whose lines end with a line feed; a `script` shows no last value and holds no magics.

    Raises SyntaxError (with the line's text, where there is one), and ValueError or UnicodeEncodeError for text
    that cannot be source. Nothing of the cell has run then.
    """
    try:
        return _compile(source, _parse(source, filename), filename, script)
    except SyntaxError as error:
        failure = error
    if not script and _may_hold_magics(source):
        translated = own("magics").translate(source, filename)
        if translated is not None:
            return _compile(translated, _parse(translated, filename), filename)
    if failure.text is None:
        _add_text(failure, source)
    raise failure


def _parse(source, filename):
    try:
        return _to_tree(source, filename)
    except IndentationError:
        tree = _parse_indented(source, filename)
        if tree is None:
            raise
        return tree


def _to_tree(source, filename):
    return compile(source, filename, "exec", PyCF_ONLY_AST | PyCF_ALLOW_TOP_LEVEL_AWAIT, True)


def _parse_indented(source, filename):
    """Parses a cell that is indented as a whole; None when it is not that.

    The cell becomes the body of an `if`, rather than being dedented, so that no text in a string changes.
    """
    lines = source.split("\n")
    first = next((line for line in lines if line.strip() and not line.strip().startswith("#")), "")
    if first[:1] not in (" ", "\t"):
        return None
    try:
        tree = _to_tree("if 1:\n" + source, filename)
    except SyntaxError as error:
        error.lineno -= 1
        if getattr(error, "end_lineno", None) is not None:
            error.end_lineno -= 1
        raise error from None
    block = tree.body[0]
    if len(tree.body) != 1 or not isinstance(block, If) or block.orelse:
        return None
    tree.body = block.body
    _move_up(tree)
    return tree


def _move_up(tree):
    """Takes one off all line numbers."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "lineno"):
            node.lineno -= 1
        if getattr(node, "end_lineno", None) is not None:
            node.end_lineno -= 1
        for field in node._fields:
            value = getattr(node, field, None)
            items = value if isinstance(value, list) else (value,)
            waiting.extend(item for item in items if hasattr(item, "_fields"))


def _compile(source, tree, filename, script=False):
    body = tree.body
    last = None
    if body and isinstance(body[-1], Expr) and not script:
        last = body.pop()
    codes = []
    flags = PyCF_ALLOW_TOP_LEVEL_AWAIT
    if body:
        codes.append(compile(tree, filename, "exec", flags, True))
        flags |= codes[0].co_flags & _FUTURES
    loud = last is not None and not _is_hushed(source, last)
    if loud:
        codes.append(compile(Interactive([last]), filename, "single", flags, True))
    elif last is not None:
        codes.append(compile(Module([last], []), filename, "exec", flags, True))
    return Program(codes, codes[-1] if loud else None)


def _is_hushed(source, last):
    """True when a semicolon follows the last expression."""
    lines = source.split("\n")[last.end_lineno - 1 :]
    lines[0] = lines[0].encode("utf-8")[last.end_col_offset :].decode("utf-8")
    rest = "\n".join(lines).replace("\\\n", " ")
    return rest.lstrip(" \t\f").startswith(";")


def _add_text(error, source):
    """Errors that are found after parsing know their line number only."""
    lines = source.split("\n")
    if isinstance(error.lineno, int) and 0 < error.lineno <= len(lines):
        error.text = lines[error.lineno - 1] + "\n"


def _may_hold_magics(source):
    return any([line.lstrip()[:1] in ("!", "%", "?") or line.rstrip()[-1:] == "?" for line in source.split("\n")])
