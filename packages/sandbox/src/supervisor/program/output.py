"""The output of a script, as it becomes frames."""

import binascii
import os
import time

from .frames import CHUNK_BYTES, pending, say

# Output is held back for at most so long, so that a script of many small writes does not become as many frames.
HOLD_S = 0.05
# How often is told what the output ends with while it is more than is kept from its begin, and how much of it.
NEWS_S = 1
NEWS_BYTES = 2_000


class Output:
    """
    One stream of the script. The first bytes of it become frames, and the last ones in the end; those between are counted: it is read on, so that no
    script waits for its reader.
    """

    def __init__(self, name, keep_bytes, tail_bytes):
        self.name = name
        self.keep_bytes = self.left = keep_bytes
        self.tail_bytes = tail_bytes
        self.tail = bytearray()
        self.news_at = None
        self.dropped = 0
        self.held = bytearray()
        self.held_since = 0
        self.is_open = True
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)

    def read(self):
        """Returns whether there was anything."""
        try:
            data = os.read(self.read_end, 65_536)
        except BlockingIOError:
            return False
        if not data:
            self.is_open = False
            return False
        kept = data[: self.left]
        self.left -= len(kept)
        if not self.held:
            self.held_since = time.monotonic()
        self.held += kept
        if len(kept) < len(data):
            self.tail += data[len(kept) :]
            over = max(0, len(self.tail) - self.tail_bytes)
            del self.tail[:over]
            self.dropped += over
            if self.news_at is None:
                self.news_at = time.monotonic() + NEWS_S
        return True

    def release(self, now):
        is_due = now - self.held_since >= HOLD_S
        while len(self.held) >= CHUNK_BYTES or (self.held and is_due):
            say(frame=self.name, data=binascii.b2a_base64(self.held[:CHUNK_BYTES], newline=False).decode())
            del self.held[:CHUNK_BYTES]
        if self.tail and self.news_at is not None and now >= self.news_at and not pending:
            self.news_at = None
            say(frame="now", data=binascii.b2a_base64(self.tail[-NEWS_BYTES:], newline=False).decode())

    def drain(self):
        """What was written before the end. Bounded by what a pipe holds, should there still be a writer."""
        for _ in range(64):
            if not self.read():
                break
        self.news_at = None
        self.release(float("inf"))
        for at in range(0, len(self.tail), CHUNK_BYTES):
            say(frame=self.name + "Tail", data=binascii.b2a_base64(self.tail[at : at + CHUNK_BYTES], newline=False).decode())

    def end_cell(self):
        """Tells all that was written before a cell's end, and begins anew. Returns how many bytes were dropped."""
        self.drain()
        dropped, self.dropped = self.dropped, 0
        self.left = self.keep_bytes
        self.tail.clear()
        return dropped
