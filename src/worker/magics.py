"""Lines that are not Python but that notebooks know: `!cmd`, `%cd`, `%time` … Only read when a cell is no valid Python."""

from .pristine import BUILTINS as __builtins__

import builtins
import os
import sys

from .pristine import stdlib

CALL = "__edge_repl_magic__"

INSTALL = "Call the install_package tool with the package's name"
_INSTEAD = {
    "pip": INSTALL,
    "conda": INSTALL,
    "mamba": INSTALL,
    "uv": INSTALL,
    "run": "Call the run_file tool with the file's path",
    "load": "Read the file with open()",
    "pycat": "Read the file with open()",
    "who": "Call dir()",
    "whos": "Call vars()",
    "who_ls": "Call dir()",
    "pwd": "Call os.getcwd()",
    "ls": "Write !ls, or call os.listdir()",
    "history": "Call the get_history tool",
    "hist": "Call the get_history tool",
    "save": "Call the save_script tool",
    "notebook": "Call the export_history tool",
    "reset": "Call the reset_run_context tool",
    "reset_selective": "Write del with the names",
    "rerun": "Call the rerun_code tool",
    "debug": "Print what you want to see; there is no terminal for a debugger",
    "pdb": "Print what you want to see; there is no terminal for a debugger",
    "prun": "Call cProfile.run()",
    "lprun": "Call cProfile.run()",
    "memit": "Use the tracemalloc module",
    "autoreload": "Call importlib.reload()",
    "load_ext": "Import the package and call its functions",
    "reload_ext": "Import the package and call its functions",
    "writefile": "Write open(path, 'w').write(text)",
    "file": "Write open(path, 'w').write(text)",
    "bash": "Write !command, or call subprocess.run()",
    "sh": "Write !command, or call subprocess.run()",
    "script": "Call subprocess.run()",
    "system": "Write !command, or call subprocess.run()",
    "sx": "Write !command, or call subprocess.run()",
    "html": "Return an object that has _repr_html_",
    "latex": "Return an object that has _repr_latex_",
    "capture": "Use contextlib.redirect_stdout()",
    "env": "Set os.environ[name]",
    "sql": "Use the sqlite3 module or a database driver",
    "precision": "Format the numbers, or call numpy.set_printoptions()",
}
_ANY = "Write it in Python"


def translate(source, filename):
    """Returns `source` with its magic lines written as calls; None when there are none.

    The number of lines stays the same. Raises SyntaxError, naming the alternative, for what is not offered here.
    """
    lines = source.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        return _translate_cell(lines, first, filename)
    starts = _logical_starts(lines)
    found = False
    for index in starts:
        line = lines[index]
        call = _translate_line(line.strip(), (filename, index + 1, 1, line + "\n"))
        if call is not None:
            found = True
            lines[index] = line[: len(line) - len(line.lstrip())] + call
    if not found:
        return None
    _offer()
    return "\n".join(lines)


def _offer():
    setattr(builtins, CALL, _run)


def _translate_cell(lines, first, filename):
    name, _, rest = lines[first][2:].strip().partition(" ")
    if name not in ("time", "timeit"):
        raise SyntaxError(_not_offered("%%" + name, name), (filename, first + 1, 1, lines[first] + "\n"))
    body = "\n" * (first + 1) + "\n".join(lines[first + 1 :])
    _offer()
    return "%s(%r, %r, %r)" % (CALL, name, body, filename)


def _translate_line(line, place):
    if line.startswith("!"):
        command = line.lstrip("!").strip()
        words = command.split()
        if words and os.path.basename(words[0]) in ("pip", "pip3", "conda", "mamba") and "install" in words[1:2]:
            raise SyntaxError(_not_offered("!" + words[0] + " install", "pip"), place)
        return "%s('!', %r)" % (CALL, command)
    if line.startswith("%"):
        name, _, rest = line[1:].strip().partition(" ")
        installs = name == "pip" and rest.split()[:1] in (["install"], [])
        if name in _RUN and not installs:
            return "%s(%r, %r)" % (CALL, name, rest.strip())
        raise SyntaxError(_not_offered("%" + name, name), place)
    if line.endswith("?") or line.startswith("?"):
        name = line.strip("?").strip()
        if name.replace(".", "").replace("_", "").isalnum():
            return "%s('?', %r)" % (CALL, name)
    return None


def _not_offered(magic, name):
    return "%s is not available here. %s" % (magic, _INSTEAD.get(name, _ANY))


# Where lines begin that are neither in a string, nor in brackets, nor continued


def _logical_starts(lines):
    starts = []
    state = _Scanner()
    for index, line in enumerate(lines):
        if state.at_start():
            starts.append(index)
            if line.lstrip()[:1] in ("!", "%", "?"):
                continue
        state.feed(line)
    return starts


class _Scanner:
    """Knows after each line of Python whether a logical line ends there."""

    def __init__(self):
        self.depth = 0
        self.quote = None  # The three quotes that an open string waits for
        self.continued = False

    def at_start(self):
        return self.depth == 0 and self.quote is None and not self.continued

    def feed(self, line):
        self.continued = False
        position = 0
        while position < len(line):
            if self.quote:
                position = self._leave_string(line, position)
                continue
            character = line[position]
            if character == "#":
                return
            if character in "'\"":
                position = self._enter_string(line, position)
                continue
            if character in "([{":
                self.depth += 1
            elif character in ")]}":
                self.depth = max(0, self.depth - 1)
            elif character == "\\" and position == len(line) - 1:
                self.continued = True
            position += 1

    def _leave_string(self, line, position):
        while position < len(line):
            if line[position] == "\\":
                position += 2
            elif line.startswith(self.quote, position):
                position += len(self.quote)
                self.quote = None
                return position
            else:
                position += 1
        return position

    def _enter_string(self, line, position):
        character = line[position]
        if line.startswith(character * 3, position):
            self.quote = character * 3
            return position + 3
        position += 1
        while position < len(line) and line[position] != character:
            position += 2 if line[position] == "\\" else 1
        if position > len(line):
            self.continued = True
        return position + 1


# Running them


def _run(name, text, filename=None):
    return _RUN[name](text, filename) if filename else _RUN[name](text)


def _expand(command):
    """Puts values of variables in for `{name}`, where there is such a variable."""
    namespace = vars(sys.modules["__main__"])

    def value(match):
        return str(namespace[match.group(1)]) if match.group(1) in namespace else match.group(0)

    return stdlib("re").sub(r"\{([A-Za-z_]\w*)\}", value, command)


def _shell(command):
    sys.stdout.flush()
    code = stdlib("subprocess").call(_expand(command), shell=True)
    if code:
        print("[exit code %d]" % code, file=sys.stderr)


def _pip(text):
    return _shell("%s -m pip %s" % (stdlib("shlex").quote(sys.executable), text))


def _cd(text):
    os.chdir(os.path.expanduser(text.strip("'\"") or "~"))
    print(os.getcwd())


def _env(text):
    name, _, value = text.replace("=", " ", 1).partition(" ")
    if not name:
        return dict(os.environ)
    if not value:
        return os.environ[name]
    os.environ[name] = value.strip()
    print("env: %s=%s" % (name, os.environ[name]))
    return None


def _matplotlib(text):
    return None


def _help(name):
    return eval("help(%s)" % name, vars(sys.modules["__main__"]))


def _compile(text, filename):
    """Compiles an expression, so that it has a value, or else statements."""
    if filename is None:
        filename, text = "<magic>", text.strip()
    for mode in ("eval", "exec"):
        try:
            return compile(text, filename, mode, 0, True)
        except SyntaxError as error:
            failure = error
    raise failure


def _time(text, filename=None):
    code = _compile(text, filename)
    timer = stdlib("time")
    wall, cpu = timer.perf_counter(), timer.process_time()
    try:
        return eval(code, vars(sys.modules["__main__"]))
    finally:
        wall, cpu = timer.perf_counter() - wall, timer.process_time() - cpu
        print("CPU time: %s\nWall time: %s" % (_span(cpu), _span(wall)))


def _timeit(text, filename=None):
    options = stdlib("re").match(r"(?:\s*-[nr]\s*\d+|\s*-[qocp])*\s*", text).group(0)
    counts = dict(stdlib("re").findall(r"-([nr])\s*(\d+)", options))
    code = _compile(text[len(options) :] if filename is None else text, filename)
    namespace = vars(sys.modules["__main__"])
    timer = stdlib("timeit").Timer(lambda: eval(code, namespace))
    loops = int(counts.get("n") or timer.autorange()[0])
    runs = [total / loops for total in timer.repeat(int(counts.get("r") or (7 if loops > 1 else 3)), loops)]
    mean = sum(runs) / len(runs)
    deviation = (sum([(run - mean) ** 2 for run in runs]) / len(runs)) ** 0.5
    shape = "%s ± %s per loop (mean ± std. dev. of %d runs, %d loops each)"
    print(shape % (_span(mean), _span(deviation), len(runs), loops))


def _span(seconds):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return "%.3g %s" % (seconds * factor, unit)
    return "%.3g ns" % (seconds * 1e9)


_RUN = {
    "!": _shell,
    "?": _help,
    "cd": _cd,
    "env": _env,
    "matplotlib": _matplotlib,
    "pip": _pip,
    "time": _time,
    "timeit": _timeit,
}
