import type { ChangeOutcome, KeptDefinition, KeptRecord, KeptSkill, RecordStore } from "@rockbot/agent";
import { type AgentConfig, type AgentRecords, openAgentRecords, readAgentsFile } from "@rockbot/agent-service";
import { StoreUnavailableError } from "@rockbot/records";
import { serviceNamed } from "@rockbot/services";
import type { KeptWisp } from "@rockbot/wisps";
import { CommandError } from "../../command-error.ts";

/** Something that a caller has made, and an operator may share with all others: an agent, a skill or a wisp. */
export interface MadeByCaller {
  readonly kind: "agent" | "skill" | "wisp";
  readonly record: KeptRecord;
  /** The summary in a line. */
  readonly summary: string;
  /** All that a model reads of it, for JSON. */
  readonly content: object;
  /** The same in lines for a person. */
  readonly lines: readonly string[];
  /**
   * Shares it, if it has this hash still; undefined shares it no more.
   * @returns undefined if nobody approves one of its kind, as it is of a file
   */
  readonly approve: ((hash: string | undefined) => Promise<ChangeOutcome>) | undefined;
}

/** Whose view is taken. */
export interface MadeByCallersOptions {
  /** The caller who sees it. @default the operator, who sees all */
  readonly seenBy?: string | undefined;
}

/**
 * Reads all that callers have made, or what one of them sees: what it has made itself, what is shared, and of several
 * of a name the one that it gets. What the policy denies it is there, too. The database is that of the agent's
 * settings: the same variables name it.
 * @throws {CommandError} in words for the user
 */
export async function withMadeByCallers(
  work: (made: readonly MadeByCaller[], where: string, settings: Pick<AgentConfig, "dataDirectory">) => Promise<void>,
  { seenBy }: MadeByCallersOptions = {},
): Promise<void> {
  const load = await serviceNamed("agent").loader();
  const config = load({ env: process.env });
  try {
    await using records = await openAgentRecords(config, async (...to) =>
      (await import("@rockbot/agent-service/postgres")).connectPostgresAgentRecords(...to),
    );
    const ofFile = readAgentsFile(config.agentsFile).map((agent) => madeAgent(agent, undefined));
    const made = [...ofFile, ...(await keptIn(records, seenBy))];
    await work(seenBy === undefined ? made : firstOfEachName(made), records.where, config);
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(error.message);
    throw error;
  }
}

async function keptIn(
  { definitions, skills, wisps }: AgentRecords,
  seenBy: string | undefined,
): Promise<readonly MadeByCaller[]> {
  const of = <T extends KeptRecord>(store: RecordStore<T>): Promise<readonly T[]> =>
    seenBy === undefined ? store.all() : store.visibleTo(seenBy);
  return [
    ...(await of(definitions)).map((agent) => madeAgent(agent, (hash) => definitions.approve(agent.id, hash))),
    ...(await of(skills)).map((skill) => madeSkill(skill, (hash) => skills.approve(skill.id, hash))),
    ...(await of(wisps)).map((wisp) => madeWisp(wisp, (hash) => wisps.approve(wisp.id, hash))),
  ];
}

/** The first of a kind and name counts for a caller, in the order that it sees. */
const firstOfEachName = (seen: readonly MadeByCaller[]): readonly MadeByCaller[] =>
  seen.filter(
    ({ kind, record: { name } }, i) =>
      seen.findIndex((other) => other.kind === kind && other.record.name === name) === i,
  );

function madeAgent(agent: KeptDefinition, approve: MadeByCaller["approve"]): MadeByCaller {
  const { description, playbook, tools, model, budgets = {}, destinations = [], reportSchema } = agent;
  const bounds = Object.entries(budgets).flatMap(([budget, value]) =>
    value === undefined ? [] : [`${budget} ${value}`],
  );
  return {
    kind: "agent",
    record: agent,
    summary: description,
    content: {
      description,
      tools,
      model,
      budgets: agent.budgets,
      destinations: agent.destinations,
      playbook,
      reportSchema,
    },
    lines: [
      `  description   ${description}`,
      `  tools         ${tools.join(", ") || "none"}`,
      ...(model === undefined ? [] : [`  model         ${model}`]),
      ...(bounds.length === 0 ? [] : [`  budgets       ${bounds.join(", ")}`]),
      ...(destinations.length === 0 ? [] : [`  destinations  ${destinations.join(", ")}`]),
      ...(reportSchema === undefined ? [] : [`  reports       ${JSON.stringify(reportSchema)}`]),
      "  playbook",
      ...indented(playbook),
    ],
    approve,
  };
}

function madeSkill(skill: KeptSkill, approve: MadeByCaller["approve"]): MadeByCaller {
  const { summary, tags, content } = skill;
  return {
    kind: "skill",
    record: skill,
    summary,
    content: { summary, tags, content },
    lines: [
      `  summary       ${summary}`,
      ...(tags.length === 0 ? [] : [`  tags          ${tags.join(", ")}`]),
      "  content",
      ...indented(content),
    ],
    approve,
  };
}

function madeWisp(wisp: KeptWisp, approve: MadeByCaller["approve"]): MadeByCaller {
  const { definition, inputSchema } = wisp;
  return {
    kind: "wisp",
    record: wisp,
    summary: definition.description,
    content: { definition, inputSchema },
    lines: [
      `  description   ${definition.description}`,
      `  tools         ${definition.tools?.join(", ") ?? "all that its maker and its caller may use"}`,
      ...(inputSchema === undefined ? [] : [`  arguments     ${JSON.stringify(inputSchema)}`]),
      "  definition",
      ...indented(JSON.stringify(definition, undefined, 2)),
    ],
    approve,
  };
}

const indented = (text: string): readonly string[] => text.split("\n").map((line) => `    ${line}`);
