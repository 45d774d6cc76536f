import { hash } from "node:crypto";

/**
 * The id of the call that a tool makes for the call that it has, for a tool that makes one. It is the same whenever
 * that call is run, so that an agent which takes its turn up again runs nothing twice.
 */
export const innerCallId = (toolCallId: string): string => hash("sha256", `inner ${toolCallId}`, "hex").slice(0, 32);
