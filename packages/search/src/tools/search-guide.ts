import type { ToolGuide } from "@rockbot/contracts";

/** Teaches the model to find services and tools. */
export const searchGuide: ToolGuide = {
  name: "service-search",
  summary: "Find MCP servers, agents, tools, skills and guides for a task, with search_known_services.",
  document: [
    '# Finding services\n\nCall `search_known_services` with the task in a few words, such as "reschedule meeting". Compare the summaries. Then go on by the type of the hit:\n',
    "- `tool`: call one of its tools by its name.",
    "- `mcp`: call a tool as `SERVER__TOOL`, with the `id` as SERVER. `mcp_get_service_details` lists all of them, if you have it.",
    "- `a2a`: `get_agent_details` tells more of the agent, and `invoke_agent` gives it a task.",
    "- `guide`: read it with `get_tool_guide`. `skill`: read it with `get_skill`, before you start.\n",
    "If you have `invoke_tool`, call with it what you find. `get_tool_details` tells the arguments.\n",
    "`relevance_score` is 1 where the words leave no doubt. Below 0.3 a hit is a guess. Empty results mean that nothing fits: ask once more in other words, then do without. `missing` names what could not be searched.\n",
  ].join("\n"),
};
