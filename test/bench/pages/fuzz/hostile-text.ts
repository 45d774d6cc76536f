import type { Dice } from "./dice.ts";

/**
 * Elements of the kinds that become markdown, in one another. Their texts and attributes are made of signs that mean
 * something in markdown, HTML or addresses.
 */
export function hostileElement(dice: Dice, depth = 0): string {
  const escaped = (): string =>
    hostileText(dice).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  return dice.one(elements).replaceAll(/[@%]/g, (place) => {
    if (place === "%" && depth < DEEPEST && dice.below(5) === 0) return hostileElement(dice, depth + 1);
    return place === "@" || dice.below(10) < 7 ? escaped() : hostileText(dice);
  });
}

const DEEPEST = 3;

const hostileText = (dice: Dice): string => Array.from({ length: 1 + dice.below(8) }, () => dice.one(pieces)).join("");

/** `@` stands for a text, and `%` for one that may have tags. */
const elements = [
  "<p>%</p>",
  "%<br>%",
  '<a href="@">%</a>',
  "<a href=/x>%<b>%</b>%</a>",
  '<img src="@" alt="@">',
  '<a href=/x><img src=/y alt="@"></a>',
  "<code>%</code>",
  '<pre><code class="language-@">%</code></pre>',
  "<table><caption>%</caption><tr><th>%<th>%<tr><td>%<td><code>%</code></table>",
  "<ul><li>%<ol><li>%</ol></ul>",
  "<dl><dt>%<dd>%</dl>",
  "<h2>%</h2>",
  "<blockquote>%</blockquote>",
  '<math alttext="@"></math>',
  "<math display=block><annotation encoding='application/x-tex'>%</annotation></math>",
  "<math><mfrac><mi>%</mi><mn>%</mn></mfrac></math>",
  "<script type='math/tex'>@</script>",
  "<ruby>%<rt>%</rt></ruby>",
  "<q>%</q>",
  "<p>x<sup><a href=#note>1</a></sup></p><ol><li id=note>%</ol>",
  "<ul><li><input type=checkbox>%</ul>",
  "<em>%</em>%<strong>%</strong>",
  "<sub>%</sub><sup>%</sup>",
  "<details><summary>%</summary>%</details>",
  "<x-a><template shadowrootmode=open>%<slot></slot></template>%</x-a>",
  '<figure><img src=/y alt="@"><figcaption>%</figcaption></figure>',
];

const pieces = [
  ...[
    "](javascript:a())",
    "](data:text/html,x)",
    "![x",
    "[x",
    "[",
    "]",
    "(",
    ")",
    "[x]: javascript:a()",
    "[^1]",
    "[^1]: ",
    "javascript:a()",
  ],
  ...[
    "<script>",
    "</script>",
    "<img src=x onerror=a()>",
    "<iframe>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<",
    ">",
    "&lt;",
    "&#60;",
    "&amp;lt;",
    "&",
    ";",
  ],
  ...[
    "https://e.test/",
    "www.e.test",
    "`",
    "``",
    "```",
    "$",
    "$$",
    "\\",
    "\\\\",
    "|",
    "*",
    "**",
    "_",
    "~~",
    "# ",
    "> ",
    "- ",
    "1. ",
    "---",
    "===",
    ": ",
    "!",
  ],
  ...["\n", "\n\n", "  \n", "\r", " ", "\t", "\u00a0", "\u200b", "\u202e", "\0", "\u001b[2J", "word ", "a", "script"],
];
