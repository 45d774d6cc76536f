import { expect, test } from "vitest";
import { toMarkdown } from "../to-markdown.ts";

const md = (html: string): string => toMarkdown(html, "https://example.test/docs/page").markdown;

const seen = "<p>What people read.</p>";
const manyNames = Array.from({ length: 200 }, (_, i) => `n${i}`).join(" ");
test.each<readonly [string, string]>([
  ["transparent", '<p style="opacity: 0">evil</p>'],
  ["almost transparent", '<p style="opacity:.01">evil</p>'],
  ["filtered away", '<p style="filter: opacity(0%)">evil</p>'],
  ["to the left of the page", '<p style="position:absolute; left:-9999px">evil</p>'],
  ["above the page, in a child's words", '<div style="position:fixed;top:-200em"><p>evil</p></div>'],
  ["indented away", '<p style="text-indent:-9999px">evil</p>'],
  ["moved away", '<p style="transform: translateX(-5000px)">evil</p>'],
  ["scaled to nothing", '<p style="transform: scale(0)">evil</p>'],
  ["clipped", '<p style="position:absolute;clip:rect(0, 0, 0, 0)">evil</p>'],
  ["clipped by a path", '<p style="clip-path: inset(50%)">evil</p>'],
  ["in a box of one pixel", '<p style="width:1px;height:1px;overflow:hidden">evil</p>'],
  ["in a box without height", '<div style="max-height:0;overflow:hidden"><p>evil</p></div>'],
  ["in a box of three pixels that scrolls", '<div style="height:3px;overflow:auto"><p>evil</p></div>'],
  [
    "in a flat box that has room beside it only",
    '<div style="height:0;padding:0 20px;overflow:hidden"><p>evil</p></div>',
  ],
  [
    "in a flat box of a row that takes no room",
    '<div style="display:flex"><div style="flex:0 0 0;overflow:hidden"><p>evil</p></div></div>',
  ],
  [
    "in a flat box below a row",
    '<div style="display:flex"><div style="flex:1"><div style="width:0;overflow:hidden;flex:1">evil</div></div></div>',
  ],
  [
    "in a narrow cell of a grid",
    '<div style="display:grid"><div style="width:0;min-width:0;overflow:hidden">evil</div></div>',
  ],
  ["of letters of one pixel", '<p style="font-size:1px">evil</p>'],
  ["of letters without size", '<p style="font:0/0 a">evil</p>'],
  [
    "of letters that are large beside none",
    '<div style="font-size:0"><p style="font-size:1em">evil</p><p style="font-size:200%">evil</p><p style="font-size:larger">evil</p><p style="font:italic 400 2ex/2 a">evil</p></div>',
  ],
  ["of letters that follow the page's root", '<style>html{font-size:62.5%}</style><p style="font-size:.2rem">evil</p>'],
  ["of letters without size behind a weight", '<p style="font:300 0/0 a">evil</p>'],
  ["white on white", '<p style="color:#fff">evil</p>'],
  [
    "white beside what lies elsewhere",
    '<div><div style="background:#036;height:40px"></div><p style="color:#fff">evil</p></div>',
  ],
  [
    "white on white that lies over something",
    '<div><b style="position:absolute;background:#036"></b><p style="color:#fff;background:#fff">evil</p></div>',
  ],
  [
    "white beside what is not displayed, or white",
    '<div><b style="position:absolute;background:#036;display:none"></b><b style="position:absolute;background:#fff"></b><p style="color:#fff">evil</p></div>',
  ],
  ["black on black", '<div style="background:#000"><p style="color:rgb(3,3,3)">evil</p></div>'],
  ["of no colour", '<p style="color:transparent">evil</p>'],
  ["in a class that is not displayed", "<style>.x{display:none}</style><p class=x>evil</p>"],
  [
    "in an element that a selector of several parts hides",
    "<style>main>div.a #b{visibility:hidden}</style><main><div class=a><p id=b>evil</p></div></main>",
  ],
  [
    "hidden against a later rule of less weight",
    "<style>p.x{display:none} p{display:block}</style><p class=x>evil</p>",
  ],
  [
    "hidden by an important rule against its own style",
    '<style>.x{opacity:0 !important}</style><p class=x style="opacity:1">evil</p>',
  ],
  ["hidden for screens", "<style media=screen>@media screen{.x{display:none}}</style><p class=x>evil</p>"],
  [
    "hidden by an attribute",
    "<style>[data-x]{display:none} [title^=b i]{opacity:0}</style><p data-x>evil</p><p title=Bc>evil</p>",
  ],
  [
    "hidden on a computer's screen",
    "<style>@media screen and (min-width:768px){.x{display:none}} @media (600px <= width){.y{display:none}}</style><p class=x>evil</p><p class=y>evil</p>",
  ],
  [
    "hidden by a nested rule",
    "<style>.a{& .x{display:none} .y{display:none} &.z{opacity:0}}</style><div class=a><p class=x>evil</p><p class=y>evil</p></div><p class='a z'>evil</p>",
  ],
  [
    "hidden by a nested rule that looks like a declaration",
    "<style>.a{p:is(.x, .y){display:none}i:first-child{display:none}}</style><div class=a><i>evil</i><p class=x>evil</p></div>",
  ],
  [
    "hidden behind the end of a comment of HTML",
    "<style><!-- .y{top:0} --> .x{display:none}</style><p class=x>evil</p>",
  ],
  [
    "hidden behind brackets that end nothing",
    "<style>.y{(})} .x{display:none} } .z{top:0} .z{display:none}</style><p class=x>evil</p><p class=z>evil</p>",
  ],
  [
    "in the last of many classes and attributes",
    `<style>.x,[y]{display:none}</style><p class="${manyNames} x">evil</p><p ${manyNames} y>evil</p>`,
  ],
  [
    "hidden until it is used",
    "<style>.x:not(:focus):not(:focus-within){display:none}div:not(:is(:hover, .z)) .y{display:none}</style><p class=x>evil</p><div><p class=y>evil</p></div>",
  ],
  [
    "hidden by a class of another case on a page of long ago",
    "<style>.X{display:none}#Y:nth-child(n){display:none}</style><p class=x>evil</p><p id=y>evil</p>",
  ],
  [
    "hidden on any screen with colours",
    "<style>@media (color) and (grid:0){.x{display:none}}@media (-webkit-min-device-pixel-ratio:0){.y{display:none}}</style><p class=x>evil</p><p class=y>evil</p>",
  ],
  [
    "hidden before a value that is none",
    '<style>.x{display:none;display:bogus}</style><p class=x>evil</p><p style="opacity:0;opacity:1px">evil</p>',
  ],
  [
    "placed by inset",
    '<p style="position:absolute;inset:0 auto auto -9999px">evil</p><p style="position:absolute;inset-inline-start:-999em">evil</p>',
  ],
  [
    "below or beside the screen",
    '<p style="position:fixed;top:100%">evil</p><p style="position:absolute;top:200vh">evil</p><p style="position:absolute;left:300vw">evil</p>',
  ],
  [
    "hidden by a variable",
    '<style>:root{--a:var(--b);--b:none}.x{display:var(--a)}.y{opacity:var(--none, calc(0))}</style><p class=x>evil</p><p class=y>evil</p><p style="--c:0;opacity:var(--c)">evil</p>',
  ],
  [
    "in a modern colour that is the paper's",
    '<p style="color:oklch(1 0 0)">evil</p><p style="color:color-mix(in srgb, white 100%, black)">evil</p><p style="color:light-dark(#fff, #000)">evil</p>',
  ],
  [
    "in a colour of old",
    "<font color=white>evil</font><table bgcolor=#123456><tr><td><font color=#123456>evil</font></td></tr></table>",
  ],
  [
    "hidden by sums",
    '<p style="opacity:calc(1 - 1)">evil</p><p style="font-size:calc(1px * 0)">evil</p><p style="position:absolute;left:calc(0px - 100vw)">evil</p>',
  ],
  ["zoomed away", '<p style="zoom:0">evil</p>'],
  ...["scale(.001)", "scale3d(0,0,1)", "scale(1,0)", "scale(0%)", "scaleY(calc(0))", "matrix(0,0,0,0,0,0)"].map(
    (value) => [`drawn by ${value}`, `<p style="transform:translateX(1px) ${value}">evil</p>`] as const,
  ),
  ["scaled to nothing by a property", '<p style="scale:0 0">evil</p><p style="scale:1 .5%">evil</p>'],
  [
    "hidden by an attribute beside others that end in more",
    '<p hidden bgcolor="x;display:block">evil</p><font hidden color="red;display:block!important">evil</font>',
  ],
  ["hidden by a variable that is none", '<p style="--d:initial;display:var(--d,none)">evil</p>'],
  [
    "hidden below the screen of no phone",
    "<style media='not all and (max-width:1px)'>.x{display:none}</style><style>@media not (max-width:700px){.x{display:none}}</style><p class=x>evil</p>",
  ],
  ...["(max-width:700px) or (min-width:1px)", "/*(max-width:1px)*/screen", "(max-width:700px), screen"].map(
    (media) => [`hidden for ${media}`, `<style>@media${media}{.x{display:none}}</style><p class=x>evil</p>`] as const,
  ),
  ["in a popover", "<p popover>evil</p>"],
  ["hidden by what it holds", "<style>div:has(> i){display:none}</style><div><i>evil</i></div>"],
  [
    "hidden by what some ancestors hold",
    "<style>div:HAS(> i) p{display:none}</style><div><u></u><div><i></i><p>evil</p></div></div>",
  ],
  [
    "hidden by escaped names",
    "<style>.x{dis\\70lay:none}.\\79{display:no\\6e e}</style><p class=x>evil</p><p class=y>evil</p>",
  ],
  ["without a slot", "<x-a><template shadowrootmode=open><slot name=b></slot></template><p>evil</p></x-a>"],
  ["hidden by all there is", "<style>body > * > .x ~ *{display:none}</style><div><i class=x></i><p>evil</p></div>"],
  ["hidden where a feature is known", "<style>@supports (display:grid){.x{display:none}}</style><p class=x>evil</p>"],
  ["hidden after a long comment", `<p style="/*${"-".repeat(9_000)}*/display:none">evil</p>`],
])("a text that is %s is left out", (_, html) => {
  expect(md(`<body>${html}${seen}`)).toBe("What people read.");
});

test.each([
  ["a sheet of another type", "<style type=text/plain>.x{display:none}</style>"],
  ["a sheet in a template", "<template><style>.x{display:none}</style></template>"],
  ["what hides for readers without scripts only", "<noscript><style>.x{display:none}</style></noscript>"],
  [
    "what hides until a script runs, and shows without scripts",
    "<style>.x{opacity:0}</style><noscript><style>.x{opacity:1}</style></noscript>",
  ],
])("%s hides nothing of a page", (_, sheet) => {
  expect(md(`${sheet}<p class=x>text</p><p>More</p>`)).toBe("text\n\nMore");
});

test.each<readonly [string, string]>([
  ["hidden in print", "<style>@media print{.x{display:none}}</style><p class=x>text</p>"],
  ...["(max-width: 400px)", "(width < 48em)", "screen and (1px<=width<=700px)", "not all and (min-width:640px)"].map(
    (media) => [`hidden for ${media}`, `<style>@media ${media}{.x{display:none}}</style><p class=x>text</p>`] as const,
  ),
  [
    "shown by important rules on windows of a usual width",
    "<style>.x{display:none!important}@media(min-width:768px){.y{display:block!important}}</style><p class='x y'>text</p>",
  ],
  [
    "shown on screens from a usual width on",
    "<style>@layer u{.x{display:none}.md\\:y{@media (width >= 48rem){display:block}}}</style><p class='x md:y'>text</p>",
  ],
  [
    "shown by a sheet beside its layers",
    "<style>p{display:block}@layer a{p.x{display:none}}</style><p class=x>text</p>",
  ],
  ["light or dark", "<style>@media (prefers-color-scheme:dark){body{background:#000}p{color:#fff}}</style><p>text</p>"],
  ["turned", '<p style="transform:matrix(0,1,-1,0,0,0) scale(.5)">text</p><p style="scale:none"></p>'],
  [
    "shown by a rule that is about a part of it, too",
    "<style>.x{display:none}p.x,p.x::before,p::-webkit-y:hover{display:block}</style><p class=x>text</p>",
  ],
  ["hidden while it is pointed at", "<style>.x:hover{display:none}</style><p class=x>text</p>"],
  ["shown by a later rule", "<style>.x{display:none} .x.on{display:block}</style><p class='x on'>text</p>"],
  ["white on a colour", '<div style="background:#036"><p style="color:#fff">text</p></div>'],
  ["white on a picture", '<div style="background:url(a.png)"><p style="color:#fff">text</p></div>'],
  [
    "white on what lies under it",
    '<div style="position:relative;color:#fff"><b style="position:absolute;inset:0;background:#000;opacity:.5"></b><p>text</p></div>',
  ],
  [
    "white on what lies under a box around it",
    '<main><div style="position:absolute;inset:0"><i style="background:#036"></i></div><div style="color:#fff"><p>text</p></div></main>',
  ],
  [
    "white beside a box of which something lies under it",
    '<div><i><b style="position:fixed;inset:0;z-index:-1;background:#036"></b></i></div><p style="color:#fff">text</p>',
  ],
  [
    "white before what lies under it",
    '<div><p style="color:#fff;position:relative">text</p><b style="position:fixed;inset:0;z-index:-1;background:url(a.png)"></b></div>',
  ],
  [
    "white and moved onto something",
    '<div><div style="background:#036;height:40px"></div><p style="color:#fff;margin-top:-30px">text</p></div>',
  ],
  [
    "white in a place of a grid that something else is in",
    '<div style="display:grid"><i style="background:#036"></i><p style="color:#fff">text</p></div>',
  ],
  ["white where another sheet may say on what", '<link rel=stylesheet href=a.css><p style="color:#fff">text</p>'],
  ["in a child with a size, of a parent without", '<div style="font-size:0"><p style="font-size:16px">text</p></div>'],
  [
    "in a child with a share of a size",
    '<style>html{font-size:1px}body{font-size:16rem}</style><div style="font-size:.1em"><p style="font-size:10em">text</p></div>',
  ],
  [
    "in a child that a font gives a size",
    '<div style="font-size:0"><p style="font:caption"><font size=2>text</font></p></div>',
  ],
  [
    "in a narrow box that takes what room is left",
    '<div style="display:flex"><div style="width:0;flex-grow:1;overflow:hidden">text</div></div>',
  ],
  [
    "in a narrow box of a row that is as wide as its share",
    '<div style="display:flex"><div style="width:0;flex:1 1 0;overflow:hidden">text</div></div>',
  ],
  [
    "in a narrow box of a row that begins wider",
    '<div style="display:inline-flex"><div style="width:1px;flex-basis:100px;overflow:hidden">text</div></div>',
  ],
  [
    "in a flat box of a column",
    '<div style="display:flex;flex-flow:column nowrap;height:99px"><p style="height:0;flex:1;overflow:hidden">text</p></div>',
  ],
  ["in a narrow box that is wider at least", '<p style="width:0;min-width:100%;overflow:hidden">text</p>'],
  ["in a line that is said to be flat", '<span style="height:0;width:0;overflow:hidden">text</span>'],
  [
    "in a table that is said to be flat",
    '<table style="width:0;height:0;overflow:hidden"><tr><td style="max-width:0;overflow:hidden">text</table>',
  ],
  ["in a flat box that is cut off beside it only", '<p style="height:0;overflow-x:clip">text</p>'],
  [
    "in a visible child of a hidden parent",
    '<div style="visibility:hidden"><p style="visibility:visible">text</p></div>',
  ],
  ["in a sheet that is no sheet", "<style>}}} .x{{ display none</style><p class=x>text</p>"],
  [
    "moved to the middle",
    '<p style="position:absolute;left:50%;margin-left:-600px;transform:translate(-50%,-50%)">text</p>',
  ],
  ["shown by what follows a value that is none", '<p style="display:bogus;display:block;opacity:none">text</p>'],
  ["given a variable that nobody set", '<p style="display:var(--none)">text</p>'],
  ["in a slot", "<x-a><template shadowrootmode=open><slot></slot></template><p>text</p></x-a>"],
  [
    "in the second panel behind two tabs",
    "<div role=tablist><button role=tab>A</button><button role=tab>B</button></div><div><div role=tabpanel></div><div role=tabpanel hidden>text</div></div>",
  ],
  [
    "beside a panel that has no tab",
    "<div role=tablist><button role=tab>A</button></div><div role=tabpanel></div><div role=tabpanel hidden>evil</div><p>text",
  ],
  ["of a modern colour", '<p style="color:oklch(0.4 0.1 200)">text</p>'],
  [
    "not displayed until a button opens it",
    "<button aria-expanded=false aria-controls=p>Question</button><div id=p style='display:none'>text</div>",
  ],
  [
    "hidden until what stands before it opens it",
    "<div><button aria-expanded=false>Question</button></div><div hidden>text</div>",
  ],
  ["sent later than its place", "<div><template id='B:1'></template></div><div hidden id='S:1'>text</div>"],
  [
    "opened by a button that does not say whether it is",
    "<button aria-controls=p>Question</button><div id=p style='display:none'>text</div>",
  ],
  [
    "opened by a button",
    "<button aria-expanded=false aria-controls=p>Question</button><div id=p style='max-height:0;overflow:hidden'>text</div>",
  ],
  [
    "opened by a button that a button opens",
    "<button aria-expanded=false aria-controls=p>One</button><div id=p style='max-height:0;overflow:hidden'><button aria-expanded=false aria-controls=q>Two</button><div id=q style='height:0;overflow:hidden'>text</div></div>",
  ],
  [
    "in a panel of tabs that its tab names",
    "<button role=tab aria-controls=p>Tab</button><div id=p role=tabpanel hidden>text</div>",
  ],
  [
    "in a panel of tabs that names its tab",
    "<button role=tab id=t>Tab</button><div role=tabpanel aria-labelledby=t hidden>text</div>",
  ],
  [
    "in a panel of tabs that names its tab with a space",
    "<button role=tab id='t 1'>Tab</button><div role=tabpanel aria-labelledby='t 1' hidden>text</div>",
  ],
  [
    "in the one box of what is hidden",
    "<button aria-expanded=false aria-controls=p>Question</button><div style='display:none'><div id=p>text</div></div>",
  ],
  ["below what is scrolled to", '<p style="position:absolute;top:3000px">text</p>'],
])("a text that is %s is read", (_, html) => {
  expect(md(`<body>${html}`)).toBe("text");
});

test.each([
  ["is hidden itself", '<button aria-expanded=false aria-controls=p style="display:none">Open</button>%s'],
  ["holds it", "<button aria-expanded=false aria-controls=p>%s</button>"],
  [
    "stands in it",
    "<div id=p style='max-height:0;overflow:hidden'><button aria-expanded=false aria-controls=p>Open</button>evil</div>",
  ],
  [
    "stands in another that stands in it",
    "<div id=q style='max-height:0;overflow:hidden'><button aria-expanded=false aria-controls=p>Open</button></div><div id=p style='height:0;overflow:hidden'><button aria-expanded=false aria-controls=q>Open</button>evil</div>",
  ],
])("a button that %s opens no hidden text", (_, html) => {
  const box = "<div id=p style='max-height:0;overflow:hidden'>evil</div>";
  expect(md(`<body><p>text</p>${html.replace("%s", box)}`)).toBe("text");
});

test.each([
  ["<!doctype html>", "text"],
  [
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
    "text",
  ],
  ['<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">', "text"],
  ['<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', ""],
  ['<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">', ""],
  ["<p></p><!doctype html>", ""],
])("a class of another case is another class below %s, or none: %j", (doctype, text) => {
  expect(md(`${doctype}<style>.X{display:none}</style><p class=x>text</p>${seen}`)).toBe(
    `${text}\n\nWhat people read.`.trim(),
  );
});

const listed = (selector: (i: number) => string): string =>
  `<style>${Array.from({ length: 1_000 }, (_, i) => selector(i)).join("")}.b{color:red}</style><body>${"<i>x</i>".repeat(3_000)}`;
const nested = (begin: string): string => `<style>${begin.repeat(100_000)}</style><p>text</p>`;
const asking = (operator: string, flag = ""): string =>
  `<style>${Array.from({ length: 2_000 }, (_, i) => `[title${operator}z${i}${flag}]{top:0}`).join("")}</style><p title="${"a ".repeat(255_000)}">text</p>`;
test.each([
  ["siblings", () => listed((i) => `[a${i}] ~ i,`)],
  ["siblings in :has()", () => listed((i) => `i:has(~ .c${i}),`)],
  ["places among siblings", () => listed((i) => `:nth-child(${i}n + 1),`)],
  [
    "ancestors in :has()",
    () =>
      `<style>${Array.from({ length: 2_000 }, (_, i) => `:has(.c${i} i){top:0}`).join("")}</style>${"<div>".repeat(100)}${"<i>x</i>".repeat(1_000)}`,
  ],
  [
    "more characters than are read",
    () => `<style>/*${"-".repeat(2_000_001)}*/.x{display:none}</style><p class=x>evil</p>`,
  ],
  ["rules in rules", () => nested("p{")],
  ["rules in rules behind declarations", () => nested("p{b:c;& p{")],
  ["conditions in conditions", () => nested("@media all{")],
  [
    "parentheses in parentheses",
    () => `<style>${":is(".repeat(1_500)}p${")".repeat(1_500)}{display:none}</style><p>text</p>`,
  ],
  ["a long selector", () => `<style>${".a".repeat(300_000)}{display:none}</style><p class=a>text</p>`],
  [
    "long selectors around short ones",
    () =>
      `<style>${".a".repeat(4_000)},${".b".repeat(4_000)}{${"&".repeat(9_000)}{top:0}}</style><p class="a b">text</p>`,
  ],
  ["many declarations", () => `<p style="${"all:unset;".repeat(150_000)}">text</p>`],
  ["words of a long attribute", () => asking("~=")],
  ["parts of a long attribute in any case", () => asking("*=", " i")],
])("a page whose styles cannot all be tried is refused: %s", (_, html) => {
  expect(() => md(html())).toThrow("more styles than can be read");
});

test("styles that cost little are tried, however long they are", () => {
  for (const rule of ["{", ".a{", ")"]) expect(md(nested(rule)), rule).toBe("text");
  expect(
    md(
      `<style>${"i:not(.x){top:0}i:nth-child(even){left:0}".repeat(20)}</style><p>text</p>${"<i>x</i>".repeat(5_000)}`,
    ),
  ).toContain("text");
  const many = Array.from({ length: 10_000 }, () => "i{left:0}").join("");
  const tree = "<x-a><template shadowrootmode=open><p>text</p></template></x-a>";
  expect(md(`<style>i:not(.y,.z){top:0}${many}</style>${tree}${"<i></i>".repeat(100)}`)).toBe("text");
  expect(md(`<style>${"i:not(.y),".repeat(300)}p:not(.y){display:none}</style><p>evil</p><b>text</b>`)).toBe(
    "**text**",
  );
  const sheet = Array.from({ length: 25_000 }, (_, i) => `.c${i}>p{display:none;top:${i}px}`).join("\n");
  expect(md(`<style>${sheet}</style><p>text</p><div class=c24999><p>evil</p></div>`)).toBe("text");
});

const host = (inside: string, light: string): string =>
  `<x-a class=h><template shadowrootmode=open>${inside}</template>${light}</x-a>`;
const evil = "<p class=x>evil</p>";

test.each([["a sheet of its shadow tree", host(`<style>p{display:none}</style>${evil}`, "")]])(
  "a text is hidden by %s",
  (_, html) => {
    expect(md(`<body>${html}${html.includes(seen) ? "" : seen}`)).toBe("What people read.");
  },
);

test.each([
  ["the page, in a shadow tree", `<style>p{display:none}</style>${host("<p>text</p>", "")}`],
  ["a shadow tree, beside it", `${host("<style>p{display:none}</style>", "")}<p>text</p>`],
  [
    "what only looks like a shadow tree",
    "<style>p{opacity:0}</style><div shadowrootmode=open><style>div p{opacity:1}</style><p>text</p></div>",
  ],
])("a sheet hides nothing of %s", (_, html) => {
  expect(md(`<body>${html}`)).toBe("text");
});

test.each([
  ["a layer in a rule", ".x{@layer a{display:none}}"],
  [":is() by its heaviest part", ":is(.x,#none){display:none}p.x.x{display:block}"],
  [":not() by its heaviest part", "p:not(#none){display:none}p.x.x{display:block}"],
  ["a nested rule, by the heaviest selector around", "section,#none{p{display:none}}section p.x{display:block}"],
  ["what :where() does not count against", ":where(#none,.x){display:block}p{display:none}"],
  ["a value for another browser behind its own", ".x{display:none;display:-ms-flexbox;display:-moz-box}"],
  ["an old name of a property", ".x{-webkit-opacity:0}"],
  ["a colour that is made from another", ".x{color:rgb(from white r g b)}"],
  ["a rule before a comment without an end", ".x{display:none}/* evil"],
  ["a comment in a value", ".x{display:none/**/}"],
  ["a variable with capitals", "section{--Shown:none}.x{display:var(--Shown)}"],
  ["no animation", ".x{opacity:0;animation:none}"],
  ["the last background", ".x{background:#000;background:#fff;color:#fff}"],
])("a text is hidden by %s", (_, sheet) => {
  const html = sheet.startsWith("x-b") ? `<x-b>${evil}</x-b>` : evil;
  expect(
    md(
      `<head><style>${sheet}</style></head><body><section>${html}</section>${seen.replace("p", "h6").replace("/p", "/h6")}`,
    ),
  ).toBe("###### What people read.");
});

test.each([
  ["a list that ends in a comma", ".x,{display:none}"],
  ["an id that begins with a digit", "#1a{display:none}"],
  ["a mark for old browsers", ".x{display:none !ie}"],
  ["a declaration that no browser reads", ".x{*display:none;display none;visibility:hidden)}"],
  ["a value that is undone", ".x{display:none}p.x{display:revert}"],
  ["all values that are undone", ".x{display:none;opacity:0}p.x{all:unset}"],
  ["a namespace that there is not", "|p,svg|p{display:none}"],
  ["what a selector in :where() is worth", ":where(#y.x){display:none}p{display:block}"],
  ["transparency of what has no box", ".x{display:contents;opacity:0}"],
  ["a variable that is none", ".x{display:none;display:var(--y)}"],
  ["a rule of a first look", "@starting-style{.x{display:none}}"],
])("a text is not hidden by %s", (_, sheet) => {
  expect(
    md(
      `<style>${sheet}</style><body><section><p class=x id=y${sheet.includes("[style]") ? " style=display:none" : ""}>text</p></section>`,
    ),
  ).toBe("text");
});

test.each([
  ["a condition against one of the same weight behind it", "@media (color){.x{display:none}}.x{display:block}"],
  ["one of the same weight behind it in a condition", ".x{display:none}@media (color){.x{display:block}}"],
  ["one condition against another", "@supports (top:0){.x{display:none}}@media (color){p.x{display:block}}"],
  [
    "two conditions against one of them",
    "@media (color){.x{display:none}}@supports (top:0){p.x{display:none}}@media (color){body p.x{display:block}}",
  ],
  ["a layer against one of the same weight in a later one", "@layer a{.x{opacity:0}}@layer b{.x{opacity:1}}"],
  ["a condition that does not hold", "@supports not (display:grid){.x{visibility:hidden}}"],
])("what hides wins where order is not known: %s", (_, sheet) => {
  expect(md(`<style>${sheet}</style><body>${evil}${seen}`)).toBe("What people read.");
});

test.each([
  ...["display:none|display:block", "font-size:1px|font-size:16px", "color:#fff|background:#000"],
  ...["position:absolute;left:-999em|left:0", "clip-path:inset(50%)|clip-path:none", "opacity:0|animation:x 1s"],
  ...["--d:none;display:var(--d)|--d:block", "height:0;overflow:hidden|min-height:99px"],
])("a rule that may not apply does not show what another hides: %s", (values) => {
  const [hiding, showing] = values.split("|");
  for (const rule of [
    `@media (min-width:99999px){p.x{${showing}!important}}`,
    `@supports (foo:bar){p.x{${showing}!important}}`,
    ...["p:foo", "p:text", ":header", "p::foo", "[a|b]", "p:foo::before"].map((it) => `p.x,${it}{${showing}}`),
  ])
    expect(md(`<style>.x{${hiding}}${rule}</style><body>${evil}${seen}`), rule).toBe("What people read.");
  expect(
    md(`<style>.x{${hiding}}</style><style media="(min-width:99999px)">p.x{${showing}}</style>${evil}${seen}`),
  ).toBe("What people read.");
});

test.each([
  [
    "an attribute, against a sheet",
    "<style>[hidden],dialog,[popover]{display:block}</style><p hidden>text</p><dialog>text</dialog><p popover>text</p>",
    "text\n\ntext\n\ntext",
  ],
  ["a sheet in a formula", "<math><mi>a</mi><style>p{display:none}</style></math><p>text</p>", "$a$\n\ntext"],
])("what is seen does not depend on %s", (_, html, markdown) => {
  expect(md(`<body>${html}`)).toBe(markdown);
});
