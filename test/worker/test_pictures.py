"""Rich values: what objects know how to show, figures, images, tables."""

import base64
import importlib.util
import json
import os
import struct
import unittest

from support import WorkerCase


def have(name):
    return importlib.util.find_spec(name) is not None


def size_of(png):
    data = base64.b64decode(png)
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    return struct.unpack(">II", data[16:24])


PNG = """\
import zlib, struct
def png(width, height):
    def part(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = (b'\\0' + b'\\0' * (width // 8 + 1)) * height
    head = struct.pack('>IIBBBBB', width, height, 1, 0, 0, 0, 0)
    return b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', head) + part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b'')
"""


class Representations(WorkerCase):
    def bundle(self, *cells):
        reply = self.run_cells(*cells)
        self.assertEqual((reply.status, len(reply.bundles)), ("ok", 1), reply.traceback)
        return reply.bundles[0]

    def test_all_kinds_of_methods(self):
        bundle = self.bundle(
            PNG,
            "class All:\n    def __repr__(self): return 'plain'\n    def _repr_html_(self): return '<b>'\n"
            "    def _repr_markdown_(self): return '**m**', {'meta': 1}\n    def _repr_latex_(self): return '$x$'\n"
            "    def _repr_svg_(self): return '<svg/>'\n    def _repr_png_(self): return png(3, 2)\n"
            "    def _repr_jpeg_(self): return None\n    def _repr_json_(self): return {'a': [1]}\n"
            "    def _repr_mimebundle_(self, include=None, exclude=None): return {'application/x-own': b'ab', 'a/b+json': {'c': 1}}",
            "All()",
        )
        self.assertEqual(list(bundle)[0], "text/plain")
        self.assertEqual(size_of(bundle.pop("image/png")), (3, 2))
        self.assertEqual(
            bundle,
            {
                "text/plain": "plain",
                "text/html": "<b>",
                "text/markdown": "**m**",
                "text/latex": "$x$",
                "image/svg+xml": "<svg/>",
                "application/json": '{"a": [1]}',
                "application/x-own": "YWI=",
                "a/b+json": '{"c": 1}',
            },
        )

    def test_a_failing_method_hides_only_its_own_type(self):
        bundle = self.bundle(
            "class Half:\n    def __repr__(self): return 'plain'\n    def _repr_html_(self): raise SystemError\n"
            "    def _repr_markdown_(self): return 5\n    def _repr_latex_(self): return '$x$'\nHalf()"
        )
        self.assertEqual(bundle, {"text/plain": "plain", "text/latex": "$x$"})

    def test_objects_that_answer_to_any_name_show_text_only(self):
        self.assertEqual(list(self.bundle("from unittest.mock import MagicMock\nMagicMock()")), ["text/plain"])
        self.assertEqual(list(self.bundle("class Any:\n    def __getattr__(self, name): return lambda *_: name\nAny()")), ["text/plain"])
        self.assertEqual(list(self.bundle("class K:\n    def _repr_html_(self): return '<b>'\nK")), ["text/plain"])

    def test_what_json_cannot_hold_and_strings_of_other_classes(self):
        bundle = self.bundle(
            "class S(str): pass\nclass J:\n    def __repr__(self): return S('j')\n    def _repr_html_(self): return S('<b>')\n"
            "    def _repr_json_(self): return {'n': float('nan'), 'l': [float('inf'), 1.5], 'o': {1}}\nJ()"
        )
        self.assertEqual(json.loads(bundle.pop("application/json")), {"n": None, "l": [None, 1.5], "o": "{1}"})
        self.assertEqual(bundle, {"text/plain": "j", "text/html": "<b>"})

    def test_large_markup_is_left_out(self):
        bundle = self.bundle(
            "class Pg:\n    def _repr_html_(self): return '<p>' + 'x' * 5_000_000 + '</p>'\n    def __repr__(self): return 'pg1'\nPg()"
        )
        self.assertEqual(bundle, {"text/plain": "pg1"})

    def test_display_shows_several_and_raw_data(self):
        reply = self.worker.run("display(1, 'a')\ndisplay({'text/plain': 'p', 'text/html': '<i>'}, raw=True)")
        self.assertEqual(reply.bundles, [{"text/plain": "1"}, {"text/plain": "'a'"}, {"text/plain": "p", "text/html": "<i>"}])

    def test_a_large_picture_arrives_whole(self):
        bundle = self.bundle(
            PNG + "import os\nclass P:\n    def _repr_png_(self): return png(9, 9) + os.urandom(2_000_000)\n    def __repr__(self): return 'P'", "P()"
        )
        self.assertEqual(len(base64.b64decode(bundle["image/png"])), len(_png(9, 9)) + 2_000_000)

    def test_an_oversized_picture_is_scaled_or_replaced_by_a_sentence(self):
        bundle = self.bundle(PNG + "class P:\n    def _repr_png_(self): return png(6000, 20)\n    def __repr__(self): return 'P'", "P()")
        if have("PIL"):
            self.assertEqual(size_of(bundle["image/png"]), (4000, 13))
        else:
            self.assertNotIn("image/png", bundle)
            self.assertIn("too large", bundle["text/markdown"])


def _png(width, height):
    names = {}
    exec(PNG, names)
    return names["png"](width, height)


@unittest.skipUnless(have("matplotlib"), "matplotlib is not installed")
class Figures(WorkerCase):
    @property
    def worker(self):
        # The first import makes matplotlib's font cache, which can take long.
        return self.workers[0] if self.workers else self.make(MPLCONFIGDIR=_CONFIG)

    def test_open_figures_are_shown_once_in_order(self):
        reply = self.worker.run(
            "import matplotlib.pyplot as plt\nfor k in (1, 2):\n    plt.figure(figsize=(k, 1)); plt.plot([k, 2 * k])\n"
            "print('before')\nplt.show()\nprint('after')"
        )
        self.assertEqual([kind for kind, _ in reply.order], ["stdout", "value", "value", "stdout"])
        widths = [size_of(bundle["image/png"])[0] for bundle in reply.bundles]
        self.assertLess(widths[0], widths[1])
        self.assertEqual(self.worker.run("1 + 1").bundles, [{"text/plain": "2"}])
        self.assertEqual(len(self.worker.run("fig, ax = plt.subplots()\n_ = ax.plot([1, 3])").bundles), 1)
        self.assertEqual(self.worker.run("2 + 2").bundles, [{"text/plain": "4"}])
        self.assertEqual(len(self.worker.run("fig, ax = plt.subplots(); ax.plot([1]); fig").bundles), 1)
        self.assertEqual(self.worker.run("_ = plt.figure()").bundles, [], "an empty figure")

    def test_savefig_is_untouched_and_no_warning_appears(self):
        path = os.path.join(self.folder(), "a.png")
        reply = self.worker.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.savefig(%r); plt.show()" % path)
        self.assertEqual((len(reply.bundles), reply.text), (1, ""))
        self.assertTrue(os.path.getsize(path) > 1000)

    def test_figures_of_a_failing_cell_are_shown_and_drawing_errors_told(self):
        reply = self.worker.run("import matplotlib.pyplot as plt\nplt.plot([1])\n1 / 0")
        self.assertEqual((reply.status, len(reply.bundles)), ("error", 1))
        reply = self.worker.run("plt.plot([1]); plt.title('$\\\\frac{$');")
        self.assertEqual((reply.status, reply.error["name"]), ("error", "ValueError"))
        self.assertEqual(self.worker.run("1").bundles, [{"text/plain": "1"}])

    def test_matplotlib_is_not_imported_for_nothing(self):
        self.assertValue("[]", "import sys\n[name for name in sys.modules if 'matplotlib' in name]")


@unittest.skipUnless(have("PIL"), "PIL is not installed")
class Images(WorkerCase):
    def test_an_image_is_shown_as_a_picture(self):
        reply = self.worker.run("from PIL import Image\nImage.new('RGB', (64, 32), (255, 0, 0))")
        self.assertEqual(size_of(reply.bundles[0]["image/png"]), (64, 32))
        self.assertLess(len(reply.value), 200)
        for mode in ("CMYK", "F", "LA", "HSV"):
            self.assertIn("image/png", self.worker.run("Image.new(%r, (4, 4))" % mode).bundles[0], mode)

    def test_show_shows(self):
        reply = self.worker.run("from PIL import Image\nImage.new('L', (5, 6)).show()")
        self.assertEqual([size_of(bundle["image/png"]) for bundle in reply.bundles], [(5, 6)])


@unittest.skipUnless(have("pandas"), "pandas is not installed")
class Pandas(WorkerCase):
    def test_no_column_is_missing(self):
        code = "import pandas as pd\ndf = pd.DataFrame({'c%d' % i: [i, i] for i in range(30)})\n"
        for text in (self.worker.run(code + "df").value, self.worker.run("print(df)").text):
            self.assertTrue(all("c%d" % i in text for i in range(30)), text)
            self.assertNotIn("...", text)

    def test_table_data_comes_bounded(self):
        bundle = self.worker.run("import pandas as pd\npd.DataFrame({'a': range(100000), 'b': 'x'})").bundles[0]
        table = json.loads(bundle["application/vnd.dataresource+json"])
        self.assertEqual(table["rows"], 100000)
        self.assertLess(len(bundle["application/vnd.dataresource+json"]), 262145)
        self.assertEqual({key: table["data"][1][key] for key in "ab"}, {"a": 1, "b": "x"})
        self.assertIn("text/html", bundle)
        self.assertIn("application/vnd.dataresource+json", self.worker.run("pd.Series([1, 2], name='s')").bundles[0])

    def test_options_of_user_code_stay(self):
        self.assertValue("3", "import pandas as pd\npd.set_option('display.max_columns', 3)", "pd.get_option('display.max_columns')")


@unittest.skipUnless(have("polars"), "polars is not installed")
class Polars(WorkerCase):
    def test_no_column_is_missing(self):
        reply = self.worker.run("import polars as pl\npl.DataFrame({'c%d' % i: [i] for i in range(30)})")
        self.assertTrue(all("c%d" % i in reply.value for i in range(30)), reply.value)
        self.assertEqual(json.loads(reply.bundles[0]["application/vnd.dataresource+json"])["rows"], 1)


_CONFIG = os.path.join(os.environ.get("TMPDIR", "/tmp"), "edge-repl-test-matplotlib")

if __name__ == "__main__":
    unittest.main()
