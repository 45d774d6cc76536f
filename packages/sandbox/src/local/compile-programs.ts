import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Python } from "./find-python.ts";

/** What makes an interpreter run a program, before the program's own arguments. */
export type Program = readonly string[];

const COMPILE = `
import binascii, json, marshal, sys, zlib
for source in json.loads(sys.argv[1]):
    code = marshal.dumps(compile(source, "<string>", "exec", optimize=2, dont_inherit=True))
    print(binascii.b2a_base64(zlib.compress(code, 9), newline=False).decode())
`;
// One argument of a program has 128 KiB at most.
const LOAD =
  "import binascii, marshal, sys, zlib; exec(marshal.loads(zlib.decompress(binascii.a2b_base64(sys.argv.pop(1)))))";

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
