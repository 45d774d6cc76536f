import { createMemoryBus } from "@rockbot/bus";
import { type AgentEvent, ToolError } from "@rockbot/contracts";
import type { Model, ModelRequest } from "@rockbot/llm";
import { serveTools, type Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createAgent } from "../agent/create-agent.ts";
import { definitionsOf, modelOfAgents, testDefinition } from "../test-definitions.ts";
import { called, said, scriptedModel, type TestStep } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { TurnRequest } from "../words/turn.ts";

interface Scene {
  /** Is not there any more once the turn runs. */
  readonly gone?: string;
  readonly as: AgentDefinition | undefined;
  readonly others?: readonly AgentDefinition[];
  readonly scripts: Readonly<Record<string, readonly TestStep[]>>;
  readonly tools?: readonly Tool[];
  /** What the turn's client asks for. */
  readonly request?: Partial<TurnRequest>;
  /** The models that definitions name. */
  readonly models?: (name: string) => Model | undefined;
}

async function play({ as, others = [], scripts, tools = [], gone, request, models }: Scene) {
  const switched: string[] = [];
  const switchSession = async (_caller: string, _sessionId: string, { name }: AgentDefinition): Promise<void> =>
    void switched.push(name);
  const currentOf = async (_caller: string, definition: AgentDefinition) =>
    definition.name === gone ? undefined : definition;
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [...tools] }, { service: "tests" });
  const { model, requests } = modelOfAgents(scripts);
  await using agent = await createAgent({
    bus,
    model,
    models,
    definitions: { ...definitionsOf(others, as), switchSession, currentOf },
  }).start();
  const events: AgentEvent[] = [];
  const result = await agent.runTurn({ ...testRequest("Go.", request), onEvent: (event) => events.push(event) });
  return { result, requests, events, switched };
}

const results = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []));
const lastResults = (requests: readonly ModelRequest[]): readonly string[] => results(requests.at(-1) as ModelRequest);
const report = (more: object) => called(["agent__final_report", { status: "success", ...more }]);
const namesOf = (request: ModelRequest | undefined): readonly string[] => request?.tools?.map(({ name }) => name) ?? [];

test("a plain agent has none of the tools of sessions", async () => {
  const { requests } = await play({ as: undefined, scripts: { agent: [said("done")] } });
  expect(namesOf(requests[0]).filter((name) => /^(agent|router)__/.test(name))).toEqual([]);
});

test("a final report ends the turn with its content; text as data is read, and what is missing is said", async () => {
  const { result, requests } = await play({
    as: testDefinition("robot"),
    scripts: {
      robot: [
        report({ format: "json" }),
        report({ format: "markdown" }),
        report({ format: "xml", content: "<a/>" }),
        report({ format: "json", content_json: '{"shops": 2}', metadata: { source: "map" } }),
      ],
    },
  });
  expect(result).toMatchObject({
    text: '{"shops":2}',
    finish: "stop",
    report: { status: "success", format: "json", content: '{"shops":2}', metadata: { source: "map" } },
  });
  expect(lastResults(requests)).toEqual([
    expect.stringMatching(
      /with the format json the result is an object or an array in content_json, and there is none\. Mend that, and call/,
    ),
    expect.stringMatching(/with the format markdown the result is a text in content, and there is none/),
    expect.stringMatching(/^\(tool failed: .*format.*\)$/),
  ]);
});

test("a question ends the turn as a text, whatever the schema of reports is", async () => {
  const { result } = await play({
    as: testDefinition("robot", { reportSchema: { type: "object", required: ["size"] } }),
    scripts: { robot: [report({ status: "input-required", format: "markdown", content: "Which **size**?" })] },
  });
  expect(result).toMatchObject({
    text: "Which **size**?",
    finish: "stop",
    report: { status: "input-required", format: "markdown" },
  });
});

test("a report that does not fit the schema of its definition is refused with what to mend, and asked for again", async () => {
  const reportSchema = {
    type: "object",
    required: ["price"],
    additionalProperties: false,
    properties: { price: { type: "number" } },
  };
  const { result, requests } = await play({
    as: testDefinition("robot", { reportSchema }),
    scripts: {
      robot: [
        report({ format: "text", content: "9" }),
        report({ format: "json", content_json: { price: "9", more: 1 } }),
        report({ format: "json", content_json: { price: 9 } }),
      ],
    },
  });
  expect(result.text).toBe('{"price":9}');
  expect(requests[0]?.messages[0]).toMatchObject({
    role: "system",
    content: expect.stringContaining(JSON.stringify(reportSchema)),
  });
  const [text, wrong] = lastResults(requests);
  expect(text).toMatch(
    /this task asks for data: give format json, and content_json by this JSON Schema: \{"type":"object"/,
  );
  expect(wrong).toMatch(
    /content_json does not fit: unknown property "more": known: price; price: expected number, got the text "9"\. Mend that/,
  );
});

test("the status of a task is shown as progress, and an agent that says three times that it is done is ended", async () => {
  const status = (more: object) => called(["agent__task_status", more]);
  const done = status({ status: "completed", done: "all" });
  const { result, events, requests } = await play({
    as: testDefinition("robot"),
    scripts: {
      robot: [
        status({ status: "in-progress", now: "Reading", pending: "two pages" }),
        done,
        done,
        status({ status: "in-progress", need_to_run_more_tools: true }),
        done,
        done,
        done,
        said("It is all."),
      ],
    },
  });
  expect(events.find(({ kind }) => kind === "tool_progress")?.message).toBe("in-progress. Reading. Left: two pages");
  expect(result).toMatchObject({
    text: "It is all.",
    finish: "limit",
    reason: "the agent has said 3 times in a row that its task is done",
  });
  expect(requests).toHaveLength(8);
  expect(lastResults(requests).at(-1)).toContain("End the task now");
});

const batchCalls = [
  { id: "one", tool: "step", arguments: { name: "first" } },
  { tool: "stepp", arguments: {} },
  { tool: "agent__final_report", arguments: { status: "success", format: "text", content: "x" } },
  { id: "four", tool: "functions.step", arguments: { name: "last" } },
];
const batchResults = [
  { id: "one", tool: "step", ok: true, result: "did first" },
  { id: "2", tool: "stepp", ok: false, error: expect.stringMatching(/tool_not_found.*step/) },
  { id: "3", tool: "agent__final_report", ok: false, error: expect.stringContaining("cannot be part of a batch") },
  { id: "four", tool: "step", ok: true, result: "did last" },
];

test("a batch makes many calls by one, in order: each with an id and an answer of its own, and a wrong tool fails alone", async () => {
  const ran: string[] = [];
  const ids = new Set<string>();
  const step = testTool("step", async ({ name }, { toolCallId }) => {
    ids.add(toolCallId);
    ran.push(`begin ${name}`);
    await new Promise(setImmediate);
    ran.push(`end ${name}`);
    return `did ${name}`;
  });
  const robot = [
    called(["agent__batch", { calls: batchCalls, order: "sequential" }]),
    report({ format: "text", content: "done" }),
  ];
  const { requests, events } = await play({ as: testDefinition("robot"), scripts: { robot }, tools: [step] });
  expect(JSON.parse(lastResults(requests)[0] ?? "")).toMatchObject({
    failures: { failed: 2, of: 4, first: [{ item: "2" }, { item: "3" }] },
    results: batchResults,
  });
  expect(ran).toEqual(["begin first", "end first", "begin last", "end last"]);
  expect(ids.size).toBe(2);
  expect(events.filter(({ kind, toolName }) => kind === "tool_started" && toolName === "step")).toHaveLength(2);
});

test("the calls of a batch run side by side unless it says otherwise", async () => {
  const bothRun = Promise.withResolvers<void>();
  let running = 0;
  const step = testTool("step", async ({ name }) => {
    if (++running === 2) bothRun.resolve();
    await bothRun.promise;
    return `did ${name}`;
  });
  const robot = [called(["agent__batch", { calls: batchCalls }]), report({ format: "text", content: "done" })];
  const { requests } = await play({ as: testDefinition("robot"), scripts: { robot }, tools: [step] });
  expect(JSON.parse(lastResults(requests)[0] ?? "").results).toEqual(batchResults);
});

test("a batch with untrusted results is untrusted as a whole", async () => {
  const page = testTool(
    "page",
    async () => ({ content: "EVIL", trust: { level: "untrusted", origin: "https://eve.example" } }),
    { readOnly: true },
  );
  const { requests, result } = await play({
    as: testDefinition("robot"),
    scripts: {
      robot: [
        called(["agent__batch", { calls: [{ tool: "page" }, { tool: "list_working_memory" }] }]),
        report({ format: "text", content: "done" }),
      ],
    },
    tools: [page],
  });
  expect(lastResults(requests)[0]).toMatch(/^<untrusted-[0-9a-f]+ origin="https:\/\/eve\.example">\n\{"results"/);
  expect(result.hasReadUntrusted).toBe(true);
});

test("a session goes on as another agent from the next question on, with that one's tools and playbook", async () => {
  const tools = ["a_read", "b_read"].map((name) => testTool(name, async () => `read ${name}`));
  const { requests, result, switched } = await play({
    as: testDefinition("front", { tools: ["a_*"], destinations: ["back", "gone"] }),
    others: [
      testDefinition("back", { tools: ["b_*"] }),
      testDefinition("other"),
      testDefinition("back", { playbook: "of another maker" }),
    ],
    scripts: {
      front: [
        called(["router__handoff-to", { agent: "bakc" }]),
        called(["router__handoff-to", { agent: "back", message: "It is about bread." }]),
      ],
      back: [
        report({ format: "text", content: "unused" }),
        said("unused"),
        called("b_read"),
        report({ format: "text", content: "done" }),
      ],
    },
    tools,
  });
  const shown = requests[0]?.tools?.find(({ name }) => name === "router__handoff-to");
  expect(shown?.parameters).toMatchObject({ properties: { agent: { enum: ["back"] } } });
  const [wrong] = results(requests[1] as ModelRequest);
  expect(wrong).toMatch(/"bakc" is no destination of this agent; did you mean "back"\? It has: back\./);
  expect(requests[2]?.messages[0]?.content).toMatch(/^You are back,[\s\S]*Playbook of back\./);
  expect(requests[2]?.messages[0]?.content).not.toContain("Playbook of front");
  expect(requests[2]?.messages.at(-1)?.content).toBe(
    'You are "back" now, and go on with this conversation, which "front" has handed over to you. It says: It is about bread.',
  );
  expect(namesOf(requests[2])).toContain("b_read");
  expect(namesOf(requests[2])).not.toContain("a_read");
  expect(namesOf(requests[2])).not.toContain("router__handoff-to");
  expect(lastResults(requests).at(-1)).toBe("read b_read");
  expect(switched).toEqual(["back"]);
  expect(result.text).toBe("done");
});

test("a failed call says so in its first line, in the words that playbooks know, and a stranger's words stay fenced", async () => {
  const fail = (name: string, code: "timeout" | "unavailable", message: string) =>
    testTool(name, async () => {
      throw new ToolError(code, message);
    });
  const says = testTool(
    "says",
    async () => ({ content: "EVIL", isError: true, trust: { level: "untrusted", origin: "https://eve.example" } }),
    {
      readOnly: true,
    },
  );
  const { requests } = await play({
    as: testDefinition("robot"),
    scripts: { robot: [called("slow", "away", "says"), report({ format: "text", content: "done" })] },
    tools: [
      fail("slow", "timeout", "It took too long."),
      fail("away", "unavailable", "The page is away. Try again later."),
      says,
    ],
  });
  const [slow, away, said] = lastResults(requests);
  expect(slow).toBe("(tool failed: timeout)\ntimeout: It took too long.");
  expect(away).toBe("(tool failed: The page is away.)\nunavailable: The page is away. Try again later.");
  expect(said).toMatch(
    /^\(tool failed: its own words follow\)\n<untrusted-[0-9a-f]+ origin="https:\/\/eve\.example">\nEVIL/,
  );
});

test("a conversation is not handed over to an agent that is withdrawn meanwhile", async () => {
  const { requests, switched } = await play({
    as: testDefinition("front", { destinations: ["back"] }),
    others: [testDefinition("back")],
    gone: "back",
    scripts: {
      front: [called(["router__handoff-to", { agent: "back" }]), report({ format: "text", content: "I stay." })],
    },
  });
  expect(lastResults(requests)).toEqual([
    expect.stringMatching(/denied: The agent "back" does not go on with this: it is deleted, or is not shared/),
  ]);
  expect(switched).toEqual([]);
});

const paint = { name: "paint", description: "Of the client.", parameters: { type: "object" } };
const text = (content: string) => report({ format: "text", content });

test.each<[what: string, request: Partial<TurnRequest>, script: readonly TestStep[], expected: object]>([
  [
    "a call of the client's tool",
    { mustCall: true, clientTools: [paint] },
    [text("Done."), called("paint")],
    { finish: "tool_calls", toolCalls: [{ name: "paint" }] },
  ],
  [
    "a form",
    { form: {} },
    [text("Done."), text('{"a": 1}')],
    { finish: "stop", text: '{"a": 1}', report: { content: '{"a": 1}' } },
  ],
  ["a form, in vain", { form: {} }, [text("Done."), text("Done.")], { finish: "failed", code: "unfit_answer" }],
])(
  "an agent whose report is not what the client asks for is asked once more: %s",
  async (_, request, script, expected) => {
    const { result, requests } = await play({ as: testDefinition("robot"), scripts: { robot: script }, request });
    expect(result).toMatchObject(expected);
    expect(requests).toHaveLength(2);
  },
);

test.each<[what: string, answer: TestStep, request: Partial<TurnRequest>, expected: object]>([
  ["is the end of an answer that ran on", said("Red.\n\nBlue", "length"), {}, { finish: "stop", text: "Red." }],
  ["before all words leaves none", said("\n\nBlue"), {}, { finish: "stop", text: "" }],
  ["leaves what is checked by its form", said("{}\n\nBlue", "length"), { form: {} }, { finish: "stop", text: "{}" }],
  ["that is not met leaves the length as the reason", said("Red.", "length"), {}, { finish: "length", text: "Red." }],
  [
    "that is not met leaves a refusal without words in ours",
    said("", "refused"),
    {},
    { finish: "refused", text: "The model declined to answer." },
  ],
])("a stop %s", async (_, answer, request, expected) => {
  const { result } = await play({
    as: testDefinition("robot"),
    scripts: { robot: [answer] },
    request: { stop: ["\n\n"], ...request },
  });
  expect(result).toMatchObject(expected);
});

test("images do not go to a model that sees none when another agent goes on", async () => {
  const blind = scriptedModel([text("Done.")], { takesImages: false });
  const { requests } = await play({
    as: testDefinition("front", { destinations: ["back"] }),
    others: [testDefinition("back", { model: "blind" })],
    scripts: { front: [called(["router__handoff-to", { agent: "back" }])] },
    models: (name) => (name === "blind" ? blind.model : undefined),
    request: { images: ["data:image/png;base64,AAAA"] },
  });
  const askedOf = (asked: readonly ModelRequest[]) => asked[0]?.messages.find(({ role }) => role === "user");
  expect(askedOf(requests)).toMatchObject({ images: ["data:image/png;base64,AAAA"] });
  expect(askedOf(blind.requests)).toEqual({
    role: "user",
    content: "Go.\n(Images came with this message, which you cannot see: 1.)",
  });
});
