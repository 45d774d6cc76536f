import { expect, test } from "vitest";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { toMarkdown } from "./to-markdown.ts";

const md = (html: string, url = "https://example.test/docs/page"): string => toMarkdown(html, url).markdown;

test.each([
  ["<title> A &amp;\n B </title>", "A & B"],
  ["<svg><title>icon</title></svg><head><title>Page</title></head>", "Page"],
  ["<title></title><p>x", null],
  ["<p>x", null],
])("the title of %j is %j", (html, title) => {
  expect(toMarkdown(html, "https://example.test/").title).toBe(title);
});

test.each([
  ["headings", "<h1>One</h1><h2>Two <em>x</em></h2><h6>Six</h6>", "# One\n\n## Two *x*\n\n###### Six"],
  ["inline marks", "<p><b>b</b> <i>i</i> <del>d</del> <code>c</code></p>", "**b** *i* ~~d~~ `c`"],
  ["what looks like markdown", "<p>1. a_b *c* [d] # e</p>", "1\\. a\\_b \\*c\\* \\[d\\] # e"],
  ["line breaks", "<p>a<br>b</p>", "a\nb"],
  ["quotes", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n> \n> b"],
  ["lists", "<ul><li>a<ol start=3><li>b</li><li><p>c</p></li></ol></li><li>d</li></ul>", "- a\n  3. b\n  4. c\n- d"],
  ["rules", "<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"],
  ["links around blocks", "<a href=/x><h3>Card</h3><p>text</p></a>", "### [Card](https://example.test/x)\n\ntext"],
  [
    "images",
    "<p>a <img src=x alt='A [map]'><img src=y> b</p><a href=/x><img alt=Alt></a><a href=/y><img></a>",
    "a ![A \\[map\\]](https://example.test/docs/x) b\n\n[Alt](https://example.test/x)",
  ],
  [
    "a picture that only repeats a link",
    "<a href=/x><img alt='A chair'></a> <a href=/x>Chair</a>",
    "[Chair](https://example.test/x)",
  ],
  ["definition lists", "<dl><dt>t</dt><dd>d</dd><dd>e</dd></dl>", "**t**\n: d\n: e"],
  [
    "checkboxes",
    "<ul><li><input type=checkbox checked> done<li><label><input type=checkbox>open</label></ul>",
    "- [x] done\n- [ ] open",
  ],
  ["raised and lowered text", "<p>x<sup>2</sup> and H<sub>2</sub>O</p>", "x<sup>2</sup> and H<sub>2</sub>O"],
  [
    "footnotes",
    "<p>Said<sup><a href=#n1>1</a></sup> twice<sup><a href=#n1>1</a></sup>.</p><ol><li id=n1>The source. <a href=#r1>↩</a></ol>",
    "Said[^1] twice[^1].\n\n[^1]: The source.",
  ],
  [
    "a formula that stands in three forms, once",
    "<p>So <span class=katex><span class=katex-mathml><math><mi>x</mi><annotation encoding='application/x-tex'>x^2_1</annotation></math></span><span class=katex-html aria-hidden=true>x2</span></span>.</p>",
    "So $x^2_1$.",
  ],
  [
    "a formula that would begin a link or code",
    "<p>So <math alttext='x[1] in [0, `1)'></math> <code>](javascript:c())</code></p>",
    "So $x[1] in \\lbrack 0, ‘1)$ `](javascript:c())`",
  ],
  [
    "a formula of MathJax",
    "<p>So<span class=MathJax_Preview>x</span><script type='math/tex; mode=display'>a < b</script></p>",
    "So\n\n$$\na < b\n$$",
  ],
  [
    "a formula that looks like a link, in which nobody sees one",
    "<p>So <math alttext='x$ ![a](https://e.test/) [b](javascript:c()) $'></math>.</p>",
    "So $x$ ![a] (https://e.test/) [b] (javascript:c()) $$.",
  ],
  ["blocks in an element of the page's own making", "<p>a</p>b<x-a><div>c</div>d </x-a>", "a\n\nb\n\nc\n\nd"],
  [
    "a note that looks like an address",
    "<p>a<sup><a href=#n>1</a></sup></p><ol><li id=n>javascript:b()</ol>",
    "a[^1]\n\n[^1]: `javascript:b()`",
  ],
  [
    "quotes and readings",
    "<p><q>a</q> <ruby>b<rt>c</rt></ruby> <ruby>d<rp>(</rp><rt>e</rt><rp>)</rp></ruby>",
    '"a" b(c) d(e)',
  ],
  ["paragraphs that line breaks part", "<p>a<br>b<br> <br>c <b>d<br><br>e</b>", "a\nb\n\nc **d\ne**"],
  ["words that only an element's space parts", "<p>a<span> </span>b<span></span>c</p>", "a bc"],
  ["texts that a comment parts", "<p>a <!-- x -->- b <!-- y --> c</p>", "a - b c"],
  ["white space at the ends of marks", "<p>a<b> b </b><i>\u00a0c</i> <span> </span>d</p>", "a **b** \u00a0*c* d"],
  [
    "links in links",
    "<p><a href=/x>a <b><a href=/y>b</a></b> c</a></p>",
    "[a](https://example.test/x) **[b](https://example.test/y)** c",
  ],
  ["cells beside any table, which are none", "<p>a<td> b</td><tr> <th>c</tr></p>", "a b c"],
  ["code with backticks and line ends", "<p><code>a ``b``\nc</code> <code>`</code></p>", "`a ``b`` c` `` ` ``"],
  ["blank paragraphs", "<p>a</p><p>\u00a0</p><p>b</p>", "a\n\nb"],
  ["controls that were signs of Windows", "<p>a\u0097b</p><pre>\u0080</pre>", "a—b\n\n```\n€\n```"],
  ["marks around blocks", "<b><p>a</p><ul><li><b>b</b></ul></b><i></i>", "a\n\n- **b**"],
  ["text without elements", "just text", "just text"],
])("converts %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  [
    "code with a language",
    '<pre><code class="language-ts">let a = 1;\n\n\nlet b;\n</code></pre>',
    "```ts\nlet a = 1;\n\n\nlet b;\n```",
  ],
  ["a bare pre", "<pre>a  b\n  *c*</pre>", "```\na  b\n  *c*\n```"],
  [
    "a highlighter's wrapper",
    '<div class="highlight-source-python"><pre><span>def</span> f():\n  pass</pre></div>',
    "```python\ndef f():\n  pass\n```",
  ],
  ["lines in blocks", "<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"],
  ["lines parted by br", "<pre>a<br>b</pre>", "```\na\nb\n```"],
  [
    "line numbers",
    '<table class="highlighttable"><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>',
    "```\na\nb\n```",
  ],
  [
    "numbers in the code's lines",
    "<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>b</pre>",
    "```\na\nb\n```",
  ],
  ["numbers that begin all lines", "<pre><i>1</i><div>a</div><i>2</i><div>b <b>3</b></div></pre>", "```\na\nb 3\n```"],
  ["numbers that begin some lines", "<pre><b>1</b> a\n<b>2</b> b\nc</pre>", "```\n1 a\n2 b\nc\n```"],
  [
    "lines in elements without line ends",
    "<pre><code class='hljs python'><span class=line>a</span><span class=line>b</span></code></pre>",
    "```python\na\nb\n```",
  ],
  [
    "lines in elements with line ends",
    "<pre><span class=line>a</span>\n<span class=line>  b</span>\n</pre>",
    "```\na\n  b\n```",
  ],
  [
    "numbers in a cell",
    "<div class=highlight-rust><table><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table></div>",
    "```rust\na\nb\n```",
  ],
  [
    "a table of lines",
    "<table class='highlight blob'><tr><td class=blob-num>1</td><td class=blob-code>a</td></tr><tr><td class=blob-num>2</td><td class=blob-code>  b</td></tr></table>",
    "```\na\n  b\n```",
  ],
  [
    "a cell of lines",
    "<div class='syntaxhighlighter sql'><table><tr><td class=gutter><div class='line number1'>1</div></td><td class=code><div class=container><div class=line>a</div><div class=line>b</div></div></td></tr></table></div>",
    "```sql\na\nb\n```",
  ],
  ["what is no button in it", "<pre><button>Copy</button>a</pre>", "```\na\n```"],
  [
    "a view of changes",
    "<table class='diff-table highlight'><tr><td class=blob-num><td class=blob-code><span data-code-marker=' '>a</span><tr><td class=blob-num><td class=blob-code><span data-code-marker='-'>b</span><tr><td class=blob-num><td class=blob-code><span data-code-marker='+'>c</span></table>",
    "```\n a\n-b\n+c\n```",
  ],
  [
    "changed lines",
    "<pre><code><span class=line>a</span>\n<span class='line diff remove'> b</span>\n<span class='line diff add'> c</span></code></pre>",
    "```\na\n- b\n+ c\n```",
  ],
  ["code of old pages", "<xmp><b>a</b></xmp><listing>b\n c</listing>", "```\n<b>a</b>\n```\n\n```\nb\n c\n```"],
  [
    "its label, as its language",
    "<p>Run:</p><div><div><span>Bash</span><span>Copy</span></div><pre>a</pre></div><p>sh</p><pre><code class=language-console>b</code></pre>",
    "Run:\n\n```bash\na\n```\n\n```console\nb\n```",
  ],
  [
    "what copies it, before and behind it",
    "<div><p>Copy code<div><pre>a</pre></div><p>Copied!</div><p>Copy",
    "```\na\n```\n\nCopy",
  ],
  [
    "no word of what is said before it",
    "<p>Use <b>Python</b><pre>a</pre>Use <b>Go</b><pre>b</pre><h3>Rust</h3><pre>c</pre><p>go<p>And:<pre>d</pre>",
    "Use **Python**\n\n```\na\n```\n\nUse **Go**\n\n```\nb\n```\n\n### Rust\n\n```\nc\n```\n\ngo\n\nAnd:\n\n```\nd\n```",
  ],
  [
    "no names of tabs",
    "<div><div>JavaScript</div><div>Python</div></div><pre>a</pre><ul><li>Java</ul><pre>b</pre>",
    "JavaScript\n\nPython\n\n```\na\n```\n\n- Java\n\n```\nb\n```",
  ],
  ["a fence in the code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  ["what a tag's mark hides", "<pre>&lt;b&gt; &amp;amp;</pre>", "```\n<b> &amp;\n```"],
])("fences %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  ["with a header", "<thead><tr><th>N<th>V</thead><tr><td>1<td>2", "| N | V |\n| --- | --- |\n| 1 | 2 |"],
  ["with a header without a section", "<tr><th>N<th>V<tr><td>1<td>2", "| N | V |\n| --- | --- |\n| 1 | 2 |"],
  ["without a header", "<tr><td>1<td>2<tr><td>3<td>4", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"],
  [
    "with rows of different length",
    "<tr><th>a<th>b<th>c<tr><td>1<tr><td colspan=2>x<td>y",
    "| a | b | c |\n| --- | --- | --- |\n| 1 |  |  |\n| x |  | y |",
  ],
  [
    "with cells of several rows",
    "<thead><tr><th rowspan=2>a<th>b<th>c<tr><td rowspan=3>1<td>2<tr><td>3<td>4</td></tr></thead><tbody><tr><td>5<td>6<td>7",
    "| a | b | c |\n| --- | --- | --- |\n|  | 1 | 2 |\n| 3 |  | 4 |\n| 5 | 6 | 7 |",
  ],
  [
    "with blocks in cells",
    "<tr><th>a<th>b<tr><td><p>p</p><p>q</p><td><ul><li>x<li>y</ul>",
    "| a | b |\n| --- | --- |\n| p<br>q | • x<br>• y |",
  ],
  ["with bars", "<tr><th>a<th>b<tr><td>x|y<td><code>p|q</code>", "| a | b |\n| --- | --- |\n| x\\|y | `p\\|q` |"],
  [
    "with a caption",
    "<caption>Cap</caption><tr><th>a<th>b<tr><td>1<td>2",
    "Cap\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
  ],
  ["that lays out", "<tr><td><p>a</p></td></tr><tr><td>b</td></tr>", "a\n\nb"],
  [
    "that lays out a text beside a menu",
    `<tr><td>Menu<td><h2>Text</h2><p>${"word ".repeat(400)}</p>`,
    `Menu\n\n## Text\n\n${"word ".repeat(400).trim()}`,
  ],
  [
    "that holds a table",
    "<tr><td>side<td><table><tr><th>a<th>b<tr><td>1<td>2</table>",
    "side\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
  ],
])("converts a table %s", (_, rows, markdown) => {
  expect(md(`<body><table>${rows}</table>`)).toBe(markdown);
});

test.each([
  ["relative", '<a href="other?a=1#b">x</a>', "[x](https://example.test/docs/other?a=1#b)"],
  ["with a base", '<base href="/folder/"><a href="other">x</a>', "[x](https://example.test/folder/other)"],
  [
    "with a base that is no place",
    '<base href="javascript:1"><a href="other">x</a>',
    "[x](https://example.test/docs/other)",
  ],
  ["with parentheses and spaces", '<a href="a (b)">x</a>', "[x](https://example.test/docs/a%20%28b%29)"],
  [
    "with a base that nothing is relative to",
    '<base href="mailto:a@b.test"><a href="other">x</a>',
    "[x](https://example.test/docs/other)",
  ],
  ["to mail", '<a href="mailto:a@b.test">x</a>', "[x](mailto:a@b.test)"],
  [
    "to a phone",
    '<a href="tel:+1 602 900 0807">Call us</a> <a href="sms:5550100">or text</a>',
    "[Call us](tel:+1%20602%20900%200807) [or text](sms:5550100)",
  ],
  ["within the page", '<a href="#x">x</a>', "[x](https://example.test/docs/page#x)"],
  ["to the page's top", '<a href="#">x</a> <a href="#top">y</a>', "x y"],
  [
    "that is a heading's own",
    '<h2 id=x>Head <a href="#x">¶</a></h2><h2 id=y><a href="#y">Next</a></h2>',
    "## Head\n\n## [Next](https://example.test/docs/page#y)",
  ],
  [
    "of a wiki's heading, but not the one to its editor",
    '<h2><a href="/x">Head</a><span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2>',
    "## [Head](https://example.test/x)",
  ],
  ["that runs", '<a href=" JavaScript:alert(1)">x</a>', "x"],
  ["that holds data", '<a href="data:text/html,x">x</a>', "x"],
  ["to files", '<a href="file:///etc/passwd">x</a>', "x"],
  ["to nothing", '<a href="http://[">x</a> <a>y</a>', "x y"],
  ["without text", '<p>a<a href="/x"></a>b</p>', "ab"],
  ["that tells who follows it", '<a href="/x?utm_source=a&id=1&fbclid=b">x</a>', "[x](https://example.test/x?id=1)"],
])("writes a link %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test("navigation, controls and what is hidden are left out", () => {
  const noise = [
    "<nav>n</nav><header>h</header><footer>f</footer><aside>a</aside><script>s</script><style>s</style><svg><text>v</text></svg><iframe>i</iframe>",
    "<div role=navigation>n</div><div role=banner>b</div><div role=contentinfo>c</div><form><label>l</label><input value=v><button>b</button><select><option>o</select></form>",
    "<p hidden>h</p><p aria-hidden=true>h</p><p style='color: red; display : none'>h</p><p style='visibility:hidden'>h</p><p style='font-size:0'>h</p><dialog>d</dialog><template>t</template>",
    "<!-- comment --><noscript>Turn scripts on</noscript>",
  ].join("");

  expect(md(`<body>${noise}<p>The text is here, and it is longer than the request for scripts.</p>`)).toBe(
    "l\n\nThe text is here, and it is longer than the request for scripts.",
  );
});

test("characters that nobody sees, or that steer a terminal, are left out", () => {
  expect(
    md("<title>T\u202eitle</title><body><p>pay\u200b\u{e0041}lo\u00adad \u001b[31mred\u0007</p><pre>co\u200bde</pre>"),
  ).toBe("payload [31mred\n\n```\ncode\n```".replace("[", "\\["));
});

test("text that is a tag once signs that nobody sees are gone stays text", () => {
  const { markdown } = toMarkdown(
    "<p>a &lt;&#8203;script&gt;b()&lt;/script&gt; and &lt;\u202eimg src=x onerror=c()&gt;</p>",
    "https://example.com/",
  );
  expect(markdown).toBe("a \\<script>b()\\</script> and \\<img src=x onerror=c()>");
});

test.each([
  ["no code", "<p>a<code>\u200b</code>`b", "a\\`b"],
  ["backticks that they part in code", "<p><code>a `\u200b` &lt;i></code>", "`a `` <i>`"],
  ["backticks that they part in a block", "<pre>``\u200b`\n&lt;i></pre>", "````\n```\n<i>\n````"],
  ["the end of a heading's line", "<h2>a\u2028<code>b\u2028c</code></h2>", "## a `b c`"],
  ["a picture's name in a link", "<p><a href=/x>\u200b<img src=y alt=Name></a>", "[Name](https://example.test/x)"],
])("signs that nobody sees are gone before anything is written: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test("a tag that begins in a bare address, or in the text of another element, stays text", () => {
  expect(md("<p>https://example.com/&lt;script>a() &lt;<b>img src=x onerror=a()></b></p>")).toBe(
    "https://example.com/&lt;script>a() \\<**img src=x onerror=a()>**",
  );
});

test.each([
  ["<s>https://e.test/</s><b>&lt;img src=x onerror=a()></b>", "~~https://e.test/~~**&lt;img src=x onerror=a()>**"],
  ["www.e.test/<span>a</span>&lt;script> &lt;b>", "www.e.test/a&lt;script> \\<b>"],
  ["https://e.test/<img src=y alt='&lt;iframe>'>", "https://e.test/![&lt;iframe>](https://example.test/docs/y)"],
  ["https://e.test/<i><code>&lt;img src=x onerror=a()></code></i>", "https://e.test/ *`<img src=x onerror=a()>`*"],
  ["https://e.test/<label><code>&lt;i> </code></label>", "https://e.test/ `<i>`"],
  ["https://e.test/<a href=/x><div>&lt;i>", "https://e.test/\n\n[\\<i>](https://example.test/x)"],
  ["https://e.test/<u><a href=/x>a b</a></u>&lt;i>", "https://e.test/[a b](https://example.test/x)&lt;i>"],
  ["https://e.test/<img src=y alt='- &lt;i>'>", "https://e.test/![- \\<i>](https://example.test/docs/y)"],
  ["www.e.test/<a href=/x><img alt='&lt;iframe>'></a>", "www.e.test/[&lt;iframe>](https://example.test/x)"],
  ["www.e.test/<a href=/x>a b</a>&lt;i>", "www.e.test/[a b](https://example.test/x)&lt;i>"],
  ["https://e.test/ <b>&lt;i></b><br><code>a</code><p>&lt;u>", "https://e.test/ **\\<i>**\n`a`\n\n\\<u>"],
])("what stands right behind a bare address stays text: %s", (html, markdown) => {
  expect(md(`<body><p>${html}`)).toBe(markdown);
});

test("a link's text holds no picture, also for readers that take escaped brackets for brackets", () => {
  expect(md('<body><p><a href="/x">![a](javascript:b()) <b>![c]</b>(javascript:d())</a>')).toBe(
    "[!\\[a\\]\\(javascript:b()) **!\\[c\\]**(javascript:d())](https://example.test/x)",
  );
});

test.each([
  [
    "backticks in a link",
    "<p><a href=/x><code>`](data:)</code></a>",
    "[<code>\\`\\]\\(data:)</code>](https://example.test/x)",
  ],
  [
    "brackets in a link",
    "<p><a href=/x>![[<code>]](data:)</code></a>",
    "[!\\[\\[<code>\\]\\]\\(data:)</code>](https://example.test/x)",
  ],
  [
    "a bar behind a backslash in a cell",
    "<table><tr><th>a<th>b<tr><td><code>\\|&lt;i></code><td>c</table>",
    "| a | b |\n| --- | --- |\n| <code>\\\\\\|\\<i></code> | c |",
  ],
  ["code behind code in an element", "<p><code>a`</code><u><code>&lt;i></code></u>", "`` a` `` `<i>`"],
  ["a block in code", "<p>a<code><pre>&lt;i>\nb</pre></code>", "a\n\n```\n<i>\nb\n```"],
  ["a block in a heading", "<h2>a<pre>&lt;i>\nb</pre></h2>", "## a `<i> b`"],
  ["a block in a link", "<a href=/x><pre>&lt;i>\nb</pre></a>", "[`<i> b`](https://example.test/x)"],
  [
    "a block in a term and in its definition",
    "<dl><dt><pre>&lt;i></pre><dd><pre>&lt;i>\nb</pre></dl>",
    "**`<i>`**\n:\n\n  ```\n  <i>\n  b\n  ```",
  ],
  ["a block in a quotation", "<p><q><pre>&lt;i></pre></q>", "```\n<i>\n```"],
  ["a block in marks", "<p>a<s>\u00a0<pre>&lt;i></pre></s>", "a\n\n```\n<i>\n```"],
])("code is code for all readers of markdown: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each(["<h2><a>\u200b</a></h2>", "<kbd><div><a><img></a></div></kbd>"])(
  "a block of which nothing is left parts what stands around it: %s",
  (block) => {
    expect(md(`<body>https://e.test/${block}<code>&lt;i></code>`)).toBe("https://e.test/\n\n`<i>`");
  },
);

test("what is raised around blocks is blocks, for its mark would begin a block of HTML", () => {
  expect(md("<body><sup><p>a</p></sup><br>&lt;script>")).toBe("a\n\n\\<script>");
});

test.each([
  ["a link", "<div>a <a href=/x><div>b</div><ul><li>c</ul></a>", "a [b c](https://example.test/x)"],
  ["a heading", "<h2>- a<blockquote># b</blockquote></h2>", "## \\- a # b"],
  ["an anchor, which is none", "<a name=x><p>b</p><p>c</p></a>", "b\n\nc"],
])("blocks in a line are its words: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test("a list that begins a definition begins on a line of its own", () => {
  expect(md("<body><dl><dt>a<dd><ul><li>b<li>c</ul></dl>")).toBe("**a**\n:\n\n  - b\n  - c");
});

test("text that looks like a tag stays text", () => {
  expect(md("<body><p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt; 1 &lt; 2 &amp; 3</p>")).toBe(
    "\\<script>alert(1)\\</script> \\&lt; 1 < 2 & 3",
  );
});

test.each([
  ["an aside", "<aside><p>All the text that the page has stands here.</p></aside>"],
  ["a header", "<header><p>All the text that the page has stands here.</p></header>"],
  ["a dialog", "<dialog open><p>All the text that the page has stands here.</p></dialog>"],
  ["a head that nobody closes", "", "<html><head><title>T</title><p>All the text that the page has stands here."],
  ["a body within such a head", "", "<html><head><title>T</title><body><p>All the text that the page has stands here."],
  [
    "a dialog that only a script opens",
    "",
    "<body><dialog><p>All the text that the page has stands here.</p></dialog>",
  ],
  ["what plays a dialog", "<div role=dialog><p>All the text that the page has stands here.</p></div>"],
  [
    "a shadow root",
    "<my-page><template shadowrootmode=open><p>All the text that the page has stands here.</p></template></my-page>",
  ],
  [
    "what is hidden until scripts run",
    "<style>body{opacity:0}</style><p>All the text that the page has stands here.</p>",
  ],
])("a page is read whose text lies in %s", (_, html, whole = `<body><p>Menu</p>${html}`) => {
  expect(md(whole)).toContain("All the text that the page has stands here.");
});

test("what a page holds for readers without scripts is read where it is most of the page", () => {
  expect(md("<body><p>Loading</p><noscript><h1>Topic</h1><p>All of the forum's posts</p></noscript>")).toBe(
    "Loading\n\n# Topic\n\nAll of the forum's posts",
  );
});

test("a page that a banner covers is read, and what an animation will show", () => {
  const words = "word ".repeat(50).trim();

  expect(md(`<body><div aria-hidden=true>${words}</div><p style="opacity:0;animation:show 1s forwards">more</p>`)).toBe(
    `${words}\n\nmore`,
  );
});

test("an article's header is content", () => {
  expect(md("<body><header>site</header><article><header><h1>Title</h1></header><p>text</p></article>")).toBe(
    "# Title\n\ntext",
  );
});

test("the main element stands for the page if it holds enough of it", () => {
  const words = "word ".repeat(50).trim();

  expect(md(`<body><div>other</div><main>${words}</main>`)).toBe(words);
  expect(md(`<body><div>${words}</div><main>Skip</main>`)).toBe(`${words}\n\nSkip`);
  expect(md(`<body><article>${words}</article><article>two</article>`)).toBe(`${words}\n\ntwo`);
});

test.each([
  ["190 000 nested elements", "<div>".repeat(190_000), "text"],
  [
    "ends of elements that nobody began, below 49 000 nested ones",
    `${"<div>".repeat(49_000)}${"</x>".repeat(100_000)}`,
    "text",
  ],
  ["5 000 nested quotes", "<blockquote>".repeat(5_000), /^(> )*text$/],
  ["20 000 nested lists", "<ul><li>".repeat(20_000), /^(- )*text$/],
  ["20 000 nested marks", "<b>".repeat(20_000), /text/],
  ["40 000 marks side by side", "<b>a</b>".repeat(40_000), /text/],
  ["a mark that ends around 60 000 others", `<b><p>${"<i></i>".repeat(60_000)}</b>`, "text"],
  ["an element with 100 000 attributes", `<p ${Array.from({ length: 100_000 }, (_, i) => `a${i}`).join(" ")}>`, "text"],
  ["20 000 empty elements", "<div></div>".repeat(20_000), "text"],
  ["a row with 10 000 cells", `<table><tr>${"<td>".repeat(10_000)}<tr><td>`, /text/],
  ["cells of many rows, in many rows", `<table>${`<tr>${"<td rowspan=9999>".repeat(100)}`.repeat(300)}`, /text/],
  ["a cell that spans a billion columns", "<table><tr><th>a<th colspan=1000000000>b<tr><td>", /text/],
  ["a million spaces in a block of code", `<pre>${" ".repeat(1_000_000)}x</pre>`, /text/],
  ["a long word before code, many times", `<p>${"a".repeat(200_000)} b${"<code>c</code>".repeat(20_000)}`, /text/],
  ["20 000 readings of one word", `<ruby>a${"<rt>b</rt>".repeat(20_000)}`, /text/],
  ["a tag that does not end", `${"<a ".repeat(100_000)}>`, /text/],
])("survives %s", (_, html, expected) => {
  expect(md(`<body>${html}text`)).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
});

test("a base that is too long to be an address is ignored", () => {
  expect(md(`<base href="/${"a".repeat(3_000)}/"><a href="other">x</a>`)).toBe("[x](https://example.test/docs/other)");
});

test("a page that becomes too long is refused, before its links are repeated and after it is written", () => {
  const links = `<base href="/${"a".repeat(2_000)}/">${"<a href=b>c</a> ".repeat(1_000)}`;
  const quotes = `${"<blockquote>".repeat(100)}${"a<br>".repeat(1_000)}`;

  expect(() => toMarkdown(links, "https://example.test/", { maxLength: 1_000_000 })).toThrow(
    new PageTooComplexError("more than 1000000 characters of links"),
  );
  expect(() => toMarkdown(quotes, "https://example.test/", { maxLength: 100_000 })).toThrow(
    new PageTooComplexError("more than 100000 characters once it is converted"),
  );
});

test("a page of too many nodes is refused while it is parsed", () => {
  expect(() => md(`<body>a${"<br>".repeat(250_000)}`)).toThrow(new PageTooComplexError("more than 200000 nodes"));
});

test.each([
  [
    "a cell before a section",
    "<table><tr><td>a<tbody><tr><td>b<td>c</table>",
    "|  |  |\n| --- | --- |\n| a |  |\n| b | c |",
  ],
  [
    "a mark in a cell",
    "<table><tr><td><b>a<td>b<tr><td>c<td>d</table>",
    "|  |  |\n| --- | --- |\n| **a** | b |\n| c | d |",
  ],
  [
    "a caption",
    "<table><caption>Name<tr><td>a<td>b<tr><td>c<td>d</table>",
    "Name\n\n|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
  ["a group in a picture", "<p>a</p><svg><g><path d=''><p>b</p><div>c</div>", "a\n\nb\n\nc"],
  ["a picture that ends in time", "<p>a <svg><g></svg> b</p><svg><a><text>x</text></a></svg><p>c", "a b\n\nc"],
  ["a text in a picture", "<svg><foreignObject><div>x</div></foreignObject><g><p>a", "a"],
])("%s that nobody closes ends where a browser ends it", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  [
    "cells in no row",
    "<table><thead><th>Name<th>Value</thead><tr><td>a<td>b</table>",
    "| Name | Value |\n| --- | --- |\n| a | b |",
  ],
  [
    "rows that nobody begins",
    "<table><tr><th>A<th>B</tr><td>a<td>b</tr><td>c<td>d</table>",
    "| A | B |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
  [
    "cells in a form",
    "<table><tr><form><td>a</td><td>b</td></form></tr><tr><td>c<td>d</table>",
    "|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
  [
    "text in no cell",
    "<table>One <b>two</b><tr><td>a<td>b</tr><p>three</p><tr><td>c<td>d</table>",
    "One **two**\n\nthree\n\n|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
])("a table loses nothing that it has in a wrong place: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test("what plays a heading is one", () => {
  const html = `<div role=heading aria-level=3>Part</div><p role=heading>Chapter <b>one</b></p><a href=/a><span role=heading aria-level=9>Card</span></a>
    <h1><span role=heading aria-level=4>Title</span></h1><ul><li role=heading>item</ul><div role=heading>${"x".repeat(301)}</div>`;
  expect(md(`<body>${html}`)).toBe(
    `### Part\n\n## Chapter **one**\n\n###### [Card](https://example.test/a)\n\n# Title\n\n- item\n\n${"x".repeat(301)}`,
  );
});

test("what plays a table is one, with the links and the empty cells that it has", () => {
  const html = `<div role=table><div role=caption>Cap</div><div role=rowgroup><div role=row><span role=columnheader>A</span><span role=columnheader>B</span></div></div>
    <ul role=rowgroup><li role=row><div role=cell></div><a role=cell href=/x>b</a></li><li role=row><span role=gridcell aria-colspan=2>c</span></ul></div>
    <p role=cell>beside</p><div role=grid><div role=row><p>laid out</p></div></div>`;
  expect(md(`<body>${html}`)).toBe(
    "Cap\n\n| A | B |\n| --- | --- |\n|  | [b](https://example.test/x) |\n| c |  |\n\nbeside\n\nlaid out",
  );
});

test.each([
  ["a title in the list", "<ul><b>Title</b><li>a<li>b</ul>", "**Title**\n- a\n- b"],
  ["a list in a list", "<ul><li>a</li><ul><li>b</li>\n<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"],
  [
    "lists in a list, behind one item",
    "<ol><li>a</li><ul><li>b</ul><ul><li>c</ul><li>d</ol>",
    "1. a\n   \n   - b\n   \n   - c\n2. d",
  ],
  ["a list in a list, before any item", "<p>x</p><ul><ul><li>a</ul><li>b</ul>", "x\n\n- a\n\n- b"],
  [
    "numbers that items have",
    "<ol start=3><li>a<li value=9>b<li>c<li value=x>d<li value>e</ol>",
    "3. a\n9. b\n10. c\n11. d\n12. e",
  ],
  ["letters, as numbers", "<ol type=a start=3><li>a<ol type=I><li>b</ol><li>c</ol>", "3. a\n   1. b\n4. c"],
  [
    "numbers that go down",
    "<ol reversed><li>a<li>b</ol><ol reversed start=1><li>a<li>b<li>c</ol>",
    "2. a\n1. b\n\n1. a\n0. b\n0. c",
  ],
  [
    "numbers in a cell",
    "<table><tr><th>a<th>b<tr><td><ol start=9><li>c<li>d<ul><li>e</ul></ol><td><ol reversed><li>f<li>g</ol></table>",
    "| a | b |\n| --- | --- |\n| 9. c<br>10. d<br>• e | 2. f<br>1. g |",
  ],
  ["lists of old", "<p>x<dir><li>a<menu><li>b</menu></dir>", "x\n\n- a\n  - b"],
])("items keep their lines and their places: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  [
    "signs within a line",
    "<p><b>a</b>-1 <i>b</i>=2 <code>c</code># d <b>e</b>&gt;f<b>+ g</b>",
    "**a**-1 *b*=2 `c`# d **e**>f+ g",
  ],
  [
    "signs that begin one",
    "<p><b>- a</b><br># b<p><i></i>&gt; c<p>1) d<span><div>x</div></span>- e<p>-5",
    "**\\- a**\n\\# b\n\n\\> c\n\n1\\) d\n\nx\n\n\\- e\n\n-5",
  ],
  [
    "signs in cells",
    "<table><tr><th>- a<th># b<tr><td>-<br># d<p>&gt; e<td><b>1. c</b></table>",
    "| - a | # b |\n| --- | --- |\n| -<br># d<br>> e | **1. c** |",
  ],
  ["tildes", "<p>~~a~~ ~b", "\\~\\~a\\~\\~ ~b"],
  ["a mark in the same mark", "<p><i>a <em>b</em></i> <b><b>c</b></b> <q>d <q>e</q></q>", '*a b* **c** "d "e""'],
  [
    "marks in a term",
    "<dl><dt><b>f</b>(<em>a</em>, <em>*</em>, <em>**b</em>)<dd>c</dl>",
    "**f(*a*, *\\**, *\\*\\*b*)**\n: c",
  ],
  ["marks in code", "<p><code>a <b>b</b> <i>c</i></code> <b><code>d</code></b>", "`a b c` **`d`**"],
  ["a link that is all of the code", "<p><code><a href=/x>a_b()</a></code>", "[`a_b()`](https://example.test/x)"],
  [
    "links in code",
    "<p><code>fn a(b: <span>&amp;<a href=/x>C</a></span>&lt;<a href=/y>D</a>&gt;)</code>",
    "`fn a(b: &`[`C`](https://example.test/x) `<`[`D`](https://example.test/y) `>)`",
  ],
  ["code beside code", "<p><code>a</code><code>b</code>", "`a` `b`"],
  ["what old pages type", "<p><tt>a_b</tt> <samp>c_d</samp> <tt><code>e</code></tt>", "`a_b` `c_d` `e`"],
  [
    "what opens",
    "<details><summary>A</summary>b<details><summary>C</summary>d</details></details><fieldset><legend>E</legend>f",
    "A\n\nb\n\nC\n\nd\n\nE\n\nf",
  ],
  [
    "blocks in a cell",
    "<table><tr><th>a<th>b<tr><td>c<ul><li>d<ul><li>e</ul><li>f</ul>g<td><h4>h</h4>i</table>",
    "| a | b |\n| --- | --- |\n| c<br>• d<br>• e<br>• f<br>g | **h**<br>i |",
  ],
  ["a checkbox in a label of its own", "<ul><li><label><input type=checkbox checked><i></i></label> a", "- [x] a"],
  ["labels of tabs", "<p><input type=radio><label>npm</label><input type=radio><label>pnpm</label>", "npm pnpm"],
])("is written as people see it: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  [
    "behind a script",
    "<script src=/mathjax/3/tex.js></script><p>So \\(a_1 < \\left(b\\right)\\) and</p><p>\\[c \\\\[2pt] d\\]</p><code>\\(e\\)</code>",
    "So $a_1 < \\left(b\\right)$ and\n\n$$\nc \\\\[2pt] d\n$$\n\n`\\(e\\)`",
  ],
  [
    "between dollars",
    "<script>window.MathJax = {}</script><p>a $$b_1$$ c, $5 and $6",
    "a\n\n$$\nb_1\n$$\n\nc, $5 and $6",
  ],
  [
    "in an element of its own",
    "<p>a <span class='math inline'>\\(b_1\\)</span> <span class=math-container>$c_2$</span></p><div class=arithmatex>\\[d_3\\]</div>",
    "a $b_1$ $c_2$\n\n$$\nd_3\n$$",
  ],
  ["that nobody renders", "<p>\\(a\\) $$b$$", "\\\\(a\\\\) $$b$$"],
])("TeX is a formula: %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});

test.each([
  [
    "powers and fractions",
    "<mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></mfrac><msubsup><mi>y</mi><mn>2</mn><mn>3</mn></msubsup>",
    "\\frac{1}{x+1}y_2^3",
  ],
  [
    "roots",
    "<msqrt><msup><mi>x</mi><mn>12</mn></msup><mo>+</mo><mn>1</mn></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>",
    "\\sqrt{x^{12}+1}\\sqrt[3]{y}",
  ],
  [
    "limits and accents",
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><munder><mi>lim</mi><mi>x</mi></munder><mover><mi>v</mi><mo>→</mo></mover><mover><mi>a</mi><mi>b</mi></mover>",
    "∑_{i=1}^n\\lim_x\\vec{v}\\overset{b}{a}",
  ],
  [
    "words",
    "<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi><mi>Re</mi><mtext> if </mtext><mi>a_b</mi><mo>{</mo><mi>$</mi>",
    "\\sin x\\mathrm{Re}\\text{if}a\\_b\\{\\$",
  ],
  [
    "powers of groups",
    "<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mi>b</mi></msup><msup><mrow></mrow><mn>3</mn></msup><mi>H</mi>",
    "{(a)}^b{}^3H",
  ],
  [
    "tables",
    "<mo>[</mo><mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable><mo>]</mo>",
    "[\\begin{matrix}1 & 2 \\\\ 3 & 4\\end{matrix}]",
  ],
  [
    "scripts on both sides",
    "<mmultiscripts><mi>C</mi><mn>1</mn><none/><mprescripts/><none/><mn>2</mn></mmultiscripts><mfenced open='['><mi>a</mi><mi>b</mi></mfenced>",
    "{}^2C_1\\lbrack a,b)",
  ],
  [
    "what lacks a part",
    "<msup><mi>x</mi></msup><mfrac></mfrac><mroot></mroot>x<semantics><mi>y</mi><annotation>z</annotation></semantics>",
    "xxy",
  ],
])("MathML becomes TeX: %s", (_, html, tex) => {
  expect(md(`<body><p>So <math>${html}</math>.`)).toBe(`So $${tex}$.`);
});

test("of MathML is read what people see, once", () => {
  const html = `<style>.x{display:none} math.y{display:none}</style><p>a <math><mi>b</mi><mtext class=x>evil</mtext></math><math class=y><mi>evil</mi></math>
    <span class=katex><span class=katex-mathml><math><mi>c</mi></math></span><span class=katex-html>c</span></span><math display=block><mi>d</mi></math>`;
  expect(md(`<body>${html}`)).toBe("a $b$ $c$\n\n$$\nd\n$$");
});

test("notes in an aside are kept of a page of few words", () => {
  const html = `<p>${"A word ".repeat(20)}<a role=doc-noteref href=#n>[1]</a></p><aside class="footnote-list brackets"><aside class="footnote brackets" id=n role=doc-footnote>
    <span class=label>[<a role=doc-backlink href=#r>1</a>]</span><p>One.</p></aside></aside><aside><p>Beside</p></aside>`;
  expect(md(`<body>${html}`)).toBe(`${"A word ".repeat(20)}[^1]\n\n[^1]: One.`);
});

test("a note loses its number and its way back, in all their signs", () => {
  const html = `<p>a<a role=doc-noteref href=#n>[1]</a> b<sup><a href=#m>2</a></sup></p><aside id=n><span>[<a role=doc-backlink href=#r>1</a>]</span><p>One.</p></aside>
    <ol><li id=m><span class=mw-cite-backlink>^ <a href=#a><sup><i><b>a</b></i></sup></a> <a href=#b><sup>b</sup></a></span> <span>Two.</span></ol>`;
  expect(toMarkdown(html, "https://example.test/", { isWhole: true }).markdown).toBe(
    "a[^1] b[^2]\n\n[^1]: One.\n\n[^2]: Two.",
  );
});

test("a picture of an AMP page is kept once, with what stands behind it if nobody closes it", () => {
  const html = `<p>a <amp-img src=b.png alt="A cat"><amp-img placeholder src=c.png alt="A cat"></amp-img><noscript><img src=b.png alt="A cat"></noscript></amp-img> d</p>
    <amp-anim srcset="e.gif 1x" alt="A dog"></amp-anim><a href=/f><amp-img src=g.png alt="A fox"></amp-img></a><amp-img src=h.png alt="An owl"><p>i`;
  expect(md(`<body>${html}`)).toBe(
    "a ![A cat](https://example.test/docs/b.png) d\n\n![A dog](https://example.test/docs/e.gif)[A fox](https://example.test/f)![An owl](https://example.test/docs/h.png)\n\ni",
  );
});

test.each([
  "src='' srcset='b.png 1x'",
  "data-lazy=b.png src=data:,",
  "data-srcset='b.png 1x, c.png 2x' src=data:,",
  "src=data:, data-lazy-srcset='b.png 1w'",
])("a lazy picture is kept: %s", (source) => {
  expect(md(`<body><p>a <img alt=Name ${source}>`)).toBe("a ![Name](https://example.test/docs/b.png)");
});
