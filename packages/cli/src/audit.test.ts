import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AuditRecord, openAuditLog } from "@rockbot/records/audit";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli, runHere, startUp } from "./test-cli.ts";

const LIMIT = { timeout: 120_000 };
const LINES = 4;

/** A log of four calls, and the command that looks into it. */
async function auditedFolder() {
  const folder = temporaryFolder();
  const file = join(folder.path, "audit.jsonl");
  const record = {
    service: "web-tools",
    tool: "web_browse",
    toolCallId: "a",
    arguments: '{"url":"http://a/"}',
    decision: "allowed",
    outcome: "ok",
  } as const;
  {
    await using log = await openAuditLog(file);
    for (const caller of ["a", "b", "c", "cli"])
      await log.write({ ...record, caller, durationMs: 1 } satisfies AuditRecord);
  }
  const text = readFileSync(file, "utf8");
  return {
    file,
    text,
    lines: text.split("\n").slice(0, -1),
    run: (...args: string[]) =>
      args.includes("-")
        ? runCli(["audit", ...args], { folder: folder.path, input: "{}", env: { AUDIT_KEY: "a key of others" } })
        : runHere(["audit", ...args], { folder: folder.path }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test("rockbot up --audit writes a line for each call, and starts whatever the file ends in", LIMIT, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = join(folder.path, "audit.jsonl");
  {
    await using up = await startUp(options, ["--audit", file]);
    for (const url of ["http://127.0.0.1:9/", "no url", "http://127.0.0.1:9/canary"]) {
      await fetch(`${up.url}/v1/tools/web_browse/invoke`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url }),
      });
    }
    await runHere(["call", "web_browse", '{"url":"http://127.0.0.1:9/"}'], options);
  }
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n").slice(0, -1);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { seq: 1, service: "web-tools", caller: "gateway", tool: "web_browse", outcome: expect.any(String) },
    { seq: 2, outcome: "invalid_arguments" },
    { seq: 3 },
    { seq: 4, caller: "cli" },
  ]);
  expect(text).not.toContain("canary");

  appendFileSync(file, "hello\n");
  await using up = await startUp(options, ["--audit", file]);
  expect(up.stderr()).toContain("is set aside");
  const aside = `${file}.000000000004`;
  expect(await runHere(["audit", "verify", file, aside], options)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${file}: lines 5 to 5`),
    stderr: `rockbot: ${aside}:5: it is not a line of an audit log\n`,
  });
});

test("rockbot audit verify names the lines that were changed, and says where the chain ends", LIMIT, async () => {
  using log = await auditedFolder();
  const { file, text, lines, run } = log;
  const whole = await run("verify", file);
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/lines 1 to 4.*\nwhole to line 4, hash [0-9a-f]{64}\n$/),
    stderr: "",
  });
  const head = /hash ([0-9a-f]{64})/.exec(whole.stdout)?.[1] ?? "";
  appendFileSync(file, '{"seq":5,');
  expect(await run("verify", file, "--head", head)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("9 bytes of a line that was cut off"),
  });

  writeFileSync(file, text.replace('"caller":"cli"', '"caller":"me"'));
  expect(await run("verify", file)).toMatchObject({
    code: 1,
    stderr: `rockbot: ${file}:4: its text does not match its hash\n`,
  });
  writeFileSync(file, `${lines.slice(0, LINES - 1).join("\n")}\n`);
  expect(await run("verify", file, "--head", head, "--json")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"hasHead": false'),
  });
});

test("rockbot audit verify of a folder says which, and what to name", LIMIT, async () => {
  using folder = temporaryFolder();
  expect(await runHere(["audit", "verify", folder.path], { folder: folder.path })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Cannot read ${folder.path}: it is a folder`),
  });
});

test("rockbot audit verify fails without the beginning of the chain, unless told so", LIMIT, async () => {
  using log = await auditedFolder();
  const { file, lines, run } = log;
  writeFileSync(file, `${lines.slice(1).join("\n")}\n`);
  const results = await Promise.all([
    run("verify", file),
    run("verify", file, "--partial"),
    run("verify", file, "--head", "x"),
    run("verify", `${file}.none`),
  ]);

  expect(results).toMatchObject([
    {
      code: 1,
      stdout: expect.not.stringContaining("whole"),
      stderr: expect.stringContaining("the lines before 2 are not among these files"),
    },
    { code: 0, stdout: expect.stringContaining("whole to line 4") },
    { code: 2 },
    { code: 1, stderr: expect.stringMatching(/^rockbot: Cannot read .*ENOENT/) },
  ]);
});

test("rockbot audit hash prints what stands in the log for arguments that are known", LIMIT, async () => {
  using log = await auditedFolder();
  const { file, text, run } = log;
  const [same, exact, shared, none] = await Promise.all([
    run("hash", file, '{ "url": "http://a/" }'),
    run("hash", file, '{"url":"http://a/"}', "--exact"),
    run("hash", file, "-"),
    run("hash", `${file}.none`),
  ]);
  expect(text.split(same.stdout.trim())).toHaveLength(LINES + 1);
  expect(exact).toEqual(same);
  expect(shared.stdout).toMatch(/^hmac-sha256:[0-9a-f]{8}:[0-9a-f]{64}\n$/);
  expect(none).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("There is no key") });
});
