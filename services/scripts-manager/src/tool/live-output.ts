import { visibleText } from "@rockbot/contracts";
import type { RunScriptOptions } from "@rockbot/sandbox";
import type { ToolContext } from "@rockbot/tools";

/** An update has so many characters of the output's present end. */
const NEWS_CHARACTERS = 1_000;

/** Tells the end of what a script has printed so far as progress of its call, which paces the updates. */
export function liveOutput(progress: ToolContext["progress"]): NonNullable<RunScriptOptions["onOutput"]> {
  const decoder = new TextDecoder();
  let latest = "";
  return (bytes, isLater) => {
    latest = (isLater ? bytes.toString() : latest + decoder.decode(bytes, { stream: true })).slice(-NEWS_CHARACTERS);
    progress({ message: visibleText(latest.toWellFormed()) });
  };
}
