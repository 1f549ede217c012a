import type { EventBody } from "../../api/values/event.ts";
import { createSlashCommands, type SlashCommands } from "../commands/slash-commands.ts";
import { SessionRewind } from "../rewind/session-rewind.ts";
import { SessionAgent } from "./session-agent.ts";
import { SessionDecisions } from "./session-decisions.ts";
import { SessionEvents } from "./session-events.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionTitle, type TitleParts } from "./session-title.ts";
import { SessionWork } from "./session-work.ts";
import { SideQuestions } from "./side-questions.ts";
import { suggestTitle } from "./title-suggestion.ts";

/** The parts of a session, each built from those before it. */
export class AssembledSession {
	readonly events: SessionEvents;
	readonly decisions: SessionDecisions;
	readonly work: SessionWork;
	readonly agent: SessionAgent;
	readonly sideQuestions: SideQuestions;
	readonly title: SessionTitle;
	readonly rewind: SessionRewind;
	readonly commands: SlashCommands;

	constructor(parts: SessionParts) {
		this.events = new SessionEvents(parts);
		this.decisions = new SessionDecisions(parts, this.events);
		this.work = new SessionWork(parts, this.events, this.decisions);
		this.agent = new SessionAgent(parts, this.events, this.decisions, this.work);
		this.sideQuestions = this.#createSideQuestions(parts);
		this.title = this.#createTitle(parts);
		this.rewind = this.#createRewind(parts);
		this.commands = this.#createCommands(parts);
	}

	/** Another process has written the session: cached data is read again. */
	reload(): void {
		this.events.emitter.reload();
		this.agent.main.forget();
		this.work.budgets.reload();
		this.work.notifications.forget();
		this.work.background.forget();
		this.work.sessionFiles.forget();
	}

	#createSideQuestions({ stored, identifiers, log }: SessionParts): SideQuestions {
		const { emitter } = this.events;
		const { hooks } = this.decisions;
		const agent = () => this.agent.main.load();
		return new SideQuestions({ ...this.#aside(stored.id), identifiers, log, hooks, agent, emitter });
	}

	#aside(cacheKey: string) {
		const { budgets, services: retries } = this.work;
		return { budget: budgets.inTurn.outsideTurns(), cacheKey, retries };
	}

	#createTitle({ stored, titles, log }: SessionParts): SessionTitle {
		const emit: SessionEvents["emitOutside"] = (body, state) => this.events.emitOutside(body, state);
		const agent = async () => {
			await this.events.turn.running?.ended;
			return await this.agent.main.load();
		};
		const suggestion = { ...this.#aside(stored.id), agent, emit };
		const suggest: TitleParts["suggest"] = (input, signal) => suggestTitle(input, suggestion, signal);
		return new SessionTitle({ stored, emit, suggest: titles === "model" ? suggest : null, log });
	}

	#createRewind({ stored, judge, identifiers }: SessionParts): SessionRewind {
		const emit = async (body: EventBody) => this.events.emitSynced(body);
		const { sessionFiles: files } = this.work;
		return new SessionRewind({ stored, files, main: this.agent.main, judge, identifiers, emit });
	}

	#createCommands(parts: SessionParts): SlashCommands {
		const { commands = [], passesUnknownCommands: passesUnknown } = parts;
		const { files, home } = parts.planPlace;
		const { plan, mode } = this.decisions;
		const own = { plan, mode, rewind: this.rewind, turnId: () => this.events.turn.id };
		return createSlashCommands({ ...parts, ...own, commands, passesUnknown, files, home });
	}
}
