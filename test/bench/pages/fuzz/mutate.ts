import type { Dice } from "./dice.ts";
import { hostileElement } from "./hostile-text.ts";

export interface MutantPage {
  readonly bytes: Uint8Array;
  /** As the server says it, which may be wrong. */
  readonly contentType: string;
  /** What was done to the page, in order. */
  readonly done: readonly string[];
}

/**
 * A page of `pages` with one to four faults put into it, and its bytes, perhaps in another encoding than they claim.
 */
export function mutant(pages: readonly string[], dice: Dice): MutantPage {
  let html = dice.one(pages);
  const done: string[] = [];
  for (let faults = 1 + dice.below(4); faults > 0; faults--) {
    const [name, mutate] = dice.one(mutations);
    done.push(name);
    html = mutate(html, dice, pages).slice(0, MAX_LENGTH);
  }
  const [encoding, encode] = dice.one(encodings);
  done.push(encoding);
  return { bytes: encode(html, dice), contentType: dice.one(contentTypes), done };
}

const MAX_LENGTH = 400_000;

type Mutation = (html: string, dice: Dice, pages: readonly string[]) => string;

const mutations: readonly (readonly [string, Mutation])[] = [
  ["cut the end", (html, dice) => html.slice(0, dice.below(html.length))],
  ["cut a piece", (html, dice) => replaceAt(html, dice.piece(html, 2_000), "")],
  ["splice another page", (html, dice, pages) => insert(html, dice, sliceOf(dice.one(pages), dice, 4_000))],
  ["repeat a piece", (html, dice) => insert(html, dice, sliceOf(html, dice, 1_500).repeat(1 + dice.below(60)))],
  [
    "swap tags",
    (html, dice) => everyNth(html, /<(\/?)[a-z][a-z0-9]*/gi, dice, (_, slash) => `<${slash}${dice.one(tags)}`),
  ],
  ["drop end tags", (html, dice) => everyNth(html, /<\/[a-z][a-z0-9]*>/gi, dice, () => "")],
  [
    "nest deeply",
    (html, dice) => insert(html, dice, `<${dice.one(tags)} class="${dice.one(words)}">`.repeat(dice.below(3_000))),
  ],
  [
    "many attributes",
    (html, dice) =>
      insert(html, dice, `<div ${Array.from({ length: dice.below(2_000) }, (_, i) => `a${i}=${i}`).join(" ")}>`),
  ],
  ["entities", (html, dice) => everyNth(html, /\b\w/g, dice, () => dice.one(entities))],
  ["signs that nobody sees", (html, dice) => everyNth(html, /\b\w/g, dice, (letter) => letter + dice.one(unseen))],
  ["signs of markdown", (html, dice) => everyNth(html, /\b\w/g, dice, (letter) => dice.one(markdownSigns) + letter)],
  ["hostile markup", (html, dice) => insert(insert(html, dice, dice.one(hostile)), dice, dice.one(hostile))],
  [
    "hostile texts",
    (html, dice) => insert(html, dice, Array.from({ length: 1 + dice.below(20) }, () => hostileElement(dice)).join("")),
  ],
  [
    "random signs",
    (html, dice) =>
      insert(html, dice, Array.from({ length: dice.below(300) }, () => String.fromCodePoint(codePoint(dice))).join("")),
  ],
  ["quotes lost", (html, dice) => everyNth(html, /"/g, dice, () => "")],
  [
    "classes changed",
    (html, dice) =>
      everyNth(
        html,
        /class="[^"]*"/g,
        dice,
        () => `class="${dice.one(words)} ${dice.one(words)}" style="${dice.one(styles)}"`,
      ),
  ],
];

const encodings: readonly (readonly [string, (html: string, dice: Dice) => Uint8Array])[] = [
  ["as UTF-8", (html) => Buffer.from(html)],
  ["as UTF-8 again", (html) => Buffer.from(html)],
  ["as Latin-1", (html) => Buffer.from(html, "latin1")],
  ["as UTF-16", (html, dice) => Buffer.from(dice.one(["\ufeff", ""]) + html, "utf16le")],
  ["with broken bytes", (html, dice) => broken(Buffer.from(html), dice)],
];
const contentTypes = [
  "text/html; charset=utf-8",
  "text/html",
  "text/html; charset=iso-8859-1",
  "application/xhtml+xml",
  "text/html; charset=shift_jis",
  "text/html; charset=x",
];

const tags =
  "div,p,span,a,table,tr,td,th,ul,ol,li,pre,code,blockquote,h1,h3,article,main,aside,nav,header,footer,form,button,select,option,details,dl,dt,dd,b,em,sup,svg,math,template,noscript,textarea,title,dialog,figure,img,br,input,iframe,object,center,font".split(
    ",",
  );
const words =
  "content,main,article,post,comment,nav,footer,ad,hidden,cookie,line-numbers,highlight,lineno,price,card,x".split(",");
const styles = [
  "display:none",
  "visibility:hidden",
  "display:block",
  "font-size:0",
  "color:#fff;background:#fff",
  "position:absolute;left:-9999px",
  "{",
  "display:;none",
];
const entities = [
  "&",
  "&#0;",
  "&#x1F;",
  "&#x202E;",
  "&#xD800;",
  "&nbsp;",
  "&lt;script&gt;",
  "&#60;img src=x onerror=a()&#62;",
  "&zwj;",
  "&#x110000;",
  "&bogus;",
  "&amp;lt;",
  "&#8203;",
  "&#x85;",
];
const unseen = [
  "\0",
  "\x07",
  "\x1b[31m",
  "\x7f",
  "\x9b",
  "\u00ad",
  "\u200b",
  "\u200d",
  "\u202e",
  "\u2066",
  "\ufeff",
  "\u{e0041}",
  "\ufff9",
  "\u2028",
  "\ud800",
  "\u3164",
  "\r",
  "\v",
];
const markdownSigns = [
  "`",
  "```\n",
  "|",
  "](javascript:a())",
  "[x](",
  "<",
  "<b>",
  "**",
  "_",
  "~~~\n",
  "\\",
  "#",
  "\n---\n",
  "![",
  "$$",
  "<!--",
  "\n    ",
  "- [ ] ",
  "> ",
];
const hostile = [
  "<script>alert(1)</script>",
  "<scr<script>ipt>alert(1)</scr</script>ipt>",
  '<a href="java\tscript:alert(1)">a link</a>',
  '<a href="javascript&colon;alert(1)">a link</a>',
  '<a href="data:text/html,<script>alert(1)</script>">a link</a>',
  '<a href="//example.com/)(<script>alert(1)</script>">a link</a>',
  '<a href="https://example.com/a b>c" title="&quot;><script>alert(1)</script>">a link</a>',
  "<svg><script>alert(1)</script><foreignObject><p>text</p></foreignObject></svg>",
  '<noscript><p title="</noscript><script>alert(1)</script>">text</p></noscript>',
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;script&gt;alert(1)&lt;/script&gt;'>",
  "<plaintext>",
  "<xmp><script>alert(1)</script></xmp>",
  "<title><script>alert(1)</script>",
  "<textarea><script>alert(1)</script></textarea><style></style>",
  "<pre><code>```\n<script>alert(1)</script>\n```</code></pre>",
  "<code>``<script>alert(1)</script>`</code>",
  "<p>&lt;script&gt;alert(1)&lt;/script&gt; and &lt;img src=x onerror=alert(1)&gt;</p>",
  "<p>&lt;&#8203;script&gt;alert(1)&lt;\u202e/script&gt; and &lt;<b></b>script>alert(1)</p>",
  "<p>https://example.com/&lt;script&gt;alert(1)&lt;/script&gt; www.example.com/&lt;img src=x onerror=alert(1)></p>",
  "<!-- <p>text</p>",
  "<![CDATA[<script>alert(1)</script>]]>",
  '<base href="javascript:alert(1)//"><a href="x">a link</a>',
  '<base href="https://[::1"><a href="x">a link</a>',
  '<img src=x onerror=alert(1) alt="](x)<script>alert(1)</script>">',
  "<table><tr><td>a|b<td><table><tr><td>c\nd</table><tr><td colspan=999999 rowspan=999999>e</table>",
  `<ol start=99999999999999999999><li value=-1>a<li>b</ol>`,
  '<style>@import "x"; * { display: none !important } } } {</style>',
  "<style>:root{--a:var(--b);--b:var(--a)} p{display:var(--a)}</style>",
  '<template shadowrootmode="open"><slot></slot><script>alert(1)</script></template>',
  '<script type="application/ld+json">{"@type":"Article","articleBody":"<script>alert(1)<\\/script>\\u202e\\u0000[a](javascript:a())"}</script>',
  '<script type="application/ld+json">[[[[{"@graph":</script>',
  '<meta name="author" content="a&#10;---&#10;title: b"><meta property="og:title" content="x: [y]&#13;# z">',
];

const replaceAt = (html: string, [start, end]: readonly [number, number], text: string): string =>
  html.slice(0, start) + text + html.slice(end);

/** Mostly between tags, as a page's own faults are. */
function insert(html: string, dice: Dice, text: string): string {
  const start = dice.below(html.length + 1);
  const between = html.indexOf("<", start);
  return replaceAt(html, between < 0 || dice.below(4) === 0 ? [start, start] : [between, between], text);
}

function sliceOf(html: string, dice: Dice, longest: number): string {
  return html.slice(...dice.piece(html, longest));
}

/** Replaces some of the matches: between all and one in a hundred. */
function everyNth(html: string, pattern: RegExp, dice: Dice, change: (match: string, group: string) => string): string {
  const step = dice.one([1, 3, 10, 40, 100]);
  let count = dice.below(step);
  return html.replaceAll(pattern, (match: string, group: string) =>
    count++ % step === 0 ? change(match, group) : match,
  );
}

const codePoint = (dice: Dice): number =>
  dice.one([dice.below(0x80), dice.below(0x3000), dice.below(0x10000), dice.below(0x110000)]);

function broken(bytes: Buffer, dice: Dice): Buffer {
  for (let left = dice.below(200); left > 0 && bytes.length > 0; left--)
    bytes[dice.below(bytes.length)] = dice.below(256);
  return bytes;
}
