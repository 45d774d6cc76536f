import { fence, visibleText } from "@rockbot/contracts";
import { load } from "cheerio/slim";
import type { MarkdownPage } from "../to-markdown.ts";
import { type Element, elementsBelow, type ParentNode, textOf } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { baseOf } from "../tree/resolve-links.ts";
import { escapeText } from "../write/escape-text.ts";
import { prettyJson } from "./pretty-json.ts";
import { statesOf } from "./script-state.ts";

/** A page that shows more letters than that is read as it is, whatever its scripts and its `refresh` may do. */
const LITTLE = 200;
/** The elements that scripts draw into have these names in what frameworks generate; some have a custom element. */
const MOUNTS = /^(?:root|app|main-app|app-root|react-root|___gatsby|__next|__nuxt|__layout|q-app|svelte|ember-app)$/;
/** A spinner's words, at most. */
const SPINNER = 50;

const NEEDS_BROWSER = "(This page is drawn by its scripts, which are not run here. It needs a browser.)";

/**
 * What a page that its scripts draw holds without them: what it says to those who run none, its description, and the
 * data that it carries along: JSON-LD, the state of Next.js and its like, and what its scripts assign to the window. A
 * page that sends browsers on to another says to which.
 * @param read what of the page can be read as it is
 * @param url where it came from
 * @returns undefined if the page is what it shows
 */
export function scriptPage(
  html: string,
  read: MarkdownPage,
  { url, maxLength }: { readonly url: string; readonly maxLength: number },
): MarkdownPage | undefined {
  const { title, markdown } = read;
  const letters = markdown.replaceAll(/\s+/g, "").length;
  if (letters >= LITTLE) return undefined;
  const root = parsePage(html).root()[0] as ParentNode;
  const next = refreshOf(root, url);
  if (next !== undefined)
    return { ...read, markdown: `${markdown}\n\n(The page sends browsers on to ${next}. It was not followed.)`.trim() };
  const scripts = elementsBelow(root, "script");
  if (scripts.every(isData) || (letters > 0 && !hasMount(root))) return undefined;
  const parts = [
    NEEDS_BROWSER,
    markdown,
    ...described(root),
    ...elementsBelow(root, "noscript").map((element) => withoutTags(textOf(element))),
  ];
  let length = parts.join("").length;
  for (const { title: called, json } of carried(scripts)) {
    const pretty = visibleText(prettyJson(json));
    if (json === "" || length + pretty.length > maxLength) continue;
    length += pretty.length;
    parts.push(`${called}:\n\n${fence(pretty, "json")}`);
  }
  return { title, markdown: [...new Set(parts.filter((part) => part !== ""))].join("\n\n"), needsBrowser: true };
}

/** Later, in seconds, a page is for reading. */
const MAX_REFRESH = 60;
const MAX_ADDRESS = 2_048;

/**
 * The other page that a `refresh` leads to.
 * @see https://html.spec.whatwg.org/multipage/semantics.html#attr-meta-http-equiv-refresh
 */
function refreshOf(root: ParentNode, url: string): string | undefined {
  const { content = "" } =
    elementsBelow(root, "meta").find(({ attribs }) => attribs["http-equiv"]?.trim().toLowerCase() === "refresh")
      ?.attribs ?? {};
  const [, seconds, quoted, bare] =
    /^\s*(\d+)[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:["']([^"']*)|(.*))/is.exec(content) ?? [];
  const to = URL.parse((quoted ?? bare ?? "").trim(), baseOf(root, url)?.href);
  if (to === null || !/^https?:$/.test(to.protocol) || Number(seconds) > MAX_REFRESH || to.href.length > MAX_ADDRESS)
    return undefined;
  to.hash = "";
  return to.href === URL.parse(url)?.href.replace(/#.*/s, "") ? undefined : to.href;
}

/** The data that a page carries along, with a title for each. */
function carried(scripts: readonly Element[]): readonly { readonly title: string; readonly json: string }[] {
  const titleOf = (name: string): string => `Data of the page${/^[\w.:-]{1,60}$/.test(name) ? ` (${name})` : ""}`;
  const data = scripts.filter(isData).map((script) => {
    const { id = "", type = "" } = script.attribs;
    return { title: /ld\+json/i.test(type) ? "JSON-LD" : titleOf(id), json: textOf(script).trim() };
  });
  const states = statesOf(scripts.filter((script) => !isData(script)).map(textOf));
  return [...data, ...states.map(({ name, json }) => ({ title: titleOf(name), json }))];
}

const isData = ({ attribs }: Element): boolean => /[/+]json$/i.test(attribs["type"]?.trim() ?? "");

/** Tells whether scripts have a place to draw into, with no more than a spinner in it. */
const hasMount = (root: ParentNode): boolean =>
  elementsBelow(root).some(
    (element) =>
      (MOUNTS.test(element.attribs["id"] ?? "") || MOUNTS.test(element.name)) &&
      textOf(element).trim().length <= SPINNER,
  );

/** The description that a page gives of itself to search engines and in links, once. */
function described(root: ParentNode): readonly string[] {
  const meta = new Map(
    elementsBelow(root, "meta").map(({ attribs }) => [
      (attribs["name"] ?? attribs["property"] ?? "").toLowerCase(),
      (attribs["content"] ?? "").trim(),
    ]),
  );
  const text = meta.get("description") || meta.get("og:description") || meta.get("twitter:description") || "";
  return text === "" ? [] : [escapeText(text.slice(0, 2_000).replaceAll(/\s+/g, " "))];
}

/** A parser that runs scripts takes what is in `noscript` for text, another for elements: it is text either way. */
const withoutTags = (text: string): string =>
  escapeText(
    textOf(load(text).root()[0] as ParentNode)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
