import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Python } from "./find-python.ts";

/** What makes an interpreter run a program, before the program's own arguments. */
export type Program = readonly string[];

const COMPILE = `
import binascii, json, marshal, sys
for source in json.loads(sys.argv[1]):
    print(binascii.b2a_base64(marshal.dumps(compile(source, "<string>", "exec", optimize=2, dont_inherit=True)), newline=False).decode())
`;
const LOAD = "import binascii, marshal, sys; exec(marshal.loads(binascii.a2b_base64(sys.argv.pop(1))))";

/**
 * Programs as this interpreter has compiled them: each sandbox would do so again, which takes as long as the
 * interpreter's own start.
 */
export async function compilePrograms({ executable }: Python, sources: readonly string[]): Promise<readonly Program[]> {
  const { stdout } = await promisify(execFile)(executable, ["-I", "-S", "-c", COMPILE, JSON.stringify(sources)], {
    timeout: 20_000,
    cwd: "/",
  });
  return stdout
    .trim()
    .split("\n")
    .map((compiled) => ["-c", LOAD, compiled]);
}
