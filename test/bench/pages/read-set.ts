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
}

export interface MeasuredPage {
  readonly id: string;
  readonly html: string;
  readonly truth: PageTruth;
}

/** Reads a set of pages: a folder with `pages/ID.html.gz` and `truth/ID.json`. Sorted by id. */
export async function readSet(folder: string): Promise<MeasuredPage[]> {
  const names = (await readdir(join(folder, "truth"))).filter((name) => name.endsWith(".json")).sort();
  return await Promise.all(
    names.map(async (name) => {
      const id = name.slice(0, -".json".length);
      const [page, truth] = await Promise.all([readFile(join(folder, "pages", `${id}.html.gz`)), readFile(join(folder, "truth", name), "utf8")]);
      const bytes = await promisify(gunzip)(page);
      return { id, html: decodeText(bytes, "text/html") ?? bytes.toString("utf8"), truth: JSON.parse(truth) as PageTruth };
    }),
  );
}
