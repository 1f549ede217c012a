// The `info` command: versions, for clients that check them before they start a server.
import { protocolVersion } from "../messages/protocol-version.ts";
import type { SandboxInfo } from "./sandbox-status.ts";
import { agentSpecVersions, emulatedVersion, productName, productVersion } from "./version.ts";

/**
 * What `info` prints, with its newline: one line of JSON, or one labelled line for each value. The JSON has the status of
 * the sandbox as well, if the settings ask for one.
 */
export function infoText(json: boolean, sandbox: SandboxInfo = {}): string {
	const info = {
		kimi_cli_version: emulatedVersion,
		agent_spec_versions: agentSpecVersions,
		wire_protocol_version: protocolVersion,
		python_version: "n/a",
		server_name: productName,
		server_version: productVersion,
	};
	if (json) return `${JSON.stringify({ ...info, ...sandbox })}\n`;
	return [
		`kimi-cli version: ${info.kimi_cli_version}`,
		`agent spec versions: ${info.agent_spec_versions.join(", ")}`,
		`wire protocol: ${info.wire_protocol_version}`,
		`python version: ${info.python_version}`,
		`server name: ${info.server_name}`,
		`server version: ${info.server_version}`,
		"",
	].join("\n");
}
