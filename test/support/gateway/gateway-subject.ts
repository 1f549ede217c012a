// A gateway over sessions in memory for a test, with its clients.
import { onTestFinished } from "vitest";
import type { HostSettings } from "../sessions/session-host.ts";
import { GatewayClient } from "./gateway-client.ts";
import { control, observe, openGateway } from "./gateway-place.ts";

export { control, observe };

export async function createGateway(settings: HostSettings = {}) {
	const { close, ...place } = await openGateway(settings);
	onTestFinished(close);
	const { port } = place;
	return { ...place, client: new GatewayClient(port, control), watcher: new GatewayClient(port, observe) };
}
