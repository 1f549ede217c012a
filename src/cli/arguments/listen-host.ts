// The address that a flag names to listen on.

/** `localhost` is the loopback interface and not looked up: a list of hosts could lead it elsewhere. */
export const toListenHost = (host: string): string => (host.toLowerCase() === "localhost" ? "127.0.0.1" : host);
