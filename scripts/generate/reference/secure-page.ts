import { readFile } from "node:fs/promises";
import { type BusService, redisKeys, type Server } from "@rockbot/services";
import { parse } from "yaml";
import { type Talk, whoTalks } from "../../deployment/who-talks.ts";
import { code, fillPage, table } from "../fill-page.ts";
import { CHART_POLICY } from "../read-sources.ts";
import type { JsonSchema } from "../schema-document.ts";
import { type ChartedService, chartedServices } from "../services-json.ts";
import { brokerRightsTable } from "./broker-rights-reference.ts";
import { keysText } from "./keys-text.ts";

const RULES = "helm/rockbot/files/scripts/manager-rules.yaml";

/** `docs/operate/secure.md`: who may do what in a cluster, user by user and right by right. */
export async function securePage(
  services: readonly (BusService | Server)[],
  configs: ReadonlyMap<string, JsonSchema>,
): Promise<string> {
  const charted = chartedServices(services, configs);
  return fillPage("secure", `services/index.ts, ${RULES}, ${CHART_POLICY}`, {
    talks: talksTable(whoTalks(charted)),
    secrets: secretsTable(charted),
    keys: table(
      ["user", "keys in Redis"],
      services.map((service) => [code(service.name), redisKeys(service).map(keysText).join(" ") || "-"]),
    ),
    rules: await rulesTable(charted),
    rights: await brokerRightsTable(CHART_POLICY),
  });
}

/** One line for all that parties say to others in the same way. */
function talksTable(talks: readonly Talk[]): string {
  const rows = talks.map(({ from, to, ports, what }) => ({
    from: [from],
    to: [to],
    ports: ports.join(", ") || "-",
    what,
  }));
  const bySender = merged(rows, ({ to, ports, what }) => [to, ports, what]);
  const byBoth = merged(bySender, ({ from, ports, what }) => [from, ports, what]);
  return table(
    ["from", "to", "ports", "what"],
    byBoth.map(({ from, to, ports, what }) => [from.join(", "), to.join(", "), ports, what]),
  );
}

interface TalksRow {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly ports: string;
  readonly what: string;
}

/** Rows that are alike by a key as one. */
function merged(rows: readonly TalksRow[], keyOf: (row: TalksRow) => unknown): TalksRow[] {
  return [...Map.groupBy(rows, (row) => JSON.stringify(keyOf(row))).values()].map((same) => {
    const [{ ports, what } = { ports: "", what: "" }] = same;
    const all = (side: "from" | "to") => [...new Set(same.flatMap((row) => row[side]))];
    return { from: all("from"), to: all("to"), ports, what };
  });
}

function secretsTable(services: readonly ChartedService[]): string {
  const rows = services.map(({ name, required, secrets, values }) => {
    const { keys } = values["secrets"] as { readonly keys: readonly string[] };
    const needed = [...required, ...keys];
    return [
      code(name),
      needed.map(code).join(" "),
      secrets
        .filter((secret) => !needed.includes(secret))
        .map(code)
        .join(" ") || "-",
    ];
  });
  return table(["service", "secrets that it has", "and, where `secrets` names them"], rows);
}

async function rulesTable(services: readonly ChartedService[]): Promise<string> {
  const rules = parse(await readFile(RULES, "utf8")) as readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  const rights = rules
    .map(({ resources, verbs }) => `${resources.map(code).join(" ")}: ${verbs.join(", ")}`)
    .join("; ");
  return table(
    ["account", "token in its pod", "rights, in the namespace of scripts alone"],
    services.map(({ name, egress }) =>
      egress.includes("cluster") ? [code(name), "yes", rights] : [code(name), "no", "none"],
    ),
  );
}
