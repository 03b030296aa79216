"""The wires between monitor and kernel, and the numbers they live at.

reports: kernel to monitor, parts of at most PIPE_BUF bytes, so that each write is whole or not at all, also when
a signal handler of user code raises in the middle of a message: then the message just never ends and is dropped.
A part is TAG (16 random bytes per kernel), message number (6), last-part flag (1), length (2), payload.
A message is a marshalled tuple whose first item is its kind. Bytes without the tag are not ours.
commands: monitor to kernel, 8 bytes length and a marshalled tuple; a length of 0 asks the kernel to end.
acks: 8 bytes, the number of the last round trip that the monitor has finished.
asked: one byte for each interrupt that the monitor asks for. life: never written; its end means the monitor is gone.
"""

from .pristine import BUILTINS as __builtins__

import fcntl
import marshal
import os
import select
import sys

TAG_SIZE = 16
_HEADER_SIZE = TAG_SIZE + 6 + 1 + 2
_PAYLOAD_SIZE = getattr(select, "PIPE_BUF", 512) - _HEADER_SIZE
_HIGH = 512
_F_SETSIG = 10
_F_SETPIPE_SZ = 1031
_FIONREAD = 0x4004667F if sys.platform == "darwin" else 0x541B


def to_parts(tag, number, message):
    """Yields the parts of one report."""
    payload = marshal.dumps(message)
    lead = tag + number.to_bytes(6, "big")
    for start in range(0, len(payload), _PAYLOAD_SIZE):
        piece = payload[start : start + _PAYLOAD_SIZE]
        last = b"\1" if start + _PAYLOAD_SIZE >= len(payload) else b"\0"
        yield lead + last + len(piece).to_bytes(2, "big") + piece


class Assembler:
    """Puts reports together from what is read of the pipe."""

    def __init__(self, tag):
        self.tag = tag
        self.buffer = bytearray()
        self.open = {}

    def feed(self, data):
        """Returns the messages that `data` completes. Raises ValueError when it is not what a kernel writes."""
        self.buffer += data
        messages = []
        buffer = self.buffer
        start = 0
        while len(buffer) - start >= _HEADER_SIZE:
            if buffer[start : start + TAG_SIZE] != self.tag:
                raise ValueError("Bytes on the reports pipe that the kernel did not write")
            end = start + _HEADER_SIZE + int.from_bytes(buffer[start + _HEADER_SIZE - 2 : start + _HEADER_SIZE], "big")
            if len(buffer) < end:
                break
            number = bytes(buffer[start + TAG_SIZE : start + TAG_SIZE + 6])
            parts = self.open.setdefault(number, bytearray())
            parts += buffer[start + _HEADER_SIZE : end]
            if buffer[start + TAG_SIZE + 6]:
                del self.open[number]
                messages.append(_load(parts))
            start = end
        if len(buffer) - start >= TAG_SIZE and buffer[start : start + TAG_SIZE] != self.tag:
            raise ValueError("Bytes on the reports pipe that the kernel did not write")
        del buffer[:start]
        return messages

    def forget_unfinished(self):
        self.open.clear()


def _load(payload):
    try:
        message = marshal.loads(payload)
    except (EOFError, TypeError) as error:
        raise ValueError("A report that cannot be read") from error
    if not isinstance(message, tuple):
        raise ValueError("A report that is no message")
    return message


def move_high(descriptor):
    """Moves a descriptor out of the range that user code sweeps with `os.closerange`; returns the new number."""
    limit = os.sysconf("SC_OPEN_MAX")
    for base in (_HIGH, max(3, limit - 32)):
        try:
            high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, base)
        except OSError:
            continue
        os.close(descriptor)
        return high
    return descriptor


def widen(descriptor, size):
    """Asks for a larger pipe, where the system can do that."""
    try:
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, size)
    except OSError:
        return False
    return True


def die_with(descriptor, signal_number):
    """Lets the system kill this process group when the other end of the pipe `descriptor` closes (Linux).

    The signal comes from the system, so it works while C code holds the interpreter's lock, and needs no thread.
    """
    if sys.platform != "linux":
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(descriptor, _F_SETSIG, signal_number)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
    except (OSError, AttributeError):
        return False
    return True


def waiting_bytes(descriptor):
    """Returns how many bytes lie in a pipe, asked at either end on Linux; 0 when that cannot be told."""
    try:
        answer = fcntl.ioctl(descriptor, _FIONREAD, b"\0\0\0\0")
    except OSError:
        return 0
    return int.from_bytes(answer, sys.byteorder)


