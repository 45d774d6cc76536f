import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  Client,
  type Client as ClientType,
  type PriorDiscovery,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type StandardSchemaV1,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { startLoop, unlessAborted, within } from "@rockbot/base";
import { version } from "@rockbot/base/version";
import { boundedSchemaValidator } from "../schema/bounded-schema-validator.ts";
import { cleanSchema } from "../text/clean-schema.ts";
import { cleanText } from "../text/clean-text.ts";
import { callResult, type McpCallResult } from "./call/call-result.ts";
import { NotSentError } from "./call/not-sent-error.ts";
import { type AskPerson, answersTo, askedIn } from "./call/questions.ts";
import { withSchemaFault } from "./call/schema-fault.ts";
import { createTransport, type TransportType } from "./create-transport.ts";
import { type LeftOut, Listing } from "./incoming/listing.ts";
import { readIncoming } from "./incoming/read-incoming.ts";
import { structuredOf, TASK_ID } from "./incoming/readable-result.ts";
import { NetworkFault } from "./remote/network-fault.ts";
import type { McpServerAddress, McpTool } from "./server-options.ts";
import { activityOf, type ProcessActivity } from "./stdio/process-family.ts";
import { StdioTransport } from "./stdio/stdio-transport.ts";
import { markMcpCall, traceMeta } from "./trace-meta.ts";

/** The facts of a server that are remembered between connections, so that the next connection asks nothing twice. */
export interface KnownPeer {
  readonly type: TransportType;
  readonly prior: PriorDiscovery;
}

export interface ConnectMcpOptions {
  /** The time for the process to start and for the handshake. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly known?: KnownPeer | undefined;
  /** Tools came, went or changed: list them again. Several changes at once make one call. */
  readonly onToolsChanged: () => void;
  /** The server says something for a log, in the protocol's form or nearly so. */
  readonly onLog: (params: unknown) => void;
  /** Told of each message. */
  readonly onFrame: (direction: "sent" | "received", message: unknown) => void;
  /** The connection has ended, and not by disposal. Called once, with how its process ended, if it has one. */
  readonly onClosed: (exit: string | undefined) => void;
}

/** The timeout and the signal of one request to an MCP server. */
export interface McpCallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (update: {
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  }) => void;
  /**
   * Asks a person what the server asks for, where the server's era has such questions. @throws what ends the call
   * @default the call ends, in words
   */
  readonly ask?: AskPerson | undefined;
  /** Has a task followed that the server makes of the call. @default it may make none */
  readonly task?: TaskKeeping | undefined;
  /** Asked right before the call is sent: if it says no, it is not. @default yes */
  readonly mayStart?: (() => boolean) | undefined;
}

export type TaskMethod = "tasks/get" | "tasks/update" | "tasks/cancel";

/** What becomes of a task of the server. */
export interface TaskKeeping {
  /** The task that an earlier execution of the call has left: the call is not made again. */
  readonly id: string | undefined;
  /** Notes a task, right after it is known. @returns false if it is followed here alone, and nobody can be asked */
  readonly note: (id: string) => Promise<boolean>;
  /** Waits without the call's place among those that run. @default with it */
  readonly wait?: ((wait: () => Promise<void>) => Promise<void>) | undefined;
}

/** The id of a task that a server made of a call. */
export interface McpTask {
  readonly taskId: string;
}

/**
 * A connection to one MCP server, of either protocol era. Disposal ends it, and a server's process with all that it
 * started.
 */
export interface McpConnection extends AsyncDisposable {
  readonly peer: KnownPeer;
  readonly protocolVersion: string;
  /** The name that the server gives itself. */
  readonly serverName: string;
  /** The server's words about itself for models. */
  readonly instructions: string | undefined;
  /** When the server has said anything last, by `performance.now()`. */
  readonly heardAt: number;
  /** Asks for nothing but an answer. @throws whatever the SDK throws */
  ping(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
  /**
   * The activity of the server's program; undefined of a server that is none of ours, and where the system does not
   * say.
   */
  activity(): Promise<ProcessActivity | undefined>;
  /** All pages, up to a bound. @throws whatever the SDK throws */
  listTools(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<McpListing>;
  /**
   * Sends the call once.
   * @throws {NotSentError} if it has certainly not been sent; whatever the SDK throws otherwise: see `callError`
   */
  callTool(tool: McpTool, args: Record<string, unknown>, options: McpCallOptions): Promise<McpCallResult | McpTask>;
  /** Asks about a task. @throws as `callTool` */
  askTask(method: TaskMethod, params: object, options: Pick<McpCallOptions, "timeoutMs" | "signal">): Promise<unknown>;
}

export interface McpListing {
  readonly tools: readonly McpTool[];
  /** The tools that the server lists and that are not used, each with the reason. */
  readonly leftOut: readonly LeftOut[];
}

const CLIENT = { name: "rockbot", version };
/**
 * A server that says nothing to a question of the newer era by then is of the older one. Programs may have to be
 * fetched first.
 */
const PROBE_TIMEOUT_MS = 10_000;
const MAX_DESCRIPTION = 8 * 1024;
const MAX_TITLE = 200;
const MAX_INSTRUCTIONS = 4 * 1024;
/** A stream of changes that broke is opened again after this. */
const LISTEN_AGAIN_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;
const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/**
 * Connects to a server: finds its protocol era, and for an address that leaves it open, its transport. Some old servers
 * end when they are asked for their era; they are started once more and not asked.
 * @throws {ConnectError}
 */
export async function connectMcp(address: McpServerAddress, options: ConnectMcpOptions): Promise<McpConnection> {
  const { known, signal } = options;
  if (known !== undefined) return open(address, known.type, known.prior, options);
  const types: TransportType[] = address.type === "auto" ? ["http", "sse"] : [address.type];
  let failure: unknown;
  for (const type of types) {
    try {
      return await open(address, type, type === "sse" ? { kind: "legacy" } : undefined, options);
    } catch (error) {
      if (causeOf(failure, NetworkFault) === undefined) failure = error; // the other way hides its cause
      signal.throwIfAborted();
      if (!(error instanceof ConnectError) || error.isFinal) throw error;
    }
    if (type === "stdio" || type === "websocket") return open(address, type, { kind: "legacy" }, options);
  }
  throw failure;
}

/** A connection could not be made. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  /**
   * Another way of connecting would fail as well: the program cannot be started, nobody listens, or the credentials are
   * refused.
   */
  readonly isFinal: boolean;
  /** The end of what the server wrote to stderr. For the operator. */
  readonly diagnosis: string | undefined;

  constructor(
    message: string,
    { cause, isFinal, diagnosis }: { cause: unknown; isFinal: boolean; diagnosis: string | undefined },
  ) {
    super(message, { cause });
    this.isFinal = isFinal;
    this.diagnosis = diagnosis;
  }
}

async function open(
  address: McpServerAddress,
  type: TransportType,
  prior: PriorDiscovery | undefined,
  options: ConnectMcpOptions,
): Promise<McpConnection> {
  const { timeoutMs, signal } = options;
  const transport = createTransport(address, type);
  let listing = new Listing();
  let heardAt = performance.now();
  readIncoming(transport, {
    ...options,
    dropsRequests: () => client.getProtocolEra() === "modern",
    onHeard: () => (heardAt = performance.now()),
    onListBegins: () => (listing = new Listing()),
    readPage: (result) => listing.readPage(result),
  });
  let isOpen = false;
  let isDisposed = false;
  const client = createClient(timeoutMs, () => isOpen && options.onToolsChanged());
  client.fallbackRequestHandler = refuseRequest;
  client.onerror = () => {}; // a failure is reported by the call that fails
  const close = async (): Promise<void> => {
    isDisposed = true;
    await within(CLOSE_TIMEOUT_MS, client.close(), () => new Error("not closed in time")).catch(() => {});
    await transport.close().catch(() => {});
  };
  try {
    await connectInTime(client, transport, prior, { timeoutMs, signal });
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw connectError(error, transport);
  }
  isOpen = true;
  client.onclose = () => {
    if (isDisposed) return;
    isDisposed = true;
    options.onClosed(transport instanceof StdioTransport ? transport.exit : undefined);
  };
  const listening = keepListening(client, options.onToolsChanged);
  /** One list at a time is read. */
  let lists: Promise<unknown> = Promise.resolve();
  return {
    ...factsOf(client, type),
    get heardAt() {
      return heardAt;
    },
    ping: (options) => ping(client, options),
    activity: async () =>
      transport instanceof StdioTransport && transport.pid !== undefined ? activityOf(transport.pid) : undefined,
    listTools({ timeoutMs: listMs, signal: listSignal }) {
      if (client.getServerCapabilities()?.tools === undefined) return Promise.resolve({ tools: [], leftOut: [] });
      const listed = lists.then(() => readTools(client, () => listing, { timeoutMs: listMs, signal: listSignal }));
      lists = listed.catch(() => {});
      return listed;
    },
    async callTool(tool, args, options) {
      if (isDisposed) throw new NotSentError("the connection has ended");
      markMcpCall(type, client.getNegotiatedProtocolVersion());
      return await callOnce(client, tool, args, options);
    },
    async askTask(method, params, { timeoutMs: taskMs, signal: taskSignal }) {
      if (isDisposed) throw new NotSentError("the connection has ended");
      const _meta = {
        ...traceMeta(),
        [CLIENT_CAPABILITIES_META_KEY]: capabilities({ isAsking: true, isTasking: true }),
      };
      return await client.request({ method, params: { ...params, _meta } }, ANYTHING, {
        timeout: taskMs,
        signal: taskSignal,
      });
    },
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await close();
    },
  };
}

/** The server's facts about itself. */
function factsOf(
  client: ClientType,
  type: TransportType,
): Pick<McpConnection, "peer" | "protocolVersion" | "serverName" | "instructions"> {
  const discover = client.getDiscoverResult();
  return {
    peer: {
      type,
      prior:
        client.getProtocolEra() === "modern" && discover !== undefined
          ? { kind: "modern", discover }
          : { kind: "legacy" },
    },
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "unknown",
    serverName: cleanText(client.getServerVersion()?.name ?? "", 128),
    instructions: textOrNone(client.getInstructions(), MAX_INSTRUCTIONS),
  };
}

async function ping(client: ClientType, { timeoutMs, signal }: Parameters<McpConnection["ping"]>[0]): Promise<void> {
  const options = { timeout: timeoutMs, signal };
  // The newer era has no ping.
  await (client.getProtocolEra() === "modern" ? client.discover(options) : client.ping(options));
}

async function callOnce(
  client: ClientType,
  tool: McpTool,
  args: Record<string, unknown>,
  { timeoutMs, signal, onProgress, ask, task }: McpCallOptions,
): Promise<McpCallResult | McpTask> {
  const isModern = client.getProtocolEra() === "modern";
  const mayAsk = ask !== undefined && isModern;
  const isTasking = task !== undefined && isModern;
  const options = {
    timeout: timeoutMs,
    maxTotalTimeout: timeoutMs,
    resetTimeoutOnProgress: false,
    signal,
    onprogress: onProgress,
    allowInputRequired: mayAsk,
  };
  const _meta =
    mayAsk || isTasking
      ? { ...traceMeta(), [CLIENT_CAPABILITIES_META_KEY]: capabilities({ isAsking: mayAsk, isTasking }) }
      : traceMeta();
  let answers = {};
  for (let round = 0; ; round++) {
    const result: unknown = await client.callTool({ name: tool.name, arguments: args, _meta, ...answers }, options);
    const taskId = (result as CallToolResult)._meta?.[TASK_ID];
    if (typeof taskId === "string" && isTasking) return { taskId };
    if (taskId !== undefined) throw new SdkError(SdkErrorCode.UnsupportedResultType, "it answers with a task");
    const asked = askedIn(result);
    if (asked === undefined || ask === undefined)
      return withSchemaFault(
        callResult(result as CallToolResult),
        tool.outputSchema,
        structuredOf(result as CallToolResult),
      );
    const { inputRequests = {}, requestState } = asked;
    answers = { inputResponses: await answersTo(inputRequests, ask, round), requestState };
  }
}

/** A server of the older era would hold its call open while a person is asked. */
async function refuseRequest({ method }: { readonly method: string }): Promise<never> {
  const why = `"${method}" is not answered: nobody is asked while a call is open`;
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, why);
}

/** What the client of one call can do. A server of the newer era believes what the call says. */
const capabilities = ({ isAsking, isTasking }: { readonly isAsking: boolean; readonly isTasking: boolean }) => ({
  ...(isAsking ? { elicitation: { form: {}, url: {} } } : {}),
  ...(isTasking ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
});

const ANYTHING: StandardSchemaV1<unknown> = {
  "~standard": { version: 1, vendor: "rockbot", validate: (value) => ({ value }) },
};

function createClient(timeoutMs: number, onToolsChanged: () => void): ClientType {
  return new Client(CLIENT, {
    capabilities: {},
    listMaxPages: 0, // the listing ends it
    jsonSchemaValidator: boundedSchemaValidator, // the default one compiles schemas of strangers, and is in no bundle
    versionNegotiation: {
      mode: "auto",
      probe: { timeoutMs: Math.min(PROBE_TIMEOUT_MS, timeoutMs / 2), maxRetries: 0 },
    },
    inputRequired: { autoFulfill: false },
    listChanged: { tools: { autoRefresh: false, debounceMs: 100, onChanged: onToolsChanged } },
  });
}

function connectInTime(
  client: ClientType,
  transport: Transport,
  prior: PriorDiscovery | undefined,
  { timeoutMs, signal }: Pick<ConnectMcpOptions, "timeoutMs" | "signal">,
): Promise<unknown> {
  return within(
    timeoutMs,
    // The SDK's question for the era goes on whatever its signal says.
    unlessAborted(
      client.connect(transport, {
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs,
        signal,
        ...(prior === undefined ? {} : { prior }),
      }),
      signal,
    ),
    () => new Error(`it is not ready within ${timeoutMs} ms`),
  );
}

/** @param listing what has been read of the list that is being read */
async function readTools(
  client: ClientType,
  listing: () => Listing,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<McpListing> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const { tools } = await client.listTools(undefined, { timeout: timeoutMs, signal: inTime, cacheMode: "refresh" });
  const { used, leftOut } = listing();
  const taken = new Set(tools.map(({ name }) => name));
  const refused = used
    .filter(({ name }) => !taken.has(name))
    .map(({ name: tool }) => ({ tool, why: "its x-mcp-header is not a valid header name" }));
  return { tools: used.filter(({ name }) => taken.has(name)).map(toMcpTool), leftOut: [...leftOut, ...refused] };
}

/**
 * A newer server tells changes over a stream that is opened for them; when it ends, what changed meanwhile is not
 * known.
 */
function keepListening(client: ClientType, onToolsChanged: () => void): AsyncDisposable {
  let subscription = client.autoOpenedSubscription;
  if (subscription === undefined) return { async [Symbol.asyncDispose]() {} };
  let hasEnded = false;
  const watch = (): void => void subscription?.closed.then(() => (hasEnded = true));
  watch();
  return startLoop(LISTEN_AGAIN_MS, async () => {
    if (!hasEnded) return;
    try {
      subscription = await client.listen({ toolsListChanged: true }, { timeout: LISTEN_AGAIN_MS });
      hasEnded = false;
      watch();
      onToolsChanged();
    } catch {
      // The next round tries again, for as long as the connection lasts.
    }
  });
}

/** How the SDK begins the words of a failure that has nothing to do with versions. */
const PROBE = /^Version negotiation probe failed: /;

function connectError(error: unknown, transport: Transport): ConnectError {
  const isStdio = transport instanceof StdioTransport;
  const exit = isStdio ? transport.exit : undefined;
  const diagnosis = isStdio ? transport.stderr.trim() || undefined : undefined;
  const { message = String(error) } = causeOf(error, NetworkFault) ?? (error instanceof Error ? error : {});
  const reason = message.replace(PROBE, "");
  const status = (error as { status?: unknown }).status;
  const isFinal =
    causeOf(error, NotSentError) !== undefined ||
    status === 401 ||
    status === 403 ||
    (error as Error).name === "UnauthorizedError";
  return new ConnectError(exit === undefined || reason.includes(exit) ? reason : `${reason}; ${exit}`, {
    cause: error,
    isFinal,
    diagnosis,
  });
}

/** The first of the class among an error and its causes. */
function causeOf<Fault extends Error>(error: unknown, kind: new (...args: never[]) => Fault): Fault | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if (at instanceof kind) return at;
    at = at.cause ?? (at instanceof SdkError ? at.data : undefined);
  }
  return undefined;
}

function toMcpTool({ name, title, description, inputSchema, outputSchema, annotations }: Tool): McpTool {
  const shownTitle = textOrNone((title ?? annotations?.title)?.replaceAll(/\s+/g, " "), MAX_TITLE);
  return {
    name,
    ...(shownTitle === undefined ? {} : { title: shownTitle }),
    description: cleanText(description ?? title ?? "", MAX_DESCRIPTION),
    inputSchema: cleanSchema(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: cleanSchema(outputSchema) }),
    annotations: {
      readOnly: annotations?.readOnlyHint === true,
      idempotent: annotations?.idempotentHint === true,
      destructive: annotations?.destructiveHint !== false,
      openWorld: annotations?.openWorldHint !== false,
    },
  };
}

function textOrNone(text: string | undefined, maxLength: number): string | undefined {
  const clean = cleanText(text ?? "", maxLength).trim();
  return clean === "" ? undefined : clean;
}
