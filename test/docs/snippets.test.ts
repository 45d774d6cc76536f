import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { allToolNames } from "@rockbot/contracts";
import { readPolicy } from "@rockbot/policy";
import {
  type ModelServerRequest,
  type ModelStep,
  ownVirtualHost,
  sharedRedisUrl,
  startFakeBrave,
  startModelServer,
  startPageServer,
} from "@rockbot/testing";
import { parseSync } from "oxc-parser";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { markdownFiles } from "../../scripts/check/docs/markdown.ts";
import { validate as validateServers } from "../../services/mcp-bridge/src/generated/servers-validator.js";
import { readSnippets, type Snippet } from "./read-snippets.ts";
import { type StandIns, Story } from "./story.ts";

const root = join(import.meta.dirname, "../..");

/** The model of the examples: it looks how much tea there is, or has its clerk look, and says it. */
function shopKeeper({ messages, toolNames }: ModelServerRequest): ModelStep {
  const result = messages.findLast(({ role }) => role === "tool" || role === "user")?.text ?? "";
  const amount = /has (\d+) of tea/.exec(result)?.[1];
  if (amount === undefined && toolNames.includes("agent__clerk"))
    return { toolCalls: [{ name: "agent__clerk", arguments: { prompt: "Look for tea." } }] };
  if (amount === undefined) return { toolCalls: [{ name: "stock_of", arguments: { item: "tea" } }] };
  if (!toolNames.includes("agent__final_report")) return { text: `There are ${amount}.` };
  return {
    toolCalls: [
      {
        name: "agent__final_report",
        arguments: { status: "success", format: "text", content: `The shop has ${amount} of tea.` },
      },
    ],
  };
}

const [redis, pages, brave, model] = await Promise.all([
  sharedRedisUrl(),
  startPageServer({
    "/": "<!doctype html><title>Example</title><main><h1>Example Domain</h1><p>A page for examples.</p></main>",
  }),
  startFakeBrave(),
  startModelServer(shopKeeper, { models: ["qwen3"], needsKey: false }),
]);
afterAll(async () => {
  await Promise.all([pages, brave, model].map((standIn) => standIn[Symbol.asyncDispose]()));
});
const all = await Promise.all(
  (await markdownFiles(root)).map(async (page) => readSnippets(page, await readFile(join(root, page), "utf8"))),
);

describe.concurrent("what a page tells its readers to type", () => {
  for (const [first, ...others] of all) {
    if (first === undefined) continue;
    const snippets = [first, ...others];
    for (const snippet of snippets) {
      const { page, line, use } = snippet;
      if (use.kind === "skip")
        test.skip(`${page}:${line} does not run, because it needs ${use.reason.replace(/^it needs /, "")}`);
      else if (use.kind === "parse")
        test(`${page}:${line} is well formed; it does not run, because ${use.reason}`, () => checkForm(snippet));
      else if (use.kind === "from") test(`${page}:${line} is in ${use.path}`, () => checkSource(snippet, use.path));
      else if (snippet.language === "yaml" || snippet.language === "json")
        test(`${page}:${line} is well formed`, () => checkForm(snippet));
    }
    const story = snippets.filter(isRun);
    if (story.length > 0)
      test(`${first.page}: ${story.length} blocks do what the page says`, () => tell(story), 600_000);
  }
});

test("each tool's entry in the reference shows a call of it", () => {
  const shown = all.flat().flatMap(({ page, code }) => (page === "docs/reference/tools.md" ? [code] : []));
  expect(allToolNames.filter((name) => !shown.some((code) => code.startsWith(`./rockbot call ${name}`)))).toEqual([]); // x-example beside the tool's title
});

test("each example is run by its own page", () => {
  const stories = globSync("examples/*/main.*", { cwd: root });
  const run = all.flat().map(({ page, code }) => `${page} ${code}`);
  expect(stories.length).toBeGreaterThan(3);
  expect(
    stories.filter((story) => !run.some((text) => text.startsWith(dirname(story)) && text.includes(story))),
  ).toEqual([]);
});

function isRun({ use, language }: Snippet): boolean {
  if (use.kind === "run") return language !== "yaml" && language !== "json";
  return use.kind === "file" || use.kind === "append" || use.kind === "edit";
}

async function tell(snippets: readonly Snippet[]): Promise<void> {
  const isCopy = snippets.some(({ use }) => use.kind === "append" || use.kind === "edit");
  await using broker = await ownVirtualHost(); // services of two pages would take each other's calls
  const standIns: StandIns = { page: pages.url, amqp: broker.url, redis, brave, model: model.url };
  await using story = await Story.begin(standIns, { isCopy });
  for (const snippet of snippets) await story.run(snippet);
  await story.checkTypes();
}

async function checkForm({ page, line, language, code }: Snippet): Promise<void> {
  if (language === "sh") await promisify(execFile)("bash", ["-n", "-c", code]);
  if (language === "python")
    await promisify(execFile)("python3", ["-c", "import ast, sys; ast.parse(sys.argv[1])", code]);
  // A program, or a part of a list.
  const faults = language !== "ts" ? [] : [code, `[${code}]`].map((text) => parseSync("a.ts", text).errors);
  if (faults.length > 0 && faults.every(({ length }) => length > 0))
    throw new Error(`${page}:${line}: ${faults[0]?.[0]?.message}`);
  if (language !== "yaml" && language !== "json") return;
  const value = (language === "json" ? JSON.parse(code) : parse(code)) as Record<string, unknown>;
  if ("callers" in value || "everyone" in value) await readPolicy(code, `${page}:${line}`);
  if ("mcpServers" in value && !validateServers(structuredClone(value)))
    throw new Error(`${page}:${line}: ${JSON.stringify(validateServers.errors)}`);
}

async function checkSource({ page, line, code }: Snippet, path: string): Promise<void> {
  const text = await readFile(join(root, path), "utf8");
  if (!text.includes(code)) throw new Error(`${page}:${line} is not in ${path}, from which it is taken`);
}
