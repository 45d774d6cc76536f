import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { decodeText } from "@rockbot/page";

/** What is known of a page: `truth/ID.json` of a set. */
export interface PageTruth {
  readonly url: string;
  readonly pageType: string;
  /** The text that is the page's content, as plain text. */
  readonly mainContent: string;
  /** Pieces of text that belong to it. */
  readonly with?: readonly string[] | null;
  /** Pieces of text that do not. */
  readonly without?: readonly string[] | null;
  /** What the content has, as a reader sees it. Without it, scores take what the page's own tags say. */
  readonly structure?: TruthStructure;
}

export interface TruthStructure {
  readonly headings: readonly string[];
  /** Code without line numbers. The language is there if the page tells it. */
  readonly code: readonly { readonly text: string; readonly language?: string }[];
  /** The items without those below them. */
  readonly items: readonly string[];
  /** The cells of each row, a space between. */
  readonly rows: readonly string[];
  /** With addresses as they are once tracking parameters are gone. */
  readonly links: readonly { readonly text: string; readonly url: string }[];
}

export interface MeasuredPage {
  readonly id: string;
  readonly html: string;
  readonly truth: PageTruth;
}

/** Reads a set of pages: a folder with `pages/ID.html` or `pages/ID.html.gz`, and `truth/ID.json`. Sorted by id. */
export async function readSet(folder: string): Promise<MeasuredPage[]> {
  const names = (await readdir(join(folder, "truth"))).filter((name) => name.endsWith(".json")).sort();
  return await Promise.all(
    names.map(async (name) => {
      const id = name.slice(0, -".json".length);
      const [bytes, truth] = await Promise.all([
        readPage(join(folder, "pages", `${id}.html`)),
        readFile(join(folder, "truth", name), "utf8"),
      ]);
      return {
        id,
        html: decodeText(bytes, "text/html") ?? bytes.toString("utf8"),
        truth: JSON.parse(truth) as PageTruth,
      };
    }),
  );
}

async function readPage(file: string): Promise<Buffer> {
  return await readFile(file).catch(async () => await promisify(gunzip)(await readFile(`${file}.gz`)));
}
