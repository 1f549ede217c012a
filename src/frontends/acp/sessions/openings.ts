import type { SessionHandle } from "../../../api/kernel.ts";
import { plainCreation } from "../../../api/options.ts";
import type { OpeningOptions } from "../../../api/session-options.ts";
import { undo } from "../../../base/log.ts";
import { type ClientFiles, createClientFiles } from "../editor-files.ts";
import { toMcpServers } from "../mcp-servers.ts";
import { advised } from "../sign-in.ts";
import type { ForkSessionParams, OpenSessionParams } from "../wire.ts";
import type { AttachedSession } from "./attached-session.ts";
import type { Choices } from "./choices.ts";
import type { ClientSide } from "./client-side.ts";
import type { SessionAccess } from "./session-access.ts";

type Workspace = Omit<OpenSessionParams, "sessionId">;

type Answer = (sessionId: string, choices: Choices) => void;

type Show = (attached: AttachedSession) => Promise<void>;

export class Openings {
	readonly #side: ClientSide;
	readonly #sessions: SessionAccess;

	constructor(side: ClientSide, sessions: SessionAccess) {
		this.#side = side;
		this.#sessions = sessions;
	}

	async create(params: Workspace, answer: Answer): Promise<void> {
		const { sessions } = this.#side.kernelApi;
		const { files, opening } = this.#toOpening(params);
		const handle = await advised(() => sessions.create({ ...plainCreation, ...opening, workDir: params.cwd }));
		const attached = await this.#attachNew(handle);
		answer(handle.session.id, attached.choices);
		files?.begin(handle.session.id);
		attached.begin();
		await attached.view.sendCommands().finally(() => handle.release());
	}

	async #attachNew(handle: SessionHandle): Promise<AttachedSession> {
		try {
			const attached = await this.#sessions.attached.attach(handle);
			// The client gets its id, and may load it in a later process before prompting.
			await handle.session.send({ type: "session.establish" });
			return attached;
		} catch (thrown) {
			const discard = () => handle.discard();
			await undo(discard, "A session that nobody could be attached to was not removed.", this.#side.kernelApi.log);
			throw thrown;
		}
	}

	load(params: OpenSessionParams, answer: Answer, signal: AbortSignal): Promise<void> {
		return this.#open(params, ({ view }) => view.replay(signal).then(() => view.sendState()), answer);
	}

	resume(params: OpenSessionParams, answer: Answer): Promise<void> {
		return this.#open(params, ({ view }) => view.recall().then(() => view.sendState()), answer);
	}

	async fork({ sessionId, ...workspace }: ForkSessionParams, answer: Answer): Promise<void> {
		const { sessions } = this.#side.kernelApi;
		const options = { workDir: workspace.cwd, isOpenedAnew: true };
		const { id: forkId } = await this.#sessions.inOrder(sessionId, () =>
			this.#sessions.known(sessionId, () => sessions.fork(sessionId, options)),
		);
		try {
			// Before the answer the client does not know the id, so nothing is sent about it. No turn runs in it.
			await this.#open({ ...workspace, sessionId: forkId }, ({ view }) => view.recall(), answer);
		} catch (thrown) {
			// The client does not know it.
			await sessions.delete(forkId);
			throw thrown;
		}
	}

	#open(params: OpenSessionParams, show: Show, answer: Answer): Promise<void> {
		const { sessionId } = params;
		return this.#sessions.inOrder(sessionId, async () => {
			const { files, opening } = this.#toOpening(params);
			const handle = await this.#sessions.acquire(sessionId, opening);
			try {
				const attached = await this.#sessions.attached.renew(handle, async (shown) => {
					await show(shown);
					answer(sessionId, shown.choices);
					files?.begin(sessionId);
				});
				await attached.view.sendCommands();
			} finally {
				handle.release();
			}
		});
	}

	#toOpening(params: Workspace): { readonly files: ClientFiles | null; readonly opening: OpeningOptions } {
		const { kernelApi, peer, gone } = this.#side;
		const { sessions, identifiers } = kernelApi;
		const files = sessions.takesEditorFiles
			? createClientFiles(this.#side.client().capabilities, peer, identifiers, gone)
			: null;
		const opening: OpeningOptions = {
			addedMcpServers: toMcpServers(params.mcpServers),
			additionalDirs: params.additionalDirectories,
			...(files === null ? {} : { editorFiles: files.port }),
		};
		return { files, opening };
	}
}
