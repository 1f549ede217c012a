// A bot for a chat with channels. Messages come as lines of JSON on stdin, {"channel", "text"}, and go out so on stdout: put the
// client of your chat in their place. Each channel has a session; what the agent wants to do, the channel approves by "yes".
import { createInterface } from "node:readline";
import { type Approval, connect, type Session } from "agentwire/client";

const post = (channel: string, text: string) => console.log(JSON.stringify({ channel, text }));

class Channel {
	readonly #name: string;
	readonly #session: Promise<Session>;
	#asked: Approval | null = null;
	#work: Promise<void> = Promise.resolve();

	constructor(name: string, open: (approve: (ask: Approval) => void) => Promise<Session>) {
		this.#name = name;
		this.#session = open((ask) => {
			this.#asked = ask;
			post(name, `May I? ${ask.tool}: ${ask.description}`);
		});
	}

	async take(text: string): Promise<void> {
		const asked = this.#asked;
		this.#asked = null;
		if (asked !== null) {
			await (text === "yes" ? asked.once() : asked.reject(text));
			return;
		}
		// One turn at a time: what is written meanwhile follows.
		this.#work = this.#work.then(async () => {
			const { outcome, text: answer, error } = await (await this.#session).prompt(text);
			post(this.#name, outcome === "finished" ? answer : `Sorry: ${error?.message ?? outcome}`);
		});
	}

	idle(): Promise<void> {
		return this.#work;
	}
}

const kernel = await connect({ client: { name: "chat-bot", version: "1" } });
const channels = new Map<string, Channel>();
for await (const line of createInterface({ input: process.stdin })) {
	const { channel: name, text }: { channel: string; text: string } = JSON.parse(line);
	const channel =
		channels.get(name) ??
		new Channel(name, (approve) => kernel.open({ workDir: process.cwd(), approve, labels: { channel: name } }));
	channels.set(name, channel);
	await channel.take(text);
}
await Promise.all([...channels.values()].map((channel) => channel.idle()));
await kernel.close();
