// Sessions that another `SessionsApi` serves. A subclass replaces the calls that it handles itself.

import type { SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { ModelList } from "../api/models.ts";
import type { ListQuery, SessionPage } from "../api/session-list.ts";
import type { CreationOptions, ForkOptions, OpeningOptions } from "../api/session-options.ts";
import type { SessionInfo, SkillInfo, StoredId } from "../api/session-state.ts";
import type { AgentEvent } from "../api/values/event.ts";
import type { ForkedSession } from "../api/values/file-changes.ts";

export abstract class ForwardedSessions implements SessionsApi {
	readonly takesEditorFiles: boolean;
	protected readonly sessions: SessionsApi;

	constructor(sessions: SessionsApi, takesEditorFiles = sessions.takesEditorFiles) {
		this.sessions = sessions;
		this.takesEditorFiles = takesEditorFiles;
	}

	create(options: CreationOptions): Promise<SessionHandle> {
		return this.sessions.create(options);
	}

	abstract acquire(id: string, options?: OpeningOptions): Promise<SessionHandle>;

	fork(id: string, options?: ForkOptions): Promise<ForkedSession> {
		return this.sessions.fork(id, options);
	}

	loaded(): Promise<readonly SessionInfo[]> {
		return this.sessions.loaded();
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.sessions.list(query);
	}

	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.sessions.storedEvents(session);
	}

	models(): Promise<ModelList> {
		return this.sessions.models();
	}

	skills(): Promise<readonly SkillInfo[]> {
		return this.sessions.skills();
	}

	skillText(name: string): Promise<string | null> {
		return this.sessions.skillText(name);
	}

	interrupt(id: string): Promise<boolean> {
		return this.sessions.interrupt(id);
	}

	unload(id: string): Promise<void> {
		return this.sessions.unload(id);
	}

	archive(id: string): Promise<void> {
		return this.sessions.archive(id);
	}

	unarchive(id: string): Promise<void> {
		return this.sessions.unarchive(id);
	}

	delete(id: string): Promise<void> {
		return this.sessions.delete(id);
	}

	abstract stop(): Promise<void>;
}
