import { TextMemo } from "../text-memo.ts";
import type { Element } from "../tree/dom.ts";

/**
 * What sites call the parts of a page, in classes, ids and the like, or mean by an element. A part of a site's words
 * for a thing is a hint of it only: what follows from one is learnt.
 */
const groups: Readonly<Record<string, { readonly words: RegExp; readonly names?: readonly string[] }>> = {
  navigation: { words: /\bnav|menu|megamenu|navbar|skip-?(?:link|to)|\btabs?\b|tablist/, names: ["nav", "menu"] },
  footer: { words: /foot(?!note|ball|age|wear|print)|contentinfo|colophon|bottom-?bar/, names: ["footer"] },
  header: { words: /header|masthead|\bbanner|top-?bar|site-?head|\bhero|jumbotron/, names: ["header"] },
  side: { words: /side-?bar|\baside|\brail\b|right-?col|left-?col|secondary|widget|complementary/, names: ["aside"] },
  comment: { words: /comment|disqus|discuss|repl(?:y|ies)|respond|livefyre/ },
  related: {
    words:
      /relat(?!iv|ions?\b)|recommend|\bmore-|-more\b|also-|similar|popular|trending|most-read|read-?next|up-?next|suggest|you-?may|upsell|cross-?sell|recirc|explore|latest|featured/,
  },
  promotion: {
    words:
      /\bads?\b|\bad-|-ad\b|advert|sponsor|promo|dfp|outbrain|taboola|affiliate|\bcta\b|call-to-action|campaign|\bdonat/,
  },
  overlay: {
    words:
      /cookie|consent|gdpr|modal|popup|overlay|dialog|toast|tooltip|drawer|offcanvas|off-canvas|lightbox|notice|alert/,
    names: ["dialog"],
  },
  letter: { words: /newsletter|subscri|sign-?up|mailing|login|log-in|signin|register|account|paywall|membership/ },
  meta: {
    words:
      /meta\b|byline|author|\bdate|time-?stamp|posted|publish|\btags?\b|categor|\btopics?\b|credit|dateline|updated|bio\b/,
    names: ["time", "address"],
  },
  body: {
    words:
      /article-?body|post-?body|entry-?content|post-?content|article-?content|articlebody|story-?body|body-?text|body-?copy|main-?content|rich-?text|richtext|prose|markdown|\bcopy\b|wysiwyg|\brte\b|mw-parser-output/,
  },
  content: {
    words: /content|article|\bpost\b|story|\bentry|\btext\b|\bmain|page-?body|document|\bblog/,
    names: ["main", "article"],
  },
  title: { words: /titl|headline|heading|\bname\b|subtitle|deck\b|\blede?\b|standfirst|summary|excerpt|intro|dek\b/ },
  product: {
    words:
      /product|\bpdp|price|spec(?:s|ification)|\bsku|variant|add-?to-?cart|\bcart|basket|buy|feature|detail|descri|ingredient|benefit|size|colou?r/,
  },
  review: { words: /review|rating|stars?\b|testimonial|feedback|customer-?say/ },
  card: {
    words:
      /card|\btile|grid|teaser|carousel|slide|swiper|slick|gallery|thumb|item\b|list-?item|\bresult|listing|collection/,
  },
  contents: { words: /\btoc\b|table-?of-?contents|on-?this-?page|in-?page|scrollspy|outline|anchor/ },
  filter: {
    words: /filter|facet|\bsort|search|refine|autocomplete|dropdown|select\b|option/,
    names: ["form", "search", "fieldset", "label"],
  },
  control: {
    words: /toolbar|button|\bbtn|control|action|toggle|switch|\bcopy-?(?:code|btn|button)|icon|badge|label/,
    names: ["button", "summary"],
  },
  caption: {
    words: /caption|figcap|credit|photo|image|media|video|player/,
    names: ["figure", "figcaption", "caption"],
  },
  thread: {
    words:
      /thread|message|\bpost-?(?:body|content|text|message)|answer|question|topic|postbody|bbwrapper|bbcode|forum|cooked|usertext/,
  },
  faq: { words: /faq|accordion|collaps|expand|panel|disclosure|tab-?(?:content|pane|panel)/, names: ["details"] },
  legal: { words: /legal|copyright|disclaim|terms|privacy|polic|trademark|licen[cs]e/ },
  location: { words: /address|contact|location|\bmap\b|store|hours|phone|geo|country|language|locale|region|currency/ },
  code: { words: /code|highlight|syntax|snippet|terminal|prism|hljs/, names: ["pre", "code"] },
  hidden: { words: /hidden|hide\b|sr-only|screen-?reader|visually|invisible|collapsed|noprint|no-print/ },
  landmark: {
    words: /\bsection\b|container|wrapper|\brow\b|\bcol\b|layout|module|block|component/,
    names: ["section"],
  },
};

export const groupNames: readonly string[] = Object.keys(groups);
const entries = Object.values(groups);
const namesToBits = new Map<string, number[]>();
entries.forEach(({ names = [] }, bit) => {
  for (const name of names) namesToBits.set(name, [...(namesToBits.get(name) ?? []), bit]);
});

const speaking = [
  "class",
  "id",
  "role",
  "itemprop",
  "data-testid",
  "data-test",
  "data-component",
  "data-module",
  "data-block",
  "aria-label",
] as const;
const NONE: readonly number[] = [];
/** The most characters of an element's list of classes that count: a longer list says no more. */
const MAX_LENGTH = 300;

/**
 * The groups that an element belongs to, as indices of `groupNames`. Reads each string of words once while `known`
 * lives.
 */
export function groupsOf({ name, attribs }: Element, known: Map<string, readonly number[]>): readonly number[] {
  let words = "";
  for (const attribute of speaking) {
    const value = attribs[attribute];
    if (value !== undefined && value !== "") words += ` ${value}`;
  }
  const byName = namesToBits.get(name) ?? NONE;
  if (words === "") return byName;
  const key = `${name}${words}`.slice(0, MAX_LENGTH);
  const found = known.get(key);
  if (found !== undefined) return found;
  const bits = [...new Set([...byName, ...words.slice(0, MAX_LENGTH).split(/\s+/).flatMap(groupsOfWord)])];
  known.set(key, bits);
  return bits;
}

const groupsOfWords = new TextMemo<readonly number[]>({ maxTexts: 10_000, maxLength: 100 });

const groupsOfWord = (word: string): readonly number[] =>
  groupsOfWords.of(word, (own) => {
    const parted = own.replaceAll(/([a-z])([A-Z])/g, "$1-$2").toLowerCase();
    return entries.flatMap(({ words: pattern }, bit) => (pattern.test(parted) ? [bit] : []));
  });
