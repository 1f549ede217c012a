import path from "node:path";
import { errorText } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { addManagedProvider, type ManagedEdit, removeManagedProvider } from "../../settings/config/managed-provider.ts";
import { textToChange } from "../../settings/config/settings-text.ts";
import { persistTokens, removeTokens } from "../../settings/credentials/access.ts";
import { requestDeviceCode, SignInError, waitForTokens } from "../../settings/credentials/device-flow.ts";
import type { PlatformPort } from "../../settings/credentials/exchange.ts";
import { listModels } from "../../settings/credentials/model-list.ts";
import { platformKey, platformName, toPlatform } from "../../settings/credentials/platform.ts";
import { tokenFile } from "../../settings/credentials/token-file.ts";
import type { ReportSignIn } from "./sign-in-events.ts";

export interface SignInSettings extends PlatformPort {
	readonly files: Files;
	readonly shareDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly report: ReportSignIn;
	readonly signal: AbortSignal;
}

/** Writes nothing until the user has confirmed and the models are known. */
export async function signIn(settings: SignInSettings): Promise<void> {
	const { files, shareDir, environment, report, signal } = settings;
	// Reports invalid settings before the user opens a browser. Creates a missing file.
	const { configuration } = await readConfiguration({ kind: "default", shareDir }, files, silentLog);
	const platform = toPlatform(environment, configuration.agentwire);
	const device = await requestDeviceCode(settings, platform, signal);
	report({
		type: "verification_url",
		message: "Open this address in a browser and confirm that the code is the same there:",
		data: { verification_url: device.verificationUrl, user_code: device.userCode },
	});
	report({ type: "waiting", message: "Waiting for the confirmation …", data: null });
	const tokens = await waitForTokens(device, settings, platform, signal);
	const models = await listModels(settings, platform, tokens.accessToken, signal);
	await persistTokens({ ...settings, file: tokenFile(shareDir, platformName) }, tokens);
	const { defaultModel } = await editSettings(settings, "Signed in", (text, file) =>
		addManagedProvider(text, file, { baseUrl: platform.baseUrl, key: platformKey, models }),
	);
	const names = models.map(({ id }) => `kimi-code/${id}`);
	report({ type: "info", message: `Models: ${names.join(", ")}. Default: ${defaultModel}.`, data: null });
	report({ type: "success", message: "Signed in.", data: null });
}

export async function signOut(settings: SignInSettings): Promise<void> {
	const { files, shareDir, report } = settings;
	const hadTokens = await removeTokens({ ...settings, file: tokenFile(shareDir, platformName) });
	const isConfigured = (await files.status(settingsFile(shareDir))) !== null;
	if (isConfigured) await editSettings(settings, "Signed out", removeManagedProvider);
	report({ type: "success", message: hadTokens ? "Signed out." : "Nobody was signed in.", data: null });
}

const settingsFile = (shareDir: string) => path.join(shareDir, "config.toml");

/** `done` names the steps already completed, which stay done if the file cannot be edited. */
async function editSettings(
	{ files, clock, shareDir }: SignInSettings,
	done: string,
	edit: (text: string, file: string) => Promise<ManagedEdit>,
): Promise<ManagedEdit> {
	const file = settingsFile(shareDir);
	try {
		return await withLock({ files, clock }, file, async () => {
			const text = await readText(files, file);
			const edited = await edit(text, file);
			if (edited.text !== text) await files.replace(file, edited.text, { inPlaceIfNeeded: true, sync: true });
			return edited;
		});
	} catch (thrown) {
		const again = "Fix it and run the command again.";
		throw new SignInError("settings", `${done}, but the settings file was not changed. ${errorText(thrown)}\n${again}`);
	}
}

async function readText(files: Files, file: string): Promise<string> {
	return textToChange((await files.read(file)) ?? Buffer.alloc(0), file);
}
