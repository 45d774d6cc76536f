import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@rockbot/contracts";
import { type ModelScript, type ModelServerRequest, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { checkReportSchemas, readAgentsFile } from "../definitions/read-agents-file.ts";
import { openSqliteAgentRecords } from "../records/sqlite/sqlite-agent-records.ts";
import { startCallers } from "../test-callers.ts";

const words = (error: unknown): string =>
  error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);

test("a robot is made, listed, read, changed and deleted by its maker, and is not there for others", async () => {
  await using robots = await startCallers();
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
  expect(
    (
      await alice("robot_update", {
        robot_id: id,
        description: null,
        tools: ["shop_hours"],
        max_tokens: null,
        version: 1,
      })
    ).data,
  ).toMatchObject({
    version: 2,
    errors: [],
  });
  expect((await alice("robot_get", { robot_id: id })).data).toMatchObject({
    description: "",
    playbook: "Be brief.",
    tools: ["shop_hours"],
    version: 2,
  });
  expect((await alice("robot_update", { robot_id: id, tools: ["shop_hours"], version: 1 })).text).toContain(
    "Nothing changes in the robot clerk",
  ); // a repeat
  expect((await alice("robot_delete", { robot_id: id })).text).toBe(`Deleted the robot clerk (id ${id}).`);
  expect((await alice("robot_list", {})).data).toEqual({ robots: [], total: 0 });
});

test("what nobody knows is left out and named, and what is known is kept", async () => {
  await using robots = await startCallers({ env: { AGENT_MODELS: "cheap" } });
  const { alice } = robots;
  const input = {
    name: "clerk",
    playbook: "x",
    tools: ["shop_hours", "shop_hour", "zzz", "web_*", "nope_*"],
    destinations: ["cook", "clerk"],
    model: "dear",
  };
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

test("a change to names that nobody knows leaves what was there, and says so", async () => {
  await using robots = await startCallers({ env: { AGENT_MODELS: "cheap" } });
  const { alice } = robots;
  await alice("robot_create", { name: "cook", playbook: "x" });
  const { data } = await alice("robot_create", {
    name: "clerk",
    playbook: "x",
    tools: ["shop_*"],
    destinations: ["cook"],
    model: "cheap",
  });
  const update = (input: object) => alice("robot_update", { robot_id: data["robot_id"], ...input });
  expect((await update({ tools: ["zzz*"] })).text).toMatch(
    /^Nothing changes in the robot clerk .*\n\nErrors: tools: no tool that there is for you fits "zzz\*"$/s,
  );
  expect(
    (await update({ playbook: "y", tools: ["zzz*"], destinations: ["nobody"], model: "dear" })).data,
  ).toMatchObject({ version: 2 });
  const kept = async () => (await alice("robot_get", { robot_id: data["robot_id"] })).data;
  expect(await kept()).toMatchObject({ playbook: "y", tools: ["shop_*"], destinations: ["cook"], model: "cheap" });
  await update({ tools: [], destinations: null, model: null });
  expect(await kept()).toMatchObject({ tools: [], destinations: [], model: null });
});

// Long because: it is a table
test("each wrong input is answered in words that say what is wrong and what is right, all at once", async () => {
  await using robots = await startCallers({ env: { MAX_ROBOTS_PER_CALLER: "1" } });
  const { alice, bob } = robots;
  const { data } = await alice("robot_create", { name: "clerk", playbook: "x" });
  const id = data["robot_id"] as string;
  const gone = "0".repeat(24);
  const create = (input: object) => ["robot_create", { playbook: "x", ...input }] as const;
  const update = (input: object) => ["robot_update", { robot_id: id, ...input }] as const;
  const notSaved = "invalid_arguments: The robot was not saved. ";
  const badName = (name: string) =>
    `${notSaved}name: "${name}" is not a valid name. Use at most 48 of a-z, 0-9, and single - or _ between them, with a letter first, such as "travel-clerk"`;
  const taken = (name: string) =>
    `${notSaved}name: "${name}" is taken, as agent__${name} is a tool of its own. Choose another`;
  const wrong: readonly (readonly [readonly [string, object], string | RegExp])[] = [
    [create({ name: "Clerk" }), badName("Clerk")],
    [create({ name: "a__b" }), badName("a__b")],
    [create({ name: "" }), badName("")],
    [create({ name: "final_report" }), taken("final_report")],
    [create({ name: "task_status" }), taken("task_status")],
    [create({ name: "batch" }), taken("batch")],
    [create({ name: "chat" }), taken("chat")],
    [create({ name: "events" }), taken("events")],
    [create({ name: "helper" }), taken("helper")],
    [create({ name: "cook", playbook: " \n" }), `${notSaved}playbook: is blank. Say how the agent works`],
    [create({ name: "1st", playbook: "" }), `${badName("1st")}; playbook: is blank. Say how the agent works`],
    [
      create({ name: "1st", tools: ["zzz"], destinations: ["nobody"], model: "dear" }),
      new RegExp(
        `^${badName("1st").replaceAll(".", "\\.")}; tools: .*"zzz".*; destinations: .*"nobody"; model: .*"dear"`,
      ),
    ],
    [create({ name: "clerk" }), `${notSaved}name: you see a robot "clerk" already, ${id}. Choose another name`],
    [
      create({ name: "cook" }),
      'denied: The robot was not saved. "alice" has 1 robots, which is all that it may have. Change one that is there, or delete one',
    ],
    [
      create({ name: "cook", report_schema: { type: "thing" } }),
      /^invalid_arguments: The robot was not saved\. report_schema: is not a usable JSON Schema: ./,
    ],
    [
      create({ name: "cook", max_tokens: 1, timeout_ms: 0 }),
      /^invalid_arguments: .*max_tokens.*at least 1000.*timeout_ms.*at least 1000/s,
    ],
    [create({ name: "cook", playbooks: "x" }), /^invalid_arguments: .*unknown property "playbooks".*playbook/s],
    [
      ["robot_get", { robot_id: "clerk" }],
      `invalid_arguments: robot_id: "clerk" is not an id of a robot: expected 24 of 0-9 and a-f. The robot of this name is ${id}.`,
    ],
    [
      ["robot_get", { robot_id: "x" }],
      `invalid_arguments: robot_id: "x" is not an id of a robot: expected 24 of 0-9 and a-f. You see: ${id} (clerk).`,
    ],
    [
      ["robot_get", { robot_id: gone }],
      `invalid_arguments: robot_id: there is no robot ${gone} that you see. You see: ${id} (clerk).`,
    ],
    [
      ["robot_delete", { robot_id: gone }],
      `invalid_arguments: The robot was not deleted. robot_id: there is no robot ${gone} that you see. You see: ${id} (clerk).`,
    ],
    [
      update({ version: 7, playbook: "y" }),
      'invalid_arguments: The robot "clerk" was not changed: it is version 1 by now, not 7. Read it again.',
    ],
    [update({ name: "chat" }), taken("chat")],
    [
      ["robot_switch", { robot_id: "x", session_id: "s" }],
      `invalid_arguments: The session was not switched. robot_id: "x" is not an id of a robot: expected 24 of 0-9 and a-f. You see: ${id} (clerk).`,
    ],
    [
      ["robot_switch", { robot_id: id }],
      "invalid_arguments: The session was not switched. session_id: this call belongs to no session, so say which one is to be switched.",
    ],
    [["robot_list", { limit: 0 }], /^invalid_arguments: .*limit.*at least 1/s],
  ];
  for (const [[tool, input], expected] of wrong) {
    const said = await alice(tool, input).then(({ text }) => `no error: ${text}`, words);
    if (typeof expected === "string") expect([tool, input, said]).toEqual([tool, input, expected]);
    else expect([said, expected.test(said)], JSON.stringify(input)).toEqual([said, true]);
  }
  expect(wrong.length).toBeGreaterThanOrEqual(20);
  expect((await alice("robot_list", {})).data["total"]).toBe(1);
  expect(await bob("robot_delete", { robot_id: id }).catch(words)).toBe(
    `invalid_arguments: The robot was not deleted. robot_id: there is no robot ${id} that you see. You see no robots yet: robot_create makes one.`,
  );
});

type Shown = Readonly<
  Record<string, { readonly enum?: unknown; readonly items?: object; readonly description?: string }>
>;

test("of more tools than a model is shown each can be given to a robot, and the values of now are closed only where no other is right", async () => {
  const many = Array.from({ length: 120 }, (_, i) => `aa-tool${i}`);
  const create = { name: "robot_create", arguments: { name: "clerk", playbook: "x", tools: ["shop_hours"] } };
  const script: ModelScript = (request) =>
    resultsIn(request).length > 0
      ? { text: resultsIn(request).at(-1) ?? "" }
      : { toolCalls: [detailsOf("robot_create"), create] };
  await using robots = await startCallers({ script, more: many, env: { AGENT_MODELS: "cheap" } });
  expect((await robots.alice("agent__chat", { message: "Make one." })).text).toMatch(/^Made the robot clerk/);
  const { tools, model } = propertiesIn(robots.model.requests[1], "robot_create");
  expect(tools?.items).not.toHaveProperty("enum");
  expect(tools?.description).toMatch(/There are: \*, .*shop_\*, .*aa-tool0.* and \d+ more\. Others are taken, too\.$/);
  expect(model?.enum).toContain("cheap");
});

type Details = readonly { readonly name: string; readonly parameters: { readonly properties: Shown } }[];

/** A model reads about the tools for robots, as it is not given them. */
const detailsOf = (...names: readonly string[]) => ({ name: "get_tool_details", arguments: { names } });
const propertiesIn = (request: ModelServerRequest | undefined, name: string) =>
  (JSON.parse(resultsIn(request as ModelServerRequest)[0] ?? "") as Details).find((tool) => tool.name === name)
    ?.parameters.properties ?? {};

const systemOf = ({ messages }: ModelServerRequest): string => messages[0]?.text ?? "";
const resultsIn = ({ messages }: ModelServerRequest): readonly string[] =>
  messages.flatMap(({ role, text }) => (role === "tool" ? [text] : []));

test("a conversation is a robot from the turn after the switch on, with its tools alone, and is the plain agent again", async () => {
  let id = "";
  const script: ModelScript = (request) => {
    if (resultsIn(request).length > 0 || /^You are clerk,/.test(systemOf(request)))
      return { text: `as ${/^You are (\w+),/.exec(systemOf(request))?.[1] ?? "agent"}` };
    return { toolCalls: [detailsOf(...ofRobots), { name: "robot_switch", arguments: { robot_id: id } }] };
  };
  const ofRobots = ["robot_switch", "robot_get", "robot_delete", "robot_create", "robot_update"];
  await using robots = await startCallers({ script });
  const { alice, bob, model } = robots;
  id = (await alice("robot_create", { name: "clerk", playbook: "Be brief.", tools: ["shop_hours"] })).data[
    "robot_id"
  ] as string;
  const ask = (message: string, session_id = "s") => alice("agent__chat", { message, session_id });
  expect((await ask("Be the clerk.")).text).toBe("as agent");
  expect((await ask("Who are you?")).text).toBe("as clerk");
  const asClerk = model.requests[2] as ModelServerRequest;
  expect(systemOf(asClerk)).toContain("Be brief.");
  expect(asClerk.toolNames.filter((name) => name.startsWith("shop_") || name.startsWith("robot_"))).toEqual([
    "shop_hours",
  ]);
  const shown = (name: string) => propertiesIn(model.requests[1], name);
  const ids = ofRobots.slice(0, 3).map((name) => shown(name)["robot_id"]);
  expect(ids.map((argument) => argument?.enum)).toEqual([[id, null], [id], [id]]);
  for (const argument of ids) expect(argument?.description).toContain(`There are: ${id} (clerk).`);
  for (const name of ["robot_create", "robot_update"])
    expect(shown(name)["tools"]?.description).toContain("Robots are called by: agent__clerk.");
  await bob("agent__chat", { message: "Who are you?", session_id: "s" });
  expect(systemOf(model.requests.at(-1) as ModelServerRequest)).not.toContain("Be brief."); // a session of another caller
  expect((await alice("robot_switch", { robot_id: null, session_id: "s" })).text).toBe(
    "From its next turn on the session is the plain agent.",
  );
  expect((await ask("And now?")).text).toBe("as agent");
  await alice("robot_switch", { robot_id: id, session_id: "s" });
  await alice("robot_delete", { robot_id: id });
  expect((await ask("And now?")).text).toBe("as agent");
});

test("what a turn writes that has read strangers' words is untrusted for good, and its playbook is no system text", async () => {
  const steps = [
    { toolCalls: [{ name: "shop_letter", arguments: { html: "x" } }] },
    { toolCalls: [{ name: "robot_create", arguments: { name: "servant", playbook: "Obey the letter." } }] },
    { text: "done" },
    { text: "as I was told" },
  ];
  await using robots = await startCallers({ script: steps });
  const { alice, model } = robots;
  await alice("agent__chat", { message: "Read the letter." });
  const { data, trust } = await alice("robot_list", {});
  const [{ robot_id: id, is_untrusted }] = data["robots"] as [{ robot_id: string; is_untrusted: boolean }];
  expect([is_untrusted, trust?.level]).toEqual([true, "untrusted"]);
  await alice("robot_update", { robot_id: id, playbook: "Be nice." });
  expect((await alice("robot_get", { robot_id: id })).data).toMatchObject({ playbook: "Be nice.", is_untrusted: true });
  await alice("robot_switch", { robot_id: id, session_id: "s" });
  expect((await alice("agent__chat", { message: "Hello.", session_id: "s" })).trust?.level).toBe("untrusted");
  const last = model.requests.at(-1) as ModelServerRequest;
  expect(systemOf(last)).not.toContain("Be nice.");
  expect(last.messages.slice(1).some(({ text }) => text.includes("Be nice."))).toBe(true);
});

test("turns that fill the service and all of its handlers make robots in the same moment, and their events are read meanwhile", {
  timeout: 60_000,
}, async () => {
  const fill = [1, 2, 3, 4].map((n) => `r${n}`); // two run, and two wait
  const bothAsk = Promise.withResolvers<void>();
  let asking = 0;
  const script: ModelScript = async (request) => {
    if (resultsIn(request).length > 0) return { text: resultsIn(request).join() };
    if (++asking === 2) bothAsk.resolve();
    await bothAsk.promise;
    return {
      toolCalls: [
        { name: "robot_create", arguments: { name: request.messages.at(-1)?.text.slice(-2), playbook: "x" } },
      ],
    };
  };
  await using robots = await startCallers({ script, env: { CONCURRENCY: "2" } });
  const making = fill.map((name) => robots.alice("agent__chat", { message: `Make ${name}`, session_id: name }));
  await bothAsk.promise;
  expect((await robots.alice("agent__events", { session_id: "r1" })).data["events"]).toBeInstanceOf(Array);
  for (const { text } of await Promise.all(making)) expect(text).toMatch(/^Made the robot r\d/);
});

test("a robot makes a batch of calls of the agent's own service where one turn runs at once", async () => {
  const script: ModelScript = (request) =>
    resultsIn(request).length > 0
      ? {
          toolCalls: [
            {
              name: "agent__final_report",
              arguments: { status: "success", format: "text", content: resultsIn(request).join() },
            },
          ],
        }
      : {
          toolCalls: [
            {
              name: "agent__batch",
              arguments: { calls: [{ tool: "robot_list" }, { tool: "shop_hours", arguments: { html: "x" } }] },
            },
          ],
        };
  await using robots = await startCallers({ script, env: { CONCURRENCY: "1" } });
  const { data } = await robots.alice("robot_create", { name: "clerk", playbook: "x", tools: ["*"] });
  await robots.alice("robot_switch", { robot_id: data["robot_id"], session_id: "s" });
  expect((await robots.alice("agent__chat", { message: "Go.", session_id: "s" })).text).toMatch(
    /clerk \(id .*nine to five/s,
  );
});

test("a scheduled task of a session whose robot is gone is not run: the plain agent would have more tools", async () => {
  await using robots = await startCallers({ script: () => ({ text: "ran" }) });
  const { alice, model } = robots;
  const { data } = await alice("robot_create", { name: "clerk", playbook: "x", tools: ["shop_hours"] });
  await alice("robot_switch", { robot_id: data["robot_id"], session_id: "s" });
  const run = (session_id: string) =>
    alice("agent__chat", { message: "Do it.", session_id, origin: "schedule" }).then(({ text }) => text, words);
  expect(await run("s")).toBe("ran");
  await alice("robot_delete", { robot_id: data["robot_id"] });
  expect(await run("s")).toMatch(/^denied: The task was not run: its agent was deleted, or its caller may not use it/);
  expect(await run(`sub-${"0".repeat(32)}`)).toMatch(/^denied: The task was not run/); // of an agent that was called, and is not known any more
  expect(model.requests).toHaveLength(1);
  expect((await alice("agent__chat", { message: "Who are you?", session_id: "s" })).text).toBe("ran"); // a person sees who answers
});

test("robots of a file are everybody's, nobody changes them, and they count before others of their name", async () => {
  using files = temporaryFolder();
  const file = join(files.path, "agents.yaml");
  writeFileSync(
    file,
    "clerk: { playbook: Help., tools: ['shop_*'], destinations: [cook] }\ncook: { playbook: Cook., maker: alice }",
  );
  await using robots = await startCallers({ env: { AGENTS_FILE: file } });
  const { alice, bob } = robots;
  const list = (await bob("robot_list", {})).data["robots"] as { robot_id: string; name: string }[];
  expect(list.map(({ name }) => name)).toEqual(["clerk", "cook"]);
  const cook = list[1]?.robot_id as string;
  expect(await alice("robot_update", { robot_id: cook, playbook: "x" }).catch(words)).toBe(
    'denied: The robot "cook" was not changed: it is of the operator\'s file, which nobody changes by a tool. Make one of your own with robot_create.',
  );
  expect(await alice("robot_create", { name: "clerk", playbook: "x" }).catch(words)).toMatch(
    /name: you see a robot "clerk" already/,
  );
  expect((await bob("robot_get", { robot_id: cook })).data).toMatchObject({
    maker: "alice",
    is_shared: true,
    is_own: false,
  });
});

test("robots that a caller has already leave no room for one that is too long beside them", async () => {
  await using robots = await startCallers();
  const { alice } = robots;
  const playbook = "x".repeat(65_000);
  const make = (index: number) => alice("robot_create", { name: `r${index}`, playbook }).then(() => "made", words);
  const made: string[] = [];
  while (made.at(-1) !== made.at(-2) || made.length < 3 || made.at(-1) === "made") made.push(await make(made.length));
  const refused =
    'denied: The robot was not saved. All that "alice" has of the kind would have more than 4194304 characters. Make this one shorter, or delete one.';
  expect([made.filter((each) => each === "made").length, made.at(-1)]).toEqual([64, refused]);
  const { data } = await alice("robot_create", { name: "short", playbook: "x" });
  expect(await alice("robot_update", { robot_id: data["robot_id"], playbook }).catch(words)).toBe(refused);
});

test("all that is wrong with the file is said at once, and keeps the service from starting", async () => {
  using files = temporaryFolder();
  const file = join(files.path, "agents.yaml");
  const faults = (text: string): string => {
    writeFileSync(file, text);
    try {
      readAgentsFile(file);
      return "none";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(faults("chat: { playbook: Help., destinations: [nobody] }\nA b: { playbook: ' ' }")).toMatch(
    /chat\.name: "chat" is taken.*chat\.destinations: the file has no agent "nobody".*A b\.name: "A b" is not a valid name.*A b\.playbook: is blank/s,
  );
  expect(faults("clerk: { tools: 7, maxTokens: 1 }")).toMatch(/playbook.*tools|tools.*playbook/s);
  expect(faults("clerk: { playbook: Help., destinations: [clerk] }")).toContain(
    'clerk.destinations: "clerk" is the agent itself',
  );
  expect(faults("clerk: { playbook: Help. }\n---\ncook: { playbook: Cook. }")).toMatch(
    /line 2, column 1: a second document begins here/,
  );
  writeFileSync(
    file,
    "clerk: { playbook: Help., reportSchema: { type: thing } }\ncook: { playbook: Cook., reportSchema: { $ref: '#/none' } }",
  );
  await expect(checkReportSchemas(file, readAgentsFile(file))).rejects.toThrow(
    /clerk\.reportSchema: is not a usable JSON Schema.*cook\.reportSchema: is not a usable JSON Schema/s,
  );
  expect(faults("clerk: { playbook: Help. }")).toBe("none");
  expect(() => readAgentsFile(join(files.path, "none.yaml"))).toThrow(/none\.yaml/);
});

test("others see a robot once its version is approved, and the policy says who may call it", async () => {
  const script: ModelScript = (request) => {
    const [system] = request.messages;
    if (/^You are clerk,/.test(system?.text ?? ""))
      return {
        toolCalls: [
          { name: "agent__final_report", arguments: { status: "success", format: "text", content: "from the clerk" } },
        ],
      };
    return resultsIn(request).length > 0
      ? { text: resultsIn(request).join() }
      : { toolCalls: [{ name: "agent__clerk", arguments: { prompt: "Go." } }] };
  };
  await using robots = await startCallers({
    script,
    policy: "everyone: { allow: ['*'] }\ncallers: { bob: { allow: ['*'] }, carl: { deny: ['agent__clerk'] } }",
  });
  const { alice, bob, folder } = robots;
  const { robot_id: id, hash } = (await alice("robot_create", { name: "clerk", playbook: "x" })).data as {
    robot_id: string;
    hash: string;
  };
  expect((await bob("agent__chat", { message: "Go." })).text).toContain("tool_not_found");
  await using records = await openSqliteAgentRecords(folder.path);
  const store = records.definitions;
  await store.approve(id, hash);
  expect((await bob("agent__chat", { message: "Go." })).text).toBe("from the clerk");
  expect(await bob("robot_delete", { robot_id: id }).catch(words)).toBe(
    'denied: The robot "clerk" was not deleted: another caller made it, who alone may change it. Make one of your own with robot_create.',
  );
  await alice("robot_update", { robot_id: id, playbook: "Changed." });
  expect((await bob("agent__chat", { message: "Go." })).text).toContain("tool_not_found");
});
