import type { Command } from "commander";
import type { VerifyAuditOptions } from "./commands/audit.ts";

/** Adds `rockbot audit verify`. */
export function addAuditCommand(program: Command): void {
  program
    .command("audit")
    .description("Look into the files to which a line is appended for each call.")
    .command("verify")
    .description("Say whether the lines are as they were written: none changed, missing, added or moved.")
    .argument("<files...>", "the file and those that were put aside, in any order")
    .option("--head <hash>", "also that the line with this hash is there, which was noted elsewhere: services log one when they start and end, and each hour")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up --audit audit.jsonl
  rockbot audit verify audit.jsonl*
  tail -n 20 audit.jsonl | jq -r '[.time, .caller, .tool, .decision, .outcome] | @tsv'

Exit code: 0 all lines are whole, 1 one is not: each such is named. A last line that a crash cut off is said, and is
no fault. Who can write all files anew can make a whole chain of them: only a hash that was noted elsewhere tells that.`,
    )
    .action(async (files: string[], options: VerifyAuditOptions) => (await import("./commands/audit.ts")).verify(files, options));
}
