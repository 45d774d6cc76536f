import { chmodSync, linkSync, rmSync, statSync } from "node:fs";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import {
  createGatewayApp,
  createSee,
  type Further,
  type GatewayAppOptions,
  type HttpApp,
  noSuchOperatorPath,
  OPERATOR_PATH,
  type Operator,
  type OperatorHttpApp,
  ownerNamed,
  RefusalLog,
  serveHttp,
} from "@rockbot/gateway";
import { MCP_PATH } from "@rockbot/gateway/approvals";
import { createAuditLogs } from "@rockbot/gateway/audit";
import { SessionHub } from "@rockbot/gateway/chat";
import type { BridgedServerHealth } from "@rockbot/mcp-bridge";
import type { PolicyHolder } from "@rockbot/policy";
import type { Finding } from "@rockbot/process";
import type { AuditLog } from "@rockbot/records/audit";
import type { ToolCaller } from "@rockbot/tools";
import type { OperatorApprovals } from "@rockbot/trust";
import { CommandError } from "../command-error.ts";
import type { OffTool } from "./off-tools.ts";
import { type OperatorAppParts, operatorApp } from "./operator-app.ts";
import { createMcpApp } from "./operator-mcp.ts";
import { CHECKOUT, HERE_PATH, type OwnSocket, ownSocket } from "./own-socket.ts";

/** Where the process says what it finds on its machine, with its settings. */
export const FINDINGS_PATH = "/operator/findings";

/** Where the process gives a link to its console, whose code holds once: `POST` only, and on the socket only. */
export const CODES_PATH = "/operator/console/codes";

/** How often the name is tried for, when it goes to others in between. */
const MAX_ATTEMPTS = 5;

export interface ServeSocketOptions extends Pick<GatewayAppOptions, "log" | "notReady"> {
  /** How long disposal waits for running requests, in milliseconds. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
}

/** @throws {CommandError} if a running `rockbot up` has the socket */
export async function refuseSecondUp(socket: OwnSocket): Promise<void> {
  if (await socket.isLive())
    throw new CommandError(
      `Cannot start: another "rockbot up" runs and listens on ${socket.path}. Stop it, or give this one a folder of its own by ROCKBOT_RUNTIME_DIR`,
    );
}

/** What the user who started the process reaches by a socket, besides the requests of operators. */
export interface OwnerParts {
  /** The servers of the bridge in this process, if there is one. */
  readonly mcpServers?: (() => readonly BridgedServerHealth[] | undefined) | undefined;
  /** The tools that are not offered here. @default none */
  readonly off?: (() => readonly OffTool[]) | undefined;
  /** The findings for `rockbot doctor`. @default nothing is found */
  readonly findings?: (() => Promise<readonly Finding[]>) | undefined;
  /** Makes a link to the console. @default there is none */
  readonly consoleLink?: (() => string | undefined) | undefined;
  /** The operator that this user is. @default one named `socket` */
  readonly owner?: Operator | undefined;
  /** The folder of its program. @default this one's */
  readonly root?: string | undefined;
  /** Where readings leave a line, and calls that are refused here. @default nowhere: they are logged and counted only */
  readonly audit?: AuditLog | undefined;
}

// Many because: each is a part of the process that one route of the socket asks.
export interface SocketParts extends OwnerParts {
  readonly bus: Bus;
  readonly caller: ToolCaller;
  /** The approvals of the services in this process, if they have any. */
  readonly approvals?: OperatorApprovals | undefined;
  /** The journals of all callers in this process, for the operator. @default the caller's */
  readonly journals?: (() => readonly ToolCaller["journal"][]) | undefined;
  /** What is known of services' calls. @default nothing */
  readonly figures?: OperatorAppParts["figures"];
  /** What else is known of the services in this process. @default nothing */
  readonly further?: (() => Promise<Further>) | undefined;
  /** Reads the calls that wait for people, and brings decisions. @default none are known */
  readonly waiting?: OperatorAppParts["waiting"];
  /** The runs of all services in this process. @default none are known */
  readonly runs?: OperatorAppParts["runs"];
  /** In force, for the operator to ask. @default nothing is said of any */
  readonly policy?: PolicyHolder | undefined;
}

/**
 * Serves the gateway's protocol on a unix socket that only this user can open, so without a token. It also serves the
 * endpoints that are for operators only. Replaces the socket of a process that is dead. The socket listens under a name
 * of its own first. It gets the name that others know only when it is ready and no other process has that. So of two
 * that start at once, one is refused.
 * @throws {CommandError} if a running `rockbot up` has the socket
 */
export async function serveSocket(
  socket: OwnSocket,
  {
    bus,
    caller,
    approvals,
    journals = () => [caller.journal],
    figures,
    further,
    waiting,
    runs,
    policy,
    audit,
    ...own
  }: SocketParts,
  { drainMs, signal, log = silentLogger, notReady }: ServeSocketOptions,
): Promise<AsyncDisposable> {
  const drainOver = new AbortController();
  await using started = new AsyncDisposableStack();
  const refusals = started.use(new RefusalLog({ audit, log }));
  const ending = new AbortController();
  const sessions = started.use(new SessionHub(bus, caller, { policy, log }));
  const gateway = createGatewayApp(caller, {
    sessions,
    ending: ending.signal,
    refusals,
    runs,
    signal: drainOver.signal,
    log,
    notReady,
  });
  const operator = operatorApp({
    bus,
    caller,
    journals,
    policy,
    approvals: approvals === undefined ? undefined : () => approvals,
    audits: createAuditLogs({ audit }),
    figures,
    further,
    waiting,
    runs,
    signal: drainOver.signal,
    log,
  });
  const app = ownerApp({ ...own, audit, operator, others: gateway, log });
  started.use(await listenAs(socket, app, { drainMs, signal, onDrainOver: () => drainOver.abort() }));
  started.defer(() => ending.abort());
  return started.move();
}

/**
 * Serves the endpoints for operators alone, likewise: for a process whose calls go over a broker. Several may run, and
 * the first has the socket. One that cannot have it goes without, and says so in its log.
 */
export async function serveOperatorSocket(
  env: Readonly<Record<string, string | undefined>>,
  { operator, ...own }: OwnerParts & { readonly operator: OperatorHttpApp },
  { drainMs, signal, log = silentLogger }: ServeSocketOptions,
): Promise<(AsyncDisposable & Pick<OwnSocket, "path">) | undefined> {
  const app = ownerApp({ ...own, operator, others: { fetch: noSuchOperatorPath }, log });
  try {
    const socket = ownSocket(env, "broker");
    socket.makeFolder();
    await refuseSecondUp(socket);
    const served = await listenAs(socket, app, { drainMs, signal, onDrainOver: () => {} });
    return { path: socket.path, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const { message: reason } = error;
    log.info({ reason }, 'has no socket: "rockbot open" and other commands of operators do not reach this process');
    return undefined;
  }
}

/** All that the socket answers: its own paths, those of operators, and others. */
function ownerApp({
  mcpServers = () => undefined,
  off = () => [],
  findings = async () => [],
  consoleLink = () => undefined,
  owner = ownerNamed("socket"),
  root = CHECKOUT,
  audit,
  operator,
  others,
  log,
}: OwnerParts & { readonly operator: OperatorHttpApp; readonly others: HttpApp; readonly log: Logger }): HttpApp {
  const mcp = createMcpApp(mcpServers);
  const see = createSee(owner, { audit, log });
  return {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === HERE_PATH) return Response.json({ root, off: off() });
      if (pathname === FINDINGS_PATH) return Response.json({ findings: await findings() });
      if (pathname === CODES_PATH && request.method === "POST") return Response.json({ link: consoleLink() ?? null });
      if (pathname === MCP_PATH) return mcp.fetch(request, env);
      return pathname.startsWith(OPERATOR_PATH)
        ? operator.fetch(request, { ...env, operator: owner, see })
        : others.fetch(request, env);
    },
  };
}

/** @throws {CommandError} if a running `rockbot up` has the socket */
async function listenAs(
  socket: OwnSocket,
  app: HttpApp,
  options: NonNullable<Parameters<typeof serveHttp>[2]>,
): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const ownPath = `${socket.path}.${process.pid}`;
  rmSync(ownPath, { force: true }); // left by a dead process of this number
  started.use(await serveHttp(app, { path: ownPath }, options));
  chmodSync(ownPath, 0o600);
  await takeName(socket, ownPath);
  const inode = inodeOf(ownPath);
  rmSync(ownPath);
  const server = started.move();
  return {
    async [Symbol.asyncDispose]() {
      if (inodeOf(socket.path) === inode) rmSync(socket.path, { force: true });
      await server.disposeAsync();
    },
  };
}

/** Gives the socket at `ownPath` the known name, which only one can get. */
async function takeName(socket: OwnSocket, ownPath: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const found = inodeOf(socket.path);
    await refuseSecondUp(socket);
    // Nothing is awaited from here on, and what is removed is what was found dead, not what came since.
    if (found !== undefined && inodeOf(socket.path) === found) rmSync(socket.path, { force: true });
    try {
      linkSync(ownPath, socket.path);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST" || attempt === MAX_ATTEMPTS)
        throw new CommandError(`Cannot listen on ${socket.path}: ${code}. Start again`);
    }
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
