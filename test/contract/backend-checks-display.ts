import { type BackendCheck, like, lines } from "./backend-steps.ts";

/** One pixel, as PNG. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** A PNG of any size, as base64. */
const SOME_PNG = like(/^iVBORw0KGgo[A-Za-z0-9+/]+=*$/, PNG);

/** Objects that know how to show themselves. */
export const DISPLAY_CHECKS: readonly BackendCheck[] = [
  {
    id: "display-function",
    steps: [
      {
        run: lines("print('before')", "display(1, 'two')", "print('after')", "display(3)", "4"),
        out: [
          { stdout: "before\n" },
          { display: { "text/plain": "1" } },
          { display: { "text/plain": "'two'" } },
          { stdout: "after\n" },
          { display: { "text/plain": "3" } },
          { result: { "text/plain": "4" } },
        ],
      },
    ],
  },
  {
    id: "text-representations",
    steps: [
      {
        run: lines(
          "class Rich:",
          "    def __repr__(self): return 'plain'",
          "    def _repr_html_(self): return '<b>é</b>'",
          "    def _repr_markdown_(self): return '**é**'",
          "    def _repr_svg_(self): return '<svg/>'",
          "    def _repr_latex_(self): return '$x$'",
          "    def _repr_json_(self): return {'a': 1}",
          "Rich()",
        ),
        out: [
          {
            result: {
              "text/plain": "plain",
              "text/html": "<b>é</b>",
              "text/markdown": "**é**",
              "image/svg+xml": "<svg/>",
              "text/latex": "$x$",
              "application/json": like(/^\{"a": ?1\}$/, '{"a": 1}'),
            },
          },
        ],
      },
    ],
  },
  {
    id: "pictures-are-base64",
    steps: [
      {
        run: lines(
          "import base64",
          `data = base64.b64decode('${PNG}')`,
          "class Picture:",
          "    def __repr__(self): return 'a picture'",
          "    def _repr_png_(self): return data",
          "Picture()",
        ),
        out: [{ result: { "text/plain": "a picture", "image/png": PNG } }],
      },
    ],
  },
  {
    id: "mime-bundles",
    steps: [
      {
        run: lines(
          "class Bundle:",
          "    def __repr__(self): return 'plain'",
          "    def _repr_mimebundle_(self, include=None, exclude=None):",
          "        return {'text/html': '<i>1</i>', 'application/x-own': 'own'}",
          "Bundle()",
        ),
        out: [{ result: { "text/plain": "plain", "text/html": "<i>1</i>", "application/x-own": "own" } }],
      },
    ],
  },
  {
    id: "failing-representation-hides-nothing",
    steps: [
      {
        run: lines(
          "class Half:",
          "    def __repr__(self): return 'still here'",
          "    def _repr_html_(self): raise ValueError('no html')",
          "    def _repr_png_(self): return 7",
          "    def __getattr__(self, name): raise RuntimeError(name)",
          "Half()",
        ),
        out: [{ result: { "text/plain": "still here", "text/html": null, "image/png": null } }],
      },
      { run: "Half", value: like(/^<class '(__main__\.)?Half'>$/, "<class '__main__.Half'>") },
    ],
  },
  {
    id: "large-page-is-not-sent",
    steps: [
      {
        run: lines(
          "class Page:",
          "    def __repr__(self): return 'a page'",
          "    def _repr_html_(self): return '<p>' + 'x' * 3_000_000",
          "Page()",
        ),
        out: [{ result: { "text/plain": "a page", "text/html": null } }],
      },
    ],
  },
  {
    id: "large-picture-is-not-sent-whole",
    modules: ["PIL"],
    steps: [
      {
        run: lines(
          "import os",
          "from PIL import Image",
          "Image.frombytes('RGB', (2000, 2000), os.urandom(12_000_000))",
        ),
        out: [{ result: { "image/png": like(/^iVBORw0KGgo[A-Za-z0-9+/=]{1,6000000}$/, PNG) } }],
        withinMs: 50_000,
      },
    ],
  },
  {
    id: "figures-once-each",
    modules: ["matplotlib"],
    steps: [
      {
        run: lines(
          "import matplotlib.pyplot as plt",
          "for n in (1, 2):",
          "    plt.figure(figsize=(1, 1)); plt.plot([1, n])",
          "print('drawn')",
        ),
        out: [{ stdout: "drawn\n" }, { display: { "image/png": SOME_PNG } }, { display: { "image/png": SOME_PNG } }],
        withinMs: 50_000,
      },
      { run: "plt.get_fignums()", value: "[]" },
      {
        run: lines("plt.figure(figsize=(1, 1)); plt.plot([1, 2]); plt.show()", "print('shown')"),
        out: [{ display: { "image/png": SOME_PNG } }, { stdout: "shown\n" }],
      },
    ],
  },
  {
    id: "pillow-image",
    modules: ["PIL"],
    steps: [
      {
        run: "from PIL import Image; Image.new('RGB', (4, 3), 'red')",
        out: [
          {
            result: {
              "text/plain": like(/^<PIL\.Image\.Image .*>$/, "<PIL.Image.Image image mode=RGB>"),
              "image/png": SOME_PNG,
            },
          },
        ],
      },
    ],
  },
  {
    id: "wide-frame-shows-every-column",
    modules: ["pandas"],
    steps: [
      {
        run: "import pandas as pd; pd.DataFrame({f'column{n}': [n] for n in range(30)})",
        value: like(
          new RegExp(Array.from({ length: 30 }, (_, n) => `column${n}\\b[\\s\\S]*`).join("")),
          Array.from({ length: 30 }, (_, n) => `column${n}`).join(" "),
        ),
        withinMs: 50_000,
      },
      {
        run: "pd.DataFrame({'n': [1], 't': ['x']})",
        out: [
          {
            result: {
              "text/plain": "   n  t\n0  1  x",
              "application/vnd.dataresource+json": like(
                /"data": ?\[\{"index": ?0, ?"n": ?1, ?"t": ?"x"\}\]/,
                '{"data": [{"index": 0, "n": 1, "t": "x"}]}',
              ),
            },
          },
        ],
      },
      {
        run: "pd.DataFrame({'n': range(100_000)})",
        value: like(
          /^ +n\n0 +0\n[\s\S]{1,100000}100000 rows x 1 columns/,
          "      n\n0     0\n\n[100000 rows x 1 columns]",
        ),
      },
    ],
  },
];
