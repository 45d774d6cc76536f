/**
 * Services of the measurement of growth, each with a connection of its own: the broker's address, the number of the
 * first and of the one after the last, and how many tools each has are the arguments.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import { defineTool, serveTools } from "@rockbot/tools";
import { inputSchema, validateEcho } from "../contenders/echo-tool.ts";
import { benchPolicy } from "../contenders/tool-caller.ts";
import { growthTool } from "./growth.ts";

const [amqpUrl = "", from = "0", to = "0", tools = "0"] = process.argv.slice(2);
/** About as long as those of tools are. */
const description = "Says what it is for, what it takes and what it gives. ".repeat(16);
const policy = await benchPolicy();

for (let number = Number(from); number < Number(to); number++) {
  const set = Array.from({ length: Number(tools) }, (_, tool) => {
    const name = growthTool(number, tool);
    const definition = {
      name,
      description,
      inputSchema,
      readOnly: true,
      idempotent: true,
      validateInput: validateEcho,
    };
    return defineTool(definition, async ({ text }) => text ?? "");
  });
  await serveTools(await connectBus(amqpUrl), { tools: set, guides: [] }, { service: `growth-${number}`, policy });
}
process.stdout.write("ready\n");
