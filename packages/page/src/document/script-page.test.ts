import { expect, test } from "vitest";
import { scriptPage } from "./script-page.ts";

test("signs that nobody sees in a page's data end no block of code", () => {
  const html = '<div id=root></div><script src=a.js></script><script type="application/json">"a\u2028``\u200b`\u2028<img src=x onerror=a()>"</script>';
  expect(scriptPage(html, { title: null, markdown: "" }, 10_000)?.markdown).toMatch(/\n\n````json\n"a\n```\n<img src=x onerror=a\(\)>"\n````$/);
});
