/** Maps `localhost` to the loopback address without a lookup, because a hosts file could point it elsewhere. */
export const toListenHost = (host: string): string => (host.toLowerCase() === "localhost" ? "127.0.0.1" : host);
