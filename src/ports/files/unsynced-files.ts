import type { Files } from "./port.ts";

export function withoutSync(files: Files): Files {
	return {
		...files,
		admitting: (admit) => withoutSync(files.admitting(admit)),
		replace: (path, content, options = {}) => files.replace(path, content, { ...options, sync: false }),
		replaceByPieces: (path, pieces, options = {}) => files.replaceByPieces(path, pieces, { ...options, sync: false }),
		openAppend: async (path) => ({ ...(await files.openAppend(path)), sync: async () => {} }),
		syncDirectory: async () => {},
	};
}
