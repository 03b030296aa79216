"""One sentence after a traceback, where the usual remedy depends on where the code runs."""

from .pristine import BUILTINS as __builtins__

from .magics import INSTALL

_NO_STDIN = "Hint: there is no stdin here; put the value into the code instead of asking for it"
_FENCES = "Hint: send the code without its markdown fences (```)"
_ESCAPED = "Hint: the code holds \\n as two characters; send real line breaks instead"
_NO_LOOP = "Hint: a cell runs in the event loop only when it awaits at its top level; write await before the call, or use asyncio.run()"
_IN_LOOP = "Hint: this cell awaits at its top level and so runs in the event loop already; write await instead"
_CAPTURE = "Hint: to keep what a command prints, write subprocess.run(command, shell=True, capture_output=True, text=True).stdout"
_SHELL = "Hint: a shell command starts with ! at the beginning of its line"

# Where the name that is imported is not the name that is installed.
_DISTRIBUTIONS = {
    "Crypto": "pycryptodome",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jwt": "pyjwt",
    "pptx": "python-pptx",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def hint_for(error, source):
    """Returns the sentence for an error that the cell `source` ended with, or None."""
    if isinstance(error, EOFError):
        return _NO_STDIN if _asked_for_input(error) else None
    if isinstance(error, ModuleNotFoundError):
        return _for_missing_module(error)
    if isinstance(error, SyntaxError):
        return _for_syntax(error, source)
    if isinstance(error, RuntimeError):
        text = str(error)
        if "no running event loop" in text:
            return _NO_LOOP
        if "cannot be called from a running event loop" in text or "This event loop is already running" in text:
            return _IN_LOOP
    return None


def _asked_for_input(error):
    if "EOF when reading a line" in str(error):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == "getpass"


def _for_missing_module(error):
    name = error.name or ""
    if not name or "." in name:
        return None
    return "Hint: %s (%s), unless it is a module of your own" % (_lower(INSTALL), _DISTRIBUTIONS.get(name, name))


def _lower(sentence):
    return sentence[:1].lower() + sentence[1:]


def _for_syntax(error, source):
    if any([line.lstrip().startswith("```") for line in source.split("\n")]):
        return _FENCES
    if "line continuation character" in str(error.msg) and "\\n" in source:
        return _ESCAPED
    line = (error.text or "").strip()
    if "= !" in line or "=!" in line.replace("==", ""):
        return _CAPTURE
    words = line.split()
    if words[:2] in (["pip", "install"], ["pip3", "install"], ["conda", "install"]):
        return "Hint: " + _lower(INSTALL)
    if words[:1] and words[0] in ("ls", "cat", "cd", "mkdir", "rm", "cp", "mv", "pwd", "git", "curl", "wget", "pip"):
        return _SHELL
    return None
