import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { isOpen, ownerOf } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";
import { HttpErrorCode } from "../http/http-error.ts";
import type { FindCall } from "./call-again.ts";

export interface CancelCallParts {
  readonly caller: Pick<ToolCaller, "cancel" | "services" | "knownTools">;
  readonly findCall: FindCall;
  /** Gives services commands. @default calls of this gateway alone can be cancelled */
  readonly commander: Pick<Commander, "send"> | undefined;
}

/** Cancels a call for an operator. @throws {ToolError} in words if it could not */
export type CancelCall = (toolCallId: string, operator: string) => Promise<void>;

/** How long the instances of a service have to answer, in milliseconds. */
const ANSWER_MS = 3_000;

/** Cancels a call that is out here, or else by a command to the services that may run it. */
export const createCancelCall =
  ({ caller, findCall, commander }: CancelCallParts): CancelCall =>
  async (toolCallId, operator) => {
    if (caller.cancel(toolCallId, `the operator "${operator}"`)) return;
    if (commander === undefined)
      throw notCancelled(
        "it has ended, or another process made it. To cancel those too, set OPERATOR_KEY of the gateway, and OPERATOR_PUBLIC_KEY of the services",
      );
    const record = (await findCall(toolCallId))?.record;
    const isLeft = record?.code === ToolErrorCode.Pending; // to a run, which may wait or run yet
    if (record !== undefined && !isOpen(record) && !isLeft) throw notCancelled("it has ended");
    const owner = caller.knownTools().find(({ name }) => name === record?.toolName)?.source;
    const services = (await caller.services()).filter(
      ({ service, isServed }) => isServed && (owner === undefined || service === owner),
    );
    const body = { toolCallId, ...(record === undefined ? {} : { caller: ownerOf(record) }) };
    const answers = await Promise.all(
      services.map(({ service, instances }) =>
        commander.send({ kind: "cancel", service, operator, body }, { instances, timeoutMs: ANSWER_MS }),
      ),
    );
    const told = answers.flat();
    if (told.some((answer) => !(answer instanceof ToolError) && answer["wasRunning"] === true)) return;
    const refusal = told.find((answer) => answer instanceof ToolError);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.Unavailable, `Cannot say whether the call is cancelled. ${refusal.message}`);
    if (record === undefined || told.length === 0)
      throw notCancelled("no service runs a call of this id. It may have ended, or wait for its turn");
  };

const notCancelled = (why: string): ToolError =>
  new ToolError(HttpErrorCode.NotFound, `Cannot cancel the call: ${why}`);
