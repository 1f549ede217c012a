import { never } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import { createSharedRun } from "../../base/shared-run.ts";
import type { SandboxSettings } from "../../settings/config/configuration.ts";
import type { Files } from "../files/port.ts";
import type { Sockets } from "../network/connections/sockets.ts";
import type { Confinement, Processes, RunOutcome } from "../processes/port.ts";
import { type Denial, explainFailure } from "./failure.ts";
import { type PolicyPlace, type SandboxRoots, toConfinement } from "./policy.ts";
import type { PrivateProxy } from "./proxy/private-proxy.ts";

export interface SandboxPlace extends PolicyPlace {
	readonly environment: Readonly<Record<string, string>>;
	readonly files: Pick<Files, "list" | "makeDirectory" | "remove" | "status">;
	readonly processId: number;
	readonly processes: Processes;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
	/** Default: system sockets. */
	readonly sockets?: Sockets;
}

export type SandboxStatus =
	| { readonly kind: "active"; readonly mode: "workspace-write" | "read-only" }
	/** A sandbox is configured but unavailable: a clause without a period. Commands do not start. */
	| { readonly kind: "none"; readonly why: string }
	| { readonly kind: "off" };

export interface Sandbox {
	/** Success is cached; failure, as on a busy machine, is rechecked each time. */
	status(): Promise<SandboxStatus>;
	/** Null when the sandbox is off. Rejects when the proxy cannot start. */
	confinementFor(roots: SandboxRoots): Promise<Confinement | null>;
	/** `since` (monotonic milliseconds) ignores earlier proxy refusals. */
	explainFailure(outcome: RunOutcome, confinement: Confinement, since?: number): string | null;
	close(): Promise<void>;
}

const denialLimit = 100;

/** Milliseconds for the trial command. */
const trialTimeout = 5000;

/** Starts nothing before first use. */
export function createSandbox(settings: SandboxSettings, place: SandboxPlace): Sandbox {
	const { clock } = place;
	const denials: Denial[] = [];
	let working: SandboxStatus | null = null;

	const proxy = new OnFirstUse(async (): Promise<PrivateProxy> => {
		const [{ startPrivateProxy }, { systemSockets }] = await Promise.all([
			import("./proxy/private-proxy.ts"),
			import("../network/connections/sockets.ts"),
		]);
		const [temporaryDir = "/tmp"] = place.temporaryDirs;
		const [shareDir = temporaryDir] = place.shareDirs;
		const proxyPlace = { ...place, shareDir, temporaryDir, sockets: place.sockets ?? systemSockets };
		return await startPrivateProxy(settings.allowedDomains, proxyPlace, (host, why) => {
			denials.push({ host, why, at: clock.monotonic() });
			if (denials.length > denialLimit) denials.shift();
		});
	});

	const confinementFor = async (roots: SandboxRoots): Promise<Confinement | null> => {
		if (settings.mode === "off" || settings.network !== "proxy") {
			const kind = settings.network === "host" ? "host" : "none";
			return toConfinement(settings, place, roots, { kind });
		}
		const { socket, directory } = await proxy.get();
		const secretFiles = [...(place.secretFiles ?? []), directory];
		return toConfinement(settings, { ...place, secretFiles }, roots, { kind: "proxy", socket });
	};

	const tryOut = createSharedRun(async (): Promise<SandboxStatus> => {
		if (settings.mode === "off") return { kind: "off" };
		const confinement = await confinementFor({ workDir: "/", additionalDirs: [] });
		if (confinement === null) return { kind: "off" };
		const trial = { file: "/bin/sh", arguments: ["-c", "exit 7"], workDir: "/", outputLimit: 1000 };
		const { environment } = place;
		// With the root directory as working directory, everything would be writable.
		const narrow = { ...confinement, writable: [], readOnly: [], missingAsFiles: [], removed: [] };
		const { ended } = await place.processes.run(
			{ ...trial, environment, timeout: trialTimeout, confinement: narrow },
			never,
		);
		if (ended.kind === "exited" && ended.exitCode === 7) return { kind: "active", mode: settings.mode };
		return { kind: "none", why: whyNone(ended) };
	});

	return {
		async status() {
			if (working !== null) return working;
			const status = await tryOut();
			if (status.kind === "active") working = status;
			return status;
		},
		confinementFor,
		explainFailure: (outcome, confinement, since = 0) =>
			explainFailure(
				outcome,
				confinement,
				confinement.network.kind === "proxy" ? denials.filter(({ at }) => at >= since) : [],
			),
		async close() {
			const running = await proxy.made();
			proxy.forget();
			await running?.close();
		},
	};
}

function whyNone(ended: RunOutcome["ended"]): string {
	switch (ended.kind) {
		case "not-started":
			return ended.reason.replace(/^The sandbox cannot be applied: /, "").replace(/\.$/, "");
		case "timed-out":
			return "a trial command took too long";
		case "exited":
			return `a trial command ended with exit code ${ended.exitCode}`;
		case "signalled":
			return `a trial command was ended by ${ended.signal}`;
		case "aborted":
			return "a trial command was aborted";
	}
}
