import { AggregationType, createAllowListAttributesProcessor, type ViewOptions } from "@opentelemetry/sdk-metrics";

/** From a call inside the process to the longest usual deadline, roughly doubling. */
export const DURATION_BUCKETS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];

export const views: ViewOptions[] = [
  {
    instrumentName: "*.duration",
    instrumentUnit: "ms",
    aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: DURATION_BUCKETS_MS } },
  },
  // Outgoing requests go to any host of the web: a series for each would grow without a bound.
  {
    instrumentName: "http.client.request.duration",
    attributesProcessors: [
      createAllowListAttributesProcessor(["http.request.method", "http.response.status_code", "error.type"]),
    ],
  },
];
