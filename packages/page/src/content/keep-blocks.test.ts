import { expect, test } from "vitest";
import { keepBlocks } from "./keep-blocks.ts";
import { describePage, readPage } from "./read-page.ts";

const TEXT = "The bridge over the river was closed on Monday, and it will open again when the work is done.";

/** The texts that are kept of a page, by the share of content that each block has. */
function keptOf(html: string, shareOf: (text: string) => number): string[] {
  const { view } = describePage(readPage(html));
  const kept = keepBlocks(
    view,
    view.blocks.map(({ text }) => shareOf(text.text)),
  );
  return view.blocks.flatMap(({ text }, i) => (kept[i] === true ? [text.text] : []));
}

test("keeps the heading of a section that is kept, and none of a section that is cut", () => {
  const html = `<body><h2>Kept</h2><p>${TEXT}</p><h2>Cut</h2><div>Other words in a teaser of another article on the site</div></body>`;
  expect(keptOf(html, (text) => (text === TEXT ? 0.95 : 0.05))).toEqual(["Kept", TEXT]);
});

test("keeps the line that says who is quoted with most of a quote, and with no quote that is cut", () => {
  const quote = (said: string): string =>
    `<blockquote><div><a href="/post">${said}</a></div><div>${TEXT}</div><a href="/more">Show all of it</a></blockquote>`;
  const teaser = `<blockquote><p>Eve said:</p><p>Other words in a teaser of another article on the site</p></blockquote>`;
  const shareOf = (text: string): number => (text === TEXT ? 0.95 : 0.05);
  expect(
    keptOf(
      `<body><p>${TEXT}</p>${quote("Ada said:")}${quote(`In the ${"long ".repeat(9)} run`)}${teaser}</body>`,
      shareOf,
    ),
  ).toEqual([TEXT, "Ada said:", TEXT, TEXT]);
});

test("cuts a menu that looks like content, and keeps one that holds the page's text", () => {
  const entries = "One entry of a menu with many words in it, and then another one";
  expect(
    keptOf(`<body><main><p>${TEXT}</p></main><nav>${entries}</nav></body>`, (text) => (text === TEXT ? 0.95 : 0.7)),
  ).toEqual([TEXT]);
  expect(
    keptOf(`<body><nav><p>${TEXT}</p></nav><div>Short</div></body>`, (text) => (text === TEXT ? 0.6 : 0.4)),
  ).toContain(TEXT);
});

test("cuts a part that the site calls beside its content, unless it holds the page's text", () => {
  const teaser = "Another story about the river that was written by someone else";
  const html = (called: string): string =>
    `<body><div><p>${TEXT}</p><p>${TEXT}</p></div><div class="${called}"><p>${teaser}</p></div></body>`;
  const shareOf = (text: string): number => (text === TEXT ? 0.95 : 0.6);
  expect(keptOf(html("body-text"), shareOf)).toEqual([TEXT, TEXT, teaser]);
  for (const called of ["related-stories", "newsletter", "sponsored"])
    expect(keptOf(html(called), shareOf), called).toEqual([TEXT, TEXT]);
  expect(keptOf(`<body class="featured"><p>${TEXT}</p></body>`, () => 0.6)).toEqual([TEXT]);
  // A site that calls most of its content so says nothing of one part.
  const related = `<div class="related-stories"><p>${teaser}</p></div>`;
  expect(keptOf(`<body><p>${TEXT}</p>${related.repeat(5)}</body>`, shareOf)).toEqual([
    TEXT,
    ...Array<string>(5).fill(teaser),
  ]);
});

test.each([
  ["keeps the heading of a card rather than the link that repeats it", "/amber", "h3"],
  ["keeps an entry of a table of contents, which repeats a heading", "#amber", "li"],
])("%s", (_, href, name) => {
  const html = `<body><p>${TEXT}</p><ul><li><a href="${href}">Amber lamp</a></li></ul><div>12 pounds</div><h3>Amber lamp</h3><div>Sold out</div></body>`;
  const { view } = describePage(readPage(html));
  const kept = keepBlocks(
    view,
    view.blocks.map(({ zone }) => ({ p: 0.95, li: 0.9 })[zone.name] ?? 0.05),
  );
  expect(view.blocks.flatMap(({ zone }, i) => (kept[i] === true ? [zone.name] : []))).toEqual(["p", name]);
});

test("keeps the term of a description that is kept, and an address behind what is kept", () => {
  const terms = `<dl><dt>General tips</dt><dd>${TEXT}</dd><dt>Terms of use</dt><dd>More of the site</dd></dl>`;
  const html = `<body>${terms}<p>${TEXT}</p><div><a href="https://amber.test/a">https://amber.test/a</a></div><div><a href="/shop">Shop</a></div><div>https://birch.test/b</div></body>`;
  expect(keptOf(html, (text) => (text === TEXT ? 0.95 : 0.05))).toEqual([
    "General tips",
    TEXT,
    TEXT,
    "https://amber.test/a",
  ]);
});

test("judges what a page makes by one pattern together", () => {
  const names = ["Amber", "Birch", "Cedar", "Dogwood", "Elder", "Fir"];
  const html = `<body>${names.map((name) => `<div class="card"><h3>${name} lamp</h3></div>`).join("")}<p>${TEXT}</p></body>`;
  const shareOf = (text: string): number => (text === "Cedar lamp" ? 0.5 : text === TEXT ? 0.55 : 0.9);
  expect(keptOf(html, shareOf)).toEqual(expect.arrayContaining(names.map((name) => `${name} lamp`)));
});

test("keeps code and tables beside what is kept, and a list between, as a whole", () => {
  const row = (name: string): string => `<tr><td>${name}</td><td>${name.length}</td></tr>`;
  const parts = `<pre>run it</pre><p>${TEXT}</p><table>${row("Amber")}${row("Birch")}</table><p>${TEXT}</p><ul><li>Cedar</li><li>Elder</li></ul><p>${TEXT}</p>`;
  const shareOf = (text: string): number => (text === TEXT ? 0.85 : 0.36);
  expect(keptOf(`<body>${parts}</body>`, shareOf)).toEqual([
    "run it",
    TEXT,
    "Amber 5",
    "Birch 5",
    TEXT,
    "Cedar",
    "Elder",
    TEXT,
  ]);
  expect(keptOf(`<body>${parts}</body>`, (text) => (text === TEXT ? 0.95 : 0.05))).toEqual([TEXT, TEXT, TEXT]);
});

test("keeps no list beside what is kept, and no table that lays out", () => {
  const list = "<ul><li>Cedar</li><li>Elder</li></ul>";
  const layout = `<table><tr><td>Menu</td><td><table><tr><td>Amber</td><td>5</td></tr></table><p>${TEXT}</p></td></tr></table>`;
  const shareOf = (text: string): number => (text === TEXT ? 0.85 : text.startsWith("Amber") ? 0.5 : 0.36);
  expect(keptOf(`<body>${list}<p>${TEXT}</p>${list}</body>`, shareOf)).toEqual([TEXT]);
  expect(keptOf(`<body>${layout}</body>`, shareOf)).toEqual(["Amber 5", TEXT]);
});

test("keeps the notes that what is kept refers to, and no others", () => {
  const note = (id: string, text: string): string =>
    `<aside class="footnote brackets" id=${id} role=doc-footnote><a role=doc-backlink href=#>x</a><p>${text}</p></aside>`;
  const mark = (id: string): string => `<a role=doc-noteref href="#${id}">x</a>`;
  const html = `<body><p>${TEXT} ${mark("a")}<sup><a href="#b" class=footnote-ref>2</a></sup>${mark("long")}<sup><a href="#terms">3</a></sup></p><div>Other words in a teaser of another site ${mark("c")}</div>
    <aside>${note("a", "A source.")}${note("c", "Another source.")}</aside><ol><li id=b>A book.</li><li id=terms>Terms.</li></ol><div id=long>${"word ".repeat(301)}</div></body>`;
  expect(keptOf(html, (text) => (text.startsWith(TEXT) ? 0.95 : 0.01))).toEqual([
    `${TEXT} x2x3`,
    "x",
    "A source.",
    "A book.",
  ]);
});
