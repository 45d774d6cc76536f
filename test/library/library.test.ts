import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { sharedAmqpUrl, startModelServer } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MadeRelease, makeRelease, RELEASE_FOLDER } from "../../scripts/release/make-release.ts";
import { readSnippets } from "../docs/read-snippets.ts";
import { OutsideProject, whyNoRegistry } from "./outside-project.ts";

const root = join(import.meta.dirname, "../..");
const PAGE = "docs/start/embed.md";
const whyNot = await whyNoRegistry();
const amqp = await sharedAmqpUrl();

const page = await readFile(join(root, PAGE), "utf8");
/** Under names of their own, as tests of documents run them at the same broker. */
const snippets = readSnippets(PAGE, page).flatMap(({ language, code }) =>
  language === "ts"
    ? code
        .replaceAll("amqp://localhost", amqp)
        .replaceAll('"adder"', '"adder-outside"')
        .replaceAll("embedding-agent", "outside-agent")
    : [],
);
const programs = ["calls.ts", "no-node-types.ts"];
const sources = {
  ...Object.fromEntries(
    await Promise.all(
      programs.map(
        async (name) => [name, await readFile(join(import.meta.dirname, "programs", name), "utf8")] as const,
      ),
    ),
  ),
  ...Object.fromEntries(snippets.map((code, i) => [`snippet-${i + 1}.ts`, code])),
};
const files = ["calls.ts", "embed-in-an-app/main.ts", ...snippets.map((_, i) => `snippet-${i + 1}.ts`)];
/** The last one is typed only: what it needs is not installed. */
const runs = files.slice(0, -1).map((file) => `out/${file.replace(/ts$/, "js")}`);

const NODENEXT = { module: "nodenext", types: ["node"] };
/** A program without a browser's types, as a bundler's for servers has it. */
const BUNDLER = { module: "esnext", moduleResolution: "bundler", types: ["node"], lib: ["es2024"] };

/** Prints each package of node_modules that a program has loaded. */
const LIST_LOADED = `
  import { registerHooks } from "node:module";
  const loaded = new Set();
  registerHooks({ load: (url, context, next) => (loaded.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]), next(url, context)) });
  await import(process.argv[1]);
  console.log([...loaded].filter(Boolean).sort().join(" "));`;

let release: MadeRelease;
beforeAll(async () => {
  release = await makeRelease(root); // publint and attw look at it
}, 600_000);

test("a dry run of a release leaves the package, its bill of materials, and the sums of all files", async () => {
  const { library, files, missing } = release;
  const read = (file: string) => readFile(join(root, RELEASE_FOLDER, file));
  expect(files).toEqual(expect.arrayContaining([`npm/rockbot-${library.version}.tgz`, "npm/rockbot.sbom.cdx.json"]));

  const sums = (await read("SHA256SUMS")).toString().trimEnd().split("\n");
  expect(sums.map((line) => line.slice(66))).toEqual(files.filter((file) => file !== "SHA256SUMS"));
  for (const line of sums)
    expect(line.slice(0, 64)).toBe(
      createHash("sha256")
        .update(await read(line.slice(66)))
        .digest("hex"),
    );

  const bill = JSON.parse((await read("npm/rockbot.sbom.cdx.json")).toString());
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "rockbot" } } });
  expect(bill.components.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["amqplib", "ajv"]));

  const chart = files.find((file) => file.startsWith("chart/"));
  if (chart === undefined) expect(missing).toContainEqual(expect.stringMatching(/^the chart: .*no helm/));
  else await promisify(execFile)("helm", ["lint", "--strict", join(root, RELEASE_FOLDER, chart)]);
  if (!files.includes("images/images.json"))
    expect(missing).toContainEqual(expect.stringMatching(/^the images: .*npm run release:images -- --dry/));
});

describe.skipIf(whyNot !== undefined)(
  `a program outside of the repository that has installed the library${whyNot === undefined ? "" : `: ${whyNot}`}`,
  () => {
    let project: OutsideProject;
    beforeAll(async () => {
      project = await OutsideProject.create(release.tarball, sources);
      const { output } = await project.compile("typescript", files, { ...NODENEXT, outDir: "out" });
      expect(output).toBe("");
    }, 240_000);
    afterAll(() => project?.[Symbol.asyncDispose]());

    test("has nothing that only some programs need", async () => {
      const installed = await project.installed();
      expect(
        installed.filter((name) =>
          /redis|modelcontextprotocol|opentelemetry\/(?!api$)|pino|kubernetes|hono/.test(name),
        ),
      ).toEqual([]);
      expect(installed).toEqual(expect.arrayContaining(["@opentelemetry/api", "amqplib", "rockbot"]));
    });

    test("has the command, which needs a newer Node than the library and says so", async () => {
      const command = (node: "oldest" | "present", ...args: readonly string[]) =>
        project.run(node, ["node_modules/.bin/rockbot", ...args]);
      expect(await command("present", "--version")).toEqual({ code: 0, output: release.library.version });
      const called = await command("present", "call", "html_to_text", '{"html":"<p>Hello</p>"}');
      expect(called).toEqual({ code: 0, output: expect.stringContaining("Hello") });
      const refused = await command("oldest", "--version");
      expect(refused).toEqual({ code: 1, output: expect.stringContaining("Node 24") });
    });

    test.each([
      ["rockbot", ["@opentelemetry/api", "leven", "rockbot"]],
      ["rockbot/rabbitmq", ["@opentelemetry/api", "amqplib", "leven", "rockbot"]],
      ["rockbot/redis", ["rockbot"]],
      ["rockbot/agent", ["@opentelemetry/api", "jsonrepair", "leven", "rockbot", "stemmer", "tokenx"]],
      ["rockbot/search", ["@opentelemetry/api", "leven", "rockbot", "stemmer"]],
      ["rockbot/policy", ["@opentelemetry/api", "leven", "rockbot"]],
    ])("loads with %s only what that needs", async (name, expected) => {
      const { output } = await project.run("present", ["--input-type=module", "--eval", LIST_LOADED, name]);
      expect(output.split(" ")).toEqual(expected);
    });

    // Each version once: attw has looked at both resolutions. By nodenext, version 7 has made what runs here.
    test.concurrent.each([
      { typescript: "typescript-5", version: "5.9", resolution: "nodenext", options: NODENEXT },
      { typescript: "typescript-6", version: "6", resolution: "bundler", options: BUNDLER },
      { typescript: "typescript", version: "7", resolution: "bundler", options: BUNDLER },
    ])(
      "is fine by TypeScript $version at its strictest, resolution $resolution",
      async ({ typescript, resolution, options }) => {
        const { output } = await project.compile(typescript, files, {
          ...options,
          noEmit: true,
          outDir: `none-${resolution}`,
        });
        expect(output).toBe("");
      },
    );

    test("needs no types of Node to call and serve tools", async () => {
      const { output } = await project.compile("typescript", ["no-node-types.ts"], {
        module: "nodenext",
        types: [],
        noEmit: true,
      });
      expect(output).toBe("");
    });

    test.each(runs.flatMap((file) => (["oldest", "present"] as const).map((node) => [file, node] as const)))(
      "does what it says: %s, on the %s Node",
      async (file, node) => {
        const { code, output } = await project.run(node, ["--enable-source-maps", file]);
        expect([code, output]).toEqual([0, expect.not.stringMatching(/warning/i)]);
      },
    );

    test("runs the agent with all subsystems, once it has the libraries that they need", async () => {
      await project.installPeers();
      const { output: faults } = await project.compile("typescript", ["agent/main.ts"], { ...NODENEXT, outDir: "out" });
      expect(faults).toBe("");
      for (const node of ["oldest", "present"] as const) {
        const answers = [
          { toolCalls: [{ name: "stock_of", arguments: { item: "tea" } }] },
          { text: "There are 4217." },
        ];
        await using model = await startModelServer(answers, { models: ["qwen3"], needsKey: false });
        const { code, output } = await project.run(node, ["--enable-source-maps", "out/agent/main.js"], {
          MODEL_URL: model.url,
        });
        expect([code, output]).toEqual([0, expect.stringContaining("There are 4217.")]);
      }
    }, 240_000);

    test("reads where an error of the library comes from", async () => {
      const { output } = await project.run("oldest", [
        "--enable-source-maps",
        "--input-type=module",
        "--eval",
        `import { toolDefinition } from "rockbot/json-schema"; toolDefinition({ name: "no name", description: "", inputSchema: {} });`,
      ]);
      expect(output).toMatch(/TypeError: Cannot define the tool "no name".*at .*tool-definition\.ts:\d+/s);
    });
  },
);
