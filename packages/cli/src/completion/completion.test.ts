import { spawnSync } from "node:child_process";
import { temporaryFolder } from "@rockbot/testing";
import { expect, type TestContext, test } from "vitest";
import { cliCommand, runCli, startUp } from "../test-cli.ts";

/** Prints the candidates of a command line whose last word stands at the cursor. */
const askers = {
  bash: (script: string, words: readonly string[]) =>
    `source ${script}; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _rockbot; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // What the completion system of zsh would show, which runs in an interactive shell only.
  zsh: (script: string, words: readonly string[]) =>
    `compdef() { : }; _describe() { print -l -- "\${(@)items%%:*}" }; _files() { print -l -- \${words[CURRENT]}* }; source ${script}; words=(${quoted(words)}); CURRENT=${words.length}; _rockbot`,
  fish: (script: string, words: readonly string[]) =>
    `source ${script}; complete -C ${quoted([words.join(" ")])} | string split -f 1 \\t`,
};
type Shell = keyof typeof askers;
const shells = Object.keys(askers) as Shell[];

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** The script that the command prints for a shell, asked in that shell. */
async function completionIn(shell: Shell, folder: ReturnType<typeof temporaryFolder>, skip: TestContext["skip"]) {
  const options = { folder: folder.path };
  skip(spawnSync(shell, ["-c", "true"]).error !== undefined, `${shell} is not installed`);
  const { code, stdout } = await runCli(["completion", shell], options);
  expect(code).toBe(0);
  const script = folder.write(`completion.${shell}`, stdout);
  const { env } = cliCommand([], options);
  return (line: string): string[] => {
    const run = spawnSync(shell, ["-c", askers[shell](script, line.split(" "))], {
      env,
      cwd: folder.path,
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    return run.stdout.split("\n").filter((name) => name !== "");
  };
}

test.for(shells)(
  "in %s commands, options, files and names are completed with nothing running",
  async (shell, { skip }) => {
    using folder = temporaryFolder();
    folder.write("policy.yaml", "{}");
    const complete = await completionIn(shell, folder, skip);

    expect(complete("rockbot ")).toEqual(expect.arrayContaining(["up", "call", "dlq", "completion"]));
    expect(complete("rockbot dlq ").sort()).toEqual(["help", "list", "purge", "replay", "show"]);
    expect(complete("rockbot dlq replay --a")).toContain("--all");
    expect(complete("rockbot call web_b")).toContain("web_browse");
    expect(complete("rockbot up --only ")).toEqual(expect.arrayContaining(["web-tools", "gateway"]));
    expect(complete("rockbot up --policy pol")).toEqual(["policy.yaml"]);
    expect(complete("rockbot up --only web-tools,gate")).toContain("web-tools,gateway");
    expect(complete("rockbot audit verify a pol")).toEqual(["policy.yaml"]);
    expect(complete("rockbot completion ")).toEqual(expect.arrayContaining(["bash", "fish", "zsh"]));
    expect(complete("rockbot call web_browse --timeout ")).toEqual([]);
    expect(complete("rockbot guide ")).toEqual([]); // which services have guides shows when they run
  },
);

test.for([
  ["rockbot up --policy = pol", "policy.yaml"], // as bash takes words apart
  ["rockbot up --policy =", "policy.yaml"],
  ["rockbot up --policy=pol", "--policy=policy.yaml"],
  ["rockbot call x script =@ pol", "@policy.yaml"],
  ["rockbot call x script =@", "@policy.yaml"],
  ["rockbot call x script = @pol", "@policy.yaml"],
  ["rockbot call x script=@pol", "script=@policy.yaml"],
] as const)("in bash a file is completed behind = and @: %s", async ([line, word], { skip }) => {
  using folder = temporaryFolder();
  folder.write("policy.yaml", "{}");
  const complete = await completionIn("bash", folder, skip);

  expect(complete(line)).toContain(word);
});

test("names come from the running up", { timeout: 150_000 }, async ({ skip }) => {
  using folder = temporaryFolder();
  const complete = await completionIn("bash", folder, skip);
  await using _up = await startUp({ folder: folder.path }, ["--only", "web-tools,gateway"]);

  // An answer that takes longer than a person waits is none: then the names are those of the schemas.
  await expect.poll(() => complete("rockbot dlq list "), { timeout: 120_000 }).toEqual(["web-tools"]);
  expect(complete("rockbot call web_b")).toEqual(["web_browse"]);
});
