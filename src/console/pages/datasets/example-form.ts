/** The fields in which an example is edited, the example that they say, and what is wrong with which field. */
import { tagsOf } from '../../parts/dataset-additions.ts';
import { type ExampleBody, isRecord, valueText } from './example-members.ts';

export interface CallFields {
  readonly name: string;
  /** JSON of an object; empty: any arguments. */
  readonly arguments: string;
  /** Other members of the call, which stay. */
  readonly rest: ExampleBody;
}

export interface ExampleForm {
  readonly input: string;
  /** True when `input` is JSON, such as a conversation or named inputs. */
  readonly isJsonInput: boolean;
  /** Empty: the answer is not checked. */
  readonly output: string;
  readonly calls: 'unchecked' | 'none' | 'listed';
  readonly callList: readonly CallFields[];
  /** JSON of the other members of the expectation; empty: none. */
  readonly otherExpectation: string;
  /** One a line. */
  readonly tasks: string;
  readonly constraints: string;
  /** Separated by commas. */
  readonly tags: string;
  readonly split: string;
  /** JSON; empty: none. */
  readonly tools: string;
  readonly evaluators: string;
  readonly metadata: string;
  /** Seconds; empty: the usual limit. */
  readonly timeout: string;
  readonly isDraft: boolean;
}

export type FormField = keyof ExampleForm | 'id';
/** Faults by field. */
export type FormFaults = ReadonlyMap<FormField, string>;

export const emptyForm: ExampleForm = {
  input: '',
  isJsonInput: false,
  output: '',
  calls: 'unchecked',
  callList: [],
  otherExpectation: '',
  tasks: '',
  constraints: '',
  tags: '',
  split: '',
  tools: '',
  evaluators: '',
  metadata: '',
  timeout: '',
  isDraft: false,
};

export function formOf(example: ExampleBody): ExampleForm {
  const { input, tasks, constraints, tags, split, tools, evaluators, metadata, timeout_seconds: timeout, review } = example;
  const { output, tool_calls: calls, ...others } = isRecord(example['expect']) ? example['expect'] : {};
  const isListable = Array.isArray(calls) && calls.every((call) => isRecord(call) && typeof call['name'] === 'string');
  // Members without a separate field are in the JSON.
  const left = {
    ...(output === undefined || typeof output === 'string' ? {} : { output }),
    ...(calls === undefined || isListable ? {} : { tool_calls: calls }),
    ...others,
  };
  return {
    input: input === undefined ? '' : valueText(input),
    isJsonInput: input !== undefined && typeof input !== 'string',
    output: typeof output === 'string' ? output : '',
    calls: !isListable ? 'unchecked' : calls.length === 0 ? 'none' : 'listed',
    callList: isListable ? (calls as readonly ExampleBody[]).map(callFields) : [],
    otherExpectation: jsonField(left),
    tasks: Array.isArray(tasks) ? tasks.map(String).join('\n') : '',
    constraints: typeof constraints === 'string' ? constraints : '',
    tags: Array.isArray(tags) ? tags.map(String).join(', ') : '',
    split: typeof split === 'string' ? split : '',
    tools: jsonField(tools),
    evaluators: jsonField(evaluators),
    metadata: jsonField(metadata),
    timeout: typeof timeout === 'number' ? String(timeout) : '',
    isDraft: review === 'draft',
  };
}

function callFields({ name, arguments: sent, ...rest }: ExampleBody): CallFields {
  return { name: String(name), arguments: sent === undefined ? '' : JSON.stringify(sent, undefined, 2), rest };
}

function jsonField(value: unknown): string {
  return value === undefined || (isRecord(value) && Object.keys(value).length === 0) ? '' : JSON.stringify(value, undefined, 2);
}

export interface FormResult {
  /** The example to send to the API; `faults` is empty. */
  readonly example: ExampleBody;
  readonly faults: FormFaults;
}

export function exampleOf(form: ExampleForm): FormResult {
  const faults = new Map<FormField, string>();
  const json = (field: FormField, text: string): unknown => {
    if (text.trim() === '') return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      faults.set(field, `This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  if (form.input.trim() === '') faults.set('input', 'An example needs an input.');
  const others = json('otherExpectation', form.otherExpectation);
  if (others !== undefined && !isRecord(others)) faults.set('otherExpectation', 'Write an object: { "name": value }.');
  const expect = {
    ...callsOf(form, faults),
    ...(form.output === '' ? {} : { output: form.output }),
    ...(isRecord(others) ? others : {}),
  };
  const tasks = form.tasks.split('\n').flatMap((task) => task.trim() || []);
  const tags = tagsOf(form.tags);
  const timeout = form.timeout.trim();
  if (timeout !== '' && !(Number(timeout) > 0)) faults.set('timeout', 'Write a number of seconds above 0.');
  const example = {
    input: form.isJsonInput ? json('input', form.input) : form.input,
    expect: Object.keys(expect).length === 0 ? undefined : expect,
    tasks: tasks.length === 0 ? undefined : tasks,
    constraints: form.constraints.trim() === '' ? undefined : form.constraints,
    tools: json('tools', form.tools),
    tags: tags.length === 0 ? undefined : tags,
    split: form.split.trim() === '' ? undefined : form.split.trim(),
    evaluators: json('evaluators', form.evaluators),
    timeout_seconds: timeout === '' ? undefined : Number(timeout),
    metadata: json('metadata', form.metadata),
    review: form.isDraft ? 'draft' : 'reviewed',
  };
  return { example: Object.fromEntries(Object.entries(example).filter(([, value]) => value !== undefined)), faults };
}

function callsOf({ calls, callList }: ExampleForm, faults: Map<FormField, string>): ExampleBody {
  if (calls === 'unchecked') return {};
  if (calls === 'none') return { tool_calls: [] };
  if (callList.length === 0) faults.set('calls', 'Add a call, or choose that no tool is called.');
  const list = callList.map(({ name, arguments: sent, rest }, at) => {
    if (name.trim() === '') faults.set('calls', `Call ${at + 1} needs the name of its tool.`);
    if (sent.trim() === '') return { name: name.trim(), ...rest };
    try {
      return { name: name.trim(), arguments: JSON.parse(sent) as unknown, ...rest };
    } catch (error) {
      faults.set('calls', `The arguments of call ${at + 1} are not JSON: ${error instanceof Error ? error.message : String(error)}`);
      return {};
    }
  });
  return { tool_calls: list };
}

const fieldOf: { readonly [member: string]: FormField } = {
  id: 'id',
  input: 'input',
  tasks: 'tasks',
  constraints: 'constraints',
  tags: 'tags',
  split: 'split',
  tools: 'tools',
  evaluators: 'evaluators',
  metadata: 'metadata',
  timeout_seconds: 'timeout',
};

/**
 * The faults that the API names, by field: its message has one for each member, as in `example.expect.output must be string`. A fault of
 * no field stays in the message itself.
 */
export function apiFaults(message: string): FormFaults {
  const faults = new Map<FormField, string>();
  for (const part of message.replace(/\.$/, '').split(/; (?=example\b)/)) {
    const [, path = '', problem = ''] = /^example((?:\.[^\s.]+)+) (.+)$/s.exec(part) ?? [];
    const [, first = '', second = '', third = ''] = path.split('.');
    const field =
      first === 'expect' ? (second === 'output' ? 'output' : second === 'tool_calls' ? 'calls' : 'otherExpectation') : fieldOf[first];
    if (field === undefined || problem === '') continue;
    const where =
      field === 'calls' && /^\d+$/.test(third)
        ? `Call ${Number(third) + 1}: `
        : field === 'otherExpectation' && second !== ''
          ? `${second}: `
          : '';
    const text = `${where}${path
      .split('.')
      .slice(field === 'calls' ? 4 : field === 'otherExpectation' || field === 'output' ? 3 : 2)
      .join('.')} ${problem}`
      .replaceAll(/ {2,}/g, ' ')
      .trim();
    faults.set(field, faults.has(field) ? `${faults.get(field)}; ${text}` : text);
  }
  return faults;
}
