import servicesJson from "../../helm/rockbot/files/services.json" with { type: "json" };
import type { ChartedService } from "../../scripts/generate/services-json.ts";

/** What the chart knows of each service. */
export const services: readonly ChartedService[] = servicesJson;
