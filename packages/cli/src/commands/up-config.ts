import { namesHelp } from "@rockbot/contracts";
import { ConfigError, envName } from "@rockbot/process/config";
import { type BusService, busServices, isConfigured, type ServiceName, settingsKey } from "@rockbot/services";
import { withLockFile } from "../client/lock-file.ts";
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

/** The options that are a setting of one service. */
const OWN_OPTIONS: readonly {
  readonly option: keyof UpOptions;
  readonly flag: string;
  readonly of: ServiceName;
  readonly setting: string;
}[] = [
  { option: "port", flag: "--port", of: "gateway", setting: "port" },
  { option: "host", flag: "--host", of: "gateway", setting: "host" },
  { option: "allowAddress", flag: "--allow-address", of: "web-tools", setting: "allowAddresses" },
  { option: "mcpConfig", flag: "--mcp-config", of: "mcp-bridge", setting: "mcpConfig" },
  {
    option: "unsafeLocalScripts",
    flag: "--unsafe-local-scripts",
    of: "scripts-manager",
    setting: "unsafeLocalScripts",
  },
];

type Config = Awaited<ReturnType<Awaited<ReturnType<BusService["loader"]>>>>;

/** One service that `rockbot up` starts. */
export interface ChosenService {
  readonly service: BusService;
  readonly config: Config;
}

/** The services and settings that `rockbot up` starts. */
export interface UpConfig {
  readonly busUrl: string;
  readonly policyFile: string | undefined;
  /** One value for all services: one process writes to a file. */
  readonly auditFile: string | undefined;
  readonly auditKey: string | undefined;
  /** The one Redis of the services that count what callers use up. */
  readonly redisUrl: string | undefined;
  /** Settings of the process itself: where probes are answered, its log, and its patience with the broker. */
  readonly own: Pick<Config, (typeof PROCESS_SETTINGS)[number]>;
  /** In the order of the list; without those that lack the setting they need. */
  readonly chosen: readonly ChosenService[];
}

/** A process has each of these once. A section that leaves its default takes the one of the others. */
const PROCESS_SETTINGS = [
  "healthPort",
  "healthHost",
  "logLevel",
  "logFormat",
  "traceRatio",
  "busHeartbeatSeconds",
  "busSilenceMs",
] as const;

const sections = busServices.map(({ name }) => settingsKey(name));

/**
 * Reads the options, the file and the environment, as the services' own processes would.
 * @throws {UsageError} or {ConfigError} with all faults at once
 */
export async function readUpConfig(
  options: UpOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<UpConfig> {
  const names = chosenNames(options);
  const faults: string[] = [];
  if (env["CONFIG_FILE"])
    faults.push(
      "the variable CONFIG_FILE: it names the settings of one service. Name a file with a section for each by --config, and unset it",
    );
  const loaded: ChosenService[] = [];
  for (const service of busServices.filter(({ name }) => names.has(name))) {
    const load = await service.loader();
    try {
      const config = load({
        env: { ...env, CONFIG_FILE: undefined }, // one service's whole file; here a file has a section for each
        file: options.config,
        section: { name: settingsKey(service.name), among: sections },
        overrides: overridesOf(service.name, options, env),
      });
      loaded.push({ service, config });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  const values = (setting: keyof Config, of = loaded): string[] => [
    ...new Set(of.flatMap(({ config }) => (config[setting] as string | undefined) ?? [])),
  ];
  const one = (setting: keyof Config, fault: string, of = loaded): string | undefined => {
    const [value, ...others] = values(setting, of);
    if (others.length > 0) faults.push(`${setting}: ${fault}`);
    return value;
  };
  const defaults = (await busServices[0]?.loader())?.({ env: {} });
  const ofProcess = (setting: (typeof PROCESS_SETTINGS)[number]): string | undefined => {
    const differing = loaded.filter(({ config }) => config[setting] !== defaults?.[setting]);
    return one(
      setting,
      `the sections have different ones, and one process has one. Set ${envName(setting)}`,
      differing,
    );
  };
  const counting = loaded.filter(({ service }) => service.state.includes("rates"));
  const common = {
    busUrl: one("busUrl", "the sections name different buses, and one process has one. Use --bus") ?? "memory:",
    policyFile: one("policyFile", "the sections name different files, and one process has one. Use --policy"),
    auditFile: one("auditFile", "the sections name different files, and one process has one. Use --audit"),
    auditKey: one("auditKey", "the sections have different ones, and one file has one. Set AUDIT_KEY"),
    redisUrl: one(
      "redisUrl",
      "the sections of the tool services name different ones, and the limits of a caller are counted in one",
      counting,
    ),
    own: Object.fromEntries(
      PROCESS_SETTINGS.map((setting) => [setting, ofProcess(setting) ?? defaults?.[setting]]),
    ) as UpConfig["own"],
  };
  if (faults.length > 0) throw new ConfigError([...new Set(faults)]);
  const chosen = loaded.filter(({ service, config }) => options.only !== undefined || isConfigured(service, config));
  return {
    ...common,
    chosen: chosen.map(({ service, config }) => ({
      service,
      config: config.redisUrl === undefined ? withLockFile(config) : config,
    })),
  };
}

/** @throws {UsageError} */
function chosenNames({ only, ...options }: UpOptions): ReadonlySet<string> {
  const known = busServices.map(({ name }) => name);
  const chosen = new Set(only === undefined ? known : only.split(",").map((name) => name.trim()));
  const faults = [...chosen]
    .filter((name) => !known.includes(name))
    .map((name) => `--only: there is no service ${JSON.stringify(name)}. ${namesHelp(name, known)}`);
  for (const { option, flag, of } of OWN_OPTIONS)
    if (!chosen.has(of) && options[option as keyof typeof options] !== undefined)
      faults.push(`${flag}: belongs to ${of}, which --only leaves out`);
  const { port } = options;
  if (port !== undefined && !/^\d{1,5}$/.test(port))
    faults.push(`--port: expected a whole number from 0 to 65535, got ${JSON.stringify(port)}`);
  if (faults.length > 0) throw new UsageError(faults);
  return chosen;
}

function overridesOf(
  service: string,
  options: UpOptions,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  const own = OWN_OPTIONS.filter(({ of }) => of === service).map(({ option, setting }) => [
    setting,
    option === "port" ? numberOf(options.port) : options[option],
  ]);
  return {
    busUrl: options.bus ?? (env["ROCKBOT_BUS"] || undefined),
    policyFile: options.policy,
    auditFile: options.audit,
    ...Object.fromEntries(own),
  };
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
