/** PHP, with its tags or without. */
import php from 'php-parser';
import { checkedBy, firstProblem, isSyntaxError } from './readings.ts';
import type { Check } from './readings.ts';

const options = { parser: { extractDoc: false, version: '8.5' } };
// The engine keeps state, so each code gets its own.
const asFile = checkedBy((code) => new php.Engine(options).parseCode(code, 'excerpt.php'), isSyntaxError);
const asCode = checkedBy((code) => new php.Engine(options).parseEval(code), isSyntaxError);

export const phpProblem: Check = (code) =>
  code.includes('<?')
    ? asFile(code)
    : firstProblem([
        [asCode, code],
        [asCode, `class Excerpt {${code}\n}`],
      ]);
