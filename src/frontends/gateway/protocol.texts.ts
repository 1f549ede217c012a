import type { OwnMethodName } from "./protocol.ts";

export const ownMethodTexts: Readonly<Record<OwnMethodName, string>> = {
	"models.offered":
		"Asks a provider which models it offers for a key, which also checks the key. `compatible` needs `baseUrl`.",
	"models.configure":
		"Adds a model with its key to the user's settings file (mode 0600). It becomes the default if there is none. No answer contains the key.",
	"account.sign-in":
		"Starts a sign-in to the Kimi platform unless one is in progress; `account.status` returns the address and the code to confirm there.",
	"account.status": "Returns the state of the sign-in.",
	"account.cancel": "Cancels a sign-in in progress.",
	"sessions.demo":
		"Creates a session with a scripted model in a separate project, to show what a session is like without a key. `input` is the prompt its model expects; start the turn once a stream can answer what it asks.",
	"directories.find":
		"Completes the path of a directory on the gateway's machine: `path` is what was typed, absolute (`~` is the home directory), and `directories` the first that it may become. Empty if workers run the sessions.",
	"workers.list":
		"Lists the running workers (docs/guides/scale.md) with their protocol version (null if none was announced) and, in `notUsable`, why this gateway cannot use one. Null if the gateway runs its sessions itself.",
	"queue.list": "Lists the queued prompts, as the stream's `queue` shows them.",
	"queue.add":
		"Queues a prompt, with files as in `turn.start`. It is sent when the running turn finishes, or at once when nothing runs or waits. After a turn that failed or was cancelled the queue is paused until one prompt is sent with `queue.send` or another turn finishes. The queue survives a restart.",
	"queue.change": "Replaces the text of a queued prompt.",
	"queue.remove": "Removes a queued prompt.",
	"queue.send": "Sends a queued prompt now: into the running turn, or as a new turn.",
};
