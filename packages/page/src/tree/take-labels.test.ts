import { expect, test } from "vitest";
import { elementsBelow, type ParentNode } from "./dom.ts";
import { parsePage } from "./parse-page.ts";
import { takeLabels } from "./take-labels.ts";

test("labels are looked for no farther than the next text, so that many blocks side by side take no longer each", () => {
  const page = parsePage(`<div>${"<span><pre>a</pre></span>".repeat(40_000)}</div>`);
  const languages = elementsBelow(page.root()[0] as ParentNode, "pre").map(takeLabels);

  expect(new Set(languages)).toEqual(new Set([""]));
});
