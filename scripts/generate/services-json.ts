import { type BusService, redisRules, type Server, settingsKey } from "@rockbot/services";
import { envName, secretVariables } from "../../packages/process/src/config/read-env.ts";
import type { JsonSchema } from "./schema-document.ts";

/** What the chart knows of a service: its one generic template makes everything of this. */
export interface ChartedService {
  /** The name of its folder, its image, its user at the broker and at Redis. */
  readonly name: string;
  /** The key of its values in the chart. */
  readonly key: string;
  readonly summary: string;
  readonly onBus: boolean;
  readonly port?: number | undefined;
  /** Who connects to the port: `outside`, or a service. */
  readonly reachedBy?: string | undefined;
  readonly egress: readonly string[];
  readonly state: readonly string[];
  /** True if it remembers something in Redis. */
  readonly usesRedis: boolean;
  /** What its user there may do, as rules of Redis; empty without one. */
  readonly redisRules: string;
  readonly topic?: string | undefined;
  readonly owns: readonly string[];
  readonly isDelegate: boolean;
  /** True if it reads a file of MCP servers. */
  readonly readsMcp: boolean;
  /** The variables of its secret settings. */
  readonly secrets: readonly string[];
  /** The variables that it cannot start without in a deployment. */
  readonly required: readonly string[];
  /** The setting without which it offers no tool. */
  readonly needs?: string | undefined;
  /** Room in /tmp. */
  readonly scratch: string;
  /** Variables of Node and the C library. */
  readonly environment: Readonly<Record<string, string>>;
  /** What its values are unless a release says otherwise. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * What `helm/rockbot/files/services.json` says of each service of the list.
 * @param configs the schema of each service's settings
 */
export function chartedServices(
  services: readonly (BusService | Server)[],
  configs: ReadonlyMap<string, JsonSchema>,
): readonly ChartedService[] {
  return services.map((service) => {
    const { name, summary, onBus, port, egress, deployment = {} } = service;
    const { properties = {}, required = [] } = configs.get(name) ?? {};
    const secrets = secretVariables({ properties });
    const rules = redisRules(service);
    const usesRedis = rules !== "";
    const needed = [...(onBus ? ["BUS_URL"] : []), ...(usesRedis ? ["REDIS_URL"] : []), ...required.map(envName)];
    const { requests = { cpu: "50m", memory: "128Mi" }, memoryLimit = "512Mi" } = deployment;
    return {
      name,
      key: settingsKey(name),
      summary,
      onBus,
      port,
      reachedBy: deployment.reachedBy,
      egress,
      state: onBus ? service.state : [],
      usesRedis,
      redisRules: rules,
      topic: onBus ? service.topic : undefined,
      owns: onBus ? (service.owns ?? []) : [],
      isDelegate: onBus && service.isDelegate === true,
      readsMcp: "mcpConfig" in properties,
      secrets,
      required: needed.filter((variable) => secrets.includes(variable)),
      needs: onBus ? service.needs : undefined,
      scratch: deployment.scratch ?? "16Mi",
      environment: deployment.environment ?? {},
      values: {
        enabled: deployment.enabled ?? true,
        replicas: deployment.replicas ?? 1,
        image: { repository: `rockbot/${name}` },
        secrets: { keys: deployment.secrets ?? [] },
        resources: { requests, limits: { memory: memoryLimit } },
      },
    };
  });
}
