// Where the person writes: a prompt, or words for the turn that runs.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ContentPart } from "../../src/events/content.ts";
import {
	connection,
	conversation,
	description,
	mayControl,
	models,
	open,
	sendPrompt,
	stopTurn,
	trouble,
} from "../model/app.ts";

/** Bytes of one image. */
const largestImage = 5 * 1024 * 1024;
/** Milliseconds in which a second Escape stops the turn. */
const twice = 600;

interface Attached {
	readonly name: string;
	readonly address: string;
}

export function Composer() {
	const [text, setText] = useState("");
	const [images, setImages] = useState<readonly Attached[]>([]);
	const [isSending, setSending] = useState(false);
	const [chosen, setChosen] = useState(0);
	const field = useRef<HTMLTextAreaElement>(null);
	const lastEscape = useRef(0);
	const session = open.value;
	const isRunning = conversation.value?.turnId != null;
	const [isHidden, setHidden] = useState(false);
	const offered = isHidden ? [] : offersFor(text);
	const acceptsImages =
		models.value?.options.some(({ alias, accepts }) => accepts.image && alias === conversation.value?.model?.alias) ??
		false;

	useEffect(() => {
		setText("");
		setImages([]);
		field.current?.focus();
	}, [session?.id]);
	useEffect(() => {
		const area = field.current;
		if (area === null) return;
		area.style.height = "auto";
		area.style.height = `${Math.min(area.scrollHeight, innerHeight * 0.4)}px`;
	}, [text]);
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (event.key !== "Escape") return;
			const now = Date.now();
			if (now - lastEscape.current < twice) void stopTurn();
			lastEscape.current = now;
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, []);

	if (session === null) return null;
	if (!mayControl.value) return <p class="composer-note">This token may only look.</p>;

	const send = async (asSteer: boolean) => {
		const words = text.trim();
		if ((words === "" && images.length === 0) || isSending) return;
		const parts: ContentPart[] = [
			...(words === "" ? [] : [{ type: "text" as const, text: words }]),
			...images.map(({ address }) => ({ type: "image_url" as const, image_url: { url: address, id: null } })),
		];
		setSending(true);
		const isSent = await sendPrompt(images.length === 0 ? words : parts, asSteer);
		setSending(false);
		if (!isSent) return;
		setText("");
		setImages([]);
	};
	const attach = async (files: Iterable<File>) => {
		const read: Attached[] = [];
		for (const file of files) {
			if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type))
				trouble.value = `${file.name} is no image of a kind that models read.`;
			else if (file.size > largestImage) trouble.value = `${file.name} has more than 5 MB.`;
			else read.push({ name: file.name, address: await toAddress(file) });
		}
		setImages([...images, ...read].slice(0, 10));
	};
	const press = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (offered.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
			event.preventDefault();
			setChosen((chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
		} else if (offered.length > 0 && (event.key === "Tab" || (event.key === "Enter" && !text.includes(" ")))) {
			event.preventDefault();
			setText(`/${offered[chosen % offered.length]?.name ?? ""} `);
		} else if (event.key === "Escape" && offered.length > 0) setHidden(true);
		else if (event.key === "Enter" && !event.shiftKey) {
			event.preventDefault();
			void send(isRunning);
		}
	};
	return (
		<form
			class="composer"
			onSubmit={(event) => {
				event.preventDefault();
				void send(isRunning);
			}}
		>
			{offered.length > 0 && (
				<ul class="offers" role="listbox" aria-label="Commands">
					{offered.map(({ name, description: about }, index) => (
						<li key={name} role="option" aria-selected={index === chosen % offered.length}>
							<button type="button" onClick={() => setText(`/${name} `)}>
								<code>/{name}</code> <small>{about}</small>
							</button>
						</li>
					))}
				</ul>
			)}
			{images.length > 0 && (
				<ul class="attached" aria-label="Attached images">
					{images.map(({ name, address }, index) => (
						<li key={address}>
							<img src={address} alt={name} />
							<button
								type="button"
								aria-label={`Remove ${name}`}
								onClick={() => setImages(images.filter((_, at) => at !== index))}
							>
								×
							</button>
						</li>
					))}
				</ul>
			)}
			<textarea
				ref={field}
				rows={1}
				value={text}
				aria-label="Message"
				placeholder={isRunning ? "Say something while it works" : "What should be done?"}
				onInput={(event) => {
					setText(event.currentTarget.value);
					setHidden(false);
					setChosen(0);
				}}
				onKeyDown={press}
				onPaste={(event) => {
					const files = [...(event.clipboardData?.files ?? [])];
					if (files.length === 0) return;
					event.preventDefault();
					void attach(files);
				}}
			/>
			<div class="composer-row">
				{acceptsImages && (
					<label class="attach">
						<input
							type="file"
							accept="image/png,image/jpeg,image/gif,image/webp"
							multiple
							onChange={(event) => void attach(event.currentTarget.files ?? [])}
						/>
						<span>Attach</span>
					</label>
				)}
				<span class="hint">
					{connection.value === "offline" ? "Offline: it is sent again when the gateway is back" : ""}
				</span>
				{isRunning && (
					<button type="button" class="danger" onClick={() => void stopTurn()} title="Escape twice">
						Stop
					</button>
				)}
				<button type="submit" class="primary" disabled={isSending || (text.trim() === "" && images.length === 0)}>
					{isRunning ? "Steer" : "Send"}
				</button>
			</div>
		</form>
	);
}

/** The commands that begin as the text does, while only a command is being typed. */
function offersFor(text: string) {
	if (!/^\/[\w:.-]*$/.test(text)) return [];
	const begun = text.slice(1).toLowerCase();
	const all = description.value?.slashCommands ?? [];
	return all
		.filter(
			({ name, aliases }) => name.toLowerCase().startsWith(begun) || aliases.some((alias) => alias.startsWith(begun)),
		)
		.slice(0, 8);
}

function toAddress(file: File): Promise<string> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(String(reader.result));
		reader.onerror = () => reject(reader.error ?? new Error("The file cannot be read."));
		reader.readAsDataURL(file);
	});
}
