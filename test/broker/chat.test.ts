import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startModelServer, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { expect, onTestFailed, test } from "vitest";
import { startService } from "../services/start-service.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, whoTool } from "./verified-system.ts";

const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");
/** A step that takes longer fails as itself, so that the test says which one stood still. */
const STEP_MS = 60_000;
const token = "token-of-the-writer";
const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers:
  researcher: {}
  writer: { tokens: [{ hash: "sha256:${createHash("sha256").update(token).digest("hex")}" }] }
services:
  echoes: { topic: tool.invoke.echoes, tools: ["echo_*"] }
  agent: { topic: tool.invoke.agent, tools: ["agent__*"] }
delegates: [gateway, agent]
`;

// Long because: it is one system, which takes most of the time to start
test("over a broker that verifies senders each asker has the agent as itself, live, and sees its own session only", {
  timeout: 180_000,
}, async () => {
  await using model = await startModelServer(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "tool"
      ? { text: `It ran for ${last.text}.` }
      : { text: "Let me ask.", toolCalls: [{ name: "echo_who" }] };
  });
  await using broker = await verifiedHost(POLICY);
  using folder = temporaryFolder();
  const policyFile = folder.write("policy.yaml", POLICY);
  await using bus = await connect(broker, "echoes");
  await using _tools = await serveTools(bus, whoTool("echo_who", { readOnly: true }), {
    service: "echoes",
    policy: broker.policy,
  });
  const common = { POLICY_FILE: policyFile, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  await using started = new AsyncDisposableStack();
  const [agent, gateway] = await Promise.all([
    startService("agent", { ...common, BUS_URL: broker.urlOf("agent"), DATA_DIRECTORY: folder.path }),
    startService("gateway", { POLICY_FILE: policyFile, BUS_URL: broker.urlOf("gateway"), PORT: "0" }),
  ]);
  for (const service of [agent, gateway]) started.use(service);
  onTestFailed(() => console.error(`the agent said:\n${agent.stdout()}\nthe gateway said:\n${gateway.stdout()}`));
  const url = /"url":"(http[^"]+)","access"/.exec(gateway.stdout())?.[1];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "rockbot-session": "same" };
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(STEP_MS) });
  const models = async () => (await (await ask("/v1/models")).json()) as { data?: unknown[] };
  await expect.poll(async () => (await models()).data, { timeout: STEP_MS }).toHaveLength(1);

  const body = JSON.stringify({ stream: true, messages: [{ role: "user", content: "For whom?" }] });
  const streamed = await (await ask("/v1/chat/completions", { method: "POST", body })).text();
  const chunks = [...streamed.matchAll(/^data: (\{.*)$/gm)].map(
    ([, json]) => JSON.parse(json ?? "") as { choices: { delta: { content?: string } }[]; rockbot?: { kind?: string } },
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Let me ask.It ran for writer.");
  expect(chunks.flatMap(({ rockbot }) => rockbot?.kind ?? [])).toEqual([
    "turn_started",
    "tool_started",
    "tool_finished",
  ]);

  const asked = startNodeProgram(cli, {
    args: [
      "chat",
      "-p",
      "For whom?",
      "--session",
      "same",
      "--json",
      "--bus",
      broker.urlOf("researcher"),
      "--policy",
      policyFile,
    ],
    env: {},
  });
  started.use(asked);
  onTestFailed(() => console.error(`the chat said:\n${asked.stdout()}`));
  expect(await Promise.race([asked.ended, sleep(STEP_MS, "it still runs", { ref: false })])).toBe(0);
  expect(asked.stderr()).toBe("");
  expect(asked.stdout()).not.toContain('"kind":"error"');
  const steps = asked
    .stdout()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; text?: string; sequence?: number });
  expect(steps.map(({ kind }) => kind)).toEqual([
    "turn_started",
    "text",
    "tool_started",
    "tool_finished",
    "text",
    "turn_finished",
    "answer",
  ]);
  expect([steps[0]?.sequence, steps.at(-1)?.text]).toEqual([1, "It ran for researcher."]);
});
