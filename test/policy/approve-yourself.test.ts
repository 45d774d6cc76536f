import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import {
  createEnvelope,
  Keep,
  messages,
  newId,
  type ToolDefinition,
  ToolError,
  type Validator,
} from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { StoreUnavailableError } from "@rockbot/records";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import { openSqliteRunStore, READY_MS, type Run, RunState, type RunStore, Runs, signDecision } from "@rockbot/runs";
import { type CallOptions, createToolCaller, defineTool, serveTools, type Tool, withLocalLayers } from "@rockbot/tools";
import { createCommander, DECIDE } from "@rockbot/tools/commands";
import { expect, test } from "vitest";

// An agent that wants a call to run which nobody has approved, twice, or with other arguments than were shown.

const door = generateKeyPairSync("ed25519");
const stranger = generateKeyPairSync("ed25519");
const OPERATORS = `operators:
  - { name: ann, tokens: [{ hash: "sha256:${"a".repeat(64)}" }], may: [read, decide] }
  - { name: bob, tokens: [{ hash: "sha256:${"b".repeat(64)}" }], may: [read, decide] }
`;
const EVERYTHING = 'everyone: { allow: ["*"] }\n';
const RULE = "{ tools: [send, look], by: [ann, bob] }";
const asking = (rule = RULE, more = EVERYTHING): string => `${more}${OPERATORS}approve:\n  - ${rule}\n`;

type Failing = { [Name in keyof RunStore]?: ((...of: never[]) => boolean) | undefined };

/** A service "mail" with the tools "send" and "look", of which the policy asks, and what becomes of their calls. */
// Long because: each attack uses some of what happens around one service, all in one place.
async function station({
  policy: text = asking(),
  hasKey = true,
  definition = {} as Partial<ToolDefinition>,
  run = async (): Promise<string> => "done",
} = {}) {
  const stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  let now = Date.now();
  const file = stack.use(await openSqliteRunStore(undefined, { clock: () => now }));
  const claims = stack.use(createMemoryClaimStore());
  const failing: Failing = {};
  const runs = new Proxy(file, {
    get: (of, name: keyof RunStore) => {
      const value: unknown = of[name];
      if (typeof value !== "function") return value;
      return (...args: never[]) =>
        failing[name]?.(...args) === true
          ? Promise.reject(new StoreUnavailableError("The store is away"))
          : (value as (...given: unknown[]) => unknown).apply(of, args);
    },
  });
  const ran: unknown[] = [];
  const tool = (name: string, promises: Partial<ToolDefinition>, effect?: () => void): Tool =>
    defineTool(
      {
        name,
        description: `The tool ${name}.`,
        inputSchema: { type: "object" },
        readOnly: false,
        idempotent: false,
        validateInput: ((value: unknown) => typeof value === "object") as Validator<unknown>,
        ...promises,
      },
      async (input) => {
        ran.push({ [name]: input });
        effect?.();
        return run();
      },
    );
  const policyOf = async (of: string) => holdPolicy(createPolicy(await readPolicy(of, "test")));
  let policy: PolicyHolder = await policyOf(text);
  const holder = { ...policy, current: () => policy.current() } as PolicyHolder;
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (_: unknown, words: string) => void warnings.push(words), error() {} };
  const serve = (changed = definition, offered = ["send", "look"]) => {
    const asked = offered.map((name) => tool(name, { readOnly: name === "look", ...changed }));
    return serveTools(
      bus,
      { tools: [...asked, tool("other", {})], guides: [] },
      {
        service: "mail",
        policy: holder,
        runs,
        claims,
        operatorKey: hasKey ? door.publicKey : undefined,
        drainMs: 1,
        log,
      },
    );
  };
  const service = stack.use(await serve());
  const caller = stack.use(await createToolCaller(bus, { agent: "eve" }));
  await caller.discovered();
  const commander = stack.use(createCommander(bus, { key: door.privateKey, source: "gateway", policy: undefined }));
  const key = (toolCallId: string, of = "eve") => ({ service: "mail", caller: of, toolCallId });
  return {
    bus,
    runs: file,
    claims,
    failing,
    ran,
    warnings,
    caller,
    service,
    tool,
    serve,
    key,
    later(ms: number): void {
      now += ms;
    },
    async setPolicy(of: string): Promise<void> {
      policy = await policyOf(of);
    },
    call: (name: string, input: object, options: CallOptions = {}) =>
      caller.call(name, input, options).catch((error: unknown) => error as ToolError),
    /** A request as its sender likes it. */
    send: (body: object, headers: Record<string, string> = {}, source = "eve") =>
      bus.publish(
        createEnvelope({
          topic: "tool.invoke.mail",
          type: messages.ToolInvokeRequest.type,
          source,
          body: new TextEncoder().encode(JSON.stringify(body)),
          headers,
          replyTo: `tool.result.${source}`,
          correlationId: newId(),
        }),
      ),
    cancel: (toolCallId: string) =>
      bus.publish(
        createEnvelope({
          topic: "tool.cancel.mail",
          type: messages.ToolCancel.type,
          source: "eve",
          body: new TextEncoder().encode(JSON.stringify({ toolCallId })),
        }),
      ),
    stateOf: async (toolCallId: string, of?: string) => (await file.read(key(toolCallId, of)))?.run.state,
    endOf: async (toolCallId: string, of?: string) => (await file.read(key(toolCallId, of)))?.run.end?.code,
    /** The call, once it waits. */
    parked: async (toolCallId: string, of?: string): Promise<Run> => {
      await expect.poll(async () => (await file.read(key(toolCallId, of)))?.run.state).toBe(RunState.Parked);
      return (await file.read(key(toolCallId, of)))?.run as Run;
    },
    /** Brings a decision to the service. @returns its words */
    async decide(
      run: Run,
      { verdict = "approve" as "approve" | "reject", operator = "ann", signer = door, on = run } = {},
    ) {
      const decision = signDecision(signer.privateKey, run, { verdict, operator });
      const body = { caller: on.caller, toolCallId: on.toolCallId, decision };
      const command = { kind: DECIDE, service: "mail", operator, body };
      const [answer] = await commander.send(command, { instances: 1, timeoutMs: 5_000 });
      return answer instanceof ToolError ? answer.message : answer?.["state"];
    },
    /** Writes what a process with the service's rights in its store could write. */
    async forge(toolCallId: string, parts: Partial<Run>): Promise<void> {
      const stored = await file.read(key(toolCallId));
      if (stored === undefined || !(await file.replace(stored, { ...stored.run, readyAt: stored.now, ...parts })))
        throw new Error("forge");
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const KEPT = { keep: Keep.IfParked, timeoutMs: 60_000 } as const;
/** Its caller hears at once that it waits. */
const told = (toolCallId: string) => ({ ...KEPT, keep: Keep.Told, toolCallId });
const soon = (toolCallId: string) => ({ ...KEPT, timeoutMs: 300, toolCallId });

test.each([
  [
    "a call of another tool that took the id",
    async (mail: Mail) => void (await mail.call("other", {}, { toolCallId: "x" })),
  ],
  [
    "a cancel that was sent before",
    async (mail: Mail) => {
      await mail.cancel("x");
      await expect
        .poll(async () => (await mail.claims.look({ caller: "eve", toolCallId: "x" }))?.state)
        .toBe("cancelled");
    },
  ],
])("a read-only tool that the policy asks about does not run after %s", async (_, before) => {
  await using mail = await station();
  await before(mail);
  mail.ran.length = 0;
  expect(await mail.call("look", {}, { toolCallId: "x", timeoutMs: 2_000 })).toBeInstanceOf(ToolError);
  expect(mail.ran).toEqual([]);
});
type Mail = Awaited<ReturnType<typeof station>>;

test.each([
  ["that its tool had begun", {}, { state: RunState.Running, hasStarted: true, lease: { owner: "eve", until: 0 } }],
  ["that nobody was asked", {}, { state: RunState.Ready, approval: undefined }],
  [
    "that nobody was asked, and its tool had begun",
    { idempotent: true },
    {
      state: RunState.Running,
      hasStarted: true,
      approval: undefined,
      lease: { owner: "eve", until: 0 },
    },
  ],
] as const)("a forged record that says %s makes no call run that nobody approved", async (_, definition, parts) => {
  for (const name of ["send", "look"]) {
    await using mail = await station({ definition });
    await mail.call(name, {}, soon("x"));
    await mail.parked("x");
    await mail.service[Symbol.asyncDispose]();
    await mail.forge("x", parts);
    await using _service = await mail.serve();
    await expect.poll(() => mail.stateOf("x")).toMatch(/parked|ended/);
    expect(mail.ran).toEqual([]);
  }
});

test("a call that races another one for its id runs with its approval or not at all", async () => {
  await using mail = await station();
  const claim = mail.claims.claim.bind(mail.claims);
  let isFirst = true;
  // The other call gives the id back between the two looks at it.
  mail.claims.claim = async (...args) => {
    if (!isFirst) return claim(...args);
    isFirst = false;
    return { state: "conflict" };
  };
  for (const name of ["send", "look"]) {
    isFirst = true;
    expect(await mail.call(name, {}, { toolCallId: name, timeoutMs: 2_000 })).toMatchObject({
      code: "invalid_arguments",
      details: { reason: "conflict" },
    });
  }
  expect(mail.ran).toEqual([]);
});

test("a tool of the caller's own process that the policy asks about is denied, as nothing waits there", async () => {
  await using mail = await station();
  const policy = holdPolicy(createPolicy(await readPolicy(asking("{ tools: [near], by: [ann] }"), "test")));
  await using caller = await createToolCaller(mail.bus, { agent: "eve", policy });
  let ran = 0;
  const near = mail.tool("near", {}, () => ran++);
  const { name, description, inputSchema } = near.definition;
  caller.tools.register(
    {
      name,
      description,
      parametersSchema: JSON.stringify(inputSchema),
      readOnly: false,
      idempotent: false,
      source: "here",
    },
    withLocalLayers(near),
  );
  await expect(caller.call("near", {})).rejects.toMatchObject({ code: "denied", details: { reason: "cannot_wait" } });
  expect(ran).toBe(0);
});

const same = { send: {} };

/** What an agent does between the call and the decision, or instead of it; the call "x" never runs by it. */
const attacks: Readonly<Record<string, (mail: Mail, run: Run) => Promise<unknown>>> = {
  "another key signs the decision": async (mail, run) =>
    expect(await mail.decide(run, { signer: stranger })).toMatch(/signature is not that/),
  "the decision names an operator who is not asked": async (mail, run) =>
    expect(await mail.decide(run, { operator: "eve" })).toMatch(/asks ann or bob, and not "eve"/),
  "the decision is about another caller's call": async (mail, run) =>
    expect(await mail.decide(otherwise(run, { caller: "ada" }))).toMatch(/another caller/),
  "the decision is about another service's call": async (mail, run) =>
    expect(await mail.decide({ ...run, service: "shop" }, { on: run })).toMatch(/another service/),
  "the decision is about another id": async (mail, run) =>
    expect(await mail.decide({ ...run, toolCallId: "y" }, { on: run })).toMatch(/another call/),
  "the decision is about another tool": async (mail, run) =>
    expect(await mail.decide(otherwise(run, { tool: "other" }))).toMatch(/another tool/),
  "the decision is about another definition of the tool": async (mail, run) =>
    expect(await mail.decide(otherwise(run, { definitionHash: "h" }))).toMatch(/another definition/),
  "the decision is about another account": async (mail, run) =>
    expect(await mail.decide(otherwise(run, { decisionHash: "h" }))).toMatch(
      /another rule of the policy, or credential/,
    ),
  "the decision of an equal call is used again": async (mail, run) => {
    await mail.call("send", {}, soon("y"));
    const other = await mail.parked("y");
    expect(await mail.decide(other, { on: run })).toMatch(/another call/);
  },
  "the call has waited too long": async (mail, run) => {
    mail.later(25 * 3_600_000);
    expect(await mail.decide(run)).toMatch(/its time is over|the run is ended/);
  },
  "the operator made the call as its caller": async (mail, run) => {
    await mail.forge("x", { operator: "ann" });
    expect(await mail.decide(run)).toMatch(/"ann" made this call/);
  },
  "the call is cancelled": async (mail, run) => {
    await mail.cancel("x");
    await expect.poll(() => mail.endOf("x")).toBe("cancelled");
    expect(await mail.decide(run)).toMatch(/ended/);
  },
  "the call is rejected, and approved after": async (mail, run) => {
    expect(await mail.decide(run, { verdict: "reject" })).toBe("ended");
    expect(await mail.decide(run, { operator: "bob" })).toMatch(/ended/);
  },
  "the policy denies by then": async (mail, run) => {
    await mail.setPolicy(asking(RULE, "everyone: { allow: [look] }\n"));
    await mail.decide(run);
    await expect.poll(() => mail.endOf("x")).toBe("denied");
  },
  "the policy asks another operator by then": async (mail, run) => {
    await mail.setPolicy(asking("{ tools: [send], by: [bob] }"));
    await mail.decide(run);
    await expect
      .poll(async () => (await mail.runs.read(run))?.run.approval?.asked)
      .toEqual([{ by: ["bob"], needed: 1 }]);
  },
  "the policy asks two operators by then": async (mail, run) => {
    await mail.setPolicy(asking("{ tools: [send], by: [ann, bob], needed: 2 }"));
    await mail.decide(run);
    await mail.decide(await asksTwo(mail, run));
    await mail.decide(run, { operator: "ann" });
  },
  "one operator decides twice where two are needed": async (mail, run) => {
    await mail.setPolicy(asking("{ tools: [send], by: [ann, bob], needed: 2 }"));
    await mail.decide(run);
    const again = await asksTwo(mail, run);
    expect(await mail.decide(again)).toBe("parked");
    expect(await mail.decide(again)).toMatch(/has decided already/);
  },
  "a decision is copied in the record where two are needed": async (mail, run) => {
    await mail.setPolicy(asking("{ tools: [send], by: [ann, bob], needed: 2 }"));
    await mail.decide(run);
    const { approval } = await asksTwo(mail, run);
    if (approval === undefined) throw new Error("nobody is asked");
    const one = signDecision(door.privateKey, { ...run, approval }, { verdict: "approve", operator: "ann" });
    await mail.forge("x", {
      state: RunState.Ready,
      approval: { ...approval, asked: [{ by: ["ann"], needed: 1 }], decisions: [one, one] },
    });
  },
  "the caller's account is another by then": async (mail, run) => {
    await mail.setPolicy(asking(RULE, 'everyone: { allow: ["*"], credentials: { google: boss } }\n'));
    await mail.decide(run);
    await asksAgain(mail, run);
  },
  "untrusted content counts by then": async (mail, run) => {
    await mail.forge("x", { message: { ...run.message, headers: { ...run.message.headers, "rb-untrusted": "true" } } });
    await mail.setPolicy(asking(RULE, 'everyone: { allow: ["*"], afterUntrusted: { effects: deny } }\n'));
    await mail.decide(run);
    await expect.poll(() => mail.endOf("x")).toBe("denied");
  },
  "the tool has another description by then": (mail, run) => swapped(mail, run, { description: "Sends all." }),
  "the tool has other defaults by then": (mail, run) =>
    swapped(mail, run, { inputSchema: { type: "object", properties: { to: { default: "all" } } } }),
  "the record has other arguments than were shown": async (mail, run) => {
    const body = { toolCallId: "x", toolName: "send", arguments: '{"to":"all"}' };
    await mail.forge("x", { message: { ...run.message, body: Buffer.from(JSON.stringify(body)).toString("base64") } });
    await mail.decide(run);
    await asksAgain(mail, run);
  },
  "the record says that it is approved": (mail) => mail.forge("x", { state: RunState.Ready }),
  "the record is of another caller": async (mail, run) => {
    await mail.decide(run);
    const signed = signDecision(door.privateKey, run, { verdict: "approve", operator: "ann" });
    const approval = run.approval && { ...run.approval, decisions: [signed] };
    await mail.runs.create({ ...run, approval, state: RunState.Ready, readyAt: run.createdAt, caller: "ada" });
    await expect.poll(() => mail.stateOf("x", "ada")).toMatch(/parked|ended/);
    expect(mail.ran.splice(0)).toEqual([same]); // that of its own caller
  },
  "a message of the same id says that it is approved": async (mail) => {
    const body = { toolCallId: "x", toolName: "send", arguments: "{}" };
    for (const keep of ["approved", "detached", "if-parked", ""])
      await mail.send(body, { "rb-keep": keep, "rb-run": "x", "rb-approved": "ann", "rb-age-ms": "1" });
  },
  "a message of the same id has other arguments": async (mail) => {
    expect(await mail.call("send", { to: "all" }, soon("x"))).toMatchObject({ details: { reason: "conflict" } });
    expect(await mail.call("look", {}, soon("x"))).toMatchObject({ details: { reason: "conflict" } });
    expect(await mail.call("other", {}, soon("x"))).toMatchObject({ details: { reason: "conflict" } });
    mail.ran.length = 0;
  },
  "another caller has the same id": async (mail) => {
    await using ada = await createToolCaller(mail.bus, { agent: "ada" });
    await ada.discovered();
    const other = ada.call("send", {}, { ...soon("x"), timeoutMs: 5_000 });
    await mail.decide(await mail.parked("x", "ada"));
    await other;
    expect(mail.ran.splice(0)).toEqual([same]);
  },
};

const otherwise = ({ approval, ...run }: Run, binding: object): Run => ({
  ...run,
  approval: approval && { ...approval, binding: { ...approval.binding, ...binding } },
});

async function asksAgain({ runs }: Mail, run: Run): Promise<Run> {
  const { decisionHash, definitionHash, argumentsHash } = run.approval?.binding ?? {};
  const isOther = ({ approval }: Run): boolean =>
    approval?.decisions.length === 0 &&
    (approval.binding.decisionHash !== decisionHash ||
      approval.binding.definitionHash !== definitionHash ||
      approval.binding.argumentsHash !== argumentsHash);
  await expect
    .poll(async () => {
      const now = (await runs.read(run))?.run;
      return now?.state === RunState.Parked && isOther(now);
    })
    .toBe(true);
  return (await runs.read(run))?.run as Run;
}

const asksTwo = asksAgain;

async function swapped(mail: Mail, run: Run, definition: Partial<ToolDefinition>): Promise<void> {
  await mail.service[Symbol.asyncDispose]();
  await using _ = await mail.serve(definition);
  await mail.decide(run);
  await asksAgain(mail, run);
}

test.each(Object.entries(attacks))("a call does not run when %s", async (_, attack) => {
  await using mail = await station();
  await mail.call("send", {}, soon("x"));
  await attack(mail, await mail.parked("x"));
  // A further call that runs shows that all before was looked at.
  await mail.call("other", {}, { timeoutMs: 5_000 });
  await expect.poll(() => mail.stateOf("x")).toMatch(/parked|ended/);
  expect(mail.ran.filter((each) => !("other" in (each as object)))).toEqual([]);
});

test.each([
  ["twice", '{"to":"a","to":"b"}'],
  ["numbers that become others", '{"n":1e400}'],
  ["numbers that are rounded", '{"n":12345678901234567890}'],
  ["keys of prototypes", '{"__proto__":{"to":"b"}}'],
  ["many levels", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`],
])("arguments that people and tools could read differently are refused: %s", async (_, text) => {
  await using mail = await station();
  await mail.send({ toolCallId: "x", toolName: "send", arguments: text });
  await mail.call("other", {}, { timeoutMs: 5_000 });
  expect(await mail.stateOf("x")).toBeUndefined();
});

test.each([
  ['{"b":1,"a":2}', '{"a":2,"b":1}', { a: 2, b: 1 }],
  ['{"n":1.0,"m":-0}', '{"m":0,"n":1}', { n: 1, m: -0 }],
  ['{"to":"\\u0061"}', '{"to":"a"}', { to: "a" }],
  ["", "{}", {}],
])("of %s people see %s, and exactly that runs", async (text, shown, input) => {
  await using mail = await station();
  await mail.send({ toolCallId: "x", toolName: "send", arguments: text }, { "rb-keep": "if-parked" });
  const run = await mail.parked("x");
  expect(run.approval?.arguments).toBe(shown);
  await mail.decide(run);
  await expect.poll(() => mail.ran).toEqual([{ send: input }]);
});

test("a call that is sent to two instances at once, again while it runs, and again after, runs once", async () => {
  await using mail = await station();
  await using _second = await mail.serve();
  const body = { toolCallId: "x", toolName: "send", arguments: "{}" };
  const again = () => Promise.all(Array.from({ length: 5 }, () => mail.send(body, { "rb-keep": "if-parked" })));
  await again();
  const run = await mail.parked("x");
  const [one, two] = await Promise.all([mail.decide(run), mail.decide(run, { operator: "bob" }), again()]);
  expect([one, two].filter((said) => said === "ready")).toHaveLength(1);
  await expect.poll(() => mail.endOf("x")).toBe("ok");
  await again();
  expect(await mail.call("send", {}, { ...KEPT, toolCallId: "x" })).toMatchObject({ content: "done" });
  expect(mail.ran).toEqual([same]);
});

test("a cancel and an approval at once leave one end", async () => {
  await using mail = await station();
  await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const id = `x${i}`;
      await mail.call("send", { i }, soon(id));
      const run = await mail.parked(id);
      const [said] = await Promise.all([mail.decide(run), mail.cancel(id)]);
      await expect.poll(() => mail.stateOf(id)).toBe(RunState.Ended);
      if (said !== "ready") expect(mail.ran).not.toContainEqual({ send: { i } });
    }),
  );
});

test.each(["0", "-1", "1e9", "99999999999", "soon"])(
  "a call whose header says that it waits %s ms waits for its decision",
  async (timeout) => {
    await using mail = await station();
    const headers = { "rb-timeout-ms": timeout, "rb-keep": "if-parked" };
    await mail.send({ toolCallId: "x", toolName: "send", arguments: "{}" }, headers);
    await mail.decide(await mail.parked("x"));
    await expect.poll(() => mail.endOf("x")).toBe("ok");
    expect(mail.ran).toEqual([same]);
  },
);

test("the kept result of an approved call is no answer to the next one", async () => {
  await using mail = await station({ definition: { cacheSeconds: 3_600, readOnly: true } });
  const first = mail.call("look", {}, { ...KEPT, toolCallId: "x" });
  await mail.decide(await mail.parked("x"));
  expect(await first).toMatchObject({ content: "done" });
  expect(await mail.call("look", {}, soon("y"))).toBeInstanceOf(ToolError);
  await mail.parked("y");
});

test("a caller that parks all that it may is overloaded in words, and another is not held up", async () => {
  await using mail = await station();
  const { length } = await Promise.all(Array.from({ length: 100 }, (_, i) => mail.call("send", {}, told(`x${i}`))));
  expect(await mail.call("send", {}, told("more"))).toMatchObject({
    code: "overloaded",
    message: expect.stringContaining(`at most ${length}`),
    details: { mayHaveRun: false },
  });
  await using ada = await createToolCaller(mail.bus, { agent: "ada" });
  await ada.discovered();
  const call = ada.call("send", {}, { toolCallId: "x" });
  await mail.decide(await mail.parked("x", "ada"));
  expect(await call).toMatchObject({ content: "done" });
});

test("a caller whose runs take long leaves places to others", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let isHeld = true;
  await using mail = await station({ policy: EVERYTHING, run: () => (isHeld ? promise : Promise.resolve("done")) });
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => mail.call("send", { i }, { keep: Keep.Detached, toolCallId: `x${i}` })),
  );
  await expect.poll(() => mail.ran.length).toBe(24); // of 32
  isHeld = false;
  await using ada = await createToolCaller(mail.bus, { agent: "ada" });
  await ada.discovered();
  await ada.call("send", {}, { keep: Keep.Detached, toolCallId: "x" }).catch(() => {});
  await expect.poll(() => mail.endOf("x", "ada")).toBe("ok");
  resolve("done");
});

test("a call whose record is forgotten is of unknown outcome, and nobody says that it was not run", async () => {
  await using mail = await station();
  await mail.call("send", {}, soon("x"));
  await mail.decide(await mail.parked("x"));
  await expect.poll(() => mail.endOf("x")).toBe("ok");
  mail.later(49 * 3_600_000);
  await using next = await createToolCaller(mail.bus, { agent: "eve" });
  await next.discovered();
  await expect(next.call("send", {}, { ...KEPT, toolCallId: "x" })).rejects.toMatchObject({
    code: "outcome_unknown",
    details: { mayHaveRun: true },
  });
  expect(mail.ran).toEqual([same]);
});

test("a caller that hears that nothing will be run hears the truth, though its call is approved right then", async () => {
  await using mail = await station();
  const call = mail.call("send", {}, { toolCallId: "x", timeoutMs: 20_000 });
  const run = await mail.parked("x");
  await mail.service[Symbol.asyncDispose]();
  const signed = signDecision(door.privateKey, run, { verdict: "approve", operator: "ann" });
  await new Runs(mail.runs).change(run, { kind: "decided", decision: signed, verdict: { is: "approved" } });
  mail.later(19_500);
  await using _ = await mail.serve();
  expect(await call).toMatchObject({ code: "pending", message: expect.stringContaining("nothing will be") });
  await expect.poll(() => mail.endOf("x")).toBe("cancelled");
  expect(mail.ran).toEqual([]);
});

test("a service that knows no key of operators says so, and lets no call wait for a decision that never counts", async () => {
  await using mail = await station({ hasKey: false });
  expect(mail.warnings).toEqual([expect.stringContaining("OPERATOR_PUBLIC_KEY")]);
  expect(await mail.call("send", {}, soon("x"))).toMatchObject({ code: "denied", details: { reason: "cannot_wait" } });
  expect(await mail.stateOf("x")).toBeUndefined();
});

test("a run whose tool nobody offers any more ends, though its tool had begun", async () => {
  await using mail = await station();
  await mail.call("send", {}, soon("x"));
  await mail.parked("x");
  await mail.service[Symbol.asyncDispose]();
  await mail.forge("x", { state: RunState.Running, hasStarted: true, lease: { owner: "gone", until: Date.now() } });
  mail.later(READY_MS + 1_000);
  await using _ = await mail.serve({}, ["look"]);
  await expect.poll(() => mail.endOf("x")).toBe("outcome_unknown");
});

test("the record of a call that has ended has nothing of what was asked", async () => {
  await using mail = await station();
  await mail.call("send", { to: "bob" }, soon("x"));
  await mail.decide(await mail.parked("x"));
  await expect.poll(() => mail.endOf("x")).toBe("ok");
  const run = (await mail.runs.read(mail.key("x")))?.run;
  expect([run?.message.body, run?.approval?.arguments]).toEqual(["", ""]);
  expect(run?.approval?.decisions).toHaveLength(1);
});

/** The writes of a call's way, by what they make of the record. */
const writes = {
  taken: ({ state, hasStarted }: Run) => state === RunState.Running && !hasStarted,
  started: ({ state, hasStarted }: Run) => state === RunState.Running && hasStarted,
  ended: ({ state }: Run) => state === RunState.Ended,
} as const;

test.each(Object.entries(writes))("an approved call outlives a store that is away as it is %s", async (_, isIt) => {
  await using mail = await station();
  await mail.call("send", {}, soon("x"));
  const run = await mail.parked("x");
  let times = 0;
  mail.failing.replace = (...[, next]: [never, Run][number][]) => isIt(next as Run) && times++ === 0;
  await mail.decide(run);
  await expect.poll(() => mail.endOf("x"), { timeout: 20_000 }).toBe("ok");
  expect(times).toBeGreaterThan(0);
  expect(mail.ran).toEqual([same]);
});

test.each(["now", "read", "create"] as const)(
  "a call that cannot be parked was not run, and says so: %s",
  async (operation) => {
    await using mail = await station();
    mail.failing[operation] = () => true;
    expect(await mail.call("send", {}, soon("x"))).toMatchObject({
      code: "unavailable",
      details: { mayHaveRun: false },
    });
    mail.failing[operation] = undefined;
    await mail.call("send", {}, soon("x"));
    await mail.parked("x");
    expect(mail.ran).toEqual([]);
  },
);
