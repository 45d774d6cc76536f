import { newId, ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { UsageError } from "../usage-error.ts";
import { callerFaults } from "./agents/caller-faults.ts";
import { openToolClient } from "./open-tool-client.ts";
import type { ToolClient } from "./tool-client.ts";

/** Where a command asks, and for whom. */
export interface AskToolOptions {
  readonly bus?: string;
  readonly policy?: string;
  /** The caller for whom all is asked. */
  readonly for?: string;
}

const CALL_MS = 30_000;

/**
 * One call of a tool for a command that shows its answer.
 * @returns the answer, and where it is from, in words
 * @throws {CommandError} in the words of a call that failed
 */
export async function askTool(
  { name }: { readonly name: string },
  input: object,
  { bus, policy, for: onBehalfOf }: AskToolOptions,
): Promise<ToolInvokeResponse & { readonly where: string }> {
  const faults = [...busUrlFaults(chooseBusUrl(bus, process.env)), ...callerFaults(onBehalfOf)];
  if (faults.length > 0) throw new UsageError(faults);
  await using client = await openToolClient({
    bus,
    allowAddress: [],
    mcpConfig: undefined,
    tool: name,
    policy,
    onBehalfOf,
    env: process.env,
  });
  return { ...(await askClient(client, name, input)), where: client.where };
}

/** The same of a client that is open. @throws {CommandError} in the words of a call that failed */
export async function askClient(
  client: Pick<ToolClient, "call">,
  name: string,
  input: object,
): Promise<ToolInvokeResponse> {
  try {
    return await client.call(name, input, { toolCallId: newId(), timeoutMs: CALL_MS });
  } catch (error) {
    if (error instanceof ToolError) throw new CommandError(error.message);
    throw error;
  }
}
