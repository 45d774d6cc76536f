import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);
const withTools = join(root, "scripts/with-tools");

// Stand-ins for the two commands, in a checkout of its own: what they would fetch is not what these tests are about.
const platform = `${process.platform}-${process.arch}`;
const NPM = `echo "$@" >> "$CHECKOUT/npm.log"; sleep 0.2
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/node-${platform}/bin" && touch "$2/node_modules/node-${platform}/bin/node"`;
const ANSWER_VERSION = 'if [ "$1" = --version ]; then echo 12.0.0; exit; fi';
const PNPM = `${ANSWER_VERSION}; echo "$1 $2" >> "$CHECKOUT/pnpm.log"; sleep 0.2; mkdir -p node_modules services/node_modules`;

test("with-tools hands on arguments, folder, standard output and exit code as they are", async () => {
  const script = "console.log(JSON.stringify([process.cwd(), ...process.argv.slice(1)])); process.exit(7)";
  const folder = await realpath(tmpdir());
  const result = await run(withTools, ["node", "-e", script, "a b", "*", "", "$HOME"], { cwd: folder });

  expect(JSON.parse(result.stdout)).toEqual([folder, "a b", "*", "", "$HOME"]);
  expect(result.code).toBe(7);
});

test("with-tools becomes the command, so that a signal to it is the command's", async () => {
  const child = spawn(withTools, [
    "node",
    "-e",
    "process.on('SIGTERM', () => process.exit(9)); console.log(process.pid); setTimeout(() => {}, 20_000)",
  ]);
  const [pid] = (await once(child.stdout, "data")) as [Buffer];
  expect(Number(pid)).toBe(child.pid);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([9, null]);
});

test("rockbot runs from any folder and through links", async () => {
  await using folder = await makeFolder();
  await symlink(join(root, "rockbot"), join(folder.path, "first"));
  await symlink("first", join(folder.path, "second"));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };

  await expect(run("./second", ["--version"], { cwd: folder.path })).resolves.toMatchObject({
    code: 0,
    stdout: `${version}\n`,
  });
});

test("npm start hands SIGTERM on to the system, which stops in order", async () => {
  await using folder = await makeFolder();
  const env = { ...process.env, ROCKBOT_RUNTIME_DIR: join(folder.path, "run") };
  const npm = spawn("npm", ["start", "--silent", "--", "--port", "0"], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(npm, "close"); // which waits for all that hold its stderr, the system included
  await untilPrinted(npm.stderr, "ready in");
  npm.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("with-tools brings in what is missing once, however many start, and then says no more", async () => {
  await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM });
  const first = await Promise.all([checkout.run("true"), checkout.run("true"), checkout.run("true")]);
  const second = await checkout.run("true");

  expect(first.map(({ code, stdout }) => ({ code, stdout }))).toEqual(Array(3).fill({ code: 0, stdout: "" }));
  expect(await checkout.read("npm.log")).toMatch(/^install .*--ignore-scripts.* node-\S+@99\.0\.0\n$/);
  expect(await checkout.read("pnpm.log")).toBe("install --frozen-lockfile\n");
  expect(first.flatMap(({ stderr }) => stderr.match(/bringing .*/g) ?? [])).toEqual([
    `bringing Node 99.0.0 from npm into ${join(checkout.path, ".tools")}, for this project only`,
  ]);
  expect(second).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("with-tools puts the Node it brought in and node_modules first on PATH", async () => {
  await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM });
  const { stdout } = await checkout.run("printenv", "PATH");
  expect(stdout.split(":").slice(0, 2)).toEqual([
    join(checkout.path, "node_modules/.bin"),
    join(checkout.path, `.tools/node-99.0.0-${platform}/node_modules/node-${platform}/bin`),
  ]);
});

test("with-tools installs again when the lockfile has changed", async () => {
  await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM });
  await checkout.run("true");
  await writeFile(join(checkout.path, "pnpm-lock.yaml"), "changed");
  await checkout.run("true");
  expect(await checkout.read("pnpm.log")).toBe("install --frozen-lockfile\n".repeat(2));
});

test.each([
  ["a package.json asks for more", "ERR_PNPM_OUTDATED_LOCKFILE"],
  ["a package is new", "ERR_PNPM_PACKAGE_MANAGER_NO_IMPORTER"],
  ["the catalogue has changed", "ERR_PNPM_LOCKFILE_CONFIG_MISMATCH"],
])("with-tools brings the lockfile up to date where %s, and says so", async (_title, code) => {
  const pnpm = `${PNPM}; if [ "$2" = --frozen-lockfile ]; then echo "${code}"; printf '  ╰─▶ It is old.\\n\\n'; exit 1; fi; echo new > "$CHECKOUT/pnpm-lock.yaml"`;
  await using checkout = await makeCheckout({ npm: NPM, pnpm });
  const first = await checkout.run("true");
  const second = await checkout.run("true");

  expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining("Commit it, too") });
  expect(second).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await checkout.read("pnpm.log")).toBe("install --frozen-lockfile\ninstall --no-frozen-lockfile\n");
});

test.each([false, true])(
  "with-tools generates before the first command, and anew once after a change of a schema or of what is made of it (in CI: %s)",
  async (isCi) => {
    await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM, isCi });
    const made = "packages/a/src/generated/made.ts";
    await checkout.write(
      "scripts/generate-code.ts",
      `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
appendFileSync("log", "once ");
mkdirSync("packages/a/src/generated", { recursive: true });
writeFileSync("${made}", "made");`,
    );
    await Promise.all([checkout.run("true"), checkout.run("true")]);
    const later = await checkout.run("true");
    expect([later, await checkout.read("log")]).toEqual([{ code: 0, stdout: "", stderr: "" }, "once "]);

    await checkout.write("services/settings.yaml", "changed");
    await Promise.all([checkout.run("true"), checkout.run("true")]);
    expect(await checkout.read("log")).toBe("once once ");

    await rm(join(checkout.path, made));
    await checkout.run("true");
    expect([await checkout.read("log"), await checkout.read(made)]).toEqual(["once once once ", "made"]);
  },
);

test.each([
  ["ends without a word", "process.exit(1);", ["node ends with 1."]],
  [
    "names faults",
    'console.error("Cannot generate: a.yaml: x-a is no keyword. Did you mean x-b?\\nCannot generate: b.yaml: broken"); process.exit(1);',
    ["a.yaml: x-a is no keyword. Did you mean x-b?", "b.yaml: broken."],
  ],
  ["throws", '\nthrow new Error("no tool");', ["scripts/generate-code.ts:2: no tool."]],
])(
  "with-tools runs no command where generating %s, and names each fault until it is mended",
  async (_title, program, faults) => {
    await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM });
    await checkout.run("true");
    await checkout.write("scripts/generate-code.ts", program);

    for (const _attempt of [1, 2]) {
      const { code, stdout, stderr } = await checkout.run("echo", "never");
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr.split("\n").filter((line) => line.startsWith("rockbot: Cannot"))).toEqual(
        faults.map((words) => expect.stringContaining(`rockbot: Cannot generate: ${words}`)),
      );
    }
  },
);

test("with-tools takes over the lock of a start that was killed", async () => {
  await using checkout = await makeCheckout({ npm: NPM, pnpm: PNPM });
  const dead = spawn("true");
  await once(dead, "exit");
  await mkdir(join(checkout.path, ".tools"));
  await writeFile(join(checkout.path, ".tools/lock"), `${hostname()} ${dead.pid} 0123456789abcdef`);
  expect((await checkout.run("true")).code).toBe(0);
});

test.each([
  [
    "npm is offline",
    {
      npm: 'echo "npm error code ENOTFOUND\nnpm error network request to https://me:secret@r.test/node failed" >&2; exit 1',
      pnpm: PNPM,
    },
    "request to https://r.test/node failed",
  ],
  [
    "npm has another Node than the one whose hash is known",
    {
      npm: `${NPM}
echo '{"node-${platform}@99.0.0":"sha512-ours"}' > "$CHECKOUT/scripts/bootstrap/hashes.json"
echo '{"packages":{"node_modules/node-${platform}":{"integrity":"sha512-other"}}}' > "$2/node_modules/.package-lock.json"`,
      pnpm: PNPM,
    },
    "with the hash sha512-other, and scripts/bootstrap/hashes.json expects sha512-ours. Do not use it.",
  ],
  [
    "pnpm refuses the lockfile",
    {
      npm: NPM,
      pnpm: `${ANSWER_VERSION}; printf 'Error: ERR_PNPM_X\\n\\n  × installing\\n  ╰─▶ It is not\\n      up to date.\\n\\n  help'; exit 1`,
    },
    "ERR_PNPM_X: It is not up to date. Where the network is at fault",
  ],
  [
    "the lockfile is older than a package.json, in CI",
    {
      npm: NPM,
      pnpm: `${ANSWER_VERSION}; printf 'Error: ERR_PNPM_OUTDATED_LOCKFILE\\n\\n  × installing\\n  ╰─▶ It is old.\\n\\n  help'; exit 1`,
    },
    "ERR_PNPM_OUTDATED_LOCKFILE: It is old. A package.json asks for other dependencies than pnpm-lock.yaml holds",
  ],
])("with-tools says in one line what is wrong when %s", async (_title, tools, words) => {
  await using checkout = await makeCheckout({ ...tools, isCi: true });
  const { code, stdout, stderr } = await checkout.run("echo", "never");

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr.split("\n").filter((line) => line.startsWith("rockbot: Cannot"))).toEqual([
    expect.stringContaining(words),
  ]);
  expect(stderr).not.toContain("secret");
});

test("the hashes of Node and pnpm are known for what images and pipelines run on", async () => {
  const [node, { engines }, hashes] = await Promise.all([
    readFile(join(root, ".node-version"), "utf8"),
    readFile(join(root, "package.json"), "utf8").then(
      (text) => JSON.parse(text) as { readonly engines: { readonly pnpm: string } },
    ),
    readFile(join(root, "scripts/bootstrap/hashes.json"), "utf8").then((text) => JSON.parse(text) as object),
  ]);
  const specs = ["linux-x64", "linux-arm64"].flatMap((on) => [
    `node-${on}@${node.trim()}`,
    `@pnpm/exe.${on}@${engines.pnpm}`,
  ]);
  expect(Object.keys(hashes).sort()).toEqual(specs.sort());
});

/** Reads on to the end, so that the writer never waits for its reader. */
function untilPrinted(stream: Readable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      if (printed.includes(text)) resolve();
    });
    stream.on("end", () => reject(new Error(`It ended without "${text}": ${printed}`)));
  });
}

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { ...options, timeout: 50_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

async function makeFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "with-tools-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * A checkout with nothing set up that asks for Node 99, and for pnpm 12, on a machine whose npm and pnpm are these
 * shell scripts.
 */
async function makeCheckout({
  npm,
  pnpm,
  isCi = false,
}: {
  readonly npm: string;
  readonly pnpm: string;
  readonly isCi?: boolean;
}) {
  const folder = await makeFolder();
  const inside = (file: string): string => join(folder.path, file);
  for (const part of ["with-tools", "bootstrap.mjs", "bootstrap"])
    await cp(join(root, "scripts", part), inside(`scripts/${part}`), { recursive: true });
  for (const name of ["packages", "services", "bin"]) await mkdir(inside(name));
  await writeFile(inside(".node-version"), "99.0.0\n");
  await writeFile(inside("package.json"), '{ "engines": { "pnpm": "12.0.0" } }');
  await writeFile(inside("scripts/generate-code.ts"), "");
  for (const [name, script] of Object.entries({ npm, pnpm })) {
    await writeFile(inside(`bin/${name}`), `#!/bin/sh\n${script}\n`);
    await chmod(inside(`bin/${name}`), 0o755);
  }
  const env = {
    ...process.env,
    CI: isCi ? "true" : "",
    CHECKOUT: folder.path,
    PATH: `${inside("bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
  };
  return {
    ...folder,
    run: (...command: string[]) => run(inside("scripts/with-tools"), command, { cwd: folder.path, env }),
    read: (file: string) => readFile(inside(file), "utf8"),
    write: (file: string, text: string) => writeFile(inside(file), text),
  };
}
