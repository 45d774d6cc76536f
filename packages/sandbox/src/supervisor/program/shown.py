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

from .charts import Charts, ImportHooks, is_a
from .frames import CHUNK_BYTES, quoted, say, written

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
