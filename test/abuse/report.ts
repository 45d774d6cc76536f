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
  return `<!-- Written by \`npm run flood\`. Do not edit. -->
# What one agent that has gone bad costs the others

Measured by \`npm run flood\` on ${machine}.

An agent with a user of its own at the broker publishes one kind of message for ${seconds} s, as fast as the broker takes them. Another agent makes
${callsPerSecond} calls a second of a tool with effects meanwhile. Senders are verified, claims are in Redis, and no policy has a limit. Broker, Redis, services and agents
share the processors. The bad agent has what the others leave of them, as in production it runs elsewhere.

In parentheses are two other times of the same caller: beside the control, and alone. The control is as many of the same messages, sent to a queue that nobody
reads: that much they cost by the broker and the machine, whatever services do.

${tableHead}
${lines.join("\n")}

What is aimed at: 99 % of the others' calls end well, their p99 is at most twice as long as alone, and Redis, queues and disk grow within bounds (\`test/abuse/bounds.ts\`).
${broken.length === 0 ? "All of it is so." : `What is not so:\n\n${broken.map((words) => `- ${words}`).join("\n")}`}

Where the time alone is over 50 ms somebody else used the machine: such a row says little of times. No broker has a rate for each user: it takes, stores and hands out
each message before a service can drop it. The control shows what taking and storing cost; handing out comes on top, and what expires is stored twice.
`;
}
