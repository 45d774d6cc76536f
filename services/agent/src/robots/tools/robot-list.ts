import { type KeptDefinition, withStore } from "@rockbot/agent";
import { saidBy, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";

const DEFAULT_LIMIT = 100;

/** `robot_list`: the robots that the caller sees. */
export function robotList({ robots }: RobotDesk): Tool {
  return defineTool(tools.robotList, ({ limit }, { caller }) =>
    withStore("list the robots", async () => {
      const visible = await robots.visibleTo(caller);
      const shown = visible.slice(0, limit ?? DEFAULT_LIMIT);
      const entries = shown.map(({ id, name, description, maker, hash, approvedHash, isUntrusted }) => ({
        robot_id: id,
        name,
        description,
        is_own: maker === caller,
        is_shared: approvedHash === hash,
        is_untrusted: isUntrusted,
      }));
      const lines = entries.map(
        ({ robot_id, name, description, is_own }) =>
          `- ${name} (id ${robot_id}${is_own ? ", yours" : ""}): ${description}`,
      );
      const more =
        visible.length > shown.length ? [`${visible.length - shown.length} more: ask with a higher limit.`] : [];
      return {
        content:
          visible.length === 0 ? "There are no robots yet. robot_create makes one." : [...lines, ...more].join("\n"),
        structured: { robots: entries, total: visible.length },
        ...trustOf(shown),
      };
    }),
  );
}

/** For robots of which one was written after strangers' content was read. */
export function trustOf(robots: readonly KeptDefinition[]) {
  const untrusted = robots.find(({ isUntrusted }) => isUntrusted);
  return untrusted === undefined ? {} : { trust: saidBy(`robot ${untrusted.name}`) };
}
