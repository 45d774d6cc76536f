import { createHash } from "node:crypto";
import { zip } from "./zip.ts";

export interface WheelOptions {
  /** Names of other packages, as they stand in `Requires-Dist`. */
  readonly needs?: readonly string[] | undefined;
  /** Content of files by their paths. @default a module of the package's name that holds its `version` */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
}

export interface Wheel {
  readonly fileName: string;
  readonly name: string;
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** A wheel of pure Python. The name's form is that of a module. */
export function wheel(name: string, version: string, { needs = [], files }: WheelOptions = {}): Wheel {
  const info = `${name}-${version}.dist-info`;
  const content: Record<string, string | Uint8Array> = {
    ...(files ?? { [`${name}.py`]: `version = ${JSON.stringify(version)}\n` }),
    [`${info}/METADATA`]: [
      "Metadata-Version: 2.1",
      `Name: ${name}`,
      `Version: ${version}`,
      ...needs.map((need) => `Requires-Dist: ${need}`),
      "",
    ].join("\n"),
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  };
  const record = Object.entries(content).map(
    ([path, data]) => `${path},sha256=${createHash("sha256").update(data).digest("base64url")},${data.length}`,
  );
  const bytes = zip({ ...content, [`${info}/RECORD`]: [...record, `${info}/RECORD,,`, ""].join("\n") });
  return { fileName: `${name}-${version}-py3-none-any.whl`, name, version, bytes };
}
