"""
The interpreter of a session, within the script's process: runs cells in one namespace, one after the other, and tells of each in packets (`frames.ts` says
which). Its socket is another one than that of the module `rockbot`, so that no cell and no answer of a tool are taken for each other. The supervisor gives
it the names `socket`, `script` (the module whose names are those of the cells), `folder`, `exit_status`, `finish`, `read_json`, `tell` (`within.py`), `run_source`,
`Shown` (`shown.py`), `OUT` and `tell_files` (`files.py`).
"""

import _signal as signal
import os
import sys
import time

CELL_BEGUN, CELL_SHOWN, CELL_OVER, LEFT_FILE, LEFT_DATA, SESSION_WAITS = b"b", b"v", b"x", b"f", b"d", b"e"
# With its mark, and in base64, one frame.
LEFT_BYTES = 7_000
PACKET_BYTES = 65_536


class Cells:
    def __init__(self):
        self.pid = os.getpid()
        # A cell may close what it prints to: the next one has it again.
        self.streams = [os.dup(1), os.dup(2)]
        self.held = b""
        self.is_running = False
        self.value = None
        self.shown = Shown(None, 0, 0)
        # The files that the manager has, as they were told.
        self.told = {}

    def follow(self):
        """Does not return."""
        status = None
        try:
            os.set_inheritable(socket.fileno(), False)
            signal.signal(signal.SIGINT, self.interrupt)
            while status is None:
                status = self.run_next()
        except OSError:
            print("The session is over: a cell has closed the connection of its interpreter.", file=sys.stderr)
            status = 1
        except BaseException as error:
            tell(error)
            status = 1
        finish(script, status)

    def interrupt(self, _number, _frame):
        """Between cells, nothing is to be interrupted."""
        if self.is_running:
            raise KeyboardInterrupt

    def run_next(self):
        """Takes a cell, runs it, and tells how it ended and what it has left. Returns a status if the session is over."""
        self.held = self.receive()
        head, self.held = read_json(self.held.decode()), b""
        source = self.take(head["source"])
        given = None if head["input"] is None else self.take(head["input"])
        faults = [fault for fault in [self.write_file(name, size) for name, size in head["files"]] if fault is not None]
        self.renew(given)
        self.send(CELL_BEGUN, b"%d" % head["cell"])
        self.shown.until = time.monotonic() + head["timeoutMs"] / 1000
        self.shown.most_bytes = head["shownBytes"]
        self.shown.charts.folder = os.path.join(folder, OUT) if head["outFiles"] > 0 else None
        for fault in faults:
            print(fault, file=sys.stderr)
        status = None
        end = "failed" if faults else self.execute(source, f"<cell {head['cell']}>")
        if isinstance(end, int):
            end, status = "exit", end
        if os.getpid() != self.pid:  # a process that the cell has forked, and that has come here
            finish(script, status or (0 if end == "done" else 1))
        self.flush()
        self.tell_shown(end == "done" and head["shownBytes"] > 0)
        self.send(CELL_OVER, b"%d %s %d" % (head["cell"], end.encode(), status or 0))
        passed = tell_files(head["outFiles"], head["outBytes"], self.send_file, self.told)
        self.send(SESSION_WAITS, b"%d %d" % (head["cell"], passed))
        return status

    def receive(self):
        data = socket.recv(PACKET_BYTES)
        if not data:
            os._exit(0)
        return data

    def some(self, size):
        """At least one byte, and at most so many."""
        if not self.held:
            self.held = self.receive()
        data, self.held = self.held[:size], self.held[size:]
        return data

    def take(self, size):
        parts = []
        while size > 0:
            parts.append(self.some(size))
            size -= len(parts[-1])
        return b"".join(parts)

    def send(self, mark, data):
        socket.send(mark + data)

    def write_file(self, name, size):
        """Returns why it is not there, if it is not."""
        fault, file = None, None
        try:
            file = open(os.path.join(folder, name), "wb")
        except OSError as error:
            fault = error
        while size > 0:
            data = self.some(size)
            size -= len(data)
            try:
                if fault is None:
                    file.write(data)
            except OSError as error:
                fault = error
        try:
            if file is not None:
                file.close()
        except OSError as error:
            fault = fault or error
        return None if fault is None else f"The cell was not run: its file {name!r} could not be written: {fault}"

    def renew(self, given):
        """What a cell finds, whatever the ones before have done to it."""
        import io

        signal.signal(signal.SIGINT, self.interrupt)
        for target, source in zip((1, 2), self.streams):
            try:
                os.fstat(target)
            except OSError:
                os.dup2(source, target)
        if getattr(sys.stdout, "closed", True):
            sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
        if getattr(sys.stderr, "closed", True):
            sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
        sys.stdin = io.TextIOWrapper(io.BytesIO(given or b""), encoding="utf-8")
        os.environ.pop("ROCKBOT_INPUT", None)
        if given is not None and b"\0" not in given and len(given) < 128 * 1024 - 16:
            os.environb[b"ROCKBOT_INPUT"] = given

    def execute(self, source, name):
        """Returns `done`, `failed` or `interrupted`, or the status with which the cell ends the session."""
        try:
            try:
                self.is_running = True
                keep_lines(source, name)
                self.value = run_source(source, name, script.__dict__)
                if self.value is not None:
                    script.__dict__["_"] = self.value
            finally:
                self.is_running = False
            return "done"
        except SystemExit as end:
            self.is_running = False
            return exit_status(end.code)
        except BaseException as error:
            self.is_running = False
            tell_of(error)
            return "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass  # the cell has put something else there, or closed it

    def tell_shown(self, is_wanted):
        """A cell that fails shows nothing."""
        value, self.value = self.value, None
        if not is_wanted:
            return self.shown.forget()
        data = self.shown.collect(value)
        for at in range(0, len(data), LEFT_BYTES):
            self.send(CELL_SHOWN, data[at : at + LEFT_BYTES])

    def send_file(self, name, file, size):
        self.send(LEFT_FILE, b"%d " % size + name.encode("utf-8", "replace")[:LEFT_BYTES])
        while size > 0:
            data = os.read(file, min(LEFT_BYTES, size))
            if not data:  # it was cut meanwhile: its size says so
                return
            size -= len(data)
            self.send(LEFT_DATA, data)


def keep_lines(source, name):
    """Tracebacks and `inspect` find the lines of a cell there, for as long as the session lasts."""
    import linecache

    text = source.decode("utf-8-sig", "replace")
    linecache.cache[name] = len(text), None, [line + "\n" for line in text.split("\n")], name


def tell_of(error):
    """With the lines of cells, which the interpreter itself looks for in files; and without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
        trace = trace.tb_next
    if sys.excepthook is not sys.__excepthook__:
        return tell(error.with_traceback(trace))
    try:
        import traceback

        traceback.print_exception(type(error), error, trace)
    except BaseException:
        tell(error.with_traceback(trace))


Cells().follow()
