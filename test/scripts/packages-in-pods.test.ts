import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { pooledRunner, runJob, type ScriptJob, type ScriptRunner } from "@rockbot/sandbox";
import { installerCommand, installerLimits, openPackageStore, type PackageStore } from "@rockbot/scripts-manager";
import { managerRights, type PackageIndex, startNodeProgram, startPackageIndex, wheel } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { hasLandlock } from "./has-landlock.ts";
import { noCluster, noOwnCluster, openScriptsCluster, type ScriptsCluster } from "./scripts-cluster.ts";

const SERVICE = join(import.meta.dirname, "installer-service.ts");
const MIB = 1024 * 1024;
const signal = AbortSignal.timeout(600_000);

interface PackagesCluster extends AsyncDisposable {
  readonly cluster: ScriptsCluster;
  readonly index: PackageIndex;
  readonly folder: string;
  readonly store: PackageStore;
  runner(maxBytes?: number): ScriptRunner;
}

/** A cluster with an index that the manager alone reaches, and what installs from it. */
async function openPackagesCluster(...wheels: Parameters<typeof startPackageIndex>[0]): Promise<PackagesCluster> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openScriptsCluster());
  const index = opening.use(await startPackageIndex(wheels));
  const folder = join(dirname(cluster.kubeconfigFile), "packages");
  const maker = opening.use(
    cluster.maker({ command: installerCommand("python3"), limits: installerLimits, maxRunMs: 120_000 }),
  );
  const store = await openPackageStore({
    maker,
    environment: "pods",
    folder,
    indexUrl: index.url,
    allow: ["*"],
    deny: [],
    timeoutMs: 120_000,
  });
  const opened = opening.move();
  return {
    cluster,
    index,
    folder,
    store,
    runner: (maxBytes = 64 * MIB) => cluster.runner({ packages: { folder, maxBytes }, ceiling: 2 }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const jobWith = (script: string, packages: ScriptJob["packages"]): ScriptJob => ({
  id: randomBytes(16).toString("hex"),
  script,
  timeoutMs: 30_000,
  packages,
});
const run = (runner: ScriptRunner, job: ScriptJob) =>
  runner.run(job, { signal, deadline: performance.now() + 120_000 });

describe.skipIf(noCluster.isSo)(`packages in pods${noCluster.words}`, { timeout: 300_000 }, () => {
  test("are installed in a pod without a network, and reach each script's pod that wants them; a second call installs nothing and asks nobody", async () => {
    await using it = await openPackagesCluster(wheel("shapes", "1.0", { needs: ["colors"] }), wheel("colors", "2.5"));
    await using runner = it.runner();
    const script = `
import socket, shapes, colors
print(shapes.version, colors.version, shapes.__file__.startswith("/packages/"))
try: print("reached", socket.create_connection(("192.0.2.1", 80), 2))
except OSError: print("no network")
`;
    const layer = await it.store.ensure(["shapes"], { signal });
    const first = await run(runner, jobWith(script, layer));
    const asked = it.index.requests.length;
    const second = await run(runner, jobWith(script, await it.store.ensure(["shapes"], { signal })));

    for (const outcome of [first, second])
      expect(outcome).toMatchObject({ stdout: "1.0 2.5 True\nno network\n", stderr: "", exitCode: 0 });
    expect(it.index.requests).toHaveLength(asked);
    expect((await run(runner, jobWith("import shapes", undefined))).stderr).toContain("ModuleNotFoundError");
    const used = it.cluster.api?.usedRights() ?? [];
    expect(managerRights()).toEqual(expect.arrayContaining([...used]));
  });

  test("of many files and much content come whole, and cannot be changed by the script", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, number) => [`many/part${number}.py`, `value = ${number}\n`]),
    );
    await using it = await openPackagesCluster(
      wheel("many", "1.0", { files: { ...files, "many/__init__.py": "", "many/large.bin": randomBytes(20 * MIB) } }),
    );
    await using runner = it.runner();
    const closed = hasLandlock ? 3 : 1; // without it new files are not kept out
    const script = `
import importlib, many, os
folder = os.path.dirname(many.__file__)
print(sum(importlib.import_module(f"many.part{number}").value for number in range(500)), os.path.getsize(f"{folder}/large.bin"))
for path in [f"{folder}/part1.py", f"{folder}/new.py", "/packages/new"][:${closed}]:
    try:
        open(path, "w")
        print("written", path)
    except OSError as error:
        print(type(error).__name__)
open("/tmp/mine", "w").write("x")
os.mkdir("/tmp/folder")
os.rename("/tmp/mine", "/tmp/folder/mine")
print(open("/tmp/folder/mine").read())
`;
    const outcome = await run(runner, jobWith(script, await it.store.ensure(["many"], { signal })));
    expect(outcome).toMatchObject({
      stdout: `124750 ${20 * MIB}\n${"PermissionError\n".repeat(closed)}x\n`,
      stderr: "",
      exitCode: 0,
    });
  });

  test("for which a pod has no room are refused, in words, and the script does not begin", async () => {
    await using it = await openPackagesCluster(
      wheel("large", "1.0", { files: { "large.py": Buffer.alloc(3 * MIB, "#") } }),
    );
    await using runner = it.runner(2 * MIB);
    const job = jobWith("print('begun')", await it.store.ensure(["large"], { signal }));

    await expect(run(runner, job)).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("a sandbox has room for 2 MiB"),
    });
    expect(await it.cluster.startsOf(job.id)).toBe(0);
  });

  test("that were cut off on their way begin nothing: the next manager sends them to another pod, and the script runs once", async () => {
    await using it = await openPackagesCluster(wheel("colors", "2.5"));
    const job = jobWith("import colors; print(colors.version)", await it.store.ensure(["colors"], { signal }));
    const packages = { folder: it.folder, maxBytes: 64 * MIB };
    {
      await using first = it.cluster.maker({ packages });
      const sandbox = await first.make({ jobId: job.id, signal });
      const layer = await sandbox.packLayer?.(job.packages?.key ?? "");
      const header = {
        job: job.id,
        timeoutMs: 30_000,
        packages: job.packages?.key,
        packagesBytes: layer?.bytes,
        scriptBytes: 5,
        inputBytes: null,
        keepBytes: 1_000,
      };
      await new Promise((resolve) => sandbox.input.write(`${JSON.stringify(header)}\nprint{"path"`, resolve));
    }
    await using second = pooledRunner(it.cluster.maker({ packages }), {
      floor: 0,
      ceiling: 1,
      idleMs: 60_000,
      keepBytes: 1_000,
      log: silentLogger,
    });
    const outcome = await second.run(job, { signal, deadline: performance.now() + 120_000, mayHaveBegun: true });

    expect(outcome).toMatchObject({ stdout: "2.5\n", exitCode: 0 });
    expect(await it.cluster.startsOf(job.id)).toBe(1);
  });

  test("are not sent again to a script that runs, whose job another manager takes up", async () => {
    await using it = await openPackagesCluster(wheel("colors", "2.5"));
    const job = jobWith(
      "import colors, time; time.sleep(2); print(colors.version)",
      await it.store.ensure(["colors"], { signal }),
    );
    const packages = { folder: it.folder, maxBytes: 64 * MIB };
    {
      await using first = it.cluster.maker({ packages });
      const sandbox = await first.make({ jobId: job.id, signal });
      void runJob(sandbox, job, { signal, keepBytes: 1_000 }).catch(() => {});
      await expect.poll(() => it.cluster.startsOf(job.id), { timeout: 30_000 }).toBe(1);
    }
    await using second = it.cluster.maker({ packages });
    const found = await second.find?.(job.id, { signal });
    if (found === undefined) throw new Error("The script's pod is not there any more");

    expect((await runJob(found, job, { signal, keepBytes: 1_000 })).stdout).toBe("2.5\n");
    expect(await it.cluster.startsOf(job.id)).toBe(1);
  });

  test("that cannot be had are told in words, and nothing is left of the pod that tried", async () => {
    await using it = await openPackagesCluster();
    await expect(it.store.ensure(["nothing"], { signal })).rejects.toMatchObject({
      code: "invalid_arguments",
      details: { reason: "packages_not_found" },
    });
    await expect.poll(() => it.cluster.pods(), { timeout: 20_000 }).toEqual([]);
  });

  test("a pod that reads nothing holds up whoever sends it something, instead of filling the manager's memory", async () => {
    await using cluster = await openScriptsCluster();
    await using maker = cluster.maker({ command: ["python3", "-c", "import time; time.sleep(60)"] });
    await using sandbox = await maker.make({ signal });
    const most = 128;
    let sent = 0;
    const isTaken = async (): Promise<boolean> =>
      sandbox.input.write(Buffer.alloc(MIB)) ||
      (await once(sandbox.input, "drain", { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => false,
      ));
    while (sent < most && (await isTaken())) sent++;

    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(most);
  });

  test.skipIf(noOwnCluster.isSo)(
    `leave no pod when the manager that installs them is killed${noOwnCluster.words}`,
    async () => {
      await using cluster = await openScriptsCluster();
      const { kubeconfigFile, namespace, podNames } = cluster;
      await using manager = startNodeProgram(SERVICE, {
        args: [JSON.stringify({ kubeconfigFile, namespace, ...podNames })],
      });
      await expect.poll(() => manager.stdout(), { timeout: 60_000 }).toBe("ready\n");
      expect(await cluster.pods()).toHaveLength(1);
      manager.kill("SIGKILL");
      await using _other = cluster.maker();

      await expect.poll(() => cluster.pods(), { timeout: 60_000 }).toEqual([]);
    },
  );
});
