/**
 * The language of `dialects` in the configuration: the place of a value in a span, and the condition for a kind of span. Parsed once, to plain data.
 * A value: `span.name`, `attributes.KEY`, `events['NAME'].attributes.KEY`, `json(…)` of one of these with the way to a member,
 * `list(attributes.PREFIX)` for a list that is flattened into many keys, `list(events['NAME'])` for the events of a name, or `none`. A condition:
 * `KEY = 'text'`, `KEY != 'text'` or `exists(KEY)`; `span.name` or `events['NAME'].attributes.KEY` may replace the key.
 */
import { didYouMean } from '../../src/model/did-you-mean.ts';

/** Longer expressions are refused. */
export const expressionCharsMax = 500;
/** Names and places on the way to a member; more of them are refused. */
export const pathPartsMax = 16;

export type Place =
  | { readonly from: 'name' }
  /** An attribute of the span, or of the first event of a name that has it. */
  | { readonly from: 'attribute'; readonly key: string; readonly event?: string }
  /** A list flattened into keys: `PREFIX.0.content`; the prefix ends in its dot. */
  | { readonly from: 'list'; readonly prefix: string; readonly event?: string }
  /** The events of a name, each as an object of its attributes. */
  | { readonly from: 'events'; readonly event: string }
  | { readonly from: 'nowhere' };

export interface Expression {
  readonly place: Place;
  /** The way to a member of the value, which is read as JSON where it is a text; when omitted, the value is unchanged. */
  readonly path?: readonly (string | number)[];
}

export type Condition =
  | { readonly is: 'equal' | 'different'; readonly place: Place; readonly text: string }
  /** The attribute of the span, the attribute of an event of a name, or such an event with any attributes. */
  | { readonly is: 'there'; readonly key?: string; readonly event?: string };

/** The fault, and what would be right. */
export interface Faulty {
  readonly problem: string;
  readonly todo: string;
}

export type Parsed<Result> = { readonly kind: 'parsed'; readonly result: Result } | ({ readonly kind: 'faulty' } & Faulty);

const SPAN_NAME = 'span.name';
/** The field has no value, and no other collector may read one. */
const NONE = 'none';
const ATTRIBUTES = 'attributes.';
const forms = 'Write attributes.KEY, json(attributes.KEY).member or span.name.';
const listForms = "Write list(attributes.PREFIX) or list(events['NAME']).";
const eventForms = "Write events['NAME'].attributes.KEY, or list(events['NAME']) for all events of the name.";
const conditionForms = "Write a comparison such as kind = 'TOOL' or kind != 'TOOL', or exists(KEY).";
const functions = ['json', 'list'];

export function parseExpression(text: string): Parsed<Expression> {
  const written = text.trim();
  if (written === '') return faulty('is empty', forms);
  if (written.length > expressionCharsMax) return faulty('is too long', `Keep it within ${expressionCharsMax} characters.`);
  if (written === NONE) return { kind: 'parsed', result: { place: { from: 'nowhere' } } };
  const called = /^([A-Za-z_]+)\s*\(/.exec(written);
  if (called === null) return inPlace(written, (place) => ({ kind: 'parsed', result: { place } }));
  const [start, name = ''] = called;
  if (!functions.includes(name)) {
    const meant = didYouMean(name.toLowerCase(), functions);
    return faulty(`${shown(name)} is not a function`, meant === undefined ? forms : `Did you mean ${meant}?`);
  }
  const end = closing(written, start.length);
  if (end === undefined)
    return faulty(
      `has no ) that closes ${name}(`,
      name === 'list' ? listForms : 'Write json(attributes.KEY).member, or json(attributes.KEY) for the whole.',
    );
  const path = parsePath(written.slice(end + 1));
  if (path.kind === 'faulty') return path;
  const inside = written.slice(start.length, end).trim();
  const then = (place: Place): Parsed<Expression> => ({ kind: 'parsed', result: { place, path: path.result } });
  return name === 'list' ? inList(inside, then) : inPlace(inside, then);
}

/** A list in many keys, or the events of a name. */
function inList<Result>(written: string, then: (place: Place) => Parsed<Result>): Parsed<Result> {
  const only = EVENT.exec(written);
  if (only?.[2] !== undefined && only[3] === undefined) return then({ from: 'events', event: only[2] });
  return inPlace(written, (place) => {
    if (place.from !== 'attribute') return faulty(`${shown(written)} is not a list`, listForms);
    const { key, event } = place;
    // Any key of the list refers to the whole list.
    const before = /^(.*?)\.(?:\*|\d+(?:\..*)?)?$/.exec(key)?.[1];
    if (before !== undefined)
      return faulty(`${shown(key)} is not a prefix of a list`, `Write the part before the index: list(${placeText(before, event)}).`);
    return then({ from: 'list', prefix: `${key}.`, ...(event === undefined ? {} : { event }) });
  });
}

function placeText(key: string, event: string | undefined): string {
  return event === undefined ? `${ATTRIBUTES}${key}` : `events['${event}'].${ATTRIBUTES}${key}`;
}

/** `events['NAME']`, with or without an attribute. */
const EVENT = /^events\[(['"])(.+?)\1\](?:\.attributes\.(.+))?$/s;

/** A key may hold a parenthesis: the one that closes stands before a member, or at the end. */
function closing(written: string, from: number): number | undefined {
  for (let at = written.indexOf(')', from); at >= 0; at = written.indexOf(')', at + 1)) {
    const next = written[at + 1];
    if (next === undefined || next === '.' || next === '[') return at;
  }
  return undefined;
}

const PART = /^(?:\.([^.[\]\s]+)|\[(\d{1,6})\]|\['([^']+)'\])/;

function parsePath(text: string): Parsed<readonly (string | number)[]> {
  const path: (string | number)[] = [];
  for (let rest = text; rest !== '';) {
    const [whole, name, index, quoted] = PART.exec(rest) ?? [];
    if (whole === undefined)
      return faulty(`${shown(rest)} names no member`, 'Write .name for a member of an object and [0] for an item of a list.');
    if (path.length >= pathPartsMax) return faulty('goes too deep', `Name at most ${pathPartsMax} members.`);
    path.push(name ?? quoted ?? Number(index));
    rest = rest.slice(whole.length);
  }
  return { kind: 'parsed', result: path };
}

function inPlace<Result>(written: string, then: (place: Place) => Parsed<Result>): Parsed<Result> {
  if (written === SPAN_NAME) return then({ from: 'name' });
  if (written.startsWith(ATTRIBUTES) && written.length > ATTRIBUTES.length)
    return then({ from: 'attribute', key: written.slice(ATTRIBUTES.length) });
  if (written === ATTRIBUTES || written === 'attributes') return faulty('names no attribute', 'Write its key behind attributes.');
  const [, , event, key] = EVENT.exec(written) ?? [];
  if (event !== undefined && key !== undefined) return then({ from: 'attribute', key, event });
  if (/^events?\b/.test(written)) return faulty(`${shown(written)} names no attribute of an event`, eventForms);
  const [first = '', ...others] = written.split('.');
  const meant = didYouMean(first, ['attributes', 'span']);
  if (meant === 'attributes' && others.length > 0)
    return faulty(`${shown(written)} is not a value`, `Did you mean ${ATTRIBUTES}${others.join('.')}?`);
  if (meant === 'span') return faulty(`${shown(written)} is not a value`, `Did you mean ${SPAN_NAME}?`);
  return faulty(`${shown(written)} is not a value`, `Did you mean ${ATTRIBUTES}${written}?`);
}

const EXISTS = /^exists\s*\((.+)\)$/s;
const COMPARISON = /^(.+?)\s*(==|!=|=)\s*(.*)$/s;

export function parseCondition(text: string): Parsed<Condition> {
  const written = text.trim();
  if (written === '') return faulty('is empty', conditionForms);
  if (written.length > expressionCharsMax) return faulty('is too long', `Keep it within ${expressionCharsMax} characters.`);
  const exists = EXISTS.exec(written)?.[1]?.trim();
  if (exists !== undefined && exists !== '') {
    const [, , event, key = event === undefined ? keyOf(exists) : undefined] = EVENT.exec(exists) ?? [];
    return { kind: 'parsed', result: { is: 'there', ...(key === undefined ? {} : { key }), ...(event === undefined ? {} : { event }) } };
  }
  const called = /^([A-Za-z_]+)\s*\(/.exec(written)?.[1];
  if (called !== undefined && !written.includes('='))
    return faulty(
      `${shown(called)} is not a function`,
      didYouMean(called, ['exists']) === undefined ? conditionForms : 'Did you mean exists(KEY)?',
    );
  const [, left = '', sign, right = ''] = COMPARISON.exec(written) ?? [];
  if (sign === undefined) return faulty(`${shown(written)} compares nothing`, conditionForms);
  if (sign === '==') return faulty('== is not a comparison', 'Write = for equal and != for different.');
  const quoted = unquoted(right);
  if (quoted === undefined)
    return faulty(`${shown(right)} is not a text in quotes`, `Write ${left} ${sign} '${right.replaceAll(/['"]/g, '')}'.`);
  const [, , event, key] = EVENT.exec(left) ?? [];
  if (event !== undefined && key === undefined)
    return faulty(`${shown(left)} names no attribute of an event`, `Write exists(${left}) or ${left}.attributes.KEY ${sign} ${right}.`);
  const place: Place =
    left === SPAN_NAME ? { from: 'name' } : { from: 'attribute', key: key ?? keyOf(left), ...(event === undefined ? {} : { event }) };
  return { kind: 'parsed', result: { is: sign === '=' ? 'equal' : 'different', place, text: quoted } };
}

function keyOf(written: string): string {
  return written.startsWith(ATTRIBUTES) && written.length > ATTRIBUTES.length ? written.slice(ATTRIBUTES.length) : written;
}

/** A quote within is written twice, as in YAML and SQL. */
function unquoted(written: string): string | undefined {
  const quote = written[0];
  if (quote !== "'" && quote !== '"') return undefined;
  const inner = written.slice(1, -1).replaceAll(quote + quote, '');
  return written.length < 2 || !written.endsWith(quote) || inner.includes(quote)
    ? undefined
    : written.slice(1, -1).replaceAll(quote + quote, quote);
}

const shownMax = 60;

function shown(text: string): string {
  return JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
}

function faulty(problem: string, todo: string): { readonly kind: 'faulty' } & Faulty {
  return { kind: 'faulty', problem, todo };
}
