import { expect, test } from "vitest";
import { scriptPage } from "./script-page.ts";

test("signs that nobody sees in a page's data end no block of code", () => {
  const html =
    '<div id=root></div><script src=a.js></script><script type="application/json">"a\u2028``\u200b`\u2028<img src=x onerror=a()>"</script>';
  expect(
    scriptPage(html, { title: null, markdown: "" }, { url: "https://example.com/a", maxLength: 10_000 })?.markdown,
  ).toMatch(/\n\n````json\n"a\n```\n<img src=x onerror=a\(\)>"\n````$/);
});

test.each([
  ["0; url=/b?x=1", "https://example.com/b?x=1"],
  ["0;URL='https://example.org/b'", "https://example.org/b"],
  ["5, b#part", "https://example.com/b"],
  ["5", undefined],
  ["0; url=/a#top", undefined],
  ["0; url=javascript:alert(1)", undefined],
  ["9999; url=/b", undefined],
])("a page without text that refreshes by %j names where it leads: %j", (content, to) => {
  const html = `<meta http-equiv=Refresh content="${content}"><title>Moved</title>`;
  const read = scriptPage(html, { title: "Moved", markdown: "" }, { url: "https://example.com/a", maxLength: 10_000 });
  expect(read?.markdown).toBe(
    to === undefined ? undefined : `(The page sends browsers on to ${to}. It was not followed.)`,
  );
});
