// The server of `agentwire record`, which receives a recorded command's model requests.

/** Contains the server address. Request destinations are appended as scheme, host and path. */
export const recorderVariable = "AGENTWIRE_RECORDER";

/** Prefix of a recorder address that replaces an unset variable: a configured provider wins over it. */
export const standIn = "unless-configured";

/** Whether `agentwire record` set the address, not the user. */
export function isStandIn(address: string, environment: Readonly<Record<string, string | undefined>>): boolean {
	const recorder = environment[recorderVariable];
	return Boolean(recorder) && address.startsWith(`${recorder}/${standIn}/`);
}
