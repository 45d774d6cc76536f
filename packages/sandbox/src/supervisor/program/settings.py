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
