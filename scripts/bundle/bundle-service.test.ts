import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { services } from "@rockbot/services";
import { faultServer, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { bundledPackages } from "../images/bundled-packages.ts";
import { eagerFiles } from "../measure/eager-files.ts";
import { measureService } from "../measure/measure-service.ts";
import { type Bundle, bundleService, CLI } from "./bundle-service.ts";

vi.setConfig({ testTimeout: 240_000 }); // esbuild takes both cores for ten seconds, if it has them

const root = dirname(dirname(import.meta.dirname));

const hasPython = spawnSync("python3", ["--version"]).status === 0;

const bundles = new Map<string, Promise<Bundle>>();

/** The bundle, which is made once. */
function bundled(service: string): Promise<Bundle> {
  const made = bundles.get(service) ?? bundleService(root, service);
  bundles.set(service, made);
  return made;
}

test.for(services.map(({ name }) => name))(
  "the bundle of %s starts, gets ready and stops in a folder that holds nothing else",
  async (service, { skip }) => {
    skip(
      service === "scripts-manager" && !hasPython,
      "scripts-manager is not ready before Python is, and there is none",
    );
    const folder = await mkdtemp(join(tmpdir(), "bundle-"));
    try {
      const bundle = await bundled(service);
      await cp(join(root, bundle.folder), folder, { recursive: true });
      const { idleMiB } = await measureService(join(folder, "main.mjs"));
      expect(idleMiB).toBeGreaterThan(0);
      expect(await bundledPackages(root, bundle.metafile)).not.toEqual([]); // as its bill of materials names them
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("the bundle of web-tools holds the program that converts pages, which runs from a folder that holds nothing else", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bundle-"));
  const bundle = await bundled("web-tools");
  await cp(join(root, bundle.folder), folder, { recursive: true });
  expect(existsSync(join(folder, "node_modules/pdfjs-dist/cmaps/UniJIS-UCS2-H.bcmap"))).toBe(true);
  const program = fork(join(folder, "page-process-main.mjs"), [], { env: {}, execArgv: [], serialization: "advanced" });
  const ended = once(program, "exit");
  try {
    expect(await once(program, "message")).toEqual(["ready", undefined]);
    program.send({
      html: "<title>T</title><p>some <b>text</b>",
      url: "https://example.test/",
      form: "markdown",
      maxLength: 1000,
    });
    expect(await once(program, "message")).toEqual([{ result: { title: "T", markdown: "some **text**" } }, undefined]);
    program.disconnect();
    expect(await ended).toEqual([0, null]);
  } finally {
    program.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});

test("the bundle of mcp-bridge connects an MCP server", async () => {
  using folder = temporaryFolder();
  const { file } = await bundled("mcp-bridge");
  const config = folder.write("mcp.json", JSON.stringify({ mcpServers: { effects: faultServer() } }));
  const env = { BUS_URL: "memory:", HEALTH_PORT: "0", MCP_CONFIG: config, DATA_DIRECTORY: folder.path };
  await using bridge = startNodeProgram(join(root, file), { env, cwd: folder.path });
  await expect.poll(bridge.stdout, { timeout: 60_000 }).toContain("connected to an MCP server");
});

test("the bundle of the command runs a command from a folder that holds nothing else", async () => {
  using folder = temporaryFolder();
  const bundle = await bundled(CLI);
  await cp(join(root, bundle.folder), join(folder.path, "app"), { recursive: true });
  const [policy, file, out] = [
    join(root, "docker/policy/policy.yaml"),
    join(folder.path, "secrets.env"),
    join(folder.path, "out"),
  ];
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(folder.path, "app/main.mjs"), "compose", "init", "--policy", policy, "--file", file, "--out", out],
    {
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining("users have their secrets") });
});

test("a gateway that serves no agents starts without the SDK for them, its web server and its client", async () => {
  const { metafile } = await bundled("gateway");
  const theirs = (files: Iterable<string>) =>
    new Set([...files].flatMap((file) => /.*node_modules\/(@a2a-js|express|undici|ioredis)\//.exec(file)?.[1] ?? []));

  expect(theirs(Object.keys(metafile.inputs))).toEqual(new Set(["@a2a-js", "express", "undici", "ioredis"]));
  expect(theirs(eagerFiles(metafile))).toEqual(new Set());
});

test("the bundle of scripts-manager loads the clients of container engines and clusters only when its runner is of that kind", async () => {
  const { metafile } = await bundled("scripts-manager");
  const clientsOf = (files: Iterable<string>) =>
    [...files].flatMap((file) => /.*node_modules\/(undici|@kubernetes\/client-node)\//.exec(file)?.[1] ?? []);

  expect(new Set(clientsOf(Object.keys(metafile.inputs)))).toEqual(new Set(["undici", "@kubernetes/client-node"]));
  expect(clientsOf(eagerFiles(metafile))).toEqual([]);
});
