import { createHash } from "node:crypto";
import type { LeftOut, McpServerHealth, McpTool } from "@rockbot/mcp";
import type { LeaseNote } from "@rockbot/records/leases";
import type { BridgedServer } from "../bridged-server.ts";

/** The note of a server's owner for the other replicas, so that they can announce its tools. */
export interface OwnerNote {
  /** Null as long as the owner does not know: then what the owner before has said holds. */
  readonly tools: readonly McpTool[] | null;
  /** Absent in the note of an older version. */
  readonly leftOut?: readonly LeftOut[] | undefined;
  readonly instructions: string | null;
  /** Absent in the note of an older version. */
  readonly areInstructionsApproved?: boolean | undefined;
  readonly state: McpServerHealth["state"];
  readonly transport: string;
  readonly protocolVersion: string | null;
}

export function noteOf({ tools, isHeard, instructions, health }: BridgedServer): LeaseNote {
  const { state, transport, protocolVersion, leftOut } = health;
  const note: OwnerNote = {
    tools: isHeard ? tools : null,
    leftOut,
    instructions: instructions?.description ?? null,
    areInstructionsApproved: instructions?.isApproved ?? false,
    state,
    transport,
    protocolVersion: protocolVersion ?? null,
  };
  const text = JSON.stringify(note);
  return { tag: createHash("sha256").update(text).digest("base64url"), text };
}

/** Undefined if another version of the bridge has written it in another form. */
export function readNote({ text }: LeaseNote): OwnerNote | undefined {
  try {
    const note = JSON.parse(text) as Partial<OwnerNote>;
    return (note.tools === null || Array.isArray(note.tools)) && typeof note.state === "string"
      ? (note as OwnerNote)
      : undefined;
  } catch {
    return undefined;
  }
}
