/** Python 3, also as a session with prompts, and with the commands of a notebook. */
import { parse } from 'py-ast';
import { checkedBy, firstProblem } from './readings.ts';
import type { Check } from './readings.ts';

/** The parser throws plain errors for faults of syntax, and others only by accident. */
const asFile = checkedBy(
  (code) => parse(code.replaceAll('\f', ' ')),
  (error): error is Error => error instanceof Error && !(error instanceof TypeError),
);

export const pythonProblem: Check = (code) =>
  firstProblem([
    [asFile, code],
    [asFile, withoutMargin(code)],
    [asFile, session(code) ?? code],
    [asFile, withoutCommands(code)],
  ]);

/** A method of a class stands as far in as it stood there. */
function withoutMargin(code: string): string {
  const margin = /^(?:[ \t]*\n)*([ \t]+)\S/.exec(code)?.[1] ?? '';
  return code
    .split('\n')
    .map((line) => (line.startsWith(margin) ? line.slice(margin.length) : line))
    .join('\n');
}

/** What was typed at the prompts; undefined where there are none. */
function session(code: string): string | undefined {
  const typed = code.split('\n').flatMap((line) => /^\s*(?:>>>|\.\.\.)(?: (.*)|$)/.exec(line)?.[1] ?? []);
  return typed.length === 0 ? undefined : `${typed.join('\n')}\n`;
}

/** `%magic` and `!command` of a notebook. */
function withoutCommands(code: string): string {
  return code.replaceAll(/^[ \t]*[%!].*$/gm, '');
}
