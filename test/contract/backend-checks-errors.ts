import { type BackendCheck, type ErrorMatch, like, lines } from "./backend-steps.ts";

const HEAD = "Traceback (most recent call last):";

/** Tracebacks: as CPython prints them, with nothing of ours and without colours. */
export const ERROR_CHECKS: readonly BackendCheck[] = [
  {
    id: "traceback-of-this-cell",
    steps: [
      {
        run: "x = 1\nx / 0",
        error: failure(
          "ZeroDivisionError",
          "division by zero",
          HEAD,
          '  File "<stdin>", line 2, in <module>',
          "    x / 0",
          "ZeroDivisionError: division by zero",
        ),
      },
      {
        run: "missing_name",
        error: failure(
          "NameError",
          "name 'missing_name' is not defined",
          HEAD,
          '  File "<stdin>", line 1, in <module>',
          "    missing_name",
          "NameError: name 'missing_name' is not defined",
        ),
      },
      {
        run: "print('out')\nraise KeyError('k')",
        stdout: "out\n",
        error: failure(
          "KeyError",
          "'k'",
          HEAD,
          '  File "<stdin>", line 2, in <module>',
          "    raise KeyError('k')",
          "KeyError: 'k'",
        ),
      },
      { run: "x", value: "1" },
    ],
  },
  {
    id: "traceback-through-earlier-cells",
    steps: [
      { run: lines("def inner(n):", "    return 10 / n") },
      { run: lines("def outer(n):", "    return inner(n)") },
      {
        run: "outer(0)",
        error: failure(
          "ZeroDivisionError",
          "division by zero",
          HEAD,
          '  File "<stdin>", line 1, in <module>',
          "    outer(0)",
          '  File "<block 2>", line 2, in outer',
          "    return inner(n)",
          '  File "<block 1>", line 2, in inner',
          "    return 10 / n",
          "ZeroDivisionError: division by zero",
        ),
      },
    ],
  },
  {
    id: "chained-errors",
    steps: [
      {
        run: lines("try:", "    {}['k']", "except KeyError as error:", "    raise ValueError('outer') from error"),
        error: failure(
          "ValueError",
          "outer",
          HEAD,
          '  File "<stdin>", line 2, in <module>',
          "    {}['k']",
          "KeyError: 'k'",
          "",
          "The above exception was the direct cause of the following exception:",
          "",
          HEAD,
          '  File "<stdin>", line 4, in <module>',
          "    raise ValueError('outer') from error",
          "ValueError: outer",
        ),
      },
      {
        run: lines("try:", "    [][1]", "except IndexError:", "    raise TypeError('second')"),
        error: failure(
          "TypeError",
          "second",
          HEAD,
          '  File "<stdin>", line 2, in <module>',
          "    [][1]",
          "IndexError: list index out of range",
          "",
          "During handling of the above exception, another exception occurred:",
          "",
          HEAD,
          '  File "<stdin>", line 4, in <module>',
          "    raise TypeError('second')",
          "TypeError: second",
        ),
      },
    ],
  },
  {
    id: "notes-and-groups",
    python: "3.11",
    steps: [
      {
        run: lines("error = ValueError('a')", "error.add_note('look here')", "raise error"),
        error: failure(
          "ValueError",
          "a",
          HEAD,
          '  File "<stdin>", line 3, in <module>',
          "    raise error",
          "ValueError: a",
          "look here",
        ),
      },
      {
        run: "raise ExceptionGroup('several', [ValueError('one'), TypeError('two')])",
        error: failure(
          "ExceptionGroup",
          "several (2 sub-exceptions)",
          "  + Exception Group Traceback (most recent call last):",
          '  |   File "<stdin>", line 1, in <module>',
          "  |     raise ExceptionGroup('several', [ValueError('one'), TypeError('two')])",
          "  | ExceptionGroup: several (2 sub-exceptions)",
          "  +-+---------------- 1 ----------------",
          "    | ValueError: one",
          "    +---------------- 2 ----------------",
          "    | TypeError: two",
          "    +------------------------------------",
        ),
      },
    ],
  },
  {
    id: "syntax-error-runs-nothing",
    steps: [
      {
        run: lines("print('never')", "x = = 1"),
        error: {
          name: "SyntaxError",
          message: like(/^invalid syntax( \(<stdin>, line 2\))?$/, "invalid syntax (<stdin>, line 2)"),
          traceback: like(
            /^ {2}File "<stdin>", line 2\n {4}x = = 1\n {8}\^\nSyntaxError: invalid syntax$/,
            '  File "<stdin>", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax',
          ),
        },
      },
      { run: "'x' in globals()", value: "False" },
    ],
  },
  {
    id: "code-nested-too-deeply",
    steps: [
      {
        run: `${"(".repeat(5000)}1${")".repeat(5000)}`,
        error: {
          name: "SyntaxError",
          message: like(/^too many nested parentheses/, "too many nested parentheses"),
          traceback: like(/SyntaxError: too many nested parentheses$/, "SyntaxError: too many nested parentheses"),
        },
      },
      { run: "1 + 1", value: "2" },
    ],
  },
  {
    id: "endless-recursion-is-short",
    steps: [
      {
        run: lines("def down(n):", "    return down(n + 1)", "down(0)"),
        error: {
          name: "RecursionError",
          message: like(/^maximum recursion depth exceeded/, "maximum recursion depth exceeded"),
          traceback: like(
            /^Traceback (?=[\s\S]*line 2, in down)(?=[\s\S]*RecursionError: maximum recursion depth exceeded)[\s\S]{1,4000}$/,
            `${HEAD}\n  File "<stdin>", line 2, in down\nRecursionError: maximum recursion depth exceeded`,
          ),
        },
      },
      { run: "1 + 1", value: "2" },
    ],
  },
  {
    id: "error-without-text",
    steps: [
      {
        run: lines("class Mute(Exception):", "    def __str__(self):", "        raise OSError", "raise Mute()"),
        error: {
          name: "Mute",
          message: "<exception str() failed>",
          traceback: like(
            /\n(__main__\.)?Mute: <exception str\(\) failed>$/,
            `${HEAD}\nMute: <exception str() failed>`,
          ),
        },
      },
    ],
  },
  {
    id: "own-keyboard-interrupt-is-an-error",
    steps: [
      {
        run: "raise KeyboardInterrupt",
        error: failure(
          "KeyboardInterrupt",
          "",
          HEAD,
          '  File "<stdin>", line 1, in <module>',
          "    raise KeyboardInterrupt",
          "KeyboardInterrupt",
        ),
      },
    ],
  },
];

function failure(name: string, message: string, ...traceback: readonly string[]): ErrorMatch {
  return { name, message, traceback: traceback.join("\n") };
}
