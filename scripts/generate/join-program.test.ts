import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { joinProgram } from "./join-program.ts";

test("a program has each part once, before the first that needs it, and no line that names a part", async () => {
  using folder = temporaryFolder();
  folder.write("main.py", "from .one import a\nfrom .two import B, b\nprint(a, b)\n");
  folder.write("one.py", "from .two import b\na = b\n");
  folder.write("two.py", "B, b = 1, 2\n");

  expect(await joinProgram(folder.path)).toBe("B, b = 1, 2\n\na = b\n\nprint(a, b)\n");
});

test.each([
  ["a name that two parts have", { one: "a = 1\n", two: "def a():\n" }, '"a" is in one.py and in two.py'],
  ["a name that a part does not have", { one: "b = 1\n", two: "" }, 'main.py: one.py has no "a"'],
  ["a circle", { one: "from .two import c\na = 1\n", two: "from .one import a\nc = 1\n" }, "one.py needs itself"],
])("%s makes no program", async (_, parts, words) => {
  using folder = temporaryFolder();
  folder.write("main.py", "from .one import a\nfrom .two import c\n");
  for (const [name, text] of Object.entries(parts)) folder.write(`${name}.py`, text);

  await expect(joinProgram(folder.path)).rejects.toThrow(words);
});
