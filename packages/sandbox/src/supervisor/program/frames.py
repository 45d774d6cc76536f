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
