import { createHash, createPublicKey } from "node:crypto";
import { chown, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import type { BusRights } from "@rockbot/policy";
import { secretVariables } from "@rockbot/process/config";
import { type BusService, redisRules, type Server, services } from "@rockbot/services";
import { readCommandKey } from "@rockbot/tools/commands";
import { passwordVariable } from "../broker/read-passwords.ts";
import { writePrivateFile } from "../broker/write-private-file.ts";
import { type ComposeSecrets, OPERATOR_KEY, REDIS, tokenVariable, withToken } from "./compose-secrets.ts";

/** The user of the images, and root, as which scripts-manager opens the container engine's socket. */
const [IMAGE_USER, ROOT] = [1000, 0];

/**
 * Puts into the folder of each process of compose what it needs to know, and nothing else: `{folder}/{service}/BUS_URL`
 * and the like, a file of users for Redis, and definitions for RabbitMQ. A service whose secret nobody has given gets
 * an empty file, which counts as not set.
 */
export async function handOutSecrets(
  folder: string,
  secrets: ComposeSecrets,
  users: readonly BusRights[],
): Promise<void> {
  for (const service of services) {
    const owner = service.egress.includes("containers") ? ROOT : IMAGE_USER;
    for (const [name, value] of await secretsOf(service, secrets))
      await writeSecret(join(folder, service.name), name, value, owner);
  }
  await writeOpen(join(folder, "redis"), "users.acl", redisUsers(secrets));
  const passwords = new Map(users.map(({ user }) => [user, secrets.get(passwordVariable(user)) ?? ""]));
  await mkdir(join(folder, "rabbitmq"), { recursive: true });
  await writePrivateFile(
    join(folder, "rabbitmq/definitions.json"),
    `${JSON.stringify(brokerDefinitions(users, { passwords }), undefined, 2)}\n`,
  );
}

/** The files of a service: its secret settings, and the tokens of the MCP servers that it connects to. */
async function secretsOf(service: BusService | Server, secrets: ComposeSecrets): Promise<ReadonlyMap<string, string>> {
  const { configSchema } = await service.settings();
  const login = `${service.name}:${secrets.get(passwordVariable(service.name))}`;
  const own = secretVariables(configSchema.schema).map((variable): [string, string] => {
    if (variable === "BUS_URL") return [variable, `amqp://${login}@rabbitmq:5672`];
    if (variable === "OPERATOR_PUBLIC_KEY") return [variable, publicHalf(secrets.get(OPERATOR_KEY))];
    if (variable === "REDIS_URL") return [variable, `redis://${login}@redis:6379`];
    return [
      variable,
      (variable.endsWith("_TOKEN") ? secrets.get(tokenVariable(service)) : secrets.get(variable)) ?? "",
    ];
  });
  const servers = withToken.filter(({ deployment }) => deployment?.reachedBy === service.name);
  return new Map([
    ...own,
    ...servers.map((server): [string, string] => [
      tokenVariable(server).replace("ROCKBOT_", ""),
      secrets.get(tokenVariable(server)) ?? "",
    ]),
  ]);
}

/** What services know commands of operators by. */
const publicHalf = (key: string | undefined): string =>
  key === undefined
    ? ""
    : createPublicKey(readCommandKey(key, OPERATOR_KEY)).export({ format: "der", type: "spki" }).toString("base64url");

/**
 * Redis' users, each with the keys of what its service remembers. Passwords stand there as hashes, so that Redis may
 * run as any user. `default` may do all: as it Redis reads its log at a start, and leaves out without an error each
 * transaction that `default` may not run. Health checks are `probe`, with any password.
 */
function redisUsers(secrets: ComposeSecrets): string {
  const hash = (name: string): string =>
    createHash("sha256")
      .update(secrets.get(passwordVariable(name)) ?? "")
      .digest("hex");
  const lines = services.flatMap((service) => {
    const rules = redisRules(service);
    return rules === "" ? [] : `user ${service.name} on #${hash(service.name)} resetchannels -@all ${rules}\n`;
  });
  return [
    `user default on #${hash(REDIS)} ~* &* +@all\n`,
    "user probe on nopass resetchannels -@all +ping\n",
    ...lines,
  ].join("");
}

async function writeSecret(folder: string, name: string, value: string, owner: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(`${path}.new`, value, { mode: 0o400 });
  if (process.getuid?.() === ROOT) await chown(`${path}.new`, owner, owner);
  await rename(`${path}.new`, path);
}

async function writeOpen(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text, { mode: 0o644 });
}
