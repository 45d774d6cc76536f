"""
Messages and cells between the script's process and the manager, while the script runs. They pass through here unread: a packet of the script is a frame, and
a frame of the manager is a packet (`frames.ts`). The kernel says which process has sent a packet, so that no other one speaks for the script.
"""

import binascii
import os
import select
import struct

from .frames import CHUNK_BYTES, fail, pending, say
from .settings import read_json, whole

# What the manager sends in one frame, and how much of it waits for a script that does not read.
MAX_PIECE_BYTES = 32 * 1024
MAX_WAITING_BYTES = 1024 * 1024
# As long as more frames than this wait for their reader, no packet is taken: it is the script that waits.
MAX_PENDING_BYTES = 256 * 1024
MAX_HEADER_BYTES = 256


class Channel:
    def __init__(self, frame, module=None):
        import _socket  # which few scripts need

        self.frame = frame
        self.module = module
        kind = getattr(_socket, "SOCK_SEQPACKET", _socket.SOCK_DGRAM)
        self.outside, self.inside = (_socket.socket(fileno=end.detach()) for end in _socket.socketpair(_socket.AF_UNIX, kind, 0))
        self.outside.setblocking(False)
        self.knows_senders = hasattr(_socket, "SO_PASSCRED")
        if self.knows_senders:
            self.outside.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        self.is_credentials = lambda level, kind: level == _socket.SOL_SOCKET and kind == _socket.SCM_CREDENTIALS
        self.script_pid = None
        self.strangers = 0
        self.is_open = True
        # Anything has come for the script since somebody looked.
        self.was_sent = False
        self.waiting = []
        self.waiting_bytes = 0

    def follow(self, script_pid):
        """In the supervisor, once the script's process is there."""
        self.script_pid = script_pid
        self.inside.close()

    def wants_packets(self):
        return self.is_open and len(pending) < MAX_PENDING_BYTES

    def wants_frames(self):
        return self.waiting_bytes < MAX_WAITING_BYTES

    def take_packet(self):
        """One at a time: what else there is to do has its turn in between. Returns it, or nothing."""
        try:
            data, ancillary, _, _ = self.outside.recvmsg(CHUNK_BYTES, 64)
        except BlockingIOError:
            return b""
        except OSError:
            self.is_open = False
            return b""
        if not data and not ancillary:
            self.is_open = False
        elif self.sender_of(ancillary) != self.script_pid:
            self.strangers += 1
            return b""
        return data

    def tell(self, data):
        say(frame=self.frame, data=binascii.b2a_base64(data, newline=False).decode())

    def sender_of(self, ancillary):
        if not self.knows_senders:
            return self.script_pid
        for level, kind, data in ancillary:
            if self.is_credentials(level, kind):
                return struct.unpack("3i", data[:12])[0]
        return None

    def take_piece(self, piece):
        self.waiting.append(piece)
        self.waiting_bytes += len(piece)
        self.was_sent = True

    def send_packets(self):
        while self.waiting:
            try:
                self.outside.send(self.waiting[0])
            except BlockingIOError:
                return
            except OSError:  # nobody reads any more
                self.waiting.clear()
                self.waiting_bytes = 0
                return
            self.waiting_bytes -= len(self.waiting.pop(0))


class FrameReader:
    """What comes on stdin after the job: each frame goes to the channel that it names, and `interrupt` to the script."""

    def __init__(self, channels, interrupt=None):
        self.held = bytearray()
        self.channels = {channel.frame: channel for channel in channels}
        self.interrupt = interrupt

    def take(self, data):
        """Takes bytes, of which the last frame may not be all there yet."""
        self.held += data
        while True:
            end = self.held.find(b"\n", 0, MAX_HEADER_BYTES)
            if end < 0:
                if len(self.held) >= MAX_HEADER_BYTES:
                    fail("a frame of the manager has no header")
                return
            header = read_json(bytes(self.held[:end]))
            is_interrupt = header["frame"] == "interrupt" and self.interrupt is not None
            if not is_interrupt and header["frame"] not in self.channels:
                fail("a frame of the manager is of no known kind")
            size = whole(header["bytes"], 0)
            if size > MAX_PIECE_BYTES:
                fail("a frame of the manager is too large")
            if len(self.held) < end + 1 + size:
                return
            piece = bytes(self.held[end + 1 : end + 1 + size])
            del self.held[: end + 1 + size]
            if is_interrupt:
                self.interrupt()
            else:
                self.channels[header["frame"]].take_piece(piece)


def is_hung_up(file):
    """Whether nothing can come any more, without reading what has come."""
    poll = select.poll()
    poll.register(file, getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))


def open_module(channel):
    """In the script's process: the module by which it sends messages. `inside` is all that it gets."""
    os.set_inheritable(channel.inside.fileno(), False)
    module = type(os)("rockbot")
    module.__dict__.update(__file__="<rockbot>", channel=channel.inside)
    exec(compile(channel.module, "<rockbot>", "exec", dont_inherit=True), module.__dict__)
    return module
