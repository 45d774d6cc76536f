import type { IForbiddenRuleType } from "dependency-cruiser";

/** The layers from the bottom up. A package imports packages of lower rows only, and none of its own row. */
const LAYERS: readonly (readonly string[])[] = [
  ["packages/contracts", "packages/base"],
  ["packages/bus", "packages/edge", "packages/llm", "packages/page"],
  ["packages/policy", "packages/records", "packages/sandbox"],
  ["packages/runs"],
  ["packages/bus-rabbitmq", "packages/tools", "packages/trust"],
  ["packages/mcp", "packages/process", "packages/memory", "packages/console", "packages/conformance"],
  ["packages/search", "packages/a2a"],
  ["packages/agent"],
  ["packages/wisps"],
  ["services/[^/]+"],
  ["packages/rockbot"],
  ["packages/cli"],
];

/** Who may know which third-party world. What is not named here is free to use. */
const WORLDS: readonly { readonly modules: string; readonly owners: readonly string[] }[] = [
  { modules: "amqplib", owners: ["packages/bus-rabbitmq", "packages/testing", "test"] },
  { modules: "ioredis", owners: ["packages/records/src/redis", "packages/testing", "test"] },
  { modules: "@opentelemetry/(?!api/)[^/]+", owners: ["packages/process/src/telemetry", "packages/testing"] },
  { modules: "pino|prom-client", owners: ["packages/process/src/telemetry"] },
  { modules: "@kubernetes/[^/]+", owners: ["packages/sandbox/src/kubernetes"] },
  { modules: "hono", owners: ["services/gateway", "packages/testing"] },
  { modules: "@hono/[^/]+", owners: ["services/gateway", "packages/mcp", "packages/testing"] },
  { modules: "@modelcontextprotocol/[^/]+", owners: ["packages/mcp", "test"] },
  { modules: "@cfworker/json-schema", owners: ["packages/mcp", "packages/console", "test"] },
  { modules: "ws", owners: ["packages/mcp", "packages/testing", "test"] },
  {
    modules: "undici",
    owners: [
      "packages/edge/src/outbound",
      "packages/sandbox/src/container",
      "packages/cli",
      "packages/testing",
      "test/bench",
    ],
  },
  { modules: "pg", owners: ["packages/records/src/postgres"] },
  {
    modules: "@scalar/[^/]+|@jmespath-community/[^/]+|eventsource-parser",
    owners: ["services/rest-tools", "packages/console"],
  },
  {
    modules: "cheerio|domhandler|turndown|jszip|mammoth|unpdf|image-size",
    owners: ["packages/page", "test/bench/pages"],
  },
  { modules: "playwright-core", owners: ["services/page-renderer", "test/console"] },
  {
    modules: "react|react-dom|vite|@vitejs/[^/]+|@tanstack/[^/]+|@base-ui/[^/]+|@rjsf/[^/]+|uplot|dompurify",
    owners: ["packages/console"],
  },
  { modules: "nodemailer", owners: ["services/google-tools"] },
  { modules: "@a2a-js/[^/]+", owners: ["packages/a2a", "test"] },
  { modules: "express", owners: ["packages/a2a"] },
  { modules: "croner", owners: ["services/scheduler"] },
  { modules: "commander", owners: ["packages/cli"] },
  {
    modules: "ajv|ajv-formats",
    owners: ["packages/policy", "packages/rockbot", "packages/testing", "scripts", "test"],
  },
  { modules: "ai|@ai-sdk/[^/]+", owners: ["packages/llm"] },
  { modules: "re2js", owners: ["packages/policy"] },
  { modules: "stemmer", owners: ["packages/search"] },
  {
    modules: "json-schema-to-typescript|@asyncapi/parser|esbuild|oxc-parser|@cyclonedx/[^/]+|packageurl-js",
    owners: ["scripts", "test"],
  },
  {
    modules: "vitest|fast-check",
    owners: ["test", "[^/]+\\.config\\.ts", "packages/testing", "(packages|services)/[^/]+/src/.*conformance"],
  },
];

/** The list of services, and what runs one of it: above them all, below the CLI. */
const LIST = "^services/[^/]+\\.ts$";
/** A store stands beside its interface, in a folder named after where it keeps. */
const ADAPTERS =
  "^(packages/(bus-rabbitmq|process/src/(telemetry|service/run)|records/src/shared)|(packages|services)/.+/(redis|postgres))/";
/** They may import each other, and what they test, whichever folder it is in. */
export const TESTS = "\\.test\\.ts$|/test-[^/]+\\.ts$";

/**
 * The rules that the imports of this repository obey, type-only imports included. Tests may know any third-party world.
 */
export const layerRules: IForbiddenRuleType[] = [
  ...LAYERS.flatMap((row, height) => row.map((folder) => onlyLower(folder, height))),
  ...WORLDS.map(({ modules, owners }) => ({
    name: `only ${owners.join(", ")} may import ${modules}`,
    from: { path: "^(packages|services|scripts|test)/", pathNot: `^(${owners.join("|")})(/|$|\\.)|${TESTS}` },
    to: { path: `(^|/)node_modules/(${modules})/` },
  })),
  {
    name: "each package has its place in LAYERS of scripts/check/layer-rules.ts",
    from: { path: "^packages/", pathNot: `^(${LAYERS.flat().join("|")}|packages/testing)/` },
    to: {},
  },
  {
    name: "adapters and telemetry are named in what runs the list of services, the CLI, or a subpath of the library only",
    from: {
      path: "^(packages|services)/",
      pathNot: `^packages/(cli|conformance|testing)/|^packages/rockbot/src/(rabbitmq|redis|agent/redis)\\.ts$|${LIST}|${TESTS}|${ADAPTERS}`,
    },
    to: { path: ADAPTERS },
  },
  {
    name: "the list of services is for the CLI, scripts and tests",
    from: { path: "^(packages|services/[^/]+)/", pathNot: `^packages/cli/|${TESTS}` },
    to: { path: LIST },
  },
  { name: "the list of services imports no CLI", from: { path: LIST }, to: { path: "^packages/cli/" } },
  {
    name: "packages/testing and test helpers are for tests only",
    from: { path: "^(packages|services|scripts)/", pathNot: `^packages/testing/|${TESTS}` },
    to: { path: `^packages/testing/|^test/|${TESTS}` },
  },
  {
    name: "a package is imported by its name, not by a path into it",
    from: { path: "^(packages|services)/([^/]+)/" },
    to: { path: "^(packages|services)/", pathNot: "^$1/$2/", dependencyTypes: ["local"] },
  },
  {
    name: "wisps stand on the contract of plugins: @rockbot/agent/plugin",
    from: { path: "^packages/wisps/", pathNot: TESTS },
    to: { path: "^packages/agent/", pathNot: "^packages/agent/src/plugin\\.ts$" },
  },
  { name: "no import leads back to its own file", from: {}, to: { circular: true } },
  // The site, and what the bench compares ours with, install what they import when they run.
  {
    name: "every import leads to a file",
    from: { pathNot: "^(test/bench/(pages/)?contenders|scripts/site/\\.vitepress)/.*\\.mjs$" },
    to: { couldNotResolve: true },
  },
];

function onlyLower(folder: string, height: number): IForbiddenRuleType {
  const above = LAYERS.slice(height).flat().join("|");
  return {
    name: `${folder} imports lower layers only`,
    from: { path: `^(${folder})/` },
    to: { path: `^(${above})/`, pathNot: "^$1/" },
  };
}
