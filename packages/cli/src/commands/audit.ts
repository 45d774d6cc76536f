import { parseJson, printable } from "@rockbot/contracts";
import {
  type AuditFileReport,
  type AuditReport,
  createAuditKey,
  keyFileOf,
  readSecret,
  verifyAudit,
} from "@rockbot/records/audit";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { UsageError } from "../usage-error.ts";

export interface HashAuditOptions {
  readonly exact?: boolean;
}

export interface VerifyAuditOptions {
  readonly head?: string;
  readonly partial?: boolean;
  readonly json?: boolean;
}

/** `rockbot audit verify`: whether the lines of these files are as they were written. */
export async function verify(
  files: readonly string[],
  { head, partial = false, json = false }: VerifyAuditOptions,
): Promise<void> {
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
    throw new UsageError(["--head: expected the hash of a line, 64 hex digits in small letters"]);
  const report = await read(files, head);
  if (json) console.log(JSON.stringify(report, undefined, 2));
  else describe(report, partial);
  const isWhole = report.faults.length === 0 && (report.startsAt === undefined || partial);
  process.exitCode = isWhole && report.hasHead !== false ? ExitCode.Ok : ExitCode.Failed;
}

/** `rockbot audit hash`: what stands in a log for these arguments. */
export async function hash(file: string, text: string | undefined, { exact = false }: HashAuditOptions): Promise<void> {
  const given = text === "-" ? await readStdin() : (text ?? "{}");
  const parsed = parseJson(given);
  if (!exact && !parsed.ok)
    throw new UsageError([`the arguments: ${parsed.fault.message}. Expected a JSON object, or --exact for any text`]);
  const key = createAuditKey(await secretFor(file));
  console.log(key.hash(exact || !parsed.ok ? given : JSON.stringify(parsed.value)));
}

async function secretFor(file: string): Promise<string> {
  const { AUDIT_KEY: key, AUDIT_KEY_FILE: named } = process.env;
  if (key) return key;
  const keyFile = named || keyFileOf(file);
  const secret = await readSecret(keyFile).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`Cannot read the key ${keyFile}: ${error.code ?? "unknown error"}`);
  });
  if (secret === undefined)
    throw new CommandError(`There is no key in ${keyFile}. Set AUDIT_KEY, or AUDIT_KEY_FILE to the file that holds it`);
  return secret;
}

async function read(files: readonly string[], head: string | undefined): Promise<AuditReport> {
  try {
    return await verifyAudit(files, { head });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError(
      `Cannot read ${path ?? "a file"}: ${code === "EISDIR" ? "it is a folder, name the files of the log in it" : code}`,
    );
  }
}

/** Whole logs go to stdout. Logs that are not whole, or of which that cannot be known, go to stderr. */
function describe({ files, faults, furtherFaults, head, startsAt, hasHead }: AuditReport, partial: boolean): void {
  for (const file of files) console.log(describeFile(file));
  if (startsAt !== undefined) {
    const help = partial
      ? ", and not looked at"
      : ": name all files of the chain, or say --partial if they are kept elsewhere";
    console.error(`rockbot: the lines before ${startsAt} are not among these files${help}`);
  }
  for (const { file, cutOffBytes } of files)
    if (cutOffBytes > 0)
      console.error(
        `rockbot: ${file} ends in ${cutOffBytes} bytes of a line that was cut off, as by a crash. No line before it is in doubt`,
      );
  if (hasHead === false)
    console.error("rockbot: no line has the hash that was asked for: the chain was cut before it, or written anew");
  for (const { file, line, unreadable, message } of faults) {
    const more = unreadable > 1 ? `, and it is the first of ${unreadable} that cannot be read` : "";
    console.error(`rockbot: ${file}:${line}: ${printable(message)}${more}`);
  }
  if (furtherFaults > 0) console.error(`rockbot: and ${furtherFaults} more`);
  if (faults.length === 0 && (startsAt === undefined || partial))
    console.log(`whole to line ${head.seq}, hash ${head.hash}`);
}

function describeFile({ file, lines, firstSeq, lastSeq, from, to, lost }: AuditFileReport): string {
  if (lines === 0) return `${file}: no lines`;
  const missing = lost === 0 ? "" : `; they say that ${lost} records were lost for want of a disk`;
  return `${file}: lines ${firstSeq} to ${lastSeq}, ${printable(from ?? "")} to ${printable(to ?? "")}${missing}`;
}
