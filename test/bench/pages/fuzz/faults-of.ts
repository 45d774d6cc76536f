import { load } from "cheerio";
import { marked } from "marked";

/** Controls but tab and line feed, signs that change the order of others, and those without width. */
const UNSEEN =
  /[\p{Cc}--[\t\n]]|[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/v;
const FORBIDDEN =
  "script, style, iframe, object, embed, svg, math, template, link, meta, base, form, button, textarea, select, video, audio, plaintext, xmp";
/** Longer markdown is looked at in part: the renderer takes long for it. */
const RENDERED = 200_000;

/** What is wrong with the markdown of a page, whatever the page was: in words, and nothing if all is well. */
export function faultsOf(markdown: string): string[] {
  const faults = unseenIn(markdown);
  const $ = load(marked.parse(markdown.slice(0, RENDERED), { async: false, gfm: true }));
  for (const element of $(FORBIDDEN).toArray())
    faults.push(`<${$(element).prop("tagName")?.toLowerCase()}>: ${$.html(element).slice(0, 100)}`);
  for (const element of $("*").toArray()) {
    for (const [name, value] of Object.entries($(element).attr() ?? {})) {
      if (name.startsWith("on")) faults.push(name);
      if (/^(?:href|src)$/.test(name) && /^\s*(?:javascript|data|vbscript):/i.test(value))
        faults.push(`${name}="${value.slice(0, 60)}"`);
    }
  }
  return [...new Set(faults)];
}

/** What a reader does not see in a text, in words. */
export function unseenIn(text: string): string[] {
  const unseen = UNSEEN.exec(text);
  const faults = unseen === null ? [] : [`U+${unseen[0].codePointAt(0)?.toString(16)} at ${unseen.index}`];
  return text.isWellFormed() ? faults : [...faults, "half a character"];
}
