import { ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import { type HrTime, toHrTime } from "./hr-time.ts";

/**
 * How often the event loop is timed. It is 10 ms by default in prom-client: that would wake an idle process a hundred
 * times a second, which is most of its cost then.
 */
const LOOP_WATCH_MS = 100;

let registry: Registry | undefined;

/**
 * prom-client's metrics of this process (CPU, memory, file descriptors, event loop lag, handles), as a source for any
 * reader. Histograms are left out: garbage collections are no use without their trace. So are gauges named like
 * counters, which are sums of others.
 */
export function processMetrics(): MetricProducer {
  // Its observers of the event loop cannot be stopped, so they are made once for the whole process.
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_WATCH_MS });
  }
  const source = registry;
  const startTime = toHrTime(performance.timeOrigin);
  return {
    async collect() {
      const endTime = toHrTime(Date.now());
      const metrics = (await source.getMetricsAsJSON()).flatMap((metric) => toMetricData(metric, startTime, endTime));
      return {
        errors: [],
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: { name: "prom-client" }, metrics }] },
      };
    },
  };
}

function toMetricData(
  { name, help, type, values }: MetricObjectWithValues<MetricValue<string>>,
  startTime: HrTime,
  endTime: HrTime,
): MetricData[] {
  // At run time the type is a word, whatever prom-client declares.
  const kind = String(type);
  if (kind !== "counter" && (kind !== "gauge" || name.endsWith("_total"))) return [];
  const data = {
    // The serializer adds `_total` to every counter.
    descriptor: {
      name: name.replace(/_total$/, ""),
      description: help,
      unit: "",
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPoints: values.map(({ labels, value }) => ({ startTime, endTime, attributes: labels, value })),
  };
  return [
    kind === "counter"
      ? { ...data, dataPointType: DataPointType.SUM, isMonotonic: true }
      : { ...data, dataPointType: DataPointType.GAUGE },
  ];
}
