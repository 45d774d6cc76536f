"""A client by the official SDK for Python: asks the agent at the given address as a stream and whole, reads the task, lists, cancels one, and answers a question."""

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


def asking(text: str, task_id: str = "") -> SendMessageRequest:
    message = new_text_message(text, role=1)
    message.task_id = task_id
    return SendMessageRequest(message=message)


async def last(client, request: SendMessageRequest):
    return [event async for event in client.send_message(request)][-1]


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
        plain = await connect(http, False)
        whole = await last(plain, asking("Hi again"))
        question = (await last(client, asking("A shirt."))).status_update
        answered = (await last(plain, asking("40", question.task_id))).task
        print(json.dumps({
            "kinds": kinds,
            "text": text,
            "state": TaskState.Name(task.status.state),
            "listed": len(listed.tasks),
            "cancelled": cancelled,
            "whole": get_artifact_text(whole.task.artifacts[0]),
            "question": [TaskState.Name(question.status.state), question.status.message.parts[0].text],
            "answered": [answered.id == question.task_id, TaskState.Name(answered.status.state), get_artifact_text(answered.artifacts[0])],
        }))


asyncio.run(main())
