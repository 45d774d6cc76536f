import { createAgent, serviceSearch } from "@rockbot/agent";
import { called, said, scriptedModel, testRequest, testTool } from "@rockbot/agent/test-kit";
import { createMemoryBus } from "@rockbot/bus";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { wisps } from "./wisps.ts";

test("spawn_wisps is found by the search, and called by invoke_tool, as a model is not given it", async () => {
  const definitions = [{ description: "Writes.", steps: [{ id: "one", tool: "mail_send", arguments: { to: "ada" } }] }];
  const { model, requests } = scriptedModel([
    called(["search_known_services", { query: "run a pipeline of tool calls" }]),
    called(["get_tool_details", { names: ["spawn_wisps"] }]),
    called(["invoke_tool", { name: "spawn_wisps", arguments: { definitions } }]),
    said("ok"),
  ]);
  const sent: object[] = [];
  const mail = testTool("mail_send", async (input) => {
    sent.push(input);
    return "sent";
  });
  await using bus = createMemoryBus();
  await using _tools = await serveTools(bus, { tools: [mail] }, { service: "office" });
  await using agent = await createAgent({ bus, model })
    .use(wisps())
    .use(serviceSearch({ hints: false }))
    .start();

  expect(await agent.runTurn(testRequest("Go."))).toMatchObject({ text: "ok" });
  const results = requests.at(-1)?.messages.flatMap(({ role, content }) => (role === "tool" ? [content] : [])) ?? [];
  expect(requests.flatMap(({ tools = [] }) => tools.filter(({ name }) => /wisp/.test(name)))).toEqual([]);
  expect(results[0]).toContain('"wisps"');
  expect(results[1]).toContain('"for_each"');
  expect(sent).toEqual([{ to: "ada" }]);
});
