// A chat route in the style of Next: POST {"session", "text"} streams the answer as text. The header `x-session` names the session,
// which the next message gives back.
import { connect, type Kernel } from "agentwire/client";

let connected: Promise<Kernel> | null = null;

/** One kernel for all requests of the server. */
export function kernel(): Promise<Kernel> {
	connected ??= connect({ client: { name: "chat-route", version: "1" } });
	return connected;
}

export async function POST(request: Request): Promise<Response> {
	const { session: id, text }: { session?: string; text: string } = await request.json();
	const session = await (await kernel()).open({
		...(id === undefined ? { workDir: process.cwd() } : { id }),
		approve: (ask) => ask.reject("This chat cannot approve anything."),
	});
	const turn = session.prompt(text, { signal: request.signal });
	const encoder = new TextEncoder();
	const body = new ReadableStream<Uint8Array>({
		async start(controller) {
			for await (const event of turn) {
				if (event.type === "text" && event.agent === null) controller.enqueue(encoder.encode(event.text));
			}
			const { outcome, error } = await turn;
			if (error !== null) controller.enqueue(encoder.encode(`\n(${outcome}: ${error.message})`));
			controller.close();
			await session.close();
		},
		cancel: () => turn.cancel(),
	});
	return new Response(body, { headers: { "content-type": "text/plain; charset=utf-8", "x-session": session.id } });
}
