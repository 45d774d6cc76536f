import type { PolicyDocument } from "@rockbot/policy";
import { type BusService, type Server, stateKeys } from "@rockbot/services";
import { parse } from "yaml";
import { passwordVariable } from "../../packages/cli/src/broker/read-passwords.ts";

/** How a service of the list is written down in `docker-compose.yml` and `docker/policy.yaml`. */

/** The variable with a user's password, in a place where compose fills it in. */
const passwordOf = (user: string): string => `\${${passwordVariable(user)}:-local-only}`;

const PASSWORD_LINES = /(?:^ {6}ROCKBOT_PASSWORD_\w+: .*\n)+/m;
const REDIS_LINES = /(?:^ {6}- --user (?!default )\S+ on .*\n)+/m;
const RIGHTS = "resetchannels -@all +@read +@write +@scripting +@connection -@dangerous +info +time";

/** The service's keys in Redis; none if it remembers nothing there. */
export const redisKeys = (service: BusService | Server): string[] => (service.onBus ? service.state.flatMap((kind) => stateKeys[kind] ?? []) : []);

/**
 * The compose file with the passwords and the users at Redis that follow from the list, and with each service that it lacks. What it says of the others
 * besides is left as it is.
 * @param others users of the broker that are no services
 */
export function composeFile(text: string, services: readonly (BusService | Server)[], others: readonly string[]): string {
  const users = [...services.filter(({ onBus }) => onBus).map(({ name }) => name), ...others];
  const passwords = users.map((user) => `      ${passwordVariable(user)}: ${passwordOf(user)}\n`);
  const redisUsers = services.flatMap((service) => {
    const keys = redisKeys(service);
    return keys.length === 0 ? [] : `      - --user ${service.name} on >${passwordOf(service.name)} ${keys.map((key) => `~${key}`).join(" ")} ${RIGHTS}\n`;
  });
  const missing = services.filter(({ name }) => !new RegExp(`^ {2}${name}:$`, "m").test(text));
  const volumes = missing.filter(hasAudit).map(({ name }) => `  ${name}-audit:\n`);
  return text
    .replace(PASSWORD_LINES, () => passwords.join(""))
    .replace(REDIS_LINES, () => redisUsers.join(""))
    .replace(/\nvolumes:\n/, () => `${missing.map((service) => `\n${stanza(service)}`).join("")}\nvolumes:\n${volumes.join("")}`);
}

const hasAudit = (service: BusService | Server): boolean => service.onBus && service.state.includes("audit");

/** What the list says of a service's environment in compose; undefined what it does not have there. */
export function composeVariables(service: BusService | Server): Readonly<Record<string, string | undefined>> {
  const login = `${service.name}:${passwordOf(service.name)}`;
  return {
    BUS_URL: service.onBus ? `amqp://${login}@rabbitmq:5672` : undefined,
    REDIS_URL: redisKeys(service).length > 0 ? `redis://${login}@redis:6379` : undefined,
    AUDIT_FILE: hasAudit(service) ? "/var/lib/rockbot/audit.jsonl" : undefined,
  };
}

function stanza(service: BusService | Server): string {
  const { name, onBus, port, profile } = service;
  const audit = hasAudit(service) ? `, "${name}-audit:/var/lib/rockbot"` : "";
  return [
    `  # ${service.summary}`,
    `  ${name}:`,
    "    <<: *service",
    ...(profile === undefined ? [] : [`    profiles: [${profile}]`]),
    `    build: { context: ., args: { SERVICE: ${name} } }`,
    `    image: rockbot/${name}`,
    ...(onBus ? [`    volumes: ["./docker/policy.yaml:/etc/rockbot/policy.yaml:ro"${audit}]`] : ["    depends_on: {}", "    volumes: []"]),
    "    environment:",
    onBus ? "      <<: *environment" : `      LOG_LEVEL: \${ROCKBOT_LOG_LEVEL:-info}`,
    ...Object.entries(composeVariables(service)).flatMap(([variable, value]) => (value === undefined ? [] : [`      ${variable}: ${value}`])),
    ...(port === undefined ? [] : ["      HOST: 0.0.0.0"]),
    "",
  ].join("\n");
}

/** The policy of the compose file with each service of the list, and the delegates that it lacks. For whom those that are there may call is left as it is. */
export function composePolicy(text: string, services: readonly BusService[]): string {
  const comments = new Map([...text.matchAll(/^ {2}([a-z0-9-]+): \{.*\} *(#.*)$/gm)].map(([, name = "", comment = ""]) => [name, comment]));
  const lines = services.flatMap(({ name, topic, tools = [], owns = [] }) => {
    if (topic === undefined) return [];
    const globs = tools.map((glob) => (glob.includes("*") ? JSON.stringify(glob) : glob)).join(", ");
    const owned = owns.length === 0 ? "" : `, owns: [${owns.join(", ")}]`;
    return `  ${name}: { topic: ${topic}, tools: [${globs}]${owned} } ${comments.get(name) ?? ""}`.trimEnd();
  });
  const delegates = services.filter(({ isDelegate }) => isDelegate).map(({ name }) => name);
  const missingIn = (line: string): string[] => {
    const { delegates: named } = parse(line) as Pick<PolicyDocument, "delegates">;
    return delegates.filter((name) => !named.some((entry) => name === (typeof entry === "string" ? entry : entry.user)));
  };
  const newCallers = delegates.filter((name) => !new RegExp(`^ {2}${name}: `, "m").test(text)).map((name) => `  ${name}: { allow: ["*"] }\n`);
  return text
    .replace(/^services:\n(?: {2}.*\n)*/m, () => `services:\n${lines.join("\n")}\n`)
    .replace(/^delegates: \[.*\]$/m, (line) => {
      const added = missingIn(line).map((name) => `, ${name}`);
      return `${newCallers.join("")}${line.slice(0, -1)}${added.join("")}]`;
    });
}
