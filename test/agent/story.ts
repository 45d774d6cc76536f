import type { ModelServerRequest, ModelStep, Page } from "@rockbot/testing";

/** What the user asks for. */
export const QUESTION = "How many items do shelves 42 and 77 hold together? Remind me to check them.";
/** What the model schedules: it comes back as a message. */
const REMINDER = "Tell the user to check the shelves 42 and 77.";
/** The tools that the model calls, in their order; in an answer those that it calls together. */
export const STEPS = [
  ["search_known_services"],
  ["get_tool_guide"],
  ["web_browse"],
  ["get_from_working_memory", "get_from_working_memory"],
  ["execute_python_script"],
  ["schedule_task"],
] as const;

const SHELVES = 100;
const itemsOn = (shelf: number): number => (shelf * 7_919) % 1_000;
export const ANSWER = `They hold ${itemsOn(42) + itemsOn(77)} items. I will remind you.`;

/** A page of 300 KB: a section for each shelf. */
export const page: Page = `<title>The warehouse</title><main><h1>The warehouse</h1>${Array.from(
  { length: SHELVES },
  (_, shelf) =>
    `<h2>Shelf ${shelf}</h2><p>It holds ${itemsOn(shelf)} items.</p><p>${"It is made of oak, and stands by the wall. ".repeat(72)}</p>`,
).join("")}</main>`;

export type StoryScript = (request: ModelServerRequest) => ModelStep;
type Messages = ModelServerRequest["messages"];

/**
 * A model that does what the story says, from what it reads: it knows no key and no figure that no result has told it.
 * What is unavailable it calls again.
 */
export const storyModel =
  (pageUrl: string): StoryScript =>
  (request) => {
    const since = withoutFailed(request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user")));
    if (since[0]?.text.includes(REMINDER)) return { text: "Check the shelves 42 and 77." };
    const answered = since.filter(({ role }) => role === "assistant").length;
    return nextStep(
      answered,
      since.filter(({ role }) => role === "tool").map(({ text }) => text),
      pageUrl,
    );
  };

/** The messages without the answers that called what was unavailable, and their results. */
function withoutFailed(messages: Messages): Messages {
  let isFailed = false;
  return messages.filter(({ role }, at) => {
    if (role !== "tool") isFailed = role === "assistant" && messages[at + 1]?.text.startsWith("unavailable: ") === true;
    return !isFailed;
  });
}

function nextStep(answered: number, results: readonly string[], pageUrl: string): ModelStep {
  const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, arguments: args }] });
  const last = results.at(-1) ?? "";
  switch (answered) {
    case 0:
      return { text: "Let me find a tool.", ...call("search_known_services", { query: "read a web page" }) };
    case 1:
      return call("get_tool_guide", { name: found(last, /"id":\s*"(web-tools)",\s*"type":/) });
    case 2:
      return call("web_browse", { url: pageUrl });
    case 3:
      return {
        toolCalls: [42, 77].map((shelf) => ({
          name: "get_from_working_memory",
          arguments: { key: found(last, new RegExp(`\\| Shelf ${shelf} +\\| \`(\\S+)\``)) },
        })),
      };
    case 4:
      return call("execute_python_script", { script: SCRIPT, input_data: results.slice(-2).join("\n") });
    case 5:
      return { ...call("schedule_task", { name: "shelves", cron: soon(), description: REMINDER, run_once: true }) };
    default:
      return { text: `They hold ${found(results.at(-2) ?? "", /(\d+)/)} items. I will remind you.` };
  }
}

const SCRIPT = String.raw`import re, sys
print(sum(int(n) for n in re.findall(r"It holds (\d+) items", sys.stdin.read())))`;

const found = (text: string, pattern: RegExp): string =>
  pattern.exec(text)?.[1] ?? `nothing like ${pattern} in: ${text.slice(0, 500)}`;

/** A time in some seconds, as cron with seconds in UTC. */
function soon(): string {
  const at = new Date(Date.now() + 3_000);
  return `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

/**
 * The names of the tools that the model has called in the turn of the question, answer by answer, without those that
 * were unavailable.
 */
export function calledTools(requests: readonly ModelServerRequest[]): string[][] {
  const whole = requests.findLast(({ messages }) =>
    messages.findLast(({ role }) => role === "user")?.text.includes(QUESTION),
  );
  const messages = whole?.messages ?? [];
  const since = withoutFailed(messages.slice(messages.findLastIndex(({ role }) => role === "user")));
  return since.filter(({ role }) => role === "assistant").map(({ toolCalls }) => toolCalls.map(({ name }) => name));
}
