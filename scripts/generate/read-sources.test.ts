import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { services } from "@rockbot/services";
import { expect, test } from "vitest";
import { readSources } from "./read-sources.ts";

const root = dirname(dirname(import.meta.dirname));
const SOURCES = [
  "docker-compose.yml",
  "docker/policy/policy.yaml",
  "helm/values.schema.yaml",
  "packages/contracts/schema",
  "packages/policy/policy.schema.yaml",
  "services/settings.yaml",
  "services/gateway/config.schema.yaml",
];

/** A folder with what is generated from, for a test to break. */
async function makeSources() {
  const path = await mkdtemp(join(tmpdir(), "sources-"));
  for (const source of SOURCES) await cp(join(root, source), join(path, source), { recursive: true });
  return {
    path,
    append: (file: string, text: string) => appendFile(join(path, file), text),
    replace: async (file: string, from: string, to: string) =>
      writeFile(
        join(path, file),
        (await readFile(join(path, file), "utf8")).replace(from, () => to),
      ),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

test("what the project is generated from has no fault", async () => {
  expect((await readSources(root, services)).faults).toEqual([]);
});

test("faults of all files come at once, each with its file, and the list's with them", async () => {
  await using sources = await makeSources();
  await sources.append("docker/policy/policy.yaml", "\nidentity: verified\n");
  await sources.append("docker-compose.yml", "\nx: [\n");
  await sources.replace("services/settings.yaml", "type: string", "type: strng");
  await sources.replace("services/gateway/config.schema.yaml", "x-settings: process", "x-settings: proces");
  await sources.replace("packages/contracts/schema/tools/web.yaml", "title: web_search", "title: web_browse");
  const { faults } = await readSources(
    sources.path,
    services.map((entry) => (entry.name === "gateway" ? { ...entry, summary: "" } : entry)),
  );

  const expected = [
    /^packages\/contracts\/schema\/tools\/web\.yaml: ToolWebSearch: title: the name "web_browse" is taken/,
    /^services\/settings\.yaml: \w+: type is none of those that there are\. Did you mean "string"\?/,
    /^services\/gateway\/config\.schema\.yaml: x-settings is "proces"; there are: process, bus/,
    /^services\/index\.ts: "gateway" has no summary/,
    /^docker\/policy\/policy\.yaml, line \d+: this is not YAML: Map keys must be unique/,
    /^docker-compose\.yml, line \d+: this is not YAML: /,
  ];
  expect(faults).toEqual(expected.map((words) => expect.stringMatching(words)));
});

test("a service's tools that no schema defines are found once all schema files can be read", async () => {
  const entries = services.map((entry) => (entry.name === "web-tools" ? { ...entry, tools: ["wbe_*"] } : entry));

  expect((await readSources(root, entries)).faults).toEqual([
    expect.stringContaining('"web-tools" has "wbe_*" among its tools'),
  ]);
});
