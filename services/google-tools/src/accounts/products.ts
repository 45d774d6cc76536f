/** The two parts of Google that have tokens of their own, so that a person consents to each alone. */
export type Product = keyof typeof products;

interface ProductFacts {
  readonly title: string;
  /** The folder of its tokens. */
  readonly folder: string;
  /** What a person consents to, least first. The tools that only read need the first alone. */
  readonly scopes: { readonly read: string; readonly write: string };
  readonly tools: readonly string[];
}

const AUTH = "https://www.googleapis.com/auth";

/** The products by the name that a person enters. */
export const products = {
  gmail: {
    title: "Gmail",
    folder: ".gmail-tokens",
    scopes: { read: `${AUTH}/gmail.readonly`, write: `${AUTH}/gmail.send` },
    tools: ["gmail_search", "gmail_read", "gmail_send"],
  },
  calendar: {
    title: "Google Calendar",
    folder: ".calendar-tokens",
    scopes: { read: `${AUTH}/calendar.events.readonly`, write: `${AUTH}/calendar.events` },
    tools: ["calendar_list_events", "calendar_get_event", "calendar_create_event"],
  },
} as const satisfies Readonly<Record<string, ProductFacts>>;

/** What an operator enters to log an account in. */
export const loginCommand = (product: Product, account?: string): string =>
  `./rockbot google login ${product}${account === undefined ? "" : ` --account ${account}`}`;
