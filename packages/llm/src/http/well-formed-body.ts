/**
 * The JSON of a request with U+FFFD in the place of each half of a surrogate pair. Results, and texts that were cut,
 * may have one. Makers refuse a request that has, and so each later one of its conversation. JSON.stringify writes such
 * a half as an escape, and nothing else in this form.
 */
export function wellFormedBody(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replaceAll(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (sign, half: string | undefined) =>
    half === undefined ? sign : "\ufffd",
  );
}
