import { startLoop } from "@rockbot/base";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { tools } from "@rockbot/contracts";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { makeDataDirectory } from "@rockbot/records";
import { type Embed, Meanings } from "@rockbot/search";
import { type StartServiceOptions, serveTools } from "@rockbot/tools";
import type { KnowledgeToolsConfig } from "./generated/config.ts";
import { commonScopes, Reader } from "./item/reader.ts";
import type { ConnectStore, KnowledgeStore } from "./store/knowledge-store.ts";
import type { KnowledgeDesk } from "./tools/knowledge-desk.ts";
import { type Advice, knowledgeProvider } from "./tools/knowledge-provider.ts";

/** The parts of the process that the service uses. */
export interface StartKnowledgeToolsOptions extends StartServiceOptions {
  readonly policy?: PolicyHolder<Readers<"spaces">> | undefined;
  /** The connection for the setting `databaseUrl`. */
  readonly connect: ConnectStore;
  /** Makes vectors of texts, by which the items that words have found are ranked, too. @default words alone rank */
  readonly embed?: Embed | undefined;
}

/** The tools, served. */
export interface RunningKnowledgeTools extends AsyncDisposable {
  readonly off: readonly { readonly tool: string; readonly reason: string }[];
}

/** Categories that a schema lists at most. */
const MAX_ADVICE = 100;
/** How often the service looks what other instances and imports have saved. */
const LOOK_MS = 30_000;

/**
 * Serves the knowledge tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {StoreUnavailableError} if the database cannot be opened
 */
export async function startKnowledgeTools(
  bus: Bus,
  config: Readonly<KnowledgeToolsConfig>,
  { log = silentLogger, signal, policy, connect, embed, ...options }: StartKnowledgeToolsOptions,
): Promise<RunningKnowledgeTools> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const store = started.use(await openStore(config, connect));
  const adviser = new Adviser({ store, kinds: config.kinds, policy, log });
  const desk: KnowledgeDesk = {
    store,
    kinds: config.kinds,
    meanings: embed === undefined ? undefined : new Meanings(embed),
    maxItemsPerCaller: config.maxItemsPerCaller,
    maxBytesPerCaller: config.maxBytesPerCaller,
    readerOf: (caller) => new Reader(caller, policy?.current()),
    onSaved: () => void adviser.look(),
    now: Date.now,
  };
  const provider = knowledgeProvider(desk, await adviser.advice(), { offerSearch: config.offerSearch });
  adviser.onAdvice = (advice) => provider.advise(advice);
  started.use(
    await serveTools(bus, provider, {
      ...options,
      policy,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  started.defer(() => adviser.idle());
  started.use(startLoop(LOOK_MS, () => adviser.look()));
  const running = started.move();
  const off = config.offerSearch
    ? []
    : [
        {
          tool: tools.search.name,
          reason: `It is another name of ${tools.knowledgeSearch.name}: OFFER_SEARCH=true offers it.`,
        },
      ];
  return { off, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

type StoreSettings = Pick<KnowledgeToolsConfig, "databaseUrl" | "dataDirectory" | "busyTimeoutMs">;

/**
 * The store that the settings name.
 * @param connect for a database that several machines share
 * @throws {StoreUnavailableError} if it cannot be opened
 */
export async function openStore(
  { databaseUrl, dataDirectory, busyTimeoutMs }: Readonly<StoreSettings>,
  connect: ConnectStore,
): Promise<KnowledgeStore> {
  if (databaseUrl !== undefined) return connect(databaseUrl, { timeoutMs: busyTimeoutMs });
  return (await import("./store/sqlite/sqlite-store.ts")).openSqliteStore(makeDataDirectory(dataDirectory), {
    busyTimeoutMs,
  });
}

interface AdviserParts {
  readonly store: KnowledgeStore;
  readonly kinds: readonly string[];
  readonly policy: PolicyHolder<Readers<"spaces">> | undefined;
  readonly log: Logger;
}

/**
 * Finds out which kinds and categories may be announced: those of items that every caller may read, and that strangers
 * had no part in.
 */
class Adviser {
  onAdvice: (advice: Advice) => void = () => {};
  readonly #parts: AdviserParts;
  #looking: Promise<void> | undefined;

  constructor(parts: AdviserParts) {
    this.#parts = parts;
  }

  async advice(): Promise<Advice> {
    const { store, kinds, policy } = this.#parts;
    const labels = await store.labels({
      kind: "category",
      scopes: commonScopes(policy?.current()),
      areOurs: true,
      limit: MAX_ADVICE,
    });
    return { kinds, categories: labels.map(({ name }) => name).sort() };
  }

  /** Looks again. One look at a time: what is saved during one is seen by the next. */
  look(): Promise<void> {
    this.#looking ??= this.advice()
      .then((advice) => this.onAdvice(advice))
      .catch((error: unknown) =>
        this.#parts.log.warn({ error }, "could not read the categories of knowledge. Models get the earlier ones"),
      )
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async idle(): Promise<void> {
    await this.#looking;
  }
}
