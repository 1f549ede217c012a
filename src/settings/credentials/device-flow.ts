// Signs in on a device without a browser (RFC 8628): shows a code to the user, then polls until it is confirmed.
import * as v from "valibot";
import { withAdmissionNote } from "../../base/client-admission.ts";
import { sleep } from "../../base/clock.ts";
import { ask, type PlatformPort, toAddress } from "./exchange.ts";
import { invalidHost, readError, requestGrant, unsupportedType } from "./grant.ts";
import type { Platform } from "./platform.ts";
import type { Tokens } from "./token-file.ts";

/** The cause of a failed sign-in: the user did not confirm it, the platform failed, or the settings prevent it. */
export type SignInFault = "person" | "platform" | "settings";

export class SignInError extends Error {
	override readonly name = "SignInError";
	readonly fault: SignInFault;

	constructor(fault: SignInFault, message: string) {
		super(message);
		this.fault = fault;
	}
}

export interface DeviceCode {
	readonly secret: string;
	readonly userCode: string;
	readonly verificationUrl: string;
	/** Seconds from issue. */
	readonly expiresIn: number;
	/** Seconds between polls. */
	readonly interval: number;
}

const standardInterval = 5;
const standardLifetime = 900;

const url = v.pipe(v.string(), v.url(), v.regex(/^https?:/i));
const shownText = v.pipe(v.string(), v.nonEmpty(), v.regex(/^[^\p{Cc}]*$/u));
const duration = (standard: number) => v.fallback(v.pipe(v.number(), v.gtValue(0)), standard);

const deviceSchema = v.object({
	device_code: v.pipe(v.string(), v.nonEmpty()),
	user_code: shownText,
	verification_uri: v.fallback(v.nullable(url), null),
	verification_uri_complete: v.fallback(v.nullable(url), null),
	expires_in: duration(standardLifetime),
	interval: duration(standardInterval),
});

export async function requestDeviceCode(
	port: PlatformPort,
	platform: Platform,
	signal: AbortSignal,
): Promise<DeviceCode> {
	const address = toAddress(platform.oauthHost, "/api/oauth/device_authorization");
	if (address === null) throw new SignInError("settings", `Cannot sign in: ${invalidHost}.`);
	const answer = await ask(port, { url: address, form: { client_id: platform.clientId } }, signal);
	if (signal.aborted) throw stopped();
	if (answer.kind === "unreachable") {
		throw new SignInError("platform", `The sign-in server cannot be reached: ${answer.reason}.`);
	}
	const { status, body } = answer;
	if (status !== 200) {
		const { error, description } = readError(body, "");
		const reason = description ?? error ?? `${address.host} answered with HTTP ${status}`;
		throw toRefusal(error, withAdmissionNote(status, reason));
	}
	const parsed = v.safeParse(deviceSchema, body);
	const verificationUrl = parsed.success
		? (parsed.output.verification_uri_complete ?? parsed.output.verification_uri)
		: null;
	if (!parsed.success || verificationUrl === null) {
		throw new SignInError("platform", `The sign-in server ${address.host} did not send a code to sign in with.`);
	}
	const { device_code, user_code, expires_in, interval } = parsed.output;
	return { secret: device_code, userCode: user_code, verificationUrl, expiresIn: expires_in, interval };
}

/** Retries transient errors. Throws SignInError if the user refuses, the code expires, or the signal aborts. */
export async function waitForTokens(
	device: DeviceCode,
	port: PlatformPort,
	platform: Platform,
	signal: AbortSignal,
): Promise<Tokens> {
	const { clock } = port;
	const end = clock.monotonic() + device.expiresIn * 1000;
	let { interval } = device;
	let lastFailure = "";
	for (;;) {
		// A server may return an interval longer than the code's lifetime.
		await sleep(clock, Math.max(0, Math.min(interval * 1000, end - clock.monotonic())), signal);
		if (signal.aborted) throw stopped();
		if (clock.monotonic() >= end) throw expired(lastFailure);
		const grant = await requestGrant(
			port,
			platform,
			{ type: "urn:ietf:params:oauth:grant-type:device_code", name: "device_code", value: device.secret },
			signal,
		);
		if (grant.kind === "granted") return grant.tokens;
		if (signal.aborted) throw stopped();
		lastFailure = grant.kind === "failed" ? grant.reason : "";
		if (grant.kind === "failed" || grant.error === "authorization_pending") continue;
		if (grant.error === "slow_down") interval += standardInterval;
		else if (grant.error === "expired_token") throw expired("");
		else throw toRefusal(grant.error, grant.reason);
	}
}

function toRefusal(error: string | null, reason: string): SignInError {
	switch (error) {
		case "access_denied":
			return new SignInError("person", "The sign-in was refused in the browser.");
		case "invalid_client":
		case "unauthorized_client":
			return new SignInError(
				"settings",
				`The sign-in server does not know this program (${reason}). Set oauth_client_id in the [agentwire] table of config.toml to an id that it knows.`,
			);
		case unsupportedType:
			return new SignInError("platform", `The sign-in server sent no usable token: ${reason}.`);
		default:
			return new SignInError("platform", `The sign-in server refuses: ${reason}.`);
	}
}

function expired(lastFailure: string): SignInError {
	const why = lastFailure === "" ? "" : ` The last response of the sign-in server was: ${lastFailure}.`;
	return new SignInError("person", `Nobody confirmed the code in time.${why} Sign in again for a new one.`);
}

export function stopped(): SignInError {
	return new SignInError("person", "The sign-in was stopped.");
}
