import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli, startUp } from "./test-cli.ts";

test("rockbot up --audit writes a line for each call, and rockbot audit verify names the first that was changed", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = join(folder.path, "audit.jsonl");
  {
    await using up = await startUp(options, ["--audit", file]);
    for (const url of ["http://127.0.0.1:9/", "no url", "http://127.0.0.1:9/canary"]) {
      await fetch(`${up.url}/v1/tools/web_browse/invoke`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ url }) });
    }
    await runCli(["call", "web_browse", '{"url":"http://127.0.0.1:9/"}'], options);
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

  const whole = await runCli(["audit", "verify", file], options);
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringMatching(/lines 1 to 4.*\nwhole to line 4, hash [0-9a-f]{64}\n$/), stderr: "" });
  const head = /hash ([0-9a-f]{64})/.exec(whole.stdout)?.[1] ?? "";
  appendFileSync(file, '{"seq":5,');
  expect(await runCli(["audit", "verify", file, "--head", head], options)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("9 bytes of a line that was cut off"),
  });

  {
    writeFileSync(file, `${text}hello\n`);
    await using up = await startUp(options, ["--audit", file]); // a line that is none stops no start
    expect(up.stderr()).toContain("put aside");
  }
  const aside = `${file}.000000000004`;
  expect(await runCli(["audit", "verify", file, aside], options)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${file}: lines 5 to 5`),
    stderr: `rockbot: ${aside}:5: it is no line of an audit log\n`,
  });

  writeFileSync(file, text.replace('"caller":"cli"', '"caller":"me"'));
  expect(await runCli(["audit", "verify", file], options)).toMatchObject({
    code: 1,
    stderr: `rockbot: ${file}:4: its text is not what its hash was made of\n`,
  });
  writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n`);
  expect(await runCli(["audit", "verify", file, "--head", head, "--json"], options)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"hasHead": false'),
  });
  expect((await runCli(["audit", "verify", file, "--head", "x"], options)).code).toBe(2);
  expect(await runCli(["audit", "verify", join(folder.path, "none")], options)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^rockbot: Cannot read .*ENOENT/),
  });
});
