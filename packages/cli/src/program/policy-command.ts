import type { Command } from "commander";
import type { PolicyOptions } from "../commands/policy.ts";

const FILE = "the policy file; default POLICY_FILE, else the rules that apply without a file";

/** Adds `rockbot policy` and its commands. */
export function addPolicyCommand(program: Command): void {
  const policy = program
    .command("policy")
    .description("Check, explain or print a policy: which callers may use which tools.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot policy check policy.yaml
  rockbot policy explain researcher web_search --policy policy.yaml
  rockbot policy table policy.yaml

Services reload the file when its content changes. They keep the old policy if "policy check" would refuse the new one.`,
    );
  policy
    .command("check")
    .description("Check a policy file, and list every fault with its line.")
    .argument("<file>", "the policy file, YAML or JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot policy check policy.yaml\n\nExit code 0 if the file is valid, 2 if not.",
    )
    .action(async (file: string) => (await import("../commands/policy.ts")).checkPolicy(file));
  policy
    .command("explain")
    .description("Say whether a caller may use a tool, which line decides, and which limits apply.")
    .argument("<caller>", "the name of the caller")
    .argument("<tool>", "the name of the tool")
    .option("--policy <file>", FILE)
    .option("--json", "print the decision as JSON")
    .addHelpText("after", "\nExamples:\n  rockbot policy explain researcher web_search --policy policy.yaml")
    .action(async (caller: string, tool: string, options: PolicyOptions) =>
      (await import("../commands/policy.ts")).explainPolicy({ caller, tool }, options),
    );
  policy
    .command("table")
    .description("Print which callers may use which tools, as a Markdown table.")
    .argument("[file]", FILE)
    .addHelpText("after", "\nExamples:\n  rockbot policy table policy.yaml")
    .action(async (file: string | undefined) => (await import("../commands/policy.ts")).showPolicyTable(file));
}
