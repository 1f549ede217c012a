/** The name of a program without the path to it. */
export function nameOf(program: string): string {
	return program.slice(program.lastIndexOf("/") + 1);
}
