import type { SessionsApi } from "../../api/kernel.ts";
import type { StoredId } from "../../api/session-state.ts";
import { systemClock } from "../../base/clock.ts";
import type { Account } from "../../frontends/shared/dialect.ts";
import type { ComposedHost } from "../../host/create-host.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import { productVersion } from "../../host/product.ts";
import type { HostServices } from "../../kernel/compose/host-services.ts";
import type { SessionOptions } from "../../kernel/compose/session-options.ts";
import { toSessionDirectory } from "../../ports/store/disk/session-directory.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { AccountSettings } from "../sign-in/account.ts";
import type { RealmPlace, SettingsSource } from "./source.ts";
import type { OpenHostWith } from "./started-kernel.ts";

export interface HostOpening {
	readonly host: ComposedHost;
	readonly source: SettingsSource;
	readonly realm: RealmPlace | null;
	/** Replaces the home directory for settings of other programs; null for none. */
	readonly userConfigRoot: string | null;
	readonly workDir: string;
	readonly sessionOptions: SessionOptions;
	readonly log: LogFile;
	/** Lets other processes attach to these sessions. */
	listen(sessions: SessionsApi): void;
}

export function createHostOpener(opening: HostOpening): OpenHostWith {
	const { host, source, realm, userConfigRoot, workDir, sessionOptions, log } = opening;
	const { settings, own, admit } = host;
	const { environment, shareDir, home, network, clock, identifiers, files } = host.hostServices;
	const account = createProgramAccount(source, {
		environment,
		files: own,
		shareDir,
		network,
		log,
		reload: () => settings.reload(),
	});
	return async (name, asked, hostOptions = {}) => {
		const contract = asked ?? settings.current().agentwire.contract;
		const { attaches = false, ...parts } = hostOptions;
		const [hosted, { createSettingsDocuments }, dialects] = await Promise.all([
			host.openSessions(sessionOptions, parts),
			import("../../kernel/hosting/settings-documents.ts"),
			name === null
				? []
				: import("../../frontends/serve/host-dialects.ts").then(({ hostOffers }) =>
						hostOffers[name]({
							contract,
							realm,
							codex: toCodexPlace(shareDir, settings.current().sandbox, host.sharedStore === null),
						}),
					),
		]);
		const documents = createSettingsDocuments({
			files: files.admitting(admit),
			clock,
			workDir,
			home: userConfigRoot ?? home,
			...(realm === null ? {} : { only: realm.directory }),
		});
		const setup =
			account === null
				? null
				: {
						files: own,
						clock,
						shareDir,
						network,
						account,
						reload: () => settings.reload(),
						extend: settings.extend,
					};
		opening.listen(hosted);
		const attach = async () => {
			const { attachToOwners } = await import("./attached-processes.ts");
			return attachToOwners(hosted, host.kernel, { shareDir, files: own, log });
		};
		const isAlone = !attaches || host.sharedStore !== null || sessionOptions.takesOver === true || realm !== null;
		const sessions = isAlone ? hosted : await attach();
		const faultOwner = () => hosted.faultOwner();
		return { dialects, sessions, account, setup, documents, clock, identifiers, faultOwner };
	};
}

function toCodexPlace(home: string, { mode, network }: Configuration["sandbox"], isOnDisk: boolean) {
	return {
		home,
		sandbox: mode === "off" ? ("danger-full-access" as const) : mode,
		hasNetwork: network !== "none",
		directoryOf: (session: StoredId) => (isOnDisk ? toSessionDirectory(home, session) : null),
	};
}

function createProgramAccount(
	source: SettingsSource,
	{ network, ...settings }: Omit<AccountSettings, "fetch" | "clock" | "version"> & Pick<HostServices, "network">,
): Account | null {
	if (source.kind !== "default") return null;
	const load = async () => {
		const { createAccount } = await import("../sign-in/account.ts");
		return createAccount({ ...settings, fetch: network.fetch, clock: systemClock, version: productVersion });
	};
	return {
		signIn: async (show, signal) => (await load()).signIn(show, signal),
		signOut: async () => (await load()).signOut(),
	};
}
