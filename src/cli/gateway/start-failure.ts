import { isError, systemErrorCode } from "../../base/errors.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { hasAddress } from "../../ports/network/host.ts";
import type { GatewayFlags } from "../arguments/options/gateway-options.ts";

export async function describeStartFailure(
	thrown: unknown,
	{ address, port }: Pick<GatewayFlags, "address" | "port">,
): Promise<string> {
	// Opening a file, such as the token file, can fail with the same codes as the port.
	const code = isError(thrown) && "path" in thrown ? null : systemErrorCode(thrown);
	// Bun reports arbitrary codes for names that do not resolve.
	const hasNoAddress = code !== null && !(await hasAddress(address));
	switch (hasNoAddress ? "ENOTFOUND" : code) {
		case "EADDRINUSE":
			return `Port ${port} of ${address} is in use by another program; choose another with --port; --port 0 picks a free one.`;
		case "EADDRNOTAVAIL":
			return `--host ${address}: this machine does not have that address.`;
		case "ENOTFOUND":
		case "EAI_AGAIN":
			return `--host ${address}: this name does not resolve; use one of this machine's addresses.`;
		case "EACCES":
			return `Port ${port} of ${address} needs more rights than this user has; choose a port above 1023 with --port.`;
		default:
			return `The gateway could not start: ${fileFailureText(thrown)}`;
	}
}
