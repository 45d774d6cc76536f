import type { Command } from "commander";
import type { PolicyOptions } from "./commands/policy.ts";

const FILE = "the policy file; else POLICY_FILE, else what holds without one";

/** Adds `rockbot policy` and its commands. */
export function addPolicyCommand(program: Command): void {
  const policy = program
    .command("policy")
    .description("Check and explain the file that says who may do what.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot policy check policy.yaml
  rockbot policy explain researcher web_search --policy policy.yaml
  rockbot policy table policy.yaml

Services read the file again when its content changes; content that "policy check" refuses changes nothing.`,
    );
  policy
    .command("check")
    .description("Say whether a policy file can be used: all its faults, each with its line.")
    .argument("<file>", "YAML or JSON")
    .addHelpText("after", "\nExamples:\n  rockbot policy check policy.yaml\n\nExit code 0 if it can be used, 2 if not.")
    .action(async (file: string) => (await import("./commands/policy.ts")).checkPolicy(file));
  policy
    .command("explain")
    .description("Say whether a caller may use a tool, which line decides, and what limits hold.")
    .argument("<caller>", "the agent's name")
    .argument("<tool>", "the tool's name")
    .option("--policy <file>", FILE)
    .option("--json", "print the decision as JSON")
    .addHelpText("after", "\nExamples:\n  rockbot policy explain researcher web_search --policy policy.yaml")
    .action(async (caller: string, tool: string, options: PolicyOptions) => (await import("./commands/policy.ts")).explainPolicy({ caller, tool }, options));
  policy
    .command("table")
    .description("Print who may use which tool as a table in markdown.")
    .argument("[file]", FILE)
    .addHelpText("after", "\nExamples:\n  rockbot policy table policy.yaml")
    .action(async (file: string | undefined) => (await import("./commands/policy.ts")).showPolicyTable(file));
}
