// What the processes of the gateway's measurement share: one clock, and messages between them.

/** Milliseconds of a clock that all processes of the machine read alike. */
export const monotonicTime = (): number => Number(process.hrtime.bigint()) / 1e6;

export interface Peer<Incoming extends { readonly kind: string }, Outgoing> {
	send(message: Outgoing): void;
	/** The next message of this kind; those of other kinds are for others who wait. Fails when the other side is gone. */
	next<Kind extends Incoming["kind"]>(kind: Kind): Promise<Extract<Incoming, { readonly kind: Kind }>>;
}

interface Messages {
	send?(message: unknown): unknown;
	on(event: "message", listener: (message: unknown) => void): unknown;
	on(event: "disconnect", listener: () => void): unknown;
}

/** Messages to and from a process. Both sides are ours, so that what arrives has the form that was sent. */
export function peerOf<Incoming extends { readonly kind: string }, Outgoing>(
	messages: Messages,
): Peer<Incoming, Outgoing> {
	const arrived: Incoming[] = [];
	const waiting = new Map<string, { resolve(message: Incoming): void; reject(error: Error): void }>();
	let isGone = false;
	messages.on("message", (message) => {
		const one = message as Incoming;
		const waits = waiting.get(one.kind);
		if (waits === undefined) return void arrived.push(one);
		waiting.delete(one.kind);
		waits.resolve(one);
	});
	messages.on("disconnect", () => {
		isGone = true;
		for (const { reject } of waiting.values()) reject(new Error("The other process of the measurement is gone."));
	});
	return {
		send: (message) => void messages.send?.(message),
		async next(kind) {
			type Wanted = Extract<Incoming, { readonly kind: typeof kind }>;
			const index = arrived.findIndex((each) => each.kind === kind);
			if (index !== -1) return arrived.splice(index, 1)[0] as Wanted;
			if (isGone) throw new Error("The other process of the measurement is gone.");
			return (await new Promise<Incoming>((resolve, reject) => waiting.set(kind, { resolve, reject }))) as Wanted;
		},
	};
}

/** The parent of this process. */
export const childOf = <Incoming extends { readonly kind: string }, Outgoing>(): Peer<Incoming, Outgoing> => {
	process.on("disconnect", () => process.exit(1));
	return peerOf<Incoming, Outgoing>(process);
};
