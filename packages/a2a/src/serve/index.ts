// To serve our agents to clients of A2A. A store in Redis comes from ./redis, so that only its users load the client.

export { type A2aAgent, type A2aApp, a2aApp, type PlainAnswer } from "./a2a-app.ts";
export { A2A_PATH, a2aCard, a2aPaths } from "./a2a-card.ts";
export { A2aClient } from "./a2a-client.ts";
export { checkParts } from "./check-parts.ts";
export { hookOf } from "./push/push-hook.ts";
export { TaskPushes } from "./push/task-pushes.ts";
export { TaskDesk } from "./task-desk.ts";

// Their tasks.

export { createMemoryTaskStore } from "./store/memory-task-store.ts";
export { MAX_MESSAGES, type StoredTask, type TaskStore } from "./store/task-store.ts";
export { endWaiting } from "./tasks/end-waiting.ts";
export { RunningTasks } from "./tasks/running-tasks.ts";
