import { availableParallelism, cpus, loadavg } from "node:os";
import { tableHead } from "./bounds.ts";

export interface ReportOptions {
  readonly seconds: number;
  readonly callsPerSecond: number;
  /** The rows of the table. */
  readonly lines: readonly string[];
  /** What is not within its bounds, in words. */
  readonly broken: readonly string[];
}

/** The page about what one agent that has gone bad costs the others. */
export function report({ seconds, callsPerSecond, lines, broken }: ReportOptions): string {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, at a load of ${loadavg()[1]?.toFixed(1)}`;
  return `<!-- Written by \`npm run measure -- flood\`. Do not edit. -->
# What one agent that has gone bad costs the others

Measured by \`npm run measure -- flood\` on ${machine}.

An agent with a user of its own at the broker publishes one kind of message for ${seconds} s. It publishes as fast as the broker takes them. Meanwhile another agent makes
${callsPerSecond} calls a second of a tool with effects. Senders are verified, claims are in Redis, and no policy has a limit. Broker, Redis, services and agents
share the processors. The bad agent gets the processor time that the others leave, because in production it runs elsewhere.

In parentheses are two other times of the same caller: beside the control, and alone. The control is as many of the same messages, sent to a queue without a reader.
It shows the cost of the broker and the machine, without any service.

${tableHead}
${lines.join("\n")}

The aims: 99 % of the others' calls end well, and their p99 is at most twice as long as alone. Redis, queues and disk grow within bounds (\`test/abuse/bounds.ts\`).
${broken.length === 0 ? "All of them are met." : `These are missed:\n\n${broken.map((words) => `- ${words}`).join("\n")}`}

Where the time alone is over 50 ms, other work used the machine: such a row says little about times. No broker has a rate for each user: it takes, stores and hands out
each message before a service can drop it. The control shows the cost of taking and storing. Handing out comes on top, and expired messages are stored twice.
`;
}
