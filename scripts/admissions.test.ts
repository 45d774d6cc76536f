import { globSync, readFileSync } from "node:fs";
import { ToolErrorCode } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { errorReasons } from "./generate/source/error-reasons.ts";
import { callsOf, nameOf, readSources, type Source } from "./generate/source/sources.ts";

/** A row of a table: a file of ours, and what the page says of it. */
interface Row {
  readonly file: string;
  readonly cells: readonly string[];
  readonly settings: readonly string[];
  readonly codes: readonly string[];
  readonly reasons: readonly string[];
}

const page = readFileSync("docs/design/admissions.md", "utf8");
const rows = page.split("\n").flatMap((line): Row[] => {
  const cells = line.split("|").map((cell) => cell.trim());
  const at = cells.findIndex((cell) => /^`(packages|services)\/\S+\.ts`$/.test(cell));
  if (at < 0) return [];
  const [codes = [], reasons = []] = cells.slice(-3, -1).map(spansOf);
  return [{ file: spansOf(cells[at] ?? "")[0] ?? "", cells, settings: spansOf(cells[at + 1] ?? ""), codes, reasons }];
});
const sources = await readSources();
const ofTools = ({ file }: { readonly file: string }): boolean => file.startsWith("packages/tools/src/");
const tooMany: ReadonlySet<string> = new Set([ToolErrorCode.Overloaded, ToolErrorCode.RateLimited]);

test("each row has the codes and reasons of its file, and each file of tools that refuses what is too much has a row", () => {
  const named = new Set(rows.map(({ file }) => file));
  const looked = sources.filter((source) => ofTools(source) || named.has(source.file));
  expect(looked.map(refusalsOf).filter(({ codes }) => codes.length > 0)).toEqual(
    rows
      .filter(({ codes }) => codes.length > 0)
      .map(({ file, codes, reasons }) => ({ file, codes, reasons }))
      .sort((a, b) => (a.file < b.file ? -1 : 1)),
  );
});

test("the calls that wait in rotation are those of the files that have a fair queue", () => {
  const waiting = rows.filter(({ cells }) => cells.some((cell) => cell.includes("waits in rotation")));
  const queues = new Set(["createFairQueue", "createFairQueues"]);
  expect(waiting.map(({ file }) => file).sort()).toEqual(
    sources.filter((source) => ofTools(source) && callsOf(source, queues).length > 0).map(({ file }) => file),
  );
});

test("each setting is one of a schema, a facet of the policy, or an option of a caller", () => {
  const schemas = globSync([
    "packages/policy/*.schema.yaml",
    "packages/policy/src/facets/*.ts",
    "services/settings.yaml",
    "services/*/*.schema.yaml",
  ]);
  const all = [...schemas, "packages/tools/src/call/tool-caller.ts"]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const settings = rows.flatMap((row) => row.settings);
  expect(settings.length).toBeGreaterThan(10);
  expect(settings.filter((name) => !new RegExp(`\\b${name}(\\??:|,$)`, "m").test(all))).toEqual([]);
});

function refusalsOf(source: Source) {
  const made = callsOf(source, new Set(["ToolError"])).map(
    ({ args }) => ToolErrorCode[nameOf(args[0]) as keyof typeof ToolErrorCode] as string | undefined,
  );
  const codes = [...new Set(made)].filter((code) => code !== undefined && tooMany.has(code));
  const reasons = errorReasons([source], ToolErrorCode)
    .filter((each) => each.codes.some((code) => tooMany.has(code)))
    .map(({ reason }) => reason);
  return { file: source.file, codes, reasons };
}

/** The texts of a cell that stand in backticks. */
function spansOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");
}
