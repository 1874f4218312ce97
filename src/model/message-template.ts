/**
 * The constant part of an error message: ids, numbers, times, quoted texts, paths and the variable parts of addresses become placeholders, so that
 * messages of the same error have the same template. Takes linear time, because every repetition in the expressions is bounded.
 */
import { innerMessage } from './error-objects.ts';

/** UTF-16 units of a message that are read. */
const readMax = 500;
/** UTF-16 units that are searched for the line with the message. */
const linesMax = 8_000;
/** UTF-16 units of a template. */
export const templateMax = 200;

/** The line that names the exception, at the end of a Python traceback. */
const RAISED = /^[\w.]{1,100}(?:: .*)?$/;
const TRACEBACK = 'Traceback (most recent call last)';

/** Codes name an error and not a case of it. Words with digits are not ids. */
const constants = [
  String.raw`\b(?:HTTP(?:\/[123](?:\.\d)?)?|status(?:[ _-]?code)?|code|errno|winerror|sqlstate|exit(?:ed with)?(?: code| status)?|signal)\b["']?[ :=#(\[]{0,3}-?\d[\dA-Z]{0,4}\b`,
  // "Error: 900 exceeds" has a number of the sentence.
  String.raw`\berror\b["']?(?:[ =#(\[]{0,3}-?\d[\dA-Z]{0,4}\b|:[ (\[]{0,3}-?\d[\dA-Z]{0,4}\b(?! \p{L}))`,
  String.raw`\b[45]\d\d(?= (?:bad|client|conflict|forbidden|gateway|gone|internal|method|not|payment|precondition|proxy|request|server|service|too many|un[ap])\p{L}{0,20}\b)`,
  String.raw`\b(?:ORA|TS|CS|PGRST|AADSTS|E)-?\d{4,6}\b`,
  // Modules, as in psycopg2.errors.
  String.raw`\b\p{L}{2,40}\d{1,2}(?=[.:]\p{L})`,
  String.raw`\b(?:utf-?(?:8|16|32)|sha-?\d{1,3}|md5|base(?:32|64)|ipv[46]|oauth2?|http[23]|tls ?v?1\.\d|s3|ec2|k8s|u?int(?:8|16|32|64)|float(?:32|64)|x86|x64|arm64|h26[45])\b`,
];

/** A number, whose unit stays. */
const withUnit = '<n> unit';

const variables: readonly (readonly [placeholder: string, source: string])[] = [
  ['<host>', String.raw`(?<=\b(?:ENOTFOUND|EAI_AGAIN|UnknownHostException:|resolve host(?:name)?:?) )[\w.-]{1,253}`],
  // Names without quotation marks.
  [
    '"…"',
    String.raw`(?<=\b(?:no such \w{2,20}|command not found): )[^\s"'\x60]{1,100}|(?<=\b(?:token|character) )[^\s"'\x60](?= )|(?<=: )(?!(?:\w{0,40}(?:error|exception|failed)|enoent|eacces|eperm|eisdir|enotdir):)[^\s:"'\x60]{1,200}(?=: (?:no such file|permission denied|is a directory|not a directory|(?:command )?not found\b))`,
  ],
  ['<address>', String.raw`\b[a-z][a-z0-9+.-]{1,10}:\/\/[^\s"'<>()\[\]{}]{1,1000}`],
  ['<email>', String.raw`\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}`],
  ['<id>', String.raw`\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`],
  [
    '<time>',
    String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?|\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b`,
  ],
  [
    '<host>',
    String.raw`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|(?<![\w:.])(?=[0-9a-f:]{0,50}\d)(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?(?:::[0-9a-f]{1,5}(?::[0-9a-f]{1,5}){0,7}|:::\d{1,5})(?!\w)`,
  ],
  [
    '"…"',
    String.raw`"(?:[^"\\\n]|\\.){0,300}"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|「[^」\n]{0,300}」|«[^»\n]{0,300}»|\x60[^\x60\n']{0,300}[\x60']|\x60[^\x60\n]{0,300}\x60|(?<![\p{L}\p{N}])'(?:[^'\\\n]|\\.){0,300}'(?![\p{L}\p{N}])`,
  ],
  [
    '<path>',
    String.raw`(?<![\w/.])(?:[A-Za-z]:[\\/]|(?:~|\.{1,2})?\/)(?:[\w.@+-]{1,100}[\\/]){0,20}[\w.@+-]{1,100}(?:\?[^\s"'<>()]{1,400})?|\b(?:[\w@+-]{1,100}\/){1,20}[\w@+-]{1,100}(?:\.[\w-]{1,20}){0,3}\.[A-Za-z]\w{0,4}\b`,
  ],
  [
    withUnit,
    String.raw`\b\d{1,40}(?:[.,]\d{1,40})?(?: ?(?:ns|ms|s|sec|secs|seconds?|min|minutes?|h|hours?|days?|[kmgt]i?b|bytes?|tokens?|characters?|chars?|%)(?![\p{L}\d]))`,
  ],
  ['<id>', String.raw`\b0x[0-9a-f]{1,64}\b`],
  // Masked keys, ids with the name of their kind in front, and numbered names. A colon follows a code.
  ['<id>', String.raw`\b[\w-]{1,40}\*{3,100}[\w-]{0,40}|\b[a-z]{2,10}_(?=[a-z]{0,40}\d)[a-z\d]{12,64}\b|\b\p{L}{1,20}-\d{1,10}(?![\w:-])`],
  // A word with three digits or more, or a hexadecimal number.
  [
    '<id>',
    String.raw`\b(?=[\p{L}_-]{0,40}\d)(?=[\d_-]{0,40}\p{L})(?=(?:[\p{L}_-]{0,40}\d){3})[\p{L}\d]{1,80}(?:[_-][\p{L}\d]{1,80}){0,10}(?![\p{L}\d])`,
  ],
  ['<id>', String.raw`\b(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,64}\b`],
  ['<n>', String.raw`(?:(?<![\p{L}\p{N}])[-+])?\d{1,40}(?:[.,]\d{1,40}){0,10}`],
];

/** Groups: constants first, then the variables in their order. */
const PARTS = new RegExp([`(${constants.join('|')})`, ...variables.map(([, source]) => `(${source})`)].join('|'), 'giu');
/** Lists of the same placeholder. */
const LISTS = /(<(?:n|id|path|time|host|email)>|"…")(?:,? (?:and |or )?\1|,\1){1,1000}/gu;
/** Versions of an interface, as in /v1/orders, stay. */
const SEGMENT = /^(?!v\d{1,2}$).*[\d%=]|^.{25,}$/u;

/** One line of at most `templateMax` characters; empty for a blank text. */
export function messageTemplate(message: string): string {
  const replaced = sentenceOf(message)
    .slice(0, readMax)
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replaceAll(PARTS, (match, constant: string | undefined, ...groups: (string | undefined)[]) => {
      if (constant !== undefined) return match;
      const placeholder = variables[groups.findIndex((group) => group !== undefined)]?.[0] ?? match;
      if (placeholder === '<address>') return addressTemplate(match);
      return placeholder === withUnit ? match.replace(/^[\d.,]+/u, '<n>') : placeholder;
    })
    .replaceAll(LISTS, '$1, …');
  return replaced.length <= templateMax ? replaced : `${replaced.slice(0, templateMax - 1).toWellFormed()}…`;
}

/** The message of an error object, the last line of a traceback, or the first line. */
function sentenceOf(message: string): string {
  const inner = innerMessage(message);
  const isTraceback = inner.includes(TRACEBACK);
  const lines = (isTraceback ? inner.slice(-linesMax) : inner.slice(0, linesMax)).split('\n').filter((line) => line.trim() !== '');
  if (isTraceback) return lines.findLast((line) => RAISED.test(line)) ?? lines.at(-1) ?? '';
  return lines[0] ?? '';
}

/** Keeps the scheme, the host and those segments that read as words. */
function addressTemplate(address: string): string {
  const url = URL.parse(address);
  if (url === null || url.host === '') return '<url>';
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const path = segments.map((segment) => `/${SEGMENT.test(segment) ? '*' : segment}`).join('');
  return `${url.protocol}//${url.hostname}${path}${url.search === '' ? '' : '?*'}`;
}
