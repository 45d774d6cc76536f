import { expect, test } from "vitest";
import { ChangeStream } from "./change-stream.ts";

const tools = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';
const prompts = tools.replace("tools", "prompts");
const resources = tools.replace("tools", "resources");

test("news of a kind waits once for a client that does not read, however often it comes", async () => {
  const stream = new ChangeStream({ keepAliveMs: 60_000 });
  for (let times = 0; times < 1_000; times++) stream.tell();
  stream.end();

  expect(await new Response(stream.body).text()).toBe(tools + prompts + resources);
});

test("news reaches a client that waits for it, and the end, too", async () => {
  const stream = new ChangeStream({ keepAliveMs: 60_000 });
  const reader = stream.body.getReader();
  const first = reader.read();
  stream.tell();
  expect(new TextDecoder().decode((await first).value)).toBe(tools + prompts + resources);
  const last = reader.read();
  stream.end();
  expect(await last).toEqual({ done: true, value: undefined });
});

test("a silent stream shows that it lives, and ends when its client leaves", async () => {
  const stream = new ChangeStream({ keepAliveMs: 5 });
  const reader = stream.body.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(": keep-alive\n");
  await reader.cancel();
  await stream.ended;
});
