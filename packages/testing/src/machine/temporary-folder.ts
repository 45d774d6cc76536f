import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** Writes a file in it, an object as JSON. @returns its path */
  write(name: string, content: string | Uint8Array | object): string;
}

/** A new folder, which disposal removes with all that is in it. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "rockbot-test-"));
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      writeFileSync(
        file,
        typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content),
      );
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
