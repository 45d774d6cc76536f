import { createHash } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import { expect, test } from "vitest";
import { serveTestAgent, twoWords } from "../chat/test-agent.ts";
import { openStream } from "../sessions/test-stream.ts";
import { startTestGateway } from "../test-gateway.ts";

const hash = (token: string) => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers:
  researcher: { allow: ["agent__*", who] }
  writer: { allow: [who] }
operators:
  - { name: ops, may: [read, call], speaksFor: [researcher, writer], tokens: [{ hash: ${hash("ops")} }] }
  - { name: reader, may: [call], speaksFor: [researcher], sees: [transcripts], tokens: [{ hash: ${hash("reader")} }] }
  - { name: looker, may: [read], speaksFor: [researcher], tokens: [{ hash: ${hash("looker")} }] }
`;

/** A gateway with an audit log, and an agent that answers by a script. */
async function startChat(script: Parameters<typeof serveTestAgent>[1] = twoWords) {
  await using started = new AsyncDisposableStack();
  const lines: Record<string, unknown>[] = [];
  const audit: AuditLog = {
    isWriting: true,
    write: async (line) => void lines.push({ ...line }),
    [Symbol.asyncDispose]: async () => {},
  };
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = started.use(await startTestGateway({}, policy, audit));
  const agent = started.use(await serveTestAgent(gateway.bus, script));
  const parts = started.move();
  const path = (as: string) => `/operator/chat/completions?as=${as}`;
  const headersOf = (token: string, more: Record<string, string>) => ({
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    ...more,
  });
  const body = { messages: [{ role: "user", content: "Hello?" }] };
  return {
    lines,
    turns: agent.turns,
    ask: (token: string, as: string, more: Record<string, string> = {}) =>
      gateway.send({ method: "POST", path: path(as), headers: headersOf(token, more) }, JSON.stringify(body)),
    stream: (token: string, as: string, more: Record<string, string> = {}) =>
      openStream({
        port: gateway.port,
        path: path(as),
        headers: headersOf(token, more),
        body: { ...body, stream: true, stream_options: { include_usage: true } },
      }),
    callTool: async (token: string, tool: string, args: object, more: Record<string, string> = {}) => {
      const path = `/operator/tools/${tool}/invoke?as=researcher`;
      const { status } = await gateway.send(
        { method: "POST", path, headers: headersOf(token, more) },
        JSON.stringify(args),
      );
      return status;
    },
    calls: async () =>
      (
        await gateway.send({
          path: "/operator/calls?tool=agent__chat",
          headers: { authorization: "Bearer ops" },
        })
      ).json?.["calls"],
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("an operator asks the agent as a caller, and hears the turn as it runs, with its cost; the journal names both", async () => {
  const goOn = Promise.withResolvers<void>();
  await using chat = await startChat(async ({ tell }) => {
    await tell({ kind: "tool_started", toolCallId: "t1", toolName: "web_browse", arguments: "{}" });
    await goOn.promise;
    await tell({ kind: "tool_finished", toolCallId: "t1", toolName: "web_browse", status: "ok" });
    return { text: "So it is.", usage: { input_tokens: 7, output_tokens: 5, cost: 0.25 } };
  });
  using stream = await chat.stream("ops", "researcher", { "rockbot-session": "operator:ops:1" });
  const steps = () =>
    stream.events().flatMap(({ data }) => (data === "[DONE]" ? [] : (JSON.parse(data).rockbot ?? [])));
  await expect.poll(steps).toContainEqual(expect.objectContaining({ kind: "tool_started", toolCallId: "t1" }));
  goOn.resolve();
  await expect.poll(() => stream.isEnded()).toBe(true);

  expect(steps()).toContainEqual(expect.objectContaining({ finish: "stop", cost: 0.25 }));
  expect(stream.text()).toContain("So it is.");
  expect(chat.turns).toMatchObject([{ caller: "researcher", sessionId: "operator:ops:1" }]);
  await expect.poll(chat.calls).toMatchObject([{ operator: "ops", onBehalfOf: "researcher" }]);
});

test("the turn of an operator who leaves is cancelled, if the request says so", async () => {
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await using chat = await startChat(async ({ signal, tell }) => {
    signal.addEventListener("abort", () => ended.resolve());
    await tell({ kind: "text", text: "Well" });
    begun.resolve();
    await ended.promise;
    return {};
  });
  const own = { "rockbot-session": "operator:ops:1", "rockbot-on-close": "cancel" };
  {
    using stream = await chat.stream("ops", "researcher", own);
    await begun.promise;
    await expect.poll(stream.text).toContain("Well");
  }
  await ended.promise;
});

test("without the right, for a caller it does not speak for, and beyond the caller's policy, an operator asks nothing", async () => {
  await using chat = await startChat();
  const refused = async (token: string, as: string) => {
    const { status, json } = await chat.ask(token, as);
    return [status, (json?.["error"] as { message?: string } | undefined)?.message ?? json?.["message"]];
  };
  expect(await refused("looker", "researcher")).toEqual([403, expect.stringContaining('needs the right "call"')]);
  expect(await refused("ops", "other")).toEqual([403, expect.stringContaining('Cannot call as "other"')]);
  expect((await refused("ops", "writer"))[0]).toBe(403);
  expect((await refused("researcher", "researcher"))[0]).toBe(401);
  expect(chat.turns).toEqual([]);
});

test("a tool is called in a session of others by an operator who sees transcripts alone, and that is audited", async () => {
  await using chat = await startChat();
  const as = (token: string, session: string) => chat.callTool(token, "who", {}, { "rockbot-session": session });
  expect(await as("ops", "notes")).toBe(403);
  expect(await as("ops", "operator:reader:1")).toBe(403);
  expect(chat.lines).toEqual([]);
  expect(await as("ops", "operator:ops:1")).toBe(200);
  expect(await as("reader", "notes")).toBe(200);
  expect(chat.lines).toContainEqual(
    expect.objectContaining({ event: "operator", operator: "reader", action: "read transcripts", of: "notes" }),
  );
});
