import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { cliCommand, runHere, startCli, startUp } from "./test-cli.ts";

/** `script` of util-linux, which runs a command in a terminal. */
const hasTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;
const FEW = ["--only", "web-tools,gateway"];
const POLICY = `
everyone: { allow: ["*"] }
operators: [{ name: local, tokens: [], may: [read, decide] }]
approve: [{ tools: [html_to_text], by: [local] }]
`;
/** Its tool `order` asks a person how many. */
const SHOP = join(import.meta.dirname, "../../mcp/src/client/test-modern-stdio.ts");
const CALL = ["call", "html_to_text", JSON.stringify({ html: "<p>a\u202eb</p>" })];

/** A command in a terminal of its own, that types each answer once its question has come. */
async function inTerminal(
  args: readonly string[],
  options: Parameters<typeof cliCommand>[1],
  answers: readonly (readonly [RegExp, string])[] = [],
) {
  const { command, args: words, env } = cliCommand(args, options);
  const line = [command, ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `stty cols 300; exec ${line}`, "/dev/null"], {
    env: { ...env, TERM: "dumb" },
  });
  const ended = once(child, "close");
  const left = [...answers];
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    const [next] = left;
    if (next === undefined || !next[0].test(text)) return;
    left.shift();
    child.stdin.write(`${next[1]}\n`);
  });
  return {
    text: () => text.replaceAll("\r", ""),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

interface Listed {
  readonly calls: readonly { readonly id: string }[];
}

test.skipIf(!hasTerminal)(
  "who has read the code at the terminal of up decides about a call; it is shown once, and no log has it",
  { timeout: 120_000 },
  async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path, env: { POLICY_FILE: folder.write("policy.yaml", POLICY) } };
    await using up = await inTerminal(["up", "--port", "0", ...FEW], options);
    await expect.poll(up.text, { timeout: 60_000 }).toMatch(/^ready in/m);
    const code = /^ {2}code {6}(\w{4}-\w{4}-\w{2}) decides/m.exec(up.text())?.[1] ?? "";
    expect(code).not.toBe("");
    const run = (...args: string[]) => runHere(args, { folder: folder.path });

    await using call = startCli(CALL, { folder: folder.path });
    const list = async () => JSON.parse((await run("approvals", "ls", "--json")).stdout) as Listed;
    await expect.poll(async () => (await list()).calls.length, { timeout: 30_000 }).toBe(1);
    const id = (await list()).calls[0]?.id ?? "";
    const listed = await run("approvals", "ls");
    expect(listed.stdout).toMatch(new RegExp(`Z {2}.*Z {2}approval +html_to_text +cli {2,}${id}\n$`));
    const shown = await run("approvals", "show", id.slice(0, 8));
    expect(shown.stdout).toMatch(/^html_to_text for cli, at web-tools: .*\n[\s\S]*\n.*<p>a\\u202eb<\/p>.*\n$/);

    // Programs of this user reach the socket, and have no terminal at which somebody types the code.
    expect(await run("approvals", "approve", id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("runs without a terminal"),
    });
    const ask = async (typed: string) => {
      await using asked = await inTerminal(["approvals", "approve", id], { folder: folder.path }, [
        [/console: $/, typed],
      ]);
      await asked.ended;
      return asked.text();
    };
    expect(await ask("WRON-GC0D-E0")).toMatch(/this is not the code/);
    expect(call.stdout()).toBe("");
    expect(await ask(code.toLowerCase())).toMatch(/approved: the call runs/);
    expect(await call.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("b") });
    expect(up.text().split(code)).toHaveLength(2);
    expect(await run("approvals", "show", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("waits") });
  },
);

test.skipIf(!hasTerminal)(
  "a question of an MCP server is shown as a stranger's, and answered with the code",
  {
    timeout: 120_000,
  },
  async () => {
    using folder = temporaryFolder();
    const servers = { mcpServers: { shop: { command: process.execPath, args: [SHOP] } } };
    const options = {
      folder: folder.path,
      env: { POLICY_FILE: folder.write("policy.yaml", POLICY), MCP_CONFIG: folder.write("mcp.json", servers) },
    };
    await using up = await inTerminal(["up", "--port", "0", "--only", "mcp-bridge,gateway"], options);
    await expect.poll(up.text, { timeout: 60_000 }).toMatch(/^ready in/m);
    const code = /^ {2}code {6}(\S+) decides/m.exec(up.text())?.[1] ?? "";
    const run = (...args: string[]) => runHere(args, { folder: folder.path });
    await using call = startCli(["call", "shop__order", "{}"], { folder: folder.path });
    const list = async () => JSON.parse((await run("approvals", "ls", "--json")).stdout) as Listed;
    await expect.poll(async () => (await list()).calls.length, { timeout: 30_000 }).toBe(1);
    const id = (await list()).calls[0]?.id ?? "";
    expect((await run("approvals", "show", id)).stdout).toMatch(/a stranger asks, .* mcp:shop:\n {2}\| How many\?\n/);
    expect(await run("approvals", "approve", id)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Answer it:/),
    });
    expect(await run("approvals", "answer", id, "{")).toMatchObject({ code: 2 });
    expect(await run("approvals", "answer", id, "{}")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("runs without a terminal"),
    });
    await using asked = await inTerminal(["approvals", "answer", id, '{"count": 3}'], { folder: folder.path }, [
      [/console: $/, code],
    ]);
    await asked.ended;
    expect(asked.text()).toMatch(/answered: the tool goes on/);
    expect(await call.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("ordered 3") });
  },
);

test("without a terminal up has no code, so its user decides nothing, and a call that waited says what to do", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path, env: { POLICY_FILE: folder.write("policy.yaml", POLICY) } };
  await using up = await startUp(options, FEW);
  expect(up.stderr()).not.toMatch(/^ {2}code/m);
  await using call = startCli([...CALL, "--timeout", "12000"], { folder: folder.path });
  const run = (...args: string[]) => runHere(args, { folder: folder.path });
  const list = async () => JSON.parse((await run("approvals", "ls", "--json")).stdout) as Listed;
  await expect.poll(async () => (await list()).calls.length, { timeout: 30_000 }).toBe(1);
  const id = (await list()).calls[0]?.id ?? "";
  expect(await run("approvals", "approve", id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Start it at a terminal, or name operators with tokens in the policy"),
  });
  expect(await call.ended).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(new RegExp(`rockbot: pending: .*\\n.*approve ${id}.* calls wait [0-9a-f]{32}.*\n$`)),
  });
  expect((await list()).calls).toMatchObject([{ id, isKept: true }]); // and waits on
});
