import type { Command } from "commander";
import type { AgentsApproveOptions, AgentsListOptions, AgentsShowOptions } from "../commands/agents.ts";
import type { AgentsRunOptions, AgentsSessionOptions } from "../commands/agents-run.ts";
import { BUS, FOR, POLICY } from "./common-options.ts";

/** Adds `rockbot agents` and its commands. */
export function addAgentsCommand(program: Command): void {
  const agents = program.command("agents").description("List, share, run and cancel agents.");
  agents
    .command("ls")
    .description("List the agents, skills and wisps of all makers, and the agents of AGENTS_FILE.")
    .option("--for <caller>", "list what this caller sees, and of several of a name the one that it gets")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot agents ls
  rockbot agents ls --for alice
  DATABASE_URL=postgres://user@host/rockbot rockbot agents ls --json

The database is that of the settings of the agent: DATABASE_URL, or DATA_DIRECTORY.`,
    )
    .action(async (options: AgentsListOptions) => (await import("../commands/agents.ts")).listAgents(options));
  agents
    .command("show")
    .description(
      "Print all that a model reads of an agent, a skill or a wisp; or what a session has led to, as a tree.",
    )
    .argument("<name>", "its id, its name, or MAKER/NAME; skill:NAME or wisp:NAME if an agent has that name, too")
    .option(
      "--session",
      "the name is that of a conversation: print its turns and those of all agents that they have called",
    )
    .option("--for <caller>", "print what this caller sees; with --session a conversation of this caller")
    .option("--json", "print JSON")
    .option("--bus <url>", `${BUS}; with --session`)
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot agents show clerk\n  rockbot agents show alice/clerk --json\n  rockbot agents show skill:office/weekly-report\n  rockbot agents show --session trip",
    )
    .action(async (name: string, options: AgentsShowOptions) =>
      (await import("../commands/agents.ts")).showAgent(name, options),
    );
  agents
    .command("approve")
    .description(
      "Share an agent, a skill or a wisp with every caller, exactly as it is shown. A change of it ends that.",
    )
    .argument("<name>", "its id, its name, or MAKER/NAME; skill:NAME or wisp:NAME if an agent has that name, too")
    .option("--withdraw", "share it no more")
    .option("--yes", "do not ask")
    .option("--audit <file>", "the audit log of approvals (default: approvals.audit in DATA_DIRECTORY)")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot agents approve clerk\n  rockbot agents approve alice/clerk --withdraw --yes",
    )
    .action(async (name: string, options: AgentsApproveOptions) =>
      (await import("../commands/agents.ts")).approveAgent(name, options),
    );
  addRunningCommands(agents);
}

function addRunningCommands(agents: Command): void {
  agents
    .command("run")
    .description("Have an agent do a task, in a session of its own.")
    .argument("<name>", "the name of an agent that you may call")
    .argument("<task>", "what it is to do; - reads it from stdin")
    .option("--session <id>", "the session (default: a new one)")
    .option("--for <caller>", FOR)
    .option("--json", "print each step as a line of JSON, and the answer as the last one")
    .option("--bus <url>", BUS)
    .option("--timeout <ms>", "the timeout in milliseconds (default 1200000, the longest)")
    .option("--policy <file>", POLICY)
    .addHelpText(
      "after",
      `
Examples:
  rockbot agents run travel-clerk "Find the fastest connection from Bern to Brig."
  rockbot agents run travel-clerk - --session trip < task.md

Ctrl-C cancels the task, and all agents that work on it. Exit code 1 also if the agent reports a failure.`,
    )
    .action(async (name: string, task: string, options: AgentsRunOptions) =>
      (await import("../commands/agents-run.ts")).runAgent(name, task, options),
    );
  agents
    .command("cancel")
    .description("Cancel what runs of a session, and all agents that work for it.")
    .argument("<session>", "the conversation that the others stem from")
    .argument("[turn]", "one of its turns alone, as agents show --session prints it")
    .option("--for <caller>", FOR)
    .option("--json", "print JSON")
    .option("--bus <url>", BUS)
    .option("--policy <file>", POLICY)
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot agents cancel trip\n  rockbot agents cancel trip 5d41402abc4b2a76b9719d911017c592",
    )
    .action(async (session: string, turn: string | undefined, options: AgentsSessionOptions) =>
      (await import("../commands/agents-run.ts")).cancelAgent(session, turn, options),
    );
}
