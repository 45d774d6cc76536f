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

from .channel import open_module
from .confine import confine
from .files import OUT, tell_files
from .frames import MAX_REASON, words_of
from .settings import BROKEN, CONFIG, MEMORY, PROCESSES, read_json
from .shown import LENGTH_BYTES, Shown, leave_shown, run_source, script_trace

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
