"""
Tools for scripts: `from rockbot import tools`. The names `channel`, `TOOLS`, `SEED` and `STARTED_AT` are there before this begins. Nothing is imported that a
script which calls no tool would have to wait for.
"""

import os
from _thread import get_ident

MAX_PIECE_BYTES = 7_000
# How many calls of one `parallel`, and of all tasks, are out at once.
MAX_AT_ONCE = 32

owner = os.getpid(), get_ident()
started_at = STARTED_AT


class ToolError(Exception):
    """A call that failed. `code` says how, such as `denied` or `timeout`; `failed` is a failure that the tool itself reports."""

    def __init__(self, code, message, details=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details or {}


class Value(dict):
    """The value of an answer. Its `text` is the text of the answer, which may say more."""

    text = ""


class Call:
    """A call that is made once somebody awaits it, or gives it to `tools.parallel`."""

    def __init__(self, tool, arguments):
        self.tool = tool
        self.arguments = arguments

    def __await__(self):
        future = wire.send_async(self)
        return (yield from future.__await__())


class Wire:
    """The one connection of this process: sends calls, and gives each answer to who waits for it."""

    def __init__(self):
        self.next_id = 0
        self.counts = {}
        self.held = bytearray()
        self.answers = {}
        self.futures = {}
        # Calls of tasks that go out once others have their answers.
        self.unsent = []
        self.loop = None

    def check_owner(self):
        if (os.getpid(), get_ident()) != owner:
            raise RuntimeError("Only the first thread of a script's first process calls tools: collect what to ask for, and call tools there")

    def next_path(self):
        """The place of a call: its number in its task. Tasks are told apart by the number that asyncio gives them as they are made."""
        task = self.task_now()
        key = "" if task is None else "t" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in task.get_name())[:64] + "."
        number = self.counts.get(key, 0)
        self.counts[key] = number + 1
        return f"{key}{number}"

    def task_now(self):
        import sys

        asyncio = sys.modules.get("asyncio")
        try:
            return asyncio and asyncio.current_task()
        except RuntimeError:
            return None

    def send(self, call, path):
        import json

        self.check_owner()
        self.next_id += 1
        asked = {"id": self.next_id, "path": path, "tool": call.tool, "arguments": call.arguments}
        message = json.dumps(asked, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        for at in range(0, len(message), MAX_PIECE_BYTES):
            piece = message[at : at + MAX_PIECE_BYTES]
            channel.send((b"+" if at + MAX_PIECE_BYTES < len(message) else b".") + piece)
        return self.next_id

    def take(self, piece):
        """Takes one piece of an answer, and hands the answer on once it is whole."""
        import json

        if not piece:
            raise ConnectionError("The service that runs this script is gone")
        self.held += piece[1:]
        if piece[:1] == b"+":
            return
        answer = json.loads(self.held)
        self.held.clear()
        future = self.futures.pop(answer["id"], None)
        if future is None:
            self.answers[answer["id"]] = answer
        elif not future.done():
            settle(future, answer)
        while self.unsent and len(self.futures) < MAX_AT_ONCE:
            self.send_for(*self.unsent.pop(0))
        if self.loop is not None and not self.futures:
            self.loop.remove_reader(channel.fileno())
            self.loop = None

    def wait_for(self, number):
        while number not in self.answers:
            channel.setblocking(True)
            self.take(channel.recv(65_536))
        return self.answers.pop(number)

    def send_async(self, call):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        path = self.next_path()
        if len(self.futures) < MAX_AT_ONCE:
            self.send_for(call, path, future)
        else:
            self.unsent.append((call, path, future))
        if self.loop is not loop:
            self.loop = loop
            loop.add_reader(channel.fileno(), self.read_some)
        return future

    def send_for(self, call, path, future):
        if future.done():
            return
        try:
            self.futures[self.send(call, path)] = future
        except (TypeError, ValueError) as error:  # arguments that are no JSON
            future.set_exception(error)

    def read_some(self):
        channel.setblocking(False)
        try:
            self.take(channel.recv(65_536))
        except BlockingIOError:
            pass
        finally:
            channel.setblocking(True)


wire = Wire()


def settle(future, answer):
    try:
        future.set_result(value_of(answer))
    except ToolError as error:
        future.set_exception(error)


def value_of(answer):
    if "error" in answer:
        error = answer["error"]
        raise ToolError(error["code"], error["message"], error.get("details"))
    value = answer["value"]
    if isinstance(value, dict):
        value = Value(value)
        value.text = answer.get("text", "")
    return value


def required_first(properties, required):
    return sorted(properties, key=lambda name: name not in required)


def function_for(tool, make):
    """A function with the tool's arguments by their names, and all that is known of the tool in `help()`."""
    name, schema = tool["name"], tool["schema"]
    properties, required = schema.get("properties", {}), schema.get("required", [])
    known = [one for one in required_first(properties, required) if one.isidentifier() and one not in KEYWORDS]
    given = ", ".join(one if one in required else f"{one}=LEFT_OUT" for one in known)
    more = "" if len(known) == len(properties) and schema.get("additionalProperties") is False else "**_further"
    parameters = ", ".join(part for part in ("*" if known else "", given, more) if part)
    pairs = "".join(f"{one!r}: {one}, " for one in known)
    source = f"def {name}({parameters}): return _make({name!r}, {{{pairs}{more}}})"
    room = {"_make": make, "LEFT_OUT": LEFT_OUT}
    exec(source if name.isidentifier() and name not in KEYWORDS else source.replace(f"def {name}(", "def tool(", 1), room)
    function = room.get(name) or room["tool"]
    function.__module__ = "rockbot.tools"
    function.__doc__ = described(tool, properties, required)
    function.__annotations__ = {one: kind_of(properties[one]) for one in known}
    return function


def described(tool, properties, required):
    lines = [tool["description"], ""]
    for one in required_first(properties, required):
        about = properties[one].get("description", "") if isinstance(properties[one], dict) else ""
        lines.append(f"{one} ({kind_of(properties[one])}{'' if one in required else ', optional'}): {about}".rstrip(": "))
    lines += ["", "Returns the tool's value, a dict. Its attribute `text` is the text of the answer." if tool["hasValue"] else "Returns the tool's text.", "Raises ToolError if it fails."]
    return "\n".join(lines).strip()


def kind_of(schema):
    if not isinstance(schema, dict):
        return "any"
    kind = schema.get("type", "any")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


class LeftOut:
    def __repr__(self):
        return "left out"


LEFT_OUT = LeftOut()
KEYWORDS = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
    "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "LEFT_OUT", "_make", "_further",
}  # fmt: skip


def call_of(tool, arguments):
    return Call(tool, {name: value for name, value in arguments.items() if value is not LEFT_OUT})


def call_now(tool, arguments):
    return value_of(wire.wait_for(wire.send(call_of(tool, arguments), wire.next_path())))


class Functions:
    def __init__(self, make):
        self._make = make

    def __getattr__(self, name):
        tool = next((tool for tool in listed() if tool["name"] == name), None)
        if tool is None:
            raise AttributeError(f"This script may call no tool {name!r}. It may call: {', '.join(dir(self)) or 'none'}")
        function = function_for(tool, self._make)
        setattr(self, name, function)
        return function

    def __getitem__(self, name):
        return getattr(self, name)

    def __dir__(self):
        return [tool["name"] for tool in listed()]


class Tools(Functions):
    """The tools that this script may call, each as a function. `help(tools.NAME)` tells of one, `dir(tools)` names all."""

    def __init__(self):
        super().__init__(call_now)
        self.a = Functions(call_of)

    def __dir__(self):
        return [*super().__dir__(), "a", "parallel", "search"]

    def search(self, words, limit=5):
        """The tools whose names and descriptions have most of the words: a list of (name, what it does)."""
        wanted = {word for word in str(words).lower().replace("_", " ").split() if word}

        def score(tool):
            name = tool["name"].lower().replace("_", " ")
            return sum(3 * (word in name) + (word in tool["description"].lower()) for word in wanted)

        found = sorted((tool for tool in listed() if score(tool) > 0), key=lambda tool: (-score(tool), tool["name"]))
        return [(tool["name"], tool["description"].partition("\n")[0]) for tool in found[:limit]]

    def parallel(self, calls, return_errors=False):
        """
        Makes calls at the same time: `tools.parallel([tools.a.NAME(...), ...])`. Returns their values in order. The first error is raised once all have ended,
        or stands in its place with `return_errors=True`.
        """
        calls = list(calls)
        path = wire.next_path()
        results = [None] * len(calls)
        out = []
        for index, call in enumerate(calls):
            if not isinstance(call, Call):
                raise TypeError(f"parallel takes calls of tools.a, such as tools.a.NAME(...), and got {type(call).__name__}")
            if len(out) == MAX_AT_ONCE:
                take_result(results, *out.pop(0))
            out.append((index, wire.send(call, f"{path}.{index}")))
        for one in out:
            take_result(results, *one)
        failed = next((result for result in results if isinstance(result, ToolError)), None)
        if failed is not None and not return_errors:
            raise failed
        return results


def take_result(results, index, number):
    try:
        results[index] = value_of(wire.wait_for(number))
    except ToolError as error:
        results[index] = error


tool_list = None


def listed():
    global tool_list
    if tool_list is None:
        import json

        tool_list = json.loads(TOOLS)
    return tool_list


def seed_random():
    import random

    random.seed(SEED)


seed_random()
tools = Tools()
