/** The way of a call through its service, as the answer's header `rb-steps` tells. Times are whole milliseconds before the answer. */
export interface ServedSteps {
  /** The service got the request. */
  readonly received?: number | undefined;
  /** All layers that ask whether it may run have let it through. */
  readonly admitted?: number | undefined;
  /** The service has claimed it, so that nobody else runs it. */
  readonly claimed?: number | undefined;
  /** The tool began to run. */
  readonly started?: number | undefined;
  /** The layer that answered in the place of the tool: it refused the call, or had its answer. */
  readonly layer?: string | undefined;
  /** The request was delivered before. */
  readonly isRedelivered?: boolean | undefined;
}

const TIMES = ["received", "admitted", "claimed", "started"] as const;
const FORM = /^[a-z]{1,20}=[a-z0-9-]{1,40}(,[a-z]{1,20}=[a-z0-9-]{1,40}){0,9}$/;

/** As the header has it: `received=12,admitted=11,started=11`, or `received=3,layer=rate`. */
export function writeServedSteps({ layer, isRedelivered, ...times }: ServedSteps): string {
  let text = "";
  for (const name of TIMES) {
    const ms = times[name];
    if (ms !== undefined) text += `${text === "" ? "" : ","}${name}=${Math.max(0, Math.round(ms))}`;
  }
  if (layer !== undefined) text += `,layer=${layer}`;
  return isRedelivered ? `${text},redelivered=1` : text;
}

/** True if a header has the form, whatever names it has. */
export const isServedSteps = (text: string | undefined): text is string =>
  text !== undefined && text.length <= 200 && FORM.test(text);

/** Reads what the header says of the names that are known. */
export function readServedSteps(text: string): ServedSteps {
  const said = new Map(text.split(",").map((part) => part.split("=", 2) as [string, string]));
  const times: Partial<Record<(typeof TIMES)[number], number>> = {};
  for (const name of TIMES) {
    const value = said.get(name) ?? "";
    if (/^\d{1,9}$/.test(value)) times[name] = Number(value);
  }
  return { ...times, layer: said.get("layer"), isRedelivered: said.get("redelivered") === "1" };
}
