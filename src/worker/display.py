"""Values as MIME bundles: text always, and what else an object knows how to show."""

from .pristine import BUILTINS as __builtins__

from .pristine import own, stdlib
from .tracebacks import shorten

MOST_TEXT = 262144  # Characters of a text/plain
MOST_MARKUP = 1 << 20  # Characters of any other text
MOST_PICTURE_BYTES = 4 << 20
MOST_PICTURE_SIDE = 4000  # Pixels

_TEXTS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
}
_PICTURES = {"_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg"}
_NO_METHOD_HAS_THIS_NAME = "_edge_repl_asks_whether_any_name_will_do_"


def bundle_of(value, limit=MOST_TEXT):
    """Returns the MIME bundle of `value`: text types as text, JSON types as JSON text, others as base64.

    Asks for `repr` once and raises what it raises. What a `_repr_*_` method raises hides only its own type.
    """
    bundle = {}
    kind = type(value)
    if kind.__module__ != "builtins":
        _add_rich(bundle, value)
    bundle["text/plain"] = shorten(_text_of(value), min(limit, MOST_TEXT))
    return {mime: bundle[mime] for mime in sorted(bundle, key=lambda mime: mime != "text/plain")}


def _text_of(value):
    text = repr(value)
    return text if type(text) is str else str.__str__(text)


def _add_rich(bundle, value):
    kind = type(value)
    library = str(kind.__module__).partition(".")[0]
    if library in ("pandas", "polars"):
        _guarded(lambda: own("tables").add_table(bundle, value))
    elif library == "matplotlib" or library == "PIL":
        _guarded(lambda: own("figures").add_picture(bundle, value))
    if isinstance(value, type) or _answers_to_any_name(value):
        return
    _guarded(lambda: _add_mime_bundle(bundle, value))
    for name, mime in _TEXTS.items():
        _guarded(lambda: _add_text(bundle, mime, _call(value, name)))
    for name, mime in _PICTURES.items():
        if not any([key in bundle for key in _PICTURES.values()]):
            _guarded(lambda: add_picture(bundle, mime, _call(value, name)))
    _guarded(lambda: _add_json(bundle, _call(value, "_repr_json_")))


def _guarded(add):
    """What fails in a library or in user code must not hide the rest."""
    try:
        add()
    except Exception as error:
        failures.append(error)
        del failures[:-5]


# The last few errors of `_repr_*_` methods, for whoever looks for the reason.
failures = []


def _answers_to_any_name(value):
    """True for mocks and proxies that make up an attribute for each name."""
    try:
        return getattr(value, _NO_METHOD_HAS_THIS_NAME, None) is not None
    except Exception:
        return True


def _call(value, name):
    method = getattr(value, name, None)
    if not callable(method):
        return None
    result = method()
    return result[0] if isinstance(result, tuple) and len(result) == 2 else result


def _add_mime_bundle(bundle, value):
    method = getattr(value, "_repr_mimebundle_", None)
    if not callable(method):
        return
    result = method(include=None, exclude=None)
    data = result[0] if isinstance(result, tuple) else result
    add_data(bundle, data or {})


def add_data(bundle, data):
    """Adds raw MIME data, as `display(data, raw=True)` and `_repr_mimebundle_` give it."""
    for mime, content in data.items():
        if content is None or mime == "text/plain":
            continue
        if mime in _PICTURES.values():
            add_picture(bundle, mime, content)
        elif mime.endswith("json") and not isinstance(content, str):
            _add_json(bundle, content, mime)
        elif isinstance(content, (bytes, bytearray)):
            bundle[mime] = _base64(content)
        else:
            _add_text(bundle, mime, content)


def _add_text(bundle, mime, content):
    if isinstance(content, str) and len(content) <= MOST_MARKUP:
        bundle[mime] = content


def _add_json(bundle, content, mime="application/json"):
    if content is not None:
        _add_text(bundle, mime, to_json(content))


def to_json(value):
    """Returns JSON text; what JSON cannot hold becomes null or text."""
    json = stdlib("json")
    try:
        return json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(json.loads(json.dumps(value, default=str))))


def _without_nan(value):
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, list) else value


def add_picture(bundle, mime, content):
    """Adds a PNG or JPEG (bytes, or base64 text), scaled down where it is too large to be of use."""
    if isinstance(content, str):
        content = stdlib("binascii").a2b_base64(content)
    if not isinstance(content, (bytes, bytearray)):
        return
    content = bytes(content)
    if len(content) > MOST_PICTURE_BYTES or max(_size_of(mime, content)) > MOST_PICTURE_SIDE:
        content = own("figures").scale_down(content, mime, MOST_PICTURE_BYTES, MOST_PICTURE_SIDE)
    if content is None:
        bundle["text/markdown"] = "(A picture is left out: it is too large to be shown, and PIL is not installed to scale it)"
    else:
        bundle[mime] = _base64(content)


def _size_of(mime, content):
    """Returns width and height of a PNG; (0, 0) for what cannot be told without decoding."""
    if mime == "image/png" and len(content) >= 24:
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    return 0, 0


def _base64(content):
    return stdlib("binascii").b2a_base64(content, newline=False).decode("ascii")


def make_display(emit):
    """Returns the function `display` that user code finds among the builtins."""

    def display(*objects, raw=False, **ignored):
        """Shows objects as the last value of a cell is shown; with `raw=True` they are dicts of MIME types."""
        for value in objects:
            if raw:
                bundle = {"text/plain": str(value.get("text/plain", ""))}
                add_data(bundle, value)
            else:
                bundle = bundle_of(value)
            emit("display_data", bundle)

    return display
