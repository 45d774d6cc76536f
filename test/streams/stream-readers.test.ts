import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { run } from "@rockbot/testing";
import { createParser } from "eventsource-parser";
import OpenAI from "openai";
import { EventSource } from "undici";
import { beforeAll, expect, test } from "vitest";
import { pythonEnvironment } from "../python-environment.ts";
import { ANSWER, recordStreams } from "./record-streams.ts";

type Events = [event: string, data: string][];

let python: Awaited<ReturnType<typeof pythonEnvironment>>;
let recorded: Record<string, string>;
beforeAll(async () => {
  python = await pythonEnvironment(join(import.meta.dirname, "requirements.txt"));
  recorded = await recordStreams();
}, 300_000);

/** What was sent as events: blocks with data. */
const sent = (): Record<string, Events> =>
  Object.fromEntries(
    Object.entries(recorded).map(([name, text]) => [
      name,
      [...text.matchAll(/(?:^event: (.*)\n)?^data: (.*)\n\n/gm)].map(
        ([, event = "message", data = ""]) => [event, data] as [string, string],
      ),
    ]),
  );

test("every stream has comments between its events, and each of its events is JSON, or the mark of the end", () => {
  for (const [name, events] of Object.entries(sent())) {
    expect(events.length, name).toBeGreaterThan(0);
    for (const [, data] of events) if (data !== "[DONE]") expect(JSON.parse(data), name).toBeTypeOf("object");
  }
  expect(Object.keys(recorded).filter((name) => /^:/m.test(recorded[name] ?? ""))).toEqual(
    expect.arrayContaining(["chat", "session", "call", "mcpChanges", "mcpListen"]),
  );
});

test("readers of Python read every stream alike, and OpenAI's client the answer", { timeout: 120_000 }, async ({
  skip,
}) => {
  if ("missing" in python) return skip(python.missing);
  await using server = await replay();
  const program = join(import.meta.dirname, "python_readers.py");
  const read = JSON.parse(
    await run(python.python, [program, server.url, ...Object.keys(recorded)], { timeoutMs: 60_000 }),
  );

  expect(read).toEqual({ text: ANSWER, readers: { openai: sent(), "httpx-sse": sent(), "sseclient-py": sent() } });
});

test("readers of JavaScript read every stream alike, and OpenAI's client the answer", async () => {
  await using server = await replay();
  const chunks = await new OpenAI({ baseURL: server.url, apiKey: "none", maxRetries: 0 }).chat.completions.create({
    model: "rockbot",
    messages: [{ role: "user", content: "Hello?" }],
    stream: true,
  });
  let text = "";
  for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? "";

  expect(text).toBe(ANSWER);
  for (const [name, events] of Object.entries(sent())) {
    expect(parsed(recorded[name] ?? ""), `eventsource-parser, ${name}`).toEqual(events);
    expect(await heard(`${server.url}/${name}`, events), `EventSource, ${name}`).toEqual(events);
  }
});

function parsed(text: string): Events {
  const events: Events = [];
  const parser = createParser({
    onEvent: ({ event = "message", data }) => void events.push([event, data]),
    onError: (error) => {
      throw error;
    },
  });
  for (let at = 0; at < text.length; at += 7) parser.feed(text.slice(at, at + 7));
  return events;
}

/** By the interface of browsers, until the stream ends. */
async function heard(url: string, expected: Events): Promise<Events> {
  const events: Events = [];
  const source = new EventSource(url);
  for (const name of new Set(expected.map(([event]) => event)))
    source.addEventListener(name, (event) => void events.push([name, (event as MessageEvent).data]));
  await new Promise((resolve) => source.addEventListener("error", resolve));
  source.close();
  return events;
}

/** Each stream again, a few bytes at a time, at a path of its name; the chat where OpenAI's clients ask for it. */
async function replay() {
  const server = createServer(async ({ url = "" }, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const text = recorded[url === "/chat/completions" ? "chat" : url.slice(1)] ?? "";
    for (let at = 0; at < text.length; at += 50) {
      response.write(text.slice(at, at + 50));
      await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
