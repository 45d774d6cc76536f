import { within } from "@rockbot/base";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { createPublicFetch, type PublicFetch } from "@rockbot/edge/outbound";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { type StartServiceOptions, serveTools } from "@rockbot/tools";
import {
  approvalCommands,
  createToolApprovals,
  openTrust,
  REST_PINS,
  type ToolApprovals,
  type TrustStore,
} from "@rockbot/trust";
import { ClientTokens } from "./credentials/client-tokens.ts";
import { type OffTool, readRestFile } from "./file/read-rest-file.ts";
import { watchRestFile } from "./file/watch-rest-file.ts";
import type { RestToolsConfig } from "./generated/config.ts";
import { DocumentPool } from "./openapi/document-pool.ts";
import { MAX_DOCUMENT_BYTES } from "./openapi/fetch-document.ts";
import { RestToolProvider } from "./rest-tool-provider.ts";

/** The parts of the process that the service uses. */
export interface StartRestToolsOptions extends StartServiceOptions {
  readonly policy?: PolicyHolder<Readers<"credentials">> | undefined;
  /** The variables that the file may name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where it is kept which operations are approved. @default the file `restLockFile`, or the memory of this process */
  readonly trustStore?: TrustStore | undefined;
  /** How long the start waits for documents, in milliseconds. @default 10_000 */
  readonly settleMs?: number | undefined;
}

/** The REST tools, served. */
export interface RunningRestTools extends AsyncDisposable {
  readonly off: readonly OffTool[];
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** Decisions of operators about operations of OpenAPI documents. */
  readonly approvals: ToolApprovals;
}

/**
 * Serves the endpoints of a file and the operations of OpenAPI documents as tools. Resolves once calls are taken.
 * Documents have been read by then, or could not be; the tools of one that takes longer than `settleMs` come later.
 * Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {ConfigError} if the file has faults
 */
export async function startRestTools(
  bus: Bus,
  config: Readonly<RestToolsConfig>,
  { env, trustStore, settleMs = 10_000, log = silentLogger, signal, ...options }: StartRestToolsOptions,
): Promise<RunningRestTools> {
  signal?.throwIfAborted();
  const { restConfig, pin, refreshSeconds } = config;
  await using started = new AsyncDisposableStack();
  if (restConfig === undefined) log.warn({}, "there are no REST tools. Set REST_CONFIG to a file that names them");
  const file = restConfig === undefined ? undefined : readRestFile(restConfig, env);
  for (const { tool, reason } of file?.off ?? []) log.info({ tool, reason }, "a tool is off");
  const trust = started.use(
    openTrust({ shared: trustStore, lockFile: config.restLockFile, onMemory: () => tellOfMemory(log) }),
  );
  const fetch = started.use(restFetch(config));
  const documentFetch = started.use(restFetch(config, MAX_DOCUMENT_BYTES));
  const documents = started.use(
    new DocumentPool({
      fetch: documentFetch,
      trust,
      pin,
      refreshMs: refreshSeconds * 1_000,
      onChange: () => provider.changed(),
      log,
    }),
  );
  const provider: RestToolProvider = new RestToolProvider(documents, {
    fetch,
    policy: options.policy,
    tokens: new ClientTokens(fetch),
    maxBytes: config.maxResponseBytes,
  });
  const approvals = createToolApprovals(trust.store, {
    log,
    owns: (server) => server.startsWith(REST_PINS),
    sources: () => documents.states,
  });
  provider.apply(file?.operations ?? []);
  await within(settleMs, documents.apply(file?.imports ?? []), () => new Error("late")).catch(() => {});
  started.use(
    await serveTools(bus, provider, {
      ...options,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      commands: approvalCommands(approvals),
      log,
    }),
  );
  let off = file?.off ?? [];
  if (restConfig !== undefined && file !== undefined)
    started.use(
      watchRestFile(
        restConfig,
        file,
        async (content) => {
          off = content.off;
          provider.apply(content.operations);
          await documents.apply(content.imports);
        },
        { env, log },
      ),
    );
  const running = started.move();
  return {
    get off() {
      return off;
    },
    get faults() {
      return faultsOf(documents);
    },
    get notes() {
      return notesOf(documents);
    },
    approvals,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const faultsOf = ({ faults }: DocumentPool): string[] =>
  faults.map(({ name, why }) => `the OpenAPI document "${name}" could not be read: ${why}`);

/** What an operator should know of them. */
const notesOf = (documents: DocumentPool): string[] => [
  ...faultsOf(documents),
  ...(documents.held.length === 0
    ? []
    : [`${documents.held.length} operations of OpenAPI documents wait for an approval: rockbot mcp approve`]),
];

/** What requests go out by. */
export function restFetch(
  {
    allowAddresses,
    allowPorts,
    requestTimeoutMs,
    idleTimeoutMs,
    maxResponseBytes,
    userAgent,
  }: Readonly<RestToolsConfig>,
  maxBytes = maxResponseBytes,
): PublicFetch & AsyncDisposable {
  const allowedBy = "ALLOW_ADDRESSES";
  return createPublicFetch({
    called: "the API",
    allowAddresses,
    allowedBy,
    allowPorts,
    maxBytes,
    timeoutMs: requestTimeoutMs,
    idleTimeoutMs,
    userAgent,
  });
}

const tellOfMemory = (log: Logger): void =>
  log.info(
    {},
    "only this process knows which operations of OpenAPI documents are approved, and forgets it at a restart. Set REDIS_URL or REST_LOCK_FILE",
  );
