import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AuditFileError, type AuditLog, openAuditLog } from "@rockbot/records/audit";
import { CommandError } from "../../command-error.ts";

/**
 * Opens the audit log of approvals, which is a chain of its own: another process writes to that of the agent.
 * @throws {CommandError}
 */
export async function openApprovalAudit(path: string): Promise<AuditLog & { readonly path: string }> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const log = await openAuditLog(path);
    return {
      path,
      get isWriting() {
        return log.isWriting;
      },
      write: (record) => log.write(record),
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined && !(error instanceof AuditFileError)) throw error;
    throw new CommandError(
      `Nothing is changed, as the audit log cannot be written: ${message}. Name another file by --audit`,
    );
  }
}
