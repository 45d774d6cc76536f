import type { ToolGuide } from "@rockbot/contracts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import type { PythonFacts } from "./python-facts.ts";

type Limits = Pick<
  ScriptsManagerConfig,
  | "maxTimeoutSeconds"
  | "maxScriptBytes"
  | "maxInputBytes"
  | "keepOutputBytes"
  | "memoryMiB"
  | "processes"
  | "storageMiB"
  | "sessionIdleSeconds"
  | "sessionSeconds"
  | "sessionsPerCaller"
  | "pipAllow"
  | "pipDeny"
>;

/** Teaches the model to run scripts, with the bounds that hold here. */
// Long because: it is one text, in the order in which a model reads it
export function scriptsGuide(
  {
    maxTimeoutSeconds,
    maxScriptBytes,
    maxInputBytes,
    keepOutputBytes,
    memoryMiB,
    processes,
    storageMiB,
    pipAllow,
    pipDeny,
    ...sessions
  }: Readonly<Limits>,
  {
    hasPackages,
    hasFiles,
    hasTools,
    hasSessions,
    python,
  }: {
    readonly hasPackages: boolean;
    readonly hasFiles: boolean;
    readonly hasTools: boolean;
    readonly hasSessions: boolean;
    readonly python: PythonFacts | undefined;
  },
): ToolGuide {
  return {
    name: "scripts",
    summary: "Run Python with execute_python_script: calculate, parse and transform data in a sandbox without network.",
    document: [
      "# Scripts",
      "",
      "`execute_python_script` runs a Python script and gives what it prints to stdout, or `(no output)`. Use it for whatever has to be exact: arithmetic, dates, counting, parsing, sorting, converting. Print what you want to know.",
      "",
      "## What there is",
      "",
      `- ${python === undefined ? "Python 3" : `Python ${python.version}`} with its standard library.`,
      ...(python === undefined || python.packages.length === 0 ? [] : [`- Also there: ${python.packages.join(", ")}.`]),
      hasPackages
        ? `- Packages that you name in \`pip_packages\`, such as \`numpy\` or \`requests==2.32.3\`: names, with versions if you like; no addresses, files or options. ${allowedPackages({ pipAllow, pipDeny })} They are installed before the script starts; the answer's \`pip_packages\` says which versions. The first call with a package takes longer.`
        : "- No other packages: `pip_packages` is refused here.",
      hasSessions
        ? "- A fresh sandbox for each call, unless you name a session. Nothing is left of earlier scripts then, neither variables nor files."
        : "- A fresh sandbox for each call. Nothing is left of earlier scripts, neither variables nor files: put all that belongs together into one script.",
      "- The folder `/tmp`, the only one that can be written to, gone with the script.",
      "",
      "## How to pass data",
      "",
      "Put data into `input_data`, not into the source: no quoting goes wrong. The script reads it from stdin, whatever its length, or from the environment:",
      "",
      "```python",
      "import json, sys",
      "rows = json.load(sys.stdin)",
      'print(sum(row["amount"] for row in rows))',
      "```",
      "",
      '`os.environ["ROCKBOT_INPUT"]` has the same if it is shorter than 128 KiB.',
      "",
      ...(hasFiles
        ? [
            "## Files",
            "",
            'Name files by their handles in `files_in`, such as `{"data.csv": "file_…"}`: they lie in the script\'s folder, so `open("data.csv")` reads one. What the script leaves in the folder `out` comes back as files: the answer\'s `files` has the handle, name, type and size of each. Leave large results there, and print the little that you want to read.',
            "",
          ]
        : []),
      ...(hasSessions ? sessionsOf(sessions) : []),
      "## Charts and values",
      "",
      "The text of the answer is what the script prints. Its fields have more:",
      "",
      "- `value` is the value of the last statement, if that is an expression: its `repr`, and the begin of a DataFrame as a table. Print what you want to read in full.",
      hasFiles
        ? "- `charts` has figures of matplotlib and images of PIL as files. Draw them, and end the script or call `plt.show()`: no `savefig` is needed."
        : "- Figures of matplotlib and images of PIL are counted and not kept: there are no files here.",
      "- `charts` has charts of Plotly, Altair and Vega as data, if they are the last expression, or Plotly's `show()` is called. Put the data into the chart: expressions and addresses in it are refused.",
      "",
      ...(hasTools ? TOOLS_FROM_CODE : []),
      "## What is denied",
      "",
      "- Any network. Fetch pages with other tools first, and pass what you got as `input_data`.",
      "- The host's files, other processes, credentials, privileges.",
      "",
      "## Limits",
      "",
      "| of | at most |",
      "|---|---|",
      `| time (\`timeout_seconds\`, 30 if you leave it out) | ${maxTimeoutSeconds} s, and no longer than the call's own deadline |`,
      `| memory | ${memoryMiB} MiB |`,
      `| processes and threads | ${processes} |`,
      `| files in /tmp | ${storageMiB} MiB |`,
      `| script | ${maxScriptBytes} bytes |`,
      `| input_data | ${maxInputBytes} bytes |`,
      `| stdout, stderr | ${keepOutputBytes} bytes each; what comes after is counted, not kept |`,
      "",
      "## When it fails",
      "",
      "A script that fails is a result marked as an error, with its exit code, the end of stderr and of stdout. Correct the script and call again; the same script fails the same way.",
      "",
      "| what it says | do |",
      "|---|---|",
      "| failed with exit code N | read the traceback, correct the script |",
      "| timed out | do less, or give a longer `timeout_seconds` |",
      "| used more memory than it may | read and handle data piece by piece |",
      "| started more processes or threads than it may | do the work in one |",
      "| ended by a signal | native code crashed: do it another way |",
      "",
      "Errors of the call, where the script was not run or its end is not known:",
      "",
      "| code | meaning | do |",
      "|---|---|---|",
      "| `invalid_arguments`, `too_large` | the arguments are not usable | correct or shorten them |",
      "| `denied` | not allowed here, such as a package | do without |",
      "| `overloaded`, `rate_limited` | too many scripts, or your share of time is used up | wait as long as the error says |",
      "| `unavailable` | there can be no sandbox now, or its packages are not installed yet | try again later if it says it is retryable |",
      `| \`timeout\`, \`cancelled\`, \`outcome_unknown\`, \`execution_failed\` | as they say | ${hasTools || hasSessions ? "look at what is done, if it called tools or was a cell of a session; else call again" : "call again: a script has no effects outside"} |`,
      "",
    ].join("\n"),
  };
}

const sessionsOf = ({
  sessionsPerCaller,
  sessionIdleSeconds,
  sessionSeconds,
}: Pick<Limits, "sessionsPerCaller" | "sessionIdleSeconds" | "sessionSeconds">): string[] => [
  "## Sessions",
  "",
  'With `session`, such as `"s1"`, the script is a cell of a session: the next cell of the same name finds its variables, imports and files. Use one to work on the same data in steps. Without need, use none: a script by itself is easier to repeat.',
  "",
  `- You may have ${sessionsPerCaller} sessions. One ends after ${sessionIdleSeconds} s without a cell, and after ${sessionSeconds} s in any case.`,
  "- A cell is never run again. A call of it waits for people only as long as the cell may run, and fails then.",
  "- It runs one cell at a time. A cell that fails, or whose time is over, leaves the session as it is. One that cannot be stopped ends it, and so do `exit()`, a crash and too much memory.",
  "- The answer of a first cell says that the session began with it. One that is over says why, with the first lines of its last cells. Nothing of it is rebuilt: begin again under another name.",
  "- Name `pip_packages` in the first cell. Only files of `out` that are new or have changed come back from a cell.",
  "- `list_script_sessions` shows your sessions, and `end_script_session` ends one. End those that you need no more.",
  "- What you have read of strangers' content in a session marks all its later cells.",
  "",
];

/** A guide names at most so many packages. */
const MAX_NAMED = 100;

/** Says which packages may be installed. */
export function allowedPackages({ pipAllow, pipDeny }: Pick<ScriptsManagerConfig, "pipAllow" | "pipDeny">): string {
  const named = (names: readonly string[]): string => {
    const more = names.length - MAX_NAMED;
    return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  };
  const denied = pipDeny.length === 0 ? "" : ` but ${named(pipDeny)}`;
  if (pipAllow.includes("*")) return `All are allowed${denied}.`;
  if (pipAllow.length === 0) return "None is allowed here.";
  return `Allowed are only ${named(pipAllow)}${denied && `,${denied} is refused`}.`;
}

const TOOLS_FROM_CODE = [
  "## Tools from a script",
  "",
  "A script may call the tools that the operator names for it. `dir(tools)` lists them, and often there are none:",
  "",
  "```python",
  "from rockbot import tools",
  "pages = tools.parallel([tools.a.web_browse(url=url) for url in urls])",
  'print(sum("price" in page.text for page in pages))',
  "```",
  "",
  "- `tools.NAME(argument=value)` waits for the answer: the tool's value, a dict, or its text where it has no value. The attribute `text` of a value is the text of the answer, such as the words of a page. `help(tools.NAME)` names the arguments.",
  '- `tools.a.NAME(...)` is a call that `await` or `tools.parallel([...])` makes. `tools.search("words")` finds tools.',
  "- A call that fails raises `rockbot.ToolError`, with `code` and `message`.",
  "- Use tools from a script for many calls, for loops and joins, and for answers of which you need a small part: only what you print comes back. Call a tool yourself for one answer that you want to read.",
  "- A call counts as yours: the same rights, limits and approvals hold. A script whose call waits for people ends in `pending`, and goes on afterwards.",
  "- A script that is cut off runs again from its first line, and gets the answers that it got before. So it must ask for the same things each time. Take the time from `rockbot.started_at`, do not seed `random`, and sort a set before you loop over it.",
  "- Only the first thread of the script calls tools.",
  "",
];
