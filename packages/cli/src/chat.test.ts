import { request } from "node:http";
import {
  type ModelScript,
  type ModelServerRequest,
  type ModelStep,
  startModelServer,
  temporaryFolder,
} from "@rockbot/testing";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { type CliOptions, runCli, runHere, startCli, startPage, startUp } from "./test-cli.ts";

const FEW = ["--only", "web-tools,agent,gateway"];

/** A system in one process, whose agent asks a model's server that answers by the script. */
async function startSystem(scriptFor: (page: Awaited<ReturnType<typeof startPage>>) => ModelScript) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const page = started.use(await startPage());
  const model = started.use(await startModelServer(scriptFor(page)));
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  const options: CliOptions = { folder: folder.path, env };
  const up = started.use(await startUp(options, [...FEW, "--allow-address", page.address]));
  const parts = started.move();
  return { options, page, model, up, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Reads the page, then says what it is; of a message that has "slow" in it, the page that never answers. */
const reader =
  ({ url }: Awaited<ReturnType<typeof startPage>>) =>
  ({ messages }: ModelServerRequest): ModelStep => {
    const last = messages.at(-1);
    if (last?.role === "tool")
      return { text: `It says: ${/From a page of our own/.exec(last.text)?.[0] ?? "nothing"}.` };
    if (last?.text.includes("before")) return { text: `Before: ${messages.find(({ role }) => role === "user")?.text}` };
    return {
      text: "Let me look.",
      toolCalls: [{ name: "web_browse", arguments: { url: url(last?.text.includes("slow") ? "/slow" : "/") } }],
    };
  };

test("chat -p prints the agent's answer, --json each step of it, and a session goes on", {
  timeout: 60_000,
}, async () => {
  await using system = await startSystem(reader);
  const chat = (...args: string[]) => runCli(["chat", ...args], system.options);

  expect(await chat("-p", "What is there?", "--session", "notes")).toEqual({
    code: 0,
    stdout: "It says: From a page of our own.\n",
    stderr: "",
  });
  expect((await chat("-p", "And before?", "--session", "notes")).stdout).toBe("Before: What is there?\n");
  expect((await runCli(["calls"], system.options)).stdout).toMatch(/answered .* web_browse +cli by agent/); // the agent's own calls are listed, too
  const { code, stdout } = await runCli(["chat", "--json"], { ...system.options, input: "What is there?\n" });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; toolName?: string; text?: string });
  expect(code).toBe(0);
  expect(lines.map(({ kind }) => kind)).toEqual([
    "turn_started",
    "text",
    "tool_started",
    "tool_finished",
    "text",
    "turn_finished",
    "answer",
  ]);
  expect(lines[3]).toMatchObject({ toolName: "web_browse", status: "ok" });
  expect(lines.at(-1)).toMatchObject({ text: "It says: From a page of our own.", is_untrusted: true });
});

test("the conversations are listed, and --continue goes on with the one in which the user has spoken last", {
  timeout: 60_000,
}, async () => {
  await using system = await startSystem(reader);
  const chat = (...args: string[]) => runHere(["chat", ...args], system.options);

  expect((await chat("--continue", "-p", "And before?")).stderr).toContain("You have no conversation with the agent");
  await chat("-p", "What is there?", "--session", "notes");
  await chat("-p", "What is here?");
  expect((await chat("--continue", "-p", "And before?")).stdout).toBe("Before: What is here?\n");
  expect((await chat("--list")).stdout).toMatch(/^20\S+ +[0-9a-f]{32} +And before\?\n20\S+ +notes +What is there\?\n$/);
  expect(JSON.parse((await chat("--list", "--json")).stdout)).toMatchObject([
    { said: "And before?" },
    { session_id: "notes" },
  ]);
  for (const more of ["--list", "--session=notes"]) expect((await chat("--continue", "-p", "x", more)).code).toBe(2);
});

test("Ctrl-C cancels the turn, down to the tool that runs for it", { timeout: 60_000 }, async () => {
  await using system = await startSystem(reader);
  await using chat = startCli(["chat", "-p", "Read the slow one."], system.options);
  await expect.poll(() => system.page.requests, { timeout: 20_000 }).toEqual(["/slow"]);
  chat.kill("SIGINT");

  expect(await chat.ended).toMatchObject({
    code: 130,
    stdout: "",
    stderr: expect.stringContaining("rockbot: cancelled: "),
  });
  await expect.poll(() => system.page.closed, { timeout: 10_000 }).toEqual(["/slow"]);
});

test("with nothing running chat starts the services itself, and without a model it says what to set", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  await using model = await startModelServer([{ text: "Hello there." }]);
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  const [asked, none] = await Promise.all([
    runCli(["chat", "-p", "Hello?"], { folder: folder.path, env }),
    runCli(["chat", "-p", "Hello?"], { folder: folder.path, env: { OLLAMA_URL: "http://127.0.0.1:9" } }),
  ]);

  expect(asked).toEqual({ code: 0, stdout: "Hello there.\n", stderr: "" });
  expect(none).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/unavailable: .*MODEL_URL/) });
});

test("OpenAI's client, unchanged, streams the agent's answer and its steps; its abort ends the tool that runs", {
  timeout: 60_000,
}, async () => {
  await using system = await startSystem(reader);
  const client = new OpenAI({ baseURL: `${system.up.url}/v1`, apiKey: "none needed", maxRetries: 0 });
  const asking = (content: string, options?: OpenAI.RequestOptions) =>
    client.chat.completions.stream(
      { model: "rockbot", messages: [{ role: "user", content }], stream_options: { include_usage: true } },
      options,
    );
  const stream = asking("What is there?");
  const steps: string[] = [];
  stream.on(
    "chunk",
    (chunk) =>
      void steps.push(...((chunk as { rockbot?: { kind?: string } }).rockbot?.kind ?? "").split(" ").filter(Boolean)),
  );
  const { choices, usage } = await stream.finalChatCompletion();

  expect(choices[0]?.message.content).toBe("Let me look.It says: From a page of our own.");
  expect(choices[0]?.finish_reason).toBe("stop");
  expect(steps.filter((kind) => kind !== "tool_progress")).toEqual(["turn_started", "tool_started", "tool_finished"]);
  expect(usage?.prompt_tokens).toBeGreaterThan(0);
  const slow = asking("Read the slow one.");
  const ended = expect(slow.done()).rejects.toThrow("aborted");
  await expect.poll(() => system.page.requests, { timeout: 20_000 }).toEqual(["/", "/slow"]);
  slow.abort();
  await ended;
  await expect.poll(() => system.page.closed, { timeout: 10_000 }).toContain("/slow");
});

test("a streamed answer that is cut off goes on behind the last event, by curl's means", {
  timeout: 60_000,
}, async () => {
  const words = Array.from({ length: 40 }, (_, i) => `word${i} `).join("");
  await using system = await startSystem(() => [{ text: words, betweenMs: 60, chunkLength: 7 }]);
  const headers = { "content-type": "application/json", "rockbot-session": "notes", "idempotency-key": "essay" };
  const ask = (more: Record<string, string> = {}) =>
    stream(`${system.up.url}/v1/chat/completions`, { ...headers, ...more });
  const first = ask();
  await expect.poll(() => first.text().split("word").length, { timeout: 20_000 }).toBeGreaterThan(5);
  first.cut();
  const last = first.ids().at(-1) ?? "";
  const second = ask({ "last-event-id": last });
  await expect.poll(() => second.isDone(), { timeout: 20_000 }).toBe(true);

  expect(Number(last)).toBeGreaterThan(1);
  expect(first.text().length).toBeGreaterThan(10);
  expect(first.text() + second.text()).toBe(words);
  expect(system.model.requests).toHaveLength(1);
});

/** A stream of chunks by Node's own client. */
function stream(url: string, headers: Record<string, string>) {
  let received = "";
  const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
    response.setEncoding("utf8").on("data", (text: string) => (received += text));
    response.on("error", () => {});
  });
  sent.on("error", () => {});
  sent.end(JSON.stringify({ model: "rockbot", stream: true, messages: [{ role: "user", content: "Write." }] }));
  const whole = (): string => received.slice(0, received.lastIndexOf("\n\n") + 2);
  return {
    cut: () => void sent.destroy(),
    isDone: () => received.endsWith("data: [DONE]\n\n"),
    ids: () => [...whole().matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? ""),
    text: () =>
      [...whole().matchAll(/^data: (\{.*)$/gm)]
        .map(
          ([, json]) =>
            (JSON.parse(json ?? "") as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? "",
        )
        .join(""),
  };
}
