// The version line that clients parse.

/** The release whose protocol is followed. */
export const protocolRelease = "2.1.332";

/** Clients need a version first; the name says whose it is. */
export const claudeVersionText = `${protocolRelease} (agentwire)`;
