import { execFileSync } from "node:child_process";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxMaker } from "@rockbot/sandbox";
import { canMakeCertificates, startPackageIndex, startTlsPeer, temporaryFolder, wheel, zip } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { installerMaker, pythonWithPip } from "./installer/test-installer-maker.ts";
import { openPackageStore, type PackageStore, type PackageStoreOptions } from "./package-store.ts";

const signal = AbortSignal.timeout(600_000);

interface TestStore extends AsyncDisposable {
  readonly store: PackageStore;
  readonly folder: string;
  readonly maker: ReturnType<typeof installerMaker>;
  again(options?: Partial<PackageStoreOptions>): Promise<PackageStore>;
  layers(): readonly string[];
  /** What Python finds in a layer. */
  run(key: string, script: string): string;
}

async function testStore(options: Partial<PackageStoreOptions>): Promise<TestStore> {
  const temporary = temporaryFolder();
  const maker = installerMaker(pythonWithPip as string);
  const folder = join(temporary.path, "packages");
  const again = (others: Partial<PackageStoreOptions> = {}) =>
    openPackageStore({
      maker,
      environment: "test",
      folder,
      allow: ["*"],
      deny: [],
      timeoutMs: 120_000,
      ...options,
      ...others,
    });
  return {
    store: await again(),
    folder,
    maker,
    again,
    layers: () => readdirSync(folder).filter((name) => name !== ".rockbot"),
    run: (key, script) =>
      execFileSync(pythonWithPip as string, [
        "-I",
        "-c",
        `import sys; sys.path.insert(0, ${JSON.stringify(join(folder, key))})\n${script}`,
      ])
        .toString()
        .trim(),
    async [Symbol.asyncDispose]() {
      temporary[Symbol.dispose]();
    },
  };
}

const shapes = [wheel("shapes", "1.0", { needs: ["colors>=2"] }), wheel("colors", "1.0"), wheel("colors", "2.5")];

// The installer is pip: without a Python that has it, nothing is installed.
describe.runIf(pythonWithPip !== undefined)("with pip", { timeout: 300_000 }, () => {
  test("a package is there with what it needs, in versions that are told", async () => {
    await using index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url });

    const layer = await it.store.ensure(["Shapes"], { signal });
    expect(layer.pinned).toEqual(["colors==2.5", "shapes==1.0"]);
    expect(layer.key).toMatch(/^[0-9a-f]{32}$/);
    expect(it.run(layer.key, "import shapes, colors; print(shapes.version, colors.version)")).toBe("1.0 2.5");
    expect(it.layers()).toEqual([layer.key]);
  });

  test("the same request costs no installation and asks the index nothing, also after a restart; requests at once share one", async () => {
    await using index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url });
    const first = await Promise.all([1, 2, 3].map(() => it.store.ensure(["shapes", "colors>2"], { signal })));
    expect(it.maker.made).toBe(1);
    const asked = index.requests.length;

    const later = await (await it.again()).ensure(["colors > 2", "shapes"], { signal });
    expect(later).toEqual(first[0]);
    expect(it.maker.made).toBe(1);
    expect(index.requests).toHaveLength(asked);
  });

  test("another request that comes to the same versions has the same layer; one whose hold is over sees what is new", async () => {
    await using index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url });
    const one = await it.store.ensure(["colors"], { signal });
    expect(await it.store.ensure(["colors==2.5"], { signal })).toEqual(one);
    expect(it.layers()).toEqual([one.key]);

    index.add(wheel("colors", "3.0"));
    expect(await it.store.ensure(["colors"], { signal })).toEqual(one);
    const fresh = await it.again({ holdMs: 0 });
    expect((await fresh.ensure(["colors"], { signal })).pinned).toEqual(["colors==3.0"]);
  });

  test("a folder of wheels does without an index", async () => {
    using wheels = temporaryFolder();
    for (const { fileName, bytes } of shapes) wheels.write(fileName, bytes);
    writeFileSync(join(wheels.path, "secret.txt"), "not a wheel");
    await using it = await testStore({ wheelsFolder: wheels.path });

    const layer = await it.store.ensure(["shapes"], { signal });
    expect(it.run(layer.key, "import shapes; print(shapes.version)")).toBe("1.0");
  });

  test("what others need has to be allowed too, and what is denied later is denied of a layer that is there", async () => {
    await using index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url, allow: ["shapes"] });
    await expect(it.store.ensure(["shapes"], { signal })).rejects.toMatchObject({
      code: "denied",
      details: { packages: ["colors"] },
    });
    expect(it.layers()).toEqual([]);

    const open = await it.again({ allow: ["shapes", "Colors"] });
    await open.ensure(["shapes"], { signal });
    const closed = await it.again({ allow: ["*"], deny: ["colors"] });
    await expect(closed.ensure(["shapes"], { signal })).rejects.toMatchObject({
      code: "denied",
      details: { packages: ["colors"] },
    });
  });

  test("a source distribution is not built: its code does not run", async () => {
    using witness = temporaryFolder();
    const ran = join(witness.path, "ran");
    const setup = `open(${JSON.stringify(ran)}, "w").close()\nfrom setuptools import setup\nsetup(name="crafty", version="1.0")\n`;
    await using index = await startPackageIndex([
      { name: "crafty", fileName: "crafty-1.0.zip", bytes: zip({ "crafty-1.0/setup.py": setup }) },
    ]);
    await using it = await testStore({ indexUrl: index.url });

    await expect(it.store.ensure(["crafty"], { signal })).rejects.toMatchObject({
      code: "invalid_arguments",
      details: { reason: "packages_not_found" },
    });
    expect(readdirSync(witness.path)).toEqual([]);
  });

  test("a wheel whose files lead out of its folder leaves nothing anywhere", async () => {
    const crafty = wheel("escape", "1.0", { files: { "../../../escaped.py": "print('out')", "escape.py": "" } });
    await using index = await startPackageIndex([crafty]);
    await using it = await testStore({ indexUrl: index.url });

    await expect(it.store.ensure(["escape"], { signal })).rejects.toMatchObject({
      code: "execution_failed",
      details: { reason: "install_failed" },
    });
    expect(it.layers()).toEqual([]);
  });

  test("too much is refused: in bytes fetched, in bytes and files installed", async () => {
    const large = wheel("large", "1.0", { files: { "large.py": Buffer.alloc(3 * 1024 * 1024, "#") } });
    const many = wheel("many", "1.0", {
      files: Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`many/${number}.txt`, ""])),
    });
    await using index = await startPackageIndex([large, many]);
    await using it = await testStore({ indexUrl: index.url, maxLayerBytes: 1024 * 1024, maxLayerFiles: 100 });

    const tooLarge = { code: "too_large", details: { reason: "packages_too_large" } };
    await expect(it.store.ensure(["large"], { signal })).rejects.toMatchObject(tooLarge);
    await expect(it.store.ensure(["many"], { signal })).rejects.toMatchObject(tooLarge);
    expect(it.layers()).toEqual([]);
  });

  test("a package or version that is not there, and versions that do not go together, are said in words without addresses", async () => {
    await using index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url });
    for (const wanted of [["nothing"], ["colors==9"], ["shapes", "colors<2"]]) {
      const error = (await it.store.ensure(wanted, { signal }).catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ code: "invalid_arguments", details: { reason: "packages_not_found" } });
      expect(error.message).not.toMatch(/127\.0\.0\.1|http|tmp/);
    }
  });

  test("an index that is gone, or answers with errors, is unavailable", async () => {
    const indexAway = { code: "unavailable", isRetryable: true, details: { reason: "index_away" } };
    const index = await startPackageIndex(shapes);
    await using it = await testStore({ indexUrl: index.url });
    index.fault = "error";
    await expect(it.store.ensure(["shapes"], { signal })).rejects.toMatchObject(indexAway);

    await index[Symbol.asyncDispose]();
    await expect(it.store.ensure(["shapes"], { signal })).rejects.toMatchObject(indexAway);
  });

  test("an index that is silent is given up in time, and who gives up first ends its installation", async () => {
    await using index = await startPackageIndex(shapes);
    index.fault = "silent";
    await using it = await testStore({ indexUrl: index.url, timeoutMs: 1_500 });
    await expect(it.store.ensure(["shapes"], { signal })).rejects.toMatchObject({
      code: "timeout",
      details: { reason: "install_slow" },
    });

    const controller = new AbortController();
    const given = (await it.again({ timeoutMs: 120_000 })).ensure(["shapes"], { signal: controller.signal });
    controller.abort(new Error("given up"));
    await expect(given).rejects.toThrow("given up");
    expect(it.layers()).toEqual([]);
  });

  test("an installation that a call has no time for goes on for the next, and one that waits for its turn does not", async () => {
    await using index = await startPackageIndex([...shapes, wheel("one", "1.0")]);
    await using it = await testStore({ indexUrl: index.url, concurrency: 1 });
    const opened = Promise.withResolvers<void>();
    const maker: SandboxMaker = { ...it.maker, make: (options) => opened.promise.then(() => it.maker.make(options)) };
    const store = await it.again({ maker });
    const until = () => ({ signal, until: performance.now() + 100 });
    const installing = {
      code: "unavailable",
      isRetryable: true,
      retryAfterMs: expect.any(Number),
      details: { reason: "packages_installing" },
    };
    const late = [["shapes"], ["one"]].map((wanted) =>
      expect(store.ensure(wanted, until())).rejects.toMatchObject(installing),
    );
    await Promise.all(late);
    opened.resolve();

    expect((await store.ensure(["shapes"], { signal })).pinned).toEqual(["colors==2.5", "shapes==1.0"]);
    expect(it.maker.made).toBe(1);
  });

  test("an index reaches nobody but itself: files elsewhere are not fetched", async () => {
    await using index = await startPackageIndex(shapes);
    await using elsewhere = await startPackageIndex(shapes);
    index.fault = { filesAt: new URL(elsewhere.url).origin };
    await using it = await testStore({ indexUrl: index.url });
    await expect(it.store.ensure(["colors"], { signal })).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: false,
      details: { reason: "index_host_refused" },
    });
    expect(elsewhere.requests).toEqual([]);

    const permitted = await it.again({ fileHosts: [new URL(elsewhere.url).host] });
    expect((await permitted.ensure(["colors"], { signal })).pinned).toEqual(["colors==2.5"]);
  });

  // Node can use certificates, not make them: without openssl there is none to test with.
  test.runIf(canMakeCertificates())(
    "an index behind TLS is reached, and only one whose certificate can be verified",
    async () => {
      await using index = await startPackageIndex(shapes);
      await using peer = await startTlsPeer(index.url);
      const origin = `https://localhost:${peer.port}`;
      index.fault = { filesAt: origin };
      await using it = await testStore({ indexUrl: `${origin}/simple`, certificates: peer.certificate });
      expect((await it.store.ensure(["shapes"], { signal })).pinned).toEqual(["colors==2.5", "shapes==1.0"]);

      const doubting = await it.again({ certificates: undefined });
      await expect(doubting.ensure(["colors==1.0"], { signal })).rejects.toMatchObject({
        code: "unavailable",
        isRetryable: false,
        details: { reason: "index_untrusted" },
      });
    },
  );

  test("layers that were not wanted for longest go when there is no room, and none that may be in use", async () => {
    const of = (name: string) => wheel(name, "1.0", { files: { [`${name}.txt`]: Buffer.alloc(600_000, "#") } });
    await using index = await startPackageIndex([of("one"), of("two"), of("three")]);
    await using it = await testStore({ indexUrl: index.url, maxTotalBytes: 1_000_000 });
    const one = await it.store.ensure(["one"], { signal });
    const two = await it.store.ensure(["two"], { signal });
    await expect(it.store.ensure(["three"], { signal })).rejects.toMatchObject({ code: "overloaded" });

    const hoursAgo = new Date(Date.now() - 3 * 3600_000);
    utimesSync(join(it.folder, ".rockbot/notes", one.key), hoursAgo, hoursAgo);
    const three = await it.store.ensure(["three"], { signal });
    expect([...it.layers()].sort()).toEqual([two.key, three.key].sort());
    expect((await it.store.ensure(["two"], { signal })).key).toBe(two.key);
  });
});

test("without an index or a folder no package is had, and what is not allowed is denied at once", async () => {
  using folder = temporaryFolder();
  const maker = installerMaker("/nonexistent");
  const store = await openPackageStore({ maker, environment: "test", folder: folder.path, allow: ["*"], deny: [] });
  await expect(store.ensure(["numpy"], { signal })).rejects.toMatchObject({
    code: "denied",
    details: { reason: "packages_off" },
  });

  const strict = await openPackageStore({
    maker,
    environment: "test",
    folder: folder.path,
    indexUrl: "https://index.test/simple",
    allow: ["Foo_Bar", "*"],
    deny: ["Evil.Name"],
  });
  await expect(strict.ensure(["foo-bar", "evil_name"], { signal })).rejects.toMatchObject({
    code: "denied",
    details: { packages: ["evil-name"] },
  });
  expect(maker.made).toBe(0);
});
