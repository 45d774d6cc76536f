/** One way of making markdown of a page. Its module in contenders/ exports this as `convert`. */
export type Convert = (html: string, url: string) => string | Promise<string>;

/** What is known of a contender before it runs. Its code is `contenders/{file}`. */
export interface ContenderInfo {
  readonly file: string;
  readonly about: string;
}

/** The contenders in the order of the report. */
export const contenders: Readonly<Record<string, ContenderInfo>> = {
  rockbot: { file: "rockbot.ts", about: "ours, in the process that measures it" },
  "cheerio-turndown": {
    file: "cheerio-turndown.mjs",
    about: "cheerio: navigation, header, footer and the like removed, `main` picked; turndown",
  },
  readability: { file: "readability.mjs", about: "@mozilla/readability in a document of linkedom; node-html-markdown" },
  defuddle: { file: "defuddle.mjs", about: "defuddle in a document of linkedom, with its own markdown" },
  "rs-trafilatura": {
    file: "rs-trafilatura.mjs",
    about: "rs-trafilatura, native, by the binding that contextractor brings, with its markdown",
  },
};

/** The contender that times are set against. */
export const REFERENCE = "cheerio-turndown";
