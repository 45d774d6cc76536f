import { registerSecret } from "@rockbot/base/redaction";
import { type CallLimitOptions, cleanEnvironment, type McpServerAddress, type OAuthOptions } from "@rockbot/mcp";
import { isOthersPin } from "@rockbot/mcp/trust";
import { ConfigError, loadConfig } from "@rockbot/process/config";
import { type McpBridgeServers, type ServerEntry, serversSchema } from "../generated/servers.ts";
import type { BridgedServerOptions } from "./bridged-server.ts";
import { expandVariables } from "./expand-variables.ts";
import { isLikelySecret } from "./is-likely-secret.ts";

/** The servers that agents can ask for. */
const CATALOGUE_NAME = /^[a-z0-9][a-z0-9-]{0,38}$/;
const NAME = /^[^\x00-\x1f\x7f]{1,128}$/;

/**
 * The servers that a file names, in its order, those that are switched off left out. Values in it that are likely secret become secrets of this
 * process.
 * @throws {ConfigError} with all faults at once, and no value of the file or of a variable in it
 */
export function readServers(file: string, env: Readonly<Record<string, string | undefined>>): readonly BridgedServerOptions[] {
  return readServerFile(file, env).servers;
}

/** The same, and the entries that agents may register. @throws as `readServers` */
export function readServerFile(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly servers: readonly BridgedServerOptions[]; readonly catalogue: readonly BridgedServerOptions[] } {
  const { mcpServers = {}, catalogue = {}, Mcp, queues = {} } = loadConfig(serversSchema, { env: {}, file });
  const faults: string[] = [];
  const entries = [
    ...Object.entries(mcpServers as Record<string, ServerEntry>).map(([name, entry]) => ({ path: `mcpServers.${name}`, name, entry })),
    ...(Mcp?.Servers ?? []).map(({ Name, Command, Arguments, EnvironmentVariables }, i) => ({
      path: `Mcp.Servers.${i}`,
      name: Name,
      entry: {
        command: Command,
        ...(Arguments === undefined ? {} : { args: Arguments }),
        ...(EnvironmentVariables === undefined ? {} : { env: EnvironmentVariables }),
      } satisfies ServerEntry as ServerEntry,
    })),
    ...Object.entries(catalogue as Record<string, ServerEntry>).map(([name, entry]) => ({ path: `catalogue.${name}`, name, entry, isCatalogue: true })),
  ].map((each) => ({ isCatalogue: false, ...each }));
  const limits = readQueues(queues, faults);
  const names = new Map<string, string>();
  const read = entries.flatMap(({ path, name, entry, isCatalogue }) => {
    if (isCatalogue && !CATALOGUE_NAME.test(name)) faults.push(`${path}: an entry's name has 1 to 39 lower-case letters, digits and hyphens`);
    if (!NAME.test(name)) faults.push(`${path}: a server's name has 1 to 128 characters and no control characters`);
    if (isOthersPin(name)) faults.push(`${path}: names that begin with "rest:" or "a2a:" are those of OpenAPI documents and A2A agents`);
    const other = names.get(name.toLowerCase());
    if (other !== undefined) faults.push(`${path}: "${name}" is named already, as "${other}"; case does not tell servers apart`);
    names.set(name.toLowerCase(), name);
    const reader = new EntryReader(path, entry, { env, queues: limits });
    const options = reader.read(name);
    faults.push(...reader.faults);
    return entry.enabled === false || entry.disabled === true ? [] : [{ options, isCatalogue }];
  });
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `the file ${file}: ${fault}`));
  const those = (wanted: boolean) => read.flatMap(({ options, isCatalogue }) => (isCatalogue === wanted ? [options] : []));
  return { servers: those(false), catalogue: those(true) };
}

/** The parts of the file around the entries. */
interface FileContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly queues: ReadonlyMap<string, CallLimitOptions>;
}

function readQueues(queues: NonNullable<McpBridgeServers["queues"]>, faults: string[]): ReadonlyMap<string, CallLimitOptions> {
  const limits = new Map<string, CallLimitOptions>();
  for (const [name, { concurrency, concurrent, waiting } = {}] of Object.entries(queues)) {
    const most = concurrency ?? concurrent;
    if (most === undefined) faults.push(`queues.${name}: it needs "concurrency"`);
    else if (concurrency !== undefined && concurrent !== undefined) faults.push(`queues.${name}: it has both "concurrency" and "concurrent": give one of them`);
    else limits.set(name, { concurrency: most, waiting });
  }
  return limits;
}

/** Reads one entry, and notes what is wrong with it. */
class EntryReader {
  readonly faults: string[] = [];
  readonly #path: string;
  readonly #entry: ServerEntry;
  readonly #env: FileContext["env"];
  readonly #queues: FileContext["queues"];
  readonly #secrets: string[] = [];

  constructor(path: string, entry: ServerEntry, { env, queues }: FileContext) {
    this.#path = path;
    this.#entry = entry;
    this.#env = env;
    this.#queues = queues;
  }

  read(name: string): BridgedServerOptions {
    const { toolsAllowed, allowedTools, toolsDenied, deniedTools, requestTimeoutMs, connectTimeoutMs, trustAnnotations, stateful, cache, shared, pin } =
      this.#entry;
    const allowed = [...(toolsAllowed ?? []), ...(allowedTools ?? [])];
    const address = this.#address();
    if (shared === false) this.#fault("shared: all callers share one connection to a server. Name the server twice, and say in the policy who may use which");
    return {
      name,
      address,
      secrets: [...new Set(this.#secrets)],
      ...(allowed.length === 0 ? {} : { allowed }),
      denied: [...(toolsDenied ?? []), ...(deniedTools ?? [])],
      requestTimeoutMs,
      connectTimeoutMs,
      ...this.#queue(),
      trustsAnnotations: trustAnnotations,
      pin,
      isStateful: stateful,
      cacheMs: cache,
    };
  }

  #queue(): Pick<BridgedServerOptions, "queue" | "queueName"> {
    const { queue } = this.#entry;
    if (typeof queue !== "string") return { queue };
    const limit = this.#queues.get(queue);
    if (limit === undefined)
      this.#fault(`queue: there is no "${queue}" in queues${this.#queues.size === 0 ? "" : `: known are ${[...this.#queues.keys()].join(", ")}`}`);
    return { queue: limit, queueName: queue };
  }

  #address(): McpServerAddress {
    const { type, command, url } = this.#entry;
    const isStdio = type === "stdio" || (type === undefined && command !== undefined);
    if (command === undefined && url === undefined) this.#fault(`it needs "command" (a program) or "url" (a server that runs already)`);
    else if (command !== undefined && url !== undefined) this.#fault(`it has both "command" and "url": give one of them`);
    else if (isStdio && command === undefined) this.#fault(`type "stdio" needs "command"`);
    else if (!isStdio && url === undefined) this.#fault(`type "${type}" needs "url"`);
    return isStdio ? this.#stdio(command ?? "") : this.#remote(url ?? "");
  }

  #stdio(command: string): McpServerAddress {
    const { args = [], env = {}, cwd, headers, auth, uid, gid, memoryMib, outputMib } = this.#entry;
    if (headers !== undefined || auth !== undefined) this.#fault(`"headers" and "auth" belong to a server with an "url"`);
    if (gid !== undefined && uid === undefined) this.#fault(`gid: a group without "uid" leaves the program the bridge's own user: give both`);
    return {
      type: "stdio",
      command: this.#text("command", command),
      args: args.map((arg, i) => this.#text(`args.${i}`, arg)),
      env: cleanEnvironment(this.#secretTexts("env", env), this.#env, { isOtherUser: uid !== undefined }),
      ...(cwd === undefined ? {} : { cwd: this.#text("cwd", cwd) }),
      uid,
      gid,
      memoryMib,
      ...(outputMib === undefined ? {} : { maxMessageBytes: outputMib * 1024 * 1024 }),
    };
  }

  #remote(given: string): McpServerAddress {
    const { type, headers = {}, auth, args, env, cwd, uid, gid, memoryMib, outputMib } = this.#entry;
    if ([args, env, cwd, uid, gid, memoryMib, outputMib].some((value) => value !== undefined))
      this.#fault(`"args", "env", "cwd", "uid", "gid", "memoryMib" and "outputMib" belong to a server with a "command"`);
    const url = this.#text("url", given);
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (given !== "" && (parsed === undefined || !/^(https?|wss?):$/.test(parsed.protocol))) this.#fault("url: expected http(s)://… or ws(s)://…");
    const isSocket = parsed?.protocol.startsWith("ws") === true;
    if (parsed !== undefined && (type === "ws" || type === "websocket") !== isSocket && (type !== undefined || !isSocket))
      this.#fault(`url: ${isSocket ? `ws:// needs the type "websocket"` : `the type "websocket" needs ws:// or wss://`}`);
    if (isSocket && auth?.type === "client_credentials") this.#fault(`auth: "client_credentials" is not possible over a WebSocket`);
    if (parsed !== undefined && parsed.password !== "") this.#noteSecret("password", decodeURIComponent(parsed.password));
    const all = this.#secretTexts("headers", headers);
    if (auth?.type === "bearer") {
      if (auth.token === undefined) this.#fault(`auth.token: "bearer" needs it`);
      all["authorization"] = `Bearer ${this.#secretText("auth.token", auth.token ?? "")}`;
    }
    const oauth = auth?.type === "client_credentials" ? this.#oauth(auth) : undefined;
    return { type: isSocket ? "websocket" : remoteType(type), url, headers: all, ...(oauth === undefined ? {} : { oauth }) };
  }

  #oauth({ clientId, clientSecret, scope, issuer }: NonNullable<ServerEntry["auth"]>): OAuthOptions {
    for (const [name, value] of Object.entries({ clientId, clientSecret, issuer }))
      if (value === undefined) this.#fault(`auth.${name}: "client_credentials" needs it`);
    return {
      clientId: this.#text("auth.clientId", clientId ?? ""),
      clientSecret: this.#secretText("auth.clientSecret", clientSecret ?? ""),
      issuer: this.#text("auth.issuer", issuer ?? ""),
      ...(scope === undefined ? {} : { scope }),
    };
  }

  #secretTexts(path: string, values: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([name, value = ""]) => [name, this.#secretText(`${path}.${name}`, value)]));
  }

  #secretText(path: string, value: string): string {
    const text = this.#text(path, value);
    this.#noteSecret(path.slice(path.lastIndexOf(".") + 1), text.replace(/^(?:Bearer|Basic) +/i, ""));
    return text;
  }

  #text(path: string, value: string): string {
    const { text, used, missing } = expandVariables(value, this.#env);
    for (const [name, secret] of used) this.#noteSecret(name, secret);
    for (const name of missing)
      this.#fault(`${path}: the variable ${name} is not set. Set it, or name its file by ${name}_FILE, or write \${${name}:-default}`);
    return text;
  }

  /** In what this server fails with, none of these is told; elsewhere, only what is likely one. */
  #noteSecret(name: string, value: string): void {
    this.#secrets.push(value);
    if (isLikelySecret(name, value)) registerSecret(value);
  }

  #fault(text: string): void {
    this.faults.push(`${this.#path}: ${text}`);
  }
}

const remoteType = (type: ServerEntry["type"]): "auto" | "http" | "sse" => (type === undefined ? "auto" : type === "sse" ? "sse" : "http");
