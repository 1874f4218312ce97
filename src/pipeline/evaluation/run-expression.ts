/**
 * The language of `when` in rules about scored runs: `agent = support and (tool_error < 1 or goal.confidence < 0.6)`. The parser makes plain
 * data once; `run-facts.ts` tests it on a run.
 *
 *     or         = and { "or" and }
 *     and        = factor { "and" factor }
 *     factor     = "not" factor | "(" or ")" | NAME sign VALUE       sign: < <= > >= = !=
 *     NAME       = evaluator | evaluator.score | evaluator.confidence | evaluator.verdict | evaluator.label
 *                | judge.confidence | field | attributes.KEY
 *     VALUE      = number | word | 'text' | "text"                   a quote within a text is written twice
 */
import { didYouMean, meantEvaluator } from '../../model/did-you-mean.ts';
import { verdictWords } from '../../model/verdict.ts';
import { type RunField, isRunField, runFieldNames } from './run-fields.ts';

export const expressionCharsMax = 500;
/** Parentheses and `not` within one another. */
export const expressionDepthMax = 16;

export type Sign = '<' | '<=' | '>' | '>=' | '=' | '!=';

/** `lowest_confidence`: of the verdicts of all judges on the run. */
export type NumberPlace = { readonly part: 'score' | 'confidence'; readonly evaluator: string } | { readonly part: 'lowest_confidence' };

export type TextPlace =
  | { readonly part: 'verdict' | 'label'; readonly evaluator: string }
  | { readonly part: 'field'; readonly field: RunField }
  /** Key of a resource attribute. */
  | { readonly part: 'attribute'; readonly key: string };

export type RunExpression =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly RunExpression[] }
  | { readonly kind: 'not'; readonly term: RunExpression }
  | { readonly kind: 'number'; readonly place: NumberPlace; readonly sign: Sign; readonly value: number }
  | { readonly kind: 'text'; readonly place: TextPlace; readonly sign: '=' | '!='; readonly text: string };

/** The fault, its place, and what would be right. */
export interface ExpressionFault {
  /** From 1, in UTF-16 units. */
  readonly column: number;
  readonly problem: string;
  readonly todo: string;
}

export type ParsedExpression =
  | { readonly kind: 'parsed'; readonly expression: RunExpression }
  /** A fault of the form ends the reading, a faulty name or value does not. */
  | { readonly kind: 'faulty'; readonly faults: readonly ExpressionFault[] };

/** The evaluators that an expression may name. */
export interface ExpressionNames {
  readonly evaluators: readonly string[];
  /** Names of those that ask a judge: only their verdicts may have a confidence. */
  readonly judged: readonly string[];
  /** Names of all evaluators that exist. */
  readonly all?: readonly string[];
  /** The kind of name that is expected, in words; `an evaluator of this file` when omitted. */
  readonly noun?: string;
  /** Evaluators whose verdicts come after the test, with the reason as a sentence. */
  readonly late?: { readonly names: readonly string[]; readonly why: string };
}

/** Without `names` any name of an evaluator is right. */
export function parseRunExpression(text: string, names?: ExpressionNames): ParsedExpression {
  if (text.length > expressionCharsMax)
    return faulty([{ column: expressionCharsMax + 1, problem: 'is too long', todo: `Keep it within ${expressionCharsMax} characters.` }]);
  const reader: Reader = { tokens: tokensOf(text), at: 0, end: text.length + 1, names, faults: [], isBroken: false };
  const expression = readOr(reader, 0);
  const rest = reader.tokens[reader.at];
  if (rest !== undefined) breakOff(reader, rest.kind === 'close' ? 'closes nothing' : 'follows a whole condition', joinForms);
  return reader.faults.length === 0 ? { kind: 'parsed', expression } : faulty(reader.faults);
}

/** The evaluators whose verdicts an expression looks at; `judges` when it asks for the lowest confidence of all. */
export function evaluatorsIn(expression: RunExpression): { readonly names: readonly string[]; readonly judges: boolean } {
  switch (expression.kind) {
    case 'not':
      return evaluatorsIn(expression.term);
    case 'and':
    case 'or': {
      const found = expression.terms.map(evaluatorsIn);
      return { names: [...new Set(found.flatMap(({ names }) => names))], judges: found.some(({ judges }) => judges) };
    }
    case 'number':
    case 'text':
      return {
        names: 'evaluator' in expression.place ? [expression.place.evaluator] : [],
        judges: expression.place.part === 'lowest_confidence',
      };
  }
}

const forms = 'Write a comparison such as tool_error < 1, goal.confidence < 0.6 or agent = support.';
const joinForms = 'Join comparisons with and, or and parentheses.';
const orderForms = 'Write one of < <= > >= = and !=.';

function faulty(faults: readonly ExpressionFault[]): ParsedExpression {
  return { kind: 'faulty', faults };
}

interface Token {
  readonly kind: 'word' | 'text' | 'sign' | 'open' | 'close' | 'unclosed';
  /** The text between the quotes. */
  readonly text: string;
  readonly column: number;
}

/** Each character belongs to one alternative, so the time is linear. */
const TOKEN = /('(?:[^']|'')*'|"(?:[^"]|"")*")|([<>=!&|,]+)|([()])|([^\s()'"<>=!&|,]+)|(['"][\s\S]*)/g;

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map((match): Token => {
    const [whole, quoted, sign, bracket, word] = match;
    const column = match.index + 1;
    if (quoted !== undefined) return { kind: 'text', text: unquoted(quoted), column };
    if (sign !== undefined) return { kind: 'sign', text: sign, column };
    if (bracket !== undefined) return { kind: bracket === '(' ? 'open' : 'close', text: bracket, column };
    return { kind: word === undefined ? 'unclosed' : 'word', text: whole, column };
  });
}

function unquoted(quoted: string): string {
  const quote = quoted.slice(0, 1);
  return quoted.slice(1, -1).replaceAll(quote + quote, quote);
}

interface Reader {
  readonly tokens: readonly Token[];
  /** Start of the next token. */
  at: number;
  /** The column behind the text. */
  readonly end: number;
  readonly names: ExpressionNames | undefined;
  readonly faults: ExpressionFault[];
  /** The form is faulty, and nothing is read any more. */
  isBroken: boolean;
}

/** Stands for what could not be read. */
const nothing: RunExpression = { kind: 'or', terms: [] };

function breakOff(reader: Reader, problem: string, todo: string, at: Token | undefined = reader.tokens[reader.at]): RunExpression {
  if (!reader.isBroken) {
    const text = at === undefined ? '' : `${shown(at)} `;
    reader.faults.push({ column: at?.column ?? reader.end, problem: `${text}${problem}`, todo });
  }
  reader.isBroken = true;
  reader.at = reader.tokens.length;
  return nothing;
}

function readOr(reader: Reader, depth: number): RunExpression {
  return readJoined(reader, 'or', () => readJoined(reader, 'and', () => readFactor(reader, depth)));
}

function readJoined(reader: Reader, kind: 'and' | 'or', read: () => RunExpression): RunExpression {
  const terms = [read()];
  while (isKeyword(reader.tokens[reader.at], kind)) {
    reader.at++;
    terms.push(read());
  }
  const [only] = terms;
  return terms.length === 1 && only !== undefined ? only : { kind, terms };
}

function isKeyword(token: Token | undefined, keyword: 'and' | 'or' | 'not'): boolean {
  return token?.kind === 'word' && token.text.toLowerCase() === keyword;
}

function readFactor(reader: Reader, depth: number): RunExpression {
  const token = reader.tokens[reader.at];
  if (token === undefined) return breakOff(reader, reader.at === 0 ? 'is empty' : 'a comparison is missing at the end', forms);
  if (depth > expressionDepthMax) return breakOff(reader, 'lies too deep', `Nest at most ${expressionDepthMax} parentheses.`);
  if (isKeyword(token, 'not')) {
    reader.at++;
    return { kind: 'not', term: readFactor(reader, depth + 1) };
  }
  if (token.kind === 'open') {
    reader.at++;
    const inside = readOr(reader, depth + 1);
    const close = reader.tokens[reader.at];
    if (close?.kind !== 'close')
      return close === undefined
        ? breakOff(reader, 'has no ) that closes it', 'Add the parenthesis.', token)
        : breakOff(reader, 'follows a whole condition', joinForms);
    reader.at++;
    return inside;
  }
  if (token.kind !== 'word' || isKeyword(token, 'and') || isKeyword(token, 'or'))
    return breakOff(
      reader,
      token.kind === 'sign' && token.text === '!' ? 'is not a sign' : 'is found where a name is expected',
      token.text === '!' ? 'Write not.' : forms,
    );
  return readComparison(reader, token);
}

const signs: { readonly [written: string]: Sign } = { '<': '<', '<=': '<=', '>': '>', '>=': '>=', '=': '=', '!=': '!=' };
const signsMeant: { readonly [written: string]: string } = { '==': 'Write =.', '<>': 'Write !=.', '=<': 'Write <=.', '=>': 'Write >=.' };
const joinsMeant: { readonly [written: string]: string } = {
  '&&': 'Write and.',
  '&': 'Write and.',
  '||': 'Write or.',
  '|': 'Write or.',
  ',': joinForms,
};

function readComparison(reader: Reader, name: Token): RunExpression {
  reader.at++;
  const sign = reader.tokens[reader.at];
  const known = sign?.kind === 'sign' && Object.hasOwn(signs, sign.text) ? signs[sign.text] : undefined;
  if (known === undefined) {
    const todo = (sign?.kind === 'sign' ? (signsMeant[sign.text] ?? joinsMeant[sign.text]) : undefined) ?? orderForms;
    return sign === undefined
      ? breakOff(reader, `is compared with nothing`, forms, name)
      : breakOff(reader, `is not a comparison of ${name.text}`, todo);
  }
  reader.at++;
  const value = reader.tokens[reader.at];
  if (value === undefined) return breakOff(reader, 'has nothing to compare with at its right', forms, sign);
  if (value.kind === 'unclosed') return breakOff(reader, 'has no quote that closes it', 'Add the quote.');
  if (value.kind !== 'word' && value.kind !== 'text') return breakOff(reader, 'stands where a value is expected', forms);
  reader.at++;
  const next = reader.tokens[reader.at];
  if (next?.kind === 'sign') return breakOff(reader, 'follows a whole condition', joinsMeant[next.text] ?? joinForms);
  if (next?.kind === 'word' && value.kind === 'word' && !isKeyword(next, 'and') && !isKeyword(next, 'or'))
    return breakOff(
      reader,
      'follows a whole condition',
      `${joinForms} Write a text of several words in quotes: '${value.text} ${next.text}'.`,
    );
  const place = placeOf(reader, name, value);
  if (place === undefined) return nothing;
  return place.kind === 'number'
    ? ofNumber(reader, { name, place: place.place, sign: known, value })
    : ofText(reader, { name, place: place.place, sign: known, value, at: sign?.column ?? name.column });
}

type Placed = { readonly kind: 'number'; readonly place: NumberPlace } | { readonly kind: 'text'; readonly place: TextPlace };

const ATTRIBUTE = 'attributes.';
const LOWEST = 'judge.confidence';
const parts = ['score', 'confidence', 'verdict', 'label'] as const;

/** A whole name of an evaluator comes before a field, and before a name with a part behind its dot. */
function placeOf(reader: Reader, name: Token, value: Token): Placed | undefined {
  const { names } = reader;
  const { text } = name;
  const isNumber = value.kind === 'word' && NUMBER.test(value.text);
  if (text === LOWEST) return hasLowest(reader, name) ? { kind: 'number', place: { part: 'lowest_confidence' } } : undefined;
  if (names?.evaluators.includes(text) === true && (isNumber || !isRunField(text))) return ofPart(text, 'score');
  if (isRunField(text)) return { kind: 'text', place: { part: 'field', field: text } };
  if (text.startsWith(ATTRIBUTE) && text.length > ATTRIBUTE.length)
    return { kind: 'text', place: { part: 'attribute', key: text.slice(ATTRIBUTE.length) } };
  const dot = text.lastIndexOf('.');
  const [evaluator, part] = [text.slice(0, dot), parts.find((one) => one === text.slice(dot + 1))];
  if (dot > 0 && part !== undefined) {
    if (isKnown(reader, { ...name, text: evaluator }, part)) return ofPart(evaluator, part);
    return undefined;
  }
  return isKnown(reader, name, undefined) ? ofPart(text, 'score') : undefined;
}

function hasLowest({ names, faults }: Reader, { column }: Token): boolean {
  if (names === undefined) return true;
  const add = (problem: string, todo: string): boolean => {
    faults.push({ column, problem, todo });
    return false;
  };
  if (names.judged.includes('judge'))
    return add(`${LOWEST} may be that of all judges or of the evaluator named judge`, 'Give the evaluator another name.');
  if (names.judged.length > 0) return true;
  return names.late === undefined
    ? add('no evaluator of this file asks a judge', 'Name a judge in an entry of evaluators.')
    : add(`${LOWEST} is not known here`, names.late.why);
}

function ofPart(evaluator: string, part: (typeof parts)[number]): Placed {
  return part === 'score' || part === 'confidence'
    ? { kind: 'number', place: { part, evaluator } }
    : { kind: 'text', place: { part, evaluator } };
}

function isKnown({ names, faults }: Reader, { text, column }: Token, part: (typeof parts)[number] | undefined): boolean {
  if (names === undefined) return true;
  const { evaluators, all = [], judged, noun = 'an evaluator of this file', late } = names;
  if (evaluators.includes(text)) {
    if (part !== 'confidence' || judged.includes(text)) return true;
    faults.push({
      column,
      problem: `${text} asks no judge, so its verdicts have no confidence`,
      todo: `Write ${text} or ${text}.verdict.`,
    });
    return false;
  }
  if (late?.names.includes(text) === true) {
    faults.push({ column, problem: `${text} is not ${noun}`, todo: late.why });
    return false;
  }
  const written = part === undefined ? text : `${text}.${part}`;
  const guess = didYouMean(text, evaluators) ?? didYouMean(written, [...evaluators, ...runFieldNames, LOWEST]);
  const todo =
    guess === undefined || all.includes(text)
      ? meantEvaluator(text, { on: evaluators, all }, 'Add it under evaluators, or name a field of the run.')
      : `Did you mean ${guess}${part !== undefined && evaluators.includes(guess) ? `.${part}` : ''}?`;
  faults.push({ column, problem: `${text} is not ${noun}`, todo });
  return false;
}

interface Compared<Place> {
  readonly name: Token;
  readonly place: Place;
  readonly sign: Sign;
  readonly value: Token;
}

const NUMBER = /^(?:\d{1,3}(?:\.\d{1,15})?|\.\d{1,15})$/;

function ofNumber({ faults }: Reader, { name, place, sign, value }: Compared<NumberPlace>): RunExpression {
  const number = Number(value.text);
  const isNumber = value.kind === 'word' && NUMBER.test(value.text);
  if (isNumber && number <= 1) return { kind: 'number', place, sign, value: number };
  const what = place.part === 'score' ? 'score' : 'confidence';
  const verdict = verdictWords.find((word) => word === value.text.toLowerCase());
  faults.push({
    column: value.column,
    problem: `${shown(value)} is not a ${what}`,
    todo:
      verdict !== undefined && 'evaluator' in place
        ? `Write ${place.evaluator}.verdict ${sign === '!=' ? '!=' : '='} ${verdict}.`
        : `Write a number from 0 to 1: ${name.text} ${sign} ${what === 'score' ? '1' : '0.6'}.`,
  });
  return nothing;
}

function ofText({ faults }: Reader, { name, place, sign, value, at }: Compared<TextPlace> & { readonly at: number }): RunExpression {
  if (sign !== '=' && sign !== '!=') {
    faults.push({ column: at, problem: `${sign} compares numbers, and ${name.text} is a text`, todo: 'Write = or !=.' });
    return nothing;
  }
  if (place.part === 'verdict' && !verdictWords.some((word) => word === value.text)) {
    const guess = didYouMean(value.text, verdictWords);
    faults.push({
      column: value.column,
      problem: `${shown(value)} is not a verdict`,
      todo: guess === undefined ? `Write one of ${verdictWords.join(', ')}.` : `Did you mean ${guess}?`,
    });
    return nothing;
  }
  return { kind: 'text', place, sign, text: value.text };
}

const shownMax = 60;

function shown({ text }: Token): string {
  return JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax).toWellFormed()}…` : text);
}
