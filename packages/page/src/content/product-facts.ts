import { type ParentNode, textOf } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { type PageFacts, type Thing, typesOf } from "./page-facts.ts";

/** What a page says to machines of the product that it sells, each on one line. */
export interface ProductFacts {
  /** With its currency. */
  readonly price?: string | undefined;
  readonly brand?: string | undefined;
  /** A word of schema.org, such as `InStock`. */
  readonly availability?: string | undefined;
  readonly description?: string | undefined;
}

const MAX_DESCRIPTION = 10_000;

/** Undefined for a page that says it of no product, or of several. */
export function productOf({ things }: PageFacts): ProductFacts | undefined {
  const products = things.filter((thing) => typesOf(thing).includes("product"));
  const [product] = products;
  if (product === undefined || products.length > 1) return undefined;
  const offer = firstOf(product["offers"]);
  const priced = firstOf(offer?.["priceSpecification"]) ?? offer;
  const price = lineOf(priced?.["price"] ?? offer?.["lowPrice"]);
  return {
    price: price === undefined ? undefined : [price, lineOf(priced?.["priceCurrency"] ?? offer?.["priceCurrency"])].join(" ").trim(),
    brand: lineOf(firstOf(product["brand"])?.["name"] ?? product["brand"]),
    availability: lineOf(offer?.["availability"])?.replace(/^.*\//, ""),
    description: lineOf(product["description"]),
  };
}

function firstOf(value: unknown): Thing | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "object" && first !== null ? (first as Thing) : undefined;
}

/** Some sites write such values as HTML. */
function lineOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const document = parsePage(String(value).slice(0, MAX_DESCRIPTION)).root()[0] as ParentNode;
  const line = textOf(document).replaceAll(/\s+/g, " ").trim();
  return line === "" ? undefined : line;
}

/** Lines of so many words are sentences. */
const LONG_LINE = 12;

/** The product's description where the page's markdown has no text of at least half its length: scripts would write it there. */
export function missingDescription({ description }: ProductFacts, markdown: string): string | undefined {
  const words = (text: string): number => text.split(/\s+/).length;
  if (description === undefined || words(description) < LONG_LINE) return undefined;
  const lines = markdown.split("\n").map((line) => words(line.replaceAll(/\]\([^()\s]*\)/g, "]").trim()));
  return 2 * lines.reduce((sum, count) => (count < LONG_LINE ? sum : sum + count), 0) < words(description) ? description : undefined;
}
