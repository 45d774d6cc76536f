import type { Readable } from "node:stream";

/**
 * What the installer in a sandbox (`installer.py`) and the process outside say to each other, a line of JSON each.
 *
 * **In**: first an `InstallRequest`, then what its connections receive: `{"connection":N,"data":BASE64}`, or without
 * data their end. The end of the stream ends the installer.
 *
 * **Out**: `ready`; `opened`, `sent` and `closed` for what pip sends to its proxy, at any time; then either `failed`
 * with pip's last words, or `resolved`, each `file` in pieces, and `installed`.
 */
export type InstallerFrame =
  | { readonly frame: "ready"; readonly python: string }
  | { readonly frame: "opened" | "closed"; readonly connection: number }
  | { readonly frame: "sent"; readonly connection: number; readonly data: string }
  | { readonly frame: "failed"; readonly words: string }
  | ({ readonly frame: "resolved" } & Resolution)
  | ({ readonly frame: "file" } & FilePiece)
  | { readonly frame: "installed" };

export interface Resolution {
  readonly packages: readonly PinnedPackage[];
  /** The interpreter and its machine: packages installed here do not work elsewhere. */
  readonly platform: string;
}

export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** The hash of its wheel; empty if pip does not say. */
  readonly sha256: string;
}

export interface FilePiece {
  /** The path below the layer's folder. */
  readonly path: string;
  readonly executable: boolean;
  /** Base64. */
  readonly data: string;
  /** True for the last frame of this file. */
  readonly last: boolean;
}

export interface InstallRequest {
  readonly requirements: readonly string[];
  readonly index: string | null;
  /** The address of a page with links to wheels. */
  readonly wheels: string | null;
  /** Hosts that are reached without TLS. */
  readonly plainHosts: readonly string[];
  /** PEM, of whom to believe instead of the authorities that pip knows. */
  readonly certificates: string | null;
}

/** More than a piece of a file in base64, and less than anybody's memory. */
const MAX_LINE_BYTES = 256 * 1024;

/**
 * The frames of an installer, one by one.
 * @throws {Error} if something that comes is no frame: its sender is not trusted any more
 */
export async function* readInstallerFrames(output: Readable): AsyncGenerator<InstallerFrame> {
  let begun = "";
  for await (const chunk of output.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    if (begun.length > MAX_LINE_BYTES) throw new Error("A line of the installer is too long");
    for (const line of lines) yield parseFrame(line);
  }
}

function parseFrame(line: string): InstallerFrame {
  const value = JSON.parse(line) as Record<string, unknown> | null;
  const check = typeof value?.["frame"] === "string" ? checks[value["frame"] as InstallerFrame["frame"]] : undefined;
  if (value === null || check?.(value) !== true) throw new Error("A line of the installer is no frame");
  return value as unknown as InstallerFrame;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value);
const isPackage = (value: unknown): boolean => {
  const { name, version, sha256 } = (value ?? {}) as Partial<PinnedPackage>;
  return isText(name) && isText(version) && isText(sha256);
};

const checks: Readonly<Record<InstallerFrame["frame"], (frame: Readonly<Record<string, unknown>>) => boolean>> = {
  ready: () => true,
  opened: ({ connection }) => isNumber(connection),
  closed: ({ connection }) => isNumber(connection),
  sent: ({ connection, data }) => isNumber(connection) && isText(data),
  failed: ({ words }) => isText(words),
  resolved: ({ packages, platform }) => Array.isArray(packages) && packages.every(isPackage) && isText(platform),
  file: ({ path, executable, data, last }) =>
    isText(path) && typeof executable === "boolean" && isText(data) && typeof last === "boolean",
  installed: () => true,
};
