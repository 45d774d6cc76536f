import { definitionFaults, definitionHash, FROM_BEFORE, type KeptDefinition, keptGrant } from "@rockbot/agent";
import { ToolError, ToolErrorCode, type ToolRobotCreateOutput, type ToolRobotUpdateInput } from "@rockbot/contracts";
import type { ToolResult } from "@rockbot/tools";
import { wispToolOf } from "@rockbot/wisps";
import { type CheckedNames, checkDestinations, checkModel, checkTools } from "./known-names.ts";
import type { RobotDesk } from "./robot-desk.ts";
import { schemaFaults } from "./schema-faults.ts";

/** What a turn says of a robot, new or changed. */
export type RobotInput = Omit<ToolRobotUpdateInput, "robot_id" | "version">;

export interface Draft {
  readonly robot: KeptDefinition;
  /** What was not known, and so not kept. */
  readonly errors: readonly string[];
}

export interface DraftParts {
  readonly desk: RobotDesk;
  readonly caller: string;
  readonly hasReadUntrusted: boolean;
  /** What bounds the session that asks for it. */
  readonly grant: string | undefined;
}

/**
 * The robot as the input makes it of the one before. Names that nobody knows are left out, each with an error.
 * @throws {ToolError} with all that makes it impossible to keep
 */
export async function draftOf(
  input: RobotInput,
  before: KeptDefinition,
  { desk, caller, hasReadUntrusted, grant }: DraftParts,
): Promise<Draft> {
  const [visible, wisps] = await Promise.all([desk.robots.visibleTo(caller), desk.wisps.visibleTo(caller)]);
  const offered = [...desk.toolsOf(caller), ...wisps.map((wisp) => wispToolOf(wisp.name))];
  const name = input.name?.trim() ?? before.name;
  const tools = input.tools === undefined ? undefined : knownOf(checkTools(input.tools ?? [], offered, visible));
  const destinations =
    input.destinations === undefined ? undefined : knownOf(checkDestinations(input.destinations ?? [], name, visible));
  const model =
    input.model == null
      ? { model: changed(input.model, before.model), errors: [] }
      : checkModel(input.model, desk.models, before.model);
  const reportSchema = changed(input.report_schema, before.reportSchema);
  // Of one from before, an earlier session may have written what stays.
  const isAnew = before.grant !== FROM_BEFORE || (input.playbook !== undefined && tools?.kept !== undefined);
  const plain = {
    name,
    description: changed(input.description, before.description) ?? "",
    playbook: input.playbook ?? before.playbook,
    tools: tools?.kept ?? before.tools,
    ...(model.model === undefined ? {} : { model: model.model }),
    budgets: withoutUndefined({
      maxTokens: changed(input.max_tokens, before.budgets?.maxTokens),
      maxIterations: changed(input.max_iterations, before.budgets?.maxIterations),
      timeoutMs: changed(input.timeout_ms, before.budgets?.timeoutMs),
      maxCost: changed(input.max_cost, before.budgets?.maxCost),
    }),
    destinations: destinations?.kept ?? before.destinations ?? [],
    ...(reportSchema === undefined ? {} : { reportSchema }),
    maker: caller,
    isUntrusted: before.isUntrusted || hasReadUntrusted, // nobody takes it off
    grant: isAnew ? keptGrant(before.grant, grant) : FROM_BEFORE,
  };
  const other = visible.find((each) => each.name === name && each.id !== before.id);
  const faults = [
    ...definitionFaults(plain),
    ...(other === undefined
      ? []
      : [`name: you see a robot ${JSON.stringify(name)} already, ${other.id}. Choose another name`]),
    ...(await schemaFaults(input.report_schema ?? undefined)).map((fault) => `report_schema: ${fault}`),
  ];
  const errors = [...(tools?.errors ?? []), ...(destinations?.errors ?? []), ...model.errors];
  if (faults.length > 0)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `The robot was not saved. ${[...faults, ...errors].join("; ")}`,
    );
  const { id, createdAt, approvedHash } = before;
  const kept = {
    id,
    createdAt,
    ...(approvedHash === undefined ? {} : { approvedHash }),
    version: before.version + 1,
    updatedAt: desk.now(),
  };
  return { robot: { ...kept, ...plain, hash: definitionHash(plain) }, errors };
}

/** If nothing is known of a list, the old one stays: it would be empty else. */
const knownOf = ({ kept, errors }: CheckedNames) => ({
  kept: kept.length === 0 && errors.length > 0 ? undefined : kept,
  errors,
});

/** Left out it is as before, and null takes it off. */
const changed = <T>(wanted: T | null | undefined, before: T | undefined): T | undefined =>
  wanted === undefined ? before : (wanted ?? undefined);

const withoutUndefined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

/** The result of a call that has saved a robot. */
export function savedResult(did: string, { robot, errors }: Draft): ToolResult<ToolRobotCreateOutput> {
  const { id, name, version, hash, approvedHash } = robot;
  const isShared = approvedHash === hash;
  const told = `${did} the robot ${name} (id ${id}), version ${version}. ${isShared ? "Others see it as it is" : "You alone see it"}.`;
  return {
    content: errors.length === 0 ? told : `${told}\n\nErrors: ${errors.join("; ")}`,
    structured: { robot_id: id, name, version, hash, is_shared: isShared, errors: [...errors] },
  };
}
