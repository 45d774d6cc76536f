import { readFile } from "node:fs/promises";
import { join } from "node:path";

const FROM_PART = /^from \.(\w+) import (.+)$/;
const TOP_LEVEL = /^(?:def|class) (\w+)|^([A-Za-z_][\w, ]*) = /;

/**
 * One program of the parts that `main.py` of a folder imports, and these in turn: each once, before the first that needs
 * it. All names of one program are in one room, so no two parts may have the same.
 * @throws {Error} for a name that is there twice, a name that its part does not have, and a circle
 */
export async function joinProgram(folder: string): Promise<string> {
  const texts: string[] = [];
  const names = new Map<string, string>();
  const begun = new Set<string>();
  const done = new Set<string>();

  async function add(part: string): Promise<void> {
    if (done.has(part)) return;
    if (begun.has(part)) throw new Error(`${part}.py needs itself`);
    begun.add(part);
    const lines = (await readFile(join(folder, `${part}.py`), "utf8")).split("\n");
    for (const line of lines) {
      const [, other, imported] = FROM_PART.exec(line) ?? [];
      if (other === undefined || imported === undefined) continue;
      await add(other);
      for (const name of imported.split(", "))
        if (names.get(name) !== other) throw new Error(`${part}.py: ${other}.py has no "${name}"`);
    }
    for (const line of lines)
      for (const name of namesOf(line)) {
        const other = names.get(name);
        if (other !== undefined && other !== part) throw new Error(`"${name}" is in ${other}.py and in ${part}.py`);
        names.set(name, part);
      }
    texts.push(lines.filter((line) => !FROM_PART.test(line)).join("\n"));
    done.add(part);
  }

  await add("main");
  return texts.join("\n");
}

function namesOf(line: string): string[] {
  const [, one, several] = TOP_LEVEL.exec(line) ?? [];
  return one === undefined ? (several?.split(", ") ?? []) : [one];
}
