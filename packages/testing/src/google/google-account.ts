import { randomUUID } from "node:crypto";

/** What one account has. */
export interface GoogleAccount {
  readonly messages: GmailMessage[];
  /** The mails that were sent from it, as RFC 5322 texts. */
  readonly sent: { readonly raw: string; readonly threadId: string | undefined }[];
  /** Its calendars by their id; `primary` is its own. */
  readonly calendars: Record<string, GoogleEvent[]>;
}

/** A part of a mail as Gmail gives it. */
export interface GmailPart {
  readonly partId?: string;
  readonly mimeType: string;
  readonly filename?: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: { readonly size: number; readonly data?: string; readonly attachmentId?: string };
  readonly parts?: readonly GmailPart[];
}

/** A mail. */
export interface GmailMessage {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: readonly string[];
  readonly snippet: string;
  /** Milliseconds, as text. */
  readonly internalDate: string;
  readonly payload: GmailPart;
  /** The bytes of bodies that come by a request of their own, by their id, as base64url. */
  readonly attachments?: Readonly<Record<string, string>>;
}

/** A day, or a moment. */
export interface GoogleTime {
  readonly date?: string;
  readonly dateTime?: string;
  readonly timeZone?: string;
}

/** An event as Calendar gives it. */
export interface GoogleEvent {
  readonly id: string;
  readonly status?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly location?: string;
  readonly htmlLink?: string;
  readonly start: GoogleTime;
  readonly end: GoogleTime;
  readonly attendees?: readonly { readonly email: string; readonly responseStatus?: string }[];
  readonly organizer?: { readonly email: string };
  readonly recurrence?: readonly string[];
  readonly reminders?: {
    readonly useDefault: boolean;
    readonly overrides?: readonly { readonly method: string; readonly minutes: number }[];
  };
}

/** What a request to an API comes with, once its token is known. */
export interface GoogleRequest {
  readonly account: GoogleAccount;
  readonly address: string;
  readonly scopes: readonly string[];
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

/** A new id of the form that both APIs use. */
export const newGoogleId = (): string => randomUUID().replaceAll("-", "").slice(0, 16);
