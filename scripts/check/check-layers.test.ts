import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checkLayers } from "./check-layers.ts";

// In dist, as most libraries are.
const AMQPLIB = '{"type":"module","exports":"./dist/index.js"}';

const fine = {
  "packages/contracts/src/index.ts": "export type Envelope = string;",
  "packages/bus/src/index.ts": 'import type { Envelope } from "@rockbot/contracts";\nexport type Bus = Envelope;',
  "packages/bus-rabbitmq/src/index.ts": 'import { connect } from "amqplib";\nexport const bus = connect;',
  "packages/process/src/telemetry/index.ts": "export const log = 1;",
  "packages/process/src/service/run/run-service.ts":
    'import { log } from "../../telemetry/index.ts";\nexport const run = log;',
  "packages/agent/src/index.ts": "export const agent = 1;",
  "packages/testing/src/index.ts": "export const server = 1;",
  "packages/cli/src/main.ts":
    'import { bus } from "@rockbot/bus-rabbitmq";\nimport { web } from "@rockbot/web-tools";\nexport const all = [bus, web];',
  "services/web-tools/src/index.ts": 'import type { Bus } from "@rockbot/bus";\nexport const web: Bus = "";',
  "services/main.ts":
    'import { log } from "@rockbot/process/telemetry";\nexport const main = import("./web-tools/src/index.ts").then(() => log);',
  "services/web-tools/src/index.test.ts": 'import { server } from "@rockbot/testing";\nexport const tested = server;',
};

test("checkLayers counts the modules and imports of a tree that keeps the rules", async () => {
  await using tree = await makeTree(fine);
  await expect(checkLayers(tree.root)).resolves.toBe("11 modules, 9 imports");
});

test("checkLayers fails when it has looked at nothing", async () => {
  await using tree = await makeTree({ "packages/readme.txt": "" });
  await expect(checkLayers(tree.root)).rejects.toThrow("0 modules");
});

test.each([
  ["upwards", "packages/contracts/src/a.ts", 'import "@rockbot/bus";', "packages/contracts imports lower layers only"],
  [
    "upwards, type only",
    "packages/contracts/src/a.ts",
    'import type { Bus } from "@rockbot/bus";\nexport type A = Bus;',
    "imports lower layers only",
  ],
  [
    "sideways",
    "packages/tools/src/a.ts",
    'import "@rockbot/bus-rabbitmq";',
    "packages/tools imports lower layers only",
  ],
  [
    "of a service by a service",
    "services/gateway/src/a.ts",
    'import "@rockbot/web-tools";',
    "services/[^/]+ imports lower layers only",
  ],
  [
    "of the list of services by one of them",
    "services/gateway/src/a.ts",
    'import "../../main.ts";',
    "the list of services is for",
  ],
  [
    "of the CLI by the list of services",
    "services/index.ts",
    'import "../packages/cli/src/main.ts";',
    "imports no CLI",
  ],
  [
    "of the CLI by a service",
    "services/gateway/src/a.ts",
    'import "../../../packages/cli/src/main.ts";',
    "imports lower layers only",
  ],
  ["of amqplib outside its package", "packages/bus/src/a.ts", 'import "amqplib";', "may import amqplib"],
  [
    "of amqplib's types outside its package",
    "packages/bus/src/a.ts",
    'import type { X } from "amqplib";\nexport type A = X;',
    "may import amqplib",
  ],
  [
    "of an adapter outside the list of services",
    "services/gateway/src/gateway.ts",
    'import "@rockbot/bus-rabbitmq";',
    "adapters and telemetry",
  ],
  [
    "of telemetry by a lazy import",
    "services/gateway/src/gateway.ts",
    'export const a = import("@rockbot/process/telemetry");',
    "adapters and telemetry",
  ],
  [
    "of what runs a service outside the list of services",
    "services/gateway/src/gateway.ts",
    'import "../../../packages/process/src/service/run/run-service.ts";',
    "adapters and telemetry",
  ],
  [
    "of packages/testing by code that ships",
    "services/gateway/src/gateway.ts",
    'import "@rockbot/testing";',
    "for tests only",
  ],
  [
    "by a path into a package",
    "services/gateway/src/gateway.ts",
    'import "../../../packages/contracts/src/index.ts";',
    "by its name",
  ],
  ["by a package without a layer", "packages/new/src/a.ts", 'import "@rockbot/bus";', "has its place in LAYERS"],
  [
    "of the agent beside its contract of plugins by wisps",
    "packages/wisps/src/a.ts",
    'import "@rockbot/agent";',
    "the contract of plugins",
  ],
  ["in a circle", "packages/bus/src/a.ts", 'import "./a.ts";', "leads back"],
  ["of nothing", "packages/bus/src/a.ts", 'import "./missing.ts";', "leads to a file"],
])("checkLayers refuses an import %s", async (_title, file, text, rule) => {
  await using tree = await makeTree({ ...fine, [file]: text });
  await expect(checkLayers(tree.root)).rejects.toThrow(rule);
});

const ring = {
  "packages/bus/src/a/one.ts": 'import "../b/deep/two.ts";',
  "packages/bus/src/b/deep/two.ts": "export const two = 2;",
  "packages/bus/src/b/three.ts": 'import "../a/four.ts";',
  "packages/bus/src/a/four.ts": "export const four = 4;",
};

test("checkLayers refuses a ring of the top folders of a package, and shows the imports that make it", async () => {
  await using tree = await makeTree({ ...fine, ...ring });
  await expect(checkLayers(tree.root)).rejects.toThrow(
    /packages\/bus\/src.*: packages\/bus\/src\/a\/one\.ts -> packages\/bus\/src\/b\/deep\/two\.ts\n.*: packages\/bus\/src\/b\/three\.ts -> packages\/bus\/src\/a\/four\.ts/,
  );
});

test("checkLayers refuses a ring of a top folder and a file beside it, but for the index and among generated files", async () => {
  const files = {
    "packages/bus/src/a/one.ts": 'import "../two.ts";',
    "packages/bus/src/a/three.ts": "export const three = 3;",
    "packages/bus/src/generated/tools.ts": 'import "../tool.ts";',
    "packages/bus/src/generated/types.ts": "export type Type = string;",
    "packages/bus/src/tool.ts": 'export type { Type } from "./generated/types.ts";',
    "packages/bus/src/index.ts": 'export * from "./a/three.ts";',
    "packages/bus/src/a/four.ts": 'import "../index.ts";',
  };
  await using tree = await makeTree({ ...fine, ...files, "packages/bus/src/two.ts": "export const two = 2;" });
  await expect(checkLayers(tree.root)).resolves.toMatch("imports");

  await using ringed = await makeTree({ ...fine, ...files, "packages/bus/src/two.ts": 'import "./a/three.ts";' });
  await expect(checkLayers(ringed.root)).rejects.toThrow("packages/bus/src/two.ts -> packages/bus/src/a/three.ts");
});

/** A folder with these files and a node_modules that has amqplib and links to each package and service. */
async function makeTree(files: Readonly<Record<string, string>>): Promise<{ readonly root: string } & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), "layers-"));
  const all = {
    ...files,
    "node_modules/amqplib/dist/index.js": "export const connect = 1;",
    "node_modules/amqplib/package.json": AMQPLIB,
  };
  for (const [file, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  await mkdir(join(root, "node_modules/@rockbot"));
  for (const folder of new Set(Object.keys(files).map((file) => file.split("/").slice(0, 2).join("/")))) {
    const name = folder.split("/").at(-1) ?? "";
    await symlink(join(root, folder), join(root, "node_modules/@rockbot", name));
    await writeFile(
      join(root, folder, "package.json"),
      JSON.stringify({
        name,
        type: "module",
        exports: { ".": "./src/index.ts", "./telemetry": "./src/telemetry/index.ts" },
      }),
    ).catch(() => {});
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}
