import type { Logger } from "@rockbot/bus";
import { type McpRegisterServerRequest, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { cleanEnvironment } from "@rockbot/mcp";
import { Registrations, type RequestedServer, type TrustStore } from "@rockbot/trust";
import type { BridgedServerOptions } from "../bridged-server.ts";
import type { McpBridgeConfig } from "../generated/config.ts";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToolTrust } from "../trust/tool-trust.ts";
import { isHostAllowed, portsOf } from "./allowed-hosts.ts";
import { firstListing } from "./first-listing.ts";
import { lookAlike } from "./look-alike.ts";
import { readRequest } from "./read-request.ts";
import type { ServerSources } from "./server-sources.ts";
import { tryServer } from "./try-server.ts";

export interface ServerRegistrarParts {
  readonly store: TrustStore;
  readonly pool: ServerPool;
  readonly sources: ServerSources;
  readonly trust: Pick<ToolTrust, "waitingOn">;
  /** The entries of the operator's file that agents may name, as they stand now. */
  readonly catalogue: () => readonly BridgedServerOptions[];
  /** Where programs get PATH and the like from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

export type RegistrationSettings = Pick<
  McpBridgeConfig,
  "registration" | "registrationHosts" | "registrationAllowAddresses" | "registrationMaxPerAgent" | "registrationUid"
>;

/** Servers that are tried at once, of one agent and of all: each may start a program. */
const MAX_TRIALS = 4;
/** Who allowed a server, where no operator had to. */
const ALLOWED_HOST = "an allowed host";
/** From when the request came; the agent waits 30 s. */
const ANSWER_MS = 25_000;

/**
 * Lets agents register servers, as far as the operator has opened the door: entries of the catalogue, https addresses
 * on hosts that are listed, and whatever an operator has approved; programs only under the user that is set for them.
 * What is refused starts nothing and connects to nothing. A server is kept only once it has been connected.
 */
export class ServerRegistrar {
  readonly #registrations: Registrations;
  readonly #settings: RegistrationSettings;
  readonly #parts: ServerRegistrarParts;
  /** Agents whose server is being tried. */
  readonly #trying = new Set<string>();

  constructor(settings: RegistrationSettings, parts: ServerRegistrarParts) {
    this.#registrations = new Registrations(parts.store);
    this.#settings = settings;
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#settings.registration === "on";
  }

  /** Connects to the servers that agents have registered, here or elsewhere, as far as they would still be allowed. */
  async sync(): Promise<void> {
    if (!this.isOpen) return;
    const { registered } = await this.#registrations.read();
    this.#parts.sources.applyRegistered(
      registered.flatMap(({ request, by }) =>
        this.#isStillAllowed(request, by) ? (this.#optionsOf(request) ?? []) : [],
      ),
    );
  }

  /**
   * @param receivedAt when the request came, on the clock of `performance.now()`
   * @returns what there is now, in words @throws {ToolError}
   */
  async register(message: McpRegisterServerRequest, agent: string, receivedAt: number): Promise<string> {
    if (!this.isOpen) throw this.#closed();
    const request = readRequest(message, this.#settings.registrationHosts);
    if (request.address.kind === "command" && this.#settings.registrationUid === undefined)
      throw this.#denied(
        "programs cannot be asked for here, as no user is set that they would run as (registrationUid)",
      );
    await this.#refuseName(request, agent);
    if (await this.#registrations.isRejected(request, agent))
      throw this.#denied(
        `an operator has refused "${request.name}" or taken it away. Do without it, or ask for another; the same may be asked for a day later, or once an operator has approved it after all`,
      );
    const by = await this.#allowedBy(request, agent);
    const options = this.#optionsOf(request);
    if (options === undefined) throw this.#denied(`"${request.name}" is not allowed any more`);
    if (this.#trying.has(agent) || this.#trying.size >= MAX_TRIALS)
      throw new ToolError(
        ToolErrorCode.Overloaded,
        "Cannot register the server now: others are being tried. Nothing was started. Try again later.",
        {
          retryAfterMs: 5_000,
        },
      );
    this.#trying.add(agent);
    try {
      await tryServer(options, this.#parts.log);
    } finally {
      this.#trying.delete(agent);
    }
    const outcome = await this.#registrations.register(request, {
      agent,
      by,
      maxPerAgent: this.#settings.registrationMaxPerAgent,
    });
    if (outcome === "taken") throw this.#taken(request.name);
    if (outcome === "too_many") throw this.#tooMany();
    if (typeof outcome === "object") throw this.#denied(this.#full(outcome.mostBytes));
    await this.sync();
    return firstListing(this.#parts, request.name, receivedAt + ANSWER_MS - performance.now());
  }

  /** @throws {ToolError} if it is not one that the agent has registered */
  async unregister(name: string, agent: string): Promise<void> {
    if (!this.isOpen) throw this.#closed();
    const outcome = await this.#registrations.unregister(name.toLowerCase(), agent);
    const isFiled = this.#parts.sources.filed.some((filed) => filed.toLowerCase() === name.toLowerCase());
    if (outcome === "not_yours" || (outcome === "unknown" && isFiled))
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot unregister the server "${name.slice(0, 80)}": it is not one that you have registered. Only those can be.`,
      );
    if (outcome === "unknown")
      throw new ToolError(
        ToolErrorCode.ToolNotFound,
        `You have registered no server "${name.slice(0, 80)}". Nothing was removed.`,
      );
    await this.sync();
  }

  /** Before anything else: what is wrong with the name would not be cured by an approval. */
  async #refuseName({ name, address }: RequestedServer, agent: string): Promise<void> {
    const { registered } = await this.#registrations.read();
    const own = registered.filter((one) => one.agent === agent);
    const holder = registered.find(({ request }) => request.name === name);
    if (holder !== undefined && holder.agent !== agent) throw this.#taken(name);
    if (holder === undefined && own.length >= this.#settings.registrationMaxPerAgent) throw this.#tooMany();
    const catalogue = this.#parts.catalogue().map((entry) => entry.name);
    const others = [...this.#parts.sources.filed, ...catalogue, ...registered.map(({ request }) => request.name)];
    const alike = lookAlike(
      name,
      address.kind === "catalogue" || holder !== undefined ? others.filter((other) => other !== name) : others,
    );
    if (alike !== undefined || this.#parts.sources.filed.some((filed) => filed.toLowerCase() === name))
      throw this.#denied(
        `the name "${name}" is, or could be taken for, the one of another server. Choose a name of its own`,
      );
  }

  /** Who allows it. @throws {ToolError} if nobody does; then it may wait for an operator */
  async #allowedBy(request: RequestedServer, agent: string): Promise<string> {
    const { name, address } = request;
    const catalogue = this.#parts.catalogue().map((entry) => entry.name);
    if (address.kind === "catalogue") {
      if (catalogue.includes(name)) return "the catalogue";
      throw this.#denied(`there is no "${name}" in the operator's catalogue`);
    }
    if (address.kind === "url" && isHostAllowed(address.url, this.#settings.registrationHosts)) return ALLOWED_HOST;
    const operator = await this.#registrations.approvalOf(request, agent);
    if (operator !== undefined) return operator;
    const asked = await this.#registrations.ask(request, agent);
    if (asked === "new")
      this.#parts.log.warn(
        { server: name, agent },
        'an MCP server that an agent asks for waits until an operator runs "rockbot mcp approve"',
      );
    throw this.#denied(
      asked !== "too_many"
        ? "it needs an operator's approval, and waits for that now. Tell your user. Ask again, in the same words, once it is approved"
        : "it needs an operator's approval, and too many requests wait for that or have been refused already. Wait until they are decided",
    );
  }

  /**
   * A host that the operator has taken off the list is not connected to any more; what an operator has approved by
   * itself is.
   */
  #isStillAllowed({ address }: RequestedServer, by: string): boolean {
    return (
      address.kind !== "url" || by !== ALLOWED_HOST || isHostAllowed(address.url, this.#settings.registrationHosts)
    );
  }

  /**
   * How the server is reached; undefined if the operator does not have it in the catalogue any more, or has no user for
   * programs.
   */
  #optionsOf({ name, address }: RequestedServer): BridgedServerOptions | undefined {
    switch (address.kind) {
      case "catalogue":
        return this.#parts.catalogue().find((entry) => entry.name === name);
      case "url": {
        const { registrationHosts, registrationAllowAddresses } = this.#settings;
        const allowPorts = [...new Set([...portsOf(registrationHosts), Number(new URL(address.url).port) || 443])];
        const guard = { allowPorts, allowAddresses: registrationAllowAddresses };
        return { name, address: { type: address.transport, url: address.url, headers: {}, guard } };
      }
      case "command": {
        const { registrationUid: uid } = this.#settings;
        if (uid === undefined) return undefined;
        const env = cleanEnvironment(address.env, this.#parts.env, { isOtherUser: true });
        return { name, address: { type: "stdio", command: address.command, args: address.args, env, cwd: "/", uid } };
      }
    }
  }

  #closed(): ToolError {
    return new ToolError(
      ToolErrorCode.Denied,
      "Servers are not added or removed while the bridge runs. The operator names them in the bridge's file, which is read again when it changes.",
    );
  }

  #tooMany(): ToolError {
    return this.#denied(
      `you have as many as you may, ${this.#settings.registrationMaxPerAgent}, or there are too many in all. Unregister one of yours first`,
    );
  }

  #full(mostBytes: number): string {
    return `what is kept of servers that you have registered, now or before, has all of the ${mostBytes} bytes that an agent may have. Register one of those again, or ask an operator to remove what is pinned of them`;
  }

  #taken(name: string): ToolError {
    return this.#denied(`the name "${name}" is taken. Choose another one`);
  }

  /** With what would be allowed. */
  #denied(why: string): ToolError {
    const catalogue = this.#parts.catalogue().map(({ name }) => name);
    const allowed = [
      catalogue.length === 0 ? undefined : `by name alone: ${catalogue.slice(0, 20).join(", ")}`,
      this.#settings.registrationHosts.length === 0
        ? undefined
        : `https addresses on: ${this.#settings.registrationHosts.slice(0, 20).join(", ")}`,
    ].filter((text) => text !== undefined);
    return new ToolError(
      ToolErrorCode.Denied,
      `Cannot register the server: ${why}. Allowed without an operator are ${allowed.join("; ") || "none"}.`,
    );
  }
}
