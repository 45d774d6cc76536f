import { createMemoryBus, createToolCaller, serveTools } from "rockbot";

/** Type-checked where there are no types of Node. */
export async function main(): Promise<string | null> {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [] }, { service: "empty" });
  await using agent = await createToolCaller(bus, { agent: "program" });
  return (await agent.call("list_tool_guides", {}, { signal: new AbortController().signal })).content ?? null;
}
