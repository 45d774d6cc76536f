import { randomOf } from "./boost.ts";

/**
 * Which fold each address is in. All addresses of a site are in the same, so that what is learnt of a site is never
 * asked on it.
 */
export function foldsBySite(urls: readonly string[], folds: number): number[] {
  const sites = urls.map((url, i) => siteOf(url) ?? `page ${i}`);
  const random = randomOf(1);
  const order = [...new Set(sites)].sort().map((site) => ({ site, at: random() }));
  order.sort((a, b) => a.at - b.at);
  const foldOf = new Map(order.map(({ site }, i) => [site, i % folds]));
  return sites.map((site) => foldOf.get(site) ?? 0);
}

/** The last two labels of the host's name, or three where the second last is as short as in `co.uk`. */
function siteOf(url: string): string | undefined {
  const labels = URL.parse(url)?.hostname.split(".");
  if (labels === undefined || labels.length < 2) return labels?.[0];
  return labels.slice((labels.at(-2) ?? "").length <= 3 ? -3 : -2).join(".");
}
