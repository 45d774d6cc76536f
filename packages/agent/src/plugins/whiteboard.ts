import { type WorkingMemory, whiteboardTools } from "@rockbot/memory";
import type { AgentPlugin } from "./agent-plugin.ts";

/**
 * The whiteboard of each family of sessions: three tools for entries that all of them read and write.
 * @param memory stays its maker's; the agent's if left out
 */
export const whiteboard = (memory?: Pick<WorkingMemory, "of">): AgentPlugin => ({
  name: "whiteboard",
  async start({ memory: ofAgent }) {
    return {
      isOfSession: true,
      tools: (scope) => {
        const { caller, rootSessionId, sessionId } = scope;
        return whiteboardTools((memory ?? ofAgent).of(caller), {
          rootSessionId,
          sessionId,
          hasReadUntrusted: () => scope.hasReadUntrusted,
        });
      },
    };
  },
});
