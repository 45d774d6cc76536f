import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createToolCaller } from "rockbot";
import { connectBus } from "rockbot/rabbitmq";

const service = spawn(process.execPath, [join(import.meta.dirname, "service.ts")], {
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = once(service, "exit");
try {
  assert.equal(String(await once(service.stdout, "data")).trim(), "ready");
  await using bus = await connectBus(process.env["BUS_URL"] ?? "amqp://localhost");
  await using agent = await createToolCaller(bus, { agent: "my-agent" });
  await agent.discovered();
  const { content } = await agent.call("word_count", { text: "three short words" });
  console.log(content);
  assert.equal(content, "3 words");
} finally {
  service.kill("SIGTERM");
}
assert.deepEqual(await ended, [0, null]); // the service has ended by itself
