import { expect, test } from "vitest";
import { pdfToText } from "./pdf-to-text.ts";

/**
 * One page with a text in Helvetica, and one in a font that is not embedded and says its characters by a map that is
 * not, either.
 */
function pdfOf({
  encoding,
  ordering,
  hex,
}: {
  readonly encoding: string;
  readonly ordering: string;
  readonly hex: string;
}): Uint8Array {
  const stream = `BT /F1 12 Tf 72 700 Td (Latin) Tj /F2 12 Tf 0 -20 Td <${hex}> Tj ET`;
  const info = `<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>`;
  const descriptor =
    "<</Type/FontDescriptor/FontName/Some/Flags 6/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>";
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>/Contents 4 0 R>>",
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    `<</Type/Font/Subtype/Type0/BaseFont/Some/Encoding/${encoding}/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/Some/CIDSystemInfo${info}/FontDescriptor ${descriptor}/DW 1000>>]>>`,
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj${object}endobj\n`).join("");
  return Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R/Size ${objects.length + 1}>>\n%%EOF`);
}

const ucs2 = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");
const read = (font: Parameters<typeof pdfOf>[0]) => pdfToText(pdfOf(font), { maxLength: 10_000, budgetMs: 60_000 });

test.each([
  ["UniJIS-UCS2-H", "Japan1", ucs2("東京の天気"), "東京の天気"],
  ["90ms-RKSJ-H", "Japan1", "938c8b9e82cc9356924a", "東京の天谷"],
  ["UniGB-UTF16-H", "GB1", ucs2("今天天气"), "今天天气"],
  ["GBK-EUC-H", "GB1", "bdf1ccec", "今天"],
  ["UniCNS-UCS2-H", "CNS1", ucs2("臺灣天氣"), "臺灣天氣"],
  ["UniGB-UCS2-H", "CNS1", ucs2("東京"), "東京"],
  ["UniKS-UCS2-H", "Korea1", ucs2("서울 날씨"), "서울 날씨"],
  ["Identity-H", "Japan1", "034a", expect.stringMatching(/^\p{L}$/u)],
])("reads the text of a font whose map %s of %s is not in the document", async (encoding, ordering, hex, text) => {
  const { markdown, lacksText } = await read({ encoding, ordering, hex });
  const [, latin, shown] = /^--- page 1 of 1 ---\n\n(.*)\n(.*)$/.exec(markdown) ?? [];
  expect([latin, shown, lacksText]).toEqual(["Latin", text, undefined]);
});

test("says that text is missing whose font names a map that nobody has", async () => {
  expect(await read({ encoding: "UniNone-UCS2-H", ordering: "Japan1", hex: ucs2("東京") })).toMatchObject({
    markdown: expect.stringMatching(/^--- page 1 of 1 ---\n\nLatin\n\n\(Text of this page is missing here: /),
    lacksText: true,
  });
});
