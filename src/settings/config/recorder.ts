// The server of `agentwire record`, to which a recorded command sends its model requests.

/** Names its address. Below it is where a request is meant to go, as scheme, host and path. */
export const recorderVariable = "AGENTWIRE_RECORDER";

/** What precedes the address of a vendor that stands in for a variable that was not set: a provider of the settings wins. */
export const standIn = "unless-configured";

/** Whether the address came from `agentwire record` alone, and not from the user. */
export function isStandIn(address: string, environment: Readonly<Record<string, string | undefined>>): boolean {
	const recorder = environment[recorderVariable];
	return Boolean(recorder) && address.startsWith(`${recorder}/${standIn}/`);
}
