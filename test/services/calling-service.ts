/**
 * A caller as a process of its own: `node calling-service.ts AMQP_URL REDIS_URL NAME CALLS`. The name is its agent's,
 * that of the tool it calls, and the prefix of its keys. It takes up what an earlier one had out, and writes each
 * answer as a line of JSON; then `resumed`. Then it makes the calls, and writes `out` once the bus has confirmed them
 * all.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { createToolCaller } from "@rockbot/tools";

const [amqpUrl = "", redisUrl = "", name = "", calls = "0"] = process.argv.slice(2);
await using bus = await connectBus(amqpUrl, { name: "calling-service" });
await using journals = await connectRedisJournalStore(redisUrl, { prefix: name });
await using caller = await createToolCaller(bus, { agent: name, journals });

await Promise.all(
  caller.resumed.map(async ({ toolCallId, answer }) => {
    const ended = await answer.then(
      ({ content }) => ({ toolCallId, content }),
      (error: { readonly code: string }) => ({ toolCallId, code: error.code }),
    );
    process.stdout.write(`${JSON.stringify(ended)}\n`);
  }),
);
process.stdout.write("resumed\n");

const count = Number(calls);
for (let index = 0; index < count; index++) void caller.call(name, { index }, { timeoutMs: 60_000 });
const isOut = async () =>
  (await journals.readOpen(`${name}.0`)).filter(({ state }) => state === "accepted").length === count;
while (count > 0 && !(await isOut())) await new Promise((resolve) => setTimeout(resolve, 20));
if (count > 0) process.stdout.write("out\n");
if (count > 0) await new Promise((resolve) => process.once("SIGTERM", resolve));
