import type { WriteStream } from "node:tty";
import { type AgentEvent, printableJson, type ToolError, type TurnOutput } from "@rockbot/contracts";
import { AGAIN, AnswerText, withoutNulls } from "@rockbot/gateway/chat";
import { plainText } from "../terminal/plain-text.ts";
import { showProgress } from "../terminal/show-progress.ts";
import { terminalText } from "../terminal/terminal-text.ts";

/** Shows one turn at the terminal. */
export interface TurnPrinter {
  event(event: AgentEvent): void;
  answer(output: TurnOutput): void;
  failure(error: ToolError): void;
}

export interface PrinterStreams {
  readonly out: Pick<WriteStream, "write" | "isTTY">;
  readonly err: WriteStream;
}

/** Each step is a line of JSON, and so is the end: an `answer` or an `error`. */
export function jsonPrinter({ out }: PrinterStreams): TurnPrinter {
  const print = (value: object): void => void out.write(`${printableJson(value)}\n`);
  return {
    event: (event) => print(withoutNulls(event)),
    answer: ({ output, isUntrusted }) => print({ kind: "answer", ...output, is_untrusted: isUntrusted }),
    failure: ({ code, message, isRetryable, details }) =>
      print({ kind: "error", code, message, isRetryable, ...(details === undefined ? {} : { details }) }),
  };
}

/**
 * The text as the model writes it, at a terminal, with a line for each tool that has run; elsewhere the answer alone.
 */
export function textPrinter({ out, err }: PrinterStreams): TurnPrinter {
  const progress = showProgress(err);
  const answered = new AnswerText();
  let isMidLine = false;
  const write = (text: string): void => {
    if (text === "") return;
    progress[Symbol.dispose]();
    const safe = terminalText(text, out);
    out.write(safe);
    if (safe !== "") isMidLine = !safe.endsWith("\n");
  };
  const endLine = (): void => write(isMidLine ? "\n" : "");
  const note = (text: string): void => {
    if (!err.isTTY) return;
    if (out.isTTY) endLine();
    progress[Symbol.dispose]();
    err.write(`  ${plainText(text).replaceAll(/[\n\t]/g, " ")}\n`);
  };

  return {
    event(event) {
      const { kind, text, toolName, message } = event;
      const beginsAgain = event.dropsText === true && answered.isBegun;
      answered.read([event]);
      if (kind === "text" && out.isTTY) write(text ?? "");
      else if (kind === "tool_started") {
        if (out.isTTY) endLine();
        progress.show({ message: `${toolName} …` });
      } else if (kind === "tool_progress")
        progress.show({
          progress: event.progress ?? undefined,
          total: event.total ?? undefined,
          message: `${toolName} ${message ?? ""}`,
        });
      else if (kind === "tool_finished") note(finished(event));
      else if (kind === "notice") {
        note(text ?? message ?? "");
        if (beginsAgain && out.isTTY) {
          endLine();
          write(`${AGAIN}\n`);
        }
      }
    },
    answer({ output: { text, finish, reason } }) {
      write(out.isTTY ? answered.rest(text) : text);
      endLine();
      progress[Symbol.dispose]();
      if (finish !== "stop")
        err.write(plainText(`rockbot: the answer is not complete: ${reason ?? endings[finish] ?? finish}\n`));
    },
    failure({ code, message }) {
      if (out.isTTY) endLine();
      progress[Symbol.dispose]();
      err.write(plainText(`rockbot: ${code}: ${message}\n`));
    },
  };
}

const endings: Readonly<Record<string, string>> = {
  limit: "the turn has used up what it may",
  length: "it was too long for the model",
  refused: "the model declined",
  tool_calls: "the agent calls a tool that is not there",
};

/** A tool that has run, on one line: how long it took, and how it ended if it failed. */
function finished({ toolName, durationMs, status, isError, message }: AgentEvent): string {
  const time = durationMs == null ? "" : ` ${(durationMs / 1000).toFixed(1)} s`;
  const hasFailed = isError === true || (status != null && status !== "ok");
  return `${hasFailed ? "✗" : "✓"} ${toolName}${time}${hasFailed ? ` ${[status, message].filter((part) => part != null && part !== "ok").join(": ")}` : ""}`;
}
