import { redactValue } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";
import {
  type Decoded,
  type Envelope,
  hasReadUntrusted,
  MCP_BRIDGE,
  type McpRegisterServerRequest,
  type McpUnregisterServerRequest,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import { createPolicy, type Decision, defaultPolicySource, type PolicyHolder } from "@rockbot/policy";
import { StoreUnavailableError } from "@rockbot/records";
import type { AuditLog } from "@rockbot/records/audit";
import type { RateStore } from "@rockbot/records/rates";
import { callerOf, checkNarrowed, checkUnasked, type Identity, type PolicyTurns, takeRates } from "@rockbot/tools";
import type { ServerRegistrar } from "./server-registrar.ts";

export interface ServerRequestsParts {
  readonly registrar: Pick<ServerRegistrar, "register" | "unregister">;
  readonly identity: Pick<Identity, "senderOf">;
  /** @default nobody may register servers, as that is dangerous and nothing allows it */
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** What callers have used up. */
  readonly rates: RateStore;
  /** The turns of the bridge's own tools: a bound of the policy holds for both. */
  readonly turns: PolicyTurns;
  /** Gets a line for each decision. */
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
}

/** The agent waits 30 s, and a server is tried within that. */
const MAX_WAIT_MS = 5_000;
const BUSY = "Nothing was done: requests that came before still run. Try again later.";

/** An error as the answers on `mcp.manage` have it. */
export interface RequestFailure {
  readonly error: string;
  readonly code: string;
}

/**
 * Answers who wants to add or remove servers: holds to the policy as a call of the tool of that name does, and leaves a
 * line in the audit log.
 */
export class ServerRequests {
  readonly #parts: ServerRequestsParts;

  constructor(parts: ServerRequestsParts) {
    this.#parts = parts;
  }

  register(
    request: Decoded<McpRegisterServerRequest>,
    message: Envelope,
  ): Promise<RequestFailure | { readonly summary: string }> {
    return this.#decide("mcp_register_server", request, message, {
      argumentsOf: ({ serverName: server_name, type, url, command, args, env }) => ({
        server_name,
        type,
        url,
        command,
        arguments: args,
        env,
      }),
      run: async (value, agent, receivedAt) => ({
        summary: await this.#parts.registrar.register(value, agent, receivedAt),
      }),
    });
  }

  unregister(request: Decoded<McpUnregisterServerRequest>, message: Envelope): Promise<RequestFailure | undefined> {
    return this.#decide("mcp_unregister_server", request, message, {
      argumentsOf: ({ serverName }) => ({ server_name: serverName }),
      run: async ({ serverName }, agent) => {
        await this.#parts.registrar.unregister(serverName, agent);
        return undefined;
      },
    });
  }

  async #decide<Request, Result>(
    tool: string,
    request: Decoded<Request>,
    message: Envelope,
    /** `argumentsOf` gives those of the tool, for the policy's rules about them. */
    {
      argumentsOf,
      run,
    }: {
      readonly argumentsOf: (request: Request) => object;
      readonly run: (request: Request, agent: string, receivedAt: number) => Promise<Result>;
    },
  ): Promise<RequestFailure | Result> {
    const receivedAt = performance.now();
    const sender = this.#parts.identity.senderOf(message);
    const caller = callerOf(message, sender);
    let decision: Decision | undefined;
    try {
      if ("refusal" in sender) throw sender.refusal;
      decision = (this.#parts.policy?.current() ?? nothingAllowed()).decide({
        caller,
        tool,
        isDangerous: true,
        hasReadUntrusted: hasReadUntrusted(message),
      });
      if (decision.isDeniedAfterUntrusted)
        throw new ToolError(
          ToolErrorCode.Denied,
          `"${caller}" may not use "${tool}" now: untrusted content was read before. An operator can allow it by its full name under afterUntrusted in the policy.`,
        );
      if (!decision.isAllowed)
        throw new ToolError(
          ToolErrorCode.Denied,
          `"${caller}" may not use "${tool}". The operator's policy would have to allow it by its full name.`,
        );
      await takeRates(
        this.#parts.rates,
        { toolName: tool, arguments: Buffer.from(message.body).toString() },
        { decision, caller },
      );
      if (!request.ok) throw new ToolError(ToolErrorCode.InvalidArguments, request.fault.message);
      const given = Object.entries(argumentsOf(request.value)).filter(([, value]) => isGiven(value));
      checkNarrowed(tool, Object.fromEntries(given), { decision, caller });
      checkUnasked(tool, Object.fromEntries(given), { decision });
      using _turn = await this.#enter(tool, { caller, decision });
      const result = await run(request.value, caller, receivedAt);
      await this.#note(message, { tool, caller, decision, outcome: "ok", receivedAt });
      return result;
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      await this.#note(message, { tool, caller, decision, outcome: failure.code, receivedAt });
      return failure;
    }
  }

  async #enter(tool: string, call: { readonly caller: string; readonly decision: Decision }): Promise<Disposable> {
    const waiting = new AbortController();
    const giveUp = (): void => waiting.abort(new ToolError(ToolErrorCode.Overloaded, BUSY));
    const timer = setTimeout(giveUp, MAX_WAIT_MS);
    return await this.#parts.turns.enter(tool, { ...call, signal: waiting.signal }).finally(() => clearTimeout(timer));
  }

  async #note(
    message: Envelope,
    entry: {
      readonly tool: string;
      readonly caller: string;
      readonly decision: Decision | undefined;
      readonly outcome: string;
      readonly receivedAt: number;
    },
  ): Promise<void> {
    const { tool, caller, decision, outcome, receivedAt } = entry;
    this.#parts.log.info({ tool, caller, outcome }, "an agent asked to add or remove an MCP server");
    await this.#parts.audit?.write({
      service: MCP_BRIDGE,
      caller,
      tool,
      toolCallId: message.messageId,
      arguments: message.body,
      decision:
        decision === undefined ? "none" : decision.isAllowed && outcome !== ToolErrorCode.Denied ? "allowed" : "denied",
      policy: decision?.revision,
      hasReadUntrusted: hasReadUntrusted(message) || undefined,
      outcome,
      durationMs: Math.round((performance.now() - receivedAt) * 1000) / 1000,
    });
  }
}

/** A request has values also for arguments that a call of the tool leaves out. */
const isGiven = (value: unknown): boolean => value != null && value !== "auto" && Object.keys(Object(value)).length > 0;

const nothingAllowed = () => createPolicy(defaultPolicySource());

/** The original's messages have a text only, so the code stands in it, too. */
function failureOf(error: unknown): RequestFailure | undefined {
  if (error instanceof StoreUnavailableError)
    return failure(
      ToolErrorCode.Unavailable,
      "What is approved of MCP servers cannot be read or written now. Nothing was started. Try again later.",
    );
  return error instanceof ToolError ? failure(error.code, error.message) : undefined;
}

const failure = (code: string, message: string): RequestFailure => redactValue({ code, error: `${code}: ${message}` });
