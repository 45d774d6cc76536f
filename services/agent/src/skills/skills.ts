import { changeRefusal, type KeptSkill, type RecordStore, type SkillReader } from "@rockbot/agent";
import { nearestName, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { skillNameFault } from "./read-skill.ts";

/** Skills that an error names at most. */
const MAX_NAMED = 20;

/**
 * The skills of a database, as each caller may read them: the policy decides on `get_skill`, also by its rules for the
 * name.
 */
export class Skills implements SkillReader {
  readonly store: RecordStore<KeptSkill>;
  readonly #policy: PolicyHolder | undefined;

  constructor(store: RecordStore<KeptSkill>, policy: PolicyHolder | undefined) {
    this.store = store;
    this.#policy = policy;
  }

  /** Its own first. Where several have one name, only the first is listed. */
  async visibleTo(caller: string): Promise<readonly KeptSkill[]> {
    const mayRead = this.#mayRead(caller);
    const names = new Set<string>();
    return (await this.store.visibleTo(caller)).filter(({ name }) => {
      const isFirst = !names.has(name);
      names.add(name);
      return isFirst && mayRead(name);
    });
  }

  /**
   * @param left what is not done without the skill, as a sentence
   * @throws {ToolError} if the name is none, or of no skill that the caller may read
   */
  async find(caller: string, name: string, left?: string): Promise<KeptSkill> {
    const visible = await this.visibleTo(caller);
    const found = visible.find((skill) => skill.name === name);
    if (found !== undefined) return found;
    const why = skillNameFault(name) ?? `name: you see no skill ${JSON.stringify(name)}`;
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `${left === undefined ? "" : `${left} `}${why}. ${helpFor(name, visible)}`,
    );
  }

  /** @throws {ToolError} as `find`, and if the skill is not the caller's own */
  async findOwn(
    caller: string,
    name: string,
    { what, grant }: { readonly what: string; readonly grant: string | undefined },
  ): Promise<KeptSkill> {
    const skill = await this.find(caller, name, `The skill was not ${what}.`);
    const refusal =
      skill.maker === caller ? changeRefusal(skill.grant, grant) : "another caller made it, who alone may change it";
    if (refusal === undefined) return skill;
    throw new ToolError(ToolErrorCode.Denied, `The skill "${name}" was not ${what}: ${refusal}. ${SAVE_ANOTHER}`);
  }

  #mayRead(caller: string): (name: string) => boolean {
    const decision = this.#policy?.current().decide({ caller, tool: tools.getSkill.name, isReadOnly: true });
    if (decision === undefined) return () => true;
    return (name) => decision.isAllowed && decision.argumentRules.every(({ validate }) => validate({ name }));
  }
}

const SAVE_ANOTHER = "Save one of another name with save_skill.";

function helpFor(name: string, visible: readonly KeptSkill[]): string {
  const names = visible.map((skill) => skill.name);
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `Did you mean "${nearest}"?`;
  if (names.length === 0) return "You see no skills yet: save_skill makes one.";
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more, which list_skills has` : "";
  return `You see: ${names.slice(0, MAX_NAMED).join(", ")}${more}.`;
}
