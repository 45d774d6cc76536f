import { expect, test } from "vitest";
import { keptStructure } from "./structure.ts";
import { runOf } from "./words.ts";

const page = `<div class=toc><a href=#one>First part</a> <a href=#two>Second part</a></div>
  <h2 id=one>First part</h2><p>It begins with <a href=/what>what there is</a> today.</p><h2 id=two>Second part</h2><p>It ends.</p>`;
const rendered = `<h2>First part</h2><p>It begins with <a href="https://example.test/what">what there is</a> today.</p><h2>Second part</h2><p>It ends.</p>`;
const linksOf = (truth: string) => keptStructure(page, rendered, runOf(truth)).links;

test("a link whose words the content has elsewhere is no link of the content", () => {
  const text = "First part It begins with what there is today. Second part It ends.";
  expect(linksOf(text)).toEqual({ there: 1, kept: 1 });
  expect(linksOf(`First part Second part ${text}`)).toEqual({ there: 3, kept: 1 });
  // The headings alone stand together as their entries do.
  const headings = `<div><a href=#one>First part</a> <a href=#two>Second part</a></div><h1 id=one>First part</h1><h2 id=two>Second part</h2>`;
  expect(keptStructure(headings, headings, runOf("First part Second part")).links.there).toBe(0);
});
