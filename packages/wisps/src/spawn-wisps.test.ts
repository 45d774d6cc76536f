import { called, said, testDefinition, testTool } from "@rockbot/agent/test-kit";
import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { spawn, wisp } from "./test-wisps.ts";

type Args = Readonly<Record<string, unknown>>;

/** A tool that keeps its arguments, and gives them back. */
function echo(name = "echo") {
  const seen: Args[] = [];
  const tool = testTool(name, async (input) => {
    seen.push(input);
    return { content: JSON.stringify(input), structured: input };
  });
  return { seen, tool };
}

const list = testTool("list", async ({ count = 3 }) => ({
  content: "a list",
  structured: { items: Array.from({ length: count as number }, (_, i) => ({ n: i })) },
}));
const fail = testTool("fail", async () => {
  throw new ToolError("unavailable", "The shop is away.");
});
const page = testTool(
  "page",
  async () => ({ content: "A page.", trust: { level: "untrusted" as const, origin: "https://eve.example" } }),
  { readOnly: true },
);
const statesOf = ({ wisps: [first] }: Awaited<ReturnType<typeof spawn>>) =>
  first?.steps.map(({ id, state }) => `${id} ${state}`);

test("steps get values of earlier results, of their type, and what comes out is told whole", async () => {
  const { seen, tool } = echo();
  const run = await spawn(
    [
      wisp(
        [
          { id: "all", tool: "list" },
          {
            id: "one",
            tool: "echo",
            arguments: {
              n: "{{/steps/all/data/items/1/n}}",
              text: "n={{/steps/all/data/items/1/n}} of {{/steps/all/text}}",
            },
          },
        ],
        { result: { out: "{{/steps/one/data}}", ok: "{{/steps/one/ok}}" } },
      ),
    ],
    { tools: [list, tool] },
  );
  expect(seen).toEqual([{ n: 1, text: "n=1 of a list" }]);
  expect(run.wisps[0]).toMatchObject({ ok: true, result: { out: { n: 1, text: "n=1 of a list" }, ok: true } });
  expect(run.text).toMatch(
    /^1 wisp\(s\) completed \(1 succeeded, 0 failed, \d+\.\ds total\):\n\n- `wisp-[0-9a-f]{11}`: "a test" \[ok\] \(\d+ms\)\n {2}Output: \{"out":/,
  );
  expect(run.text).toMatch(/\n\nBatch ID: `(batch-[0-9a-f]{12})`\nBatch summary: `wisp\/\1\/summary`$/);
  expect(run.requests).toHaveLength(2); // no model between the steps
  expect(
    run.events.filter(({ kind }) => kind === "tool_finished").map(({ toolName, status }) => `${toolName} ${status}`),
  ).toEqual(["list ok", "echo ok", "spawn_wisps ok"]);
});

test("a value that looks like a reference is passed on as it is", async () => {
  const { seen, tool } = echo();
  const text = "{{/steps/a/text}} {{steps.a.result}} \\{{x}} $& $1";
  await spawn(
    [
      wisp([
        { id: "a", tool: "say" },
        { id: "b", tool: "echo", arguments: { a: "{{/steps/a/text}}", b: "<{{/steps/a/text}}>" } },
      ]),
    ],
    {
      tools: [tool, testTool("say", async () => text)],
    },
  );
  expect(seen).toEqual([{ a: text, b: `<${text}>` }]);
});

test("steps and pipelines that do not wait for each other run side by side, and no more than may", async () => {
  let running = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const meet = testTool("meet", async () => {
    most = Math.max(most, ++running);
    if (running === 3) gate.resolve();
    await gate.promise;
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return "met";
  });
  const steps = ["a", "b", "c", "d"].map((id) => ({ id, tool: "meet" }));
  const run = await spawn([wisp(steps), wisp(steps.map((step, i) => (i === 0 ? step : { ...step, after: ["a"] })))], {
    tools: [meet],
    maxParallel: 3,
  });
  expect(run.wisps.map(({ ok }) => ok)).toEqual([true, true]);
  expect(most).toBe(3);
});

test("a step for each item has a list of results; none for none, and no step for too many", async () => {
  const { seen, tool } = echo();
  const each = (count: number) =>
    wisp(
      [
        { id: "all", tool: "list", arguments: { count } },
        {
          id: "each",
          tool: "echo",
          for_each: { items: "{{/steps/all/data/items}}", max: 3 },
          arguments: { n: "{{/item/n}}", at: "{{/index}}" },
        },
      ],
      { result: "{{/steps/each/data}}" },
    );
  const run = await spawn([each(3), each(0), each(4)], { tools: [list, tool] });
  expect(run.wisps.map(({ result, ok, category, error }) => ({ ok, result, category, error }))).toEqual([
    { ok: true, result: [0, 1, 2].map((n) => ({ n, at: n })), category: undefined, error: undefined },
    { ok: true, result: [], category: undefined, error: undefined },
    {
      ok: false,
      result: null,
      category: "Data",
      error: 'the step "each" failed: for_each has 4 items, and max says at most 3. It ran for none of them',
    },
  ]);
  expect(seen).toHaveLength(3);
  expect(run.wisps[0]?.steps).toMatchObject([{ calls: 1 }, { calls: 3 }]);
});

test("an item that fails ends its step, or leaves its place to the fallback", async () => {
  const odd = testTool("odd", async ({ n }) => {
    if (n === 1) throw new ToolError("execution_failed", "One is odd.");
    return `${n}`;
  });
  const each = (more: object) =>
    wisp(
      [{ id: "each", tool: "odd", for_each: { items: [0, 1, 2], max: 3 }, arguments: { n: "{{/item}}" }, ...more }],
      { result: "{{/steps/each/data}}" },
    );
  const run = await spawn([each({}), each({ on_error: "continue" }), each({ on_error: "continue", fallback: "odd" })], {
    tools: [odd],
    maxParallel: 1,
  });
  expect(run.wisps.map(({ result, error }) => result ?? error)).toEqual([
    'the step "each" failed: item 1: execution_failed: One is odd.',
    [0, null, 2],
    [0, "odd", 2],
  ]);
  expect(run.wisps[0]?.steps[0]?.calls).toBe(2); // the third was not made any more
});

test("a pipeline that goes on without items that failed says how many, why, and which may have run; its next steps can read it", async () => {
  const { seen, tool } = echo();
  const ship = testTool("ship", async ({ n }) => {
    if (n === 2 || n === 4) throw new ToolError("outcome_unknown", "The ship may have left.");
    if (n !== 0) throw new ToolError("unavailable", "The port is shut.");
    return `${n}`;
  });
  const each = {
    id: "each",
    tool: "ship",
    for_each: { items: [0, 1, 2, 3, 4], max: 5 },
    arguments: { n: "{{/item}}" },
  };
  const told = {
    id: "told",
    tool: "echo",
    arguments: { errors: "{{/steps/each/errors}}", second: "{{/steps/each/errors/1/index}}" },
  };
  const run = await spawn(
    [
      wisp([{ ...each, on_error: "continue" }, told]),
      wisp([{ ...each, for_each: { items: [2, 4], max: 2 } }]),
      wisp([
        { id: "ok", tool: "echo", arguments: { errors: "{{/steps/none/errors}}" } },
        { id: "none", tool: "ship", arguments: { n: 0 } },
      ]),
      wisp([
        { ...each, id: "all", for_each: { items: [2, 4], max: 2 }, on_error: "continue" },
        { id: "last", tool: "echo", after: ["all"] },
      ]),
      wisp([
        { ...each, on_error: "continue" },
        { id: "bad", tool: "ship", after: ["each"], arguments: { n: 2 } },
      ]),
    ],
    { tools: [ship, tool] },
  );

  const failures = {
    failed: 4,
    of: 5,
    first: [
      { item: "item 1", error: expect.stringContaining("The port is shut.") },
      { item: "item 2", error: expect.stringContaining("The ship may have left.") },
    ],
    outcome_unknown: ["item 2", "item 4"],
  };
  expect(run.wisps.map(({ ok, steps }) => [ok, steps[0]?.state, steps[0]?.failures])).toEqual([
    [true, "ok", failures],
    [false, "failed", expect.objectContaining({ failed: 2, of: 2, outcome_unknown: ["item 0", "item 1"] })],
    [true, "ok", undefined],
    [true, "failed", expect.objectContaining({ failed: 2, of: 2 })],
    [false, "ok", failures],
  ]);
  expect(run.text).toContain("(1 succeeded, 2 succeeded in part, 2 failed,");
  expect(run.text).toMatch(/"a test" \[in part\]/);
  expect(run.text).toMatch(
    /"a test" \[in part\].*\n {2}Step "all" failed: 2 of 2 failed.*may have happened, of: item 0, item 1/,
  );
  expect(run.text).toMatch(/the step "bad" failed: .*\n {2}Step "each": 4 of 5 failed/);
  expect(run.text).toMatch(/Step "each": 4 of 5 failed.*item 1: unavailable: .*may have happened, of: item 2, item 4/);
  expect(run.text).toMatch(/the step "each" failed: 2 of 2 failed.*may have happened, of: item 0, item 1/);
  expect(seen).toEqual(
    expect.arrayContaining([
      { errors: [1, 2, 3, 4].map((index) => ({ index, error: expect.any(String) })), second: 2 },
      { errors: [] },
    ]),
  );
});

test("a failure stops the pipeline, and nobody else's; with continue the others go on", async () => {
  const { seen, tool } = echo();
  const after = { id: "after", tool: "echo", after: ["bad"] };
  const run = await spawn(
    [
      wisp([{ id: "bad", tool: "fail" }, after]),
      wisp([
        { id: "bad", tool: "fail", on_error: "continue" },
        { ...after, arguments: { why: "{{/steps/bad/error}}", ok: "{{/steps/bad/ok}}" } },
      ]),
      wisp(
        [
          { id: "bad", tool: "fail", on_error: "continue" },
          { ...after, arguments: { text: "{{/steps/bad/text}}" } },
        ],
        { result: "{{/steps/after/text}}" },
      ),
      wisp([
        { id: "bad", tool: "fail", on_error: "continue", fallback: { n: 7 } },
        { ...after, arguments: { n: "{{/steps/bad/data/n}}" } },
      ]),
    ],
    { tools: [fail, tool] },
  );
  expect(run.wisps.map(({ ok, category, steps }) => [ok, category, ...steps.map(({ state }) => state)])).toEqual([
    [false, "External", "failed", "not_run"],
    [true, undefined, "failed", "ok"],
    [true, undefined, "failed", "skipped"],
    [true, undefined, "failed", "ok"],
  ]);
  expect(seen).toEqual(
    expect.arrayContaining([{ why: expect.stringContaining("unavailable: "), ok: false }, { n: 7 }]),
  );
  expect(run.text).toMatch(/\[failed\] \(\d+ms\) External: the step "bad" failed: unavailable: .*The shop is away\./);
  expect(run.text).toContain('Step "after" skipped: it needs the result of "bad", which has none');
});

test("a step whose condition does not hold is skipped, and so is what needs it", async () => {
  const { tool } = echo();
  const when = (value: unknown, is: string, to?: unknown) => ({ value, is, ...(to === undefined ? {} : { to }) });
  const conditions = [
    [when("{{/steps/all/data/items}}", "present"), true],
    [when("{{/steps/all/data/items/9}}", "present"), false],
    [when("{{/steps/all/data/none/deep}}", "missing"), true],
    [when("{{/steps/all/data/items/2/n}}", "equal", "2"), true],
    [when("{{/steps/all/text}}", "unequal", "a list"), false],
    [when("{{/steps/all/data/items/2/n}}", "more", 1), true],
    [when("{{/steps/all/data/items/2/n}}", "less", 2), false],
    [when("{{/steps/all/text}}", "more", 1), false],
    [when("{{/steps/all/text}}", "contains", "list"), true],
    [when("{{/steps/all/data/items}}", "contains", { n: 1 }), true],
  ] as const;
  const steps = conditions.map(([condition], i) => ({ id: `s${i}`, tool: "echo", when: condition }));
  const run = await spawn([wisp([{ id: "all", tool: "list" }, ...steps, { id: "last", ask: "{{/steps/s1/text}}" }])], {
    tools: [list, tool],
  });
  expect(statesOf(run)).toEqual([
    "all ok",
    ...conditions.map(([, holds], i) => `s${i} ${holds ? "ok" : "skipped"}`),
    "last skipped",
  ]);
  expect(run.questions).toEqual([]);
});

test("a pointer that leads nowhere fails its step with what there is", async () => {
  const { tool } = echo();
  const run = await spawn(
    [
      wisp([
        { id: "all", tool: "list" },
        { id: "b", tool: "echo", arguments: { x: "{{/steps/all/data/items/7/n}}" } },
      ]),
      wisp([
        { id: "p", tool: "page" },
        { id: "b", tool: "echo", arguments: { x: "{{/steps/p/data/title}}" } },
      ]),
    ],
    { tools: [list, tool, page] },
  );
  expect(run.wisps.map(({ category, error }) => [category, error])).toEqual([
    ["Data", 'the step "b" failed: {{/steps/all/data/items/7/n}} leads nowhere: there is nothing of this name'],
    [
      "Data",
      'the step "b" failed: {{/steps/p/data/title}} leads nowhere: there is a text of 7 characters, which is not JSON',
    ],
  ]);
});

test("a question to the model has the values in it, counts as the turn's, and its answer can be data", async () => {
  const { seen, tool } = echo();
  const steps = [
    { id: "all", tool: "list" },
    { id: "q", ask: "Which of {{/steps/all/data/items}}?" },
    { id: "b", tool: "echo", arguments: { pick: "{{/steps/q/data/pick}}" } },
  ];
  const run = await spawn([wisp(steps), wisp([{ id: "q", ask: "Anything?" }])], {
    tools: [list, tool],
    answers: [said("", "stop"), said('{"pick": 2}')],
  });
  expect(run.questions.toSorted()).toEqual(["Anything?", 'Which of [{"n":0},{"n":1},{"n":2}]?']);
  expect(seen).toEqual([{ pick: 2 }]);
  expect(run.wisps[1]).toMatchObject({
    ok: false,
    category: "Judgment",
    error: expect.stringContaining("The model answered nothing"),
  });
  expect(run.result.usage).toMatchObject({ inputTokens: 40, outputTokens: 20 });
});

test("questions that run side by side hold what they may cost, so that they do not all spend the same tokens", async () => {
  const as = testDefinition("robot", { budgets: { maxTokens: 2_000 } });
  const run = await spawn(
    ["a", "b", "c"].map((id) => wisp([{ id, ask: "x".repeat(5_000) }])),
    { as },
  );
  expect(run.questions).toHaveLength(2);
  expect(run.wisps.flatMap(({ error }) => error ?? [])).toEqual([
    expect.stringMatching(/denied: The model was not asked: the tokens of all agents/),
  ]);
});

test("what strangers wrote is fenced in questions, goes on as a mark with each call that depends on it, and marks the turn", async () => {
  const marks: string[] = [];
  const note = testTool("note", async (_input, { hasReadUntrusted }) => {
    marks.push(`${hasReadUntrusted}`);
    return "noted";
  });
  const steps = [
    { id: "p", tool: "page" },
    { id: "q", ask: "Sum up: {{/steps/p/text}}" },
    { id: "marked", tool: "note", arguments: { x: "{{/steps/q/text}}" } },
    { id: "later", tool: "note", after: ["marked"] },
    { id: "clean", tool: "note" },
  ];
  const run = await spawn([wisp(steps)], { tools: [page, note], answers: [said("a sum")] });
  expect(marks.toSorted()).toEqual(["true", "true", "undefined"]);
  expect(run.questions[0]).toMatch(
    /^Sum up: <untrusted-([0-9a-f]{16}) origin="https:\/\/eve\.example">\nA page\.\n<\/untrusted-\1>$/,
  );
  expect(run.text).toMatch(/^<untrusted-[0-9a-f]{16} origin="https:\/\/eve\.example">\n1 wisp/);
  expect(run.result.hasReadUntrusted).toBe(true);
});

test("after untrusted content a step has no more effects than the policy lets a turn have", async () => {
  const { seen, tool } = echo("send");
  const run = await spawn(
    [
      wisp([
        { id: "p", tool: "page" },
        { id: "s", tool: "send", arguments: { x: "{{/steps/p/text}}" } },
      ]),
    ],
    {
      tools: [page, tool],
      policy: "everyone: { allow: ['*'], afterUntrusted: { effects: deny } }",
    },
  );
  expect(run.wisps[0]).toMatchObject({
    ok: false,
    category: "Structural",
    error: expect.stringMatching(/^the step "s" failed: denied: /),
  });
  expect(seen).toEqual([]);
});

test("a session reaches no more by a wisp than by itself: neither its definition, its maker's policy nor its caller's is passed by", async () => {
  const { seen, tool } = echo();
  const other = echo("other");
  const tools = [tool, other.tool];
  const both = [wisp([{ id: "a", tool: "echo" }]), wisp([{ id: "b", tool: "other" }])];
  const inWords = (why: string) => `No wisp was run: 1 thing is wrong. definitions/1/steps/0/tool: ${why}`;
  const report = { as: testDefinition("robot", { tools: ["spawn_wisps", "echo"] }) };
  expect((await spawn(both, { tools, ...report })).text).toContain(
    inWords('"other" cannot be used here: the agent "robot" does not have this tool'),
  );
  const robot = { as: testDefinition("robot", { maker: "alice" }) };
  expect(
    (
      await spawn(both, {
        tools,
        ...robot,
        policy: "everyone: { allow: ['*'] }\ncallers: { alice: { deny: [other] } }",
      })
    ).text,
  ).toContain(inWords('"other" cannot be used here: the maker of the agent "robot" may not use it'));
  expect((await spawn(both, { tools, policy: "everyone: { allow: ['*'], deny: [other] }" })).text).toContain(
    inWords('there is no tool "other" for you'),
  );
  expect((await spawn(both, { tools, as: testDefinition("robot", { tools: ["echo", "other"] }) })).text).toMatch(
    /denied: "spawn_wisps" was not called: the agent "robot" does not have this tool/,
  );
  expect((await spawn(both, { tools, policy: "everyone: { allow: ['*'], deny: [spawn_wisps] }" })).text).toMatch(
    /tool_not_found: There is no tool "spawn_wisps"/,
  );
  expect([...seen, ...other.seen]).toEqual([]);
  expect((await spawn([both[0]], { tools, ...report })).wisps[0]?.ok).toBe(true);
});

test("the maker of a definition that may use a tool with some arguments only has no others by a wisp, either", async () => {
  const narrow = { as: testDefinition("robot", { maker: "alice", tools: ["spawn_wisps", "echo"] }) };
  const { seen, tool } = echo();
  const rules = `everyone: { allow: ['*'] }\ncallers: { alice: { rules: [{ tools: [echo], arguments: { properties: { x: { const: 1 } } } }] } }`;
  const run = await spawn(
    [wisp([{ id: "a", tool: "echo", arguments: { x: 1 } }]), wisp([{ id: "a", tool: "echo", arguments: { x: 2 } }])],
    {
      tools: [tool],
      policy: rules,
      ...narrow,
    },
  );
  expect(run.wisps.map(({ ok, error }) => error ?? ok)).toEqual([
    true,
    expect.stringMatching(/denied: .*with these arguments/),
  ]);
  expect(seen).toEqual([{ x: 1 }]);
});

test("an agent can be a step, in a session of its own", async () => {
  const clerk = testDefinition("clerk");
  const run = await spawn([wisp([{ id: "a", tool: "agent__clerk", arguments: { prompt: "Go." } }])], {
    others: [clerk],
  });
  expect(run.wisps[0]).toMatchObject({ ok: true, result: "by another agent" });
  expect(run.requests.some(({ messages }) => messages[0]?.content.startsWith("You are clerk,"))).toBe(true);
});

test("results have bounds: one is cut at its end, arguments that grow too long are not sent, and all together end the pipeline", async () => {
  const { seen, tool } = echo();
  const large = testTool("large", async ({ chars = 262_144 }) => "x".repeat(chars as number));
  const from = (id: string) => `{{/steps/${id}/text}}`;
  const twice = { x: from("a"), y: from("a") };
  const run = await spawn(
    [
      wisp([{ id: "a", tool: "large", arguments: { chars: 300_000 } }], { result: from("a") }),
      wisp(
        [
          { id: "a", tool: "large" },
          { id: "b", tool: "echo", arguments: twice },
        ],
        { result: "{{/steps/b/ok}}" },
      ),
      wisp([
        { id: "a", tool: "large" },
        { id: "b", tool: "echo", arguments: { ...twice, z: "1" } },
      ]),
      wisp([
        { id: "a", tool: "large" },
        { id: "b", ask: `${from("a")}${from("a")}?` },
      ]),
      wisp([{ id: "a", tool: "large" }], { result: [from("a"), from("a"), from("a")] }),
    ],
    { tools: [large, tool] },
  );
  const [cut, fits, over, asked, result] = run.wisps;
  expect(
    run.outputs.filter((output = "") => /^x{262144}\n\[result truncated — 37856 chars omitted\]$/.test(output)),
  ).toHaveLength(1);
  expect(cut?.result).toMatch(/^x{2000}…$/); // the summary has the beginning alone
  expect(fits).toMatchObject({ ok: true, result: true });
  expect(seen.map(({ x, y }) => [x, y].map((text) => (text as string).length))).toEqual([[262_144, 262_144]]);
  expect(over).toMatchObject({
    ok: false,
    category: "Data",
    error: expect.stringMatching(/arguments would have more than 524288 characters\. Refer to a part/),
  });
  expect(asked).toMatchObject({
    ok: false,
    error: expect.stringMatching(/the question would have more than 524288 characters/),
  });
  expect(result?.result).toMatch(/^\[the result would have more than 524288 characters/);
  const items = Array.from({ length: 40 }, (_, i) => i);
  const [many] = (await spawn([wisp([{ id: "a", tool: "large", for_each: { items, max: 40 } }])], { tools: [large] }))
    .wisps;
  expect(many).toMatchObject({
    ok: false,
    category: "Data",
    error: expect.stringMatching(/have more than 8388608 characters together/),
  });
});

test("a turn that is cancelled in the middle cancels the calls of its pipelines, and begins no further ones", async () => {
  const cancel = new AbortController();
  const { seen, tool } = echo();
  const cut = Promise.withResolvers<void>();
  const slow = testTool("slow", async (_input, { signal }) => {
    signal.addEventListener("abort", () => cut.resolve());
    cancel.abort(new ToolError("cancelled", "The user has left."));
    return new Promise<string>(() => {});
  });
  const run = await spawn(
    [
      wisp([
        { id: "a", tool: "slow" },
        { id: "b", tool: "echo", after: ["a"] },
      ]),
    ],
    { tools: [slow, tool], more: { signal: cancel.signal } },
  );
  await cut.promise;
  expect(run.result).toMatchObject({ finish: "failed", reason: "The turn was cancelled." });
  expect(seen).toEqual([]);
});

test("a pipeline whose time is over says what it has done", async () => {
  const { tool } = echo();
  const slow = testTool(
    "slow",
    (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const run = await spawn(
    [
      wisp([
        { id: "a", tool: "echo", arguments: { x: 1 } },
        { id: "b", tool: "slow", after: ["a"] },
      ]),
    ],
    {
      tools: [slow, tool],
      more: { deadline: performance.now() + 2_000 },
    },
  );
  expect(run.wisps[0]).toMatchObject({
    ok: false,
    category: "External",
    error: expect.stringMatching(/^the step "b" failed: timeout: /),
  });
  expect(run.text).toMatch(/Done before: a \(wisp\/wisp-[0-9a-f]{11}\/a\/output\)/);
});

test("what steps gave lies in working memory, marked if strangers had a part in it", async () => {
  const { tool } = echo();
  const run = await spawn(
    [
      wisp([
        { id: "a", tool: "echo", arguments: { x: 1 } },
        { id: "b", tool: "page" },
      ]),
    ],
    { tools: [tool, page] },
  );
  expect(run.outputs).toEqual(['{"x":1}', "A page."]);
});

test("a batch can have wisps, and a wisp has neither wisps nor batches", async () => {
  const { seen, tool } = echo();
  const inner = { definitions: [wisp([{ id: "a", tool: "echo" }])] };
  const steps = [
    { id: "w", tool: "spawn_wisps", arguments: inner },
    { id: "b", tool: "agent__batch", arguments: { calls: [{ tool: "spawn_wisps", arguments: inner }] } },
  ];
  const as = testDefinition("robot");
  const nested = await spawn([wisp(steps)], { tools: [tool], as });
  expect(nested.text).toMatch(
    /2 things are wrong\. .*"spawn_wisps" cannot be part of a wisp: .*"agent__batch" cannot be part of a wisp/,
  );
  expect(seen).toEqual([]);
  const first = called(["agent__batch", { calls: [{ tool: "spawn_wisps", arguments: inner }] }]);
  const { text } = await spawn([], { tools: [tool], as, first });
  expect(seen).toHaveLength(1);
  expect(JSON.parse(text)).toMatchObject({ results: [{ ok: true, result: expect.stringContaining("1 succeeded") }] });
});
