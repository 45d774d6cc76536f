"""The one job: read from stdin, unpacked, and checked against its hash."""

import os
import time

from .channel import Channel
from .files import make_out_folder, write_files
from .frames import fail
from .settings import CONFIG, read_json, whole

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
