import { readFile } from "node:fs/promises";
import { type BusRights, busRights, readPolicy } from "@rockbot/policy";
import { CommandError } from "../command-error.ts";

/** The users that a policy file names, with their rights. @throws {CommandError} if it cannot be read, or names none */
export async function policyUsers(
  file: string,
): Promise<{ readonly users: readonly BusRights[]; readonly isVerified: boolean }> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(
      `Cannot read the policy ${file}: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`,
    );
  }
  const { document } = await readPolicy(text, file);
  const users = busRights(document);
  if (users.length === 0)
    throw new CommandError(
      `Cannot write definitions: ${file} names no users. Give it callers, services, delegates or operators`,
    );
  return { users, isVerified: document.identity === "verified" };
}

/** A warning for operators who rely on rights that nobody checks. */
export const UNVERIFIED =
  "rockbot: the policy says identity: trusted. These rights count only where services run with identity: verified";
