import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { APPROVALS_PATH, REGISTRATIONS_PATH, REJECTIONS_PATH, REMOVALS_PATH } from "@rockbot/gateway/approvals";
import { StoreUnavailableError } from "@rockbot/records";
import {
  type Approval,
  type ApprovalOutcome,
  approve,
  openFileTrustStore,
  type Rejected,
  type Rejection,
  readRegistered,
  readRejected,
  readWaiting,
  reject,
  removeServers,
  type ShownServers,
  type StandingServer,
  type TrustStore,
  type Waiting,
  type WithdrawalOutcome,
} from "@rockbot/trust";
import { Agent, request } from "undici";
import { CommandError } from "../../command-error.ts";
import { liveSocket, NOT_RUNNING } from "../../runtime/own-socket.ts";
import { UsageError } from "../../usage-error.ts";
import { lockFileBeside } from "../lock-file.ts";
import { chooseMcpConfig } from "./choose-mcp-config.ts";

/**
 * Where it is read and decided what MCP servers may offer and which agents may have. All methods throw CommandError in
 * words.
 */
export interface ApprovalSource extends AsyncDisposable {
  readonly where: string;
  waiting(): Promise<Waiting>;
  approve(approval: Approval): Promise<ApprovalOutcome>;
  rejected(): Promise<Rejected>;
  reject(rejection: Rejection): Promise<WithdrawalOutcome>;
  registered(): Promise<readonly StandingServer[]>;
  remove(servers: ShownServers): Promise<WithdrawalOutcome>;
}

export interface ApprovalSourceOptions {
  /** The Redis that bridges share. */
  readonly redis: string | undefined;
  /** The file that one service keeps its approvals in. */
  readonly lockFile: string | undefined;
  /** The file of MCP servers that the command names. */
  readonly mcpConfig: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ANSWER_MS = 10_000;

/**
 * Redis if there is an address, or the file that is named, else the running `rockbot up`, else the file beside that of
 * the servers.
 * @throws {CommandError} if there is none of them
 */
export async function openApprovalSource({
  redis,
  lockFile,
  mcpConfig,
  env,
}: ApprovalSourceOptions): Promise<ApprovalSource> {
  const named = Object.entries({ "--redis": redis, "--lock-file": lockFile, "--mcp-config": mcpConfig }).flatMap(
    ([option, value]) => (value === undefined ? [] : [option]),
  );
  if (named.length > 1) throw new UsageError([`${named.join(" and ")}: give one of them`]);
  if (redis !== undefined) {
    const { connectRedisTrustStore } = await import("@rockbot/trust/redis");
    const store = await connectRedisTrustStore(redis).catch((error: unknown) => {
      if (error instanceof RangeError) throw new UsageError([`--redis: ${error.message}`]);
      throw toCommandError(error);
    });
    return storeSource(store);
  }
  if (lockFile !== undefined) {
    if (!existsSync(lockFile))
      throw new CommandError(
        `Cannot show what waits: there is no file ${lockFile}. The service writes it once it has something to keep`,
      );
    return storeSource(openFileTrustStore(lockFile));
  }
  const socketPath = await liveSocket(env);
  if (socketPath !== undefined) return socketSource(socketPath);
  const servers = chooseMcpConfig(mcpConfig, env);
  const file = servers === undefined ? undefined : lockFileBeside(servers);
  if (file !== undefined) return storeSource(openFileTrustStore(file));
  throw new CommandError(
    `Cannot show what agents ask for and have: ${NOT_RUNNING}. For bridges that share a Redis, give its address: --redis redis://host; for the servers of a file, --mcp-config FILE; for a service that keeps approvals in a file, --lock-file FILE`,
  );
}

function storeSource(store: TrustStore): ApprovalSource {
  const by = userInfo().username;
  return {
    where: store.where,
    waiting: () => readWaiting(store).catch(rethrow),
    approve: (approval) => approve(store, approval, by).catch(rethrow),
    rejected: () => readRejected(store).catch(rethrow),
    reject: (rejection) => reject(store, rejection, by).catch(rethrow),
    registered: () => readRegistered(store).catch(rethrow),
    remove: (servers) => removeServers(store, servers, by).catch(rethrow),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function socketSource(socketPath: string): ApprovalSource {
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });

  /** GET, or POST if there is something to be sent. */
  async function ask(path: string, decided?: object): Promise<unknown> {
    const options =
      decided === undefined ? { method: "GET" as const } : { method: "POST" as const, body: JSON.stringify(decided) };
    const { statusCode, body } = await request(`http://localhost${path}`, {
      ...options,
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error: Error) => {
      throw new CommandError(
        `Cannot ask about MCP servers: the running "rockbot up" does not answer (${error.message})`,
      );
    });
    const answer = (await body.json().catch(() => undefined)) as { readonly message?: string } | undefined;
    if (statusCode === 200 && answer !== undefined) return answer;
    throw new CommandError(
      statusCode === 404
        ? 'The running "rockbot up" has no MCP servers: name a file of them by --mcp-config'
        : (answer?.message ?? `The running "rockbot up" answers with status ${statusCode}`),
    );
  }

  return {
    where: 'the running "rockbot up"',
    waiting: async () => (await ask(APPROVALS_PATH)) as Waiting,
    approve: async (approval) => (await ask(APPROVALS_PATH, approval)) as ApprovalOutcome,
    rejected: async () => (await ask(REJECTIONS_PATH)) as Rejected,
    reject: async (rejection) => (await ask(REJECTIONS_PATH, rejection)) as WithdrawalOutcome,
    registered: async () => ((await ask(REGISTRATIONS_PATH)) as { readonly servers: StandingServer[] }).servers,
    remove: async (servers) => (await ask(REMOVALS_PATH, { servers })) as WithdrawalOutcome,
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

const toCommandError = (error: unknown): unknown =>
  error instanceof StoreUnavailableError ? new CommandError(error.message) : error;

function rethrow(error: unknown): never {
  throw toCommandError(error);
}
