"""Parts of the worker on their own, inside this process."""

import importlib
import json
import os
import sys
import types
import unittest

from support import MAIN


def load(name):
    """Returns a module of the worker, as its main program would import it."""
    if "_edge_repl" not in sys.modules:
        package = types.ModuleType("_edge_repl")
        package.__path__ = [os.path.dirname(MAIN)]
        sys.modules["_edge_repl"] = package
    return importlib.import_module("_edge_repl." + name)


class Decoding(unittest.TestCase):
    def decode(self, *pieces):
        decoder = load("output").Decoder()
        return "".join([decoder.decode(piece) for piece in pieces] + [decoder.decode(b"", final=True)])

    def test_every_split_of_valid_text_gives_the_text(self):
        text = "aé✓\U0001f469 \ud83d \udfff\x00\u2028z"
        data = text.encode("utf-8", "surrogatepass")
        for cut in range(len(data) + 1):
            self.assertEqual(self.decode(data[:cut], data[cut:]), text)
        self.assertEqual(self.decode(*[data[i : i + 1] for i in range(len(data))]), text)

    def test_damaged_bytes_are_replaced_as_python_does(self):
        for data in (b"\xff\xfe\x80ok", b"\xc3", b"\xe2\x9c", b"\xf0\x9f\x91 x", b"\xc0\xaf", b"a\xed\xa0", b"\xf5\x80\x80\x80", b"\xe9a"):
            self.assertEqual(self.decode(data), data.decode("utf-8", "replace"), data)
            self.assertEqual(self.decode(*[data[i : i + 1] for i in range(len(data))]), data.decode("utf-8", "replace"), data)


class Bounding(unittest.TestCase):
    def collect(self, head, tail, *writes):
        sent = []
        output = load("output").CellOutput(head, tail, lambda *frame: sent.append(frame))
        for name, data in writes:
            output.add(name, data)
        output.finish()
        return sent

    def test_neighbours_of_one_stream_become_one_frame(self):
        sent = self.collect(100, 100, ("stdout", b"a"), ("stdout", b"b"), ("stderr", b"c"), ("stdout", b"d"))
        self.assertEqual(sent, [("stdout", "ab", 0), ("stderr", "c", 0), ("stdout", "d", 0)])

    def test_what_is_between_head_and_tail_is_counted(self):
        for size in range(0, 60):
            text = "".join(chr(0x100 + n) for n in range(size))
            sent = self.collect(20, 10, *[("stdout", character.encode()) for character in text])
            kept = "".join(piece for _, piece, _ in sent)
            dropped = sum(count for _, _, count in sent)
            self.assertEqual(len(kept) + dropped, size)
            self.assertTrue(text.startswith(kept[:10]) and text.endswith(kept[10:]))
            self.assertEqual(dropped > 0, size > 15, size)

    def test_one_huge_write_keeps_its_end(self):
        sent = self.collect(4, 6, ("stdout", b"0123456789" * 1000))
        self.assertEqual(sent, [("stdout", "0123", 0), ("stdout", "456789", 9990)])

    def test_interleaved_streams_keep_their_order_in_the_tail(self):
        writes = [("stdout", b"o%d" % n) if n % 2 else ("stderr", b"e%d" % n) for n in range(10)]
        self.assertEqual(self.collect(0, 6, *writes), [("stdout", "o7", 14), ("stderr", "e8", 0), ("stdout", "o9", 0)])


class Frames(unittest.TestCase):
    def test_json_agrees_with_the_library(self):
        frames = load("frames")
        for value in ({"a": [1, 2.5, None, True, False], "é\ud83d\x00\u2028": {"x": [], "y": {}}}, {}, {"n": -3, "e": 1e300}):
            self.assertEqual(json.loads(frames.to_json(value)), value)
            buffer = bytearray(frames.to_frame(value) + frames.to_frame({"next": 1}) + b"\0\0")
            self.assertEqual(frames.take_frames(buffer), [value, {"next": 1}])
            self.assertEqual(buffer, b"\0\0")

    def test_bytes_that_are_no_frame_are_told(self):
        frames = load("frames")
        for body in (b"[]", b"", b"{", b"\xff"):
            with self.assertRaises(ValueError):
                frames.take_frames(bytearray(len(body).to_bytes(4, "big") + body))


class Links(unittest.TestCase):
    TAG = b"t" * 16

    def test_messages_survive_any_split_and_interleaving(self):
        links = load("links")
        messages = [("a", "x" * 20000), ("b", {"k": "\ud83d"}), ("c",)]
        parts = [list(links.to_parts(self.TAG, n, message)) for n, message in enumerate(messages)]
        data = b"".join(parts[0][:2] + parts[1] + parts[0][2:] + parts[2])
        for step in (1, 7, 4096, len(data)):
            assembler = links.Assembler(self.TAG)
            got = []
            for start in range(0, len(data), step):
                got += assembler.feed(data[start : start + step])
            self.assertEqual(got, [messages[1], messages[0], messages[2]])

    def test_parts_are_written_whole(self):
        import select

        links = load("links")
        sizes = [len(part) for part in links.to_parts(self.TAG, 1, ("x", b"y" * 100000))]
        self.assertLessEqual(max(sizes), select.PIPE_BUF)

    def test_a_message_that_was_torn_off_is_forgotten(self):
        links = load("links")
        assembler = links.Assembler(self.TAG)
        torn = list(links.to_parts(self.TAG, 1, ("x", "y" * 20000)))
        whole = b"".join(links.to_parts(self.TAG, 2, ("z",)))
        self.assertEqual(assembler.feed(b"".join(torn[:-1]) + whole), [("z",)])
        assembler.forget_unfinished()
        self.assertEqual(assembler.open, {})

    def test_bytes_without_the_tag_are_told(self):
        links = load("links")
        for junk in (b"x" * 16, b"x" * 1000, b"t" * 15 + b"x" + b"\0" * 100):
            with self.assertRaises(ValueError):
                links.Assembler(self.TAG).feed(junk)


class MagicLines(unittest.TestCase):
    def starts(self, source):
        return load("magics")._logical_starts(source.split("\n"))

    def test_lines_inside_strings_brackets_and_continuations_start_nothing(self):
        for source, wanted in (
            ("a\n%b", [0, 1]),
            ("(\n%b\n)\n%c", [0, 3]),
            ("'''\n!b\n'''\n!c", [0, 3]),
            ('"""\n\'\'\'\n!b\n"""\n!c', [0, 4]),
            ("x = 1 \\\n% 2\n!c", [0, 2]),
            ("# (\n!c", [0, 1]),
            ("'('\n!c", [0, 1]),
            ("'\\'('\n!c", [0, 1]),
            ("'a\\\n!b'\n!c", [0, 2]),
            ("!echo ( '\n!c", [0, 1]),
            ("'''\\'''\n!b\n'''\n!c", [0, 3]),
        ):
            self.assertEqual(self.starts(source), wanted, source)

    def test_translation_keeps_the_number_of_lines(self):
        source = "x = 1\n!ls\n\nif x:\n    %time y = 2\n"
        translated = load("magics").translate(source, "<block 1>")
        self.assertEqual(len(translated.split("\n")), len(source.split("\n")))
        compile(translated, "<test>", "exec")


class Shortening(unittest.TestCase):
    def test_head_and_tail_stay(self):
        shorten = load("tracebacks").shorten
        self.assertEqual(shorten("abc", 3), "abc")
        self.assertEqual(shorten("abc", 0), "\n... [3 characters omitted] ...\n")
        short = shorten("a" * 100 + "b" * 100, 20)
        self.assertTrue(short.startswith("a" * 10 + "\n") and short.endswith("\n" + "b" * 10))
        self.assertIn("180", short)


if __name__ == "__main__":
    unittest.main()
