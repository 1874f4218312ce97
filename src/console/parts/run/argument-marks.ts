/** The members of a tool call's arguments that verdicts find fault with. */
import type { JsonMark, JsonPath } from './json-lines.ts';

export interface VerdictDetails {
  readonly name: string;
  readonly details?: unknown;
}

/** A fault that concerns the call as a whole, such as an undefined tool. */
export interface CallFault {
  /** Name of the verdict; empty when the message names it. */
  readonly verdict: string;
  readonly message: string;
}

export interface ArgumentMarks {
  readonly marks: readonly JsonMark[];
  readonly faults: readonly CallFault[];
}

/** Entries of a list that are read. */
const entriesMax = 1_000;
const problemsMax = 100;

/** `index`: position of the call in the run. `sent`: its arguments. */
export function argumentMarks(verdicts: readonly VerdictDetails[], index: number, sent: unknown): ArgumentMarks {
  const marks: JsonMark[] = [];
  const faults: CallFault[] = [];
  for (const { name, details } of verdicts) {
    for (const entry of entriesOf(details, index)) {
      for (const problem of listAt(entry, 'problems').slice(0, problemsMax)) {
        const [parameter, message, kind] = [
          textAt(problem, 'parameter'),
          textAt(problem, 'message') ?? 'does not fit',
          textAt(problem, 'kind'),
        ];
        const path = parameter === undefined ? undefined : pathIn(sent, parameter);
        if (path === undefined) faults.push({ verdict: name, message });
        else marks.push({ path, message: `${message} (${name})`, ...(kind === 'missing_required' ? { isMissing: true } : {}) });
      }
      for (const path of listAt(entry, 'paths').slice(0, problemsMax))
        if (typeof path === 'string' && path !== '')
          marks.push({ path: pathIn(sent, path), message: `no source in the conversation (${name})` });
      for (const wrong of listAt(entry, 'wrong_arguments').slice(0, problemsMax))
        if (typeof wrong === 'string') marks.push({ path: pathIn(sent, wrong), message: `wrong or missing (${name})` });
    }
  }
  for (const { path, message } of marks) if (!isContainer(sent, path.slice(0, -1))) faults.push({ verdict: '', message });
  const placed = marks.filter(({ path }) => isContainer(sent, path.slice(0, -1)));
  return { marks: placed.map((mark) => (isPresent(sent, mark.path) ? mark : { ...mark, isMissing: true })), faults };
}

/** Entries about one call in the lists of a verdict's details. */
function entriesOf(details: unknown, index: number): readonly object[] {
  if (!isObject(details)) return [];
  return Object.values(details).flatMap((list) =>
    Array.isArray(list)
      ? (list as readonly unknown[])
          .slice(0, entriesMax)
          .filter((entry): entry is object => isObject(entry) && memberOf(entry, 'index') === index)
      : [],
  );
}

/**
 * The path that a text such as `items.0.price` means in a value: names of members may have dots themselves, so the longest member that is
 * there wins. The rest of a path that leads nowhere is one step.
 */
export function pathIn(value: unknown, text: string): JsonPath {
  const path: string[] = [];
  let at = value;
  let rest = text.replaceAll(/\[(\d+)\]/g, '.$1');
  while (rest !== '') {
    const name = longestMember(at, rest);
    if (name === undefined) {
      path.push(rest);
      break;
    }
    path.push(name);
    at = memberOf(at as object, name);
    rest = rest.slice(name.length + 1);
  }
  return path;
}

function longestMember(value: unknown, text: string): string | undefined {
  if (!isObject(value)) return undefined;
  for (let end = text.length; end > 0; end = text.lastIndexOf('.', end - 1)) {
    const name = text.slice(0, end);
    if (Object.hasOwn(value, name)) return name;
  }
  return undefined;
}

function isPresent(value: unknown, path: JsonPath): boolean {
  return valueAt(value, path) !== absent;
}

/** True when a member can be at a path below this one. */
function isContainer(value: unknown, path: JsonPath): boolean {
  const found = valueAt(value, path);
  return found !== absent && isObject(found);
}

const absent = Symbol('absent');

function valueAt(value: unknown, path: JsonPath): unknown {
  let at = value;
  for (const step of path) {
    if (!isObject(at) || !Object.hasOwn(at, step)) return absent;
    at = memberOf(at, step);
  }
  return at;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function memberOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as { readonly [name: string]: unknown })[name] : undefined;
}

function listAt(value: object, name: string): readonly unknown[] {
  const list = memberOf(value, name);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

function textAt(value: unknown, name: string): string | undefined {
  const text = isObject(value) ? memberOf(value, name) : undefined;
  return typeof text === 'string' ? text : undefined;
}
