/**
 * The tool of the bench as a process of its own: `node tool-service.ts BUS_URL REDIS_URL`. It may not run twice, so
 * each call is claimed in Redis.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { serveTools } from "@rockbot/tools";
import { effectTool } from "../effect-tool.ts";

const [, , busUrl = "", redisUrl = ""] = process.argv;
const bus = await connectBus(busUrl, { name: "effects" });
const claims = await connectRedisClaimStore(redisUrl);
await serveTools(bus, { tools: [effectTool(() => {})] }, { service: "effects", claims, concurrency: 256 });
process.stdout.write("ready\n");
