/**
 * Writes docs/images/terminal.svg: runs the commands of the README in two terminals, against a `rockbot up` of this
 * folder, and draws what they print. Needs Linux, a free port 8480, and a machine on which scripts run (`rockbot
 * doctor`). Nothing in the picture is made up; pauses are cut.
 */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { animatedSvg } from "./recording/animated-svg.ts";
import { Terminal } from "./recording/open-terminal.ts";
import { screenLines } from "./recording/screen-lines.ts";

const COLUMNS = 120;
const ROWS = { system: 20, caller: 20 };
const START_MS = 60_000;
const COMMAND_MS = 30_000;

const root = dirname(import.meta.dirname);
const startedAt = performance.now();
const now = (): number => performance.now() - startedAt;
// Without what is set for the person who runs this: the picture shows a machine with nothing configured.
const env = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  LANG: "C.UTF-8",
  npm_config_update_notifier: "false",
  npm_config_progress: "false",
};

const commands = [
  "./rockbot tools",
  `./rockbot call execute_python_script '{"script":"print(sum(range(10)))"}'`,
  `./rockbot call web_browse '{"ur":"https://example.com/"}'`,
  "./rockbot calls",
];

await using system = new Terminal({ columns: COLUMNS, rows: ROWS.system, cwd: root, env, now });
await system.run("npm start", START_MS, "ready in");
await using caller = new Terminal({ columns: COLUMNS, rows: ROWS.caller, cwd: root, env, now });
for (const command of commands) await caller.run(command, COMMAND_MS);

const svg = animatedSvg(
  [
    { title: "one terminal", rows: ROWS.system, lines: screenLines(system.shown, COLUMNS) },
    { title: "another terminal", rows: ROWS.caller, lines: screenLines(caller.shown, COLUMNS) },
  ],
  {
    columns: COLUMNS,
    label:
      "npm start brings up the system; another terminal lists tools, calls one, gets an error in words, and sees the calls",
  },
);
const file = "docs/images/terminal.svg";
await writeFile(join(root, file), svg);
console.error(`${file}: ${svg.length} characters`);
