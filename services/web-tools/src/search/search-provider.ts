/** A question to a search service, as every provider understands it. */
export interface SearchQuery {
  readonly query: string;
  /** 1 to 20. */
  readonly count: number;
  /** Two letters of ISO 3166, or ALL. */
  readonly country?: string | undefined;
  /** `day`, `week`, `month` or `year`, or two dates as `2026-01-01to2026-01-31`. */
  readonly freshness?: string | undefined;
  readonly safesearch?: "off" | "moderate" | "strict" | undefined;
}

/**
 * One page that was found. Its texts are a stranger's, on one line each, without tags and unseen characters; no
 * markdown of theirs is escaped.
 */
export interface SearchResult {
  /** Empty where the service knows none. */
  readonly title: string;
  /** An http(s) URL without a password. */
  readonly url: string;
  readonly snippet: string;
}

/** What was found, best first. */
export interface SearchAnswer {
  /** The results, at most `count`. */
  readonly results: readonly SearchResult[];
  /** Search engines behind the service that gave no answer, so that results may be missing, with the reason of each. */
  readonly unanswered?: readonly string[] | undefined;
}

/** A service that searches the web. */
export interface SearchProvider {
  /** Scheme, host, port and path of the service: where its results come from. */
  readonly baseUrl: string;
  /**
   * Asks once.
   * @throws {ToolError} `rate_limited` with the wait that the service names, `unavailable` if it is away, refuses its
   * key or answers in another form, and `invalid_arguments` if it does not take the query
   */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchAnswer>;
}
