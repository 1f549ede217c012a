// Files that go with a prompt: read in the browser, bounded as the gateway bounds them, and shown before they are sent.
import type { JSX } from "preact";
import type { PromptFile } from "../src/api/values/prompt-file.ts";

/** As the gateway bounds a prompt. */
const fileLimit = 20;
const bytesLimit = 20 * 1024 * 1024;

/** The content of files as a prompt takes them. Fails with a text for people when they are too many or too large. */
export async function readFiles(present: readonly PromptFile[], files: readonly File[]): Promise<PromptFile[]> {
	if (present.length + files.length > fileLimit) throw new Error(`A prompt can have at most ${fileLimit} files.`);
	const size =
		present.reduce((sum, { data }) => sum + (data.length * 3) / 4, 0) + files.reduce((sum, file) => sum + file.size, 0);
	if (size > bytesLimit) throw new Error("The files of a prompt can have at most 20 MiB together.");
	return await Promise.all(files.map(readFile));
}

function readFile(file: File): Promise<PromptFile> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => {
			const address = typeof reader.result === "string" ? reader.result : "";
			const name = file.name === "" ? "pasted" : file.name;
			resolve({ name: name.slice(-255), type: file.type, data: address.slice(address.indexOf(",") + 1) });
		};
		// As for a directory, which looks like a file when it is dropped.
		reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
		reader.readAsDataURL(file);
	});
}

const isShown = ({ type }: PromptFile) => /^image\/(png|jpeg|gif|webp)$/.test(type);

interface AttachmentsProps {
	readonly files: readonly PromptFile[];
	readonly onRemove: (file: PromptFile) => void;
}

export function Attachments({ files, onRemove }: AttachmentsProps): JSX.Element | null {
	if (files.length === 0) return null;
	return (
		<ul class="attachments" aria-label="Attached files">
			{files.map((file, index) => (
				<li key={index}>
					{isShown(file) ? <img src={`data:${file.type};base64,${file.data}`} alt="" /> : null}
					<span title={file.name}>{file.name}</span>
					<button type="button" aria-label={`Remove ${file.name}`} onClick={() => onRemove(file)}>
						×
					</button>
				</li>
			))}
		</ul>
	);
}
