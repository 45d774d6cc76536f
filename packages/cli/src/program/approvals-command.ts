import type { Command } from "commander";
import type { DecideOptions } from "../commands/approvals.ts";

/** Adds `rockbot approvals` and its commands. */
export function addApprovalsCommand(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("List the calls that wait for people, approve or reject them, and answer what tools ask.")
    .addHelpText(
      "after",
      `
Examples:
  rockbot approvals ls
  rockbot approvals show 3f2a
  rockbot approvals approve 3f2a
  rockbot approvals reject 3f2a --note "Not on a Friday."
  rockbot approvals answer 3f2a '{"count": 3}'

The policy says which calls wait, and for whom: its section approve. These commands act as the operator "local" of the
running "rockbot up". They ask for the code that it has printed at its terminal. Elsewhere operators decide by tokens, at
POST /operator/waiting/ID of the gateway. An id may be cut to a beginning that no other one has.`,
    );

  approvals
    .command("ls")
    .description("List the calls that wait, the oldest first.")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: boolean }) =>
      (await import("../commands/approvals.ts")).listWaiting(options),
    );

  approvals
    .command("show")
    .description("Print one of them, with its arguments in full.")
    .argument("<id>", 'the id, as "rockbot approvals ls" prints it, or its beginning')
    .option("--json", "print JSON")
    .action(async (id: string, options: { readonly json?: boolean }) =>
      (await import("../commands/approvals.ts")).showWaiting(id, options),
    );

  for (const verdict of ["approve", "reject"] as const)
    approvals
      .command(verdict)
      .description(
        verdict === "approve"
          ? "Show a call that waits, and let it run."
          : "Show a call that waits, and end it. Its caller reads the note.",
      )
      .argument("<id>", 'the id, as "rockbot approvals ls" prints it, or its beginning')
      .option("--note <text>", "why, in at most 2000 characters")
      .option("--json", "print the outcome as JSON")
      .action(async (id: string, options: DecideOptions) =>
        (await import("../commands/approvals.ts")).decideWaiting(verdict, id, options),
      );

  approvals
    .command("answer")
    .description("Show what the tool of a call asks, and answer it.")
    .argument("<id>", 'the id, as "rockbot approvals ls" prints it, or its beginning')
    .argument("<json>", "the answer, as JSON that fits the schema of the question")
    .option("--json", "print the outcome as JSON")
    .action(async (id: string, json: string, options: { readonly json?: boolean }) =>
      (await import("../commands/approvals.ts")).answerWaiting(id, json, options),
    );
}
