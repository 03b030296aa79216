"""Running cells: one namespace, the value of the last expression, top-level await."""

from .pristine import BUILTINS as __builtins__

import sys


class Session:
    """`emit(kind, data)` shows a MIME bundle; `kind` is `display_data` or `execute_result`."""

    def __init__(self, emit):
        self.emit = emit
        self.main = type(sys)("__main__")
        self.main.__dict__["__builtins__"] = sys.modules["builtins"]
        sys.modules["__main__"] = self.main

    def run(self, code, number, path, shown):
        from _ast import PyCF_ONLY_AST, Expr, Interactive

        namespace = self.main.__dict__
        try:
            tree = compile(code, "<stdin>", "exec", PyCF_ONLY_AST, True)
            last = None
            if tree.body and isinstance(tree.body[-1], Expr):
                last = Interactive([tree.body.pop()])
            exec(compile(tree, "<stdin>", "exec", 0, True), namespace)
            if last:
                sys.displayhook = self._show
                exec(compile(last, "<stdin>", "single", 0, True), namespace)
        except BaseException as error:
            import traceback

            text = traceback.format_exc().rstrip("\n")
            return {"status": "error", "error": {"name": type(error).__name__, "message": str(error), "traceback": text}}
        return {"status": "ok"}

    def _show(self, value):
        if value is not None:
            self.emit("execute_result", {"text/plain": repr(value)})
