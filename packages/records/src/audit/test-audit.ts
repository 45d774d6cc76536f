import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "@rockbot/bus";
import type { AuditRecord } from "./audit-record.ts";

/** A folder of its own for each test, and a log that keeps its lines. */
export function auditScene() {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-audit-"));
  const said: {
    readonly level: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly message: string;
  }[] = [];
  const say =
    (level: string) =>
    (fields: object, message: string): void =>
      void said.push({ level, fields: fields as Record<string, unknown>, message });
  const log: Logger = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  const file = join(folder, "audit.jsonl");
  return {
    folder,
    file,
    log,
    said,
    lines: (path = file) => readFileSync(path, "utf8").split("\n").slice(0, -1),
    /** The log's files, without its key. */
    names: () => readdirSync(folder).filter((name) => !name.startsWith(".")),
    rewrite: (lines: readonly string[], path = file) => writeFileSync(path, lines.map((line) => `${line}\n`).join("")),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const record = (index: number): AuditRecord => ({
  service: "tests",
  caller: "somebody",
  tool: "echo",
  toolCallId: `call-${index}`,
  arguments: "{}",
  decision: "allowed",
  policy: "default",
  outcome: "ok",
  durationMs: 1.5,
});
