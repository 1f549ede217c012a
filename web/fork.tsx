// How a fork begins: from the end or from before a message, in the same directory or in a copy of the files. Loaded when it is
// opened for the first time.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Result } from "../src/frontends/gateway/protocol.ts";
import { Facts } from "./rewind.tsx";
import { findDirectories, fork, forking, open, workDir } from "./store.ts";

type Forked = Result<"sessions.fork">;

const places = ["same", "copy", "worktree"] as const;
type Place = (typeof places)[number];

export function ForkDialog({ before, prompt }: NonNullable<typeof forking.value>): JSX.Element {
	const dialog = useRef<HTMLDialogElement>(null);
	const [place, setPlace] = useState<Place>("same");
	const [directory, setDirectory] = useState(`${workDir.value}-fork`);
	const [isBusy, setBusy] = useState(false);
	const [failure, setFailure] = useState<string | null>(null);
	const [forked, setForked] = useState<Forked | null>(null);
	useEffect(() => {
		dialog.current?.showModal();
		freeDirectory(workDir.value).then(setDirectory, () => {});
	}, []);
	const close = () => (forking.value = null);
	const begin = async () => {
		setBusy(true);
		setFailure(null);
		try {
			const files =
				place === "same" ? null : { directory: directory.trim(), ...(place === "worktree" ? { worktree: true } : {}) };
			const done = await fork(before, files);
			if (done.left.length + done.reasons.length > 0) return setForked(done);
			close();
			open(done.sessionId);
		} catch (thrown) {
			setFailure(thrown instanceof Error ? thrown.message : String(thrown));
		} finally {
			setBusy(false);
		}
	};
	const moment = before === null ? "as they are now" : "as they were before this message";
	const words: Readonly<Record<Place, readonly [title: string, about: string]>> = {
		same: ["In the same directory", "both sessions change the same files"],
		copy: ["In a new directory, with the files", `${moment}, without .git`],
		worktree: ["In a new git worktree, with the files", `${moment}; git registers it in the repository's .git`],
	};
	return (
		<dialog ref={dialog} class="rewind" aria-label="Fork" onClose={close}>
			{forked === null ? (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						void begin();
					}}
				>
					<h2>{before === null ? "Fork this session?" : "Fork before this message?"}</h2>
					{before === null ? null : (
						<p class="quiet quoted" dir="auto">
							{prompt}
						</p>
					)}
					<p class="quiet">A copy of the conversation continues as its own session.</p>
					{places.map((each) => (
						<label class="option" key={each}>
							<input type="radio" name="place" checked={place === each} onChange={() => setPlace(each)} />
							<span>
								{words[each][0]} <span class="quiet">{words[each][1]}</span>
							</span>
						</label>
					))}
					{place === "same" ? null : (
						<label>
							New directory
							<input
								class="mono"
								autocomplete="off"
								spellcheck={false}
								required
								value={directory}
								onInput={(event) => setDirectory(event.currentTarget.value)}
							/>
						</label>
					)}
					{failure === null ? null : (
						<p class="warning-text" role="alert">
							{failure}
						</p>
					)}
					<div class="answers">
						<button type="submit" class="main" disabled={isBusy}>
							{isBusy ? "Forking …" : "Fork"}
						</button>
						<button type="button" onClick={close}>
							Cancel
						</button>
					</div>
				</form>
			) : (
				<form method="dialog" onSubmit={() => open(forked.sessionId)}>
					<h2>Forked, but not all files could be copied</h2>
					<p class="quiet mono">{forked.workDir}</p>
					<Facts title="Not copied" facts={forked.left.map(({ path, reason }) => `${path}: ${reason}`)} />
					<Facts title="Not known for certain" facts={forked.reasons} />
					<div class="answers">
						<button type="submit" class="main">
							Open the fork
						</button>
						<button type="button" onClick={close}>
							Stay here
						</button>
					</div>
				</form>
			)}
		</dialog>
	);
}

/** A directory beside this one whose name is free. */
async function freeDirectory(taken: string): Promise<string> {
	const wanted = `${taken}-fork`;
	const { directories } = await findDirectories(wanted);
	for (let number = 1; ; number += 1) {
		const name = number === 1 ? wanted : `${wanted}-${number}`;
		if (!directories.includes(name)) return name;
	}
}
