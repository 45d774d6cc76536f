import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BundledPackage } from "./bundled-packages.ts";

/** Files by which a package passes its licence on, as most packages name them. */
const FILE = /^(licen[cs]e|copying|notice|copyright)([.-].*)?$/i;

/**
 * The licence texts that packages bring, each once, below the names of those that have it. A package that brings none
 * stands with what its manifest says. The same packages give the same text.
 */
export async function licenceTexts(root: string, packages: readonly BundledPackage[]): Promise<string> {
  const holders = new Map<string, string[]>();
  for (const { name, version, license = "no licence in its manifest", folder } of packages) {
    const files = (await readdir(join(root, folder))).filter((file) => FILE.test(file)).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), "utf8")));
    const text =
      texts.length === 0
        ? `${license}. The package brings no text.`
        : texts.map((each) => each.replaceAll("\r\n", "\n").trim()).join("\n\n");
    holders.set(text, [...(holders.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...holders].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`);
}
