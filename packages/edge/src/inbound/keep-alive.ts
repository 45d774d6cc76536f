/**
 * The comment that shows proxies and clients that a silent event stream lives. No blank line follows it. Once an event
 * had an id, some readers take a blank line for an event without data: that of OpenAI's client for Python, and
 * httpx-sse.
 */
export const KEEP_ALIVE = ": keep-alive\n";
