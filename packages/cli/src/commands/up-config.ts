import { nearestName } from "@rockbot/contracts";
import { checkGatewayConfig, type GatewayConfig, configSchema as gatewaySchema } from "@rockbot/gateway";
import { checkMcpBridgeConfig, type McpBridgeConfig, configSchema as mcpBridgeSchema } from "@rockbot/mcp-bridge";
import { ConfigError, type ConfigSchema, type LoadConfigOptions, loadConfig } from "@rockbot/process/config";
import { checkScriptsManagerConfig, type ScriptsManagerConfig, configSchema as scriptsManagerSchema } from "@rockbot/scripts-manager";
import { checkWebToolsConfig, type WebToolsConfig, configSchema as webToolsSchema } from "@rockbot/web-tools";
import { lockFileBeside } from "../client/lock-file.ts";
import { UsageError } from "../usage-error.ts";

export interface UpOptions {
  readonly only?: string;
  readonly bus?: string;
  readonly port?: string;
  readonly host?: string;
  readonly allowAddress?: readonly string[];
  readonly config?: string;
  readonly mcpConfig?: string;
  readonly policy?: string;
  readonly audit?: string;
  readonly unsafeLocalScripts?: boolean;
}

/** What `rockbot up` starts. A service that is left out has no configuration. */
export interface UpConfig {
  readonly busUrl: string;
  readonly policyFile: string | undefined;
  /** Of all services: one process writes to a file. */
  readonly auditFile: string | undefined;
  readonly auditKey: string | undefined;
  readonly webTools: Readonly<WebToolsConfig> | undefined;
  /** Also left out if no file names servers. */
  readonly mcpBridge: Readonly<McpBridgeConfig> | undefined;
  readonly scriptsManager: Readonly<ScriptsManagerConfig> | undefined;
  readonly gateway: Readonly<GatewayConfig> | undefined;
}

const services = ["web-tools", "mcp-bridge", "scripts-manager", "gateway"];
const sections = ["webTools", "mcpBridge", "scriptsManager", "gateway"];

/**
 * Reads the options, the file and the environment, as the services' own mains would.
 * @throws {UsageError} or {ConfigError} with all faults at once
 */
export function readUpConfig(
  { only, bus, port, host, allowAddress, config: file, mcpConfig, policy, audit, unsafeLocalScripts }: UpOptions,
  env: Readonly<Record<string, string | undefined>>,
): UpConfig {
  const chosen = new Set(only === undefined ? services : only.split(",").map((name) => name.trim()));
  const faults = [...chosen].filter((name) => !services.includes(name)).map((name) => unknownService(name));
  if (!chosen.has("gateway")) {
    for (const [option, value] of Object.entries({ "--port": port, "--host": host }))
      if (value !== undefined) faults.push(`${option}: belongs to the gateway, which --only leaves out`);
  }
  if (!chosen.has("web-tools") && allowAddress !== undefined) faults.push("--allow-address: belongs to web-tools, which --only leaves out");
  if (!chosen.has("mcp-bridge") && mcpConfig !== undefined) faults.push("--mcp-config: belongs to mcp-bridge, which --only leaves out");
  if (!chosen.has("scripts-manager") && unsafeLocalScripts !== undefined)
    faults.push("--unsafe-local-scripts: belongs to scripts-manager, which --only leaves out");
  if (port !== undefined && !/^\d{1,5}$/.test(port)) faults.push(`--port: expected a whole number from 0 to 65535, got ${JSON.stringify(port)}`);
  if (faults.length > 0) throw new UsageError(faults);

  const busUrl = bus ?? (env["ROCKBOT_BUS"] || undefined);
  // CONFIG_FILE is one service's whole file; here a file has a section for each.
  const serviceEnv = { ...env, CONFIG_FILE: undefined };
  const configFaults: string[] = [];
  function load<T>(
    schema: ConfigSchema<T>,
    section: string,
    overrides: Record<string, unknown>,
    check: LoadConfigOptions<T>["check"],
  ): Readonly<T> | undefined {
    try {
      return loadConfig(schema, {
        env: serviceEnv,
        file,
        section: { name: section, among: sections },
        overrides: { busUrl, policyFile: policy, ...overrides },
        check,
      });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      configFaults.push(...error.faults);
      return undefined;
    }
  }
  const webTools = chosen.has("web-tools")
    ? load(webToolsSchema, "webTools", { allowAddresses: allowAddress, auditFile: audit }, checkWebToolsConfig)
    : undefined;
  const bridge = chosen.has("mcp-bridge") ? load(mcpBridgeSchema, "mcpBridge", { mcpConfig, auditFile: audit }, checkMcpBridgeConfig) : undefined;
  const mcpBridge = bridge?.mcpConfig === undefined && only === undefined ? undefined : withLockFile(bridge);
  const scriptsManager = chosen.has("scripts-manager")
    ? load(scriptsManagerSchema, "scriptsManager", { unsafeLocalScripts, auditFile: audit }, checkScriptsManagerConfig)
    : undefined;
  const gateway = chosen.has("gateway")
    ? load(gatewaySchema, "gateway", { host, port: port === undefined ? undefined : Number(port), auditFile: audit }, checkGatewayConfig)
    : undefined;

  const all = [webTools, bridge, scriptsManager, gateway];
  const toolServices = [webTools, bridge, scriptsManager];
  const busUrls = distinct(all.map((config) => config?.busUrl));
  const policyFiles = distinct(all.map((config) => config?.policyFile));
  const auditFiles = distinct(all.map((config) => config?.auditFile));
  const auditKeys = distinct(all.map((config) => config?.auditKey));
  if (busUrls.length > 1) configFaults.push("busUrl: the sections name different buses, and one process has one. Use --bus");
  if (policyFiles.length > 1) configFaults.push("policyFile: the sections name different files, and one process has one. Use --policy");
  if (auditFiles.length > 1) configFaults.push("auditFile: the sections name different files, and one process has one. Use --audit");
  if (auditKeys.length > 1) configFaults.push("auditKey: the sections have different ones, and one file has one. Set AUDIT_KEY");
  if (distinct(toolServices.map((config) => config?.redisUrl)).length > 1)
    configFaults.push("redisUrl: the sections of the tool services name different ones, and the limits of a caller are counted in one");
  if (configFaults.length > 0) throw new ConfigError([...new Set(configFaults)]);
  return {
    busUrl: busUrls[0] ?? "memory:",
    policyFile: policyFiles[0],
    auditFile: auditFiles[0],
    auditKey: auditKeys[0],
    webTools,
    mcpBridge,
    scriptsManager,
    gateway,
  };
}

/** What is approved of servers is to outlive this process. */
function withLockFile(bridge: Readonly<McpBridgeConfig> | undefined): Readonly<McpBridgeConfig> | undefined {
  if (bridge?.mcpConfig === undefined || bridge.redisUrl !== undefined || bridge.mcpLockFile !== undefined) return bridge;
  const mcpLockFile = lockFileBeside(bridge.mcpConfig);
  return mcpLockFile === undefined ? bridge : { ...bridge, mcpLockFile };
}

const distinct = (values: readonly (string | undefined)[]): string[] => [...new Set(values)].filter((value) => value !== undefined);

function unknownService(name: string): string {
  const nearest = nearestName(name, services);
  return `--only: there is no service ${JSON.stringify(name)}. ${nearest === undefined ? `There are: ${services.join(", ")}` : `Did you mean "${nearest}"?`}`;
}
