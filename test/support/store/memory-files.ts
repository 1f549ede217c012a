// The file port in memory, with what a crash leaves: a copy as a killed process leaves it, and one as a power loss does,
// where only what was synced is certain.
import path from "node:path";
import type { FileStatus, Files, ReplaceOptions } from "../../../src/ports/files/port.ts";

interface FileNode {
	readonly kind: "file";
	content: Buffer;
	/** What is on stable storage. */
	synced: Buffer;
	modifiedAt: number;
	mode: number;
}

interface DirectoryNode {
	readonly kind: "directory";
	names: Map<string, Node>;
	/** The names on stable storage. */
	synced: Map<string, Node>;
	/** When a name was last changed. */
	modifiedAt: number;
}

type Node = FileNode | DirectoryNode;

export interface MemoryFiles extends Files {
	/** An independent copy: what is found after the process was killed. */
	copy(): MemoryFiles;
	/** The time of the last change. */
	now(): number;
	/**
	 * An independent copy after a power loss. Of what was not synced `random` (uniform in [0, 1)) decides how much is
	 * there: 0 is the least, values near 1 the most.
	 */
	afterPowerLoss(random: () => number): MemoryFiles;
}

/** The parts of paths that were looked up: campaigns look up the same few some million times. */
const knownParts = new Map<string, readonly string[]>();

/** An empty tree; `makeDirectory` makes directories. Times count up with each change. */
export function createMemoryFiles(): MemoryFiles {
	return createOver(createDirectory(), 1);
}

function createDirectory(): DirectoryNode {
	return { kind: "directory", names: new Map(), synced: new Map(), modifiedAt: 0 };
}

function systemError(code: string, target: string): Error {
	return Object.assign(new Error(`${code}: '${target}'`), { code, path: target });
}

function createOver(root: DirectoryNode, firstTime: number): MemoryFiles {
	let time = firstTime;
	const tick = (): number => {
		time += 1;
		return time;
	};
	const partsOf = (target: string): readonly string[] => {
		let parts = knownParts.get(target);
		if (parts === undefined) {
			parts = path.resolve(target).split(path.sep).slice(1);
			if (path.isAbsolute(target) && knownParts.size < 10_000) knownParts.set(target, parts);
		}
		return parts;
	};

	const find = (target: string): Node | null => {
		let node: Node = root;
		for (const part of partsOf(target)) {
			if (part === "") continue;
			const next: Node | undefined = node.kind === "directory" ? node.names.get(part) : undefined;
			if (next === undefined) return null;
			node = next;
		}
		return node;
	};
	const findFile = (target: string): FileNode | null => {
		const node = find(target);
		if (node?.kind === "directory") throw systemError("EISDIR", target);
		return node;
	};
	const parentOf = (target: string): DirectoryNode => {
		const node = find(path.dirname(path.resolve(target)));
		if (node === null) throw systemError("ENOENT", target);
		if (node.kind === "file") throw systemError("ENOTDIR", target);
		return node;
	};
	const setName = (directory: DirectoryNode, name: string, node: Node | null): void => {
		if (node === null) directory.names.delete(name);
		else directory.names.set(name, node);
		directory.modifiedAt = tick();
	};
	const put = (target: string, content: Buffer, mode: number): FileNode => {
		const file: FileNode = { kind: "file", content, synced: Buffer.alloc(0), modifiedAt: tick(), mode };
		setName(parentOf(target), path.basename(target), file);
		return file;
	};

	const replace = async (target: string, content: Uint8Array, options: ReplaceOptions): Promise<void> => {
		const old = findFile(target);
		const file = put(target, Buffer.from(content), options.mode ?? old?.mode ?? 0o644);
		if (options.sync !== true) return;
		file.synced = file.content;
		const parent = parentOf(target);
		parent.synced = new Map(parent.names);
	};

	const port: MemoryFiles = {
		admitting(admit) {
			const judge = async (target: string) => {
				if (findFile(target) !== null) await admit(path.resolve(target));
			};
			return {
				...port,
				async read(target, limit) {
					await judge(target);
					return await port.read(target, limit);
				},
				async readRange(target, offset, length) {
					await judge(target);
					return await port.readRange(target, offset, length);
				},
				async *readPieces(target) {
					await judge(target);
					yield* port.readPieces(target);
				},
			};
		},
		async read(target, limit = Number.POSITIVE_INFINITY) {
			const file = findFile(target);
			if (file !== null && file.content.length > limit) throw systemError("EFBIG", target);
			return file === null ? null : Buffer.from(file.content);
		},
		async readRange(target, offset, length) {
			const file = findFile(target);
			return file === null ? null : Buffer.from(file.content.subarray(offset, offset + length));
		},
		async *readPieces(target) {
			const file = findFile(target);
			if (file !== null && file.content.length > 0) yield Buffer.from(file.content);
		},
		async status(target): Promise<FileStatus | null> {
			const node = find(target);
			if (node === null) return null;
			if (node.kind === "directory") {
				return { kind: "directory", size: 0, modifiedAt: node.modifiedAt, mode: 0o755 };
			}
			return toStatus(node);
		},
		async list(target) {
			const node = find(target);
			if (node?.kind !== "directory") throw systemError(node === null ? "ENOENT" : "ENOTDIR", target);
			return [...node.names].map(([name, { kind }]) => ({ name, kind }));
		},
		resolve: async (target) => path.resolve(target),
		async makeDirectory(target) {
			let node: DirectoryNode = root;
			let isNew = false;
			for (const part of partsOf(target)) {
				if (part === "") continue;
				const next = node.names.get(part) ?? createDirectory();
				if (next.kind === "file") throw systemError("ENOTDIR", target);
				isNew = !node.names.has(part);
				if (isNew) setName(node, part, next);
				node = next;
			}
			return isNew;
		},
		replace: (target, content, options = {}) => replace(target, Buffer.from(content), options),
		async replaceByPieces(target, pieces, options = {}) {
			const content: Uint8Array[] = [];
			for await (const piece of pieces) content.push(piece);
			await replace(target, Buffer.concat(content), options);
		},
		async create(target, content) {
			if (find(target) !== null) return null;
			return toStatus(put(target, Buffer.from(content), 0o644));
		},
		async rename(from, to) {
			const node = find(from);
			if (node === null) throw systemError("ENOENT", from);
			setName(parentOf(to), path.basename(to), node);
			setName(parentOf(from), path.basename(from), null);
		},
		async truncate(target, length) {
			const file = findFile(target);
			if (file === null) throw systemError("ENOENT", target);
			file.content = Buffer.from(file.content.subarray(0, length));
			file.modifiedAt = tick();
		},
		async openAppend(target) {
			const file = findFile(target) ?? put(target, Buffer.alloc(0), 0o644);
			const append = async (text: string): Promise<void> => {
				file.content = Buffer.concat([file.content, Buffer.from(text)]);
				file.modifiedAt = tick();
			};
			return {
				append,
				appendPieces: (pieces) => append([...pieces].join("")),
				async sync() {
					file.synced = file.content;
				},
				async close() {},
			};
		},
		async syncDirectory(target) {
			const node = find(target);
			if (node?.kind !== "directory") throw systemError("ENOENT", target);
			node.synced = new Map(node.names);
		},
		async remove(target) {
			if (find(target) !== null) setName(parentOf(target), path.basename(target), null);
		},
		now: () => time,
		copy: () => createOver(copyDirectory(root, new Map()), time),
		afterPowerLoss: (random) => createOver(survivor(root, random), time),
	};
	return port;
}

function copyNode(node: Node, known: Map<Node, Node>): Node {
	const made = known.get(node);
	if (made !== undefined) return made;
	if (node.kind === "directory") return copyDirectory(node, known);
	const copy = { ...node };
	known.set(node, copy);
	return copy;
}

function copyDirectory(node: DirectoryNode, known: Map<Node, Node>): DirectoryNode {
	const copy = createDirectory();
	copy.modifiedAt = node.modifiedAt;
	known.set(node, copy);
	for (const [name, child] of node.names) copy.names.set(name, copyNode(child, known));
	for (const [name, child] of node.synced) copy.synced.set(name, copyNode(child, known));
	return copy;
}

function survivor(node: DirectoryNode, random: () => number): DirectoryNode {
	const result = createDirectory();
	for (const name of new Set([...node.synced.keys(), ...node.names.keys()])) {
		const [before, after] = [node.synced.get(name), node.names.get(name)];
		const child = before === after || random() >= 0.5 ? after : before;
		if (child === undefined) continue;
		const persisted = child.kind === "directory" ? survivor(child, random) : surviving(child, random);
		result.names.set(name, persisted);
		result.synced.set(name, persisted);
	}
	return result;
}

function toStatus({ content, modifiedAt, mode }: FileNode): FileStatus {
	return { kind: "file", size: content.length, modifiedAt, mode };
}

function surviving(file: FileNode, random: () => number): FileNode {
	const { content, synced } = file;
	const isGrown = content.length >= synced.length && content.subarray(0, synced.length).equals(synced);
	const chance = random();
	const more = Math.floor(chance * (content.length - synced.length + 1));
	const persisted = isGrown ? content.subarray(0, synced.length + more) : chance < 0.5 ? synced : content;
	return { ...file, content: Buffer.from(persisted), synced: Buffer.from(persisted) };
}
