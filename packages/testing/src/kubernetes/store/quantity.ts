const UNITS: Readonly<Record<string, number>> = {
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Of a quantity such as `500m` or `256Mi`; NaN if it is none. */
export function amountOf(quantity: string | number): number {
  const [, digits, unit = ""] = /^([+-]?\d+(?:\.\d+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(String(quantity)) ?? [];
  return digits === undefined ? Number.NaN : Number(digits) * (UNITS[unit] ?? Number.NaN);
}
