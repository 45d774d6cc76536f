import {
  allToolNames,
  MCP_BRIDGE,
  nearestTools,
  ToolError,
  ToolErrorCode,
  tools as toolDefinitions,
  toolServices,
} from "@rockbot/contracts";
import type { CallableTools } from "./callable-tools.ts";

/** When a tool may be there that a service says may come. */
const AWAITED_RETRY_MS = 2_000;

const MAX_NAMED = 20;
/** A wisp that somebody has saved. */
const WISP = /^wisp__/;

const never = (why: string): ToolError =>
  new ToolError(ToolErrorCode.Unavailable, `${why} Nothing was run.`, {
    isRetryable: false,
    details: { mayHaveRun: false },
  });

/**
 * Why a tool that is not listed cannot be called on behalf of a caller. The caller learns only of tools that it may
 * use.
 */
export function notServed(name: string, caller: string, tools: CallableTools): ToolError {
  const { directory } = tools;
  const shown = name.slice(0, 80);
  const missing = directory.missing.find(({ fault }) => fault === undefined) ?? directory.missing[0];
  if (missing?.fault !== undefined) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${shown}" cannot be called now: no known service offers it, and the list of service "${missing.service}" cannot be used: ${missing.fault}. Its operator has to correct the list.`,
      { isRetryable: false },
    );
  }
  if (missing !== undefined) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${shown}" cannot be called now: no known service offers it, and the tools of "${missing.service}" are not known yet. Try again later.`,
      { retryAfterMs: 1_000 },
    );
  }
  const held = directory.heldBack(name);
  if (held !== undefined && tools.mayUse(name, caller)) {
    return new ToolError(ToolErrorCode.Denied, held.why, { details: { mayHaveRun: false, reason: held.reason } });
  }
  const service = allToolNames.includes(name) ? toolServices[name] : undefined;
  if (WISP.test(name) || (allToolNames.includes(name) && service === undefined)) {
    return never(
      `"${shown}" cannot be called from here: only the agent has it, in its turns. Ask the agent for what it does.`,
    );
  }
  if (service !== undefined && hasItOff(service, tools)) {
    return never(
      `"${shown}" cannot be called: no running service offers it. "${service}" is running, and has it switched off. Only its operator can change that.`,
    );
  }
  if (directory.remembers(name) || service !== undefined) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${shown}" cannot be called now: no running service offers it. Try again later.`,
    );
  }
  if (directory.awaits(name)) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${shown}" cannot be called now: the server that would offer it is connecting, or is away. Nothing was run. Try again later.`,
      { retryAfterMs: AWAITED_RETRY_MS, details: { mayHaveRun: false } },
    );
  }
  if (!directory.canAsk)
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${shown}" cannot be called now: the message bus cannot be reached. Nothing was run. Try again later.`,
      {
        retryAfterMs: AWAITED_RETRY_MS,
        details: { mayHaveRun: false },
      },
    );
  const known = tools.of(caller).map((tool) => tool.name);
  const { names, help: question } = nearestTools(name, known, { isDenied: !tools.mayUse(name, caller) });
  const nearest = names[0];
  const more = known.length > MAX_NAMED ? `, and ${known.length - MAX_NAMED} more` : "";
  const help =
    question ?? (known.length > 0 ? `known: ${known.slice(0, MAX_NAMED).join(", ")}${more}` : "none is known");
  return new ToolError(ToolErrorCode.ToolNotFound, `There is no tool "${shown}": ${help}`, {
    details: { ...(nearest === undefined ? {} : { nearest }) },
  });
}

/**
 * True if this process knows all that a service offers. The bridge's list lacks the tools that this process has from
 * its first index on.
 */
const hasItOff = (service: string, { directory, registry }: CallableTools): boolean =>
  service === MCP_BRIDGE ? registry.get(toolDefinitions.mcpListServices.name) !== undefined : directory.knows(service);
