"""A client by the official SDK for Python: asks the agent at the given address as a stream and whole, reads the task, lists, and cancels one."""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import get_artifact_text, new_text_message
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest, TaskState

url, binding, token = sys.argv[1:4]


async def connect(http: httpx.AsyncClient, streaming: bool):
    config = ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True)
    return await create_client(url, client_config=config)


def asking(text: str) -> SendMessageRequest:
    return SendMessageRequest(message=new_text_message(text, role=1))


async def main() -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        client = await connect(http, True)
        kinds, text, task_id = [], "", ""
        async for event in client.send_message(asking("Hi")):
            kind = event.WhichOneof("payload")
            kinds.append(kind)
            if kind == "task":
                task_id = event.task.id
            if kind == "artifact_update":
                text += get_artifact_text(event.artifact_update.artifact)
        task = await client.get_task(GetTaskRequest(id=task_id))
        listed = await client.list_tasks(ListTasksRequest())
        cancelled = ""
        async for event in client.send_message(asking("wait")):
            if event.WhichOneof("payload") == "status_update" and not cancelled:
                answer = await client.cancel_task(CancelTaskRequest(id=event.status_update.task_id))
                cancelled = TaskState.Name(answer.status.state)
        whole = [event async for event in (await connect(http, False)).send_message(asking("Hi again"))]
        print(json.dumps({
            "kinds": kinds,
            "text": text,
            "state": TaskState.Name(task.status.state),
            "listed": len(listed.tasks),
            "cancelled": cancelled,
            "whole": get_artifact_text(whole[-1].task.artifacts[0]),
        }))


asyncio.run(main())
