import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { services } from "@rockbot/services";
import { docker, run, temporaryFolder } from "@rockbot/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { cloneInto } from "./compose-project.ts";
import { engineOptions, HARDENED, imageSizes, measureImage } from "./measure-image.ts";

const TAG = "test";
const image = (name: string): string => `rockbot/${name}:${TAG}`;
const BUILD_MS = 1_200_000;

describe("an image that a clone of the last commit builds", () => {
  let clone: string;
  beforeAll(async () => {
    const folder = temporaryFolder();
    clone = await cloneInto(folder.path);
    for (const { name, deployment } of [...services, { name: "cli", deployment: undefined }]) {
      const target = deployment?.image === undefined ? [] : ["--target", deployment.image];
      await docker(
        ["build", "--quiet", ...target, "--build-arg", `SERVICE=${name}`, "--tag", image(name), clone],
        BUILD_MS,
      );
    }
    return () => folder[Symbol.dispose]();
  });

  test.for(services)(
    "of $name runs as nobody, with a root that it cannot write to and without capabilities, and SIGTERM ends it",
    async ({ name, egress, deployment }) => {
      const { sizeMB, appMB } = await measureImage(
        image(name),
        egress.includes("containers") ? await engineOptions() : [],
      );
      if (deployment?.image !== undefined) return; // a browser is most of a system
      expect(appMB).toBeLessThanOrEqual(8);
      expect(sizeMB).toBeLessThanOrEqual(130);
    },
  );

  test("of the command runs so, too", async () => {
    const output = await docker(["run", "--rm", ...HARDENED, image("cli"), "call", "list_tool_guides"], 120_000);
    expect(output).toContain("web");
    const { sizeMB, appMB } = await imageSizes(image("cli"));
    expect(appMB).toBeLessThanOrEqual(14); // all services, and what operators look after them with
    expect(sizeMB).toBeLessThanOrEqual(130);
  });

  test("for scripts runs so, too, with its packages", async ({ skip }) => {
    try {
      await docker(
        ["build", "--quiet", "--file", join(clone, "Dockerfile.sandbox"), "--tag", image("sandbox"), clone],
        BUILD_MS,
      );
    } catch (error) {
      return skip(`it cannot be built here: ${(error as Error).message.slice(-200)}`);
    }
    const python = (script: string, ...options: string[]) =>
      docker(
        ["run", "--rm", "--network", "none", ...HARDENED, ...options, image("sandbox"), "python3", "-c", script],
        120_000,
      );
    expect(await python("import numpy, pandas; print(int(numpy.array([6, 7]).prod()))")).toBe("42\n");
    // It wants a folder for its cache, and scripts have one.
    expect(
      await python(
        "from matplotlib import pyplot; pyplot.plot([6, 7]); pyplot.savefig('/tmp/a.png'); print(42)",
        "--tmpfs",
        "/tmp",
      ),
    ).toBe("42\n");
  });

  test("has neither a shell nor a package manager nor a compiler nor sources", async () => {
    const id = (await docker(["create", image("gateway")])).trim();
    try {
      const { stdout } = await promisify(execFile)("sh", ["-c", `docker export ${id} | tar -t`], {
        maxBuffer: 64 * 1024 * 1024,
      });
      const files = stdout.trim().split("\n");
      expect(files).toEqual(
        expect.arrayContaining([
          "usr/local/bin/node",
          "app/main.mjs",
          "app/sbom.cdx.json",
          "app/licences.txt",
          "app/LICENSE",
        ]),
      );
      expect(
        files.filter((file) =>
          /(^|\/)(sh|bash|dash|busybox|apt|apt-get|dpkg|npm|npx|pnpm|yarn|corepack|gcc|cc|ld|strip|python3?)$|[.]ts$|node_modules/.test(
            file,
          ),
        ),
      ).toEqual([]);
      const labels = JSON.parse(
        await docker(["image", "inspect", "--format", "{{json .Config.Labels}}", image("gateway")]),
      ) as object;
      expect(labels).toMatchObject({
        "org.opencontainers.image.title": "rockbot/gateway",
        "org.opencontainers.image.licenses": "Apache-2.0",
      });
    } finally {
      await docker(["rm", id]);
    }
  });

  test("is the same, layer by layer, when nothing of the first build is used in the second", async () => {
    const layers = async (tag: string) =>
      JSON.parse(await docker(["image", "inspect", "--format", "{{json .RootFS.Layers}}", tag])) as string[];
    const again = "rockbot/system-info-mcp:again";
    try {
      await docker(
        ["build", "--quiet", "--no-cache", "--build-arg", "SERVICE=system-info-mcp", "--tag", again, clone],
        BUILD_MS,
      );
      expect(await layers(again)).toEqual(await layers(image("system-info-mcp")));
    } finally {
      await docker(["image", "rm", again]);
    }
  });
});

test("a release refuses base images without a digest, and builds nothing", async () => {
  using folder = temporaryFolder();
  const clone = await cloneInto(folder.path);
  const before = await docker(["images", "--quiet", "refused/gateway"]);
  const release = run("npm", ["--prefix", clone, "run", "release:images", "--", "--registry", "refused", "gateway"], {
    timeoutMs: 240_000,
  });

  await expect(release).rejects.toThrow(/--node-image: .*no digest[\s\S]*--python-image: .*no digest/);
  expect(await docker(["images", "--quiet", "refused/gateway"])).toBe(before);
  await expect(readFile(join(clone, "dist/images/images.json"))).rejects.toThrow("ENOENT");
});
