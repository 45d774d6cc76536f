import { type RecordStore, withStore } from "@rockbot/agent/plugin";
import { namesHelp, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { type KeptWisp, wispToolOf } from "../pipeline/kept-wisp.ts";

/** The saved wisps of a database, as each caller may use them: the policy decides on the tool that each is. */
export class SavedWisps {
  readonly store: RecordStore<KeptWisp>;
  readonly #policy: PolicyHolder | undefined;

  /** @param store stays its maker's */
  constructor(store: RecordStore<KeptWisp>, policy: PolicyHolder | undefined) {
    this.store = store;
    this.#policy = policy;
  }

  /**
   * Its own first. Where several have one name, only the first is listed.
   * @throws {ToolError} `unavailable` while the database is away
   */
  async visibleTo(caller: string): Promise<readonly KeptWisp[]> {
    const visible = await withStore("read the saved wisps", () => this.store.visibleTo(caller));
    const byName = new Map(visible.toReversed().map((wisp) => [wisp.name, wisp]));
    return [...byName.values()].toReversed().filter(({ name }) => this.#mayUse(caller, name));
  }

  /** @throws {ToolError} if the caller has none of the name */
  async find(caller: string, name: string): Promise<KeptWisp> {
    const visible = await this.visibleTo(caller);
    const found = visible.find((wisp) => wisp.name === name);
    if (found !== undefined) return found;
    const help =
      visible.length === 0
        ? "You have none yet: save_wisp makes one."
        : namesHelp(
            name,
            visible.map((wisp) => wisp.name),
          );
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `name: you have no saved wisp ${JSON.stringify(name.slice(0, 60))}. ${help}`,
    );
  }

  #mayUse(caller: string, name: string): boolean {
    return this.#policy?.current().decide({ caller, tool: wispToolOf(name), isReadOnly: true }).isAllowed ?? true; // it only leads to calls, each with a decision
  }
}
