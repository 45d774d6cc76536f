import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { registerSecret } from "@rockbot/base/redaction";
import { maskLikelySecrets, nearestName } from "@rockbot/contracts";
import { type CallLimitOptions, cleanEnvironment, type McpServerAddress, type OAuthOptions } from "@rockbot/mcp";
import { ConfigError, loadConfig } from "@rockbot/process/config";
import { isOthersPin } from "@rockbot/trust";
import type { BridgedServerOptions } from "../bridged-server.ts";
import { type McpBridgeServers, type ServerEntry, serversSchema } from "../generated/servers.ts";
import { expandVariables } from "./expand-variables.ts";
import { isLikelySecret } from "./is-likely-secret.ts";

/** The servers that agents can ask for. */
const CATALOGUE_NAME = /^[a-z0-9][a-z0-9-]{0,38}$/;
const NAME = /^[^\x00-\x1f\x7f]{1,128}$/;

const { properties } = serversSchema.schema as {
  properties: { mcpServers: { additionalProperties: { properties: object } }; defaults: { properties: object } };
};
const KNOWN = Object.keys(properties.mcpServers.additionalProperties.properties);
const KNOWN_TOP = Object.keys(properties);
const KNOWN_DEFAULTS = [...Object.keys(properties.defaults.properties), "mcpInitConcurrency"];
/** Names of other programs that look like one of ours by chance. */
const FOREIGN = /^(?:oauth2?|commands)$/;

/**
 * The known key of which one is a slip of the pen. What is to bound tools is held to be one sooner: a slip there must
 * not allow more.
 */
function slipOf(key: string, known: readonly string[]): string | undefined {
  if (key.length < 5 || FOREIGN.test(key)) return undefined; // a short name is near to others
  return nearestName(key, known, /tool/i.test(key) ? {} : { maxSlips: 2 });
}

/** What is to be said of a key of other programs. */
function wordsFor(key: string): string {
  if (key === "timeout")
    return "has no effect, as programs write it in seconds or in milliseconds. Write requestTimeoutMs";
  if (key === "requestTimeoutMs") return "has no effect here. Write toolTimeout";
  if (/^oauth2?$/.test(key)) return "has no effect. Write auth";
  if (/^(autoApprove|alwaysAllow|trust)$/.test(key))
    return "grants nothing here: the policy says who may use which tool, and operators approve what is offered";
  return "is none of our settings, and has no effect";
}

/**
 * The servers that a file names, in its order, those that are switched off left out. Values in it that are likely
 * secret become secrets of this process.
 * @throws {ConfigError} with all faults at once, and no value of the file or of a variable in it
 */
export function readServers(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly BridgedServerOptions[] {
  return readServerFile(file, env).servers;
}

export type ServerFile = ReturnType<typeof readServerFile>;

/**
 * The same, the entries that agents may register, what holds for all servers, and warnings in words for the operator:
 * what stands there and has no effect.
 * @param envFiles gets each `envFile` of the entries, also if there are faults, and its text; none if it cannot be read
 * @throws as `readServers`
 */
export function readServerFile(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  envFiles = new Map<string, string | undefined>(),
) {
  const content = loadConfig(serversSchema, { env: {}, file });
  const { mcpServers, McpServers, servers, catalogue = {}, Mcp, queues = {} } = content;
  const {
    toolTimeout,
    toolResponseMaxBytes,
    mcpInitConcurrency,
    traceMCP = false,
  } = { ...content, ...content.defaults };
  const { faults, warnings } = lookAtOthers("defaults", content.defaults ?? {}, KNOWN_DEFAULTS);
  const entries = [
    ...Object.entries({ mcpServers, McpServers, servers }).flatMap(([key, named = {}]) =>
      Object.entries(named as Record<string, ServerEntry>).map(([name, entry]) => ({
        path: `${key}.${name}`,
        name,
        entry,
      })),
    ),
    ...(Mcp?.Servers ?? []).map(({ Name, Command, Arguments, EnvironmentVariables }, i) => ({
      path: `Mcp.Servers.${i}`,
      name: Name,
      entry: {
        command: Command,
        ...(Arguments === undefined ? {} : { args: Arguments }),
        ...(EnvironmentVariables === undefined ? {} : { env: EnvironmentVariables }),
      } satisfies ServerEntry as ServerEntry,
    })),
    ...Object.entries(catalogue as Record<string, ServerEntry>).map(([name, entry]) => ({
      path: `catalogue.${name}`,
      name,
      entry,
      isCatalogue: true,
    })),
  ].map((each) => ({ isCatalogue: false, ...each }));
  const limits = readQueues(queues, faults);
  const names = new Map<string, string>();
  const isNone = [mcpServers, McpServers, servers, Mcp?.Servers, content.catalogue].every((part) => part === undefined);
  if (isNone)
    warnings.push(
      `it names no servers: they stand in mcpServers, and it has ${Object.keys(content).join(", ").slice(0, 200) || "nothing"}`,
    );
  for (const key of Object.keys(content).filter((each) => !KNOWN_TOP.includes(each))) {
    const slip = slipOf(key, KNOWN_TOP);
    if (slip !== undefined)
      warnings.push(`"${maskLikelySecrets(key.slice(0, 80))}" has no effect: did you mean "${slip}"?`);
    else if (key === "requestTimeoutMs") warnings.push(`"${key}" ${wordsFor(key)}`);
  }
  if (mcpInitConcurrency !== undefined)
    warnings.push("mcpInitConcurrency has no effect here: it is INIT_CONCURRENCY of mcp-bridge");
  const read = entries.flatMap(({ path, name, entry, isCatalogue }) => {
    if (isCatalogue && !CATALOGUE_NAME.test(name))
      faults.push(`${path}: an entry's name has 1 to 39 lower-case letters, digits and hyphens`);
    if (!NAME.test(name)) faults.push(`${path}: a server's name has 1 to 128 characters and no control characters`);
    if (isOthersPin(name))
      faults.push(`${path}: names that begin with "rest:" or "a2a:" are those of OpenAPI documents and A2A agents`);
    const other = names.get(name.toLowerCase());
    if (other !== undefined)
      faults.push(`${path}: "${name}" is named already, as "${other}"; case does not tell servers apart`);
    names.set(name.toLowerCase(), name);
    const reader = new EntryReader(path, entry, { env, queues: limits, folder: dirname(file), envFiles });
    const options = { maxResultChars: toolResponseMaxBytes, ...reader.read(name) };
    options.requestTimeoutMs ??= toolTimeout;
    faults.push(...reader.faults);
    warnings.push(...reader.warnings);
    return entry.enabled === false || entry.disabled === true ? [] : [{ options, isCatalogue }];
  });
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `the file ${file}: ${fault}`));
  const those = (wanted: boolean) =>
    read.flatMap(({ options, isCatalogue }) => (isCatalogue === wanted ? [options] : []));
  return { servers: those(false), catalogue: those(true), warnings, tracesAll: traceMCP };
}

/** The parts of the file around the entries. */
interface FileContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly queues: ReadonlyMap<string, CallLimitOptions>;
  /** The folder that the file is in. */
  readonly folder: string;
  readonly envFiles: Map<string, string | undefined>;
}

/** What is a slip of the pen is refused, as it may have been to forbid something; what other programs know is named. */
function lookAtOthers(
  path: string,
  part: object,
  known: readonly string[],
): { readonly faults: string[]; readonly warnings: string[] } {
  const others = Object.keys(part)
    .filter((key) => !known.includes(key))
    .map((key) => ({ key, slip: slipOf(key, known) }));
  return {
    faults: others.flatMap(({ key, slip }) =>
      slip === undefined ? [] : [`${path}: unknown property "${key}": did you mean "${slip}"?`],
    ),
    warnings: others.flatMap(({ key, slip }) =>
      slip === undefined ? [`${path}: "${maskLikelySecrets(key.slice(0, 80))}" ${wordsFor(key)}`] : [],
    ),
  };
}

function readQueues(
  queues: NonNullable<McpBridgeServers["queues"]>,
  faults: string[],
): ReadonlyMap<string, CallLimitOptions> {
  const limits = new Map<string, CallLimitOptions>();
  for (const [name, { concurrency, concurrent, waiting } = {}] of Object.entries(queues)) {
    const most = concurrency ?? concurrent;
    if (most === undefined) faults.push(`queues.${name}: it needs "concurrency"`);
    else if (concurrency !== undefined && concurrent !== undefined)
      faults.push(`queues.${name}: it has both "concurrency" and "concurrent": give one of them`);
    else limits.set(name, { concurrency: most, waiting });
  }
  return limits;
}

/** Reads one entry, and notes what is wrong with it. */
class EntryReader {
  readonly faults: string[] = [];
  readonly warnings: string[] = [];
  readonly #path: string;
  readonly #entry: ServerEntry;
  readonly #context: FileContext;
  readonly #secrets: string[] = [];

  constructor(path: string, entry: ServerEntry, context: FileContext) {
    this.#path = path;
    this.#entry = entry;
    this.#context = context;
  }

  read(name: string): BridgedServerOptions {
    const {
      toolsAllowed = [],
      allowedTools = [],
      includeTools = [],
      enabledTools = [],
      toolsDenied = [],
      deniedTools = [],
      excludeTools = [],
      disabledTools = [],
    } = this.#entry;
    const { requestTimeoutMs, connectTimeoutMs, trustAnnotations, stateful, cache, shared, pin, traceMCP } =
      this.#entry;
    const allowed = [...toolsAllowed, ...allowedTools, ...includeTools, ...enabledTools];
    const { faults, warnings } = lookAtOthers(this.#path, this.#entry, KNOWN);
    this.faults.push(...faults);
    this.warnings.push(...warnings);
    this.#lookAtNames();
    const address = this.#address();
    if (shared === false)
      this.#fault(
        "shared: all callers share one connection to a server. Name the server twice, and say in the policy who may use which",
      );
    return {
      name,
      address,
      secrets: [...new Set(this.#secrets)],
      ...(allowed.length === 0 ? {} : { allowed }),
      denied: [...toolsDenied, ...deniedTools, ...excludeTools, ...disabledTools],
      requestTimeoutMs,
      connectTimeoutMs,
      ...this.#queue(),
      trustsAnnotations: trustAnnotations,
      pin,
      isStateful: stateful,
      cacheMs: cache,
      ...(traceMCP === true ? { isTraced: true } : {}),
    };
  }

  /** Reports several names of one setting with different values, and drops none silently. */
  #lookAtNames(): void {
    for (const names of [["url", "serverUrl", "httpUrl"] as const, ["type", "transport"] as const]) {
      const given = names.filter((name) => this.#entry[name] !== undefined);
      if (
        new Set(
          given.map((name) => this.#entry[name]?.replace(/^streamable-?http$/i, "http").replace(/^ws$/, "websocket")),
        ).size > 1
      )
        this.#fault(
          `${given.map((name) => `"${name}"`).join(" and ")} are names for the same, and differ: give one of them`,
        );
    }
  }

  #queue(): Pick<BridgedServerOptions, "queue" | "queueName"> {
    const { queue } = this.#entry;
    const { queues } = this.#context;
    if (typeof queue !== "string") return { queue };
    const limit = queues.get(queue);
    if (limit === undefined)
      this.#fault(
        `queue: there is no "${queue}" in queues${queues.size === 0 ? "" : `: known are ${[...queues.keys()].join(", ")}`}`,
      );
    return { queue: limit, queueName: queue };
  }

  #address(): McpServerAddress {
    const { command, serverUrl, httpUrl, url = serverUrl ?? httpUrl, transport, type = transport } = this.#entry;
    const isStdio = type === "stdio" || (type === undefined && command !== undefined);
    if (command === undefined && url === undefined)
      this.#fault(`it needs "command" (a program) or "url" (a server that runs already)`);
    else if (command !== undefined && url !== undefined)
      this.#fault(`it has both "command" and "url": give one of them`);
    else if (isStdio && command === undefined) this.#fault(`type "stdio" needs "command"`);
    else if (!isStdio && url === undefined) this.#fault(`type "${type}" needs "url"`);
    return isStdio ? this.#stdio(command ?? "") : this.#remote(url ?? "", type);
  }

  #stdio(command: string): McpServerAddress {
    const { args = [], env = {}, envFile, cwd, headers, auth, uid, gid, memoryMib, outputMib } = this.#entry;
    if (headers !== undefined || auth !== undefined)
      this.#fault(`"headers" and "auth" belong to a server with an "url"`);
    if (gid !== undefined && uid === undefined)
      this.#fault(`gid: a group without "uid" leaves the program the bridge's own user: give both`);
    return {
      type: "stdio",
      command: this.#text("command", command),
      args: args.map((arg, i) => this.#text(`args.${i}`, arg)),
      env: cleanEnvironment({ ...this.#envOf(envFile), ...this.#secretTexts("env", env) }, this.#context.env, {
        isOtherUser: uid !== undefined,
      }),
      ...(cwd === undefined ? {} : { cwd: this.#text("cwd", cwd) }),
      uid,
      gid,
      memoryMib,
      ...(outputMib === undefined ? {} : { maxMessageBytes: outputMib * 1024 * 1024 }),
    };
  }

  /** The lines of a file of variables, which are taken as they are. */
  #envOf(given: string | undefined): Readonly<Record<string, string>> {
    if (given === undefined) return {};
    const file = resolve(this.#context.folder, this.#text("envFile", given));
    this.#context.envFiles.set(file, undefined);
    try {
      const text = readFileSync(file, "utf8");
      this.#context.envFiles.set(file, text);
      const values = Object.entries(parseEnv(text)).map(([name, value = ""]) => [name, value] as const);
      for (const [name, value] of values) this.#noteSecret(name, value);
      return Object.fromEntries(values);
    } catch (error) {
      this.#fault(
        `envFile: the file it names cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`,
      );
      return {};
    }
  }

  #remote(given: string, type: ServerEntry["type"]): McpServerAddress {
    const { headers = {}, auth, args, env, envFile, cwd, uid, gid, memoryMib, outputMib } = this.#entry;
    if ([args, env, envFile, cwd, uid, gid, memoryMib, outputMib].some((value) => value !== undefined))
      this.#fault(
        `"args", "env", "envFile", "cwd", "uid", "gid", "memoryMib" and "outputMib" belong to a server with a "command"`,
      );
    const url = this.#text("url", given);
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (given !== "" && (parsed === undefined || !/^(https?|wss?):$/.test(parsed.protocol)))
      this.#fault("url: expected http(s)://… or ws(s)://…");
    const isSocket = parsed?.protocol.startsWith("ws") === true;
    if (
      parsed !== undefined &&
      (type === "ws" || type === "websocket") !== isSocket &&
      (type !== undefined || !isSocket)
    )
      this.#fault(
        `url: ${isSocket ? `ws:// needs the type "websocket"` : `the type "websocket" needs ws:// or wss://`}`,
      );
    if (isSocket && auth?.type === "client_credentials")
      this.#fault(`auth: "client_credentials" is not possible over a WebSocket`);
    if (parsed !== undefined && parsed.password !== "")
      this.#noteSecret("password", decodeURIComponent(parsed.password));
    const all = this.#secretTexts("headers", headers);
    if (auth?.type === "bearer") {
      if (auth.token === undefined) this.#fault(`auth.token: "bearer" needs it`);
      all["authorization"] = `Bearer ${this.#secretText("auth.token", auth.token ?? "")}`;
    }
    const oauth = auth?.type === "client_credentials" ? this.#oauth(auth) : undefined;
    return {
      type: isSocket ? "websocket" : remoteType(type),
      url,
      headers: all,
      ...(oauth === undefined ? {} : { oauth }),
    };
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
    return Object.fromEntries(
      Object.entries(values).map(([name, value = ""]) => [name, this.#secretText(`${path}.${name}`, value)]),
    );
  }

  #secretText(path: string, value: string): string {
    const text = this.#text(path, value);
    this.#noteSecret(path.slice(path.lastIndexOf(".") + 1), text.replace(/^(?:Bearer|Basic) +/i, ""));
    return text;
  }

  #text(path: string, value: string): string {
    if (value.includes(`$\{input:`))
      this.#fault(
        `${path}: $\{input:…} asks a person, and nobody is asked here. Write $\{NAME}, and set that variable`,
      );
    const { text, used, missing } = expandVariables(value, this.#context.env);
    for (const [name, secret] of used) this.#noteSecret(name, secret);
    for (const name of missing)
      this.#fault(
        `${path}: the variable ${name} is not set. Set it, or name its file by ${name}_FILE, or write \${${name}:-default}`,
      );
    return text;
  }

  /** No error of this server shows any of these; other output leaves out only likely secrets. */
  #noteSecret(name: string, value: string): void {
    this.#secrets.push(value);
    if (isLikelySecret(name, value)) registerSecret(value);
  }

  #fault(text: string): void {
    this.faults.push(`${this.#path}: ${text}`);
  }
}

const remoteType = (type: ServerEntry["type"]): "auto" | "http" | "sse" =>
  type === undefined ? "auto" : type === "sse" ? "sse" : "http";
