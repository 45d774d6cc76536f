import { readFile } from "node:fs/promises";

/**
 * Adobe's maps of the characters of Chinese, Japanese and Korean fonts, which PDF documents name and do not hold. In a
 * bundle they lie beside it.
 */
const FOLDER = new URL("cmaps/", import.meta.resolve("pdfjs-dist/package.json"));

/** The characters that a map from Unicode leads to. */
const characters: Readonly<Record<string, string>> = {
  UniGB: "GB1",
  UniCNS: "CNS1",
  UniJIS: "Japan1",
  UniKS: "Korea1",
};

/** Reads them for pdf.js, which reads one font after another. */
export class CharacterMaps {
  #before: string | undefined;

  /** @throws {Error} if there is no such file, and for files of other kinds */
  async fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    const [, name] = /^([\w-]+)\.bcmap$/.exec(filename) ?? [];
    if (kind !== "cMapUrl" || name === undefined) throw new Error(`There is no ${filename}.`);
    const before = this.#before;
    this.#before = characters[name.split("-")[0] ?? ""];
    // Some fonts have a map that is not of their characters, as ReportLab's of traditional Chinese: the text follows
    // from the map.
    const isBack = before !== undefined && /^Adobe-\w+-UCS2$/.test(name);
    return new Uint8Array(await readFile(new URL(`${isBack ? `Adobe-${before}-UCS2` : name}.bcmap`, FOLDER)));
  }
}
