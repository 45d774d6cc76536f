import type { PolicyDocument } from "@rockbot/policy";
import type { BusService, Server } from "@rockbot/services";
import { parse } from "yaml";

/** How a service of the list is written down in `docker-compose.yml` and `docker/policy/policy.yaml`. */

/** The variables of each service's secret settings, by its name. */
type ServiceSecrets = ReadonlyMap<string, readonly string[]>;

/** Where a service of compose finds its secrets: a volume of its own, which `rockbot compose init` fills. */
const SECRETS = "/run/rockbot";
/** Where it keeps what outlives it: the image has this folder, whose owner a new volume takes over. */
const KEPT = "/var/lib/rockbot";

const SECRET_VOLUMES = /(?:^ {6}- [a-z0-9-]+-secrets:\/secrets\/[a-z0-9-]+\n)+/m;
const BUS_NETWORKS = /(?<=^ {4}networks: \[(?:broker, )?)web-tools, [a-z0-9, -]*(?=\] # of all services on the bus$)/gm;
/** The networks of services that watch others. */
const ALL_NETWORKS = /(?<=^ {4}networks: \[watch, )[a-z0-9, -]*(?=\] # of all services$)/gm;

/**
 * The compose file with the secrets' volumes and the networks that follow from the list, and with each service that it
 * lacks. What it says of the others besides is left as it is.
 */
export function composeFile(text: string, services: readonly (BusService | Server)[], secrets: ServiceSecrets): string {
  const missing = services.filter(({ name }) => !new RegExp(`^ {2}${name}:$`, "m").test(text));
  const stanzas = missing.map((service) => stanza(service, services, secrets.get(service.name) ?? []));
  const folders = services.map(({ name }) => `      - ${name}-secrets:/secrets/${name}\n`);
  const onBus = services.flatMap(({ name, onBus: is }) => (is ? name : []));
  const volumes = missing.flatMap((service) => [
    ...keptVolumes(service).map((name) => `  ${name}:\n`),
    `  ${service.name}-secrets:\n`,
  ]);
  const hasNetwork = (service: BusService | Server): boolean => networksOf(service, services)[0] === service.name;
  const networks = missing.filter(hasNetwork).map(({ name }) => `  ${name}: { internal: true }\n`);
  return text
    .replace(SECRET_VOLUMES, () => folders.join(""))
    .replaceAll(BUS_NETWORKS, () => onBus.join(", "))
    .replaceAll(ALL_NETWORKS, () => services.flatMap((service) => (hasNetwork(service) ? service.name : [])).join(", "))
    .replace(
      /\n((?:#.*\n)*networks:\n)/,
      (_, head: string) => `${stanzas.map((lines) => `\n${lines}`).join("")}\n${head}${networks.join("")}`,
    )
    .replace(/\nvolumes:\n/, () => `\nvolumes:\n${volumes.join("")}`);
}

/**
 * The networks of a service in compose. Each service has one of its own, in which it meets the broker and Redis, or the
 * service that connects to it; so that no two services meet that do not talk. By `out` it reaches other machines, by
 * `front` the machine of compose reaches it.
 */
export function networksOf(
  service: BusService | Server,
  services: readonly (BusService | Server)[],
): readonly string[] {
  const servers = services
    .filter(({ onBus, deployment }) => !onBus && deployment?.reachedBy === service.name)
    .map(({ name }) => name);
  return [
    ...(service.onBus || service.deployment?.reachedBy !== undefined ? [service.name] : []),
    ...servers,
    ...(service.egress.includes("internet") || service.egress.includes("configured") ? ["out"] : []),
    ...(service.deployment?.reachedBy === "outside" ? ["front"] : []),
  ];
}

const keeps = (service: BusService | Server, kind: "audit" | "data"): boolean =>
  service.onBus && service.state.includes(kind);

/** The volume of what a service keeps in files, if it does. */
const keptVolumes = (service: BusService | Server): string[] =>
  (["data", "audit"] as const).flatMap((kind) => (keeps(service, kind) ? [`${service.name}-${kind}`] : [])).slice(0, 1);

/** What the list says of a service's environment in compose: its secrets are files, never values. */
export function composeVariables(
  service: BusService | Server,
  secrets: readonly string[],
): Readonly<Record<string, string | undefined>> {
  return {
    ...Object.fromEntries(secrets.toSorted().map((variable) => [`${variable}_FILE`, `${SECRETS}/${variable}`])),
    AUDIT_FILE: keeps(service, "audit") ? `${KEPT}/audit.jsonl` : undefined,
    DATA_DIRECTORY: keeps(service, "data") ? `${KEPT}/data` : undefined,
    ...service.deployment?.environment,
  };
}

function stanza(
  service: BusService | Server,
  services: readonly (BusService | Server)[],
  secrets: readonly string[],
): string {
  const { name, onBus, port, profile } = service;
  const kept = keptVolumes(service)
    .map((volume) => `, "${volume}:${KEPT}"`)
    .join("");
  const policy = onBus ? `"./docker/policy:/etc/rockbot/policy:ro", ` : "";
  return [
    `  # ${service.summary}`,
    `  ${name}:`,
    onBus ? "    <<: *service" : "    <<: *server",
    ...(profile === undefined ? [] : [`    profiles: [${profile}]`]),
    `    build: { context: ., ${service.deployment?.image === undefined ? "" : `target: ${service.deployment.image}, `}args: { SERVICE: ${name} } }`,
    `    image: rockbot/${name}`,
    `    networks: [${networksOf(service, services).join(", ")}]`,
    `    volumes: [${policy}"${name}-secrets:${SECRETS}:ro"${kept}]`,
    "    environment:",
    onBus ? "      <<: *environment" : "      <<: *server-environment",
    ...Object.entries(composeVariables(service, secrets)).flatMap(([variable, value]) =>
      value === undefined ? [] : [`      ${variable}: ${JSON.stringify(value)}`],
    ),
    ...(port === undefined || !onBus ? [] : ["      HOST: 0.0.0.0"]),
    "",
  ].join("\n");
}

/**
 * The policy of the compose file with each service of the list, and the delegates that it lacks. For whom those that
 * are there may call is left as it is.
 */
export function composePolicy(text: string, services: readonly BusService[]): string {
  const comments = new Map(
    [...text.matchAll(/^ {2}([a-z0-9-]+): \{.*\} *(#.*)$/gm)].map(([, name = "", comment = ""]) => [name, comment]),
  );
  const lines = services.flatMap(({ name, topic, tools = [], owns = [] }) => {
    if (topic === undefined) return [];
    const globs = tools.map((glob) => (glob.includes("*") ? JSON.stringify(glob) : glob)).join(", ");
    const owned = owns.length === 0 ? "" : `, owns: [${owns.join(", ")}]`;
    return `  ${name}: { topic: ${topic}, tools: [${globs}]${owned} } ${comments.get(name) ?? ""}`.trimEnd();
  });
  const delegates = services.filter(({ isDelegate }) => isDelegate).map(({ name }) => name);
  const missingIn = (line: string): string[] => {
    const { delegates: named } = parse(line) as Pick<PolicyDocument, "delegates">;
    return delegates.filter(
      (name) => !named.some((entry) => name === (typeof entry === "string" ? entry : entry.user)),
    );
  };
  const newCallers = delegates
    .filter((name) => !new RegExp(`^ {2}${name}: `, "m").test(text))
    .map((name) => `  ${name}: { allow: ["*"] }\n`);
  return text
    .replace(/^services:\n(?: {2}.*\n)*/m, () => `services:\n${lines.join("\n")}\n`)
    .replace(/^delegates: \[.*\]$/m, (line) => {
      const added = missingIn(line).map((name) => `, ${name}`);
      return `${newCallers.join("")}${line.slice(0, -1)}${added.join("")}]`;
    });
}
