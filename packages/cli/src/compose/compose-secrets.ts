import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { type BusService, type Server, services } from "@rockbot/services";
import { passwordVariable } from "../broker/read-passwords.ts";
import { writePrivateFile } from "../broker/write-private-file.ts";
import { CommandError } from "../command-error.ts";

/** What compose keeps secret, by the names of `docker/secrets.env`. */
export type ComposeSecrets = ReadonlyMap<string, string>;

/** The name of a service's bearer token: `ROCKBOT_SYSTEM_INFO_TOKEN` for `system-info-mcp`. */
export const tokenVariable = ({ name }: Pick<BusService | Server, "name">): string =>
  `ROCKBOT_${name.replace(/-mcp$/, "").replaceAll("-", "_").toUpperCase()}_TOKEN`;

/** The services that ask for a bearer token: those that others connect to. */
export const withToken = services.filter(({ deployment }) => deployment?.reachedBy !== undefined);

/** Whose password is that of Redis' user `default`. */
export const REDIS = "redis";

const BYTES = 32;

/**
 * The secrets of compose: those of `files`, of which a later one counts more, and what they lack made up.
 * @param users of the broker, each with a password
 * @throws {CommandError} with all faults: passwords stand in addresses as they are
 */
export async function composeSecrets(files: readonly string[], users: readonly string[]): Promise<ComposeSecrets> {
  const secrets = new Map<string, string>();
  for (const file of files) for (const [name, value] of await readSecrets(file)) secrets.set(name, value);
  for (const name of madeUp(users)) if (!secrets.has(name)) secrets.set(name, newSecret(name));
  const faults = [...secrets].filter(([name, value]) => name.startsWith("ROCKBOT_") && !/^[\w.~-]{8,512}$/.test(value));
  if (faults.length > 0) {
    throw new CommandError(
      `Cannot use the secrets of ${files.join(" and ")}:\n${faults.map(([name]) => `${name}: expected 8 to 512 letters, digits and -._~`).join("\n")}`,
    );
  }
  return secrets;
}

/** The private key of the operators' door, in the form of its setting. */
export const OPERATOR_KEY = "OPERATOR_KEY";

const newSecret = (name: string): string =>
  name === OPERATOR_KEY
    ? generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64url")
    : randomBytes(BYTES).toString("base64url");

const madeUp = (users: readonly string[]): string[] => [
  OPERATOR_KEY,
  ...[...users, REDIS].map(passwordVariable),
  ...withToken.map(tokenVariable),
];

/** The secrets of a file with lines `NAME=value`; none if there is no such file. Empty values do not count. */
export async function readSecrets(file: string): Promise<ComposeSecrets> {
  try {
    return new Map(
      Object.entries(parseEnv(await readFile(file, "utf8"))).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return new Map();
    throw new CommandError(`Cannot read the secrets in ${file}: ${code}`);
  }
}

/**
 * Writes what was made up into a file that its owner alone can read. Keys that come from elsewhere are not kept there.
 */
export async function keepSecrets(
  file: string,
  secrets: ComposeSecrets,
  users: readonly string[],
  comment = "",
): Promise<void> {
  const lines = madeUp(users).map((name) => `${name}=${secrets.get(name)}\n`);
  await writePrivateFile(file, `${comment}${lines.join("")}`);
}
