// To give tasks to agents that announce themselves on the bus.

export { AnnouncedAgents } from "./announced-agents.ts";
export { BusTasks } from "./bus-tasks.ts";
export { hearAnswers } from "./hear-answers.ts";
