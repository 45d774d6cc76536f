import { scriptToolsOf } from "../script-tools.ts";
import { defineFacet } from "./facet.ts";

/** Tools that make calls of the caller's choice, or have an agent make them: a script could reach any tool through one. */
const DISPATCHERS =
  "mcp_invoke_tool|execute_python_script|invoke_agent|schedule_task|spawn_subagent|spawn_wisps|save_wisp|robot_[A-Za-z0-9_-]*|agent__[A-Za-z0-9_-]*";

export const scripts = defineFacet({
  place: "entries",
  readBy: "decisions",
  schema: {
    type: "object",
    additionalProperties: false,
    description:
      "What scripts of execute_python_script may do besides calculating. A caller's own entry replaces everyone's.",
    properties: {
      allow: {
        type: "array",
        maxItems: 100,
        uniqueItems: true,
        items: {
          type: "string",
          pattern: `^(?!(${DISPATCHERS})$)[A-Za-z0-9_-]{1,64}$`,
        },
        default: [],
        description:
          "Full names of tools that the caller's scripts may call: those of them that the caller may use itself. Names of tools that call others are refused, such as mcp_invoke_tool and agent__chat. No tool when left out.",
      },
    },
  },
  docs: [
    {
      property: "allow",
      holds:
        "tools that scripts of `execute_python_script` may call, by their full names, of those that the caller may use: the caller's own list, else everyone's, else none. Where a list is not empty, the scripts manager is a delegate for the caller",
      beyond: "`denied`",
    },
  ],
  example: { allow: ["web_browse", "web_search"] },
  read: (said) => ({
    /** The tools that this caller's scripts may call, as far as the caller may. */
    scriptToolsOf: (caller: string): readonly string[] => scriptToolsOf(said.document, said.callers.get(caller)),
  }),
  explain({ scriptToolsOf: of }, { caller, tool }) {
    return of(caller).includes(tool) ? ["scripts may call it, too"] : [];
  },
});
