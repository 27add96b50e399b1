// A line of a question file, in dnsperf's format.

/** A queried name (preserving its case) and the mnemonic of the type. */
export interface Question {
  name: string;
  type: string;
}

/** Parses `name TYPE` lines; throws an Error with the first bad line. */
export function parseQuestions(text: string): Question[] {
  const questions: Question[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name, type, ...rest] = line.trim().split(/\s+/);
    if (name === undefined || type === undefined || rest.length > 0)
      throw new Error(`read questions: line ${index + 1} is not a question: ${JSON.stringify(line)}`);
    questions.push({ name, type });
  }
  return questions;
}

/** The text of a question file. */
export function formatQuestions(questions: readonly Question[]): string {
  return questions.map(({ name, type }) => `${name} ${type}\n`).join('');
}
