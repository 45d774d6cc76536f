// To give services the commands of operators, and to obey them.

export { AuditCommand, isPlaces } from "./audit-commands.ts";
export { readCommandCheck, readCommandKey } from "./command-keys.ts";
export { type Commander, type CommanderOptions, type CommandOptions, createCommander } from "./send-commands.ts";
export { COMMAND_MS, type Command, CommandCheck, signCommand } from "./signed-command.ts";
export { ANSWER, ANSWER_OF_CALLER, type CommandHandler, DECIDE } from "./take-commands.ts";
