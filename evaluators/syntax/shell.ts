/** Shell, as Bash reads it; also a session with prompts, and with names in angle brackets that somebody has to fill in. */
import { parse } from 'unbash';
import { checkedBy, firstProblem, isSyntaxError, lineAt } from './readings.ts';
import type { Check } from './readings.ts';

const asScript = checkedBy((code) => {
  const [first] = parse(code).errors ?? [];
  if (first !== undefined) throw new SyntaxError(`${first.message} in line ${lineAt(code, first.pos)}`);
}, isSyntaxError);

export const shellProblem: Check = (code) =>
  firstProblem([
    [asScript, code],
    [asScript, filledIn(code)],
    [asScript, filledIn(session(code) ?? code)],
  ]);

function filledIn(code: string): string {
  return code.replaceAll(/<[A-Za-z][\w .:/-]{0,80}>/g, 'x');
}

/** What was typed at the prompts, with its further lines; undefined where there are none. */
function session(code: string): string | undefined {
  const typed: string[] = [];
  let goesOn = false;
  for (const line of code.split('\n')) {
    const command = /^\s*\$ (.*)$/.exec(line)?.[1];
    if (command !== undefined || goesOn) typed.push(command ?? line);
    goesOn = (command !== undefined || goesOn) && line.endsWith('\\');
  }
  return typed.length === 0 ? undefined : typed.join('\n');
}
