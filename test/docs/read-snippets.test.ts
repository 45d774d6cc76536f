import { expect, test } from "vitest";
import { readSnippets } from "./read-snippets.ts";

test("a block of code runs unless the comment before it says otherwise", () => {
  const page = [
    "```sh",
    "ls",
    "```",
    "<!-- snippet: skip, because it needs a cluster -->",
    "```sh",
    "kubectl get pods",
    "```",
    "```sh",
    "pwd",
    "```",
  ].join("\n");
  expect(readSnippets("a.md", page).map(({ code, use }) => [code, use])).toEqual([
    ["ls", { kind: "run" }],
    ["kubectl get pods", { kind: "skip", reason: "it needs a cluster" }],
    ["pwd", { kind: "run" }],
  ]);
});

test("a setup, words and an exit code are read, and a block within a list without its indent", () => {
  const page = [
    "<!-- snippet: setup",
    "cd x",
    "-->",
    "- item:",
    "  <!-- snippet: with ID=./ids | head, fails=2 -->",
    "  ```sh",
    "  show ID",
    "  ```",
  ].join("\n");
  expect(readSnippets("a.md", page)).toMatchObject([
    { code: "cd x", line: 2 },
    { code: "show ID", line: 7, exitCode: 2, words: { ID: "./ids | head" } },
  ]);
});

test.each([
  ["a marker that is none", "<!-- snippet: skipp -->\n```sh\nls\n```", '"skipp" is no marker'],
  ["a language that no test knows", "```cobol\n```", 'a block of "cobol"'],
  ["a block without an end", "```sh\nls", "without its end"],
])("%s is a fault with its place", (_, page, fault) => {
  expect(() => readSnippets("a.md", page)).toThrow(fault);
  expect(() => readSnippets("a.md", page)).toThrow("a.md:");
});
