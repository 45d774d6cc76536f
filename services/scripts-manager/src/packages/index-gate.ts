import { type HostGate, type HostGateOptions, openHostGate } from "@rockbot/edge/gate";
import { serveWheelFolder, WHEELS_HOST } from "./wheel-folder.ts";

export interface IndexGateOptions extends Pick<HostGateOptions, "hosts" | "idleMs" | "maxBytes"> {
  /** A folder with wheels, reached as the host `WHEELS_HOST`. */
  readonly wheelsFolder?: string | undefined;
}

/** The gate of one installer, which only reads. */
export function openIndexGate({ wheelsFolder, ...options }: IndexGateOptions): HostGate {
  if (wheelsFolder === undefined) return openHostGate(options);
  return openHostGate({
    ...options,
    own: { host: WHEELS_HOST, answer: (...asked) => void serveWheelFolder(wheelsFolder, ...asked) },
  });
}
