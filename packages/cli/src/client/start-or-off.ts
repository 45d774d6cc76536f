import { silentLogger } from "@rockbot/bus";
import { allToolNames, ToolError } from "@rockbot/contracts";
import type { StartGatewayOptions } from "@rockbot/gateway";
import { findGlob } from "@rockbot/policy";
import type { BusServiceConfig } from "@rockbot/process/run-on-bus";
import { StoreUnavailableError } from "@rockbot/records";
import type { BusService, BusStartParts, RunningService } from "@rockbot/services";

type Needed = "bus" | "config" | "env" | "policy";

/** Parts that one service alone takes. */
interface PartsOfOne extends Pick<StartGatewayOptions, "operator" | "localOperator"> {
  /** True if scripts-manager may run scripts on this machine. */
  readonly triesLocal?: boolean | undefined;
}

/** The parts that a service is started with in a process of several. It does without those that are left out. */
type ComposedParts = Pick<BusStartParts<BusServiceConfig>, Needed> &
  Partial<Omit<BusStartParts<never>, Needed>> &
  PartsOfOne;

/** A service that runs, or that cannot run here. */
export interface RunningOrOff extends RunningService {
  /** True if nothing of it runs. @default false */
  readonly isOff?: boolean;
}

/** Starts a service, or says why it cannot run here: the others do not depend on it. */
export async function startOrOff(service: BusService, parts: ComposedParts): Promise<RunningOrOff> {
  const { name, topic, tools = [name] } = service;
  try {
    return await service.start({
      audit: undefined,
      log: silentLogger,
      signal: new AbortController().signal,
      ...parts,
      service: name,
      topic,
    });
  } catch (error) {
    if (!(error instanceof ToolError || error instanceof StoreUnavailableError)) throw error;
    const known = allToolNames.filter((tool) => findGlob(tools, tool) !== undefined);
    const off = (known.length > 0 ? known : tools).map((tool) => ({ tool, reason: error.message }));
    return { isOff: true, off, async [Symbol.asyncDispose]() {} };
  }
}
