"""What the supervisor says on stdout, in the form of `frames.ts`, and its end by a fault of its own."""

import os
import select
import time

# In base64, and with its frame: less than MAX_FRAME_BYTES of frames.ts.
CHUNK_BYTES = 8_000
# How long frames may wait for their reader once the script has ended.
FLUSH_S = 10
# The longest text about a failure here.
MAX_REASON = 500

pending = bytearray()


def say(**frame):
    pending.extend(b"{" + b",".join(quoted(name) + b":" + written(value) for name, value in frame.items()) + b"}\n")


def written(value):
    """As JSON: a text, a number, or nothing."""
    return b"null" if value is None else quoted(value) if isinstance(value, str) else repr(value).encode()


def quoted(text):
    if text.isascii() and text.isprintable():
        return b'"' + text.replace("\\", "\\\\").replace('"', '\\"').encode() + b'"'
    return b'"' + "".join(map(escaped, text)).encode() + b'"'


def escaped(character):
    if " " <= character <= "~" and character not in '"\\':
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def write_pending():
    """Writes what stdout takes now. Nobody reads it any more: all is over."""
    while pending:
        try:
            del pending[: os.write(1, pending[:65_536])]
        except BlockingIOError:
            return
        except OSError:
            os._exit(1)


def flush(seconds):
    os.set_blocking(1, False)
    deadline = time.monotonic() + seconds
    write_pending()
    while pending:
        left = deadline - time.monotonic()
        if left <= 0:
            os._exit(1)
        select.select([], [1], [], left)
        write_pending()


def fail(reason):
    """Ends the sandbox by a fault of its own, and says so."""
    say(frame="failed", reason=reason[:MAX_REASON])
    flush(FLUSH_S)
    os._exit(1)


def words_of(error):
    """What was raised and where, in this file."""
    where = error.__traceback__
    while where.tb_next is not None and where.tb_next.tb_frame.f_code.co_filename == words_of.__code__.co_filename:
        where = where.tb_next
    return f"{type(error).__name__}: {error} ({where.tb_frame.f_code.co_name}, line {where.tb_lineno})"

"""What the command says, and how values of the manager are read."""

import ctypes
import sys

LIMITS = "memoryBytes", "processes", "fileBytes", "openFiles", "packagesBytes"
# The largest whole number that all programs on its way represent exactly.
MAX_NUMBER = (1 << 53) - 1
# The child notes this about itself, where the supervisor sees it; words may follow.
BROKEN, MEMORY, PROCESSES = 1, 2, 3
NOTES_BYTES = 4_096

libc = ctypes.CDLL(None, use_errno=True)


def read_json(text):
    """What only the manager writes, which is Python too but for three words."""
    return eval(text, {"__builtins__": {}, "null": None, "true": True, "false": False})


def whole(number, least):
    """A number as the kernel takes it, whole and within bounds, whatever it was."""
    return int(min(max(least, number), MAX_NUMBER))


CONFIG = read_json(sys.argv[1])

"""The files that go into a sandbox with a job, and those that a script leaves in the end."""

import binascii
import errno
import os
import stat


# Files are told at the pace of their reader: so much waits for it.
MAX_TOLD_BYTES = 256 * 1024
# What a script leaves is in this folder of its own one. Where the platform can, `/out` leads there.
OUT = "out"


def write_files(incoming, size, folder, modes):
    """Writes files, each a line of JSON and its bytes (`pack-layer.ts`), below a folder. Of `modes` the second is for what can be executed."""
    end = incoming.taken + size
    while incoming.taken < end:
        file = read_json(incoming.line())
        path, left = file["path"].split("/"), file["bytes"]
        if any(part in ("", ".", "..") for part in path) or left > end - incoming.taken:
            fail("a file of the job leads elsewhere, or is too large")
        os.makedirs(os.path.join(folder, *path[:-1]), exist_ok=True)
        opened = os.open(os.path.join(folder, *path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, modes[file["executable"]])
        while left > 0:
            data = incoming.some(left)
            left -= len(data)
            while data:
                data = data[write_some(opened, data) :]
        os.close(opened)


def write_some(opened, data):
    try:
        return os.write(opened, data)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        fail("the files of the job do not fit into the sandbox")


def make_out_folder():
    os.mkdir(os.path.join(CONFIG["folder"], OUT))


def tell_files(most_files, most_bytes, tell, known=None):
    """
    Tells of the files that the script has left. The reader has the rights of the script, and sees no more: a link, or what is no file, is passed over.
    Those of `known` are as they were told before, and are not told again. Returns how many were passed over.
    """
    try:
        folder = os.open(os.path.join(CONFIG["folder"], OUT), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return 0
    known = {} if known is None else known
    told, passed, left = 0, 0, most_bytes
    for name in sorted(os.listdir(folder)):
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError:
            passed += 1
            continue
        status = os.fstat(file)
        facts = status.st_ino, status.st_size, status.st_mtime_ns
        if known.get(name) == facts:
            pass
        elif told == most_files or not stat.S_ISREG(status.st_mode) or status.st_size > left:
            passed += 1
        else:
            known[name] = facts
            told += 1
            left -= status.st_size
            tell(name, file, status.st_size)
        os.close(file)
    os.close(folder)
    return passed


def tell_file(name, file, size):
    """In the supervisor, once nothing of the script runs any more."""
    say(frame="file", name=name, bytes=size)
    while size > 0:
        data = os.read(file, min(CHUNK_BYTES, size))
        if not data:
            fail("a file of the script has become shorter")
        size -= len(data)
        say(frame="fileData", data=binascii.b2a_base64(data, newline=False).decode())
        if len(pending) > MAX_TOLD_BYTES:
            flush(FLUSH_S)

"""
Messages and cells between the script's process and the manager, while the script runs. They pass through here unread: a packet of the script is a frame, and
a frame of the manager is a packet (`frames.ts`). The kernel says which process has sent a packet, so that no other one speaks for the script.
"""

import binascii
import os
import select
import struct


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

"""The one job: read from stdin, unpacked, and checked against its hash."""

import os
import time


MAX_LINE_BYTES = 8_192
MAX_JOB_BYTES = 64 * 1024 * 1024
# No script is given less, in milliseconds.
LEAST_TIME_MS = 100


def sha256():
    """Without OpenSSL, where the interpreter has one of its own."""
    for name in ("_sha2", "_sha256", "hashlib"):
        try:
            return __import__(name).sha256()
        except ImportError:
            pass


def read_job():
    """Waits for a job. If there is none, or not all of it has come, the sandbox ends without having started anything."""
    incoming = Incoming()
    job = read_json(incoming.line())
    job["arrived"] = time.monotonic()
    script_bytes, input_bytes, module_bytes = job["scriptBytes"], job["inputBytes"], job.get("moduleBytes")
    if script_bytes + (input_bytes or 0) + (module_bytes or 0) > MAX_JOB_BYTES:
        fail("the job is too large")
    job["script"] = incoming.take(script_bytes)
    job["input"] = None if input_bytes is None else incoming.take(input_bytes)
    job["channel"] = None if module_bytes is None else Channel("message", incoming.take(module_bytes))
    job["cells"] = Channel("cell") if job.get("cells") else None
    if job.get("outFiles") is not None or job["cells"] is not None:
        make_out_folder()
    if job.get("filesBytes") is not None:
        write_files(incoming, job["filesBytes"], CONFIG["folder"], (0o644, 0o755))
    if job["packagesBytes"] is not None:
        unpack(incoming, job["packagesBytes"], os.path.join(CONFIG["packagesFolder"], job["packages"]))
    expected = incoming.digest.hexdigest().encode()
    if incoming.take(len(expected)) != expected:
        fail("the job is not what was sent")
    return job


class Incoming:
    """What comes on stdin, as far as it is wanted, and the hash of what was taken of it."""

    def __init__(self):
        self.held = bytearray()
        self.taken = 0
        self.digest = sha256()

    def line(self):
        while b"\n" not in self.held:
            if len(self.held) > MAX_LINE_BYTES:
                fail("a line is too long")
            self.wait()
        return self.take(self.held.index(b"\n") + 1)

    def take(self, size):
        while len(self.held) < size:
            self.wait()
        return self.remove(size)

    def some(self, size):
        """At least one byte and at most so many."""
        if not self.held:
            self.wait()
        return self.remove(min(size, len(self.held)))

    def remove(self, size):
        data = bytes(self.held[:size])
        del self.held[:size]
        self.taken += size
        self.digest.update(data)
        return data

    def wait(self):
        data = os.read(0, 1 << 20)
        if not data:
            os._exit(0)
        self.held += data


def unpack(incoming, size, folder):
    """
    Writes the files of a layer below a new folder. They are there before it is known whether they are those that were sent: if not, no script runs. The
    script's user owns them, so that modes keep it from changing them by mistake only: the wall is `allow_writing`, and the copy is this sandbox's own.
    """
    if size > CONFIG["packagesBytes"]:
        fail("the packages are too large")
    os.mkdir(folder)
    write_files(incoming, size, folder, (0o444, 0o555))


def time_of(job):
    """How long the script may run, in whole milliseconds: what it was given, or what is left of its call since the job began to come."""
    time_ms = whole(job["timeoutMs"], LEAST_TIME_MS)
    if job["withinMs"] is None:
        return time_ms
    passed_ms = (time.monotonic() - job["arrived"]) * 1000
    return min(time_ms, whole(job["withinMs"] - passed_ms, LEAST_TIME_MS))

"""Calls of Linux that Python has no names for."""

import ctypes
import os


PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


def prctl(option, value, pointer=None):
    # Unused arguments must be 0, and all are of a register's width.
    if libc.prctl(option, ctypes.c_ulong(value), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def set_dumpable(is_dumpable):
    """Who is not dumpable cannot be traced, nor its memory and files opened, by others of its user."""
    prctl(PR_SET_DUMPABLE, 1 if is_dumpable else 0)

"""The output of a script, as it becomes frames."""

import binascii
import os
import time


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

"""The processes of the sandbox: who they are, what they use, and their end."""

import _signal as signal
import os


# In RAM, in swap, and the tables of both.
MEMORY_PARTS = b"VmRSS", b"VmSwap", b"VmPTE"
STATUS_NUMBERS = {*MEMORY_PARTS, b"Threads"}

# Of its own cgroup, where a sandbox sees it: version 2, and 1.
MEMORY_EVENTS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]


def open_process(pid):
    """A file that can be read once the process has ended; none where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def kill_all(script_pid):
    """Everything in the sandbox; where that is no pid namespace of its own, the script and all that descends from it."""
    if os.getpid() == 1:
        kill(-1)
        return
    kill(-script_pid)
    for pid in descendants():
        kill(pid)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def descendants():
    children = {}
    for pid in process_ids():
        try:
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(pid)
    found = []
    waiting = [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            found.append(pid)
            waiting.append(pid)
    return found


def process_ids():
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def usage():
    """Bytes of memory and number of threads of all processes but this one. What they share is counted once, as soon as that matters."""
    pids = [pid for pid in process_ids() if pid != 1] if os.getpid() == 1 else descendants()
    used, threads = 0, 0
    for pid in pids:
        status = status_of(pid)
        used += sum(status.get(name, 0) for name in MEMORY_PARTS) * 1024
        threads += status.get(b"Threads", 0)
    if used > CONFIG["memoryBytes"] and len(pids) > 1:
        used = sum(map(proportional_bytes, pids))
    return used, threads


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            lines = (line.partition(b":") for line in file.read(16_384).split(b"\n"))
            return {name: int(value.split()[0]) for name, _, value in lines if name in STATUS_NUMBERS}
    except (OSError, IndexError, ValueError):
        return {}


def killed_for_memory():
    """How many processes the kernel has ended as memory was used up: it ends one, and the others go on."""
    for path in MEMORY_EVENTS:
        try:
            with open(path) as file:
                return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
        except (OSError, IndexError, ValueError):
            pass
    return 0


def proportional_bytes(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("Pss:", "SwapPss:"))) + status_of(pid).get(b"VmPTE", 0) * 1024
    except OSError:
        pass
    status = status_of(pid)
    return sum(status.get(name, 0) for name in MEMORY_PARTS) * 1024

"""
The charts of a script: figures of matplotlib and images of PIL as PNG files of its folder `out`, charts of Plotly and Vega as JSON. No library is imported for
that: it is followed where the script imports it.
"""

import os
import sys

MAX_CHARTS = 10
MAX_SPEC = 256 * 1024
MAX_NUMBER_OF_PICTURE = 1_000


class Charts:
    """What was kept since the last time. Pictures go into `folder`; where there is none, they are counted."""

    def __init__(self, folder):
        self.folder = folder
        self.forget()

    def forget(self):
        self.kept, self.unkept, self.beyond = [], 0, 0
        # Figures that need no file any more.
        self.done = []

    def has_room(self):
        if len(self.kept) >= MAX_CHARTS:
            self.beyond += 1
        return len(self.kept) < MAX_CHARTS

    def keep_picture(self, write):
        """`write` writes a PNG to an open file."""
        if self.folder is None:
            self.unkept += 1
        elif self.has_room():
            name, file = self.new_file()
            try:
                with file:
                    write(file)
            except BaseException:
                os.unlink(os.path.join(self.folder, name))
                raise
            self.kept.append({"file": name})

    def new_file(self):
        for number in range(1, MAX_NUMBER_OF_PICTURE):
            name = f"figure-{number}.png"
            try:
                return name, open(os.path.join(self.folder, name), "x+b")
            except FileExistsError:
                pass
        raise FileExistsError("the folder out has too many pictures")

    def keep_figure(self, figure):
        if any(one is figure for one in self.done):
            return
        self.done.append(figure)
        self.keep_picture(lambda file: figure.savefig(file, format="png", bbox_inches="tight"))

    def keep_image(self, image):
        self.keep_picture(lambda file: write_image(image, file))

    def keep_spec(self, kind, spec):
        if len(spec) > MAX_SPEC:
            raise ValueError(f"as JSON it has {len(spec)} characters, and {MAX_SPEC} are taken")
        if self.has_room():
            self.kept.append({"kind": kind, "spec": spec})

    def keep_value(self, value):
        """Keeps a value that is a chart. Returns whether its text is nothing but that."""
        spec = spec_of(value)
        if spec is not None:
            self.keep_spec(*spec)
        elif is_a(value, "matplotlib.figure", "Figure"):
            self.keep_figure(value)
        elif is_a(value, "PIL.Image", "Image"):
            self.keep_image(value)
        elif callable(getattr(type(value), "_repr_png_", None)):
            data = value._repr_png_()
            if isinstance(data, bytes):
                self.keep_picture(lambda file: file.write(data))
        return spec is not None

    def note_saved(self, figure, place):
        """A figure that the script itself has saved in its folder `out` needs no second file."""
        if self.folder is not None and isinstance(place, (str, os.PathLike)):
            if os.path.dirname(os.path.realpath(place)) == os.path.realpath(self.folder):
                self.done.append(figure)


def write_image(image, file):
    try:
        image.save(file, "PNG")
    except OSError:  # PNG has not all modes
        file.seek(0)
        file.truncate()
        image.convert("RGB").save(file, "PNG")


def spec_of(value):
    """The kind and the JSON of a chart that is data; else nothing."""
    kind = type(value)
    if is_a(value, "plotly.basedatatypes", "BaseFigure"):
        return "plotly", value.to_json()
    if kind is dict and isinstance(value.get("$schema"), str) and "/schema/vega" in value["$schema"]:
        import json

        return "vega", json.dumps(value)
    if "altair" in sys.modules and any(base.__module__.startswith("altair.") for base in kind.__mro__) and hasattr(kind, "to_json"):
        return "vega", value.to_json(indent=None)
    return None


def is_a(value, module, name):
    """Whether its type is made of a class of a module that is loaded, whatever it says of itself."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and any(base is kind for base in type(value).__mro__)


class ImportHooks:
    """Calls a hook with a module as soon as that was imported. Stands among the finders of `sys.meta_path`."""

    def __init__(self, hooks):
        self.hooks = hooks
        for name, hook in hooks.items():
            if name in sys.modules:
                call_hook(hook, sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                follow_loader(spec.loader, self.hooks[name])
                return spec
        return None


def follow_loader(loader, hook):
    try:
        execute = loader.exec_module
    except AttributeError:
        return

    def exec_module(module):
        execute(module)
        call_hook(hook, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # it takes none: then only what is open at the end is kept


def call_hook(hook, module):
    try:
        hook(module)
    except BaseException:
        pass  # it is not what its name says

"""
What a script shows besides what it prints: the value of its last expression, and its charts. All this runs in the script's own process with the script's
rights, so that whoever reads what comes of it believes nothing. Showing never fails a script: what cannot be shown is told in words.
"""

import _ast
import _signal as signal
import binascii
import functools
import os
import sys
import time
from _thread import get_ident


# Of `compile`: only parse.
ONLY_PARSE = 0x400
MAX_TEXT = 8_192
MAX_DEPTH = 20
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 20, 30, 200
MAX_NOTES, MAX_NOTE = 10, 300
# One thing that is shown may take so long, and no longer than the script has, less what it takes to end.
SHOW_S, SPARE_S = 5, 0.25
BRACKETS = {list: "[]", tuple: "()", dict: "{}", set: "{}"}


def run_source(source, path, namespace):
    """Runs a source as `exec` does. Returns the value of its last statement, or None where that is no expression."""
    body, last = split_source(source, path)
    exec(body, namespace)
    return None if last is None else eval(last, namespace)


def split_source(source, path):
    """The code of all statements but a last expression, and of that."""
    try:
        tree = compile(source, path, "exec", ONLY_PARSE, True)
        if tree.body and type(tree.body[-1]) is _ast.Expr:
            last = _ast.Expression(tree.body.pop().value)
            return compile(tree, path, "exec", 0, True), compile(last, path, "eval", 0, True)
    except Exception:
        pass  # the source is told its faults as ever
    return compile(source, path, "exec", 0, True), None


def script_trace(trace):
    """A trace without the frames of this program that it begins with."""
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    return trace


class Shown:
    """
    What one script shows. Its pictures go into `folder`, where there is one. What is shown has `most_bytes` at most, and is done by `until`, on the clock of
    `time.monotonic`.
    """

    def __init__(self, folder, most_bytes, until):
        self.charts = Charts(folder)
        self.notes = []
        self.most_bytes = most_bytes
        self.until = until
        self.process, self.thread = os.getpid(), get_ident()
        self.hooks = ImportHooks({"matplotlib.pyplot": self.follow_pyplot, "PIL.Image": self.follow_pillow, "plotly.basedatatypes": self.follow_plotly})

    def follow_pyplot(self, pyplot):
        pyplot.show = lambda *_, **__: self.show_figures(pyplot)
        original = pyplot.Figure.savefig

        @functools.wraps(original)
        def savefig(figure, place, *arguments, **named):
            original(figure, place, *arguments, **named)
            self.charts.note_saved(figure, place)

        pyplot.Figure.savefig = savefig

    def follow_pillow(self, module):
        module.Image.show = lambda image, *_, **__: self.attempt("An image", lambda: self.charts.keep_image(image))

    def follow_plotly(self, module):
        module.BaseFigure.show = lambda figure, *_, **__: self.attempt("A chart", lambda: self.charts.keep_spec("plotly", figure.to_json()))

    def show_figures(self, pyplot):
        """Keeps and closes those that are open."""
        for number in list(pyplot.get_fignums()):
            self.attempt("A figure", lambda: self.charts.keep_figure(pyplot.figure(number)))
            pyplot.close(number)

    def collect(self, value):
        """What was shown since the last time, and a value, as JSON: no bytes, if there is nothing. What is written meanwhile goes nowhere."""
        if os.getpid() != self.process:
            return b""  # a process that the script has forked, and that came to its end
        try:
            return silently(lambda: self.gather(value))
        except BaseException as error:
            return encoded({"notes": [f"Nothing is shown: {fault_of(error)}"]})
        finally:
            self.forget()

    def forget(self):
        self.charts.forget()
        self.notes = []

    def gather(self, value):
        charts, form = self.charts, {}
        if "matplotlib.pyplot" in sys.modules:
            self.attempt("What matplotlib has open", lambda: self.show_figures(sys.modules["matplotlib.pyplot"]))
        if value is not None:
            form["value"] = {"type": "", "text": ""}
            is_all = self.attempt("The chart of the last expression", lambda: charts.keep_value(value))
            self.attempt("The value of the last expression", lambda: self.describe(value, form["value"], is_all))
        counts = {"unkept": charts.unkept, "beyond": charts.beyond}
        form.update((name, count) for name, count in counts.items() if count > 0)
        form.update((name, list(texts)) for name, texts in {"charts": charts.kept, "notes": self.notes}.items() if texts)
        return self.fitting(form) if form else b""

    def fitting(self, form):
        """Within the bytes that it may have: what is large is left out first, the last chart before."""
        told, notes = encoded(form), list(self.notes)
        for chart in [chart for chart in reversed(form.get("charts", [])) if "spec" in chart]:
            if len(told) > self.most_bytes:
                form["charts"].remove(chart)
                notes.append("A chart is not shown: it has no room beside the others.")
                told = encoded({**form, "notes": notes})
        if len(told) > self.most_bytes and form.get("value", {}).pop("table", None) is not None:
            notes.append("The table of the value is not shown: it has no room.")
            told = encoded({**form, "notes": notes})
        return told if len(told) <= self.most_bytes else encoded({"notes": ["Nothing is shown: it is too much."]})

    def attempt(self, what, step):
        """Does a step, and notes if it fails or takes too long."""
        try:
            if get_ident() != self.thread:
                return step()  # only the first thread gets signals
            seconds = min(SHOW_S, self.until - time.monotonic() - SPARE_S)
            if seconds <= 0:
                raise TimeoutError("the script has no time left")
            return within_time(step, seconds)
        except BaseException as error:
            self.note(f"{what} is not shown: {fault_of(error)}")

    def note(self, words):
        if len(self.notes) < MAX_NOTES:
            self.notes.append(words[:MAX_NOTE])

    def describe(self, value, form, is_chart):
        form["type"] = type_name(type(value))
        if is_chart:
            return
        table = table_of(value)
        if table is not None:
            form["table"] = table
        form["text"], is_cut = text_of(value)
        if is_cut:
            form["isCut"] = 1


def text_of(value):
    """Its `repr`, and whether that is cut. The usual containers are written only as far as they are shown."""
    room, pieces = MAX_TEXT, []
    for piece in repr_pieces(value, 0):
        pieces.append(str.__getitem__(piece, slice(room)))
        room -= str.__len__(piece)
        if room < 0:
            break
    return "".join(pieces), room < 0


def repr_pieces(value, depth):
    kind = type(value)
    if kind in (str, bytes):
        yield repr(value[: MAX_TEXT + 1])
    elif kind not in BRACKETS or not value:
        yield repr(value)
    elif depth == MAX_DEPTH:
        yield "..."
    else:
        opening, closing = BRACKETS[kind]
        yield opening
        for at, one in enumerate(value):
            if at > 0:
                yield ", "
            yield from repr_pieces(one, depth + 1)
            if kind is dict:
                yield ": "
                yield from repr_pieces(value[one], depth + 1)
        yield ",)" if kind is tuple and len(value) == 1 else closing


def table_of(value):
    """The begin of what is a table of pandas."""
    if is_a(value, "pandas", "Series"):
        value = value.to_frame()
    elif not is_a(value, "pandas", "DataFrame"):
        return None
    rows, columns = value.shape
    begin = value.iloc[:MAX_ROWS, :MAX_COLUMNS]
    return {
        "columns": [cell_text(name) for name in begin.columns],
        "index": [cell_text(name) for name in begin.index],
        "rows": [[cell_text(begin.iat[row, column]) for column in range(begin.shape[1])] for row in range(begin.shape[0])],
        "rowCount": int(rows),
        "columnCount": int(columns),
    }


def cell_text(cell):
    return str.__getitem__(str(cell), slice(MAX_CELL))


def type_name(kind):
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"[:MAX_CELL]


def fault_of(error):
    """In words; those of a class of the script's own are not asked for."""
    kind = type(error)
    words = "" if kind.__module__ != "builtins" else f": {error}"
    return f"{type_name(kind)}{words}"[:MAX_CELL]


def within_time(step, seconds):
    def end(_number, _frame):
        raise TimeoutError(f"it takes longer than {seconds:.1f} s")

    handler = signal.signal(signal.SIGALRM, end)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)


def silently(step):
    """Does a step whose output is not the script's."""
    flush_streams()
    kept = {}
    for file in (1, 2):
        try:
            kept[file] = os.dup(file)
        except OSError:
            pass  # the script has closed it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for file in kept:
            os.dup2(nowhere, file)
        return step()
    finally:
        flush_streams()
        os.close(nowhere)
        for file, copy in kept.items():
            os.dup2(copy, file)
            os.close(copy)


def flush_streams():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # the script has closed it, or put something else there


def encoded(value):
    """As JSON."""
    if isinstance(value, dict):
        return b"{" + b",".join(quoted(name) + b":" + encoded(one) for name, one in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(encoded, value)) + b"]"
    return written(value)


# How many bytes of the memory that a script's process shares with the supervisor say how much it shows.
LENGTH_BYTES = 8


def leave_shown(memory, data):
    """In the script's process. The length comes last: what is not all there is not there."""
    if not data:
        return
    end = LENGTH_BYTES + len(data)
    memory[LENGTH_BYTES:end] = data
    memory[:LENGTH_BYTES] = len(data).to_bytes(LENGTH_BYTES, "little")


def tell_shown(memory):
    """In the supervisor, once nothing of the script runs any more. The bytes are the script's, and pass through unread."""
    end = min(LENGTH_BYTES + int.from_bytes(memory[:LENGTH_BYTES], "little"), len(memory))
    for at in range(LENGTH_BYTES, end, CHUNK_BYTES):
        say(frame="shown", data=binascii.b2a_base64(memory[at : min(at + CHUNK_BYTES, end)], newline=False).decode())

"""The filter of system calls."""

import ctypes
import errno
import os
import struct
import sys


# Numbers of system calls on x86_64 and aarch64; None where there is no such call.
DENIED_CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "reboot": (169, 142), "acct": (163, 89), "syslog": (103, 116),
    "vhangup": (153, 58), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "uselib": (134, None), "nfsservctl": (180, 42), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # Memory that outlives its processes, or that no process has mapped: nobody would count it.
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
CLONE, CLONE3, SOCKET, PERSONALITY, IOCTL, MMAP = (56, 220), (435, 435), (41, 198), (135, 92), (16, 29), (9, 222)
# Calls that change how a process is served. The supervisor has the script's user, so they would reach it, too.
PRLIMIT, SCHED_SETSCHEDULER, SCHED_SETATTR, SETPRIORITY, IOPRIO_SET = (302, 261), (144, 119), (314, 274), (141, 140), (251, 30)
SCHED_SETPARAM, SCHED_SETAFFINITY = (142, 118), (203, 122)

NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCKET_FAMILIES = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]
SOCK_RAW = 3
PERSONALITIES = [0, 0xFFFFFFFF]  # as ever, and the question which
SCHED_IDLE, SCHED_RESET_ON_FORK = 5, 0x40000000
ALL_OF_USER = {SETPRIORITY: 2, IOPRIO_SET: 3}
SHARED_ANONYMOUS = 0x21
TERMINAL_INPUT = [0x5412, 0x541C]  # TIOCSTI, TIOCLINUX: to type into a terminal

ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS, HIGH_HALF = 0, 4, (16, 24, 32, 40), 4  # offsets in struct seccomp_data; of arguments, the low half


def filter_system_calls():
    """Refuses what no script needs and attacks on the kernel begin with. A machine that is not known has no filter, and all the other walls."""
    machines = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
    if os.uname().machine not in machines or sys.byteorder != "little":
        return
    column, audit_name = machines[os.uname().machine]
    program = system_call_filter(column, audit_name)
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer)))
    prctl(PR_SET_SECCOMP, 2, described)


def system_call_filter(column, audit_name):
    """Instructions as (code, jump if true, jump if false, operand)."""

    def when_called(call, instructions):
        return [(JUMP_EQUAL, 0, len(instructions), call[column]), *instructions]

    def argument_must(index, mask, allowed):
        checks = [(JUMP_EQUAL, len(allowed) - place, 0, value) for place, value in enumerate(allowed)]
        return [(LOAD, 0, 0, ARGUMENTS[index]), (AND, 0, 0, mask), *checks, (RETURN, 0, 0, REFUSE)]

    def own_target(index):
        return [(LOAD, 0, 0, ARGUMENTS[index]), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]

    program = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_EQUAL, 1, 0, audit_name), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if column == 0:
        # The x32 way of calling has numbers of its own.
        program += [(JUMP_AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, UNKNOWN)]
    for call in DENIED_CALLS.values():
        if call[column] is not None:
            program += when_called(call, [(RETURN, 0, 0, REFUSE)])
    program += when_called(CLONE3, [(RETURN, 0, 0, UNKNOWN)])  # its flags cannot be seen from here; libraries then take clone
    program += when_called(CLONE, [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)])
    family = argument_must(0, 0xFFFFFFFF, SOCKET_FAMILIES)
    # Sockets to ask the kernel for its interfaces are raw by name only.
    kind = [(JUMP_EQUAL, 0, 1, AF_NETLINK), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, ARGUMENTS[1]), (AND, 0, 0, 0xF)]
    kind += [(JUMP_EQUAL, 0, 1, SOCK_RAW), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    program += when_called(SOCKET, family + kind)
    program += when_called(PERSONALITY, [*argument_must(0, 0xFFFFFFFF, PERSONALITIES), (RETURN, 0, 0, ALLOW)])
    for call in (SCHED_SETPARAM, SCHED_SETAFFINITY):
        program += when_called(call, [*own_target(0), (RETURN, 0, 0, ALLOW)])
    idle = [(LOAD, 0, 0, ARGUMENTS[1]), (AND, 0, 0, 0xFFFFFFFF ^ SCHED_RESET_ON_FORK), (JUMP_EQUAL, 0, 1, SCHED_IDLE), (RETURN, 0, 0, REFUSE)]
    program += when_called(SCHED_SETSCHEDULER, [*own_target(0), *idle, (RETURN, 0, 0, ALLOW)])
    program += when_called(SCHED_SETATTR, [(RETURN, 0, 0, UNKNOWN)])  # whose class cannot be seen from here
    for call, which in ALL_OF_USER.items():
        everybody = [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_EQUAL, 0, 1, which), (RETURN, 0, 0, REFUSE)]
        program += when_called(call, [*own_target(1), *everybody, (RETURN, 0, 0, ALLOW)])
    # To ask for another's limits sets none.
    asks = [(LOAD, 0, 0, ARGUMENTS[2]), (JUMP_EQUAL, 0, 2, 0), (LOAD, 0, 0, ARGUMENTS[2] + HIGH_HALF), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]
    program += when_called(PRLIMIT, [(LOAD, 0, 0, ARGUMENTS[0]), (JUMP_EQUAL, len(asks), 0, 0), *asks, (RETURN, 0, 0, ALLOW)])
    if not CONFIG["isMemoryHeld"]:
        # It stays when no process has it in its tables any more, where only the kernel's own count sees it.
        shared = [(LOAD, 0, 0, ARGUMENTS[3]), (AND, 0, 0, SHARED_ANONYMOUS), (JUMP_EQUAL, 0, 1, SHARED_ANONYMOUS), (RETURN, 0, 0, REFUSE)]
        program += when_called(MMAP, [*shared, (RETURN, 0, 0, ALLOW)])
    typing = [(JUMP_EQUAL, len(TERMINAL_INPUT) - place, 0, value) for place, value in enumerate(TERMINAL_INPUT)]
    program += when_called(IOCTL, [(LOAD, 0, 0, ARGUMENTS[1]), *typing, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)])
    program.append((RETURN, 0, 0, ALLOW))
    return program

"""The bounds that a process of the script gives itself, for good: what it may use, and what it may ask of the kernel."""

import ctypes
import os
import resource
import struct
import sys


# Of Landlock, alike on all machines.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION, LANDLOCK_RULE_PATH_BENEATH = 1, 1
# Before version 2 nothing may be renamed into another folder; 3 knows of truncation.
LEAST_LANDLOCK, LANDLOCK_WITH_TRUNCATE = 2, 3
# To write to files; to remove and to make files, folders and all else that has a name; to rename and link.
WRITES, TRUNCATE = 1 << 1 | 0x3FF << 4, 1 << 14


def confine(time_ms):
    # For want of a supervisor only: one process may use all processors for all of its time.
    cpu_seconds = (time_ms // 1000 + 2) * (os.cpu_count() or 1)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    lower(resource.RLIMIT_FSIZE, CONFIG["fileBytes"])
    lower(resource.RLIMIT_NOFILE, CONFIG["openFiles"])
    lower(resource.RLIMIT_STACK, 8 * 1024 * 1024)
    if sys.platform != "linux":
        return
    # Addresses are no memory, and libraries reserve many: this only keeps one process from taking all before it is seen.
    lower(resource.RLIMIT_AS, max(8 * CONFIG["memoryBytes"], 2 << 30))
    if has_own_users():
        lower(resource.RLIMIT_NPROC, CONFIG["processes"] + 2)  # the supervisor, and one too many, which shows that the script wanted more
    set_dumpable(True)
    prefer_as_victim()
    os.nice(5)
    drop_capabilities()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if CONFIG["packagesBytes"] > 0:
        allow_writing([CONFIG["folder"], "/dev", "/proc"])
    filter_system_calls()


def prefer_as_victim():
    """When the kernel has to end something for its memory, this is it, and the supervisor can tell of it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def lower(kind, soft, hard=None):
    _, current = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if current != resource.RLIM_INFINITY:
        soft, hard = min(soft, current), min(hard, current)
    resource.setrlimit(kind, (soft, hard))


def has_own_users():
    """Whether processes of this user are counted in this sandbox alone."""
    with open("/proc/self/uid_map") as file:
        return file.read().split() != ["0", "0", "4294967295"]


def drop_capabilities():
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_READ, ctypes.c_ulong(capability), None, None, None) != 1:
            continue
        # Only a process with CAP_SETPCAP may; without new privileges the others cannot gain any either.
        libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), None, None, None)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def allow_writing(folders):
    """
    Refuses what changes files anywhere else, though its user may: a folder that was made for the sandbox belongs to all users in it, and is not bounded at
    once. Where the kernel has no Landlock of use, or the container's runtime refuses it, what holds is what the platform says of that folder.
    """
    version = libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_CREATE_RULESET_VERSION)
    if version < LEAST_LANDLOCK:
        return
    writes = WRITES | (TRUNCATE if version >= LANDLOCK_WITH_TRUNCATE else 0)
    rules = must(libc.syscall(LANDLOCK_CREATE_RULESET, struct.pack("Q", writes), ctypes.c_size_t(8), 0))
    for folder in folders:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        must(libc.syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, struct.pack("=Qi", writes, opened), 0))
        os.close(opened)
    must(libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0))
    os.close(rules)


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

"""The script's process, from within."""

import _signal as signal
import atexit
import builtins
import errno
import gc
import os
import site
import sys
import time


# The longest variable that the kernel takes, its name included.
MAX_VARIABLE_BYTES = 128 * 1024 - 1


def find_packages():
    """What `site` does at the start, had the interpreter not been told to leave it: but for the code in .pth files, which may take longer than all else."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    own = os.path.dirname(os.path.dirname(sys.executable))
    prefixes = [own if os.path.exists(os.path.join(own, "pyvenv.cfg")) else sys.prefix]
    global packages_at
    packages_at = len(sys.path)
    sys.path += [folder for folder in site.getsitepackages(prefixes) if os.path.isdir(folder)]


def run_script(job, time_ms, stdin, outputs, notes, memory):
    """Becomes the script, and does not return. What a script raises it sees as from any interpreter: without a trace of this file's frames."""
    folder = CONFIG["folder"]
    path = os.path.join(folder, "script.py")
    try:
        os.setsid()
        for target, source in enumerate([stdin, *outputs]):
            os.dup2(source, target)
        channel, cells = job["channel"], job["cells"]
        close_all_but_streams([one.inside.fileno() for one in (channel, cells) if one is not None])
        os.chdir(folder)
        with open(path, "wb") as file:
            file.write(job["script"])
        packages = [] if job["packages"] is None else [os.path.join(CONFIG["packagesFolder"], job["packages"])]
        set_environment(job["input"], packages)
        renew_streams()
        signal.signal(signal.SIGXCPU, end_of_time)
        confine(time_ms)
        if channel is not None:
            sys.modules["rockbot"] = open_module(channel)
    except BaseException as error:
        words = words_of(error).encode()[: MAX_REASON]
        notes[: 1 + len(words)] = bytes([BROKEN]) + words
        os._exit(1)
    script = type(sys)("__main__")
    script.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = script
    sys.argv = [path]
    # Behind the standard library, which they must not stand for, and before what the interpreter has besides.
    sys.path[packages_at:packages_at] = packages
    sys.path.insert(0, folder)
    source, out_files = job.pop("script"), job.get("outFiles")
    job.clear()
    if cells is not None:
        follow_cells(source, cells.inside, script)
    shown = None
    if memory is not None:
        shown = Shown(None if out_files is None else os.path.join(folder, OUT), len(memory) - LENGTH_BYTES, time.monotonic() + time_ms / 1000)
    values = []
    try:
        if shown is None:
            exec(compile(source, path, "exec", dont_inherit=True), script.__dict__)
        else:
            values.append(run_source(source, path, script.__dict__))
        status = 0
    except SystemExit as end:
        status = exit_status(end.code)
    except BaseException as error:
        if isinstance(error, MemoryError):
            notes[0] = MEMORY
        elif is_refused_process(error):
            notes[0] = PROCESSES
        tell(error.with_traceback(script_trace(error.__traceback__)))
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    if shown is None or status != 0:
        finish(script, status)
    finish(script, status, lambda: leave_shown(memory, shown.collect(values.pop() if values else None)))


def follow_cells(source, socket, script):
    """Becomes a session, whose program comes in place of a script, and runs cells as the main program."""
    given = {"socket": socket, "script": script, "folder": CONFIG["folder"], "OUT": OUT}
    functions = {function.__name__: function for function in (exit_status, finish, read_json, run_source, tell, tell_files, Shown)}
    exec(compile(source, "<session>", "exec", dont_inherit=True), given | functions)


def exit_status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        # As in Python itself: a value that a C long does not hold is -1.
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    try:
        print(code, file=sys.stderr)
    except BaseException:
        pass  # it has closed that, or put something else there
    return 1


def tell(error):
    """As the interpreter does, also where the script has a way of its own that fails."""
    for hook in (sys.excepthook, sys.__excepthook__):
        try:
            return hook(type(error), error, error.__traceback__)
        except BaseException:
            pass


def end_of_time(number, _frame):
    """What it has written without a line's end is there, too, when its time is over."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def finish(script, status, show=None):
    """What the interpreter does at its end, without taking apart what was imported before the script: that takes as long as all else together."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        if show is not None:
            show()
        atexit._run_exitfuncs()
        script.__dict__.clear()  # closes, and so writes, the files that it has left open
        gc.collect()
    except BaseException as error:
        tell(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:  # the script has put something else there, or closed what it writes to
            status = status or 120
    os._exit(status)


def close_all_but_streams(besides):
    try:
        files = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        files = range(256)
    for file in files:
        if file > 2 and file not in besides:
            try:
                os.close(file)
            except OSError:
                pass


def is_refused_process(error):
    return (isinstance(error, OSError) and error.errno == errno.EAGAIN) or (isinstance(error, RuntimeError) and "can't start new thread" in str(error))


def set_environment(script_input, packages):
    """The little that a script gets to know; the input too, where a variable may be so long."""
    folder = CONFIG["folder"]
    search = dict.fromkeys([os.path.dirname(sys.executable) or "/bin", "/usr/local/bin", "/usr/bin", "/bin"])
    variables = {b"PATH": ":".join(search).encode(), b"HOME": folder.encode(), b"TMPDIR": folder.encode(), b"LANG": b"C.UTF-8"}
    variables |= {b"USER": b"nobody", b"LOGNAME": b"nobody", b"PYTHONDONTWRITEBYTECODE": b"1"}
    name, value = b"ROCKBOT_INPUT", script_input or b""
    if len(name) + 1 + len(value) < MAX_VARIABLE_BYTES and b"\0" not in value:
        variables[name] = value
    os.environ.clear()
    os.environb.update(variables)
    for packages_folder in packages:
        show_packages(packages_folder)


def show_packages(folder):
    """Shows them to interpreters that the script starts, where these look for what is their user's: behind the standard library."""
    if site.ENABLE_USER_SITE is False or sys.prefix != sys.base_prefix:
        os.environ["PYTHONPATH"] = folder  # a virtual environment does not look there
        return
    place = site.getusersitepackages()
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.symlink(folder, place)


def renew_streams():
    """As any script has them, but written to at each line's end: what it has printed is there when its time is over."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.dont_write_bytecode = True

"""The script's process, seen from outside."""

import _signal as signal
import mmap
import os
import select
import sys
import time


# How often memory and processes are counted.
WATCH_S = 0.025
# And while a session waits for its next cell.
WATCH_WAITING_S = 0.5
# With which packets of a session begin that say that a cell is over, and that it waits for the next one.
CELL_OVER, SESSION_WAITS = b"x", b"e"
# Of many processes less often, so that looking at them takes a small part of the time.
WATCH_PAUSES = 4
# The time for a script to write out its buffers, when its own time is over: it takes a moment, but on a crowded machine has to wait for its turn.
LAST_WORDS_S = 0.5


class Script:
    """A child that runs the job, and what is known of it."""

    def __init__(self, job, time_ms):
        self.notes = mmap.mmap(-1, NOTES_BYTES)
        shown_bytes = job.get("shownBytes")  # of which managers before this one did not know
        self.shown = None if shown_bytes is None else mmap.mmap(-1, LENGTH_BYTES + whole(shown_bytes, 0))
        keep_bytes = whole(job["keepBytes"], 0)
        tail_bytes = whole(job.get("tailBytes", 0), 0)  # of which managers before this one did not know
        self.outputs = [Output("out", keep_bytes, tail_bytes), Output("err", keep_bytes, tail_bytes)]
        self.input = job["input"] or b""
        self.input_fed = 0
        self.started_at = time.monotonic()
        self.deadline = self.started_at + time_ms / 1000
        self.limit = None
        self.status = None
        self.peak_bytes = 0
        self.killed_before = killed_for_memory()
        self.cells = job["cells"]
        self.is_waiting = False
        self.channels = [channel for channel in (job["channel"], self.cells) if channel is not None]
        self.frames = FrameReader(self.channels, None if self.cells is None else self.interrupt)
        child_stdin, self.stdin = os.pipe() if self.input else (os.open(os.devnull, os.O_RDONLY), None)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                run_script(job, time_ms, child_stdin, [output.write_end for output in self.outputs], self.notes, self.shown)
            finally:
                os._exit(1)
        os.close(child_stdin)
        for output in self.outputs:
            os.close(output.write_end)
        if self.stdin is not None:
            os.set_blocking(self.stdin, False)
        for channel in self.channels:
            channel.follow(self.pid)
        self.ended = open_process(self.pid)

    def follow(self):
        """Carries input and output until the child has ended, then ends all that it has left. Returns what `ended` says."""
        watch_at = 0
        is_listening = True
        while self.status is None:
            now = time.monotonic()
            if now >= self.deadline and self.limit is not None:
                break
            if now >= self.deadline:
                self.reap()  # after a pause of this process, the script may have ended in time
                if self.status is not None:
                    break
                self.limit = "time"
                self.deadline = now + LAST_WORDS_S
                kill(self.pid, signal.SIGXCPU)
            if now >= watch_at and self.limit is None:
                self.watch()
                watched = time.monotonic()
                watch_at = watched + max(WATCH_WAITING_S if self.is_waiting else WATCH_S, WATCH_PAUSES * (watched - now))
                if self.limit is not None:
                    break
            reads = [output.read_end for output in self.outputs if output.is_open]
            if self.ended is not None:
                reads.append(self.ended)
            if is_listening and self.has_room():
                reads.append(0)
            elif is_listening and is_hung_up(0):
                self.end_unheard()
            writes = ([self.stdin] if self.stdin is not None else []) + ([1] if pending else [])
            reads += [channel.outside for channel in self.channels if channel.wants_packets()]
            writes += [channel.outside for channel in self.channels if channel.waiting]
            wait = (self.deadline if self.limit is not None else min(self.deadline, watch_at)) - now if self.ended is not None else 0.005
            ready, writable, _ = select.select(reads, writes, [], max(0, wait))
            if 0 in ready:
                is_listening = self.hear()
            for output in self.outputs:
                if output.read_end in ready:
                    output.read()
                output.release(time.monotonic())
            if self.stdin is not None and self.stdin in writable:
                self.feed()
            for channel in self.channels:
                if channel.outside in ready:
                    self.take_packet(channel)
                channel.send_packets()
            if self.is_waiting and self.cells.was_sent:
                self.is_waiting, watch_at = False, 0
            write_pending()
            self.reap()
        run_ms = (time.monotonic() - self.started_at) * 1000
        self.end_all()
        for output in self.outputs:
            output.drain()
        return self.outcome(run_ms)

    def hear(self):
        """Without a channel, whatever comes after the job is nothing; that nothing can come any more may mean that nobody waits for the script."""
        try:
            data = os.read(0, 65_536)
        except BlockingIOError:
            return True
        if not data:
            self.end_unheard()
        elif self.channels:
            self.frames.take(data)
        return bool(data)

    def take_packet(self, channel):
        """All that the script has written before it says that a cell is over is told before that."""
        data = channel.take_packet()
        if channel is self.cells and data[:1] == CELL_OVER:
            out, err = (output.end_cell() for output in self.outputs)
            say(frame="printed", droppedOut=out, droppedErr=err)
        if data:
            channel.tell(data)
        if channel is self.cells and data[:1] == SESSION_WAITS:
            self.is_waiting, channel.was_sent = True, False

    def interrupt(self):
        """As a terminal does: the script's first process, and those of its group."""
        kill(-self.pid, signal.SIGINT)

    def end_unheard(self):
        if CONFIG["endsWithInput"]:
            kill_all(self.pid)
            os._exit(1)

    def has_room(self):
        return all(channel.wants_frames() for channel in self.channels)

    def feed(self):
        try:
            self.input_fed += os.write(self.stdin, self.input[self.input_fed : self.input_fed + 65_536])
        except BlockingIOError:
            return
        except OSError:
            self.input_fed = len(self.input)
        if self.input_fed >= len(self.input):
            os.close(self.stdin)
            self.stdin = None

    def watch(self):
        used_bytes, processes = usage()
        self.peak_bytes = max(self.peak_bytes, used_bytes)
        # The kernel refuses more where it counts them itself; where it does not, this is all that does. Before memory, which so many use up, too.
        if processes > 2 * CONFIG["processes"]:
            self.limit = "processes"
        elif used_bytes > CONFIG["memoryBytes"] or killed_for_memory() > self.killed_before:
            self.limit = "memory"
        elif processes > CONFIG["processes"] and not self.notes[0]:
            self.notes[0] = PROCESSES

    def reap(self):
        """Takes note of the child's end, and of those whose parents have ended before them. Returns whether there is anybody left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status = status
                self.peak_bytes = max(self.peak_bytes, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))

    def end_all(self):
        deadline = time.monotonic() + FLUSH_S
        while time.monotonic() < deadline:
            kill_all(self.pid)
            if not self.reap():
                return
            time.sleep(0.001)

    def outcome(self, run_ms):
        note = self.notes[0]
        if note == BROKEN:
            fail(f"the script's process could not be confined: {self.notes[1:].rstrip(bytes(1)).decode(errors='replace')}")
        status = self.status or 0
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        failed = status != 0
        limit = self.limit
        if limit is None and signalled == signal.SIGXCPU:
            limit = "time"
        elif limit is None and failed and killed_for_memory() > self.killed_before:
            limit = "memory"
        elif limit is None and failed and (note == MEMORY or (signalled == signal.SIGKILL and self.peak_bytes > 0.7 * CONFIG["memoryBytes"])):
            limit = "memory"
        elif limit is None and failed and note == PROCESSES:
            limit = "processes"
        out, err = self.outputs
        return {
            "exitCode": os.WEXITSTATUS(status) if limit is None and signalled is None else None,
            "signal": signalled if limit is None else None,
            "limit": limit,
            "droppedOut": out.dropped,
            "droppedErr": err.dropped,
            "runMs": round(run_ms, 3),
            "strangers": sum(channel.strangers for channel in self.channels),
        }

"""
Supervises one script in a sandbox: reads a job from stdin, runs it in a child, and tells of it in frames on stdout (`frames.ts` says which).

It is the first process of a sandbox whose walls (namespaces, mounts, cgroups) stand already, and adds what can be had from within: bounds
of the child's resources, no capabilities, no new privileges, and a filter of system calls. It counts what the sandbox uses, and ends it
all when the script ends, its time or its memory is over, or nobody listens any more. Python 3.9 or newer, standard library only.

Its one argument is JSON: `memoryBytes`, `processes`, `fileBytes`, `openFiles`, `folder` (where scripts may write), `packagesFolder`,
`packagesBytes` (of what a job brings along to be unpacked there),
`preload` (modules to import while there is no job; those that are missing are left out), `endsWithInput` (the end of stdin ends a script),
`isMemoryHeld` (the platform counts and bounds the memory of all processes together; where it does not, only what the supervisor can count may be had).
"""

# A call that finds no warm sandbox waits for these imports, and for theirs. `json`, `base64`, `platform` and `hashlib` would double that time.
import _signal as signal
import gc
import os
import select
import sys


# Of the pipe: see `frames.ts`.
PROTOCOL = 3


def main():
    prepare()
    say(frame="ready", protocol=PROTOCOL, python=".".join(map(str, sys.version_info[:3])))
    flush(FLUSH_S)
    preload()
    job = read_job()
    time_ms = time_of(job)
    say(frame="started", job=job["job"], timeoutMs=time_ms)
    flush(FLUSH_S)
    os.set_blocking(0, False)
    out_files, out_bytes = job.get("outFiles"), job.get("outBytes")
    script = Script(job, time_ms)
    end = script.follow()
    if script.shown is not None:
        tell_shown(script.shown)
    if out_files is not None:
        end["passedFiles"] = tell_files(whole(out_files, 0), whole(out_bytes, 0), tell_file)
    say(frame="ended", **end)
    flush(FLUSH_S)
    os._exit(0)


def prepare():
    CONFIG.update((name, whole(CONFIG[name], 0)) for name in LIMITS)
    # The first process of a pid namespace gets no signal from within that it has no handler for: SIGINT has one by default.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        set_dumpable(False)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    find_packages()


def preload():
    """Imports what scripts may want, for as long as there is no job: one that is there already does not wait for what it may not want."""
    for name in CONFIG["preload"]:
        if select.select([0], [], [], 0)[0]:
            break
        try:
            __import__(name)
        except ImportError:
            pass
    # The child shares the present objects for as long as nobody writes to them, and collecting garbage writes.
    gc.collect()
    gc.freeze()


try:
    main()
except Exception as failure:
    fail(words_of(failure))
