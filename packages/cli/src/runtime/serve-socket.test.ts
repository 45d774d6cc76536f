import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { floodSockets, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { ownSocket } from "./own-socket.ts";
import { serveSocket } from "./serve-socket.ts";

test("2 100 silent connections keep the operator out neither of calls nor of what is for operators only", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const socket = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") });
  socket.makeFolder();
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "cli", results: "copy" });
  await using _server = await serveSocket(
    socket,
    { bus, caller },
    { drainMs: 1000, signal: new AbortController().signal },
  );
  using _flood = await floodSockets({ path: socket.path }, 2100, "silent");

  for (const path of ["/v1/tools", "/operator/calls"]) {
    const [answer] = (await once(get({ socketPath: socket.path, path, agent: false }), "response")) as [
      IncomingMessage,
    ];
    answer.resume();
    expect(answer.statusCode).toBe(200);
  }
});
