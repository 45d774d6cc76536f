import type { Command } from "commander";
import type { HashAuditOptions, VerifyAuditOptions } from "../commands/audit.ts";

/** Adds `rockbot audit verify` and `rockbot audit hash`. */
export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("Verify the audit log, or find calls in it.");
  audit
    .command("verify")
    .description("Check that no line of an audit log was changed, removed, added or moved.")
    .argument("<files...>", "the audit file and the older files set aside beside it, in any order")
    .option(
      "--head <hash>",
      "also check that the line with this hash exists; services log such a hash at start, at the end and each hour",
    )
    .option("--partial", "accept a chain whose first files are missing")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  rockbot up --audit audit.jsonl
  rockbot audit verify audit.jsonl*
  tail -n 20 audit.jsonl | jq -r '[.time, .caller, .tool, .decision, .outcome] | @tsv'

Exit codes: 0 every line is intact, 1 a line is not, or the first lines are missing. The command names each such line. A
last line that a crash cut off is reported, and is no fault. An attacker who can rewrite all files can make a new chain:
only a hash that you noted elsewhere (--head) shows that.`,
    )
    .action(async (files: string[], options: VerifyAuditOptions) =>
      (await import("../commands/audit.ts")).verify(files, options),
    );
  audit
    .command("hash")
    .description("Print the hash of arguments, to find calls with these arguments in an audit log.")
    .argument("<file>", "the audit file, with its key beside it")
    .argument("[arguments]", "a JSON object, or - to read one from stdin (default: no arguments)")
    .option("--exact", "hash the text as it is; by default white space between JSON values does not count")
    .addHelpText(
      "after",
      `
Examples:
  grep "$(rockbot audit hash audit.jsonl '{"url":"https://example.com/"}')" audit.jsonl*

The log holds arguments as keyed hashes (HMAC-SHA-256), so that a reader of the log alone cannot guess them. The key is
AUDIT_KEY, else the content of the file AUDIT_KEY_FILE, else the file .NAME.key beside the log. Each hash names its key:
hmac-sha256:KEY:HASH.`,
    )
    .action(async (file: string, args: string | undefined, options: HashAuditOptions) =>
      (await import("../commands/audit.ts")).hash(file, args, options),
    );
}
