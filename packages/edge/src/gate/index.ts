// The way out for a program that has no network: to some hosts only.
export { GATE_CERTIFICATES, GATE_SOCKET, type GateFolder, openGateFolder } from "./gate-folder.ts";
export { type GateFault, type HostGate, type HostGateOptions, openHostGate } from "./host-gate.ts";
