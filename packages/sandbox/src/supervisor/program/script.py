"""The script's process, seen from outside."""

import _signal as signal
import mmap
import os
import select
import sys
import time

from .channel import FrameReader, is_hung_up
from .frames import FLUSH_S, fail, pending, say, write_pending
from .output import Output
from .processes import kill, kill_all, killed_for_memory, open_process, usage
from .settings import BROKEN, CONFIG, MEMORY, NOTES_BYTES, PROCESSES, whole
from .shown import LENGTH_BYTES
from .within import run_script

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
