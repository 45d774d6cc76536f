import type { KeyObject } from "node:crypto";
import { type Bus, createMemoryBus, type Logger } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy, type PolicyHolder, type Readers, type ServiceFacet } from "@rockbot/policy";
import { exitOnConfigError } from "@rockbot/process/config";
import { type AuditLog, openAuditLog } from "@rockbot/records/audit";
import { SharedRecords } from "@rockbot/records/shared";
import { readCommandCheck } from "@rockbot/tools/commands";
import { type RunServiceOptions, runService, type ServiceConfig } from "./run-service.ts";

/** Settings of every process on the bus. */
export interface BusServiceConfig extends ServiceConfig {
  readonly busUrl: string;
  readonly busHeartbeatSeconds: number;
  readonly busSilenceMs: number;
  readonly policyFile?: string | undefined;
  readonly auditFile?: string | undefined;
  readonly auditKey?: string | undefined;
  readonly operatorPublicKey?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly redisKeepsAll?: boolean | undefined;
}

/** The parts that a service on the bus is started with. */
export interface BusServiceParts<Config> {
  readonly bus: Bus;
  readonly config: Config;
  /** The settings as they are now: a secret in a file may have changed. */
  readonly current: () => Config;
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
  readonly policy: PolicyHolder<Readers<ServiceFacet>>;
  /** The key by which it knows commands of operators; undefined if it obeys none. */
  readonly operatorKey: KeyObject | undefined;
  /** Aborts when the grace after the first signal is over. */
  readonly signal: AbortSignal;
  /** The records that instances share in the configured Redis. They are closed after the service has drained. */
  readonly records: SharedRecords;
}

/** The name of a service on the bus, its settings and its start, and who reaches it. */
export interface RunBusServiceOptions<Config> extends RunServiceOptions<Config, BusServiceParts<Config>> {
  /** True if clients connect to it: it answers them with an error while the bus is away. @default false */
  readonly hasClients?: boolean | undefined;
}

/** `runService` for a service on the bus: with the bus, the policy, and the audit log if there is a file for it. */
export function runBusService<Config extends BusServiceConfig>(options: RunBusServiceOptions<Config>): Promise<void> {
  const { service, load, hasClients = false, start } = options;
  return runService({
    service,
    load,
    async start({ config, current, log, signal, stopping, stack, unreadyWhile }) {
      const {
        busUrl,
        busHeartbeatSeconds: heartbeatSeconds,
        busSilenceMs: silenceMs,
        policyFile,
        auditFile,
        auditKey,
      } = config;
      const { redisUrl: url, redisKeepsAll: keepsAll } = config;
      if (busUrl === "memory:")
        log.warn({}, "the bus is in this process's memory, and no other process can join it. Set BUS_URL to amqp://…");
      const policy = stack.use(await exitOnConfigError(() => openPolicy(policyFile, { log })));
      const { identity } = policy.current().document;
      const operatorKey = await exitOnConfigError(async () => commandCheckOf(config));
      const audit =
        auditFile === undefined ? undefined : stack.use(await openAuditLog(auditFile, { key: auditKey, log }));
      // Its user may get its rights while it starts. The address is read again for each connection: the file of
      // BUS_URL_FILE may hold another password by then.
      const bus = stack.use(
        busUrl === "memory:"
          ? createMemoryBus({ log })
          : await connectBus(() => load().busUrl, {
              name: service,
              identity,
              heartbeatSeconds,
              silenceMs,
              log,
              waitsForRights: true,
              signal: stopping,
            }),
      );
      // By now it has been reached. A service with clients answers them better than a balancer that has nobody to ask.
      if (!hasClients) unreadyWhile(() => (bus.isReady ? undefined : "the bus is away"));
      const redisUrl = url === undefined ? undefined : () => load().redisUrl ?? url;
      const records = stack.use(new SharedRecords({ redisUrl, keepsAll, log }));
      const isReached = records.seek();
      unreadyWhile(() => (isReached() ? undefined : "Redis has not been reached since the start"));
      return start({ bus, config, current, audit, log, policy, operatorKey, records, signal });
    },
  });
}

/** Connects as another user than the service's own, and gives up after a while. */
export const connectAs = (
  url: string,
  options: { readonly name: string; readonly identity: "trusted" | "verified"; readonly log: Logger },
): Promise<Bus> => connectBus(url, { ...options, connectTimeoutMs: CONNECT_AS_MS });

const CONNECT_AS_MS = 10_000;

/** @throws {ConfigError} if the setting holds no such key */
export const commandCheckOf = ({
  operatorPublicKey,
}: Pick<BusServiceConfig, "operatorPublicKey">): KeyObject | undefined =>
  operatorPublicKey === undefined ? undefined : readCommandCheck(operatorPublicKey, "operatorPublicKey");
