"""An agent by the official SDK for Python: it says the message again, asks back at "ask", and waits for its cancel at "wait"."""

import asyncio
import socket
import sys

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        say = lambda text: task.new_agent_message([new_text_part(text)])
        await task.start_work(say("I am at it"))
        text = context.get_user_input()
        if text == "ask":
            await task.requires_input(say("Which colour?"))
        elif text == "wait":
            await asyncio.sleep(600)
        else:
            await task.add_artifact([new_text_part(f"You said: {text}")])
            await task.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        print("cancelled", context.task_id, flush=True)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
url = f"http://127.0.0.1:{port}"
binding = sys.argv[1]
card = AgentCard(
    name="Echo",
    description="Says it again.",
    version="1",
    supported_interfaces=[AgentInterface(url=f"{url}/rpc" if binding == "JSONRPC" else url, protocol_binding=binding, protocol_version="1.0")],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="echo", name="Echo", description="Says it.", tags=["talk"])],
)
handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc"), *create_rest_routes(handler)]
print(f"listening on {url}", flush=True)
uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error")).run(sockets=[listener])
