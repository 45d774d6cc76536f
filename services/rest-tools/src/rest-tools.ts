import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { createPublicFetch, type PublicFetch } from "@rockbot/edge/outbound";
import {
  type Approval,
  type ApprovalOutcome,
  approve,
  createMemoryTrustStore,
  openFileTrustStore,
  REST_PINS,
  type Rejected,
  type Rejection,
  readRejected,
  readWaiting,
  reject,
  type TrustStore,
  type Waiting,
  type WithdrawalOutcome,
} from "@rockbot/mcp/trust";
import { type StartServiceOptions, serveTools } from "@rockbot/tools";
import { ClientTokens } from "./credentials/client-tokens.ts";
import { type OffTool, readRestFile } from "./file/read-rest-file.ts";
import { watchRestFile } from "./file/watch-rest-file.ts";
import type { RestToolsConfig } from "./generated/config.ts";
import { DocumentPool } from "./openapi/document-pool.ts";
import { MAX_DOCUMENT_BYTES } from "./openapi/fetch-document.ts";
import { RestToolProvider } from "./rest-tool-provider.ts";

/** The parts of the process that the service uses. */
export interface StartRestToolsOptions extends StartServiceOptions {
  /** The variables that the file may name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where it is kept which operations are approved. @default the file `restLockFile`, or the memory of this process */
  readonly trustStore?: TrustStore | undefined;
}

/** The REST tools, served. */
export interface RunningRestTools extends AsyncDisposable {
  readonly off: readonly OffTool[];
  readonly notes: readonly string[];
  /** For operators, who come by a socket or a token: never for what comes over the bus. */
  readonly approvals: RestApprovals;
}

/** Decisions of operators about operations of OpenAPI documents. */
export interface RestApprovals {
  /** @throws {StoreUnavailableError} */
  waiting(): Promise<Waiting>;
  /** Approves exactly what was shown, as the operator `by`. @throws {StoreUnavailableError} */
  approve(approval: Approval, by: string): Promise<ApprovalOutcome>;
  /** @throws {StoreUnavailableError} */
  rejected(): Promise<Rejected>;
  /** @throws {StoreUnavailableError} */
  reject(rejection: Rejection, by: string): Promise<WithdrawalOutcome>;
}

/**
 * Serves the endpoints of a file and the operations of OpenAPI documents as tools. Resolves once calls are taken; the documents have been read by
 * then, or could not be. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {ConfigError} if the file has faults
 */
export async function startRestTools(
  bus: Bus,
  config: Readonly<RestToolsConfig>,
  { env, trustStore, log = silentLogger, signal, ...options }: StartRestToolsOptions,
): Promise<RunningRestTools> {
  signal?.throwIfAborted();
  const { restConfig, pin, refreshSeconds } = config;
  await using started = new AsyncDisposableStack();
  if (restConfig === undefined) log.warn({}, "there are no REST tools. Set REST_CONFIG to a file that names them");
  const file = restConfig === undefined ? undefined : readRestFile(restConfig, env);
  for (const { tool, reason } of file?.off ?? []) log.info({ tool, reason }, "a tool is off");
  const { store, filed } = started.use(openTrust(config, trustStore, log));
  const fetch = started.use(restFetch(config));
  const documentFetch = started.use(restFetch(config, MAX_DOCUMENT_BYTES));
  const documents = started.use(
    new DocumentPool({ fetch: documentFetch, store, filed, pin, refreshMs: refreshSeconds * 1_000, onChange: () => provider.changed(), log }),
  );
  const provider: RestToolProvider = new RestToolProvider(documents, { fetch, policy: options.policy, tokens: new ClientTokens(fetch), maxBytes: config.maxResponseBytes });
  provider.apply(file?.operations ?? []);
  await documents.apply(file?.imports ?? []);
  started.use(
    await serveTools(bus, provider, {
      ...options,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
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
    get notes() {
      return [
        ...documents.faults.map(({ name, why }) => `the OpenAPI document "${name}" could not be read: ${why}`),
        ...(documents.held.length === 0 ? [] : [`${documents.held.length} operations of OpenAPI documents wait for an approval: rockbot mcp approve`]),
      ];
    },
    approvals: approvalsOf(store, log),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What requests go out by. */
export function restFetch(
  { allowAddresses, allowPorts, requestTimeoutMs, idleTimeoutMs, maxResponseBytes, userAgent }: Readonly<RestToolsConfig>,
  maxBytes = maxResponseBytes,
): PublicFetch & AsyncDisposable {
  return createPublicFetch({ allowAddresses, allowPorts, maxBytes, timeoutMs: requestTimeoutMs, idleTimeoutMs, userAgent });
}

function approvalsOf(store: TrustStore, log: Logger): RestApprovals {
  const ofDocuments = <Shown extends { readonly server: string }>(shown: readonly Shown[]): Shown[] =>
    shown.filter(({ server }) => server.startsWith(REST_PINS));
  return {
    waiting: async () => ({ tools: ofDocuments((await readWaiting(store)).tools), servers: [] }),
    async approve({ tools }, by) {
      const outcome = await approve(store, { tools: ofDocuments(tools), servers: [] }, by);
      log.info({ operator: by, ...outcome }, "an operator approved operations of OpenAPI documents");
      return outcome;
    },
    rejected: async () => ({ tools: ofDocuments((await readRejected(store)).tools), servers: [] }),
    async reject({ tools }, by) {
      const outcome = await reject(store, { tools: ofDocuments(tools), servers: [] }, by);
      log.info({ operator: by, ...outcome }, "an operator rejected operations of OpenAPI documents");
      return outcome;
    },
  };
}

/** Disposal leaves a given store to its owner. */
function openTrust(
  { restLockFile, pin }: Readonly<RestToolsConfig>,
  given: TrustStore | undefined,
  log: Logger,
): { readonly store: TrustStore; readonly filed: TrustStore | undefined } & AsyncDisposable {
  const lockFile = restLockFile === undefined ? undefined : openFileTrustStore(restLockFile);
  const own = given === undefined && lockFile === undefined ? createMemoryTrustStore() : undefined;
  const store = given ?? lockFile ?? (own as TrustStore);
  if (store.where === "memory" && pin !== "file")
    log.info({}, "only this process knows which operations of OpenAPI documents are approved, and forgets it at a restart. Set REDIS_URL or REST_LOCK_FILE");
  return { store, filed: given === undefined ? undefined : lockFile, [Symbol.asyncDispose]: async () => void (await own?.[Symbol.asyncDispose]()) };
}
