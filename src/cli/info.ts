import { protocolVersion } from "../formats/protocol-version.ts";
import { productName, productVersion } from "../host/product.ts";
import { remoteVersion } from "../remote/remote-version.ts";
import type { EnvironmentModel } from "../settings/config/environment-models.ts";
import { describeRuntime } from "./installation/runtime.ts";
import type { SandboxInfo } from "./sandbox-status.ts";
import type { StoreStatus } from "./store/store-status.ts";
import { agentSpecVersions, emulatedVersion } from "./version.ts";

/** One JSON line, or one labeled line per value, with newline. */
export function infoText(
	json: boolean,
	model: EnvironmentModel | null,
	sandbox: SandboxInfo = {},
	store: { readonly store?: StoreStatus } = {},
): string {
	const runtime = describeRuntime();
	const info = {
		kimi_cli_version: emulatedVersion,
		agent_spec_versions: agentSpecVersions,
		wire_protocol_version: protocolVersion,
		python_version: "n/a",
		server_name: productName,
		server_version: productVersion,
		worker_protocol_version: remoteVersion,
		runtime: runtime.name,
		runtime_version: runtime.version,
	};
	if (json)
		return `${JSON.stringify({ ...info, ...(model === null ? {} : { model_source: model }), ...sandbox, ...store })}\n`;
	return [
		`${productName} ${productVersion}`,
		`runtime: ${info.runtime} ${info.runtime_version}`,
		...(model === null ? [] : [`model: ${model.model} of ${model.provider}, with the key in ${model.variable}`]),
		`compatible with kimi-cli ${info.kimi_cli_version}`,
		`agent spec versions: ${info.agent_spec_versions.join(", ")}`,
		`wire protocol: ${info.wire_protocol_version}`,
		`worker protocol: ${info.worker_protocol_version}`,
		"",
	].join("\n");
}
