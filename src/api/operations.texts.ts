// A sentence or two per public operation, for the documents only. The program does not import this file.
import type { OperationName } from "./operations.ts";

export const operationTexts: Readonly<Record<OperationName, string>> = {
	"server.info": "Returns the server's name and version and what the caller may do.",
	"models.list": "Lists the configured models and the one a new session gets.",
	"skills.list": "Lists the skills available in the server's work directory.",
	"sessions.list":
		"Lists the stored sessions, most recently used first, a page at a time: `after` is the `next` of the previous page.",
	"sessions.loaded":
		"Lists the sessions created or opened since the server started, and whether each runs a turn or waits for an answer.",
	"sessions.create":
		"Creates a session. Whatever is absent comes from the settings and the server's command line. `environment` and `mcpServers` are never stored: give them again when you reopen the session. With workers (docs/guides/scale.md), `needs` lists tags that a worker must have, and `owner` names who the session belongs to: workers are shared fairly among owners.",
	"sessions.fork":
		"Creates a session that starts with a copy of this one, of its first `messages` messages, or of what was `before` a turn. It works in the same directory, or with `files` in a new `directory` with a copy of the files as they were then; `worktree` consents to `git worktree add` in the repository. What could not be copied is `left`, and `reasons` says why more may differ. Fails `busy` while a turn runs, `invalid-input` for a directory that is in use, and `unsupported` where nothing is recorded (docs/guides/rewind.md).",
	"sessions.rename":
		"Gives a session a title of at most 200 characters on one line. Every client receives `title.changed`.",
	"sessions.archive": "Archives a session: cancels its turn and hides it. Its files stay.",
	"sessions.unarchive": "Restores an archived session. Idempotent.",
	"sessions.delete": "Deletes a session with all its files. Idempotent.",
	"session.snapshot":
		"Returns the state of a session: mode, model, open interactions, and the unfinished part of a running turn.",
	"session.description":
		"Returns what does not change while a session is loaded: commands, hooks, models, sandbox, and the available modes.",
	"session.history":
		"Returns stored events after a cursor, or from the beginning, oldest first, at most `limit` (200) of them; `isEnd` marks the last page.",
	"session.attach":
		"Attaches the client to a session and streams its events: those after the cursor `after`, or from now on. With `answers` the client answers approvals and questions; they stay open while it is away. `tools` and `hooks` are the client's own, each called through an interaction. `replaces` names an earlier attachment of the same client. Over HTTP: `POST /events`; over stdio, pull batches with `stream.next`.",
	"session.background-tasks":
		"Lists the background tasks that are running, or whose end has not been reported to the model yet.",
	"session.change-mcp-servers": "Adds, removes or reloads an MCP server of the session from its next turn on.",
	"background-task.stop":
		"Stops a background task: its command with everything it started, or its subagent. `stopped` says whether it was running.",
	"files.find":
		"Finds files and directories in the work directory whose path contains the letters of `query` in order, best matches first, at most 50. Ignored files and files that no model may read are left out.",
	"files.changes":
		"Lists what the turns and restores of the session changed in its directories, oldest first, with added and removed lines; with `id` only that turn or restore. Paths are relative to the work directory. Fails `unsupported` if nothing is recorded (docs/guides/rewind.md).",
	"files.diff": "Returns the lines that one turn or restore changed in a file; `blocks` is null if it is not text.",
	"files.plan":
		"Reports what `files.restore` would do, without doing it: each path with its action and lines, conflicts, paths that cannot be restored (`uncovered`) and what others have changed since (`outside`).",
	"files.restore":
		"Restores files to their state before a turn or an earlier restore. `conflicts` are paths that have changed since: `stop` (the default) then restores nothing, `skip` leaves them, `take` restores them too. `id` of the result undoes the restore. Fails `busy` while a turn runs.",
	"session.rewind":
		"Rewinds to before a turn: the files, the conversation, or both (the default). With `dryRun`, only reports what would happen. Every client receives `files.restored` and `session.rewound`; the events of the turns stay in the history. Fails `busy` while a turn runs.",
	"turn.start":
		"Starts a turn; `turn.ended` reports its end. Fails `busy` while one runs, here or, with that process in `data.running_elsewhere`, in another process; `takeOver` ends a turn there. `files`, base64-encoded, follow the input: images, audio and video that the model accepts, and text. `options` apply to this turn alone. With a `key`, sending the request again returns the same turn, also after a restart (the last 64 keys of a session).",
	"turn.steer": "Adds input to the running turn, with files as in `turn.start`. Fails `no-turn` when none runs.",
	"turn.cancel": "Cancels the running turn. Fails `no-turn` when none runs.",
	"turn-options.set": "Changes the options that later turns get unless they bring their own; null removes one.",
	"mode.set": "Sets the mode of a session.",
	"model.set":
		"Chooses the model for the next turns by its alias, and whether it thinks; null keeps the current value.",
	"context.add":
		"Adds a system message to the context between turns. With a `name` it is added once. Fails `busy` while a turn runs.",
	"side-question.start": "Asks a question while a turn runs; `side-question.ended` reports the answer.",
	"side-question.cancel": "Stops answering a side question.",
	"interaction.respond":
		"Answers a request. The first answer wins: `settled` says whether it was this one, `by` whose it was.",
};
