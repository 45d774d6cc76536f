import { createMemoryBus } from "@rockbot/bus";
import { ToolError, tools as toolNames } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAgentService } from "../agent-service.ts";
import { configSchema } from "../generated/config.ts";

const noDatabase = () => Promise.reject(new Error("no test needs another database"));
const policyOf = async (text: string) => holdPolicy(createPolicy(await readPolicy(text, "test")));

/** The service over a bus in memory and a database of its own, with two tools, and callers of it. */
async function startRobots(
  options: { readonly env?: Readonly<Record<string, string>>; readonly script?: Parameters<typeof startModelServer>[0]; readonly policy?: string } = {},
) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const model = started.use(await startModelServer(options.script ?? []));
  const bus = started.use(createMemoryBus());
  const policy = options.policy === undefined ? undefined : await policyOf(options.policy);
  const lookUp = defineTool({ ...toolNames.htmlToText, name: "shop_hours" }, async () => "nine to five");
  started.use(await serveTools(bus, { tools: [lookUp] }, { service: "tests", policy }));
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, DATA_DIRECTORY: folder.path, ...options.env };
  const parts = { service: "agent", topic: "tool.invoke.agent", connectDefinitions: noDatabase, policy };
  started.use(await startAgentService(bus, loadConfig(configSchema, { env }), parts));
  const callerOf = async (agent: string) => {
    const caller = started.use(await createToolCaller(bus, { agent, policy }));
    await caller.discovered();
    return async (tool: string, input: object): Promise<{ readonly text: string; readonly data: Readonly<Record<string, unknown>> }> => {
      const { content, structured } = await caller.call(tool, input);
      return { text: content ?? "", data: structured ?? {} };
    };
  };
  const open = { alice: await callerOf("alice"), bob: await callerOf("bob"), model, folder };
  const running = started.move();
  return { ...open, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const words = (error: unknown): string => (error instanceof ToolError ? `${error.code}: ${error.message}` : String(error));

test("a robot is made, listed, read, changed and deleted by its maker, and is not there for others", async () => {
  await using robots = await startRobots();
  const { alice, bob } = robots;
  const made = await alice("robot_create", {
    name: "clerk",
    playbook: "Be brief.",
    description: "Knows shops.",
    tools: ["shop_*", "web_search"],
    max_tokens: 5_000,
  });
  const id = made.data["robot_id"] as string;
  expect(made.text).toBe(`Made the robot clerk (id ${id}), version 1. You alone see it.`);
  expect((await alice("robot_list", {})).text).toBe(`- clerk (id ${id}, yours): Knows shops.`);
  expect((await bob("robot_list", {})).text).toBe("There are no robots yet. robot_create makes one.");
  expect((await alice("robot_get", { robot_id: id })).data).toMatchObject({
    tools: ["shop_*", "web_search"],
    max_tokens: 5_000,
    is_own: true,
    is_shared: false,
    version: 1,
  });
  await expect(bob("robot_get", { robot_id: id })).rejects.toThrow(
    `robot_id: there is no robot ${id} that you see. You see no robots yet: robot_create makes one.`,
  );
  expect((await alice("robot_update", { robot_id: id, description: null, tools: ["shop_hours"], max_tokens: null, version: 1 })).data).toMatchObject({
    version: 2,
    errors: [],
  });
  expect((await alice("robot_get", { robot_id: id })).data).toMatchObject({ description: "", playbook: "Be brief.", tools: ["shop_hours"], version: 2 });
  expect((await alice("robot_update", { robot_id: id, tools: ["shop_hours"] })).text).toContain("Nothing changes in the robot clerk");
  expect((await alice("robot_delete", { robot_id: id })).text).toBe(`Deleted the robot clerk (id ${id}).`);
  expect((await alice("robot_list", {})).data).toEqual({ robots: [], total: 0 });
});

test("what nobody knows is left out and named, and what is known is kept", async () => {
  await using robots = await startRobots({ env: { AGENT_MODELS: "cheap" } });
  const { alice } = robots;
  const input = { name: "clerk", playbook: "x", tools: ["shop_hours", "shop_hour", "zzz", "web_*", "nope_*"], destinations: ["cook", "clerk"], model: "dear" };
  const { data, text } = await alice("robot_create", input);
  expect(data["errors"]).toEqual([
    'tools: there is no tool "shop_hour" for you. Did you mean "shop_hours"?',
    'tools: there is no tool "zzz" for you',
    'tools: no tool that there is for you fits "nope_*"',
    'destinations: you see no robot "cook"',
    'destinations: "clerk" is the robot itself',
    expect.stringMatching(/^model: robots have no model "dear"\. There are: .+, cheap$/),
  ]);
  expect(text).toContain('Errors: tools: there is no tool "shop_hour" for you. Did you mean');
  const kept = await alice("robot_get", { robot_id: data["robot_id"] as string });
  expect(kept.data).toMatchObject({ tools: ["shop_hours", "web_*"], destinations: [], model: null });
});

test("each wrong input is answered in words that say what is wrong and what is right, all at once", async () => {
  await using robots = await startRobots({ env: { MAX_ROBOTS_PER_CALLER: "1" } });
  const { alice, bob } = robots;
  const { data } = await alice("robot_create", { name: "clerk", playbook: "x" });
  const id = data["robot_id"] as string;
  const gone = "0".repeat(24);
  const create = (input: object) => ["robot_create", { playbook: "x", ...input }] as const;
  const update = (input: object) => ["robot_update", { robot_id: id, ...input }] as const;
  const notSaved = "invalid_arguments: The robot was not saved. ";
  const badName = (name: string) =>
    `${notSaved}name: "${name}" is none. Use at most 48 of a-z, 0-9, and single - or _ between them, with a letter first, such as "travel-clerk"`;
  const taken = (name: string) => `${notSaved}name: "${name}" is taken, as agent__${name} is a tool of its own. Choose another`;
  const wrong: readonly (readonly [readonly [string, object], string | RegExp])[] = [
    [create({ name: "Clerk" }), badName("Clerk")],
    [create({ name: "a__b" }), badName("a__b")],
    [create({ name: "" }), badName("")],
    [create({ name: "final_report" }), taken("final_report")],
    [create({ name: "task_status" }), taken("task_status")],
    [create({ name: "batch" }), taken("batch")],
    [create({ name: "chat" }), taken("chat")],
    [create({ name: "events" }), taken("events")],
    [create({ name: "cook", playbook: " \n" }), `${notSaved}playbook: is blank. Say how the agent works`],
    [create({ name: "1st", playbook: "" }), `${badName("1st")}; playbook: is blank. Say how the agent works`],
    [create({ name: "clerk" }), `${notSaved}name: you see a robot "clerk" already, ${id}. Choose another name`],
    [create({ name: "cook" }), 'denied: The robot was not saved. "alice" has 1 robots, which is all that it may have. Change one that is there, or delete one'],
    [
      create({ name: "cook", report_schema: { type: "thing" } }),
      /^invalid_arguments: The robot was not saved\. report_schema: is no JSON Schema that can be used: ./,
    ],
    [create({ name: "cook", max_tokens: 1, timeout_ms: 0 }), /^invalid_arguments: .*max_tokens.*>= 1000.*timeout_ms.*>= 1000/s],
    [create({ name: "cook", playbooks: "x" }), /^invalid_arguments: .*unknown property "playbooks".*playbook/s],
    [
      ["robot_get", { robot_id: "clerk" }],
      `invalid_arguments: robot_id: "clerk" is no id of a robot: expected 24 of 0-9 and a-f. The robot of this name is ${id}.`,
    ],
    [["robot_get", { robot_id: "x" }], `invalid_arguments: robot_id: "x" is no id of a robot: expected 24 of 0-9 and a-f. You see: ${id} (clerk).`],
    [["robot_get", { robot_id: gone }], `invalid_arguments: robot_id: there is no robot ${gone} that you see. You see: ${id} (clerk).`],
    [["robot_delete", { robot_id: gone }], `invalid_arguments: robot_id: there is no robot ${gone} that you see. You see: ${id} (clerk).`],
    [update({ version: 7 }), 'invalid_arguments: The robot "clerk" was not changed: it is version 1 by now, not 7. Read it again.'],
    [update({ name: "chat" }), taken("chat")],
    [
      ["robot_switch", { robot_id: "x", session_id: "s" }],
      `invalid_arguments: robot_id: "x" is no id of a robot: expected 24 of 0-9 and a-f. You see: ${id} (clerk).`,
    ],
    [["robot_switch", { robot_id: id }], "invalid_arguments: session_id: this call belongs to no session, so say which one is to be switched."],
    [["robot_list", { limit: 0 }], /^invalid_arguments: .*limit.*>= 1/s],
  ];
  for (const [[tool, input], expected] of wrong) {
    const said = await alice(tool, input).then(({ text }) => `no error: ${text}`, words);
    if (typeof expected === "string") expect([tool, input, said]).toEqual([tool, input, expected]);
    else expect([said, expected.test(said)], JSON.stringify(input)).toEqual([said, true]);
  }
  expect(wrong.length).toBeGreaterThanOrEqual(20);
  expect((await alice("robot_list", {})).data["total"]).toBe(1);
  expect(await bob("robot_delete", { robot_id: id }).catch(words)).toBe(
    `invalid_arguments: robot_id: there is no robot ${id} that you see. You see no robots yet: robot_create makes one.`,
  );
});
