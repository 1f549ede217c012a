export const awayReminder =
	"Nobody is at the keyboard. Tool calls are approved by themselves, questions are not answered. Decide what is open by yourself, carefully, say what you assumed, and carry the task through; do not end a turn to wait for an answer.";

export const backReminder =
	"The person is back at the keyboard: questions are answered again, and tool calls may have to be approved.";
