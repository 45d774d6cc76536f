import type { Command } from "commander";
import type { AgentsApproveOptions, AgentsListOptions } from "../commands/agents.ts";

/** Adds `rockbot agents` and its commands. */
export function addAgentsCommand(program: Command): void {
  const agents = program.command("agents").description("List the agents and skills that callers have made, and share them with others.");
  agents
    .command("ls")
    .description("List the agents and skills of all makers, and the agents of AGENTS_FILE.")
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
    .description("Print all that a model reads of an agent or a skill.")
    .argument("<name>", "its id, its name, or MAKER/NAME; skill:NAME if an agent has that name, too")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot agents show clerk\n  rockbot agents show alice/clerk --json\n  rockbot agents show skill:office/weekly-report",
    )
    .action(async (name: string, options: AgentsListOptions) => (await import("../commands/agents.ts")).showAgent(name, options));
  agents
    .command("approve")
    .description("Share an agent or a skill with every caller, exactly as it is shown. A change of it ends that.")
    .argument("<name>", "its id, its name, or MAKER/NAME; skill:NAME if an agent has that name, too")
    .option("--withdraw", "share it no more")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples:\n  rockbot agents approve clerk\n  rockbot agents approve alice/clerk --withdraw --yes")
    .action(async (name: string, options: AgentsApproveOptions) => (await import("../commands/agents.ts")).approveAgent(name, options));
}
