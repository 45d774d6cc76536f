import {
  type AgentDefinition,
  changeRefusal,
  type DefinitionReader,
  type DefinitionStore,
  isRecordId,
  isVisibleTo,
  type KeptDefinition,
} from "@rockbot/agent";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";

/** Robots that an error names at most. */
const MAX_NAMED = 20;

/** The robots of a file and of a database, as each caller sees them. */
export class Robots implements DefinitionReader {
  readonly store: DefinitionStore;
  /** The robots of the file, which everybody sees and nobody changes. */
  readonly ofFile: readonly KeptDefinition[];

  constructor(store: DefinitionStore, ofFile: readonly KeptDefinition[]) {
    this.store = store;
    this.ofFile = ofFile;
  }

  /** The first of a name counts: that of the file, then the caller's own. */
  async visibleTo(caller: string): Promise<readonly KeptDefinition[]> {
    return [...this.ofFile, ...(await this.store.visibleTo(caller))];
  }

  async ofSession(caller: string, sessionId: string): Promise<KeptDefinition | "gone" | undefined> {
    const id = await this.store.switchedTo(caller, sessionNamespace(sessionId));
    return id === undefined ? undefined : ((await this.get(caller, id)) ?? "gone");
  }

  async currentOf(caller: string, definition: AgentDefinition): Promise<AgentDefinition | undefined> {
    return definition.id === undefined ? definition : this.get(caller, definition.id);
  }

  async switchSession(caller: string, sessionId: string, { id }: AgentDefinition): Promise<void> {
    if (id !== undefined) await this.store.switchSession(caller, sessionNamespace(sessionId), id);
  }

  /** One that the caller sees. */
  async get(caller: string, id: string): Promise<KeptDefinition | undefined> {
    const robot = this.ofFile.find((each) => each.id === id) ?? (await this.store.get(id));
    return robot !== undefined && isVisibleTo(robot, caller) ? robot : undefined;
  }

  /**
   * @param left what is not done without the robot, as a sentence
   * @throws {ToolError} if the id is none, or of no robot that the caller sees
   */
  async find(caller: string, id: string, left?: string): Promise<KeptDefinition> {
    const isId = isRecordId(id);
    const robot = isId ? await this.get(caller, id) : undefined;
    if (robot !== undefined) return robot;
    const visible = await this.visibleTo(caller);
    const named = visible.find(({ name }) => name === id);
    const why = isId
      ? `there is no robot ${id} that you see`
      : `${JSON.stringify(id.slice(0, 60))} is not an id of a robot: expected 24 of 0-9 and a-f`;
    const help = named === undefined ? listOf(visible) : `The robot of this name is ${named.id}.`;
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `${left === undefined ? "" : `${left} `}robot_id: ${why}. ${help}`,
    );
  }

  /** @throws {ToolError} as `find`, and if the robot is not the caller's own */
  async findOwn(
    caller: string,
    id: string,
    { what, grant }: { readonly what: string; readonly grant: string | undefined },
  ): Promise<KeptDefinition> {
    const robot = await this.find(caller, id, `The robot was not ${what}.`);
    const refuse = (why: string): never => {
      throw new ToolError(
        ToolErrorCode.Denied,
        `The robot "${robot.name}" was not ${what}: ${why}. Make one of your own with robot_create.`,
      );
    };
    if (this.ofFile.includes(robot)) return refuse("it is of the operator's file, which nobody changes by a tool");
    if (robot.maker !== caller) return refuse("another caller made it, who alone may change it");
    const refusal = changeRefusal(robot.grant, grant);
    return refusal === undefined ? robot : refuse(refusal);
  }
}

function listOf(visible: readonly KeptDefinition[]): string {
  if (visible.length === 0) return "You see no robots yet: robot_create makes one.";
  const named = visible.slice(0, MAX_NAMED).map(({ id, name }) => `${id} (${name})`);
  const more = visible.length > named.length ? `, and ${visible.length - named.length} more, which robot_list has` : "";
  return `You see: ${named.join(", ")}${more}.`;
}
