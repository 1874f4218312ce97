/** The members of an example as people read them, and what differs between two of its bodies. */

/** An example as the API has it. */
export interface ExampleBody {
  readonly [member: string]: unknown;
}

/** Facts about the example, which are not its content. */
const aside: ReadonlySet<string> = new Set(['id', 'since', 'origin']);

/** Gives a text unchanged, anything else as JSON on several lines. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
}

/** Each member of the expectation is separate, such as `expect.output`. */
export function membersOf(example: ExampleBody): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(example)) {
    if (aside.has(name) || value === undefined) continue;
    if (name === 'expect' && isRecord(value)) for (const [key, own] of Object.entries(value)) members.set(`expect.${key}`, valueText(own));
    else members.set(name, valueText(value));
  }
  // An example without the mark is reviewed.
  if (!members.has('review')) members.set('review', 'reviewed');
  return members;
}

export interface MemberDifference {
  readonly member: string;
  /** `undefined`: absent. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export function memberDifferences(before: ExampleBody, after: ExampleBody): readonly MemberDifference[] {
  const [old, young] = [membersOf(before), membersOf(after)];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((member) => {
    const [was, is] = [old.get(member), young.get(member)];
    return was === is ? [] : [{ member, before: was, after: is }];
  });
}

/** Summary of the expectation; empty when it expects nothing. */
export function expectationText(example: ExampleBody): string {
  const expect = example['expect'];
  if (!isRecord(expect)) return '';
  return Object.entries(expect)
    .map(([name, value]) => {
      if (name === 'tool_calls' && Array.isArray(value)) return callsText(value);
      if (name === 'output' && typeof value === 'string') return `answer “${value}”`;
      return name.replaceAll('_', ' ');
    })
    .join(', ');
}

function callsText(calls: readonly unknown[]): string {
  if (calls.length === 0) return 'no tool call';
  return `calls ${calls.map((call) => (isRecord(call) && typeof call['name'] === 'string' ? call['name'] : '?')).join(' → ')}`;
}

/** The last message of the user represents a conversation. */
export function inputText(input: unknown): string {
  if (typeof input === 'string') return input;
  if (!Array.isArray(input)) return input === undefined || input === null ? '' : JSON.stringify(input);
  const last = input.findLast((message: unknown) => isRecord(message) && message['role'] === 'user') as ExampleBody | undefined;
  const text = last === undefined ? JSON.stringify(input) : valueText(last['content']);
  return input.length > 1 ? `${text} (${input.length} messages)` : text;
}

/** Whole numbers that a browser cannot hold exactly: saving would change them. */
export function hasInexactNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (Array.isArray(value)) return value.some(hasInexactNumber);
  return isRecord(value) && Object.values(value).some(hasInexactNumber);
}

export function isRecord(value: unknown): value is ExampleBody {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
