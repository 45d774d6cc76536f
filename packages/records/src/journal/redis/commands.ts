import { leaseCommands } from "../../redis/index.ts";
import { forgetCalls } from "./forget-calls.ts";
import { readingCommands } from "./read-calls.ts";
import { writeCalls } from "./write-calls.ts";

export const commands = { writeCalls, forgetCalls, ...readingCommands, ...leaseCommands } as const;
