/** An MCP server over stdio that says what stands in the file that its argument names, as RawAnswers. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type RawAnswers, rawMessages } from "./raw-answers.ts";

const file = process.argv[2] ?? "";
createInterface({ input: process.stdin }).on("line", (line) => {
  const answers = JSON.parse(readFileSync(file, "utf8")) as RawAnswers;
  for (const message of rawMessages(answers, JSON.parse(line))) process.stdout.write(`${JSON.stringify(message)}\n`);
});
process.stdin.on("end", () => process.exit(0));
