import { createPublicKey, type KeyObject } from "node:crypto";
import { reasonOf } from "@rockbot/base";
import { decodeMessage, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { hashOf, type Run, RunState, type RunStore, readDecision, signDecision, whyNotBy } from "@rockbot/runs";
import type { ToolCaller } from "@rockbot/tools";
import { ANSWER, ANSWER_OF_CALLER, type Commander, DECIDE } from "@rockbot/tools/commands";

export interface WaitingCallsParts {
  /** The store that all services share. @default what waits is not known, and each answer says what to set */
  readonly runs: RunStore | undefined;
  readonly caller: Pick<ToolCaller, "services">;
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** Gives services commands, and the key that it signs with. @default nobody decides here */
  readonly commander: Pick<Commander, "send"> | undefined;
  readonly commandKey: KeyObject | undefined;
}

/** The calls that wait for people, the oldest first. */
export interface Parked {
  readonly runs: readonly Run[];
  /** True if there are more. */
  readonly more: boolean;
  /** What is missing, and why, in words. */
  readonly problems: readonly string[];
}

/** An operator's answer to the question of a run as it was read. */
export interface OperatorAnswer {
  readonly operator: string;
  readonly hash: string;
  readonly value: unknown;
}

/** A decision of an operator about a run as it was read. */
export interface OperatorDecision {
  readonly operator: string;
  readonly verdict: "approve" | "reject";
  readonly note?: string | undefined;
}

/** So many runs of each service are read, and as many are listed. */
const MAX_READ = 200;
/** How long the instances of a service have to answer, in milliseconds. */
const ANSWER_MS = 3_000;
const NO_KEY =
  "this gateway signs no decisions. Set OPERATOR_KEY of the gateway, and OPERATOR_PUBLIC_KEY of the services";
const NO_STORE =
  "Calls that wait are not known here: this gateway shares no store with the services. Set REDIS_URL of the gateway to the Redis of the services";

/** Reads the calls that wait for people in all services, and brings the decisions of operators to those services. */
export class WaitingCalls {
  readonly #parts: WaitingCallsParts;
  readonly #publicKey: KeyObject | undefined;

  constructor(parts: WaitingCallsParts) {
    this.#parts = parts;
    this.#publicKey = parts.commandKey === undefined ? undefined : createPublicKey(parts.commandKey);
  }

  async list(): Promise<Parked> {
    const { runs, problems, isCut } = await this.#open();
    const parked = runs.filter(waitsForPeople);
    parked.sort((a, b) => a.createdAt - b.createdAt);
    return { runs: parked.slice(0, MAX_READ), more: isCut || parked.length > MAX_READ, problems };
  }

  /** @throws {ToolError} `not_found` in words if it does not wait */
  async find(runId: string): Promise<Run> {
    const { runs, problems, isCut } = await this.#open();
    const run = runs.find((each) => each.runId === runId);
    if (run !== undefined && waitsForPeople(run)) return run;
    const why =
      run !== undefined
        ? "it needs no approval, or has it already, and asks nothing now"
        : "it was decided, it was not decided in time, or its caller has left";
    const others = isCut ? [`Only the ${MAX_READ} oldest calls of each service are known here`] : [];
    throw new NotWaitingError([`Cannot find a call of this id that waits: ${why}`, ...others, ...problems].join(". "));
  }

  /** The decisions about a run that were made so far. */
  decisionsOf({ approval }: Run) {
    const key = this.#publicKey;
    return key === undefined ? [] : (approval?.decisions ?? []).flatMap((each) => readDecision(each, key) ?? []);
  }

  /** Why an operator can neither decide about a run here nor answer its question, in words. */
  whyNot(run: Run, operator: string): string | undefined {
    if (this.#publicKey === undefined) return NO_KEY;
    return run.question === undefined ? whyNotBy(run, operator, this.#publicKey) : undefined;
  }

  /**
   * Signs a decision, and sends it to all instances of the service: the first one notes it.
   * @returns the state of the run by then
   * @throws {ToolError} in words if none did
   */
  async decide(run: Run, { operator, verdict, note }: OperatorDecision): Promise<RunState> {
    const { commandKey } = this.#parts;
    if (commandKey === undefined) throw new ToolError(ToolErrorCode.Unavailable, `Cannot decide: ${NO_KEY}`);
    const decision = signDecision(commandKey, run, { verdict, operator, note });
    return this.#command(run, DECIDE, operator, { decision });
  }

  /** Sends an answer in the same way, as a signed command. @throws {ToolError} in words if no instance noted it */
  async answer(run: Run, { operator, hash, value }: OperatorAnswer): Promise<RunState> {
    return this.#command(run, ANSWER, operator, { hash, value });
  }

  /** The same for the person behind the caller of a run. A person may decline. */
  async answerOfCaller(run: Run, answer: Omit<OperatorAnswer, "operator"> & { readonly isDeclined: boolean }) {
    return this.#command(run, ANSWER_OF_CALLER, `caller:${run.caller}`, answer);
  }

  async #command(run: Run, kind: string, operator: string, words: object): Promise<RunState> {
    const { caller, commander } = this.#parts;
    if (commander === undefined) throw new ToolError(ToolErrorCode.Unavailable, `Cannot decide: ${NO_KEY}`);
    const body = { caller: run.caller, toolCallId: run.toolCallId, ...words };
    const { service } = run;
    const served = (await caller.services()).find((each) => each.service === service && each.isServed);
    if (served === undefined)
      throw undecided(`"${service}" does not run now. The call waits on: decide again once it runs`);
    const answers = await commander.send(
      { kind, service, operator, body },
      { instances: served.instances, timeoutMs: ANSWER_MS },
    );
    // One instance notes it, and the others may find it noted.
    for (const answer of answers) if (!(answer instanceof ToolError)) return answer["state"] as RunState;
    const refusal = answers.find((answer) => answer instanceof ToolError);
    if (refusal === undefined)
      throw undecided(`"${service}" did not answer within ${ANSWER_MS / 1_000} s. Look whether the call still waits`);
    if (refusal.code === ToolErrorCode.Denied) throw new StaleDecisionError(`Nothing was decided: ${refusal.message}`);
    throw undecided(refusal.message);
  }

  async #open(): Promise<{
    readonly runs: readonly Run[];
    readonly problems: readonly string[];
    readonly isCut: boolean;
  }> {
    const { runs: store, caller, policy } = this.#parts;
    if (store === undefined) return { runs: [], problems: [NO_STORE], isCut: false };
    const found = await Promise.all(
      (await servicesWithRuns({ caller, policy })).map(async (service) => {
        try {
          // What a service has written under another name is not shown as that one's.
          const all = await store.open(service, MAX_READ);
          return {
            runs: all.filter((run) => run.service === service),
            problems: [],
            isCut: all.length >= MAX_READ,
          };
        } catch (error) {
          return { runs: [], problems: [`Calls of "${service}" are missing: ${reasonOf(error)}`], isCut: false };
        }
      }),
    );
    return {
      runs: found.flatMap((each) => each.runs),
      problems: found.flatMap((each) => each.problems),
      isCut: found.some((each) => each.isCut),
    };
  }
}

/** The services that may have runs: those that were heard of, and those of the policy. */
export async function servicesWithRuns({
  caller,
  policy,
}: Pick<WaitingCallsParts, "caller" | "policy">): Promise<readonly string[]> {
  const heard = (await caller.services()).map(({ service }) => service);
  return [...new Set([...heard, ...Object.keys(policy?.current().document.services ?? {})])];
}

export const waitsForPeople = ({ state, question, approval }: Run): boolean =>
  state === RunState.Parked && (question !== undefined || approval !== undefined);

/** The arguments of a run: as they are approved, or as they came. */
export function argumentsOf({ approval, message }: Run): string {
  if (approval !== undefined) return approval.arguments;
  const read = decodeMessage("ToolInvokeRequest", Buffer.from(message.body, "base64"));
  return (read.ok ? read.value.arguments : undefined) ?? "";
}

const undecided = (why: string): ToolError => new ToolError(ToolErrorCode.Unavailable, `Nothing was decided: ${why}`);

/** The service does not take the decision, such as one about a call that another operator has decided about. */
export class StaleDecisionError extends Error {
  override readonly name = "StaleDecisionError";
}

/** No call of that id waits for people. */
export class NotWaitingError extends Error {
  override readonly name = "NotWaitingError";
}

/** Names a run as it was shown: all that a decision is bound to. */
export const shownHash = ({ runId, service, toolCallId, approval }: Run): string =>
  hashOf(JSON.stringify([runId, service, toolCallId, approval?.arguments, approval?.binding]));
