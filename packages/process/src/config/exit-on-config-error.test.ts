import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test.each(["", "async "])("a main with a wrong configuration prints the faults and exits with 2: %sload", (async) => {
  const index = JSON.stringify(join(import.meta.dirname, "index.ts"));
  const main = `import { ConfigError, exitOnConfigError } from ${index};
    await exitOnConfigError(${async}() => { throw new ConfigError(["one", "two"]); });
    console.log("not reached");`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", main], {
    encoding: "utf8",
    timeout: 10_000,
  });

  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: "",
    stderr: "Cannot load the configuration: 2 faults\n  one\n  two\n",
  });
});
