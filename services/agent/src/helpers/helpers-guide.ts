import type { ToolGuide } from "@rockbot/contracts";

/** Teaches the model to have helpers work beside it. */
export const helpersGuide = (maxActive: number): ToolGuide => ({
  name: "helpers",
  summary: "Have helpers work on long tasks beside this conversation, with spawn_subagent.",
  document: [
    "# Helpers\n\nA helper is a session with your tools that works on one task while you go on. Use one for work that takes minutes, or for parts that do not need each other.\n",
    "- `spawn_subagent` starts it. Say the whole task, what the helper has to know, and what its result is to say: it knows nothing of this conversation. Go on, or end your turn. The result comes as a message of this conversation. It may hold strangers' words.",
    `- At most ${maxActive} helpers work at once. \`list_subagents\` says how far they are, and \`cancel_subagent\` stops one. What it has done stays done.`,
    "- Helpers share the whiteboard with this conversation, if you have it: `whiteboard_write` and `whiteboard_read`.\n",
  ].join("\n"),
});
