import type { Command } from "commander";
import type { AgentsApproveOptions, AgentsListOptions } from "../commands/agents.ts";

/** Adds `rockbot agents` and its commands. */
export function addAgentsCommand(program: Command): void {
  const agents = program.command("agents").description("List the agents that callers have made, and share them with others.");
  agents
    .command("ls")
    .description("List the agents of all makers, and those of AGENTS_FILE.")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot agents ls
  DATABASE_URL=postgres://user@host/rockbot rockbot agents ls --json

The database is that of the settings of the agent: DATABASE_URL, or DATA_DIRECTORY.`,
    )
    .action(async (options: AgentsListOptions) => (await import("../commands/agents.ts")).listAgents(options));
  agents
    .command("show")
    .description("Print all that a model reads of an agent.")
    .argument("<agent>", "its id, its name, or MAKER/NAME")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  rockbot agents show clerk\n  rockbot agents show alice/clerk --json")
    .action(async (agent: string, options: AgentsListOptions) => (await import("../commands/agents.ts")).showAgent(agent, options));
  agents
    .command("approve")
    .description("Share an agent with every caller, exactly as it is shown. A change of it ends that.")
    .argument("<agent>", "its id, its name, or MAKER/NAME")
    .option("--withdraw", "share it no more")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples:\n  rockbot agents approve clerk\n  rockbot agents approve alice/clerk --withdraw --yes")
    .action(async (agent: string, options: AgentsApproveOptions) => (await import("../commands/agents.ts")).approveAgent(agent, options));
}
