// Parses the listen address of a flag.

/** `localhost` is the loopback interface and not looked up: a list of hosts could lead it elsewhere. */
export const toListenHost = (host: string): string => (host.toLowerCase() === "localhost" ? "127.0.0.1" : host);
