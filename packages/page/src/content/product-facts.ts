import { lineOf, type PageFacts, type Thing } from "./page-facts.ts";

/** What a page says to machines of the product that it sells, each on one line. */
export interface ProductFacts {
  /** The price with its currency. */
  readonly price?: string | undefined;
  readonly brand?: string | undefined;
  /** A word of schema.org, such as `InStock`. */
  readonly availability?: string | undefined;
  readonly description?: string | undefined;
}

const MAX_OFFERS = 100;

/** Undefined for a page that says it of no product, or of several. */
export function productOf({ products }: PageFacts): ProductFacts | undefined {
  const [product] = products;
  // Some pages say the same twice.
  if (product === undefined || products.some(({ name }) => name !== product["name"])) return undefined;
  const offers = [product, ...thingsIn(product["hasVariant"])]
    .flatMap((sold) => thingsIn(sold["offers"]))
    .slice(0, MAX_OFFERS);
  return {
    price: priceOf(offers),
    brand: lineOf(thingsIn(product["brand"])[0]?.["name"] ?? product["brand"]),
    availability: lineOf(offers[0]?.["availability"])?.replace(/^.*\//, ""),
    description: lineOf(product["description"]),
  };
}

/** Where offers differ, the lowest price and the highest. */
function priceOf(offers: readonly Thing[]): string | undefined {
  const prices = offers.flatMap(pricesOf);
  prices.sort((one, other) => Number(one) - Number(other));
  const [lowest] = prices;
  if (lowest === undefined) return undefined;
  const highest = prices.at(-1);
  const currency = offers.flatMap(
    (offer) => lineOf(offer["priceCurrency"] ?? thingsIn(offer["priceSpecification"])[0]?.["priceCurrency"]) ?? [],
  )[0];
  return [Number(lowest) < Number(highest) ? `${lowest} to ${highest}` : lowest, currency].join(" ").trim();
}

function pricesOf(offer: Thing): string[] {
  const own = lineOf(offer["price"]) ?? lineOf(thingsIn(offer["priceSpecification"])[0]?.["price"]);
  return own === undefined ? [offer["lowPrice"], offer["highPrice"]].flatMap((price) => lineOf(price) ?? []) : [own];
}

/** One thing or a list of them. */
const thingsIn = (value: unknown): Thing[] =>
  [value].flat().filter((one) => typeof one === "object" && one !== null) as Thing[];

/** Lines of so many words are sentences. */
const LONG_LINE = 12;

/**
 * The product's description where the page's markdown has no text of at least half its length: scripts would write it
 * there.
 */
export function missingDescription({ description }: ProductFacts, markdown: string): string | undefined {
  const words = (text: string): number => text.split(/\s+/).length;
  if (description === undefined || words(description) < LONG_LINE) return undefined;
  const lines = markdown.split("\n").map((line) => words(line.replaceAll(/\]\([^()\s]*\)/g, "]").trim()));
  return 2 * lines.reduce((sum, count) => (count < LONG_LINE ? sum : sum + count), 0) < words(description)
    ? description
    : undefined;
}
