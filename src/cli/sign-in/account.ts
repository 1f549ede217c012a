import { never } from "../../base/abort.ts";
import { isSystemError, KernelError, type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { redactSecrets } from "../../base/redaction.ts";
import type { Account } from "../../frontends/shared/dialect.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import { SignInError, type SignInFault } from "../../settings/credentials/device-flow.ts";
import { type SignInSettings, signIn, signOut } from "./sign-in.ts";

export interface AccountSettings extends Omit<SignInSettings, "report" | "signal"> {
	readonly log: Log;
	/** Reloads the settings file; new sessions use it. */
	reload(): Promise<void>;
}

export function createAccount(settings: AccountSettings): Account {
	const { log, reload } = settings;
	return {
		async signIn(show, signal) {
			const report: SignInSettings["report"] = ({ type, data }) => {
				if (type !== "verification_url" || data === null) return;
				show({ url: String(data["verification_url"]), code: String(data["user_code"]) });
			};
			await explained(() => signIn({ ...settings, signal, report }));
			log.info("Somebody signed in.");
			await explained(reload, "Signed in, but the settings cannot be used. ");
		},
		async signOut() {
			await explained(() => signOut({ ...settings, signal: never, report: () => {} }));
			log.info("The sign-in was removed.");
			await explained(reload, "Signed out, but the settings cannot be used. ");
		},
	};
}

const codes: Readonly<Record<SignInFault, KernelErrorCode>> = {
	person: "login-expired",
	platform: "provider-failed",
	settings: "invalid-input",
};

async function explained(work: () => Promise<void>, done = ""): Promise<void> {
	try {
		await work();
	} catch (thrown) {
		const code = codeOf(thrown);
		if (code === null) throw toKernelError(thrown);
		throw new KernelError(code, done + redactSecrets(fileFailureText(thrown)), { cause: thrown });
	}
}

function codeOf(thrown: unknown): KernelErrorCode | null {
	if (thrown instanceof SignInError) return codes[thrown.fault];
	if (thrown instanceof ConfigurationError) return "invalid-input";
	return isSystemError(thrown) ? "storage-failed" : null;
}
