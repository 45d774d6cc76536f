import { once } from "node:events";
import { serveTools } from "rockbot";
import { connectBus } from "rockbot/rabbitmq";
import { wordCount } from "../a-tool/word-count.ts";

await using bus = await connectBus(process.env["BUS_URL"] ?? "amqp://localhost");
await using _words = await serveTools(bus, { tools: [wordCount] }, { service: "words" });
console.log("ready");
await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]); // calls that run then have 20 s to end
