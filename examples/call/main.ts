import assert from "node:assert/strict";
import { createToolCaller } from "rockbot";
import { connectBus } from "rockbot/rabbitmq";

await using bus = await connectBus(process.env["BUS_URL"] ?? "amqp://localhost");
await using agent = await createToolCaller(bus, { agent: "my-agent" });
await agent.discovered();

for (const { name } of agent.tools.getTools()) console.log(name);
const { content } = await agent.call(
  "execute_python_script",
  { script: "print(sum(range(10)))" },
  { timeoutMs: 60_000 },
);
console.log(content);
assert.match(content ?? "", /45/);
