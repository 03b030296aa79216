"""Exceptions as CPython prints them: without frames of ours, and short where they would be endless."""

from .pristine import BUILTINS as __builtins__

from .pristine import PACKAGE, genuine_imports, stdlib

MOST_FRAMES = 60
MOST_CHARACTERS = 30000
MOST_MESSAGE_CHARACTERS = 4000
UNPRINTABLE = "<exception str() failed>"
CURRENT = "<stdin>"


def describe_error(error, filename, hint=None):
    """Returns `{"name", "message", "traceback"}`; frames of `filename`, the current cell, are called `<stdin>`.

    `hint(error)` may return a sentence to add.
    """
    name = type(error).__name__
    try:
        with genuine_imports():
            clean(error)
            text = _format(error, filename)
            sentence = hint(error) if hint else None
    except KeyboardInterrupt:
        raise
    except Exception:
        text, sentence = _in_short(name, error), None
    text = shorten(text.rstrip("\n"), MOST_CHARACTERS)
    if sentence:
        text += "\n" + sentence
    message = shorten(message_of(error), MOST_MESSAGE_CHARACTERS)
    told = {"name": name, "message": message, "traceback": text}
    return {key: str.__str__(value) for key, value in told.items()}


def message_of(error):
    try:
        if isinstance(error, SyntaxError) and isinstance(error.msg, str):
            return error.msg
        return str(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return UNPRINTABLE


def _in_short(name, error):
    message = message_of(error)
    return name + ": " + message if message else name


def shorten(text, limit):
    """Cuts the middle out of a text of more than `limit` characters, and says so."""
    if len(text) <= limit:
        return text
    half = limit // 2
    end = len(text) - half
    return "%s\n... [%d characters omitted] ...\n%s" % (text[:half], end - half, text[end:])


# Frames


def is_ours(frame):
    return frame.f_globals.get("__package__") == PACKAGE


def clean(error):
    """Takes frames of ours out of the tracebacks of `error` and of all that it refers to."""
    waiting = [error]
    seen = set()
    while waiting:
        error = waiting.pop()
        if not isinstance(error, BaseException) or id(error) in seen:
            continue
        seen.add(id(error))
        error.__traceback__ = _without_ours(error.__traceback__)
        waiting += [error.__cause__, error.__context__]
        members = getattr(error, "exceptions", None)
        if isinstance(members, (tuple, list)):
            waiting.extend(members)


def _without_ours(trace):
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    start = _first_of_user(entries)
    kept = None
    changed = False
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if index < start or is_ours(entry.tb_frame):
            changed = True
        elif changed and kept is not entry.tb_next:
            kept = type(entry)(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        else:
            kept = entry
    return kept


def _first_of_user(entries):
    """Returns where user code begins: past the frames with which the event loop runs a cell for us."""
    if not entries or not is_ours(entries[0].tb_frame):
        return 0
    for index, entry in enumerate(entries):
        name = str(entry.tb_frame.f_globals.get("__name__"))
        if not is_ours(entry.tb_frame) and name.partition(".")[0] not in ("asyncio", "contextlib"):
            return index
    return 0


# Text


def _format(error, filename):
    traceback = stdlib("traceback")
    shown = traceback.TracebackException(type(error), error, error.__traceback__)
    linecache = stdlib("linecache")
    cache = linecache.cache
    before = cache.get(CURRENT)
    if filename in cache:
        cache[CURRENT] = cache[filename]
    try:
        _adapt(shown, filename, traceback.StackSummary)
        return "".join(shown.format())
    finally:
        cache.pop(CURRENT, None)
        if before is not None:
            cache[CURRENT] = before


def _adapt(shown, filename, summary_class):
    """Renames the current cell and shortens long stacks, in `shown` and in all that it refers to."""
    short_stack = _short_stack(summary_class)
    waiting = [shown]
    seen = set()
    while waiting:
        shown = waiting.pop()
        if shown is None or id(shown) in seen:
            continue
        seen.add(id(shown))
        if shown.stack is not None:
            for frame in shown.stack:
                if frame.filename == filename:
                    frame.filename = CURRENT
            shown.stack = short_stack(shown.stack)
        if getattr(shown, "filename", None) == filename:
            shown.filename = CURRENT
        if str(getattr(shown, "_str", "")).startswith("<unprintable "):
            shown._str = UNPRINTABLE  # As the interpreter itself says it, also before 3.11
        waiting += [shown.__cause__, shown.__context__]
        waiting.extend(getattr(shown, "exceptions", None) or ())


def _short_stack(summary_class):
    class ShortStack(summary_class):
        """Formats as ever, but leaves out the middle of a stack of very many frames."""

        def format(self, **options):
            lines = super().format(**options)
            if len(lines) <= MOST_FRAMES:
                return lines
            half = MOST_FRAMES // 2
            note = "  [%d frames left out]\n" % (len(lines) - 2 * half)
            return lines[:half] + [note] + lines[-half:]

    return ShortStack
