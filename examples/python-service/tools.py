"""The tools of this service, and its start. A tool is a function of its arguments and its call."""
import random

from service import Failure, Service, Tool


def roll(arguments, call):
    return f"You rolled {random.randint(1, arguments['sides'])}."


def wait(arguments, call):
    for step in range(int(arguments["seconds"] * 10)):
        if call.stopped.wait(0.1):  # it was cancelled, or is out of time: the answer is sent already
            raise Failure("cancelled", "The wait was stopped.")
        if step % 10 == 0:
            call.progress(f"{step // 10} of {arguments['seconds']} seconds")
    return f"Waited {arguments['seconds']} seconds; your number is {random.randint(1, 10**9)}."


def taking(**properties):
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


Service(
    Tool("roll_dice", "Roll one die.", taking(sides={"type": "integer", "minimum": 2, "maximum": 10**9}), roll),
    Tool("wait_seconds", "Wait for some seconds.", taking(seconds={"type": "number", "minimum": 0, "maximum": 60}), wait),
).run()
