import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { WaitingCall, WaitingCalls } from "@rockbot/console/api";
import type { Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { openAuditLog } from "@rockbot/records/audit";
import { openSqliteRunStore } from "@rockbot/runs";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect } from "vitest";
import { createLocalOperator } from "../operators/local-operator.ts";
import { loose, startTestGateway } from "../test-gateway.ts";

/** The keys of systems that decide for ann and for bob. */
export const systemKeys = { ann: generateKeyPairSync("ed25519"), bob: generateKeyPairSync("ed25519") };
const keyOf = (name: keyof typeof systemKeys): string => {
  const { x = "" } = systemKeys[name].publicKey.export({ format: "jwk" });
  return `, keys: [whpk_${Buffer.from(x, "base64url").toString("base64")}]`;
};
const { privateKey } = generateKeyPairSync("ed25519");
const hash = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const operator = (name: string, may: string, more = "") =>
  `  - { name: ${name}, tokens: [{ hash: "${hash(name)}" }], may: [${may}]${more} }`;
export const WAITING_POLICY = `
callers:
  ada: { allow: ["*"], tokens: [{ hash: "${hash("of-ada")}" }] }
  eve: { allow: ["*"], tokens: [{ hash: "${hash("of-eve")}" }] }
operators:
${operator("ann", "decide", keyOf("ann"))}
${operator("bob", "read, decide, call", `, speaksFor: ["*"]${keyOf("bob")}`)}
${operator("eve", "decide")}
${operator("sue", "decide", ", sees: [arguments]")}
${operator("ops", "read, letters, servers, cancel, call", ', speaksFor: ["*"]')}
  - { name: local, tokens: [], may: [decide] }
approve:
  - { tools: [send], by: [ann, bob, local] }
  - { tools: [pay], by: [ann, bob], needed: 2 }
`;

/** What `order` asks: at most 100. */
const COUNT = { type: "object", required: ["count"], properties: { count: { type: "integer", maximum: 100 } } };
const isCount = ((value: { count?: unknown }) => Number(value?.count) <= 100) as unknown as Validator<{
  count: number;
}>;

/** A gateway beside a service whose tools "send" and "pay" need approvals, and whose tool "order" asks how many. */
export async function startWaiting({
  hasKey = true,
  callTimeoutMs = 60_000,
  audit,
  webhooks = [],
}: {
  hasKey?: boolean;
  callTimeoutMs?: number;
  audit?: string;
  webhooks?: string[];
} = {}) {
  const stack = new AsyncDisposableStack();
  const policy = holdPolicy(createPolicy(await readPolicy(WAITING_POLICY, "policy.yaml")));
  const log = audit === undefined ? undefined : stack.use(await openAuditLog(audit, { key: "k".repeat(32) }));
  const runs = stack.use(await openSqliteRunStore(undefined));
  const localOperator = createLocalOperator();
  const commandKey = hasKey ? privateKey : undefined;
  const gateway = stack.use(
    await startTestGateway({ callTimeoutMs, webhooks }, policy, log, { runs, localOperator, commandKey }),
  );
  const done: string[] = [];
  const tool = (name: string) =>
    defineTool(loose(name), async (input) => {
      done.push(name);
      return `${name} ${JSON.stringify(input)}`;
    });
  const order = defineTool(
    loose("order"),
    async ({ of }, context) => {
      const message = `How many of ${of}?`;
      const { count } = await context.ask({ message, schema: COUNT, validate: isCount, origin: "mcp:shop" });
      context.begins();
      done.push("order");
      return `ordered ${count}`;
    },
    { asks: true },
  );
  const service = stack.use(
    await serveTools(
      gateway.bus,
      { tools: [tool("send"), tool("pay"), order], guides: [] },
      { service: "mail", policy, runs, operatorKey: createPublicKey(privateKey), audit: log, drainMs: 1 },
    ),
  );
  const caller = stack.use(await createToolCaller(gateway.bus, { agent: "ada" }));
  await caller.discovered();
  const ask = (method: string, path: string, token: string, body?: object) =>
    gateway.send(
      { method, path, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } },
      body && JSON.stringify(body),
    );
  const waiting = async (by = "ann") => (await ask("GET", "/operator/waiting", by)).json as unknown as WaitingCalls;
  return Object.assign(gateway, {
    ask,
    waiting,
    caller,
    done,
    runs,
    localOperator,
    service,
    /** The one call that waits, once it does. */
    one: async (by = "ann"): Promise<WaitingCall> => {
      await expect.poll(async () => (await waiting(by)).calls.length).toBe(1);
      return (await waiting(by)).calls[0] as WaitingCall;
    },
    decide: async (by: string, { id, shown }: WaitingCall, verdict: string, more: object = {}) => {
      const { status, json } = await ask("POST", `/operator/waiting/${id}`, by, { verdict, shown, ...more });
      return [status, json?.["state"] ?? json?.["message"]];
    },
    /** Answers as an operator. @returns the status, and the state or the words */
    answer: async (by: string, { id, question }: WaitingCall, value: unknown, more: object = {}) => {
      const body = { hash: question?.hash, value, ...more };
      const { status, json } = await ask("POST", `/operator/waiting/${id}/answer`, by, body);
      return [status, json?.["state"] ?? json?.["message"]];
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  });
}
