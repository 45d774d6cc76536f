import type { Command } from "commander";
import type { HashAuditOptions, VerifyAuditOptions } from "./commands/audit.ts";

/** Adds `rockbot audit verify` and `rockbot audit hash`. */
export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("Look into the files to which a line is appended for each call.");
  audit
    .command("verify")
    .description("Say whether the lines are as they were written: none changed, missing, added or moved.")
    .argument("<files...>", "the file and those that were put aside, in any order")
    .option("--head <hash>", "also that the line with this hash is there, which was noted elsewhere: services log one when they start and end, and each hour")
    .option("--partial", "the beginning of the chain may be missing: older files are kept elsewhere, or removed")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up --audit audit.jsonl
  rockbot audit verify audit.jsonl*
  tail -n 20 audit.jsonl | jq -r '[.time, .caller, .tool, .decision, .outcome] | @tsv'

Exit code: 0 all lines are whole, 1 one is not, or the first are missing: each such is named. A last line that a crash
cut off is said, and is no fault. Who can write all files anew can make a whole chain of them: only a hash that was noted elsewhere tells that.`,
    )
    .action(async (files: string[], options: VerifyAuditOptions) => (await import("./commands/audit.ts")).verify(files, options));
  audit
    .command("hash")
    .description("Print what stands in a log for these arguments, to find the calls that had them.")
    .argument("<file>", "the log, beside which its key lies")
    .argument("[arguments]", "a JSON object, or - to read one from stdin; left out: no arguments")
    .option("--exact", "the text as it stands; otherwise its white space does not count, as callers of ours write none")
    .addHelpText(
      "after",
      `
Examples:
  grep "$(rockbot audit hash audit.jsonl '{"url":"https://example.com/"}')" audit.jsonl*

Arguments are hashed with a key (HMAC-SHA-256), so that who reads a log alone cannot guess them. The key is AUDIT_KEY, or lies
in the file that AUDIT_KEY_FILE names, as for the service that writes the log; else beside the log, as .NAME.key. The log says
with each hash which key it was: hmac-sha256:KEY:HASH.`,
    )
    .action(async (file: string, args: string | undefined, options: HashAuditOptions) => (await import("./commands/audit.ts")).hash(file, args, options));
}
