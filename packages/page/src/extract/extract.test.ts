import { expect, test } from "vitest";
import { extract } from "./extract.ts";

const html = `<ul>
  <li class="job" data-id="7"><a href="/x?a=1&amp;b=2">  First
    <b>job</b></a><p>One</p><p>two</p></li>
  <li class="job"><a>Second</a></li>
  <li>no job</li>
</ul>`;

test("each element that the rule finds is a record of lines, texts and attributes; what is not there is left out", () => {
  const fields = {
    id: { take: { attribute: "data-id" } },
    title: { selector: "a" },
    link: { selector: "a", take: { attribute: "href" } },
    missing: { selector: "i" },
  };
  expect(extract(html, { each: "li.job", fields: { ...fields, all: { take: "text" } } }, { maxLength: 1_000 })).toEqual(
    [
      { id: "7", title: "First job", link: "/x?a=1&b=2", all: "First job (/x?a=1&b=2)\n\nOne\n\ntwo" },
      { title: "Second", all: "Second" },
    ],
  );
  expect(extract(html, { each: "td", fields }, { maxLength: 1_000 })).toEqual([]);
});

test("the text of a row keeps its cells apart", () => {
  const table = "<table><tr><td>1<td>two</table>";
  expect(extract(table, { each: "tr", fields: { all: { take: "text" } } }, { maxLength: 1_000 })).toEqual([
    { all: "1\ttwo" },
  ]);
});

test("more than is wanted is refused", () => {
  expect(() => extract(html, { each: "li", fields: { all: {} } }, { maxLength: 5 })).toThrow("more than 5 characters");
  const many = "<i>x</i>".repeat(2_000);
  expect(extract(many, { each: "i", fields: { all: {} } }, { maxLength: 10_000 })).toHaveLength(1_000);
});
