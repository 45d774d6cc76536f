import type { KeyObject } from "node:crypto";
import type { Bus, Logger } from "@rockbot/bus";
import type { PolicyHolder, Readers, ServiceFacet } from "@rockbot/policy";
import type { Finding } from "@rockbot/process";
import type { ConfigSchema, LoadConfigOptions } from "@rockbot/process/config";
import type { ServiceConfig } from "@rockbot/process/run";
import type { BusServiceConfig } from "@rockbot/process/run-on-bus";
import type { AuditLog } from "@rockbot/records/audit";
import type { ToolCaller } from "@rockbot/tools";
import { type OpenedState, type State, type StateKind, stateKinds } from "./state.ts";

/** The keys of one kind of what a service remembers. */
export interface RedisKeys {
  readonly keys: string;
  /** What it may do with them. */
  readonly access: "all" | "read" | "write";
}

/**
 * What each service's user in Redis may do with its keys, as rules of Redis: no command that is dangerous, and none that
 * lists the keys of others.
 */
const REDIS_RIGHTS = "+@read +@write +@scripting +@connection -@dangerous -scan -randomkey -dbsize +info +time";
const PATTERNS = { all: "~", read: "%R~", write: "%W~" } as const;

/** The keys in Redis of what a service remembers; none if it remembers nothing there. */
export const redisKeys = (service: BusService | Server): RedisKeys[] =>
  service.onBus ? service.state.flatMap((kind) => keysOf(stateKinds[kind], service.name)) : [];

const keysOf = ({ keys, isReadOnly = false, adds }: StateKind, service: string): RedisKeys[] => [
  ...(keys === undefined
    ? []
    : [{ keys: keys.replace("SERVICE", service), access: isReadOnly ? "read" : "all" } as const]),
  ...(adds === undefined ? [] : [{ keys: adds, access: "write" } as const]),
];

/** What a service's user in Redis may do, as rules of Redis; empty if it remembers nothing there. */
export function redisRules(service: BusService | Server): string {
  const patterns = redisKeys(service).map(({ keys, access }) => `${PATTERNS[access]}${keys}`);
  return patterns.length === 0 ? "" : [...patterns, REDIS_RIGHTS].join(" ");
}

/**
 * The key of a service's settings in a file that several services share, and in the chart's values: `webTools` of
 * `web-tools`.
 */
export const settingsKey = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** What a service connects to besides the bus and Redis. */
export const egresses = {
  internet: "public addresses",
  configured: "addresses that its settings name",
  containers: "the socket of the container engine",
  cluster: "the API server of its cluster",
} as const;

export type Egress = keyof typeof egresses;

type Env = Readonly<Record<string, string | undefined>>;

/** The module with a service's settings: the generated `config.ts`, or a `settings.ts` that says more. */
export interface SettingsModule<Config> {
  readonly configSchema: ConfigSchema<Config>;
  /** What the schema cannot say, for `loadConfig`. */
  check?(config: Readonly<Partial<Config>>, isFaulty: (property: string) => boolean): readonly string[];
  /** Looks at files that settings name, before anything is started. @throws {ConfigError} with all faults of theirs */
  checkFiles?(config: Readonly<Config>, env: Env): void;
}

/**
 * A service that is started. Disposal drains: it takes no more work and waits for what runs, at most `shutdownGraceMs`.
 */
export interface RunningService extends AsyncDisposable {
  /** The tools that it does not offer here, and what is missing for each. */
  readonly off?: readonly { readonly tool: string; readonly reason: string }[];
  /** What was set up for it and does not work now, such as a document that cannot be read. */
  readonly faults?: readonly string[];
  /** What an operator should know of it. */
  readonly notes?: readonly string[];
  /** The calls that it makes itself. */
  readonly journal?: ToolCaller["journal"];
}

/** What each service is started with. */
export interface StartParts<Config> {
  readonly config: Readonly<Config>;
  /** The settings as they are now: a secret in a file may have changed. @default they stay as they are */
  readonly current?: (() => Readonly<Config>) | undefined;
  readonly env: Env;
  readonly log: Logger;
  /** Aborts when the grace after the first signal is over. */
  readonly signal: AbortSignal;
}

/**
 * What a service on the bus is started with: of what it remembers, the state that its entry names. Without Redis each
 * instance remembers by itself.
 */
export interface BusStartParts<Config, Reads extends ServiceFacet = ServiceFacet>
  extends StartParts<Config>,
    OpenedState {
  readonly bus: Bus;
  readonly policy: PolicyHolder<Readers<Reads>>;
  /** The service's name and topic, as its entry says them: for `serveTools`. */
  readonly service: string;
  readonly topic: string | undefined;
  readonly audit: AuditLog | undefined;
  /** The key by which it knows commands of operators; undefined if it obeys none. */
  readonly operatorKey?: KeyObject | undefined;
}

/** What only a deployment has to know of a service: the chart and compose read it. */
export interface Deployment {
  /** True if a release of the chart has it unless its values say otherwise. @default true */
  readonly enabled?: boolean;
  /** How many a release of the chart runs unless its values say otherwise. @default 1 */
  readonly replicas?: number;
  /** @default 50m of a processor and 128 MiB */
  readonly requests?: { readonly cpu: string; readonly memory: string };
  /** What it never gets above, in Kubernetes' units. @default 512Mi */
  readonly memoryLimit?: string;
  /** The target of the Dockerfile that its image is: `browser` has a Chromium. @default one with Node alone */
  readonly image?: "browser";
  /** Room for files of the moment in /tmp, which counts as memory, in Kubernetes' units. @default 16Mi */
  readonly scratch?: string;
  /**
   * Variables of Node and the C library, for one whose memory others would hold back too long.
   * @default those of the image
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Who connects to its port: clients from outside, or the service of that name. @default nobody */
  readonly reachedBy?: "outside" | (string & {});
  /** Variables of secret settings that it has in a deployment beside those that it cannot start without. */
  readonly secrets?: readonly string[];
}

interface Definition<Name extends string, Config> {
  /** Its folder here, its image, its user at the broker and at Redis, its subscription. */
  readonly name: Name;
  /** What it does, in one sentence for an operator. */
  readonly summary: string;
  /** The default of its setting `port`, if it listens to more than probes. */
  readonly port?: number;
  readonly egress: readonly Egress[];
  /** The profile of docker-compose.yml without which it is not started there. */
  readonly profile?: string;
  readonly deployment?: Deployment;
  readonly settings: () => Promise<SettingsModule<Config>>;
}

/** One entry of the list of services: a process on the bus. */
export interface BusServiceDefinition<Name extends string, Config, Running, Reads extends ServiceFacet>
  extends Definition<Name, Config> {
  /** Where calls of its tools come: one service owns a topic. */
  readonly topic?: string;
  /** The tools that it may offer, with `*` for any characters. */
  readonly tools?: readonly string[];
  /** Further topics that it alone takes messages from. */
  readonly owns?: readonly string[];
  readonly state: readonly State[];
  /** The facets of the policy that it reads itself, besides what decisions on calls carry. */
  readonly facets?: readonly Reads[];
  /** True if it makes calls on behalf of others, so that the policy has it among its delegates. */
  readonly isDelegate?: boolean;
  /** The setting without which `rockbot up` leaves it out, unless it is named. */
  readonly needs?: string;
  /** Finds out for `rockbot doctor` what of it this machine lacks. */
  examine?(config: Readonly<Config>, env: Env): Promise<readonly Finding[]>;
  /**
   * Starts it; a ToolError says in words why it cannot run here. Imports its code, so that the list itself loads none.
   */
  start(parts: BusStartParts<Config, Reads>): Promise<Running>;
}

/** One entry of the list of services: a process that the bus does not know, such as an MCP server. */
export interface ServerDefinition<Name extends string, Config, Running> extends Definition<Name, Config> {
  start(parts: StartParts<Config>): Promise<Running>;
}

/** Reads the settings of a service. */
export type LoadSettings<Config> = (
  options: Pick<LoadConfigOptions, "env" | "file" | "section" | "overrides">,
) => Readonly<Config>;

interface Loading<Config> {
  /**
   * Imports the settings' schema, and hands over what loads settings by it.
   * @throws {ConfigError} from that, with all faults at once
   */
  loader(): Promise<LoadSettings<Config>>;
}

export type BusService<
  Name extends string = string,
  Config = BusServiceConfig,
  Running = RunningService,
  Reads extends ServiceFacet = ServiceFacet,
> = BusServiceDefinition<Name, Config, Running, Reads> & Loading<Config> & { readonly onBus: true };

/** Tells whether a service's settings have the one that it needs. */
export const isConfigured = ({ needs }: Pick<BusService, "needs">, config: object): boolean =>
  needs === undefined || (config as Readonly<Record<string, unknown>>)[needs] !== undefined;

export type Server<Name extends string = string, Config = ServiceConfig, Running = RunningService> = ServerDefinition<
  Name,
  Config,
  Running
> &
  Loading<Config> & { readonly onBus: false };

/**
 * All that others have to know of a service on the bus, for the list in `index.ts`: what runs it, its settings, its
 * place on the bus, its state and whom it reaches. `rockbot up`, its main, compose, the policy there, the bundles and
 * docs/reference/services.md come from it. It loads nothing: `settings` and `start` import what they need when they are
 * asked.
 */
export function defineService<
  const Name extends string,
  Config extends BusServiceConfig,
  Running extends RunningService,
  const Reads extends ServiceFacet = never,
>(definition: BusServiceDefinition<Name, Config, Running, Reads>): BusService<Name, Config, Running, Reads> {
  return { ...definition, onBus: true, loader: () => loaderOf(definition) };
}

/** The same for a process that is not on the bus. */
export function defineServer<const Name extends string, Config extends ServiceConfig, Running extends RunningService>(
  definition: ServerDefinition<Name, Config, Running>,
): Server<Name, Config, Running> {
  return { ...definition, onBus: false, loader: () => loaderOf(definition) };
}

async function loaderOf<Config>({ settings }: Definition<string, Config>): Promise<LoadSettings<Config>> {
  const [{ loadConfig }, { elsewhere }, { configSchema, check }] = await Promise.all([
    import("@rockbot/process/config"),
    import("./elsewhere.ts"),
    settings(),
  ]);
  return (options) => loadConfig(configSchema, { ...options, elsewhere, check });
}
