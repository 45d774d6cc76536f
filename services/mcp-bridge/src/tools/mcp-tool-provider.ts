import { Header, mayBeAnnouncedMcpName, ToolError, ToolErrorCode, type ToolGuide } from "@rockbot/contracts";
import { type McpTool, serverAwayError } from "@rockbot/mcp";
import type { Tool, ToolProvider } from "@rockbot/tools";
import type { BridgedServer } from "../bridged-server.ts";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToolTrust } from "../trust/tool-trust.ts";
import { mcpTool } from "./mcp-tool.ts";
import { mcpToolGuide } from "./mcp-tool-guide.ts";

const GATHER_MS = 20;
const AWAY_RETRY_MS = 1_000;

/** The tools of all servers of a pool, under the names that they are announced with. */
export class McpToolProvider implements ToolProvider {
  readonly #pool: ServerPool;
  readonly #trust: Pick<ToolTrust, "refusalOn" | "refusalOf" | "heldAs" | "isBlind"> | undefined;
  /** One object for each tool for as long as it does not change. */
  readonly #made = new WeakMap<BridgedServer, WeakMap<McpTool, Tool>>();

  readonly #tell = new Set<() => void>();

  /** @param trust says why tools that are not offered are not called */
  constructor(pool: ServerPool, trust?: Pick<ToolTrust, "refusalOn" | "refusalOf" | "heldAs" | "isBlind">) {
    this.#pool = pool;
    this.#trust = trust;
  }

  get tools(): readonly Tool[] {
    return this.#pool.servers.flatMap((server) => server.tools.map((tool) => this.#toolOf(server, tool)));
  }

  get isWhole(): boolean {
    return this.#trust?.isBlind !== true && this.#pool.servers.every(({ isHeard }) => isHeard);
  }

  get guides(): readonly ToolGuide[] {
    const { servers } = this.#pool;
    return [
      mcpToolGuide(
        servers,
        servers.flatMap(({ name }) => this.#trust?.heldAs(name) ?? []),
      ),
    ];
  }

  /** Several changes in a row make one notification: many servers connect at the same time. */
  onChange(listener: () => void): () => void {
    let gathering: NodeJS.Timeout | undefined;
    const tell = (): void => {
      clearTimeout(gathering);
      gathering = undefined;
      listener();
    };
    const off = this.#pool.onChange(() => {
      gathering ??= setTimeout(tell, GATHER_MS);
    });
    this.#tell.add(tell);
    return () => {
      off();
      this.#tell.delete(tell);
      clearTimeout(gathering);
    };
  }

  /** Tells at once what has changed. */
  flush(): void {
    for (const tell of this.#tell) tell();
  }

  /**
   * Finds that server's tool by its own name, if the header names a server. Without: the tool that is announced under
   * the name, else the first server's that has one of the name. A name that is written exactly so comes before one that
   * differs in case.
   * @throws {ToolError} `unavailable` if the tool may be one of a server that has not been heard here yet: another
   * replica may have announced it
   */
  find(toolName: string, headers: Readonly<Record<string, string>>): Tool | undefined {
    const serverName = headers[Header.McpServer];
    if (serverName !== undefined && serverName !== "") return this.#findOn(serverName, toolName);
    const found = firstNamed(this.tools, toolName, ({ definition }) => definition.name) ?? this.#findAnywhere(toolName);
    const refusal = found === undefined ? this.#trust?.refusalOf(toolName) : undefined;
    if (refusal !== undefined) throw refusal;
    const unheard = found === undefined ? this.#pool.servers.filter((server) => !server.isHeard) : [];
    // A tool's own name may belong to any server that is being connected for the first time and has not yet listed its
    // tools.
    const isOwnName = !this.#pool.servers.some((server) => mayBeAnnouncedMcpName(toolName, server.name));
    if (isOwnName && unheard.some((server) => server.health.failures === 0)) {
      const message = `"${toolName.slice(0, 80)}" cannot be called now: the server that may offer it is connecting. Nothing was run. Try again later.`;
      throw new ToolError(ToolErrorCode.Unavailable, message, {
        retryAfterMs: AWAY_RETRY_MS,
        details: { mayHaveRun: false, reason: "server_away" },
      });
    }
    const away = unheard.find((server) => mayBeAnnouncedMcpName(toolName, server.name));
    if (away !== undefined) throw serverAwayError(away.health);
    return found;
  }

  #findOn(serverName: string, toolName: string): Tool {
    const server = this.#pool.find(serverName);
    if (server === undefined) {
      // The error names no other tool: the caller may not be one that may know of it.
      throw new ToolError(
        ToolErrorCode.ToolNotFound,
        `There is no MCP server "${serverName.slice(0, 80)}". List the servers again.`,
      );
    }
    const tool = firstNamed(server.tools, toolName, ({ name }) => name);
    if (tool !== undefined) return this.#toolOf(server, tool);
    const refusal = this.#trust?.refusalOn(server.name, toolName);
    if (refusal !== undefined) throw refusal;
    if (!server.isHeard) throw serverAwayError(server.health);
    throw new ToolError(
      ToolErrorCode.ToolNotFound,
      `The MCP server "${server.name}" offers no tool "${toolName.slice(0, 80)}".`,
    );
  }

  #findAnywhere(toolName: string): Tool | undefined {
    const all = this.#pool.servers.flatMap((server) => server.tools.map((tool) => ({ server, tool })));
    const found = firstNamed(all, toolName, ({ tool }) => tool.name);
    return found === undefined ? undefined : this.#toolOf(found.server, found.tool);
  }

  #toolOf(server: BridgedServer, tool: McpTool): Tool {
    const made = this.#made.get(server) ?? new WeakMap<McpTool, Tool>();
    this.#made.set(server, made);
    const known = made.get(tool) ?? mcpTool(server, tool, this.#pool.optionsOf(server.name));
    made.set(tool, known);
    return known;
  }
}

function firstNamed<T>(all: readonly T[], name: string, nameOf: (one: T) => string): T | undefined {
  return all.find((one) => nameOf(one) === name) ?? all.find((one) => nameOf(one).toLowerCase() === name.toLowerCase());
}
