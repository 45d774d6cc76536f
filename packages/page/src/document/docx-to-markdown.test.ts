import JSZip from "jszip";
import { expect, test } from "vitest";
import { docxToMarkdown } from "./docx-to-markdown.ts";

const paragraph = (inside: string): string => `<w:p>${inside}</w:p>`;
const words = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
const table = (...rows: string[][]): string =>
  `<w:tbl>${rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join("")}</w:tr>`).join("")}</w:tbl>`;

async function markdownOf(body: string): Promise<string> {
  const archive = new JSZip();
  const types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>';
  const part =
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>';
  archive.file(
    "[Content_Types].xml",
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${types}${part}</Types>`,
  );
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
  archive.file(
    "_rels/.rels",
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${relation}" Target="word/document.xml"/></Relationships>`,
  );
  const namespaces =
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"';
  archive.file("word/document.xml", `<w:document ${namespaces}><w:body>${body}</w:body></w:document>`);
  return (await docxToMarkdown(await archive.generateAsync({ type: "uint8array" }), {})).markdown;
}

const sign = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
const part = (name: string, inside: string): string => `<m:${name}>${inside}</m:${name}>`;
const e = (text: string): string => part("e", sign(text));

test.each([
  [sign("a&lt;b+12.5"), "a\\lt b+12.5"],
  [part("f", part("num", sign("x")) + part("den", sign("y+1"))), "\\frac{x}{y+1}"],
  [part("sSup", e("c") + part("sup", sign("2"))), "c^2"],
  [part("sSubSup", e("c") + part("sub", sign("i")) + part("sup", sign("2"))), "c_i^2"],
  [part("rad", part("deg", "") + e("x")), "\\sqrt{x}"],
  [part("rad", part("deg", sign("3")) + e("x")), "\\sqrt[3]{x}"],
  [
    part(
      "nary",
      `${part("naryPr", '<m:chr m:val="∑"/>')}${part("sub", sign("i=1"))}${part("sup", sign("n"))}${e("i")}`,
    ),
    "∑_{i=1}^ni",
  ],
  [part("d", e("x") + e("y")), "(x|y)"],
  [part("func", part("fName", sign("sin")) + e("x")), "\\sin x"],
  [
    part("m", part("mr", e("1") + e("2")) + part("mr", e("3") + e("4"))),
    "\\begin{matrix}1 & 2 \\\\ 3 & 4\\end{matrix}",
  ],
  [part("something", e("x")), "x"],
])("a formula of a .docx document is TeX: %j is %j", async (omml, tex) => {
  expect(await markdownOf(paragraph(words("sum: ") + part("oMath", omml) + words(" end")))).toBe(`sum: $${tex}$ end`);
  expect(await markdownOf(paragraph(words("so")) + paragraph(part("oMathPara", part("oMath", omml))))).toBe(
    `so\n\n$${tex}$`,
  );
});

test("a table of a .docx document begins with its first row, and holds the tables of its cells as lines", async () => {
  const cell = (text: string): string => paragraph(words(text));
  const inner = table([cell("a"), cell("b")], [cell("c"), cell("d") + cell("e")]);
  const body = table(
    [cell("name"), cell("value")],
    [cell("one"), cell("has") + inner + cell("")],
    [cell("two"), cell("2")],
  );
  expect((await markdownOf(body)).split("\n")).toEqual([
    "| name | value |",
    "| --- | --- |",
    "| one | has<br>a \\| b<br>c \\| d e |",
    "| two | 2 |",
  ]);
});
