"""Reads the streams at an address by each reader of Python, and prints what each has read: for each stream the kinds and the data of its events."""

import json
import sys

import httpx
import httpx_sse
import openai
import sseclient
from openai._streaming import SSEDecoder

url, *names = sys.argv[1:]


def by_openai(response: httpx.Response):
    return SSEDecoder().iter_bytes(response.iter_bytes())


def by_httpx_sse(response: httpx.Response):
    return httpx_sse.EventSource(response).iter_sse()


def by_sseclient(response: httpx.Response):
    return sseclient.SSEClient(response.iter_bytes()).events()


def read(http: httpx.Client, reader, name: str):
    with http.stream("GET", f"{url}/{name}") as response:
        return [[event.event or "message", event.data] for event in reader(response)]


with httpx.Client() as http:
    readers = {"openai": by_openai, "httpx-sse": by_httpx_sse, "sseclient-py": by_sseclient}
    read_by = {label: {name: read(http, reader, name) for name in names} for label, reader in readers.items()}

chunks = openai.OpenAI(base_url=url, api_key="none", max_retries=0).chat.completions.create(
    model="rockbot", messages=[{"role": "user", "content": "Hello?"}], stream=True
)
text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
print(json.dumps({"readers": read_by, "text": text}))
