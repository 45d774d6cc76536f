import { version } from "@rockbot/base/version";
import { type Logger, silentLogger } from "@rockbot/bus";
import { namesHelp, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { Admission, SPARE_CONNECTIONS, WaitingRoom } from "@rockbot/edge/inbound";
import type { ToolEndpoint } from "@rockbot/mcp/serve";
import type { PolicyHolder } from "@rockbot/policy";
import { aliveAnswer, readyAnswer } from "@rockbot/process";
import type { AuditLog } from "@rockbot/records/audit";
import type { FileStore } from "@rockbot/records/files";
import type { LeaseStore } from "@rockbot/records/leases";
import type { RunStore } from "@rockbot/runs";
import { DEFAULT_TIMEOUT_MS, listTools, MAX_TIMEOUT_MS, type MissingList, type ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { A2aDoor } from "./a2a/a2a-door.ts";
import { cancelOwnCall } from "./calls/cancel-own-call.ts";
import { describeCall } from "./calls/describe-call.ts";
import { invoke } from "./calls/invoke.ts";
import { RunningKeys } from "./calls/running-keys.ts";
import { chatCompletions } from "./chat/chat-completions.ts";
import { embeddings } from "./chat/embeddings.ts";
import { MODEL_PATH, models } from "./chat/models.ts";
import { answerErrorOf } from "./chat/openai-error.ts";
import { consoleApp } from "./console/console-app.ts";
import { CONSOLE_PATH } from "./console/console-path.ts";
import { ConsoleSessions } from "./console/console-sessions.ts";
import { identifyOperator } from "./console/identify-operator.ts";
import { admission } from "./door/admission.ts";
import { createAuthenticator } from "./door/authenticate.ts";
import { type GatewayEnv, guard } from "./door/guard.ts";
import type { RefusalLog } from "./door/refusal-log.ts";
import { traceRequests } from "./door/trace-requests.ts";
import { FILE_PATH, FILES_PATH, type FileDoors, fileDoors, isUpload } from "./files/files-app.ts";
import { HttpErrorCode } from "./http/http-error.ts";
import { isListening, MCP_PATH, mcpDoor } from "./mcp/mcp-door.ts";
import { openApiDocument } from "./open-api.ts";
import { createOperatorAuthenticator, hasOperators } from "./operators/authenticate-operator.ts";
import type { FindCall } from "./operators/call-again.ts";
import type { LocalOperator } from "./operators/local-operator.ts";
import { type OperatorHttpApp, OperatorRight } from "./operators/operator.ts";
import { checkRight } from "./operators/operator-gate.ts";
import { operatorStream, STREAM_PATH } from "./operators/operator-stream.ts";
import { OPERATOR_PATH, operatorsApp } from "./operators/operators-app.ts";
import { checkSigned } from "./operators/signed-requests.ts";
import { isSessionEvents, SESSION_EVENTS_PATH, sessionEvents } from "./sessions/session-events.ts";
import type { SessionHub } from "./sessions/session-hub.ts";

/** Whom a gateway lets in, and the bounds of requests. */
// Many because: it is the one way in for all clients, each door is one of them, and all have a default.
export interface GatewayAppOptions {
  /**
   * The token of now. When given, every request but health probes must carry it as `Authorization: Bearer …`, unless
   * the policy has tokens.
   */
  readonly token?: (() => string | undefined) | undefined;
  /** Whose tokens say who calls, and what each may use. @default the gateway's agent calls, and all is listed */
  readonly policy?: PolicyHolder | undefined;
  /** The handler of `/operator/…` to the policy's operators. @default there is no such path */
  readonly operator?: OperatorHttpApp | undefined;
  /** Gets a line for each reading of operators of what belongs to others. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** Gives services the commands of operators. @default there are none */
  readonly commander?: Commander | undefined;
  /** Finds the calls that operators make again. @default those of this caller */
  readonly findCall?: FindCall | undefined;
  /** Where gateways see which signed requests others had. @default this one has its own */
  readonly webhookNotes?: Pick<LeaseStore, "hold"> | undefined;
  /** A further operator, for this process's life. @default those of the policy only */
  readonly localOperator?: LocalOperator | undefined;
  /** The console, with the folder of its page if that is built, for the operators that are. @default there is none */
  readonly console?: { readonly files: string | undefined } | undefined;
  /** The files of callers. @default there are none */
  readonly files?: FileStore | undefined;
  /** The handler of `/mcp`. @default there is no such path */
  readonly mcp?: (() => Promise<ToolEndpoint>) | undefined;
  /** Makes the handlers for A2A. @default there are no such paths */
  readonly a2a?:
    | ((parts: { readonly headers: Readonly<Record<string, string>>; readonly stallMs: number }) => A2aDoor)
    | undefined;
  /** Where what happens in the agent's sessions is heard. @default the agent cannot be asked here */
  readonly sessions?: SessionHub | undefined;
  /** Aborts when streams end that would never end by themselves: the process stops. */
  readonly ending?: AbortSignal | undefined;
  /** The calls that run under a key, shared by all doors. @default this app's own */
  readonly keys?: RunningKeys | undefined;
  /** True to take requests without a token if no token is configured. @default true */
  readonly isOpen?: boolean | undefined;
  /** Names, without port, by which the server may be addressed, besides those of loopback. @default [] */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may send requests. @default [] */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** How long a call may take when the request does not say. @default DEFAULT_TIMEOUT_MS */
  readonly timeoutMs?: number | undefined;
  /** The longest that a request may ask for. @default MAX_TIMEOUT_MS */
  readonly maxTimeoutMs?: number | undefined;
  /** How many requests run at once. @default 256 */
  readonly maxConcurrent?: number | undefined;
  /** Gets requests and calls that are refused here. @default nobody is */
  readonly refusals?: RefusalLog | undefined;
  /**
   * How often a comment keeps an event stream alive, and a stream of changes is asked whether its token still holds.
   * @default 10_000
   */
  readonly keepAliveMs?: number | undefined;
  /** Why calls cannot be carried now, in words; empty if they can. @default always ready */
  readonly notReady?: (() => readonly string[]) | undefined;
  /** The runs of all services: calls that wait for people, or run detached. @default none are known */
  readonly runs?: RunStore | undefined;
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal?: AbortSignal | undefined;
  readonly log?: Logger | undefined;
}

/** How long a client may take to read an answer. */
const ANSWER_MS = 30_000;
/** Streams on which MCP clients hear of changes, of all callers together. */
const MAX_LISTENERS = 1_024;
/** Files that are on their way in, and as many on their way out: each takes some MiB meanwhile. */
const TRANSFERS = 32;
/** Requests of operators that run at once, whatever callers do. */
const OPERATOR_PLACES = 16;
/** Operators who follow the overview at once. One of them may be half. */
const OPERATOR_STREAMS = 64;
const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/**
 * How many connections its server needs. They are those whose requests run, those that wait for their clients, and
 * those that may be on their way to be let in.
 */
export const connectionsOf = (maxConcurrent: number): number =>
  2 * (maxConcurrent + TRANSFERS + OPERATOR_PLACES + OPERATOR_STREAMS) + MAX_LISTENERS + SPARE_CONNECTIONS;

/** The front door as a function of a tool caller. Runs on Node's HTTP server only: see serveHttp. */
// Long because: the routes stand in the order in which requests meet them
export function createGatewayApp(caller: ToolCaller, options: GatewayAppOptions = {}): Hono<GatewayEnv> {
  const {
    token,
    policy,
    isOpen = true,
    allowedHosts = [],
    allowedOrigins = [],
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxTimeoutMs = MAX_TIMEOUT_MS,
  } = options;
  const {
    maxConcurrent = 256,
    keepAliveMs = 10_000,
    notReady = () => [],
    files,
    mcp,
    a2a,
    sessions,
    ending,
    keys = new RunningKeys(),
    refusals,
    runs,
    signal,
    log = silentLogger,
  } = options;
  const app = new Hono<GatewayEnv>();

  addProbes(app, notReady);
  const authenticate = createAuthenticator({ self: caller.agent, token, policy, isOpen });
  const callOptions = { timeoutMs, maxTimeoutMs, keepAliveMs, headers, keys, refusals, runs, signal, log };
  const invokeTool = invoke(caller, callOptions);
  const chat =
    sessions === undefined ? undefined : chatCompletions(caller, { ...callOptions, sessions, stallMs: ANSWER_MS });
  addOperators(app, caller, { ...options, invoke: invokeTool, chat, log });
  const toolsOf = (by: string | undefined) => listTools(caller.toolsOf(by ?? caller.agent));
  const agents = a2a?.({ headers, stallMs: ANSWER_MS });
  // A stranger reads from the card how to ask, and nothing else.
  if (agents !== undefined) for (const path of agents.cardPaths) app.get(path, agents.card);
  const identify = (c: Context<GatewayEnv>) => authenticate(c.env.incoming.headers.authorization);
  app.use(guard({ identify, allowedHosts, allowedOrigins, refusals }));
  const door =
    mcp === undefined ? undefined : mcpDoor(mcp, { authenticate, headers, stallMs: ANSWER_MS, recheckMs: keepAliveMs });
  const waiting = new WaitingRoom(maxConcurrent);
  const requests = new Admission({ maxRunning: maxConcurrent, waiting, answerMs: ANSWER_MS });
  const transfers = new Admission({ maxRunning: TRANSFERS, waiting: new WaitingRoom(TRANSFERS), answerMs: ANSWER_MS });
  const doors = files === undefined ? undefined : fileDoors(files, { self: caller.agent, headers, stallMs: ANSWER_MS });
  const isTransfer = ({ req }: Context): boolean => doors !== undefined && req.path.startsWith(FILES_PATH);
  // Streams of changes last, so they have places of their own, and are no requests that take long.
  const listeners = new Admission({ maxRunning: MAX_LISTENERS, waiting, answerMs: ANSWER_MS });
  const isListener = ({ req }: Context): boolean =>
    (door !== undefined && req.path === MCP_PATH && isListening(req.method, req.header("mcp-method"))) ||
    (sessions !== undefined && isSessionEvents(req.method, req.path));
  const isMcp = ({ req }: Context): boolean => req.path === MCP_PATH;
  const placesOf = (c: Context) => (isListener(c) ? listeners : isTransfer(c) ? transfers : requests);
  app.use(admission(placesOf, isMcp, (c) => isTransfer(c) && isUpload(c.req.method, c.req.path)));
  if (door !== undefined) app.on(["GET", "POST"], MCP_PATH, (c, next) => (isListener(c) ? door(c, next) : next()));
  if (sessions !== undefined) {
    const follow = sessionEvents(sessions, { authenticate, headers, stallMs: ANSWER_MS, keepAliveMs, signal: ending });
    app.get(SESSION_EVENTS_PATH, follow);
  }
  app.use(traceRequests());
  if (door !== undefined) app.on(["POST", "DELETE"], MCP_PATH, door);
  app.get("/v1/tools", async (c) => {
    const { missing } = await caller.discovered();
    return c.json({ tools: toolsOf(c.get("caller")), ...absent(missing) });
  });
  addGuideRoutes(app, caller);
  app.post("/v1/tools/:name/invoke", (c) => invokeTool(c));
  app.get(CALL_PATH, async (c) =>
    c.json(await describeCall(caller, c.req.param("toolCallId"), { by: c.get("caller"), runs })),
  );
  app.delete(CALL_PATH, async (c) => {
    await cancelOwnCall(caller, c.req.param("toolCallId"), { by: c.get("caller"), runs });
    return c.body(null, 204);
  });
  if (doors !== undefined) addFileRoutes(app, doors);
  if (chat !== undefined) {
    const embed = embeddings(caller, callOptions);
    addChatRoutes(app, (c) => chat(c), embed, models(caller, toolsOf));
  }
  if (agents !== undefined) app.all(`${agents.path}/*`, agents.requests);
  app.get("/openapi.json", async (c) => {
    await caller.discovered();
    return c.json(
      openApiDocument(toolsOf(c.get("caller")), {
        version,
        needsToken: c.req.header("authorization") !== undefined,
        maxTimeoutMs,
        hasChat: sessions !== undefined,
        hasFiles: files !== undefined,
      }),
    );
  });

  for (const path of ["/v1/tools", "/v1/guides", "/v1/guides/:name", "/openapi.json"]) app.all(path, onlyMethod("GET"));
  app.all(CALL_PATH, onlyMethod("GET, DELETE"));
  app.all("/v1/tools/:name/invoke", onlyMethod("POST"));
  if (door !== undefined) app.all(MCP_PATH, onlyMethod("GET, POST, DELETE"));
  addFallbacks(app, log);
  return app;
}

/** The doors for operators, as long as there is one: their endpoints, and the console. */
function addOperators(
  app: Hono<GatewayEnv>,
  caller: ToolCaller,
  options: GatewayAppOptions & {
    readonly invoke: ReturnType<typeof invoke>;
    readonly chat: ReturnType<typeof chatCompletions> | undefined;
    readonly log: Logger;
  },
): void {
  const { policy, operator, localOperator: local, console, allowedHosts = [], allowedOrigins = [] } = options;
  if (operator === undefined || policy === undefined) return;
  const authenticate = createOperatorAuthenticator({ policy, local });
  const sessions = console === undefined ? undefined : new ConsoleSessions();
  const names = { allowedHosts, allowedOrigins, refusals: options.refusals };
  const admissions = new Admission({
    maxRunning: OPERATOR_PLACES,
    waiting: new WaitingRoom(OPERATOR_PLACES),
    answerMs: ANSWER_MS,
  });
  const viewers = new Admission({
    maxRunning: OPERATOR_STREAMS,
    waiting: new WaitingRoom(OPERATOR_STREAMS),
    answerMs: ANSWER_MS,
  });
  const identify = identifyOperator(authenticate, sessions, policy);
  const isStill = (c: Context<GatewayEnv>) => checkRight(identify(c), OperatorRight.Read);
  const stream = { identify: isStill, headers, stallMs: ANSWER_MS, signal: options.ending };
  const operators = operatorsApp(operator, {
    ...names,
    identify,
    admit: [
      admission(({ req }) => (req.path === STREAM_PATH ? viewers : admissions)),
      checkSigned(options.webhookNotes),
    ],
    stream: operatorStream(operator, stream),
    invoke: options.invoke,
    chat: options.chat,
    findCall: options.findCall,
    commander: options.commander,
    audit: options.audit,
    caller,
    policy,
    headers,
    log: options.log,
  });
  const pages =
    console === undefined || sessions === undefined
      ? undefined
      : consoleApp({ ...names, files: console.files, sessions, authenticate, local });
  for (const part of pages === undefined ? [operators] : [operators, pages]) addFallbacks(part, options.log);
  const isOn = () => hasOperators({ policy, local });
  app.all(`${OPERATOR_PATH}*`, (c, next) => (isOn() ? operators.fetch(c.req.raw, c.env) : next()));
  if (pages === undefined) return;
  app.all(`${CONSOLE_PATH}*`, (c, next) => (isOn() ? pages.fetch(c.req.raw, c.env) : next()));
  for (const path of ["/", CONSOLE_PATH.slice(0, -1)])
    app.get(path, (c, next) =>
      isOn() && /\btext\/html\b/.test(c.req.header("accept") ?? "") ? pages.fetch(c.req.raw, c.env) : next(),
    );
}

/** Routes above the guard need no token: probes come from machines that hold none. */
function addProbes(app: Hono<GatewayEnv>, notReady: () => readonly string[]): void {
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(headers)) c.env.outgoing.setHeader(name, value);
    await next();
  });
  app.get("/healthz", (c) => c.json(aliveAnswer.body, aliveAnswer.status));
  app.get("/readyz", (c) => {
    const { body, status } = readyAnswer(notReady());
    return c.json(body, status);
  });
}

type Answer = (c: Context<GatewayEnv>) => Promise<Response>;

function addChatRoutes(
  app: Hono<GatewayEnv>,
  chat: Answer,
  embed: Answer,
  { list, read }: ReturnType<typeof models>,
): void {
  app.post("/v1/chat/completions", chat);
  app.post("/v1/embeddings", embed);
  for (const path of ["/v1/chat/completions", "/v1/embeddings"]) app.all(path, onlyMethod("POST"));
  app.get("/v1/models", list);
  app.get(MODEL_PATH, read);
  for (const path of ["/v1/models", MODEL_PATH, SESSION_EVENTS_PATH]) app.all(path, onlyMethod("GET"));
}

function addFileRoutes(app: Hono<GatewayEnv>, doors: FileDoors): void {
  app.put(FILES_PATH, doors.put);
  app.get(FILES_PATH, doors.list);
  app.get(FILE_PATH, doors.read);
  app.delete(FILE_PATH, doors.remove);
  app.all(FILES_PATH, onlyMethod("GET, HEAD, PUT"));
  app.all(FILE_PATH, onlyMethod("GET, HEAD, DELETE"));
}

function addFallbacks(app: Hono<GatewayEnv>, log: Logger): void {
  const noPath =
    "Cannot answer the request: there is no such path. GET /openapi.json lists the paths; the agent answers POST /v1/chat/completions";
  app.notFound((c) => answerErrorOf(c, new ToolError(HttpErrorCode.NotFound, noPath)));
  app.onError((error, c) => {
    if (error instanceof ToolError) return answerErrorOf(c, error);
    log.error({ err: error }, "a request failed in the gateway");
    return answerErrorOf(
      c,
      new ToolError(ToolErrorCode.ExecutionFailed, "Cannot answer the request: the gateway failed. Its log says why"),
    );
  });
}

function addGuideRoutes(app: Hono<GatewayEnv>, caller: ToolCaller): void {
  app.get("/v1/guides", async (c) => {
    return c.json({
      guides: (await caller.getGuides(c.get("caller"))).map(({ name, summary, trust }) => ({ name, summary, trust })),
    });
  });
  app.get("/v1/guides/:name", async (c) => {
    const name = c.req.param("name");
    const guides = await caller.getGuides(c.get("caller"));
    const guide = guides.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    if (guide !== undefined)
      return c.json({ name: guide.name, summary: guide.summary, document: guide.document, trust: guide.trust });
    const names = guides.map((candidate) => candidate.name);
    const help = namesHelp(name, names);
    throw new ToolError(
      HttpErrorCode.NotFound,
      `Cannot read the guide ${JSON.stringify(name.slice(0, 80))}: there is none of that name. ${help}`,
    );
  });
}

const CALL_PATH = "/v1/calls/:toolCallId";

const onlyMethod =
  (method: string): MiddlewareHandler =>
  async (c) => {
    c.header("allow", method);
    return answerErrorOf(
      c,
      new ToolError(HttpErrorCode.MethodNotAllowed, `Cannot answer the request: this path takes ${method} only`),
    );
  };

/** What a list of tools says of the services whose tools are not in it. */
function absent(missing: readonly MissingList[]): object {
  const unusable = missing.flatMap(({ service, fault }) => (fault === undefined ? [] : [[service, fault] as const]));
  return {
    ...(missing.length === 0 ? {} : { missing: missing.map(({ service }) => service) }),
    ...(unusable.length === 0 ? {} : { unusable: Object.fromEntries(unusable) }),
  };
}
