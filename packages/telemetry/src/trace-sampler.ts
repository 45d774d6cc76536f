import { getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` ask for; undefined, which is the SDK's default of
 * `parentbased_always_on`, if they ask for none or for one that is not known.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function traceSampler(): Sampler | undefined {
  const ratio = new TraceIdRatioBasedSampler(getNumberFromEnv("OTEL_TRACES_SAMPLER_ARG") ?? 1);
  switch (getStringFromEnv("OTEL_TRACES_SAMPLER")?.trim()) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return ratio;
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: ratio });
    default:
      return undefined;
  }
}
